#!/usr/bin/env python3
"""Unpacks the larger test corpus, where it stands beside the checkout, into the cache; prints the folder on the last line.

The corpus (../shared/corpus, with its own script in ../shared/oracle) is not part of the repository, and tests skip what
needs it when it is absent; then this prints nothing.

    tokenizers/<id>/tokenizer.json
    models/<row>/tokenizer.json, tokenizer_config.json, chat_template.jinja

Usage: corpus.py [--prefix]
"""
import os
import subprocess
import sys

import cache

CORPUS = cache.REPO.parent / "shared" / "corpus"
UNPACK = cache.REPO.parent / "shared" / "oracle" / "unpack.py"


def prefix():
    parts = [cache.sha256(path) for path in (CORPUS / "manifest.json", CORPUS / "tokenizers" / "index.json", UNPACK)]
    return cache.root() / ("corpus-" + cache.key(*parts))


def unpack():
    final = prefix()
    if final.is_dir():
        return final
    with cache.lock(final.name):
        if final.is_dir():
            return final
        cache.say("unpacking the corpus's tokenizers (half a minute, 500 MB)")
        with cache.new_folder(final) as staged:
            subprocess.run([sys.executable, "-B", str(UNPACK), "--corpus", str(CORPUS), "--out", str(staged), "--models"],
                           check=True, stdin=subprocess.DEVNULL)
            for link in staged.glob("models/*/tokenizer.json"):  # made absolute; the folder is about to be renamed
                if link.is_symlink():
                    target = os.path.relpath(os.readlink(link), link.parent)
                    link.unlink()
                    link.symlink_to(target)
    return final


def main(arguments):
    if not (CORPUS / "manifest.json").is_file() or not UNPACK.is_file():
        return
    if arguments == ["--prefix"]:
        print(prefix())
        sys.exit(0 if prefix().is_dir() else 1)
    print(unpack())


if __name__ == "__main__":
    main(sys.argv[1:])
