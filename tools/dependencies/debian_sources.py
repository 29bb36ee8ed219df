"""Source packages of Debian, pinned by hash: libraries that are compiled for other targets than this machine."""
import pathlib
import subprocess
import tempfile
import urllib.error
import urllib.request

from tools.dependencies import cache

# name: file in the package pool, SHA-256
SOURCES = {
    "pcre2": ("main/p/pcre2/pcre2_10.42.orig.tar.gz", "c33b418e3b936ee3153de2c61cc638e7e4fe3156022a5c77d0711bcbb9d64f1f"),
    "python3.11": ("main/p/python3.11/python3.11_3.11.2.orig.tar.gz", "2411c74bda5bbcfcddaf4531f66d1adc73f247f529aee981b029513aefdbf849"),
    "python3.13": ("main/p/python3.13/python3.13_3.13.5.orig.tar.xz", "93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640"),
    "libyaml": ("main/liby/libyaml/libyaml_0.2.5.orig.tar.gz", "fa240dbf262be053f3898006d502d514936c818e422afdcf33921c63bed9bf2e"),
}


def _repositories():
    """The roots of the package archives that this machine uses."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)"], capture_output=True, text=True, check=False)
    found = sorted(set(listed.stdout.split()))
    if not found:
        cache.fail("no Debian archive is configured, or `apt-get update` has not run")
    return found


def source(name):
    """The path of the source archive in the cache, downloaded if it is missing or damaged."""
    place, digest = SOURCES[name]
    folder = cache.root() / "packages"
    folder.mkdir(exist_ok=True)
    final = folder / f"{digest}-{pathlib.Path(place).name}"
    with cache.lock(f"source-{name}"):
        if final.is_file() and cache.sha256(final) == digest:
            return final
        cache.say(f"fetching the source of {name}")
        for repository in _repositories():
            with tempfile.TemporaryDirectory(dir=folder) as staged:
                file = pathlib.Path(staged) / "source"
                try:
                    urllib.request.urlretrieve(f"{repository}pool/{place}", file)
                except (urllib.error.URLError, OSError):
                    continue
                if cache.sha256(file) == digest:
                    file.rename(final)
                    return final
    cache.fail(f"could not fetch the source of {name} ({place}); is there a network?")
