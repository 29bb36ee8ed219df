"""rondo behind the interface of the Python package `renderers`, for any model.

    from rondo.compat.renderers import create_renderer
    renderer = create_renderer(tokenizer)             # a tokenizer of transformers, a rondo.Model, or a path
    rendered = renderer.render(messages, add_generation_prompt=True)

`install()` makes `import renderers` mean this, for code that imports that name.  docs/python.md says where the two differ.
Needs pydantic.
"""
import importlib
import logging
import sys
import types
from collections.abc import Mapping

from . import base, configs, custom, renderer
from .base import *  # noqa: F403
from .base import __all__ as _BASE
from .configs import *  # noqa: F403
from .configs import FAMILIES, MODEL_RENDERER_MAP, AutoRendererConfig, CustomRendererConfig, DefaultRendererConfig
from .configs import __all__ as _CONFIGS
from .configs import _config_class_for
from .custom import custom_renderer_config, load_custom_renderer, load_target
from .renderer import DefaultRenderer, Renderer

_log = logging.getLogger(__name__)


def _make_classes():
    for name, family in FAMILIES.items():
        members = {"config_class": _config_class_for(name), "__module__": __name__,
                   "__doc__": f"The renderer that {family['config']} configures."}
        renderer.CLASSES[name] = type(family["class"], (Renderer,), members)


_make_classes()
globals().update({made.__name__: made for made in renderer.CLASSES.values()})
RENDERER_REGISTRY = renderer.CLASSES


class OverlongPromptError(Exception):
    """A prompt is longer than what the engine takes."""


class MalformedGenerateResponseError(ValueError):
    """An engine's reply does not have the expected shape."""


def template_field_names(config) -> frozenset[str]:
    """The variables of the chat template that a configuration takes."""
    if isinstance(config, CustomRendererConfig):
        return load_custom_renderer(config.import_path).config_class.template_field_names()
    return type(config).template_field_names()


def merge_chat_template_kwargs(config, chat_template_kwargs: Mapping | None):
    """The configuration with these template variables, which it must know."""
    if not chat_template_kwargs:
        return config
    if not isinstance(chat_template_kwargs, Mapping):
        raise TypeError("chat_template_kwargs must be a mapping")
    kind = type(config)
    owner = load_custom_renderer(config.import_path).config_class if isinstance(config, CustomRendererConfig) else kind
    known = owner.template_field_names()
    unknown = set(chat_template_kwargs) - known
    if owner._allow_opaque_template_kwargs:
        unknown &= set(owner.model_fields) - {"name"}
    if unknown:
        raise ValueError(f"{config.name!r} does not take {sorted(unknown)} as chat_template_kwargs; it takes "
                         f"{sorted(known) or 'none'}")
    given = {name: getattr(config, name) for name in config.model_fields_set}
    return kind.model_validate({**given, **(config.model_extra or {}), "name": config.name, **chat_template_kwargs})


def _resolved(tokenizer, config, chat_template_kwargs):
    if config is not None and not isinstance(config, AutoRendererConfig):
        return merge_chat_template_kwargs(config, chat_template_kwargs)
    model = getattr(tokenizer, "name_or_path", "")
    name = MODEL_RENDERER_MAP.get(model)
    kept = {} if config is None or config.thinking_retention is None else {
        "thinking_retention": config.thinking_retention}
    if name is None:
        _log.info("no family is known for %r: its own template says it all", model)
        return merge_chat_template_kwargs(DefaultRendererConfig(**kept), chat_template_kwargs)
    return merge_chat_template_kwargs(_config_class_for(name)(**kept), chat_template_kwargs)


def create_renderer(tokenizer, config=None, *, chat_template_kwargs: Mapping | None = None):
    """The renderer of a tokenizer.

    config: a typed configuration; None goes by the tokenizer's `name_or_path`, and by its template alone where that is not
    known.  chat_template_kwargs: variables of the template.
    """
    config = _resolved(tokenizer, config, chat_template_kwargs)
    if isinstance(config, CustomRendererConfig):
        return load_custom_renderer(config.import_path)(tokenizer, custom_renderer_config(config))
    if config.name not in RENDERER_REGISTRY:
        raise ValueError(f"no renderer is called {config.name!r}; there are {sorted(RENDERER_REGISTRY)}")
    return RENDERER_REGISTRY[config.name](tokenizer, config)


def install(name: str = "renderers") -> None:
    """Makes `import renderers`, and its modules by family, mean this package in this process."""
    package = sys.modules[__name__]
    sys.modules[name] = package
    for module in (base, configs, custom, renderer):
        sys.modules[f"{name}.{module.__name__.rpartition('.')[2]}"] = module
    by_module = {"default": [DefaultRenderer]}
    for key, family in FAMILIES.items():
        by_module.setdefault(family["module"], []).append(renderer.CLASSES[key])
    for module_name, classes in by_module.items():
        module = types.ModuleType(f"{name}.{module_name}", "The renderers of one family.")
        module.__dict__.update({made.__name__: made for made in classes})
        sys.modules[module.__name__] = module
        setattr(package, module_name, module)
    importlib.invalidate_caches()


for _name in ("create_renderer", "merge_chat_template_kwargs", "template_field_names", "Renderer", "RENDERER_REGISTRY",
              "MODEL_RENDERER_MAP"):
    setattr(base, _name, globals()[_name])

__all__ = sorted({*_BASE, *_CONFIGS, *(made.__name__ for made in renderer.CLASSES.values()), "Renderer",
                  "MalformedGenerateResponseError", "OverlongPromptError", "create_renderer", "custom_renderer_config",
                  "install", "load_custom_renderer", "load_target", "merge_chat_template_kwargs",
                  "template_field_names"})
