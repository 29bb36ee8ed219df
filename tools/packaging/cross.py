"""Builds rondo for other systems and processors, with the cross compiler of zig.py: what WebAssembly, wheels and archives share."""
import os
import pathlib
import shutil
import subprocess
import tarfile

from tools.dependencies import cache, debian_sources, llama, serving_libraries, zig

# What a program or module holds of others, and where its terms stand: below the compiler's folder, or in a source package.
COMPILER_TERMS = {"libc++, libc++abi": "lib/libcxx/LICENSE.TXT", "libunwind": "lib/libunwind/LICENSE.TXT"}
MUSL_TERMS = {"musl": "lib/libc/musl/COPYRIGHT"}
SOURCE_TERMS = {"pcre2": "LICENCE", "libyaml": "License"}
FULL_SOURCE_TERMS = {"openssl": "LICENSE.txt", "sqlite": "LICENSE.md", "libsodium": "LICENSE", "hiredis": "COPYING"}
# Header libraries, as the Debian packages of ./dev setup state their terms.
HEADER_TERMS = {"CLI11": "libcli11-dev"}
FULL_HEADER_TERMS = {"Boost": "libboost1.81-dev", "toml++": "libtomlplusplus-dev"}
# Flags that link a program for Linux without what nothing reaches, and without names.
SMALL_ELF = "-s -Wl,--gc-sections"


def run(command, **options):
    if subprocess.run([str(part) for part in command], check=False, **options).returncode != 0:
        cache.fail(f"failed: {' '.join(map(str, command))[:300]}")


def build(target, name, goals, *options):
    """Builds the goals for a target of zig's, without engine and network; returns the built tree, build/cross/NAME-<key>."""
    # The headers would be compiled for one level of optimisation, and some sources want another: no RONDO_PCH.
    return _build(zig.target_folder(target), name, goals, "-DRONDO_LLAMA=off", "-DRONDO_NET=OFF", "-DRONDO_PCH=OFF", "-DRONDO_SMALL=ON", *options)


def build_full(target, name):
    """The same for the whole program, with engine and server."""
    libraries = serving_libraries.target_folder(target)
    return _build(libraries, name, ["rondo"], "-DRONDO_LLAMA=source", f"-DRONDO_LLAMA_PREFIX={libraries}",
                  f"-DCMAKE_EXE_LINKER_FLAGS={SMALL_ELF}")


def _build(folder, name, goals, *options):
    toolchain = folder / "toolchain.cmake"
    # CMake keeps the toolchain that a tree began with.  All trees are as deep as each other, so that the compiler cache serves them all.
    tree = cache.REPO / "build" / "cross" / f"{name}-{cache.key(toolchain)}"
    tree.mkdir(parents=True, exist_ok=True)
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    configure = ["cmake", "-S", cache.REPO, "-B", tree, "-G", "Ninja", f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", "-DCMAKE_BUILD_TYPE=Release",
                 "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", "-DRONDO_TESTS=OFF", *options, *launcher]
    log = tree / "configure.log"
    with open(log, "wb") as file:
        done = subprocess.run([str(part) for part in configure], stdout=file, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        cache.fail(f"configuring {name} failed:\n{log.read_text(encoding='utf-8')}")
    run(["cmake", "--build", tree, "--target", *goals, *zig.jobs()], env=os.environ | {"CCACHE_COMPILERTYPE": "clang"})
    return tree


def terms(is_static, is_full=False):
    """The terms of what is linked in, as one text; `is_static`: with the C library; `is_full`: with engine and server."""
    parts = {name: (zig.compiler() / path).read_text(encoding="utf-8")
             for name, path in (COMPILER_TERMS | (MUSL_TERMS if is_static else {})).items()}
    for name, path in (SOURCE_TERMS | (FULL_SOURCE_TERMS if is_full else {})).items():
        with tarfile.open(debian_sources.source(name)) as archive:
            (member,) = [one for one in archive if one.name.count("/") == 1 and one.name.endswith(f"/{path}")]
            parts[name] = archive.extractfile(member).read().decode("utf-8")
    for name, package in (HEADER_TERMS | (FULL_HEADER_TERMS if is_full else {})).items():
        parts[name] = pathlib.Path("/usr/share/doc", package, "copyright").read_text(encoding="utf-8")
    if is_full:
        parts["llama.cpp"] = llama.terms()
    return "".join(f"{name}\n{'=' * len(name)}\n\n{text.strip()}\n\n\n" for name, text in parts.items())
