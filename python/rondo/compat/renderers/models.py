"""The rondo model of whatever a tokenizer is: one of transformers, a model, a path, an object with a few methods."""
import json
import os
import pathlib
import tempfile
import weakref
from dataclasses import dataclass, field

import numpy

import rondo

_MODELS = weakref.WeakKeyDictionary()


def model_of(tokenizer, template=None, format=None):
    """The model; of a tokenizer in memory it is made once for each template and format."""
    if isinstance(tokenizer, rondo.Model):
        return _corrected(tokenizer, template, format) if template or format else tokenizer
    if isinstance(tokenizer, (str, pathlib.PurePath)):
        return rondo.load(tokenizer, template=template, format=format)
    key = json.dumps([getattr(tokenizer, "chat_template", None), template, format], sort_keys=True, default=str)
    try:
        known = _MODELS.setdefault(tokenizer, {})
    except TypeError:  # neither hashable nor weakly referable: made anew
        known = {}
    if key not in known:
        known[key] = _made(tokenizer, template, format)
    return known[key]


def _corrected(model, template, format):
    """A model that was loaded from files, with another template or parts of its format."""
    _, (path, own_template, tokenizer, own_format, strict, polyfill) = model.__reduce__()
    return rondo.load(path, template=template or own_template, tokenizer=tokenizer, strict=strict, polyfill=polyfill,
                      format={**(own_format or {}), **(format or {})})


def _made(tokenizer, template, format):
    backend = next((it for it in (getattr(tokenizer, name, None) for name in ("backend_tokenizer", "_tokenizer"))
                    if it is not None), tokenizer)
    is_fast = hasattr(backend, "to_str") and isinstance(backend.to_str(), str)
    name = getattr(tokenizer, "name_or_path", None)
    if is_fast or isinstance(name, str) and os.path.exists(name):
        return rondo.from_tokenizer(tokenizer, template=template, format=format)
    if hasattr(type(tokenizer), "save_pretrained"):
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save_pretrained(folder)
            model = rondo.load(folder, template=template, format=format)
            model.vocab_size  # noqa: B018: reads the files while they are there
            return model
    if not all(callable(getattr(tokenizer, method, None)) for method in ("encode", "decode")):
        raise TypeError(f"a tokenizer must have `encode` and `decode`, found `{type(tokenizer).__name__}`")
    return StubModel(tokenizer, template, format)


@dataclass
class _Ids:
    """As rondo.Encoded and rondo.Appended, as far as a renderer looks at them."""

    ids: numpy.ndarray
    message_indices: numpy.ndarray
    content_mask: numpy.ndarray
    sampled_mask: numpy.ndarray
    roles: list = field(default_factory=list)
    is_attributed: bool = True

    def __len__(self):
        return len(self.ids)


class _Bytes:
    """A tokenizer whose ids are bytes."""

    name_or_path = ""

    def __init__(self, chat_template):
        self.chat_template = chat_template

    @staticmethod
    def to_str():
        plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
        others = [byte for byte in range(256) if byte not in plain]
        shown = {**{byte: chr(byte) for byte in plain}, **{byte: chr(256 + k) for k, byte in enumerate(others)}}
        step = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
        return json.dumps({
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
            "pre_tokenizer": step, "post_processor": None, "decoder": step,
            "model": {"type": "BPE", "vocab": {character: byte for byte, character in shown.items()}, "merges": []}})


