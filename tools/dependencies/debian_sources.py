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
    "openssl": ("main/o/openssl/openssl_3.0.19.orig.tar.gz", "fa5a4143b8aae18be53ef2f3caf29a2e0747430b8bc74d32d88335b94ab63072"),
    "sqlite": ("main/s/sqlite3/sqlite3_3.40.1.orig.tar.xz", "aaa776260ab4dc976db34aa7891819484c8676b5b2783123ebc6301e2ca5d655"),
    "libsodium": ("main/libs/libsodium/libsodium_1.0.18.orig.tar.gz", "d59323c6b712a1519a5daf710b68f5e7fde57040845ffec53850911f10a5d4f4"),
    "hiredis": ("main/h/hiredis/hiredis_0.14.1.orig.tar.gz", "2663b2aed9fd430507e30fc5e63274ee40cdd1a296026e22eafd7d99b01c8913"),
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
        # Security updates have a pool of their own.
        for pool in (f"{repository}pool/{part}" for repository in _repositories() for part in ("", "updates/")):
            with tempfile.TemporaryDirectory(dir=folder) as staged:
                file = pathlib.Path(staged) / "source"
                try:
                    urllib.request.urlretrieve(f"{pool}{place}", file)
                except (urllib.error.URLError, OSError):
                    continue
                if cache.sha256(file) == digest:
                    file.rename(final)
                    return final
    cache.fail(f"could not fetch the source of {name} ({place}); is there a network?")
