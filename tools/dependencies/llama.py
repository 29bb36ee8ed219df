"""Builds libllama from the pinned source package: static, CPU only, installed into the cache.

Usage: python3 -m tools.dependencies.llama            builds it if needed, prints the install prefix on the last line
       python3 -m tools.dependencies.llama --prefix   only prints the prefix (exit status 1 if it has not been built)
       python3 -m tools.dependencies.llama --server   builds llama-server from the same source if needed, prints the program: a peer of benchmarks

The instruction set is part of the cache key.  By default it is a fixed baseline (AVX2 and its companions on x86-64, what
every server since 2013 has), not that of this machine: a cache or a binary may be carried to another machine, and
numbers are the same on all of them.  On an x86-64 processor without AVX2 the plain baseline is built instead.
RONDO_LLAMA_NATIVE=1 builds for this very processor: faster, and not to be carried elsewhere.
"""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import time

from tools.dependencies import cache, fetch

PACKAGE = "llama-cpp-python"
COMMIT = "0c1e570"
STAMP = "rondo-complete"
OPTIONS = {
    "CMAKE_BUILD_TYPE": "Release",
    "CMAKE_POSITION_INDEPENDENT_CODE": "ON",
    "BUILD_SHARED_LIBS": "OFF",
    "GGML_OPENMP": "OFF",
    "GGML_CCACHE": "OFF",
    "LLAMA_OPENSSL": "OFF",
    "LLAMA_BUILD_COMMON": "OFF",
    "LLAMA_BUILD_TESTS": "OFF",
    "LLAMA_BUILD_TOOLS": "OFF",
    "LLAMA_BUILD_EXAMPLES": "OFF",
    "LLAMA_BUILD_SERVER": "OFF",
    "LLAMA_BUILD_APP": "OFF",
    "LLAMA_BUILD_NUMBER": "336",
    "LLAMA_BUILD_COMMIT": COMMIT,
}
SERVER_OPTIONS = {"LLAMA_BUILD_COMMON": "ON", "LLAMA_BUILD_TOOLS": "ON", "LLAMA_BUILD_SERVER": "ON"}
# What compiles its sources together: three fifths of the time, for the same library, so it is not part of the cache key.
JOINED = cache.REPO / "cmake" / "llama_unity.cmake"
# Parts of the source tree that the library does not need.
SKIPPED = {".git", ".github", "docs", "media", "models", "gguf-py", "examples", "benches", "pocs"}


def _processor_flags():
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return set()
    found = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    return set(found[1].split()) if found else set()


def x86_options(is_modern):
    """CMake options: AVX2 and its companions, or without them."""
    return {"GGML_NATIVE": "OFF"} | {f"GGML_{name}": "ON" if is_modern else "OFF" for name in ("SSE42", "AVX", "AVX2", "BMI2", "FMA", "F16C")}


def instruction_set():
    """CMake options for the instruction set, and what distinguishes this choice in the cache key."""
    if os.environ.get("RONDO_LLAMA_NATIVE") == "1":
        return {"GGML_NATIVE": "ON"}, "native " + " ".join(sorted(_processor_flags()))
    if platform.machine() in ("x86_64", "amd64"):
        return x86_options({"avx", "avx2", "fma", "f16c", "bmi2", "sse4_2"} <= _processor_flags()), "portable"
    return {"GGML_NATIVE": "OFF"}, "portable"


