"""Makes wheels, which need no compiler where they are installed: build/wheels.

Usage: python3 -m tools.packaging.wheel [--engine] [--test] [PLATFORM...]      without one: Linux on this machine's processor

PLATFORM is x86_64 or aarch64 (Linux with glibc), musl-x86_64, musl-aarch64, macos-arm64, macos-x86_64, or all.  A wheel has the Python
module and the command line, without an engine and without a server, and its C++ library inside.  There are two for each platform: one for
Python 3.11, and one for 3.12 and later, in whose stable ABI the module is written.  --engine also makes the wheel that the extra
`rondo[engine]` asks for: the whole program, with engine and server, for any Python on Linux.  --test installs those of this machine in empty
environments, for each of its Pythons (also those of pyenv and uv), runs the tests of the Python module there, and the tutorial where
there is no compiler.
"""
import dataclasses
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile

from tools.dependencies import cache, debian_sources, fetch
from tools.packaging import cross, wheel_test


@dataclasses.dataclass(frozen=True)
class Platform:
    target: str  # as the compiler calls it
    tag: str
    abi: str  # as files of modules for one version of Python name it


GLIBC = "2.28"
MACOS = "11.0"
PLATFORMS = {
    **{processor: Platform(f"{processor}-linux-gnu.{GLIBC}", f"manylinux_{GLIBC.replace('.', '_')}_{processor}", f"{processor}-linux-gnu")
       for processor in ("x86_64", "aarch64")},
    **{f"musl-{processor}": Platform(f"{processor}-linux-musl", f"musllinux_1_2_{processor}", f"{processor}-linux-musl")
       for processor in ("x86_64", "aarch64")},
    **{f"macos-{processor}": Platform(f"{zigs}-macos.{MACOS}", f"macosx_{MACOS.replace('.', '_')}_{processor}", "darwin")
       for processor, zigs in (("arm64", "aarch64"), ("x86_64", "x86_64"))},
}
BUILD = cache.REPO / "build" / "wheels"
MOST_MEGABYTES = 8
MOST_MEGABYTES_ENGINE = 16
OPTIONS = ("--engine", "--test")
# The headers' version, and the tag of the wheel.
PYTHONS = (("3.11", "cp311-cp311"), ("3.13", "cp312-abi3"))
TOOLS = ("wheel", "pyproject-metadata", "packaging", "auditwheel", "pyelftools", "macholib", "altgraph")
# All that a module or program for macOS may want of it.
MACOS_LIBRARIES = {"/usr/lib/libSystem.B.dylib"}
# What Python's own configuration finds out on the systems that the wheels fit; the compiler knows the sizes.
SIZES = ("short", "int", "long", "long_long", "float", "double", "size_t", "wchar_t")
PYCONFIG = "".join(f"#define SIZEOF_{name.upper()} __SIZEOF_{name.upper()}__\n" for name in SIZES) + """\
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define SIZEOF__BOOL 1
#define SIZEOF_FPOS_T 16
#define SIZEOF_OFF_T 8
#define SIZEOF_PID_T 4
#define SIZEOF_PTHREAD_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_UINTPTR_T __SIZEOF_POINTER__
#define ALIGNOF_LONG _Alignof(long)
#define ALIGNOF_SIZE_T _Alignof(size_t)
#define ALIGNOF_MAX_ALIGN_T 16
#define HAVE_BUILTIN_ATOMIC 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_PTHREAD_H 1
#define HAVE_STDARG_PROTOTYPES 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UNISTD_H 1
#define HAVE_WCHAR_H 1
#define WITH_DOC_STRINGS 1
"""


def headers(version):
    """A folder with the headers of a version of Python."""
    source = debian_sources.source(f"python{version}")

    def fill(folder):
        with tarfile.open(source) as archive:
            for member in archive:
                path = re.fullmatch(r"[^/]+/Include/(.+\.h)", member.name)
                if path and member.isfile():
                    file = folder / path[1]
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(archive.extractfile(member).read())
        (folder / "pyconfig.h").write_text(PYCONFIG, encoding="utf-8")

    return cache.filled(cache.root() / f"python-headers-{cache.key(source.name, PYCONFIG)}", fill)


