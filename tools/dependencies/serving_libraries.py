"""What the server and the embedded engine need besides, compiled with the cross compiler (zig.py) for a target.

Usage: python3 -m tools.dependencies.serving_libraries TARGET      prints the path of the CMake toolchain file on the last line

TARGET is x86_64 or aarch64 with a libc, as zig calls it: x86_64-linux-gnu.2.28, aarch64-linux-musl.  In the cache:
    zig-serving-<key>/    toolchain.cmake, which also knows the libraries of zig.py; OpenSSL, SQLite, libsodium, hiredis and libllama, static
"""
import pathlib
import shutil
import sys

from tools.dependencies import cache, debian_sources, fetch, llama, zig

LIBRARIES = ("openssl", "sqlite", "libsodium", "hiredis")
# Header libraries, by the folder that the Debian packages of ./dev setup install.  Boost's have 150 MB, so they stay where they are.
COPIED_HEADERS = ("toml++",)
LINKED_HEADERS = ("boost",)
# Where OpenSSL looks for the certificates of authorities; net/tls.cpp knows the places of other systems.
CERTIFICATES = "/etc/ssl"
OPENSSL_LEFT_OUT = ("shared", "tests", "dso", "engine", "module", "legacy", "comp", "ui-console")
HIREDIS_SOURCES = ("alloc", "async", "hiredis", "net", "read", "sds")
SQLITE_OPTIONS = ("-DSQLITE_THREADSAFE=1", "-DSQLITE_OMIT_LOAD_EXTENSION", "-DSQLITE_DQS=0")
# What libllama may use without asking the processor; engine/processor.cpp asks once, before a model is loaded.  Names as zig has them.
INSTRUCTIONS = {"x86_64": llama.x86_options(True), "aarch64": {"GGML_NATIVE": "OFF", "GGML_CPU_ARM_ARCH": "generic+v8_2a+dotprod+fullfp16"}}


def _processor(target):
    return target.split("-")[0]


def _compilers(target):
    tools = zig.target_folder(target) / "bin"
    return {"CC": str(tools / "cc"), "CXX": str(tools / "c++"), "AR": str(tools / "ar"), "RANLIB": str(tools / "ranlib")}


def _openssl(target, work, folder):
    source = zig.unpacked("openssl", work)
    zig.run(["perl", "Configure", f"linux-{_processor(target)}", *(f"no-{name}" for name in OPENSSL_LEFT_OUT), f"--prefix={folder}", "--libdir=lib",
             f"--openssldir={CERTIFICATES}"], _compilers(target), cwd=source)
    zig.run(["make", f"-j{cache.jobs()}", "build_libs"], cwd=source)
    zig.run(["make", "install_dev"], cwd=source)


def _archive(target, sources, options, library):
    """Compiles C sources and puts them into one static library."""
    tools = _compilers(target)
    objects = [source.with_suffix(".o") for source in sources]
    for source, made in zip(sources, objects):
        zig.run([tools["CC"], "-O2", "-DNDEBUG", "-fPIC", "-w", *options, "-c", source, "-o", made])
    zig.run([tools["AR"], "rcs", library, *objects])


def _sqlite(target, work, folder):
    if shutil.which("tclsh") is None:
        cache.fail("SQLite's sources are put together with tclsh; install the Debian package tcl")
    source = zig.unpacked("sqlite", work)
    # One file of all sources, which programs of this machine write.
    zig.run(["sh", "configure", "--disable-tcl", "--disable-readline"], cwd=source)
    zig.run(["make", "sqlite3.c"], cwd=source)
    _archive(target, [source / "sqlite3.c"], SQLITE_OPTIONS, folder / "lib" / "libsqlite3.a")
    shutil.copy(source / "sqlite3.h", folder / "include")


def _sodium(target, work, folder):
    source = zig.unpacked("libsodium", work)
    base = source / "src" / "libsodium"
    headers = base / "include"
    # The package has no configure script.  Without its answers the portable code of every function is taken.
    shutil.copy(source / "builds" / "msvc" / "version.h", headers / "sodium")
    _archive(target, sorted(base.rglob("*.c")), ["-DCONFIGURED=1", f"-I{headers}", f"-I{headers / 'sodium'}"], folder / "lib" / "libsodium.a")
    shutil.copy(headers / "sodium.h", folder / "include")
    shutil.copytree(headers / "sodium", folder / "include" / "sodium")


def _hiredis(target, work, folder):
    source = zig.unpacked("hiredis", work)
    _archive(target, [source / f"{name}.c" for name in HIREDIS_SOURCES], [], folder / "lib" / "libhiredis.a")
    headers = folder / "include" / "hiredis"
    headers.mkdir()
    for header in source.glob("*.h"):
        shutil.copy(header, headers)


def _llama(target, work, folder):
    shutil.rmtree(work, ignore_errors=True)
    llama.unpack_source(work / "source")
    options = llama.OPTIONS | INSTRUCTIONS[_processor(target)]
    zig.build_with_cmake(work / "source", zig.target_folder(target) / "toolchain.cmake", folder,
                         [*(f"-D{name}={value}" for name, value in options.items()), f"-DCMAKE_PROJECT_INCLUDE={llama.JOINED}"])


def _toolchain(target, folder, final):
    base = (zig.target_folder(target) / "toolchain.cmake").read_text(encoding="utf-8")
    lines = [f"list(APPEND CMAKE_FIND_ROOT_PATH {final})", f"list(APPEND CMAKE_PREFIX_PATH {final})", f"set(OPENSSL_ROOT_DIR {final})",
             "set(OPENSSL_USE_STATIC_LIBS TRUE)"]
    (folder / "toolchain.cmake").write_text(base + "\n".join(lines) + "\n", encoding="utf-8")


def target_folder(target):
    """The folder of a target, with toolchain.cmake and the libraries."""
    text = pathlib.Path(__file__).read_text(encoding="utf-8")
    sources = [debian_sources.SOURCES[name] for name in LIBRARIES]
    final = cache.root() / f"zig-serving-{cache.key(zig.target_folder(target), text, sources, fetch.PACKAGES[llama.PACKAGE]['sha256'], llama.OPTIONS)}"

    def fill(folder):
        for part in ("lib", "include"):
            (folder / part).mkdir()
        steps = {"hiredis": _hiredis, "libsodium": _sodium, "SQLite": _sqlite, "OpenSSL": _openssl, "libllama": _llama}
        for name, step in steps.items():
            cache.say(f"compiling {name} for {target}")
            step(target, folder / "work", folder)
        shutil.rmtree(folder / "work")
        for name in COPIED_HEADERS:
            shutil.copytree(pathlib.Path("/usr/include") / name, folder / "include" / name)
        for name in LINKED_HEADERS:
            (folder / "include" / name).symlink_to(pathlib.Path("/usr/include") / name)
        _toolchain(target, folder, final)

    return cache.filled(final, fill)


if __name__ == "__main__":
    if len(sys.argv) != 2 or _processor(sys.argv[1]) not in INSTRUCTIONS:
        sys.exit(__doc__)
    print(target_folder(sys.argv[1]) / "toolchain.cmake")
