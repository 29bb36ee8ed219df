"""What the fields of a configuration do: variables of the template, the date that it is told, or nothing but an error.

A setting that would have no effect is refused, so that none vanishes silently.
"""
import datetime
import re

import rondo

from .configs import FAMILIES

_PROBE = [{"role": "user", "content": "Qaq"}]


def template_settings(config, model):
    """(variables of the template, the time that it is told or None) of a configuration.

    Raises ValueError for a setting that this template has no use for.
    """
    fields = FAMILIES.get(config.name, {}).get("fields") or {}
    if not fields and not config._allow_opaque_template_kwargs:  # a renderer from elsewhere, which may use them itself
        given = {name: getattr(config, name) for name in type(config).template_field_names()}
        return {name: value for name, value in given.items() if value is not None}, None
    kwargs, now = {}, None
    for name in fields:
        entry, value = fields[name], getattr(config, name)
        if entry.get("idle"):
            continue
        if entry.get("clock") and value is not None and not _reads(model, name) and _reads(model, "strftime_now"):
            now = _date(config, name, value)
        elif _reads(model, name) and value is not None:
            kwargs[name] = value
        elif name in config.model_fields_set and value != type(config).model_fields[name].default:
            _refuse_unless_written(config, name, value, model)
    for name, value in (config.model_extra or {}).items():
        if not _reads(model, name):
            raise ValueError(f"{name}={value!r} has no effect: the chat template reads no variable `{name}`")
        if value is not None:
            kwargs[name] = value
    return kwargs, now


def _reads(model, name):
    """Whether the template names the variable; anything may be of a template that cannot be seen."""
    template = model.chat_template
    return template is None or re.search(rf"\b{re.escape(name)}\b", template) is not None


def _date(config, name, value):
    """Noon of a date, so that no time zone makes it another day."""
    try:
        return datetime.datetime.fromisoformat(value).replace(hour=12)
    except ValueError as error:
        raise ValueError(f"{type(config).__name__}.{name}: {value!r} is no date like 2025-06-28") from error


def _refuse_unless_written(config, name, value, model):
    """Refuses a setting, unless it is what the template writes in any case."""
    if isinstance(value, str):
        try:
            if value in model.render(_PROBE):
                return
        except rondo.Error:
            pass
    rule = FAMILIES.get(config.name, {}).get("retention", {})
    kept = rule.get("false" if value is False else "true") if rule.get("field") == name else None
    hint = f"; thinking_retention={kept!r} says what bridges keep" if kept else ""
    raise ValueError(f"{type(config).__name__}.{name}={value!r} has no effect: this chat template reads no variable "
                     f"`{name}`{hint}")
