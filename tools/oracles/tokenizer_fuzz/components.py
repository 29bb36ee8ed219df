"""Random small tokenizer.json files made of every part of the reference, with every option.

    Components(random.Random(1)).tokenizer()    # a dict

Vocabularies are made of pieces that the reference itself cuts sample texts into, so that most texts find tokens.
"""
import base64
import json
import struct

from tokenizers import Regex, Tokenizer, normalizers

PATTERNS = (
    r"\s+", r" ", r"\w+|[^\w\s]+", r"\p{L}+|\p{N}|[^\p{L}\p{N}]", r"[0-9]{1,3}", r"(?=\d)", r"\b", r"^", r"$", r"a*", r"[^\S\n]+",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[\p{P}\$\+<=>\^~\|]+", r"[一-龥぀-ゟ゠-ヿ]+", r"\s?\p{Han}+", r"(?<=[a-z])(?=[A-Z])", r"[\r\n]", r"(?i:S|T)+", r"\d", r"\W", r"\S",
    r"\h+", r".", r"(?m)^.*$", r"[^\W_]+", r"[a-z&&[^aeiou]]+", r"[^a[b-d]\s]", r"a{1,2}+", r"\p{N}{1,3}+", r"x{2}?", r"[[:punct:]]+",
    r"\p{Letter}+", r"\p{^L}", r"[\p{Punct}\h]", r"\B", r"\bt|s\b", r"\v", r"[\H]", r"(?i)THE",
    r"\P{Han}", r"[[:word:]]+", r"[]x]", r"a{,2}", r"[[:space:]]", r"[[:digit:]]{1,3}+", r"\O", r"(?:a|b){2}?", r"[a-zA-Z]+(?:'[a-z]+)?", r"\p{Lu}", r"▁", r"Ġ", r"\u2581", r"\x{e9}",
)
BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
STRINGS = (" ", "a", "the", "\n", "▁", "Ġ", ".", "''", "é", "  ", "世")
REPLACED = ("▁", "", " ", "x", "''", "\"", "Ġ", "ab")
SPELLED = [chr(c) for c in [*range(33, 127), *range(161, 173), *range(174, 256)]]
ALPHABET = sorted(SPELLED + [chr(256 + i) for i in range(68)])
MAPPED = {"ﬁ": "fi", "①": "1", "é": "e", "\n": " ", "\r": " ", "\t": " ", "\u200b": " ", "\x01": "", "Ａ": "A", "…": "...", "e\u0301": "E",
          "ﷺ": "صلى الله", "½": "1/2", "ﾞ": "\u3099", "カ\u3099": "ガ", "🙂": ":)", "a": "a", "\u00ad": "", "\ufeff": "", "\u3000": " ",
          "İ": "i\u0307", "ก\u0e31": "กั", "\u200d": "", "🇩🇪": "DE", "\ufffd": "?"}


def charsmap(mapping):
    """A precompiled character map: a double array in the layout of Darts-clone, built naively, and the replacements."""
    pool, values = b"", {}
    for key, to in mapping.items():
        values[key.encode()] = len(pool)
        pool += to.encode() + b"\0"
    children = {}
    for key in values:
        for at in range(len(key)):
            children.setdefault(key[:at], set()).add(key[at])
    units, used = {0: 0}, {0}
    bases = set()

    def place(prefix, at):
        labels = sorted(children.get(prefix, ())) + ([0] if prefix in values else [])
        base = 1
        while base in bases or base ^ at >= 1 << 21 or any((base ^ label) in used for label in labels):
            base += 1
        bases.add(base)
        offset = base ^ at
        units[at] |= (offset << 10) | (0x100 if prefix in values else 0)
        used.update(base ^ label for label in labels)
        for label in labels:
            if label == 0:
                units[base] = values[prefix] | 0x80000000
            else:
                units[base ^ label] = label
        for label in labels:
            if label:
                place(prefix + bytes([label]), base ^ label)

    place(b"", 0)
    size = (max(units) | 255) + 1
    array = b"".join(struct.pack("<I", units.get(i, 0)) for i in range(size))
    return base64.b64encode(struct.pack("<I", len(array)) + array + pool).decode()


def finds_empty(pattern):
    """Whether the pattern finds empty text at the start of one."""
    replace = normalizers.Replace(Regex(pattern["Regex"]) if "Regex" in pattern else pattern["String"], "\u0001")
    return any(replace.normalize_str(text).startswith("\u0001" + text[0]) for text in ("!", "a", "1", " ", "A", "\n"))


