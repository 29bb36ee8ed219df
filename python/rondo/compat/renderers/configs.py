"""Typed configurations, one class per model family, made from the table in families.json.

A field is a variable of the family's chat template, or internal.  `thinking_retention` says what a bridge may keep of earlier
reasoning: "all", "tool_cycle" (anew with the next user message), or None: as the template has it.
"""
import json
import pathlib
from functools import reduce
from typing import Annotated, Any, ClassVar, Literal, Union

import pydantic
from pydantic import ConfigDict, Field, model_validator

ThinkingRetention = Literal["tool_cycle", "all"]
ResolvedThinkingRetention = Literal["template", "tool_cycle", "all"]

_TABLE = json.loads((pathlib.Path(__file__).parent / "families.json").read_text(encoding="utf-8"))
FAMILIES: dict[str, dict[str, Any]] = _TABLE["families"]
PARSERS: dict[str, dict[str, dict[str, Any]]] = _TABLE["parsers"]
MULTIMODAL_MODELS: dict[str, set[str]] = {name: set(kinds) for name, kinds in _TABLE["multimodal"].items()}
MODEL_RENDERER_MAP: dict[str, str] = {model: name for name, family in FAMILIES.items()
                                      for model in family.get("models", ())}


class BaseRendererConfig(pydantic.BaseModel):
    """What all configurations share.  Immutable; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    thinking_retention: ThinkingRetention | None = None

    _template_fields: ClassVar[frozenset[str]] = frozenset()
    _internal_fields: ClassVar[frozenset[str]] = frozenset()
    _allow_opaque_template_kwargs: ClassVar[bool] = False
    _retention: ClassVar[dict[str, str] | None] = None  # what a field says of the retention

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs):
        super().__pydantic_init_subclass__(**kwargs)
        own = frozenset(cls.model_fields) - frozenset(BaseRendererConfig.model_fields) - {"name"}
        template, internal = cls._template_fields, cls._internal_fields
        if template & internal or (template | internal) != own:
            raise TypeError(f"{cls.__name__}: each field must be a template field or an internal one: {sorted(own)}")

    @classmethod
    def template_field_names(cls) -> frozenset[str]:
        """The fields that are variables of the chat template."""
        return cls._template_fields

    @model_validator(mode="after")
    def _agrees_on_retention(self):
        rule = type(self)._retention
        if rule is None or self.thinking_retention is None or rule["field"] not in self.model_fields_set:
            return self
        value = getattr(self, rule["field"])
        implied = None if value is None else rule["false" if value is False else "true"]
        if implied is not None and implied != self.thinking_retention:
            raise ValueError(f"{rule['field']}={value!r} means thinking_retention={implied!r}, but "
                             f"thinking_retention={self.thinking_retention!r} was given")
        return self


class AutoRendererConfig(BaseRendererConfig):
    """The family by the tokenizer's `name_or_path`; any other model by its template alone."""

    name: Literal["auto"] = "auto"


class DefaultRendererConfig(BaseRendererConfig):
    """Any model.  Further fields are variables of its template."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: Literal["default"] = "default"
    tool_parser: str | None = None
    reasoning_parser: str | None = None

    _internal_fields = frozenset({"tool_parser", "reasoning_parser"})
    _allow_opaque_template_kwargs = True

    @model_validator(mode="after")
    def _refuses_old_names(self):
        old = {"preserve_all_thinking", "preserve_thinking_between_tool_calls"} & set(self.model_extra or {})
        if old:
            raise ValueError(f"{sorted(old)} are now thinking_retention")
        return self


class CustomRendererConfig(BaseRendererConfig):
    """A renderer elsewhere: `my_module.Class` or `path/to/file.py:Class`, whose `config_class` takes the other fields."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: Literal["custom"] = "custom"
    import_path: str

    _internal_fields = frozenset({"import_path"})

    @model_validator(mode="after")
    def _fits_its_renderer(self):
        from .custom import custom_renderer_config

        custom_renderer_config(self)
        return self


_TYPES = {"bool": bool, "str": str, "int": int, "float": float, "None": None}


def _type(given):
    """A type from the table: a name, names with `|` between them, or a list of what is allowed."""
    if isinstance(given, list):
        return Literal[tuple(given)]
    return reduce(lambda left, right: left | right, (_TYPES[name.strip()] for name in given.split("|")))


def _make(name, family):
    fields = family["fields"]
    annotations = {"name": Literal[name], **{field: _type(entry["type"]) for field, entry in fields.items()}}
    members = {
        "__module__": __name__,
        "__doc__": f"The configuration of {family['class']}.",
        "__annotations__": annotations,
        "name": name,
        **{field: entry["default"] for field, entry in fields.items()},
        "_template_fields": frozenset(field for field, entry in fields.items() if not entry.get("internal")),
        "_internal_fields": frozenset(field for field, entry in fields.items() if entry.get("internal")),
        "_retention": family.get("retention"),
    }
    return type(BaseRendererConfig)(family["config"], (BaseRendererConfig,), members)


_BY_NAME: dict[str, type[BaseRendererConfig]] = {"auto": AutoRendererConfig, "default": DefaultRendererConfig}
_BY_NAME.update({name: _make(name, family) for name, family in FAMILIES.items()})
globals().update({config.__name__: config for config in _BY_NAME.values()})

RendererConfig = Annotated[Union[tuple(_BY_NAME.values()) + (CustomRendererConfig,)], Field(discriminator="name")]


def _config_class_for(name: str) -> type[BaseRendererConfig]:
    if name not in _BY_NAME:
        raise ValueError(f"no configuration is called {name!r}; there are {sorted(_BY_NAME)}")
    return _BY_NAME[name]


def config_from_name(name: str) -> BaseRendererConfig | None:
    """The configuration of that name with its defaults; None for "auto"."""
    return None if name == "auto" else _config_class_for(name)()


__all__ = ["BaseRendererConfig", "CustomRendererConfig", "MODEL_RENDERER_MAP", "MULTIMODAL_MODELS", "RendererConfig",
           "ResolvedThinkingRetention", "ThinkingRetention", "config_from_name",
           *(config.__name__ for config in _BY_NAME.values())]
