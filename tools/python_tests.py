#!/usr/bin/env python3
"""Runs the tests of the Python module with pytest, from pinned packages that are unpacked, not installed.

Usage: python_tests.py --package BUILD/python [--sanitized COMPILER] [PYTEST-ARGUMENT...]
       python_tests.py --package BUILD/python --run SCRIPT [ARGUMENT...]      runs a script in place of the tests
       python_tests.py --nanobind        prints the folder of nanobind's CMake files (last line); nothing where it can't be had

With --sanitized the module was built with the address sanitizer of that compiler, whose runtime then has to come first.
Where a package can't be had (no network, another Python), this says so and passes.
"""
import importlib.util
import os
import pathlib
import platform
import subprocess
import sys

import bench_peers
import cache

NEEDED = {"numpy": "numpy", "pytest": "pytest", "iniconfig": "iniconfig", "pluggy": "pluggy", "packaging": "packaging",
          "pygments": "pygments", "pydantic": "pydantic", "pydantic-core": "pydantic_core",
          "typing-extensions": "typing_extensions", "annotated-types": "annotated_types",
          "typing-inspection": "typing_inspection"}
OPTIONAL = {"tokenizers": "tokenizers", "nanobind": "nanobind"}


def folders():
    """What to put on the import path; None where a needed package cannot be had."""
    found = []
    for name, module in {**NEEDED, **OPTIONAL}.items():
        folder = bench_peers.unpack_wheel(name)
        if folder is not None:
            found.append(str(folder))
        elif name in NEEDED and importlib.util.find_spec(module) is None:
            return None
    return found


def runtime(compiler):
    """The libraries that a sanitized module wants before all others."""
    names = (f"libclang_rt.asan-{platform.machine()}.so", "libstdc++.so.6") if "clang" in compiler else ("libasan.so", "libubsan.so", "libstdc++.so.6")
    shown = [subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout
             for name in names]
    return ":".join(os.path.realpath(path.strip()) for path in shown)


def main(arguments):
    if arguments == ["--nanobind"]:
        folder = bench_peers.unpack_wheel("nanobind")
        print(folder / "nanobind" / "cmake" if folder else "")
        return 0
    options = {}
    while arguments and arguments[0] in ("--package", "--sanitized", "--run"):
        options[arguments[0]] = arguments[1]
        arguments = arguments[2:]
    if "--package" not in options:
        cache.fail(__doc__)
    package, compiler = pathlib.Path(options["--package"]), options.get("--sanitized")
    path = folders()
    if path is None:
        print("skipped: the packages that the tests of the Python module need are not to be had here")
        return 0
    environment = dict(os.environ, PYTHONPATH=":".join([str(package.resolve()), *path]), PYTHONDONTWRITEBYTECODE="1")
    if compiler:
        # The interpreter frees little at its end; what the module leaks, nanobind reports itself.
        environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        environment["LD_PRELOAD"] = runtime(compiler)
        environment["PYTHONMALLOC"] = "malloc"
    check = subprocess.run([sys.executable, "-c", "import numpy, pytest, pydantic, rondo"], env=environment, check=False,
                           capture_output=True, text=True)
    if check.returncode != 0 and "rondo" not in check.stderr.rpartition("File")[2]:
        print(f"skipped: not for this Python: {check.stderr.strip().splitlines()[-1]}")
        return 0
    if "--run" in options:
        return subprocess.run([sys.executable, options["--run"], *arguments], env=environment, check=False).returncode
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments,
               str(cache.REPO / "tests" / "python")]
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
