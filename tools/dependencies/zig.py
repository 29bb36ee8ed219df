"""The cross compiler, the package `ziglang`, and the C libraries that rondo needs, compiled with it for a target.

Usage: python3 -m tools.dependencies.zig TARGET      prepares all that is needed and prints the path of the CMake toolchain file on the last line

TARGET is one of zig's, such as x86_64-linux-gnu.2.28 or aarch64-linux-musl; wasm32-wasi is WebAssembly.  In the cache:
    wheel-ziglang-<key>/       the compiler, unpacked
    zig-target-<key>/          bin/ with its commands for a target, toolchain.cmake, and in lib/ and include/ the libraries
    zig-work/                  what the compiler keeps for itself
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile

from tools.dependencies import cache, debian_sources, fetch

WASM = "wasm32-wasi"
SYSTEMS = {"linux": "Linux", "macos": "Darwin", "windows": "Windows", "wasi": "Generic"}

# The C++ library as zig configures it for WebAssembly, but with threads: they can't be started there, and what waits for none
# (mutexes, std::call_once) works.  Its own libc++ has neither those nor exceptions, which template rendering uses.
WASM_LIBRARY = {
    "_LIBCPP_ABI_VERSION": "1",
    "_LIBCPP_ABI_NAMESPACE": "__1",
    "_LIBCPP_HAS_THREADS": "1",
    "_LIBCPP_HAS_THREAD_API_PTHREAD": "1",
    "_LIBCPP_HAS_MONOTONIC_CLOCK": "1",
    "_LIBCPP_HAS_TERMINAL": "0",
    "_LIBCPP_HAS_MUSL_LIBC": "1",
    "_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS": "0",
    "_LIBCPP_HAS_FILESYSTEM": "1",
    "_LIBCPP_HAS_RANDOM_DEVICE": "1",
    "_LIBCPP_HAS_LOCALIZATION": "1",
    "_LIBCPP_HAS_UNICODE": "1",
    "_LIBCPP_HAS_WIDE_CHARACTERS": "1",
    "_LIBCPP_PSTL_BACKEND_SERIAL": "",
    "_LIBCPP_HAS_NO_STD_MODULES": "",
    "_LIBCPP_HARDENING_MODE": "_LIBCPP_HARDENING_MODE_NONE",
    "_LIBCPP_ASSERTION_SEMANTIC_DEFAULT": "_LIBCPP_ASSERTION_SEMANTIC_IGNORE",
    "_LIBCXXABI_DISABLE_VISIBILITY_ANNOTATIONS": "",
    "_LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS": "",
    "_LIBUNWIND_HIDE_SYMBOLS": "",
}
WASM_OPTIONS = ["--target=wasm32-wasip1", "-fwasm-exceptions", "-mllvm", "-wasm-use-legacy-eh=true", "-fvisibility=hidden", "-msimd128"]
# Sources of the C++ library that WebAssembly has no use or no system calls for.
WASM_LEFT_OUT = {"strstream.cpp", "int128_builtins.cpp", "random_shuffle.cpp", "cxa_noexception.cpp", "stdlib_new_delete.cpp"}
# Clang takes this tag, by which C++ exceptions are thrown, from the library.
WASM_TAG = ".globl __cpp_exception\n.tagtype __cpp_exception i32\n__cpp_exception:\n"
# The one thread never ends, so nothing that it keeps is freed.
WASM_THREAD_END = "int __cxa_thread_atexit(void (*free)(void *), void *kept, void *library) { return 0; }\n"

# What every target has: source packages, and header libraries by the folder that the Debian packages of ./dev setup install.
LIBRARIES = ("pcre2", "libyaml")
HEADERS = ("CLI",)


def compiler():
    """The folder with the program `zig`."""
    folder = fetch.wheel("ziglang")
    if folder is None:
        cache.fail("the cross compiler cannot be had here")
    (folder / "ziglang" / "zig").chmod(0o755)
    return folder / "ziglang"


def _environment():
    work = cache.root() / "zig-work"
    return {"ZIG_GLOBAL_CACHE_DIR": str(work), "ZIG_LOCAL_CACHE_DIR": str(work)}


def run(command, variables=None, **options):
    """Runs a command of a build, with `variables` in its environment; ends with the last of its output where it fails."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          env=os.environ | _environment() | (variables or {}), **options)
    if done.returncode != 0:
        sys.stderr.write(done.stdout[-6000:])
        cache.fail(f"failed: {' '.join(map(str, command))[:300]}")
    return done.stdout


