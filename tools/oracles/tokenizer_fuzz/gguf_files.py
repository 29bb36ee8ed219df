"""Made-up GGUF vocabularies of the kinds of which few are published: t5, rwkv, plamo2.

    kind, data = made_up(1)    # the same number gives the same file
"""
import random
import struct

from .texts import Texts

NORMAL, UNKNOWN, CONTROL, UNUSED, BYTE = 1, 2, 3, 5, 6
STRING, ARRAY, UINT32, FLOAT32, INT32, BOOL = 8, 9, 4, 6, 5, 7
SPACE = "\u2581"


def _string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value):
    if isinstance(value, bool):
        return struct.pack("<I?", BOOL, value)
    if isinstance(value, int):
        return struct.pack("<II", UINT32, value)
    if isinstance(value, str):
        return struct.pack("<I", STRING) + _string(value)
    if isinstance(value[0], float):
        return struct.pack(f"<IIQ{len(value)}f", ARRAY, FLOAT32, len(value), *value)
    if isinstance(value[0], int):
        return struct.pack(f"<IIQ{len(value)}i", ARRAY, INT32, len(value), *value)
    return struct.pack("<IIQ", ARRAY, STRING, len(value)) + b"".join(map(_string, value))


def gguf(fields):
    """A GGUF file of version 3 without tensors."""
    return struct.pack("<4sIQQ", b"GGUF", 3, 0, len(fields)) + b"".join(_string(key) + _value(value) for key, value in fields.items())


def _substrings(rng, texts, count, longest):
    found = set()
    while len(found) < count:
        text = texts.text()
        if not text:
            continue
        at = rng.randrange(len(text))
        piece = text[at:at + rng.randint(1, longest)]
        if piece and "\0" not in piece:  # libllama ends names there
            found.add(piece)
    return sorted(found)


def _vocabulary(kind, tokens, types, scores, **more):
    fields = {"general.architecture": "llama", "tokenizer.ggml.model": kind, "tokenizer.ggml.tokens": tokens,
              "tokenizer.ggml.token_type": types, "tokenizer.ggml.scores": scores}
    return gguf(fields | {"tokenizer.ggml." + name: value for name, value in more.items()})


def _scores(rng, count):
    # Few different ones, so that there are ties.
    return [-float(rng.choice([rng.randint(1, 12), rng.random() * 12])) for _ in range(count)]


def t5(rng, texts):
    pieces = sorted({piece.replace(" ", SPACE) for piece in _substrings(rng, texts, rng.choice([300, 2000]), 8)} | {SPACE})
    tokens = ["<pad>", "</s>", "<unk>", *pieces]
    # None is user-defined: libllama takes any beginning of such a token for the token, and bytes stay behind.
    types = [CONTROL, CONTROL, UNKNOWN] + [rng.choices([NORMAL, UNUSED], [50, 1])[0] for _ in pieces]
    return _vocabulary("t5", tokens, types, [0.0, 0.0, 0.0] + _scores(rng, len(pieces)), unknown_token_id=2, eos_token_id=1,
                       add_space_prefix=rng.random() < 0.5, remove_extra_whitespaces=rng.random() < 0.5)


def _escaped(data):
    plain = {0x5C: "\\\\", 0x0A: "\\n", 0x09: "\\t", 0x0D: "\\r"}
    return "".join(plain.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}") for byte in data)


def rwkv(rng, texts):
    pieces = {bytes([byte]) for byte in range(256)} | {piece.encode() for piece in _substrings(rng, texts, rng.choice([300, 3000]), 9)}
    for _ in range(200):  # pieces that end or start inside a character
        data = texts.text().encode()
        at = rng.randrange(max(1, len(data)))
        pieces.add(data[at:at + rng.randint(1, 9)] or b"a")
    ordered = sorted(pieces)
    rng.shuffle(ordered)
    return _vocabulary("rwkv", ["<|rwkv:bos|>"] + [_escaped(piece) for piece in ordered], [CONTROL] + [NORMAL] * len(ordered),
                       [0.0] * (len(ordered) + 1))


def plamo2(rng, texts):
    pieces = _substrings(rng, texts, rng.choice([300, 3000]), 9)
    tokens = ["<|plamo:unk|>", "<|plamo:bos|>", "<|plamo:eos|>"] + [f"<0x{byte:02X}>" for byte in range(256)] + pieces
    types = [UNKNOWN, CONTROL, CONTROL] + [BYTE] * 256 + [NORMAL] * len(pieces)
    return _vocabulary("plamo2", tokens, types, [0.0] * 259 + _scores(rng, len(pieces)))


def made_up(number):
    """The kind and the bytes of the vocabulary with this number."""
    rng = random.Random(f"gguf {number}")
    make = (t5, rwkv, plamo2)[number % 3]
    return make.__name__, make(rng, Texts(rng, longest=30))
