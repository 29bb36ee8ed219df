#!/usr/bin/env python3
"""Installs a build tree, moves what was installed, and builds a project outside against it.

Usage: install_test.py --build TREE --cmake CMAKE --compiler COMPILER [--flags FLAGS]

The project is tests/install; it is built by CMake with find_package(rondo), then by the compiler alone with what pkg-config says.
FLAGS are those of the tree, whose objects may be instrumented.
"""
import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

REPO = pathlib.Path(__file__).resolve().parent.parent
PROJECT = REPO / "tests" / "install"
MODEL = REPO / "tests" / "golden" / "batch" / "model"
EXPECTED = """prompt: <bos>[[user: 2 + 2?~fin~[[assistant: 
call: add {"a": 2}
rollout: <bos>[[user: 2 + 2?~fin~[[assistant: {!do add with {"a": 2} do!}~fin~[[tool: 4~fin~[[assistant: 
session: no such model
"""


def fail(message):
    print(f"FAILED: {message}")
    sys.exit(1)


def run(*command, **options):
    """What the command prints; where it fails the test ends."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, **options)
    if done.returncode != 0:
        fail(f"{shlex.join(str(word) for word in command)}\n{done.stdout}")
    return done.stdout


def install(options, folder):
    """Installs to one place, moves that to another, and returns it."""
    first, moved = folder / "first", folder / "moved" / "prefix"
    run(options.cmake, "--install", options.build, "--prefix", first)
    moved.parent.mkdir()
    first.rename(moved)
    return moved, (str(first), str(options.build), str(REPO), *engine_folder(options.build))


def engine_folder(build):
    """Where the tree takes the engine from, if it does."""
    for line in (build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition("=")
        if name.startswith("llama_DIR:") and value.startswith("/"):
            return [value.partition("/lib/")[0]]
    return []


def check_files(prefix, foreign):
    """Nothing of the build is named, no header of the inside and nothing of the Python module is there."""
    files = [file for file in prefix.rglob("*") if file.is_file()]
    headers = {file.name for file in files if file.suffix == ".h"}
    public = {file.name for file in (REPO / "include" / "rondo").iterdir()}
    if headers != public:
        fail(f"headers: installed are {sorted(headers)}, public are {sorted(public)}")
    for file in files:
        if file.suffix in (".py", ".so"):
            fail(f"{file.relative_to(prefix)} belongs to the Python module")
        if file.suffix in (".cmake", ".pc"):
            named = [place for place in foreign if place in file.read_text(encoding="utf-8")]
            if named:
                fail(f"{file.relative_to(prefix)} names {', '.join(named)}")


def check_program(what, program):
    printed = run(program, MODEL)
    if printed != EXPECTED:
        fail(f"{what}: the program printed\n{printed}and should have printed\n{EXPECTED}")


def with_cmake(options, prefix, folder):
    run(options.cmake, "-S", PROJECT, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={options.compiler}",
        f"-DCMAKE_CXX_FLAGS={options.flags}", "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF")
    run(options.cmake, "--build", folder)
    check_program("find_package", folder / "outside")


def with_pkg_config(options, prefix, folder):
    pc = next(prefix.rglob("rondo.pc")).parent
    environment = dict(os.environ, PKG_CONFIG_PATH=str(pc))
    words = shlex.split(run("pkg-config", "--cflags", "--libs", "--static", "rondo", env=environment))
    folder.mkdir()
    run(options.compiler, "-std=c++20", *shlex.split(options.flags), PROJECT / "main.cpp", *words, "-o", folder / "outside")
    check_program("pkg-config", folder / "outside")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        prefix, foreign = install(options, folder)
        check_files(prefix, foreign)
        with_cmake(options, prefix, folder / "cmake")
        if shutil.which("pkg-config") is None:
            print("skipped: pkg-config is not here; only find_package was tried")
            return
        with_pkg_config(options, prefix, folder / "pkg-config")


if __name__ == "__main__":
    main()