def _wasm_flags():
    library = compiler() / "lib"
    folders = [library / "libcxx" / "include", library / "libcxxabi" / "include", library / "include"]
    folders += [library / "libc" / "include" / name for name in ("wasm-wasi-musl", "generic-musl", "wasm32-wasi-any", "any-wasi-any")]
    return [*WASM_OPTIONS, "-nostdinc", *(part for folder in folders for part in ("-isystem", str(folder))),
            *(f"-D{name}={value}" if value else f"-D{name}" for name, value in WASM_LIBRARY.items())]


def _wasm_library(folder):
    """libc++ and libc++abi with exceptions, from the compiler's own sources, as folder/lib/libcxx.a."""
    zig = compiler()
    library = zig / "lib"
    objects = folder / "objects"
    objects.mkdir()
    base = [zig / "zig", "clang", *_wasm_flags(), "-O2", "-w", "-DNDEBUG", "-D__WASM_EXCEPTIONS__"]
    cxx = [*base, "-std=c++23", "-D_LIBCPP_BUILDING_LIBRARY", "-DLIBCXX_BUILDING_LIBCXXABI", "-D_LIBCXXABI_BUILDING_LIBRARY",
           *(f"-I{library / name}" for name in ("libcxx/src", "libcxxabi/src", "libunwind/include", "libcxx/libc"))]
    sources = [source for pattern in ("libcxxabi/src/*.cpp", "libcxx/src/*.cpp", "libcxx/src/filesystem/*.cpp", "libcxx/src/ryu/*.cpp")
               for source in sorted(library.glob(pattern)) if source.name not in WASM_LEFT_OUT]
    for source in sources:
        # Its C library has no copy_file_range(), which libc++ expects of every musl.
        other = ["-U_LIBCPP_HAS_MUSL_LIBC", "-D_LIBCPP_HAS_MUSL_LIBC=0"] if source.name == "operations.cpp" else []
        run([*cxx, *other, "-c", source, "-o", objects / f"{source.parent.name}-{source.stem}.o"])
    run([*base, f"-I{library / 'libunwind/include'}", "-c", library / "libunwind/src/Unwind-wasm.c", "-o", objects / "unwind.o"])
    tag = objects / "tag.s"
    tag.write_text(WASM_TAG, encoding="utf-8")
    run([zig / "zig", "clang", WASM_OPTIONS[0], "-mexception-handling", "-c", tag, "-o", objects / "tag.o"])
    end = objects / "thread_end.c"
    end.write_text(WASM_THREAD_END, encoding="utf-8")
    run([*base, "-c", end, "-o", objects / "thread_end.o"])
    run([zig / "zig", "ar", "rcs", folder / "lib" / "libcxx.a", *sorted(objects.glob("*.o"))])
    shutil.rmtree(objects)


def _commands(target, folder):
    """bin/cc and the others: what CMake calls."""
    zig = shlex.quote(str(compiler() / "zig"))
    variables = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in _environment().items())
    if target == WASM:
        flags = shlex.join(_wasm_flags())
        lines = {"cc": f"clang {flags}", "c++": f"clang --driver-mode=g++ {flags}",
                 "link": f"cc -target {target} -mexec-model=reactor"}
    else:
        lines = {"cc": f"cc -target {target}", "c++": f"c++ -target {target}"}
    lines |= {"ar": "ar", "ranlib": "ranlib"}
    (folder / "bin").mkdir(parents=True)
    for name, line in lines.items():
        file = folder / "bin" / name
        file.write_text(f'#!/bin/sh\n{variables}exec {zig} {line} "$@"\n', encoding="utf-8")
        file.chmod(0o755)


def parts_of(target):
    """Its processor and its system, without the version that may follow the system's name; None where it has no such form."""
    found = re.match(r"(\w+)-([a-z]+)", target)
    return found and found.groups()


