#!/usr/bin/env python3
"""Builds the programs of examples/c, examples/rust and examples/go against the shared library, runs them, and compares what they print.

Usage: c_examples_test.py --library LIBRONDO.SO --compiler C_COMPILER [--flags FLAGS]

FLAGS are those of the tree, whose objects may be instrumented; then the programs are linked with the sanitizers' runtime, by clang.
Rust and Go are passed over where their tools are not here.
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
EXAMPLES = REPO / "examples"
MODEL = REPO / "tests" / "golden" / "batch" / "model"
COMPLETION = '{!do add with {"a": 2} do!}~fin~'
EXPECTED = """prompt: <bos>[[user: 2 + 2?~fin~[[assistant: 
said: {"content":"","reasoning_content":null,"tool_calls":[{"id":null,"name":"add","arguments":"{\\"a\\": 2}"}],"complete":true}
prompt: <bos>[[user: 2 + 2?~fin~[[assistant: {!do add with {"a": 2} do!}~fin~[[tool: 4~fin~[[assistant: 
"""


def fail(message):
    print(f"FAILED: {message}")
    sys.exit(1)


def run(*command, **options):
    """What the command prints; where it fails the test ends."""
    words = [str(word) for word in command]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          **options)
    if done.returncode != 0:
        fail(f"{shlex.join(words)}\n{done.stdout}")
    return done.stdout


def check(what, program):
    printed = run(program, MODEL, COMPLETION)
    if printed != EXPECTED:
        fail(f"{what}: the program printed\n{printed}and should have printed\n{EXPECTED}")


def runtime(options):
    """What links a program to an instrumented library; nothing where it is not."""
    found = [word for word in shlex.split(options.flags) if word.startswith("-fsanitize=")]
    return [*found, "-fsanitize-link-c++-runtime", "-lstdc++", "-lm"] if found else []


def in_c(options, folder):
    where = options.library.parent
    run(options.compiler, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", *shlex.split(options.flags), f"-I{REPO}/include",
        EXAMPLES / "c" / "rollout.c", f"-L{where}", "-lrondo", f"-Wl,-rpath,{where}", *runtime(options), "-o", folder / "c")
    check("C", folder / "c")


def in_rust(options, folder):
    environment = dict(os.environ, RONDO_LIB_DIR=str(options.library.parent), CARGO_TARGET_DIR=str(folder / "target"))
    project = folder / "rust"
    shutil.copytree(EXAMPLES / "rust", project)  # cargo writes a lock file
    host = next(line.partition(": ")[2] for line in run("rustc", "-vV").splitlines() if line.startswith("host: "))
    if runtime(options):
        words = [f"linker={options.compiler}", *(f"link-arg={word}" for word in runtime(options))]
        environment["RUSTFLAGS"] = " ".join(f"-C {word}" for word in words)
    # With a target named, the flags are not those of the build script.
    run("cargo", "build", "--quiet", "--offline", "--target", host, cwd=project, env=environment)
    check("Rust", folder / "target" / host / "debug" / "rollout")


def in_go(options, folder):
    where = options.library.parent
    environment = dict(os.environ, CGO_ENABLED="1", CGO_CFLAGS=f"-I{REPO}/include", CGO_LDFLAGS_ALLOW=".*", CC=options.compiler,
                       CGO_LDFLAGS=" ".join([f"-L{where}", f"-Wl,-rpath,{where}", *runtime(options)]), GOPROXY="off", GOTOOLCHAIN="local")
    run("go", "build", "-o", folder / "go", ".", cwd=EXAMPLES / "go", env=environment)
    check("Go", folder / "go")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        in_c(options, folder)
        for what, tool, build in (("Rust", "cargo", in_rust), ("Go", "go", in_go)):
            if shutil.which(tool) is None:
                print(f"skipped: there is no {tool}; the example in {what} was not built")
            else:
                build(options, folder)


if __name__ == "__main__":
    main()
