"""rondo behind the interface of the Python package `renderers`, for any model.

    from rondo.compat.renderers import create_renderer
    renderer = create_renderer(tokenizer)             # a tokenizer of transformers, a rondo.Model, or a path
    rendered = renderer.render(messages, add_generation_prompt=True)

`install()` makes `import renderers` mean this, for code that imports that name.  docs/python.md says where the two differ.
Needs pydantic.
"""
import importlib
import logging
import os
import re
import sys
import types
from collections.abc import Mapping

from . import base, client, configs, custom, parsers, pool, renderer
from .base import *  # noqa: F403
from .base import __all__ as _BASE
from .client import MalformedGenerateResponseError, OverlongPromptError
from .configs import *  # noqa: F403
from .configs import FAMILIES, MODEL_RENDERER_MAP, AutoRendererConfig, CustomRendererConfig, DefaultRendererConfig
from .configs import __all__ as _CONFIGS
from .configs import _config_class_for
from .custom import custom_renderer_config, load_custom_renderer, load_target
from .pool import RendererPool
from .renderer import DefaultRenderer, Renderer

__version__ = "0.1.12"  # of the interface: the newest release whose names are here

_log = logging.getLogger(__name__)


def _make_classes():
    for name, family in FAMILIES.items():
        members = {"config_class": _config_class_for(name), "__module__": __name__,
                   "__doc__": f"The renderer that {family['config']} configures."}
        renderer.CLASSES[name] = type(family["class"], (Renderer,), members)


_make_classes()
globals().update({made.__name__: made for made in renderer.CLASSES.values()})
RENDERER_REGISTRY = renderer.CLASSES


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


def _by_old_name(name: str):
    """The configuration of a renderer by its name, in any spelling that the interface has had."""
    plain = {re.sub(r"[^a-z0-9]", "", known): known for known in (*FAMILIES, "auto", "default")}
    return configs.config_from_name(plain.get(re.sub(r"[^a-z0-9]", "", name.lower()), name))


def create_renderer(tokenizer, config=None, *, renderer: str | None = None, tool_parser: str | None = None,
                    reasoning_parser: str | None = None, preserve_all_thinking: bool = False,
                    preserve_thinking_between_tool_calls: bool = False,
                    chat_template_kwargs: Mapping | None = None):
    """The renderer of a tokenizer.

    config: a typed configuration, or the name of one; None goes by the tokenizer's `name_or_path`, and by its template
    alone where that is not known.  chat_template_kwargs: variables of the template.  The other arguments are those of
    earlier versions: `renderer` is the name, the parsers are for models without a name; keeping thoughts in a full render
    is refused, as in the newest version.

    Raises ValueError for a setting that would have no effect with this tokenizer's template.
    """
    if preserve_all_thinking or preserve_thinking_between_tool_calls:
        raise ValueError("preserve_all_thinking and preserve_thinking_between_tool_calls are now thinking_retention, a "
                         "field of the configuration")
    if config is not None and renderer is not None:
        raise ValueError("either `config` or `renderer` can be given")
    name = renderer if renderer is not None else config if isinstance(config, str) else None
    config = _resolved(tokenizer, config if name is None else _by_old_name(name), chat_template_kwargs)
    named = {key: value for key, value in (("tool_parser", tool_parser), ("reasoning_parser", reasoning_parser))
             if value is not None}
    if named and isinstance(config, DefaultRendererConfig):
        config = DefaultRendererConfig.model_validate({**config.model_dump(exclude_unset=True), **named})
    elif named and name is not None:
        raise ValueError(f"{sorted(named)}: the renderer {config.name!r} has its own")
    if isinstance(config, CustomRendererConfig):
        return load_custom_renderer(config.import_path)(tokenizer, custom_renderer_config(config))
    if config.name not in RENDERER_REGISTRY:
        raise ValueError(f"no renderer is called {config.name!r}; there are {sorted(RENDERER_REGISTRY)}")
    return RENDERER_REGISTRY[config.name](tokenizer, config)


def create_renderer_pool(tokenizer_name_or_path, config=None, size: int = 16, **options) -> RendererPool:
    """A pool of `size` renderers for a tokenizer by its name or path, or in memory; options as create_renderer()."""
    def factory():
        is_name = isinstance(tokenizer_name_or_path, str) and not os.path.exists(tokenizer_name_or_path)
        tokenizer = base.load_tokenizer(tokenizer_name_or_path) if is_name else tokenizer_name_or_path
        return create_renderer(tokenizer, config, **options)

    return RendererPool(factory, size=size)


def install(name: str = "renderers") -> None:
    """Makes `import renderers`, and its modules by family, mean this package in this process."""
    package = sys.modules[__name__]
    sys.modules[name] = package
    for module in (base, client, configs, custom, parsers, pool, renderer):
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


for _name in ("create_renderer", "create_renderer_pool", "RendererPool", "merge_chat_template_kwargs",
              "template_field_names", "Renderer", "RENDERER_REGISTRY", "MODEL_RENDERER_MAP", "MULTIMODAL_MODELS"):
    setattr(base, _name, globals()[_name])

__all__ = sorted({*_BASE, *_CONFIGS, *(made.__name__ for made in renderer.CLASSES.values()), "OverlongPromptError",
                  "MalformedGenerateResponseError", "Renderer", "RendererPool", "__version__", "create_renderer",
                  "create_renderer_pool", "custom_renderer_config", "install", "load_custom_renderer", "load_target",
                  "merge_chat_template_kwargs", "template_field_names"})
