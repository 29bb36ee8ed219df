"""Edge JSON: the chat templates of TensorRT Edge-LLM (docs/edge.md).

    from rondo import edge
    exported = edge.export_template(rondo.load("model/"))
    exported["lossless"], exported["loses"]            # how far it writes what the model's own template writes
    edge.import_template(exported["template"])         # a Jinja template that writes the same
    edge.format("engine/", {"messages": messages})     # the prompts of a request

An Edge template is given as a path (the file, or the folder that it stands in) or as the dict itself.
"""
import os as _os

from . import _rondo

__all__ = ["export_template", "format", "import_template", "validate"]

_FILE_NAME = "processed_chat_template.json"


def export_template(model, *, model_path=None, kwargs=None):
    """The Edge template that writes what the model's template writes, and how far that is.

    model: a rondo.Model.  model_path: what the file says of it; the model's name without one.
    kwargs: further template variables.

    A dict: lossless; loses (sentences: what is written otherwise, or not at all); template (the Edge template); compared (how
    many pairs of prompts); and where they are known lossless_for, sentence, thinking_variable.  Raises UnsupportedError where
    the template writes no user message as it is.
    """
    return _rondo.edge_export(model, model.name if model_path is None else str(model_path), kwargs)


def import_template(template):
    """A Jinja template that writes what the Edge template writes.  Raises InvalidArgumentError, ParseError or LimitError."""
    return _rondo.edge_import(_given(template))


def validate(template):
    """What is wrong with an Edge template, and what is worth a remark: dicts with level ("error" or "note"), kind, path, message,
    where they are known line and column, and reference (what the exporter says).  Valid is what has no error.
    """
    return _rondo.edge_validate(_given(template))


def format(template, requests):
    """The prompts of a request file, a dict with `requests`, or with the `messages` of one: for each a dict with system,
    complete and, where something was left out, warnings.  Raises InvalidArgumentError with the path of the first fault.
    """
    return _rondo.edge_format(_given(template), requests)


def _given(template):
    """The dict, or the path of the file."""
    if isinstance(template, dict):
        return template
    path = _os.fspath(template)
    return _os.path.join(path, _FILE_NAME) if _os.path.isdir(path) else path
