"""Prepares a test corpus in the cache; prints its folder on the last line.

The larger corpus (../shared/corpus, with its own script in ../shared/oracle) is not part of the repository.  Where it
stands beside the checkout its tokenizers are unpacked:

    tokenizers/<id>/tokenizer.json
    models/<row>/tokenizer.json, tokenizer_config.json, chat_template.jinja

Elsewhere nothing is printed.  With --small the small corpus (tools/corpus/small_corpus) is made: it needs nothing but the pinned
packages, and has the files of the larger one as well.

Usage: python3 -m tools.corpus.corpus [--small] [--prefix]
"""
import os
import subprocess
import sys

from tools.corpus.small_corpus import make as small
from tools.dependencies import cache

CORPUS = cache.REPO.parent / "shared" / "corpus"
UNPACK = cache.REPO.parent / "shared" / "oracle" / "unpack.py"


def prefix():
    parts = [cache.sha256(path) for path in (CORPUS / "manifest.json", CORPUS / "tokenizers" / "index.json", UNPACK)]
    return cache.root() / ("corpus-" + cache.key(*parts))


def _fill(folder):
    cache.say("unpacking the corpus's tokenizers (half a minute, 500 MB)")
    subprocess.run([sys.executable, "-B", str(UNPACK), "--corpus", str(CORPUS), "--out", str(folder), "--models"],
                   check=True, stdin=subprocess.DEVNULL)
    for link in folder.glob("models/*/tokenizer.json"):  # made absolute; the folder is about to be renamed
        if link.is_symlink():
            target = os.path.relpath(os.readlink(link), link.parent)
            link.unlink()
            link.symlink_to(target)


def unpack():
    return cache.filled(prefix(), _fill)


def main(arguments):
    place, make = (small.prefix, small.make) if "--small" in arguments else (prefix, unpack)
    if place is prefix and (not (CORPUS / "manifest.json").is_file() or not UNPACK.is_file()):
        return
    if "--prefix" in arguments:
        print(place())
        sys.exit(0 if place().is_dir() else 1)
    print(make())


if __name__ == "__main__":
    main(sys.argv[1:])