class Components:
    def __init__(self, rng, texts):
        self.rng = rng
        self.texts = texts

    def chance(self, probability):
        return self.rng.random() < probability

    def pattern(self):
        if self.chance(0.4):
            return {"String": self.rng.choice(STRINGS + (("",) if self.chance(0.1) else ()))}
        return {"Regex": self.rng.choice(PATTERNS)}

    def normalizer(self, depth=0):
        rng = self.rng
        kind = rng.choice(("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "StripAccents", "Replace", "Replace", "Prepend", "Nmt",
                           "Precompiled", "BertNormalizer", "ByteLevel", "Sequence"))
        if kind == "Strip":
            return {"type": kind, "strip_left": self.chance(0.5), "strip_right": self.chance(0.5)}
        if kind == "Replace":
            # After an empty match at the start the reference doubles text, or panics, in the next step.
            pattern = self.pattern()
            while finds_empty(pattern):
                pattern = self.pattern()
            return {"type": kind, "pattern": pattern, "content": rng.choice(REPLACED)}
        if kind == "Prepend":
            return {"type": kind, "prepend": rng.choice(("▁", " ", "ab", "é"))}
        if kind == "Precompiled":
            keys = rng.sample(sorted(MAPPED), rng.randrange(3, len(MAPPED)))
            return {"type": kind, "precompiled_charsmap": charsmap({key: MAPPED[key] for key in keys})}
        if kind == "BertNormalizer":
            return {"type": kind, "clean_text": self.chance(0.5), "handle_chinese_chars": self.chance(0.5),
                    "strip_accents": rng.choice((None, True, False)), "lowercase": self.chance(0.5)}
        if kind == "Sequence":
            if depth > 1:
                return {"type": "NFC"}
            return {"type": kind, "normalizers": [self.normalizer(depth + 1) for _ in range(rng.randrange(4))]}
        return {"type": kind}

    def pre_tokenizer(self, depth=0):
        rng = self.rng
        kind = rng.choice(("BertPreTokenizer", "ByteLevel", "ByteLevel", "CharDelimiterSplit", "Metaspace", "Metaspace", "Whitespace", "Sequence",
                           "Sequence", "Split", "Split", "Punctuation", "WhitespaceSplit", "Digits", "UnicodeScripts", "FixedLength"))
        if kind == "ByteLevel":
            return {"type": kind, "add_prefix_space": self.chance(0.4), "trim_offsets": self.chance(0.5), "use_regex": self.chance(0.6)}
        if kind == "CharDelimiterSplit":
            return {"type": kind, "delimiter": rng.choice((" ", "a", "\n", "▁", "é", "Ġ"))}
        if kind == "Metaspace":
            part = {"type": kind, "replacement": rng.choice("▁▁▁_é"), "split": self.chance(0.7)}
            if self.chance(0.8):
                part["prepend_scheme"] = rng.choice(("always", "first", "never"))
            elif self.chance(0.5):
                part.update(add_prefix_space=True, str_rep="▁")
            return part
        if kind == "Sequence":
            if depth > 1:
                return {"type": "WhitespaceSplit"}
            return {"type": kind, "pretokenizers": [self.pre_tokenizer(depth + 1) for _ in range(rng.randrange(4))]}
        if kind == "Split":
            return {"type": kind, "pattern": self.pattern(), "behavior": rng.choice(BEHAVIORS), "invert": self.chance(0.3)}
        if kind == "Punctuation":
            return {"type": kind, "behavior": rng.choice(BEHAVIORS)}
        if kind == "Digits":
            return {"type": kind, "individual_digits": self.chance(0.5)}
        if kind == "FixedLength":
            return {"type": kind, "length": rng.randrange(1, 7)}
        return {"type": kind}

    def decoder(self, depth=0):
        rng = self.rng
        kind = rng.choice(("BPEDecoder", "ByteLevel", "ByteLevel", "WordPiece", "Metaspace", "CTC", "Sequence", "Sequence", "Replace", "Fuse",
                           "Strip", "ByteFallback"))
        if kind == "BPEDecoder":
            return {"type": kind, "suffix": rng.choice(("</w>", "e", "▁"))}
        if kind == "WordPiece":
            return {"type": kind, "prefix": rng.choice(("##", "", "▁")), "cleanup": self.chance(0.5)}
        if kind == "Metaspace":
            return {"type": kind, "replacement": rng.choice("▁▁e"), "prepend_scheme": rng.choice(("always", "first", "never"))}
        if kind == "CTC":
            return {"type": kind, "pad_token": rng.choice(("<pad>", "e")), "word_delimiter_token": rng.choice("|▁"),
                    "cleanup": self.chance(0.5)}
        if kind == "Sequence":
            if depth > 1:
                return {"type": "Fuse"}
            return {"type": kind, "decoders": [self.decoder(depth + 1) for _ in range(rng.randrange(5))]}
        if kind == "Replace":
            return {"type": kind, "pattern": self.pattern(), "content": rng.choice(REPLACED)}
        if kind == "Strip":
            return {"type": kind, "content": rng.choice(" ▁e"), "start": rng.randrange(3), "stop": 0 if self.chance(0.8) else 1}
        return {"type": kind}

    def post_processor(self, specials, depth=0):
        rng = self.rng
        kind = rng.choice(("TemplateProcessing", "BertProcessing", "RobertaProcessing", "ByteLevel", "Sequence"))
        if kind == "ByteLevel":
            return {"type": kind, "add_prefix_space": True, "trim_offsets": self.chance(0.3), "use_regex": True}
        if kind == "Sequence":
            if depth > 0:
                return {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
            parts = [self.post_processor(specials, 1) for _ in range(rng.randrange(3))]
            if sum(part["type"] == "TemplateProcessing" for part in parts) > 1:  # refused if it cannot be applied
                parts.pop()
            return {"type": kind, "processors": parts}
        if kind != "TemplateProcessing":
            part = {"type": kind, "sep": list(rng.choice(specials)), "cls": list(rng.choice(specials))}
            if kind == "RobertaProcessing":
                part.update(trim_offsets=self.chance(0.3), add_prefix_space=True)
            return part
        used = {text: {"id": text, "ids": [token] * rng.randrange(1, 3), "tokens": []} for text, token in specials}
        for entry in used.values():
            entry["tokens"] = [entry["id"]] * len(entry["ids"])
        special = lambda: {"SpecialToken": {"id": rng.choice(specials)[0], "type_id": 0}}
        text = lambda name: {"Sequence": {"id": name, "type_id": 0}}
        single = [special() for _ in range(rng.randrange(3))] + [text("A")] + [special() for _ in range(rng.randrange(3))]
        return {"type": kind, "single": single, "pair": [text("A"), text("B")] if self.chance(0.5) else [special(), text("A"), text("B")],
                "special_tokens": used}

    def added_tokens(self, vocab):
        """Numbered as the reference does it, which goes by the vocabulary and not by the file."""
        rng = self.rng
        known = vocab if isinstance(vocab, dict) else {token: number for number, (token, _) in enumerate(vocab)}
        out, following = [], len(vocab)
        for text in rng.sample(self.texts.lookalikes, rng.randrange(1, 6)):
            special = self.chance(0.5)
            number = known.get(text)
            if number is None:
                number, following = following, following + 1
            out.append({"id": number, "content": text, "single_word": self.chance(0.15), "lstrip": self.chance(0.2),
                        "rstrip": self.chance(0.2), "normalized": self.chance(0.3), "special": special})
        return out

    def tokenizer(self):
        """None where the reference cannot build it."""
        parts = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
                 "normalizer": self.normalizer() if self.chance(0.6) else None,
                 "pre_tokenizer": self.pre_tokenizer() if self.chance(0.85) else None, "post_processor": None, "decoder": None,
                 "model": {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"}}
        try:
            pieces = self.pieces(Tokenizer.from_str(json.dumps(parts)))
        except BaseException:  # noqa: BLE001  the reference panics, which Python sees as a BaseException
            return None
        parts["model"] = Models(self.rng, pieces).model()
        vocab = parts["model"]["vocab"]
        parts["added_tokens"] = self.added_tokens(vocab) if self.chance(0.7) else []
        specials = [("?", 0)] + [(token["content"], token["id"]) for token in parts["added_tokens"]]
        if self.chance(0.4):
            parts["post_processor"] = self.post_processor(specials)
        if self.chance(0.8):
            parts["decoder"] = self.decoder()
        return parts

    def pieces(self, tokenizer):
        """What the normaliser and the pre-tokenizer make of some texts."""
        out = []
        for _ in range(25):
            text = self.texts.text()
            if tokenizer.normalizer is not None:
                text = tokenizer.normalizer.normalize_str(text)
            if tokenizer.pre_tokenizer is not None:
                out += [piece for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text)]
            else:
                out.append(text)
        return [piece for piece in out if piece][:2 * Models.most_tokens]


class Models:
    """Random models over pieces of text."""

    most_tokens = 250  # about

    def __init__(self, rng, pieces):
        self.rng = rng
        self.pieces = pieces or ["a"]
        self.characters = sorted({c for piece in self.pieces for c in piece})

    def chance(self, probability):
        return self.rng.random() < probability

    def model(self):
        return self.rng.choice((self.bpe, self.bpe, self.unigram, self.unigram, self.word_piece, self.word_level))()

    def substring(self, longest=8):
        piece = self.rng.choice(self.pieces)
        begin = self.rng.randrange(len(piece))
        return begin > 0, piece[begin:begin + self.rng.randrange(1, longest)]

    def byte_tokens(self):
        every = [f"<0x{byte:02X}>" for byte in range(256)]
        return every if self.chance(0.6) else self.rng.sample(every, min(len(every), 40))

    def known(self):
        """Most characters have a token."""
        keep = 1.0 if self.chance(0.3) else 0.9
        return [c for c in self.characters if self.rng.random() < keep]

    def numbered(self, tokens):
        tokens = ["?"] + [token for token in dict.fromkeys(tokens) if token != "?"]
        return {token: number for number, token in enumerate(tokens)}

    def bpe(self):
        rng = self.rng
        prefix = rng.choice(("##", "▁")) if self.chance(0.12) else ""
        suffix = rng.choice(("</w>", "e")) if self.chance(0.12) else ""
        known = set(self.known())
        fallback = self.chance(0.3)
        tokens = list(self.byte_tokens()) if fallback else []
        words = []
        for piece in self.pieces:
            word = [(prefix if i else "") + c + (suffix if i + 1 == len(piece) else "") for i, c in enumerate(piece)]
            kept = [part for part, c in zip(word, piece) if c in known]
            tokens += kept
            words.append(kept)
        if self.chance(0.2):
            tokens += ALPHABET
        merges, seen = [], set()
        for _ in range(rng.randrange(self.most_tokens)):
            word = rng.choice(words)
            if len(word) < 2:
                continue
            at = rng.randrange(len(word) - 1)
            left, right = word[at], word[at + 1]
            if not right.startswith(prefix) or len(right) <= len(prefix):
                continue
            whole = left + right[len(prefix):]
            word[at:at + 2] = [whole]
            tokens.append(whole)
            if (left, right) not in seen:
                seen.add((left, right))
                merges.append([left, right])
        for _ in range(rng.randrange(10)):
            tokens.append(self.substring()[1])
        if self.chance(0.3):
            rng.shuffle(merges)
        if all(" " not in part for merge in merges for part in merge) and self.chance(0.4):
            merges = [" ".join(merge) for merge in merges]
        return {"type": "BPE", "dropout": None, "unk_token": "?" if self.chance(0.6) else None,
                "continuing_subword_prefix": prefix or None, "end_of_word_suffix": suffix or None, "fuse_unk": self.chance(0.4),
                "byte_fallback": fallback, "ignore_merges": self.chance(0.3), "vocab": self.numbered(tokens), "merges": merges}

    def unigram(self):
        rng = self.rng
        fallback = self.chance(0.3)
        tokens = [self.substring()[1] for _ in range(rng.randrange(10, self.most_tokens))] + self.known()
        tokens = list(self.numbered(tokens + (self.byte_tokens() if fallback else [])))
        if self.chance(0.1):
            tokens += rng.sample(tokens, min(len(tokens), 3))
        digits = rng.choice((0, 1, 3, 17, 19))
        scores = [round(-rng.random() * 15, digits) if digits < 10 else f"-{rng.randrange(15)}.{rng.randrange(10 ** digits):0{digits}d}"
                  for _ in tokens]
        vocab = [[token, json.loads(str(score))] for token, score in zip(tokens, scores)]
        unknown = 0
        if self.chance(0.3):
            unknown = rng.randrange(len(vocab))
        return {"type": "Unigram", "unk_id": unknown, "byte_fallback": fallback, "vocab": vocab}

    def word_piece(self):
        prefix = self.rng.choice(("##", "##", "", "▁"))
        tokens = self.known()
        for _ in range(self.rng.randrange(10, self.most_tokens)):
            inside, text = self.substring()
            tokens.append(prefix + text if inside or self.chance(0.2) else text)
        tokens += [prefix + c for c in self.known()]
        return {"type": "WordPiece", "unk_token": "?", "continuing_subword_prefix": prefix,
                "max_input_chars_per_word": self.rng.choice((100, 100, 5, 1, 0)), "vocab": self.numbered(tokens)}

    def word_level(self):
        tokens = self.rng.sample(self.pieces, min(len(self.pieces), self.rng.randrange(1, self.most_tokens))) + self.known()
        return {"type": "WordLevel", "unk_token": "?", "vocab": self.numbered(tokens)}