def _toolchain(target, folder, final):
    """toolchain.cmake, for the folder as it will be called."""
    processor, system = parts_of(target)
    lines = [f"set(CMAKE_SYSTEM_NAME {SYSTEMS[system]})", f"set(CMAKE_SYSTEM_PROCESSOR {processor})",
             f"set(CMAKE_C_COMPILER {final}/bin/cc)", f"set(CMAKE_CXX_COMPILER {final}/bin/c++)",
             f"set(CMAKE_AR {final}/bin/ar)", f"set(CMAKE_RANLIB {final}/bin/ranlib)",
             f"set(CMAKE_FIND_ROOT_PATH {final})", f"set(CMAKE_PREFIX_PATH {final})",
             *(f"set(CMAKE_FIND_ROOT_PATH_MODE_{kind} {mode})"
               for kind, mode in (("PROGRAM", "NEVER"), ("LIBRARY", "ONLY"), ("INCLUDE", "ONLY"), ("PACKAGE", "BOTH")))]
    if target == WASM:
        lines += ["set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)", "set(CMAKE_EXECUTABLE_SUFFIX .wasm)", "set(CMAKE_HAVE_LIBC_PTHREAD TRUE)",
                  "set(CMAKE_FIND_LIBRARY_PREFIXES lib)", "set(CMAKE_FIND_LIBRARY_SUFFIXES .a)",
                  *(f'set(CMAKE_{language}_LINK_EXECUTABLE "{final}/bin/link <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES> '
                    f'{final}/lib/libcxx.a")' for language in ("C", "CXX"))]
    (folder / "toolchain.cmake").write_text("\n".join(lines) + "\n", encoding="utf-8")


def unpacked(name, work):
    """The folder with a source package's files, new below `work`."""
    shutil.rmtree(work, ignore_errors=True)
    with tarfile.open(debian_sources.source(name)) as archive:
        archive.extractall(work, filter="data")
    (source,) = work.iterdir()
    return source


def build_with_cmake(source, toolchain, folder, options):
    """Compiles a source that uses CMake as a static library, beside it, and installs it in the folder."""
    build = source.parent / "build"
    run(["cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", "-DCMAKE_BUILD_TYPE=Release",
         f"-DCMAKE_INSTALL_PREFIX={folder}", "-DCMAKE_INSTALL_LIBDIR=lib", "-DBUILD_SHARED_LIBS=OFF", "-DCMAKE_POSITION_INDEPENDENT_CODE=ON",
         *options])
    run(["cmake", "--build", build, *jobs()])
    run(["cmake", "--install", build])


def jobs():
    """What tells `cmake --build` how much it may do at once."""
    return ["--parallel", os.environ["RONDO_JOBS"]] if os.environ.get("RONDO_JOBS") else []


def _build(name, folder, final, options):
    """Compiles a source package that uses CMake, and installs it in the folder."""
    work = folder / "work"
    source = unpacked(name, work)
    toolchain = folder / "work-toolchain.cmake"
    toolchain.write_text((folder / "toolchain.cmake").read_text(encoding="utf-8").replace(str(final), str(folder)), encoding="utf-8")
    build_with_cmake(source, toolchain, folder, ["-DBUILD_TESTING=OFF", "-DCMAKE_POLICY_VERSION_MINIMUM=3.5", *options])
    shutil.rmtree(work)
    toolchain.unlink()


def target_folder(target):
    """The folder of a target, with toolchain.cmake and the libraries."""
    text = pathlib.Path(__file__).read_text(encoding="utf-8")
    sources = [debian_sources.SOURCES[name] for name in LIBRARIES]
    final = cache.root() / f"zig-target-{cache.key(target, text, fetch.package('ziglang').name, sources)}"

    def fill(folder):
        cache.say(f"compiling libraries for {target}")
        _commands(target, folder)
        _toolchain(target, folder, final)
        (folder / "lib").mkdir()
        (folder / "include").mkdir()
        if target == WASM:
            _wasm_library(folder)
        jit = "OFF" if target == WASM else "ON"
        _build("pcre2", folder, final, ["-DPCRE2_BUILD_PCRE2GREP=OFF", "-DPCRE2_BUILD_TESTS=OFF", f"-DPCRE2_SUPPORT_JIT={jit}",
                                        "-DPCRE2_SUPPORT_UNICODE=ON", "-DPCRE2_STATIC_PIC=ON"])
        _build("libyaml", folder, final, [])
        for name in HEADERS:
            shutil.copytree(pathlib.Path("/usr/include") / name, folder / "include" / name)

    return cache.filled(final, fill)


if __name__ == "__main__":
    if len(sys.argv) != 2 or (parts_of(sys.argv[1]) or ("", ""))[1] not in SYSTEMS:
        sys.exit(__doc__)
    print(target_folder(sys.argv[1]) / "toolchain.cmake")
