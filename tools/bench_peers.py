#!/usr/bin/env python3
"""Unpacks llama.cpp's template engine from the pinned source package, for the benchmarks; prints the folder on the last line.

Only what a benchmark compiles: its `common/jinja` with the few files below `common`, `vendor` and `ggml` that it includes.

Usage: bench_peers.py
"""
import cache
import fetch
import llama

VERSION = 1  # of this script: raise it when what it writes changes
FOLDERS = (("common", "jinja"), ("vendor", "nlohmann"), ("ggml", "include"))
FILES = ("json.h", "json.cpp", "unicode.h", "unicode.cpp")


def _is_wanted(parts):
    return parts[:2] in FOLDERS or (len(parts) == 2 and parts[0] == "common" and parts[1] in FILES)


def unpack():
    """Unpacks it unless that has been done; returns the folder."""
    final = cache.root() / ("llama-common-" + cache.key(VERSION, fetch.PACKAGES[llama.PACKAGE]["sha256"]))
    with cache.lock(final.name):
        if final.is_dir():
            return final
        archive = fetch.package(llama.PACKAGE)
        cache.say("unpacking the template engine of llama.cpp")
        with cache.new_folder(final) as staged:
            llama.unpack(archive, staged, _is_wanted)
    return final


if __name__ == "__main__":
    print(unpack())
