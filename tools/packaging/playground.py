"""Puts the playground together, one page that needs no server: build/playground/playground.html.

Usage: python3 -m tools.packaging.playground [--test] [--shots FOLDER]     --test opens it in headless Chromium; --shots also takes pictures there
"""
import argparse
import base64
import gzip
import json
import pathlib
import re

from tools.dependencies import cache
from tools.packaging import wasm
from tools.testing import playground_test

SOURCES = cache.REPO / "js" / "playground"
PAGE = cache.REPO / "build" / "playground" / "playground.html"
WORKER = (*wasm.MODULES, "playground/worker.mjs")
SCRIPT = ("playground/engine.mjs", "playground/prompt.mjs", "playground/files.mjs", "playground/state.mjs", "playground/page.mjs")
# A worker that is made of text has no address beside which the module could be; it is given the module.
ADDRESS = "new URL('rondo.wasm', import.meta.url)"


def joined(names):
    """The modules as one, which imports and exports nothing."""
    text = "\n".join((cache.REPO / "js" / name).read_text(encoding="utf-8") for name in names).replace(ADDRESS, "undefined")
    text = re.sub(r"^(import|export) \{[^}]*\} from '[^']*';\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^export ", "", text, flags=re.MULTILINE)
    if "import.meta" in text or "</script" in text.lower():
        cache.fail(f"these modules can't stand in a page: {', '.join(names)}")
    return text


def examples():
    found = json.loads((SOURCES / "examples.json").read_text(encoding="utf-8"))
    for example in found:
        example["template"] = (cache.REPO / example["template"]).read_text(encoding="utf-8")
        example["request"] = json.dumps(example["request"], indent=2, ensure_ascii=False)
    return json.dumps(found).replace("<", "\\u003c")


def build(module):
    packed = base64.b64encode(gzip.compress(module.read_bytes(), 9, mtime=0)).decode()
    parts = {"STYLE": (SOURCES / "page.css").read_text(encoding="utf-8"), "WORKER": f"(async () => {{\n{joined(WORKER)}}})();\n", "SCRIPT": joined(SCRIPT),
             "EXAMPLES": examples(), "WASM": packed}
    page = (SOURCES / "page.html").read_text(encoding="utf-8")
    page = re.sub(r"/\*([A-Z]+)\*/", lambda found: parts[found[1]], page)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page, encoding="utf-8")
    cache.say(f"{PAGE.relative_to(cache.REPO)}: {PAGE.stat().st_size / 1e6:.2f} MB, open it in a browser")
    return PAGE


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--test", action="store_true")
    options.add_argument("--shots", type=pathlib.Path)
    options = options.parse_args()
    page = build(wasm.build())
    if options.test or options.shots:
        raise SystemExit(playground_test.run(page, options.shots))


if __name__ == "__main__":
    main()
