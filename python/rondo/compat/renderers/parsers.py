"""Readers of calls and of reasoning that are chosen by name, for templates that do not show how a model writes these.

Each is parts of a format (docs/format.md), which families.json has under the interface's names.  Text around what they
find stays as it was written.
"""
import functools
from typing import Any, Protocol, runtime_checkable

from .calls import parsed_call, take_attempts
from .configs import PARSERS
from .models import model_of

# Where no template says anything.
_NO_TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}"


@runtime_checkable
class ToolParser(Protocol):
    """Takes calls out of a completion's ids: the other ids, and the calls."""

    def extract(self, token_ids: list[int]) -> tuple[list[int], list[Any]]: ...


@runtime_checkable
class ReasoningParser(Protocol):
    """Takes reasoning out of a completion's text: the reasoning or None, and the rest."""

    def extract(self, text: str) -> tuple[str | None, str]: ...


class _FormatToolParser:
    """Calls in one format, whatever the template."""

    key = ""

    def __init__(self, tokenizer):
        self._tokenizer = tokenizer

    @functools.cached_property
    def _model(self):
        return model_of(self._tokenizer, template=_NO_TEMPLATE, format=parser_format(self.key, None))

    def extract(self, token_ids):
        ids = [int(token) for token in token_ids]
        marks = PARSERS["tool"][self.key]["calls"]
        parsed = self._model.parse(ids, prompt_tail="")
        calls = [parsed_call(call, marks) for call in parsed.tool_calls]
        opener, closer = (self._model.find_token(marks[name].strip()) for name in ("call_open", "call_close"))
        calls = take_attempts(self._model, ids, parsed.reasoning_content, parsed.content, calls, (opener, closer), ())[1]
        inside = {place for call in calls if call.token_span for place in range(*call.token_span)}
        section = {self._model.find_token(marks[name]) for name in ("section_open", "section_close") if marks.get(name)}
        return [token for place, token in enumerate(ids) if place not in inside and token not in section], calls


class _MarkedReasoningParser:
    """Reasoning between two marks at the begin of the text; without the second all of it."""

    key = ""

    def __init__(self, tokenizer):
        self._tokenizer = tokenizer

    def extract(self, text):
        marks = PARSERS["reasoning"][self.key]["reasoning"]
        if not text.startswith(marks["open"]):
            return None, text
        reasoning, _, rest = text.removeprefix(marks["open"]).partition(marks["close"])
        return reasoning or None, rest


def _classes(kind, base):
    return {key: type(entry["class"], (base,), {"key": key, "__module__": __name__, "__doc__": base.__doc__})
            for key, entry in PARSERS[kind].items()}


TOOL_PARSERS: dict[str, type] = _classes("tool", _FormatToolParser)
REASONING_PARSERS: dict[str, type] = _classes("reasoning", _MarkedReasoningParser)
globals().update({made.__name__: made for made in (*TOOL_PARSERS.values(), *REASONING_PARSERS.values())})


def _named(kind, table, name):
    if name not in table:
        raise ValueError(f"no {kind}_parser is called {name!r}; there are {', '.join(sorted(table))}")
    return table[name]


def get_tool_parser(name: str, tokenizer) -> ToolParser:
    return _named("tool", TOOL_PARSERS, name)(tokenizer)


def get_reasoning_parser(name: str, tokenizer) -> ReasoningParser:
    return _named("reasoning", REASONING_PARSERS, name)(tokenizer)


def parser_format(tool_parser, reasoning_parser):
    """The parts of a format that two names stand for; None for none.  Raises ValueError for an unknown name."""
    parts = {}
    if tool_parser is not None:
        _named("tool", TOOL_PARSERS, tool_parser)
        parts["calls"] = PARSERS["tool"][tool_parser]["calls"]
    if reasoning_parser is not None:
        _named("reasoning", REASONING_PARSERS, reasoning_parser)
        parts["reasoning"] = PARSERS["reasoning"][reasoning_parser]["reasoning"]
    return parts or None