def _compiler():
    name = os.environ.get("CXX", "c++")
    found = subprocess.run([name, "--version"], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        cache.fail(f"no C++ compiler: `{name} --version` failed")
    return found.stdout.splitlines()[0] + " " + platform.machine()


def prefix():
    options, distinction = instruction_set()
    return cache.root() / ("llama-" + cache.key(fetch.PACKAGES[PACKAGE]["sha256"], sorted({**OPTIONS, **options}.items()),
                                                distinction, _compiler()))


def unpack(archive, folder, is_wanted):
    """Unpacks from the source package what `is_wanted` says yes to: of vendor/llama.cpp, called with the parts of a path."""
    with tarfile.open(archive) as tar:
        for member in tar:
            parts = pathlib.PurePosixPath(member.name).parts
            if parts[1:3] != ("vendor", "llama.cpp") or len(parts) < 4 or not is_wanted(parts[3:]) or ".." in parts:
                continue
            if member.isfile():
                target = folder.joinpath(*parts[3:])
                target.parent.mkdir(parents=True, exist_ok=True)
                with tar.extractfile(member) as source, open(target, "wb") as out:
                    shutil.copyfileobj(source, out)
                target.chmod(member.mode & 0o755)


def unpack_source(folder):
    """Unpacks what the library and its server are built from."""
    unpack(fetch.package(PACKAGE), folder, lambda parts: parts[0] not in SKIPPED)


def terms():
    """The licence of llama.cpp, from the source package."""
    with tarfile.open(fetch.package(PACKAGE)) as tar:
        for member in tar:
            if pathlib.PurePosixPath(member.name).parts[1:] == ("vendor", "llama.cpp", "LICENSE"):
                return tar.extractfile(member).read().decode("utf-8")
    cache.fail(f"{PACKAGE} has no licence in it")


def _build(tree, jobs, log, target="all"):
    """Runs ninja; shows its own progress line on a terminal, else one line per tenth."""
    what = "libllama" if target == "all" else target
    command = ["ninja", "-C", str(tree), f"-j{jobs}", target]
    if sys.stdout.isatty():
        return subprocess.run(command, check=False).returncode
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        shown = 0
        for line in process.stdout:
            log.write(line)
            step = re.match(r"\[(\d+)/(\d+)\]", line)
            if step and int(step[1]) * 10 // int(step[2]) > shown:
                shown = int(step[1]) * 10 // int(step[2])
                cache.say(f"building {what}: {shown * 10} %")
        return process.wait()


def _configure(source, tree, install, log, more=None):
    options, _ = instruction_set()
    definitions = [f"-D{name}={value}" for name, value in {**OPTIONS, **options, **(more or {})}.items()]
    command = ["cmake", "-S", str(source), "-B", str(tree), "-G", "Ninja", f"-DCMAKE_INSTALL_PREFIX={install}",
               f"-DCMAKE_PROJECT_INCLUDE={JOINED}", *definitions]
    return subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False).returncode


def build():
    """Builds and installs libllama unless that has been done; returns the prefix."""
    final = prefix()
    if (final / STAMP).is_file():
        return final
    with cache.lock(final.name):
        if (final / STAMP).is_file():
            return final
        work = cache.root() / "work" / final.name  # kept when interrupted: the next run continues there
        if not (work / "unpacked").is_file():
            shutil.rmtree(work, ignore_errors=True)
            cache.say("unpacking the engine's source")
            unpack_source(work / "source")
            (work / "unpacked").touch()
        jobs = cache.jobs()
        cache.say(f"building libllama (static, CPU; once, about 2 CPU-minutes, {jobs} jobs)")
        started = time.monotonic()
        log_path = work / "build.log"
        with open(log_path, "w", encoding="utf-8") as log, cache.new_folder(final) as staged:
            failed = (_configure(work / "source", work / "build", final, log)
                      or _build(work / "build", jobs, log)
                      or subprocess.run(["cmake", "--install", str(work / "build"), "--prefix", str(staged)],
                                        stdout=log, stderr=subprocess.STDOUT, check=False).returncode)
            if failed:
                log.flush()
                _show_end(log_path, "libllama")
            (staged / STAMP).write_text(f"{fetch.PACKAGES[PACKAGE]['file']} {COMMIT}\n", encoding="utf-8")
        shutil.rmtree(work, ignore_errors=True)
        cache.say(f"libllama is ready after {time.monotonic() - started:.0f} s: {final}")
    return final


def _show_end(log_path, what):
    print("".join(log_path.read_text(encoding="utf-8").splitlines(keepends=True)[-40:]), file=sys.stderr)
    cache.fail(f"building {what} failed; the whole log is {log_path}")


def build_server():
    """Builds llama-server with the options of libllama unless that has been done; returns the program."""
    def fill(folder):
        work = cache.root() / "work" / folder.name
        cache.say("building llama-server (once, some 10 CPU-minutes)")
        unpack_source(work / "source")
        log_path = work / "build.log"
        jobs = cache.jobs()
        with open(log_path, "w", encoding="utf-8") as log:
            failed = (_configure(work / "source", work / "build", folder, log, SERVER_OPTIONS)
                      or _build(work / "build", jobs, log, "llama-server"))
        if failed:
            _show_end(log_path, "llama-server")
        shutil.copy2(work / "build" / "bin" / "llama-server", folder)
        shutil.rmtree(work, ignore_errors=True)

    name = prefix().name.replace("llama-", "llama-server-", 1)
    return cache.filled(cache.root() / name, fill) / "llama-server"


def main(arguments):
    if arguments == ["--prefix"]:
        print(prefix())
        sys.exit(0 if (prefix() / STAMP).is_file() else 1)
    print(build_server() if arguments == ["--server"] else build())


if __name__ == "__main__":
    main(sys.argv[1:])
