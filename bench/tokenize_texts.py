"""Texts for the tokenizer benchmark: some megabytes each, the same on every run with the same Python.

code     Python's own standard library
prose    English: the documentation strings of the standard library and what Python's `help` shows of the language
mixed    generated: words in Chinese, Japanese and Korean, some in other scripts, punctuation, emoji; the words are those of
         the vocabulary of a pinned package (in order of its ids, which is about that of their frequency)
"""
import json
import pathlib
import random
import re
import sysconfig
import textwrap

SEED = 20261121
DOCUMENTATION = re.compile(r'^ *r?"""([^"\\]{80,}?)"""', re.MULTILINE)
WIDE = ((0x2E80, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
EMOJI = [chr(c) for c in (*range(0x1F600, 0x1F650), *range(0x1F300, 0x1F380), 0x2764, 0x2728)]
EMOJI += ["\U0001F469\u200D\U0001F4BB", "\U0001F44D\U0001F3FD", "\u2764\uFE0F", "\U0001F1EF\U0001F1F5"]


def _sources():
    folder = pathlib.Path(sysconfig.get_path("stdlib"))
    for path in sorted(folder.rglob("*.py")):
        if {"site-packages", "dist-packages", "lib2to3", "encodings"} & set(path.parts):
            continue
        try:
            yield path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def _gather(parts, size):
    text, length = [], 0
    for part in parts:
        text.append(part)
        length += len(part.encode("utf-8"))
        if length >= size:
            break
    return "".join(text).encode("utf-8")[:size].decode("utf-8", "ignore")


def code(size):
    return _gather(_sources(), size)


def _documentation():
    import pydoc_data.topics
    for topic in pydoc_data.topics.topics.values():
        yield topic + "\n"
    for source in _sources():
        for match in DOCUMENTATION.finditer(source):
            yield textwrap.dedent(match[1]) + "\n\n"


def prose(size):
    return _gather(_documentation(), size)


def _words(tokenizer_json):
    """The words of a byte-level vocabulary: those with wide characters, and those of other scripts."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    alphabet = {chr(byte): byte for byte in printable} | {chr(256 + at): byte for at, byte in enumerate(others)}
    wide, other = [], []
    vocabulary = json.loads(pathlib.Path(tokenizer_json).read_text(encoding="utf-8"))["model"]["vocab"]
    for token, _ in sorted(vocabulary.items(), key=lambda item: item[1]):
        try:
            word = bytes(alphabet[character] for character in token).decode("utf-8").strip()
        except (KeyError, UnicodeDecodeError):
            continue
        if word.isalpha() and any(first <= ord(word[0]) <= last for first, last in WIDE):
            wide.append(word)
        elif word.isalpha() and len(word) > 2:
            other.append(word)
    return wide, other


def _sentences(wide, other):
    source = random.Random(SEED)
    def pick(words):
        return words[int(len(words) ** source.random()) - 1]
    while True:
        for _ in range(source.randint(1, 5)):
            clause = "".join(pick(wide) for _ in range(source.randint(2, 9)))
            kind = source.random()
            if kind < 0.15:
                clause += f" {pick(other)} "
            elif kind < 0.22:
                clause += str(source.randint(1, 3000)) + source.choice("年月日%個")
            elif kind < 0.32:
                clause += source.choice(EMOJI) * source.choice((1, 1, 1, 2, 3))
            yield clause + source.choice("，，，、：；（）「」 ")
        yield source.choice(("。", "。", "！", "？", "。\n", "…\n\n"))


def mixed(size, tokenizer_json):
    return _gather(_sentences(*_words(tokenizer_json)), size)
