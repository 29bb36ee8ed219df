"""Chat messages to token ids and back, for any model's own chat template, without token drift.

    import rondo
    model = rondo.load("path/to/model")                        # a Hugging Face folder or a .gguf
    encoded = model.encode(messages, add_generation_prompt=True)
    encoded.ids, encoded.message_indices, encoded.sampled_mask   # NumPy arrays, no copies
    parsed = model.parse(completion_ids, prompt_ids=encoded.ids)
    bridged = model.bridge(encoded.ids, completion_ids, [{"role": "user", "content": "And then?"}])

Messages are plain dicts in the shape of the public chat APIs.  Everything works without the GIL and may be called from many
threads at once.  Failures are exceptions of `rondo.errors`, each with a code and a place.
"""
import json as _json
import os as _os
import pathlib as _pathlib

from . import edge, errors, types
from ._rondo import (
    Appended,
    Bridged,
    Encoded,
    Model,
    Parsed,
    PartialValue,
    Rollout,
    StreamParser,
    ToolCall,
    Transcript,
    __version__,
)
from ._rondo import from_memory as _from_memory
from ._rondo import load as _load_model
from .errors import (
    BridgeError,
    Error,
    InvalidArgumentError,
    LimitError,
    NotFoundError,
    ParseError,
    TemplateError,
    TokenizerError,
    UnsupportedError,
)
from .masks import mask

__all__ = [
    "Appended",
    "BridgeError",
    "Bridged",
    "Encoded",
    "Error",
    "InvalidArgumentError",
    "LimitError",
    "Model",
    "NotFoundError",
    "ParseError",
    "Parsed",
    "PartialValue",
    "Rollout",
    "StreamParser",
    "TemplateError",
    "TokenizerError",
    "ToolCall",
    "Transcript",
    "UnsupportedError",
    "__version__",
    "edge",
    "errors",
    "from_tokenizer",
    "load",
    "mask",
    "types",
]


def load(path=None, *, template=None, tokenizer=None, format=None, strict=False, polyfill="off") -> Model:
    """Loads a model: a Hugging Face folder, a .gguf file, or a template and a tokenizer from two places.

    path: a folder, a .gguf, a tokenizer file, or a template; None with `template` and `tokenizer`.
    template: a path, the template's own text, or a name: of one of several that the model brings, or of one of rondo's own
        (docs/own-templates.md); replaces the model's.
    tokenizer: a path; replaces the model's.
    format: parts of a format (docs/format.md) that count instead of what is inferred from the template.
    strict: render exactly as the reference does where that is stricter than other engines and vendors' code.
    polyfill: "auto" supplies what the template lacks (system text, tools, calls, results), "on" all of it (docs/polyfills.md).

    Raises NotFoundError, TemplateError, TokenizerError or InvalidArgumentError.

        >>> model = rondo.load("models/my-model")
        >>> model = rondo.load("vocab.gguf", template="chat_template.jinja")
    """
    return _load_model(path, template=template, tokenizer=tokenizer, format=format, strict=strict,
                       polyfill=polyfill, cache_folder=_cache_folder())


def from_tokenizer(tokenizer, *, template=None, format=None, strict=False, polyfill="off") -> Model:
    """The model of a tokenizer that is in memory: a `transformers` tokenizer, or a `tokenizers.Tokenizer` with `template`.

    A fast tokenizer is taken as it is, with its added tokens and its chat template; a slow one is read from the folder it
    was loaded from (`name_or_path`).  Other arguments as load().

        >>> model = rondo.from_tokenizer(transformers.AutoTokenizer.from_pretrained(folder))
    """
    backend = getattr(tokenizer, "backend_tokenizer", None) or getattr(tokenizer, "_tokenizer", None)
    if backend is None and hasattr(tokenizer, "to_str"):
        backend = tokenizer
    templates = _templates_of(tokenizer)
    if template in templates:
        templates, template = {"default": templates[template]}, None
    name = str(getattr(tokenizer, "name_or_path", "") or "")
    if not hasattr(backend, "to_str"):
        if not name or not _os.path.exists(name):
            raise InvalidArgumentError("neither a fast tokenizer nor one whose files can be read: `name_or_path` is "
                                       f"{name!r}")
        own = template if template is not None else templates.get("default")
        return load(name, template=own, format=format, strict=strict, polyfill=polyfill)
    parts = {
        "name": name or type(tokenizer).__name__,
        "tokenizer_json": backend.to_str(),
        "config": {key: token for key in ("bos_token", "eos_token")
                   if (token := _token_text(getattr(tokenizer, key, None))) is not None},
        "generation_config": _generation_config(tokenizer, name),
        "chat_template": templates.get("default"),
        "tool_template": templates.get("tool_use"),
    }
    return _from_memory(parts, template=template, format=format, strict=strict, polyfill=polyfill,
                        cache_folder="")


def _templates_of(tokenizer):
    templates = getattr(tokenizer, "chat_template", None)
    if isinstance(templates, str):
        return {"default": templates}
    return dict(templates) if templates else {}


def _token_text(token):
    return None if token is None else str(getattr(token, "content", token))


def _generation_config(tokenizer, name):
    """What says where generation ends: the file beside the tokenizer, else its own end token."""
    file = _pathlib.Path(name) / "generation_config.json" if name else None
    if file is not None and file.is_file():
        try:
            return _json.loads(file.read_text(encoding="utf-8"))
        except ValueError:
            pass
    end = getattr(tokenizer, "eos_token_id", None)
    return None if end is None else {"eos_token_id": end}


def _cache_folder():
    """Where large tokenizers are kept in a form that loads at once; the same folder as the program's."""
    environment = _os.environ
    if environment.get("RONDO_TOKENIZER_CACHE") == "off":
        return ""
    folder = environment.get("RONDO_CACHE")
    if not folder and environment.get("XDG_CACHE_HOME"):
        folder = _os.path.join(environment["XDG_CACHE_HOME"], "rondo")
    if not folder and environment.get("HOME"):
        folder = _os.path.join(environment["HOME"], ".cache", "rondo")
    return _os.path.join(folder, "tokenizers") if folder else ""


def _load(path, template, tokenizer, format, strict, polyfill):
    """load() with positional arguments; for pickle."""
    return load(path, template=template, tokenizer=tokenizer, format=format, strict=strict, polyfill=polyfill)
