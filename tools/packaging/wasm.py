"""Compiles rondo to WebAssembly and lays out the package for JavaScript: build/wasm/package.

Usage: python3 -m tools.packaging.wasm [--test]      --test also runs the tests of js/test with node
"""
import gzip
import json
import lzma
import os
import shutil
import sys

from tools.corpus import corpus
from tools.corpus.small_corpus import make as small_corpus
from tools.dependencies import cache, zig
from tools.packaging import cross

BUILD = cache.REPO / "build" / "wasm"
MODULES = ("errors.mjs", "wasi.mjs", "tape.mjs", "memory.mjs", "library.mjs", "streams.mjs", "model.mjs", "format.mjs", "rondo.mjs")  # each behind what it imports
FILES = (*MODULES, "rondo.d.ts", "package.json")
MOST_MEGABYTES = 2.5  # compressed


def build():
    """The path of rondo.wasm."""
    return cross.build(zig.WASM, "wasm", ["rondo_wasm"], "-DRONDO_CLI=OFF") / "rondo.wasm"


def lay_out(module):
    """The folder of the package, as it would be published."""
    package = BUILD / "package"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for name in FILES:
        shutil.copy(cache.REPO / "js" / name, package / name)
    shutil.copy(cache.REPO / "LICENSE", package / "LICENSE")
    shutil.copyfile(module, package / "rondo.wasm")
    packed = len(gzip.compress(module.read_bytes(), 9)) / 1e6
    if packed > MOST_MEGABYTES:
        cache.fail(f"rondo.wasm has {packed:.3f} MB compressed; at most {MOST_MEGABYTES} are allowed")
    cache.say(f"{package.relative_to(cache.REPO)}: rondo.wasm has {module.stat().st_size / 1e6:.2f} MB, {packed:.2f} MB compressed")
    return package


def _corpus():
    """Where the tests find a corpus: the larger one where it stands beside the checkout, else the small one."""
    larger = (corpus.CORPUS / "manifest.json").is_file()
    folder = corpus.CORPUS if larger else small_corpus.make()
    tokenizers = corpus.unpack() / "tokenizers" if larger else BUILD / "tokenizers"
    rows = [] if larger else json.loads((folder / "tokenizers" / "index.json").read_text(encoding="utf-8"))
    for row in rows:
        file = tokenizers / row["id"] / "tokenizer.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(lzma.decompress((folder / row["file"]).read_bytes()))
    texts = BUILD / "conversations.json"
    texts.write_text(json.dumps(dict(_as_texts(path) for path in sorted((folder / "conversations").glob("*.json")))), encoding="utf-8")
    return {"RONDO_CORPUS": folder, "RONDO_CORPUS_TOKENIZERS": tokenizers, "RONDO_CORPUS_TEXTS": texts}


def _as_texts(path):
    """A conversation's id and its parts, each as the text of its JSON or null."""
    read = json.loads(path.read_text(encoding="utf-8"))
    part = {name: json.dumps(read[name]) if read.get(name) is not None else None for name in ("messages", "tools", "documents")}
    return read["id"], part | {"kwargs": {name: json.dumps(value) for name, value in (read.get("kwargs") or {}).items()}}


def test(package):
    if shutil.which("node") is None:
        cache.fail("the tests need node; install the Debian package nodejs")
    folder = BUILD / "test"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(package, folder)
    shutil.copytree(cache.REPO / "js" / "test", folder / "test")
    places = {"RONDO_GOLDENS": cache.REPO / "tests" / "golden" / "batch"} | _corpus()
    cross.run(["node", "--test", folder / "test"], env=os.environ | {name: str(place) for name, place in places.items()})


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--test"]):
        sys.exit(__doc__)
    made = lay_out(build())
    if sys.argv[1:]:
        test(made)
