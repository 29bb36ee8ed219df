"""Renderers that live elsewhere, by import path or file."""
import hashlib
import importlib
import importlib.util
import pathlib
import sys


def load_target(import_path: str):
    """What `my_module.Name` or `path/to/file.py:Name` names."""
    place, colon, name = import_path.rpartition(":")
    if not colon and not import_path.endswith(".py"):
        place, _, name = import_path.rpartition(".")
    if not place or not name:
        raise ValueError(f"{import_path!r} is neither 'my_module.Name' nor 'path/to/file.py:Name'")
    module = _file_module(place) if place.endswith(".py") or "/" in place else importlib.import_module(place)
    if not hasattr(module, name):
        raise ValueError(f"{place!r} has no {name!r}")
    return getattr(module, name)


def _file_module(place: str):
    """The module of a file, imported once."""
    file = pathlib.Path(place).resolve()
    if not file.is_file():
        raise ValueError(f"there is no file {place!r}")
    name = f"_rondo_custom_{hashlib.sha256(str(file).encode()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def load_custom_renderer(import_path: str):
    """The renderer class, which must have a `config_class`."""
    from .configs import BaseRendererConfig

    target = load_target(import_path)
    config = getattr(target, "config_class", None)
    if not isinstance(config, type) or not issubclass(config, BaseRendererConfig):
        raise TypeError(f"{import_path!r} must have a `config_class` that is a BaseRendererConfig")
    return target


def custom_renderer_config(config):
    """The renderer's own configuration, from the further fields of a CustomRendererConfig."""
    fields = dict(config.model_extra or {})
    if config.thinking_retention is not None:
        fields["thinking_retention"] = config.thinking_retention
    return load_custom_renderer(config.import_path).config_class(**fields)