def build(platform_name, version):
    """The built tree, with the program `rondo` and python/rondo."""
    nanobind = fetch.wheel("nanobind")
    if nanobind is None:
        cache.fail("the package nanobind is not to be had")
    wanted = PLATFORMS[platform_name]
    small, hidden = cross.SMALL_ELF, []
    if "macos" in wanted.target:
        small, hidden = "-Wl,-dead_strip", ["-DCMAKE_CXX_VISIBILITY_PRESET=hidden", "-DCMAKE_VISIBILITY_INLINES_HIDDEN=ON"]
    return cross.build(wanted.target, f"wheel-{platform_name}-{version}", ["rondo", "rondo_python_package"], f"-DCMAKE_EXE_LINKER_FLAGS={small}", *hidden,
                       "-DRONDO_PYTHON=ON", f"-Dnanobind_DIR={nanobind}/nanobind/cmake", f"-DRONDO_PYTHON_HEADERS={headers(version)}",
                       f"-DRONDO_PYTHON_VERSION={version}", f"-DRONDO_PYTHON_ABI=cpython-{version.replace('.', '')}-{wanted.abi}")


def import_path():
    found = [fetch.wheel(name) for name in TOOLS]
    if None in found:
        cache.fail("the packages that make wheels are not to be had; is there a network?")
    return os.pathsep.join(map(str, found))


def project():
    """What pyproject.toml says."""
    return tomllib.loads((cache.REPO / "pyproject.toml").read_text(encoding="utf-8"))


def engine_project():
    """The same for the package `rondo-engine`, which the extra `engine` of the other one names."""
    whole = project()["project"]
    said = {key: whole[key] for key in ("version", "readme", "license")}
    if whole["optional-dependencies"]["engine"] != [f"rondo-engine=={said['version']}"]:
        cache.fail("pyproject.toml: the extra `engine` must ask for the engine of this version")
    return {"project": said | {"name": "rondo-engine", "description": "The engine and the server of rondo: the program that `rondo` hands over to",
                               "requires-python": ">=3.10"}}


def write_metadata(folder, tag, said=None):
    """The folder NAME-VERSION.dist-info, all but its list of files and the terms; returns NAME-VERSION.  `said`: instead of project()."""
    from pyproject_metadata import StandardMetadata  # pylint: disable=import-outside-toplevel
    metadata = StandardMetadata.from_pyproject(said or project(), cache.REPO)
    name = f"{metadata.name.replace('-', '_')}-{metadata.version}"
    info = folder / f"{name}.dist-info"
    info.mkdir()
    (info / "METADATA").write_bytes(bytes(metadata.as_rfc822()))
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: rondo\nRoot-Is-Purelib: false\nTag: {tag}\n", encoding="utf-8")
    lines = [line for group, entries in metadata.entrypoints.items()
             for line in (f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()), "")]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    shutil.copy(cache.REPO / "LICENSE", info / "LICENSE")
    return name


def pack(tree, tag):
    """The path of the wheel with the module and the program."""
    folder = BUILD / "staged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(tree / "python", folder, ignore=shutil.ignore_patterns("__pycache__"))
    name = write_metadata(folder, tag)
    scripts = folder / f"{name}.data" / "scripts"
    scripts.mkdir(parents=True)
    shutil.copy(tree / "rondo", scripts / "rondo")
    return packed(folder, name, tag, cross.terms("musl" in tag))


def pack_engine(tree, tag):
    """The path of the wheel with the full program, where cli/handover.h looks for it."""
    folder = BUILD / "staged"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    said = engine_project()
    name = write_metadata(folder, tag, said)
    place = folder / f"{name}.data" / "data" / "lib" / f"rondo-{said['project']['version']}"
    place.mkdir(parents=True)
    shutil.copy(tree / "rondo", place / "rondo")
    return packed(folder, name, tag, cross.terms("musl" in tag, is_full=True))


def packed(folder, name, tag, terms):
    """The path of the wheel with what is in the folder, which is removed."""
    from wheel.wheelfile import WheelFile  # pylint: disable=import-outside-toplevel
    (folder / f"{name}.dist-info" / "third-party.txt").write_text(terms, encoding="utf-8")
    path = BUILD / f"{name}-{tag}.whl"
    path.unlink(missing_ok=True)
    with WheelFile(path, "w") as wheel:
        wheel.write_files(folder)
    shutil.rmtree(folder)
    return path


