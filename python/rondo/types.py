"""Names of what goes in, for type checkers."""
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

Messages = Sequence[Mapping[str, Any] | Any]
"""Messages as dicts, pydantic models or dataclasses."""

Objects = Sequence[Mapping[str, Any] | Any]
"""Tools or documents, likewise."""

Ids = Sequence[int] | numpy.ndarray | Any
"""Token ids: a sequence of ints, or a one-dimensional array of any integer type."""
