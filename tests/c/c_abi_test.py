#!/usr/bin/env python3
"""The ABI of the C API: what librondo.so shows, what rondo.h declares, and how large its structs are, against tests/c/abi.txt.

Usage: c_abi_test.py --library LIBRONDO.SO --layout PROGRAM --compiler C_COMPILER

RONDO_UPDATE=1 rewrites the file.  A line that goes or changes there is another ABI: RONDO_ABI_VERSION goes up with it.  Sizes are
those of 64 bits.  The header must compile alone as C99 and as C++11, without a warning.
"""
import argparse
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parents[2]
HEADER = REPO / "include" / "rondo.h"
GOLDEN = REPO / "tests" / "c" / "abi.txt"


def fail(message):
    print(f"FAILED: {message}")
    sys.exit(1)


def run(*command):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    if done.returncode != 0:
        fail(f"{' '.join(str(word) for word in command)}\n{done.stdout}")
    return done.stdout


def declarations():
    """Name and whole declaration of every function of the header."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = {}
    for words in re.findall(r"^RONDO_API\s+([^;]*);", text, re.MULTILINE):
        declaration = " ".join(words.split())
        found[re.search(r"(rondo_\w+)\(", declaration).group(1)] = declaration
    return found


def exported(library):
    """The names that the library shows; None where there is no tool that tells."""
    tool = shutil.which("nm") or shutil.which("llvm-nm-19")
    if tool is None:
        return None
    rows = (line.split() for line in run(tool, "-D", "--defined-only", library).splitlines())
    return {row[-1] for row in rows if len(row) == 3}


def check_exports(library, declared):
    shown = exported(library)
    if shown is None:
        print("skipped: there is no nm; what the library shows was not looked at")
        return
    if shown != set(declared):
        fail(f"the library shows {sorted(shown - set(declared))} besides, and lacks {sorted(set(declared) - shown)}")


def check_header(compiler):
    for language, standard in (("c", "c99"), ("c++", "c++11")):
        run(compiler, "-x", language, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", HEADER)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--layout", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", required=True)
    options = parser.parse_args()
    check_header(options.compiler)
    declared = declarations()
    check_exports(options.library, declared)
    if struct.calcsize("P") != 8:
        print("skipped: the sizes are recorded for 64 bits")
        return
    now = run(options.layout) + "".join(f"{declared[name]}\n" for name in sorted(declared))
    if os.environ.get("RONDO_UPDATE"):
        GOLDEN.write_text(now, encoding="utf-8")
    recorded = GOLDEN.read_text(encoding="utf-8").splitlines()
    gone = [line for line in recorded if line not in now.splitlines()]
    added = [line for line in now.splitlines() if line not in recorded]
    if gone or added:
        fail("the ABI is not that of tests/c/abi.txt\n" + "\n".join([f"- {line}" for line in gone] + [f"+ {line}" for line in added]))


if __name__ == "__main__":
    main()
