"""Makes wheels for Linux, which need no compiler where they are installed: build/wheels.

Usage: python3 -m tools.packaging.wheel [--test] [PROCESSOR...]      x86_64, aarch64; without one: this machine's

A wheel has the Python module and the command line, without an engine and without a server.  There are two for each processor: one for
Python 3.11, and one for 3.12 and later, in whose stable ABI the module is written.  They fit systems with glibc 2.28 or later, and
hold their C++ library.  --test installs those of this machine in empty environments, for each of its Pythons, and runs the tests
of the Python module there.
"""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib

from tools.dependencies import bench_peers, cache, debian_sources, zig

BUILD = cache.REPO / "build" / "wheels"
GLIBC = "2.28"
PROCESSORS = ("x86_64", "aarch64")
MOST_MEGABYTES = 8
# The headers' version, and the tag of the wheel.
PYTHONS = (("3.11", "cp311-cp311"), ("3.13", "cp312-abi3"))
TOOLS = ("wheel", "pyproject-metadata", "packaging", "auditwheel", "pyelftools")
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


def run(command, **options):
    if subprocess.run([str(part) for part in command], check=False, **options).returncode != 0:
        cache.fail(f"failed: {' '.join(map(str, command))[:300]}")


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


def build(processor, version):
    """The built tree, with the program `rondo` and python/rondo."""
    toolchain = zig.target_folder(f"{processor}-linux-gnu.{GLIBC}") / "toolchain.cmake"
    tree = BUILD / "trees" / f"{processor}-{version}-{cache.key(toolchain)}"  # CMake keeps the toolchain that a tree began with
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    nanobind = bench_peers.unpack_wheel("nanobind")
    if nanobind is None:
        cache.fail("the package nanobind is not to be had")
    run(["cmake", "-S", cache.REPO, "-B", tree, "-G", "Ninja", f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", "-DCMAKE_BUILD_TYPE=Release",
         "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", "-DCMAKE_EXE_LINKER_FLAGS=-s -Wl,--gc-sections", "-DRONDO_LLAMA=off", "-DRONDO_NET=OFF",
         "-DRONDO_TESTS=OFF", "-DRONDO_PCH=OFF", "-DRONDO_PYTHON=ON", f"-Dnanobind_DIR={nanobind}/nanobind/cmake",
         f"-DRONDO_PYTHON_HEADERS={headers(version)}", f"-DRONDO_PYTHON_VERSION={version}", f"-DRONDO_PYTHON_ABI=cpython-{version.replace('.', '')}-{processor}-linux-gnu", *launcher],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run(["cmake", "--build", tree, "--target", "rondo", "rondo_python_package"], env=os.environ | {"CCACHE_COMPILERTYPE": "clang"})
    return tree


def import_path():
    found = [bench_peers.unpack_wheel(name) for name in TOOLS]
    if None in found:
        cache.fail("the packages that make wheels are not to be had; is there a network?")
    return os.pathsep.join(map(str, found))


def write_metadata(folder, tag):
    """The folder NAME-VERSION.dist-info, all but its list of files; returns NAME-VERSION."""
    from pyproject_metadata import StandardMetadata  # pylint: disable=import-outside-toplevel
    project = tomllib.loads((cache.REPO / "pyproject.toml").read_text(encoding="utf-8"))
    metadata = StandardMetadata.from_pyproject(project, cache.REPO)
    name = f"{metadata.name}-{metadata.version}"
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
    """The wheel's path."""
    from wheel.wheelfile import WheelFile  # pylint: disable=import-outside-toplevel
    folder = BUILD / "staged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(tree / "python", folder, ignore=shutil.ignore_patterns("__pycache__"))
    name = write_metadata(folder, tag)
    scripts = folder / f"{name}.data" / "scripts"
    scripts.mkdir(parents=True)
    shutil.copy(tree / "rondo", scripts / "rondo")
    path = BUILD / f"{name}-{tag}.whl"
    path.unlink(missing_ok=True)
    with WheelFile(path, "w") as wheel:
        wheel.write_files(folder)
    shutil.rmtree(folder)
    return path


def audit(path, processor):
    """Ends where the wheel needs more of a system than its name says, or is too large."""
    shown = subprocess.run([sys.executable, "-m", "auditwheel", "show", path], capture_output=True, text=True, check=False)
    fits = re.search(rf'is consistent with the following platform tag: "manylinux_2_(\d+)_{processor}"', " ".join(shown.stdout.split()))
    if shown.returncode != 0 or fits is None or int(fits[1]) > int(GLIBC.partition(".")[2]):
        cache.fail(f"{path.name} does not fit what its name says:\n{shown.stdout}{shown.stderr}")
    size = path.stat().st_size / 1e6
    if size > MOST_MEGABYTES:
        cache.fail(f"{path.name} has {size:.1f} MB; at most {MOST_MEGABYTES} are allowed")
    cache.say(f"{path.relative_to(cache.REPO)}: {size:.2f} MB, glibc 2.{fits[1]} or later")


def make(processor):
    for version, tag in PYTHONS:
        tree = build(processor, version)
        audit(pack(tree, f"{tag}-manylinux_2_{GLIBC.partition('.')[2]}_{processor}"), processor)


def interpreters():
    """The Pythons of this machine that a wheel is for, one of each version."""
    found = {}
    for minor in range(11, 20):
        name = shutil.which(f"python3.{minor}")
        works = name and subprocess.run([name, "-c", "import venv, encodings"], capture_output=True, check=False).returncode == 0
        if works:
            found[minor] = name
    return found


def test_with(python, minor):
    """In an empty environment: installs the wheel and what it needs, runs the program and the tests of the module."""
    folder = BUILD / f"test-3.{minor}"
    shutil.rmtree(folder, ignore_errors=True)
    run([python, "-m", "venv", "--without-pip", folder])
    inside = folder / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", inside, "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
    run([*install, "numpy", "pytest", "pydantic"])
    run([*install, "--no-index", "--no-deps", "--find-links", BUILD, "rondo"])
    environment = {"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1",
                   **{name: value for name, value in os.environ.items() if name.startswith("RONDO_")}}
    run(["rondo", "--version"], env=environment, executable=folder / "bin" / "rondo")
    cache.say(f"the tests of the module, installed from the wheel, with Python 3.{minor}")
    run([inside, "-m", "pytest", "-q", "-p", "no:cacheprovider", cache.REPO / "tests" / "python"], env=environment, cwd=folder)


def test():
    found = interpreters()
    if not found:
        cache.fail("the tests need Python 3.11 or later")
    for minor, python in found.items():
        test_with(python, minor)


def main(arguments):
    processors = [argument for argument in arguments if argument != "--test"] or [platform.machine()]
    if any(processor not in PROCESSORS for processor in processors):
        sys.exit(__doc__)
    path = import_path()
    os.environ["PYTHONPATH"] = path
    sys.path[:0] = path.split(os.pathsep)
    for processor in processors:
        make(processor)
    if "--test" in arguments:
        test()


if __name__ == "__main__":
    main(sys.argv[1:])
