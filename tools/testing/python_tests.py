"""Runs the tests of the Python module with pytest, from pinned packages that are unpacked, not installed.

Usage: python3 -m tools.testing.python_tests --package BUILD/python [--sanitized COMPILER] [PYTEST-ARGUMENT...]
       python3 -m tools.testing.python_tests --package BUILD/python --run SCRIPT [ARGUMENT...]      runs a script in place of the tests
       python3 -m tools.testing.python_tests --nanobind        prints the folder of nanobind's CMake files (last line); nothing where it can't be had

With --sanitized the module was built with the address sanitizer of that compiler, whose runtime then has to come first.
Where a package can't be had (no network, another Python), this says so and passes.
"""
import contextlib
import importlib.util
import os
import pathlib
import platform
import subprocess
import sys
import tarfile
import zipfile

from tools.dependencies import cache, fetch

NEEDED = {"numpy": "numpy", "pytest": "pytest", "iniconfig": "iniconfig", "pluggy": "pluggy", "packaging": "packaging",
          "pygments": "pygments", "pydantic": "pydantic", "pydantic-core": "pydantic_core",
          "typing-extensions": "typing_extensions", "annotated-types": "annotated_types",
          "typing-inspection": "typing_inspection"}
OPTIONAL = {"tokenizers": "tokenizers", "nanobind": "nanobind", "pyarrow": "pyarrow"}
# What the interfaces of engines import (tests/plugins); all else has stand-ins there.
ENGINES = ("vllm", "sglang")
OF_ENGINES = ("openai", "anyio", "sniffio", "idna", "jiter", "httpx2", "httpcore2", "h11", "truststore")


def folders():
    """What to put on the import path; None where a needed package cannot be had."""
    found = []
    for name, module in {**NEEDED, **OPTIONAL}.items():
        folder = fetch.wheel(name)
        if folder is not None:
            found.append(str(folder))
        elif name in NEEDED and importlib.util.find_spec(module) is None:
            return None
    return found


def engine_sources(name):
    """A folder with an engine's Python files, and nothing else of it; None where they can't be had."""
    def keep(folder, path, content):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    def fill(folder):
        package = fetch.package(name)
        if package.name.endswith(".tar.gz"):
            with tarfile.open(package) as archive:
                for member in archive:
                    path = member.name.partition("/")[2]
                    if path.startswith(f"{name}/") and path.endswith(".py") and member.isfile():
                        keep(folder, path, archive.extractfile(member).read())
        else:
            with zipfile.ZipFile(package) as archive:
                for path in archive.namelist():
                    if path.startswith(f"{name}/") and path.endswith(".py"):
                        keep(folder, path, archive.read(path))

    with contextlib.suppress(SystemExit):
        return cache.filled(cache.root() / f"sources-{name}-{cache.key(fetch.PACKAGES[name]['sha256'])}", fill)
    cache.say(f"{name} is not to be had here; the tests of rondo's plugin for it are passed over")
    return None


def test_plugins(environment, arguments):
    """In a process of their own: there the engines' other modules, and what these import, are stand-ins."""
    found = {f"RONDO_TEST_{name.upper()}": engine_sources(name) for name in ENGINES}
    needed = [fetch.wheel(name) for name in OF_ENGINES]
    if None in needed or not any(found.values()):
        print("skipped: the tests of plugins; what they need is not to be had here")
        return 0
    folders = ":".join(map(str, needed))
    environment = dict(environment, PYTHONPATH=f"{environment['PYTHONPATH']}:{folders}",
                       **{name: str(folder) for name, folder in found.items() if folder is not None})
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, str(cache.REPO / "tests" / "plugins")]
    return subprocess.run(command, env=environment, check=False).returncode


def runtime(compiler):
    """The libraries that a sanitized module wants before all others."""
    names = (f"libclang_rt.asan-{platform.machine()}.so", "libstdc++.so.6") if "clang" in compiler else ("libasan.so", "libubsan.so", "libstdc++.so.6")
    shown = [subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout
             for name in names]
    return ":".join(os.path.realpath(path.strip()) for path in shown)


def main(arguments):
    if arguments == ["--nanobind"]:
        folder = fetch.wheel("nanobind")
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
    result = subprocess.run(command, env=environment, check=False).returncode
    return test_plugins(environment, arguments) or result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
