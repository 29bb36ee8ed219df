"""Compiles rondo to WebAssembly and lays out the package for JavaScript: build/wasm/package.

Usage: python3 -m tools.packaging.wasm [--test]      --test also runs the tests of js/test with node
"""
import gzip
import os
import shutil
import subprocess
import sys

from tools.dependencies import cache, zig

BUILD = cache.REPO / "build" / "wasm"
FILES = ("rondo.mjs", "wasi.mjs", "rondo.d.ts", "package.json")


def _run(command, **options):
    if subprocess.run([str(part) for part in command], check=False, **options).returncode != 0:
        cache.fail(f"failed: {' '.join(map(str, command))[:300]}")


def build():
    """The path of rondo.wasm."""
    toolchain = zig.target_folder(zig.WASM) / "toolchain.cmake"
    tree = BUILD / cache.key(toolchain)  # CMake keeps the toolchain that a tree began with
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    # The headers would be compiled for one level of optimisation, and some sources want another.
    _run(["cmake", "-S", cache.REPO, "-B", tree, "-G", "Ninja", f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", "-DCMAKE_BUILD_TYPE=Release",
          "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", "-DRONDO_LLAMA=off", "-DRONDO_NET=OFF", "-DRONDO_CLI=OFF", "-DRONDO_TESTS=OFF",
          "-DRONDO_PCH=OFF", *launcher], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _run(["cmake", "--build", tree, "--target", "rondo_wasm"], env=os.environ | {"CCACHE_COMPILERTYPE": "clang"})
    return tree / "rondo.wasm"


def lay_out(module):
    """The folder of the package, as it would be published."""
    package = BUILD / "package"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for name in FILES:
        shutil.copy(cache.REPO / "js" / name, package / name)
    shutil.copy(cache.REPO / "LICENSE", package / "LICENSE")
    shutil.copyfile(module, package / "rondo.wasm")
    packed = len(gzip.compress(module.read_bytes(), 9))
    cache.say(f"{package.relative_to(cache.REPO)}: rondo.wasm has {module.stat().st_size / 1e6:.2f} MB, {packed / 1e6:.2f} MB compressed")
    return package


def test(package):
    if shutil.which("node") is None:
        cache.fail("the tests need node; install the Debian package nodejs")
    folder = BUILD / "test"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(package, folder)
    shutil.copytree(cache.REPO / "js" / "test", folder / "test")
    _run(["node", "--test", folder / "test"], env=os.environ | {"RONDO_GOLDENS": str(cache.REPO / "tests" / "golden" / "batch")})


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--test"]):
        sys.exit(__doc__)
    made = lay_out(build())
    if sys.argv[1:]:
        test(made)