def needs_of_linux(path, wanted):
    """What the wheel needs; ends where that is more than its name says.  With glibc auditwheel says it."""
    if "musl" in wanted.tag:
        return needs_of_musl(path)
    shown = subprocess.run([sys.executable, "-m", "auditwheel", "show", path], capture_output=True, text=True, check=False)
    major, minor, processor = re.fullmatch(r"manylinux_(\d+)_(\d+)_(.+)", wanted.tag).groups()
    fits = re.search(rf'is consistent with the following platform tag: "manylinux_{major}_(\d+)_{processor}"', " ".join(shown.stdout.split()))
    if shown.returncode != 0 or fits is None or int(fits[1]) > int(minor):
        cache.fail(f"{path.name} does not fit what its name says:\n{shown.stdout}{shown.stderr}")
    return f"glibc {major}.{fits[1]} or later"


def needs_of_musl(path):
    """The same for musl.  auditwheel only knows its C library by a distribution's file name; musl's loader takes any `libc.` for itself."""
    from elftools.elf.elffile import ELFFile  # pylint: disable=import-outside-toplevel
    with zipfile.ZipFile(path) as wheel:
        for name in wheel.namelist():
            content = wheel.read(name)
            dynamic = ELFFile(io.BytesIO(content)).get_section_by_name(".dynamic") if content.startswith(b"\x7fELF") else None
            needed = {tag.needed for tag in dynamic.iter_tags("DT_NEEDED")} if dynamic else set()
            if needed - {"libc.so"}:
                cache.fail(f"{path.name}: {name} needs {sorted(needed)}")
    return "musl"


def needs_of_macos(tree, wanted):
    """The same for macOS: processor, the oldest system, and libraries, as the files themselves say."""
    from macholib.MachO import MachO  # pylint: disable=import-outside-toplevel
    for file in [tree / "rondo", *(tree / "python" / "rondo").glob("_rondo.*so")]:
        (header,) = MachO(str(file)).headers
        libraries = {name for _, _, name in header.walkRelocatables()}
        oldest = [command.minos for _, command, _ in header.commands if hasattr(command, "minos")]
        processor = {0x0100000C: "arm64", 0x01000007: "x86_64"}.get(header.header.cputype)
        if libraries - MACOS_LIBRARIES or processor not in wanted.tag or not oldest:
            cache.fail(f"{file} is for {processor}, {oldest}, and needs {sorted(libraries)}")
        if max(oldest) >> 16 > int(MACOS.partition(".")[0]):
            cache.fail(f"{file} needs macOS {max(oldest) >> 16}")
    return f"macOS {MACOS} or later, {processor}"


def make(platform_name):
    wanted = PLATFORMS[platform_name]
    for version, tag in PYTHONS:
        tree = build(platform_name, version)
        path = pack(tree, f"{tag}-{wanted.tag}")
        report(path, needs_of_macos(tree, wanted) if "macos" in wanted.target else needs_of_linux(path, wanted), MOST_MEGABYTES)


def make_engine(platform_name):
    wanted = PLATFORMS[platform_name]
    path = pack_engine(cross.build_full(wanted.target, f"engine-{platform_name}"), f"py3-none-{wanted.tag}")
    report(path, needs_of_linux(path, wanted), MOST_MEGABYTES_ENGINE)


def report(path, needs, most):
    size = path.stat().st_size / 1e6
    if size > most:
        cache.fail(f"{path.name} has {size:.1f} MB; at most {most} are allowed")
    cache.say(f"{path.relative_to(cache.REPO)}: {size:.2f} MB, {needs}")


def main(arguments):
    names = [argument for argument in arguments if argument not in OPTIONS] or [platform.machine()]
    if names == ["all"]:
        names = list(PLATFORMS)
    if any(name not in PLATFORMS for name in names):
        sys.exit(__doc__)
    with_engine = "--engine" in arguments
    if with_engine and any("macos" in name for name in names):
        cache.fail("the engine has wheels for Linux only")
    path = import_path()
    os.environ["PYTHONPATH"] = path
    sys.path[:0] = path.split(os.pathsep)
    for name in names:
        make(name)
        if with_engine:
            make_engine(name)
    if "--test" in arguments:
        wheel_test.test(BUILD, with_engine)


if __name__ == "__main__":
    main(sys.argv[1:])
