#!/usr/bin/env python3
"""Installs a build tree, moves what was installed, and builds a project outside against it.

Usage: install_test.py --build TREE --cmake CMAKE --compiler COMPILER [--flags FLAGS]

The project is tests/install; it is built by CMake with find_package(rondo), then by the compiler alone with what pkg-config says.
So is a program in C, with the shared library and with the archive.
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

REPO = pathlib.Path(__file__).resolve().parents[2]
PROJECT = REPO / "tests" / "install"
C_EXAMPLE = REPO / "examples" / "c" / "rollout.c"
MODEL = REPO / "tests" / "golden" / "batch" / "model"
EXPECTED = """prompt: <bos>[[user: 2 + 2?~fin~[[assistant: 
call: add {"a": 2}
test: parsed: the arguments of call 1 are others
  line 1:
  - {"a": 3}
  + {"a": 2}
rollout: <bos>[[user: 2 + 2?~fin~[[assistant: {!do add with {"a": 2} do!}~fin~[[tool: 4~fin~[[assistant: 
session: no such model
"""
C_COMPLETION = '{!do add with {"a": 2} do!}~fin~'
C_LAST_LINE = 'prompt: <bos>[[user: 2 + 2?~fin~[[assistant: {!do add with {"a": 2} do!}~fin~[[tool: 4~fin~[[assistant: '
# Parts of what man and the shells find.
SHARED = {
    "man/man1/rondo.1": "rondo\\-edge\\-export(1)",
    "man/man1/rondo-edge-export.1": "rondo\\-edge\\-export \\- a model's template as Edge JSON",
    "bash-completion/completions/rondo": "complete -o filenames -F _rondo rondo",
    "zsh/site-functions/_rondo": "#compdef rondo",
    "fish/vendor_completions.d/rondo.fish": "-f -a detokenize",
}


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


def settings(build):
    """What the tree was configured with."""
    rows = (line.partition("=") for line in (build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines())
    return {name.partition(":")[0]: value for name, _, value in rows}


def install(options, folder):
    """Installs to one place, moves that to another, and returns both."""
    first, moved = folder / "first", folder / "moved" / "prefix"
    run(options.cmake, "--install", options.build, "--prefix", first)
    moved.parent.mkdir()
    first.rename(moved)
    return first, moved


def check_files(prefix, foreign):
    """No file names one of the foreign places; no header of the inside and nothing of the Python module is there."""
    files = [file for file in prefix.rglob("*") if file.is_file()]
    headers = {file.name for file in files if file.suffix == ".h"}
    public = {file.name for file in (REPO / "include").rglob("*.h")}
    if headers != public:
        fail(f"headers: installed are {sorted(headers)}, public are {sorted(public)}")
    for file in files:
        if file.suffix == ".py" or (file.suffix == ".so" and file.name != "librondo.so"):
            fail(f"{file.relative_to(prefix)} belongs to the Python module")
        if file.suffix in (".cmake", ".pc"):
            named = [place for place in foreign if place in file.read_text(encoding="utf-8")]
            if named:
                fail(f"{file.relative_to(prefix)} names {', '.join(named)}")
    if (prefix / "bin/rondo").exists():
        for name, content in SHARED.items():
            if content not in (prefix / "share" / name).read_text(encoding="utf-8"):
                fail(f"share/{name} lacks {content!r}")


def check_program(what, program):
    printed = run(program, MODEL)
    if printed != EXPECTED:
        fail(f"{what}: the program printed\n{printed}and should have printed\n{EXPECTED}")


def check_c_program(what, program, prefix):
    libraries = next(prefix.rglob("librondo.so")).parent
    printed = run(program, MODEL, C_COMPLETION, env=dict(os.environ, LD_LIBRARY_PATH=str(libraries)))
    if printed.splitlines()[-1] != C_LAST_LINE:
        fail(f"{what}: the program printed\n{printed}and should have ended with\n{C_LAST_LINE}")


def with_cmake(options, tree, prefix, folder):
    engine = [f"-Dllama_DIR={tree['llama_DIR']}"] if tree["RONDO_LLAMA"] == "system" else []
    run(options.cmake, "-S", PROJECT, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={options.compiler}",
        f"-DCMAKE_CXX_FLAGS={options.flags}", f"-DCMAKE_C_COMPILER={tree['CMAKE_C_COMPILER']}", f"-DCMAKE_C_FLAGS={options.flags}",
        f"-DRONDO_C_EXAMPLE={C_EXAMPLE}", *engine)
    run(options.cmake, "--build", folder)
    check_program("find_package", folder / "outside")
    for kind in ("c", "c_static"):
        check_c_program(f"find_package, rondo::{kind}", folder / f"outside_{kind}", prefix)


def with_pkg_config(options, prefix, folder):
    pc = next(prefix.rglob("rondo.pc")).parent
    environment = dict(os.environ, PKG_CONFIG_PATH=f"{pc}:{os.environ.get('PKG_CONFIG_PATH', '')}")
    folder.mkdir()

    def build(source, package, *ways):
        words = shlex.split(run("pkg-config", "--cflags", "--libs", *ways, package, env=environment))
        run(options.compiler, *source, *words, *shlex.split(options.flags), "-o", folder / package)

    build(["-std=c++20", PROJECT / "main.cpp"], "rondo", "--static")
    check_program("pkg-config", folder / "rondo")
    c_source = ["-x", "c", "-std=c99", C_EXAMPLE, "-x", "none"]
    for package, ways in (("rondo-c", []), ("rondo-c-static", ["--static"])):
        build(c_source, package, *ways)
        check_c_program(f"pkg-config {package}", folder / package, prefix)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        tree = settings(options.build)
        first, prefix = install(options, folder)
        engine = [tree["llama_DIR"].partition("/lib/")[0]] if tree["RONDO_LLAMA"] == "source" else []
        check_files(prefix, [str(first), tree["rondo_BINARY_DIR"], str(REPO), *engine])
        with_cmake(options, tree, prefix, folder / "cmake")
        if shutil.which("pkg-config") is None:
            print("skipped: pkg-config is not here; only find_package was tried")
        elif tree["RONDO_LLAMA"] == "system" and tree["llama_LIBRARY"].endswith(".a"):
            print("skipped: the pkg-config file of the system's libllama does not serve its static library")
        else:
            with_pkg_config(options, prefix, folder / "pkg-config")


if __name__ == "__main__":
    main()
