"""Random texts for tokenizers: words of many scripts, code, white space, look-alikes of control tokens, odd characters.

    texts = Texts(random.Random(1), lookalikes=["<s>", "<|end|>"])
    texts.text()    # a str without surrogates
    texts.bytes()   # the same, at times with ill-formed UTF-8
"""
import unicodedata

WORDS = ("the of and to in is that it for was on are as with his they at be this have from or one had by word but not what all "
         "were we when your can said there use an each which she do how their if will up other about out many then them "
         "tokenizer pre-trained Don't I'll we're THEY'VE it's o'clock naïve café Müller Straße ÆON İstanbul ﬁne ﬀ résumé "
         "Привет мир быстрая лиса Ελληνικά σΣς 你好 世界 日本語 カタカナ ひらがな 한국어 안녕 ไทย ภาษา नमस्ते हिन्दी தமிழ் "
         "עברית שלום العربية مرحبا አማርኛ ភាសា မြန်မာ ქართული Հայերեն 𝒜𝓑 ＦＵＬＬ ｈａｌｆ ㍿ ① Ⅷ ½ x² ﷺ").split()
CODE = ("def f(x):\n    return x + 1\n", "for (int i = 0; i < n; ++i) {\n\t\ta[i] = b[i] * 0x1F;\n\t}\r\n", "import os, sys\n\n\n",
        "SELECT * FROM t WHERE id = 42;", '{"a": [1, 2.5, null], "b": "\\u00e9"}', "<div class=\"x\">&amp;</div>", "// TODO: ...",
        "std::vector<std::string>", "snake_case camelCase PascalCase kConst", "https://example.com/a?b=c&d=%20", "C:\\dir\\file.txt",
        "x=>y!==z&&w||v??u", "/* comment */", "$HOME/.cfg", "#include <stdio.h>", "a\\nb", "'''doc'''", "\"\"\"doc\"\"\"", "```python\n")
SPACES = (" ", " ", " ", "  ", "   ", "\n", "\n\n", "\t", "\r\n", " \n", "\n ", "\t\t", "\u00a0", "\u3000", "\u2028", "\u200b",
          "\u0085", "\v", "\f", "\u1680", "\u2003", "\ufeff", "\u180e", "\u2581", " \u2581", "\x1c")
PUNCTUATION = (".", ",", "!", "?", "...", "—", "–", "''", "``", "\"", "'", "(", ")", "[", "]", "{", "}", "@", "#", "$", "%", "^", "&", "*",
               "-", "_", "=", "+", "~", "`", "|", "\\", "/", "<", ">", "。", "，", "、", "！", "？", "「", "」", "…", "·", "€", "£", "™",
               "’s", "’", "‘", "“", "”", "🙂", "👍🏽", "👨‍👩‍👧‍👦", "🇩🇪", "❤️", "→", "∑", "√", "≠", "´", "¨", "ﾞ")
MARKS = ("\u0300", "\u0301", "\u0308", "\u0323", "\u0327", "\u0338", "\u0345", "\u05b0", "\u0e31", "\u3099", "\u20e3", "\ufe0f", "\u200d",
         "\u1161", "\u11a8", "\u0f71", "\u093c")
BAD_BYTES = (b"\xff", b"\xfe", b"\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\x80", b"\xf8\x88\x80\x80", b"\xf4\x90\x80\x80")
# Ends of blocks, last code points of a plane, unassigned, private, newest scripts.
EDGES = (0x0, 0x1, 0x7F, 0x80, 0xAD, 0x24F, 0x378, 0x530, 0x870, 0x9FFF, 0xA7DC, 0xAC00, 0xD7A3, 0xD7FF, 0xE000, 0xF8FF, 0xFDD0, 0xFFFD,
         0xFFFE, 0xFFFF, 0x10000, 0x10D40, 0x11F00, 0x16D40, 0x1E5D0, 0x1F600, 0x1FAE8, 0x20000, 0x2A6DF, 0x2EBF0, 0x31350, 0x323AF,
         0xE0001, 0xE01EF, 0xF0000, 0x10FFFF)


class Texts:
    """A source of texts; the same generator and arguments give the same texts."""

    def __init__(self, rng, lookalikes=(), pieces=(), longest=60):
        self.rng = rng
        self.lookalikes = list(lookalikes)  # contents of special and added tokens
        self.pieces = list(pieces)          # tokens as they stand in text
        self.longest = longest              # parts of a text

    def character(self):
        rng = self.rng
        kind = rng.random()
        if kind < 0.35:
            return chr(rng.randrange(32, 127))
        if kind < 0.5:
            return chr(rng.randrange(0xA0, 0x600))
        if kind < 0.6:
            return chr(rng.choice(EDGES))
        if kind < 0.75:
            return chr(rng.randrange(0x600, 0x3400))
        while True:
            code = rng.randrange(0x110000)
            if not 0xD800 <= code < 0xE000 and (unicodedata.category(chr(code)) != "Cn" or rng.random() < 0.05):
                return chr(code)

    def lookalike(self):
        rng = self.rng
        token = rng.choice(self.lookalikes)
        kind = rng.random()
        if kind < 0.5:
            return token
        at = rng.randrange(len(token) + 1)
        if kind < 0.65:
            return token[:at]
        if kind < 0.75:
            return token[at:]
        if kind < 0.85:
            return token[:at] + rng.choice((" ", "\u200b", "x", token)) + token[at:]
        return rng.choice((token.upper(), token.lower(), " " + token, token + " ", token * 2, unicodedata.normalize("NFD", token)))

    def part(self):
        rng = self.rng
        kind = rng.random()
        if kind < 0.30:
            return rng.choice(WORDS)
        if kind < 0.50:
            return rng.choice(SPACES) * (rng.choice((1, 1, 1, 2, 3, 7, 20)) if rng.random() < 0.3 else 1)
        if kind < 0.58:
            return rng.choice(PUNCTUATION) * (rng.randrange(1, 6) if rng.random() < 0.2 else 1)
        if kind < 0.64:
            return rng.choice(CODE)
        if kind < 0.70:
            return "".join(rng.choice("0123456789") for _ in range(rng.randrange(1, 9)))
        if kind < 0.73:
            return rng.choice(MARKS)
        if kind < 0.80 and self.lookalikes:
            return self.lookalike()
        if kind < 0.90 and self.pieces:
            return rng.choice(self.pieces)
        if kind < 0.92:
            return self.character() * rng.randrange(1, 12)
        return "".join(self.character() for _ in range(rng.randrange(1, 6)))

    def text(self):
        rng = self.rng
        count = min(int(rng.expovariate(1 / 6)), self.longest)
        glue = "" if rng.random() < 0.6 else " "
        return glue.join(self.part() for _ in range(count))

    def bytes(self):
        out = self.text().encode("utf-8")
        if self.rng.random() < 0.5:
            return out
        for _ in range(self.rng.randrange(1, 4)):
            at = self.rng.randrange(len(out) + 1)
            bad = self.rng.choice(BAD_BYTES)
            out = out[:at] + bad + out[at:] if self.rng.random() < 0.7 else out[:at] + out[at + 1:]
        return out
