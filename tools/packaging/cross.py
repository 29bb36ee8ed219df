"""Builds rondo for other systems and processors, with the cross compiler of zig.py: what WebAssembly, wheels and archives share."""
import os
import shutil
import subprocess
import tarfile

from tools.dependencies import cache, debian_sources, zig

# What a program or module holds of others, and where its terms stand: below the compiler's folder, or in a source package.
COMPILER_TERMS = {"libc++, libc++abi": "lib/libcxx/LICENSE.TXT", "libunwind": "lib/libunwind/LICENSE.TXT"}
MUSL_TERMS = {"musl": "lib/libc/musl/COPYRIGHT"}
SOURCE_TERMS = {"pcre2": "LICENCE", "libyaml": "License"}


def run(command, **options):
    if subprocess.run([str(part) for part in command], check=False, **options).returncode != 0:
        cache.fail(f"failed: {' '.join(map(str, command))[:300]}")


def build(target, name, goals, *options):
    """Builds the goals for a target of zig's, without engine and network; returns the built tree, build/cross/NAME-<key>."""
    toolchain = zig.target_folder(target) / "toolchain.cmake"
    # CMake keeps the toolchain that a tree began with.  All trees are as deep as each other, so that the compiler cache serves them all.
    tree = cache.REPO / "build" / "cross" / f"{name}-{cache.key(toolchain)}"
    tree.mkdir(parents=True, exist_ok=True)
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    # The headers would be compiled for one level of optimisation, and some sources want another: no RONDO_PCH.
    configure = ["cmake", "-S", cache.REPO, "-B", tree, "-G", "Ninja", f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", "-DCMAKE_BUILD_TYPE=Release",
                 "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", "-DRONDO_LLAMA=off", "-DRONDO_NET=OFF", "-DRONDO_TESTS=OFF", "-DRONDO_PCH=OFF",
                 "-DRONDO_SMALL=ON", *options, *launcher]
    log = tree / "configure.log"
    with open(log, "wb") as file:
        done = subprocess.run([str(part) for part in configure], stdout=file, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        cache.fail(f"configuring for {target} failed:\n{log.read_text(encoding='utf-8')}")
    jobs = ["--parallel", os.environ["RONDO_JOBS"]] if os.environ.get("RONDO_JOBS") else []
    run(["cmake", "--build", tree, "--target", *goals, *jobs], env=os.environ | {"CCACHE_COMPILERTYPE": "clang"})
    return tree


def terms(is_static):
    """The terms of what is linked in, as one text; `is_static`: with the C library."""
    parts = {name: (zig.compiler() / path).read_text(encoding="utf-8")
             for name, path in (COMPILER_TERMS | (MUSL_TERMS if is_static else {})).items()}
    for name, path in SOURCE_TERMS.items():
        with tarfile.open(debian_sources.source(name)) as archive:
            (member,) = [one for one in archive if one.name.count("/") == 1 and one.name.endswith(f"/{path}")]
            parts[name] = archive.extractfile(member).read().decode("utf-8")
    return "".join(f"{name}\n{'=' * len(name)}\n\n{text.strip()}\n\n\n" for name, text in parts.items())