class StubModel:
    """A model of a tokenizer of which only `encode` and `decode` are known.

    Texts, owners and masks are rondo's, by bytes; ids are the tokenizer's own.  One without a chat template renders by its
    own `apply_chat_template`, message by message, and is not bridged.
    """

    def __init__(self, tokenizer, template, format):
        self._tokenizer = tokenizer
        own = getattr(tokenizer, "chat_template", None)
        own = template or (own if isinstance(own, str) and own else None)
        self.chat_template = own  # None: not to be seen
        self._bytes = rondo.from_tokenizer(
            _Bytes(own or "{% for message in messages %}{{ message.content }}{% endfor %}"), format=format)
        self.format = self._bytes.format

    def tokenize(self, text):
        return numpy.array(self._encoded(text), dtype=numpy.int32)

    def detokenize(self, ids):
        ids = [int(token) for token in ids]
        if not ids:
            return ""
        try:
            return self._tokenizer.decode(ids, skip_special_tokens=False)
        except TypeError:
            return self._tokenizer.decode(ids)

    def _encoded(self, text):
        if not text:
            return []
        try:
            return list(self._tokenizer.encode(text, add_special_tokens=False))
        except TypeError:
            return list(self._tokenizer.encode(text))

    def find_token(self, text):
        convert = getattr(self._tokenizer, "convert_tokens_to_ids", None)
        token = convert(text) if convert else None
        return token if isinstance(token, int) and token != getattr(self._tokenizer, "unk_token_id", None) else None

    def stop_ids(self, kwargs=None):
        texts = [text.strip() for texts in (self.format(kwargs=kwargs).get("stops") or {}).values() for text in texts]
        found = [getattr(self._tokenizer, "eos_token_id", None), *(self.find_token(text) for text in texts if text)]
        return sorted({token for token in found if isinstance(token, int)})

    def render(self, messages, **options):
        if self.chat_template is None:
            return self.detokenize(self.encode(messages, **options).ids)
        return self._bytes.render(messages, **options)

    def encode(self, messages, **options):
        if self.chat_template is None:
            return self._applied(messages, **options)
        encoded = self._bytes.encode(messages, **options)
        return self._as_own(encoded.text, encoded, encoded.sampled_mask, encoded.roles)

    def _applied(self, messages, tools=None, add_generation_prompt=False, kwargs=None, now=None):
        """By the tokenizer's own template, which nobody else can read."""
        apply = getattr(self._tokenizer, "apply_chat_template", None)
        if apply is None:
            raise rondo.UnsupportedError("the tokenizer has neither a `chat_template` nor `apply_chat_template`")
        options = {**(kwargs or {}), **({"tools": tools} if tools else {}), "tokenize": True, "return_dict": False}
        owners, ids = [], []
        for index in range(len(messages) + bool(add_generation_prompt)):
            is_prompt = index == len(messages)
            ids = list(apply(messages[:index + 1], add_generation_prompt=is_prompt, **options))
            owners += [-1 if is_prompt else index] * (len(ids) - len(owners))
        return self._unattributed(ids, owners[:len(ids)], [message.get("role") or "" for message in messages])

    @staticmethod
    def _unattributed(ids, owners, roles):
        ids, owners, nothing = (numpy.array(it, dtype=numpy.int32) for it in (ids, owners, []))
        return _Ids(ids, owners, nothing, nothing, roles, is_attributed=False)

    def _as_own(self, text, by_byte, sampled, roles):
        """What holds of a text's bytes, for the tokenizer's ids: each as its first byte, if the ids spell the text."""
        ids = self._encoded(text)
        pieces = [self.detokenize([token]) for token in ids]
        if "".join(pieces) != text:
            return self._unattributed(ids, [-1] * len(ids), roles)
        sizes = [len(piece.encode("utf-8", "surrogatepass")) for piece in pieces]
        begins = numpy.cumsum([0, *sizes[:-1]])[:len(ids)].astype(numpy.int64)
        begins = numpy.minimum(begins, max(0, len(by_byte.message_indices) - 1))
        return _Ids(numpy.array(ids, dtype=numpy.int32), by_byte.message_indices[begins], by_byte.content_mask[begins],
                    sampled[begins], roles)

    def parse(self, completion, *, prompt_ids=None, prompt_tail="", tools=None, kwargs=None):
        ids = [int(token) for token in completion]
        stops = set(self.stop_ids(kwargs))
        end = next((place for place, token in enumerate(ids) if token in stops), len(ids))
        tail = prompt_tail if prompt_ids is None else self.detokenize(prompt_ids)
        parsed = self._bytes.parse(self.detokenize(ids[:end]), prompt_tail=tail, tools=tools, kwargs=kwargs)
        return _Said(parsed, end < len(ids) or parsed.stopped)

    def append(self, prompt_ids, completion_ids, new_messages, **options):
        if self.chat_template is None:
            raise rondo.BridgeError("the tokenizer's chat template cannot be seen")
        before, said = (self._bytes.tokenize(self.detokenize(ids)) for ids in (prompt_ids, completion_ids))
        added = self._bytes.append(before, said, new_messages, **options)
        return self._as_own(added.text, added, numpy.zeros(len(added), dtype=bool), [])


class _Said:
    """A parsed text, and whether a stop token ended it."""

    def __init__(self, parsed, stopped):
        self._parsed, self.stopped = parsed, stopped

    def __getattr__(self, name):
        return getattr(self._parsed, name)
