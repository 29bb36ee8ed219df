"""The dependency cache: where it is, locks, and folders that appear whole or not at all.

Layout of the cache folder ($RONDO_CACHE, else $XDG_CACHE_HOME/rondo, else ~/.cache/rondo):
    packages/<sha256>-<file>   downloaded package files, checked against their pinned hash before every use
    llama-<key>/               installed libllama; the key covers source, options, compiler and instruction set
    llama-common-<key>/        its template engine, unpacked for a benchmark
    wheel-<package>-<key>/     a Python package that a benchmark measures against, unpacked
    fixtures-<key>/            test data unpacked from packages
    corpus-<key>/, small-corpus-<key>/   test corpora
    jinja2-<key>/              the reference of the template engine, unpacked
    gemma-<key>/               the opt-in model, assembled
    zig-<key>/, zig-target-<key>/, zig-work/   the cross compiler, what it is given for a target, and what it keeps
    npm-peers-<key>/           what the JavaScript package is measured against
    python-headers-<key>/      headers of a version of Python, for wheels
    ccache/                    compiler cache
    locks/, work/              locks; build trees of interrupted builds
"""
import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import sys
import tempfile

from tools import REPO


def say(message):
    print(f"rondo: {message}", flush=True)


def fail(message):
    sys.exit(f"rondo: {message}")


def _default_root():
    if os.environ.get("RONDO_CACHE"):
        return pathlib.Path(os.environ["RONDO_CACHE"])
    if os.environ.get("XDG_CACHE_HOME"):
        return pathlib.Path(os.environ["XDG_CACHE_HOME"]) / "rondo"
    home = os.environ.get("HOME")
    return pathlib.Path(home) / ".cache" / "rondo" if home else REPO / ".cache"


def root():
    """The cache folder, made if needed; the repository's own .cache when the usual place can't be written."""
    wanted = _default_root().absolute()
    for folder in (wanted, REPO / ".cache"):
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
    fail(f"neither {wanted} nor {REPO / '.cache'} can be written; set RONDO_CACHE to a folder that can")


@contextlib.contextmanager
def lock(name):
    """Holds the lock `name` for every process that uses this cache; says so when it has to wait."""
    folder = root() / "locks"
    folder.mkdir(exist_ok=True)
    with open(folder / name, "w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another run that holds the lock `{name}`")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def jobs():
    """How much a build may do at once, as the option of make and ninja has it."""
    return os.environ.get("RONDO_JOBS") or str(os.cpu_count() or 1)


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def key(*parts):
    """Twelve hex digits that change when any of `parts` does."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:12]


@contextlib.contextmanager
def new_folder(final):
    """An empty folder that becomes `final` when the block ends without an error.  REQUIRES: the caller holds a lock."""
    staged = final.with_name(f".new-{final.name}")
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    yield staged
    shutil.rmtree(final, ignore_errors=True)
    staged.rename(final)


def filled(final, fill):
    """The folder `final`; where it is not there yet, fill(folder) makes what is in it, for all processes once."""
    if not final.is_dir():
        with lock(final.name):
            if not final.is_dir():
                with new_folder(final) as staged:
                    fill(staged)
    return final


if __name__ == "__main__":
    print(root())
