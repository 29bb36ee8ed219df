#!/usr/bin/env python3
"""The template engine beside jinja2, minijinja and llama.cpp's engine, on real templates and the same conversations.

Usage: jinja_bench.py --rondo PROGRAM [--quick] [--only WORD] [--peers NAME,...]     (./dev bench jinja runs it)

Each engine is a process of its own that compiles the template and parses the variables once.  Times are those of its thread
on a processor, as others may be busy there too.  All are measured in turns: a slice of each, then again, so that a slow
moment hits all of them alike; a ratio is the median of the ratios within the rounds.  A worker reads lines of fields separated by tabs and answers each with one line:

    load TEMPLATE VARIABLES OUTPUT    ok <microseconds of compiling>; one render's text is in the file OUTPUT
    run MILLISECONDS                  ok <median microseconds of one render> <number of renders>
                                      error <message> for either

An engine that refuses a template is named.  One whose text differs is timed only if the text is about as long.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import jinja_conversations
from bench_worker import Worker

REPO = pathlib.Path(__file__).resolve().parent.parent
# Files of $RONDO_FIXTURES/templates, one or two of each widely used family.
TEMPLATES = """
    Qwen-Qwen3-0.6B Qwen3-Coder Qwen3.5-4B deepseek-ai-DeepSeek-V3.1 deepseek-ai-DeepSeek-V3.2 GLM-4.6
    moonshotai-Kimi-K2 Kimi-K3 openai-gpt-oss-120b meta-llama-Llama-3.3-70B-Instruct
    Mistral-Small-3.2-24B-Instruct-2506 google-gemma-2-2b-it google-gemma-4-31B-it MiniMax-M2
    NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 NousResearch-Hermes-3-Llama-3.1-8B-tool_use Apertus-8B-Instruct LFM2.5-8B-A1B
    HuggingFaceTB-SmolLM3-3B ibm-granite-granite-4.0
""".split()
COUNTS = (202, 5)
# A peer's text that is no longer or shorter than this is work of the same kind.
TOLERANCE = 0.05
# rondo itself, asked for the runs of all that it writes, the parts of JSON dumps included.
ALL_RUNS = "all runs"
PEERS = {"jinja2": "jinja2", "minijinja": "minijinja", "llama": "llama.cpp"}


# --- Starting the engines -----------------------------------------------------------------------------------------


def _minijinja_command(build):
    """Builds the Rust peer; None without cargo."""
    if shutil.which("cargo") is None:
        print("minijinja: no `cargo`, passed over (Rust 1.78 or newer builds it)")
        return None
    manifest = REPO / "bench" / "minijinja_peer" / "Cargo.toml"
    done = subprocess.run(["cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", manifest,
                           "--target-dir", build / "minijinja"], check=False)
    if done.returncode != 0:
        print("minijinja: building it failed, passed over")
        return None
    return [build / "minijinja" / "release" / "minijinja_peer"]


def _command(peer, program):
    build = pathlib.Path(program).resolve().parent
    if peer == "jinja2":
        if subprocess.run([sys.executable, "-c", "import jinja2"], capture_output=True, check=False).returncode != 0:
            print("jinja2: not installed, passed over (pip install jinja2)")
            return None
        return [sys.executable, REPO / "bench" / "jinja2_peer.py"]
    if peer == "minijinja":
        return _minijinja_command(build)
    command = build / "llama_jinja_peer"
    if not command.is_file():
        print("llama.cpp: not built, passed over (./dev bench builds it)")
        return None
    return [command]


def start_engines(program, peers):
    workers = {"rondo": Worker([program, "--worker"]), ALL_RUNS: Worker([program, "--worker", "--all-runs"]),
               "no origins": Worker([program, "--worker", "--no-origins"])}
    for peer in peers:
        if command := _command(peer, program):
            workers[PEERS[peer]] = Worker(command)
    return workers


# --- Measuring ----------------------------------------------------------------------------------------------------


def choose_shape(worker, template, count, folder):
    """The first shape of conversation that the template renders to its end: (name, file of the variables, text)."""
    for name, variables in jinja_conversations.shapes(count):
        path = folder / "variables.json"
        path.write_text(json.dumps(variables, ensure_ascii=False), encoding="utf-8")
        try:
            worker.ask("load", template, path, folder / "rondo")
        except RuntimeError:
            continue
        text = (folder / "rondo").read_bytes()
        if variables["messages"][-1]["content"].strip().encode() in text:
            return name, path, text
    return None


def load_peers(workers, template, variables, text, folder):
    """The engines to be timed, and a remark for each that differs or refuses."""
    timed, remarks = ["rondo"], []
    for name, worker in workers.items():
        if name == "rondo":
            continue
        try:
            worker.ask("load", template, variables, folder / "peer")
        except RuntimeError as error:
            remarks.append(f"{name} refuses: {error}"[:160])
            continue
        other = (folder / "peer").read_bytes()
        if other != text:
            same = len(os.path.commonprefix([text, other]))
            alike = abs(len(other) - len(text)) <= TOLERANCE * len(text)
            remarks.append(f"{name} differs from byte {same} of {len(text)} on ({len(other)} bytes"
                           f"{'' if alike else ', not timed'})")
            if not alike:
                continue
        timed.append(name)
    return timed, remarks


def measure(workers, timed, rounds, milliseconds):
    """Median microseconds of rondo, and for each engine the median of its ratio to rondo within the rounds."""
    times = {name: [] for name in timed}
    for _ in range(rounds):
        for name in timed:
            times[name].append(float(workers[name].ask("run", milliseconds)[0]))
    ratios = {name: statistics.median(other / own for other, own in zip(times[name], times["rondo"]))
              for name in timed}
    return statistics.median(times["rondo"]), ratios


# --- Reporting ----------------------------------------------------------------------------------------------------


def _row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def _cell(ratios, name):
    return f"{ratios[name]:.1f}" if name in ratios else "–"


def _summary(function, collected, name):
    return f"{function(collected[name]):.1f}" if name in collected else "–"


def report_renders(workers, templates, folder, options):
    peers = [name for name in workers if name not in ("rondo", ALL_RUNS, "no origins")]
    for count in COUNTS:
        print(f"\n{count} messages; times the peer takes for one of rondo's renders with origins, JSON dumps whole\n")
        _row("template", "conversation", "KB", "rondo µs", "tracing %", "all runs %", *peers)
        _row(*["---"] * (6 + len(peers)))
        collected, all_remarks = {}, []
        for template in templates:
            shape = choose_shape(workers["rondo"], template, count, folder)
            if shape is None:
                all_remarks.append(f"{template.stem}: renders none of the conversations")
                continue
            timed, remarks = load_peers(workers, template, shape[1], shape[2], folder)
            all_remarks += [f"{template.stem}: {remark}" for remark in remarks]
            own, ratios = measure(workers, timed, options.rounds, options.milliseconds)
            every = ratios.pop(ALL_RUNS)
            bare = ratios.pop("no origins")
            tracing = {"tracing": (1 / bare - 1) * 100, ALL_RUNS: (every / bare - 1) * 100}
            _row(template.stem, shape[0], f"{len(shape[2]) / 1000:.1f}", f"{own:.1f}", f"{tracing['tracing']:.0f}",
                 f"{tracing[ALL_RUNS]:.0f}", *(_cell(ratios, name) for name in peers))
            for name, value in {**ratios, **tracing}.items():
                collected.setdefault(name, []).append(value)
            for name in ratios:
                collected.setdefault((name, ALL_RUNS), []).append(ratios[name] / every)
        costs = [f"{statistics.median(collected[name]):.0f}" for name in ("tracing", ALL_RUNS)]
        _row("**median**", "", "", "", *costs, *(_summary(statistics.median, collected, name) for name in peers))
        _row("**worst**", "", "", "", *(f"{max(collected[name]):.0f}" for name in ("tracing", ALL_RUNS)),
             *(_summary(min, collected, name) for name in peers))
        _row("**median, all runs**", "", "", "", "", "",
             *(_summary(statistics.median, collected, (name, ALL_RUNS)) for name in peers))
        print("\nall other texts are equal" if all_remarks else "\nall texts are equal")
        print(*("* " + remark for remark in all_remarks), sep="\n")


def report_compile(worker, templates):
    times = {}
    for template in templates:
        try:
            times[template] = float(worker.ask("compile", template)[0])
        except RuntimeError as error:
            print(f"* {template.stem}: {error}")
    slowest = max(times, key=times.get)
    largest = max(times, key=lambda path: path.stat().st_size)
    print(f"\ncompile: {len(times)} templates, median {statistics.median(times.values()):.0f} µs, slowest "
          f"{times[slowest]:.0f} µs ({slowest.stem}, {slowest.stat().st_size} bytes), largest {times[largest]:.0f} µs "
          f"({largest.stem}, {largest.stat().st_size} bytes)")


def report_memory(workers, templates, folder):
    """Heap bytes at the peak of one render, and those that its result holds, for each byte of text."""
    print("\n| heap bytes per byte of text, 202 messages | peak | result | peak, no origins |")
    _row(*["---"] * 4)
    columns = [[], [], []]
    for template in templates:
        shape = choose_shape(workers["rondo"], template, COUNTS[0], folder)
        if shape is None:
            continue
        workers["no origins"].ask("load", template, shape[1], folder / "peer")
        peak, size, kept = map(float, workers["rondo"].ask("memory"))
        bare = float(workers["no origins"].ask("memory")[0])
        values = [peak / size, kept / size, bare / size]
        for column, value in zip(columns, values):
            column.append(value)
        _row(template.stem, *(f"{value:.1f}" for value in values))
    _row("**median**", *(f"{statistics.median(column):.1f}" for column in columns))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rondo", required=True, help="the program bench_jinja")
    parser.add_argument("--quick", action="store_true", help="few and short rounds")
    parser.add_argument("--only", default="", help="only templates with this in their name")
    parser.add_argument("--peers", default=",".join(PEERS), help="which of " + ",".join(PEERS))
    options = parser.parse_args()
    options.rounds, options.milliseconds = (3, 15) if options.quick else (9, 50)
    if "RONDO_FIXTURES" not in os.environ:
        sys.exit("jinja_bench: RONDO_FIXTURES is not set; run ./dev bench jinja")
    fixtures = pathlib.Path(os.environ["RONDO_FIXTURES"]) / "templates"
    templates = [fixtures / f"{name}.jinja" for name in TEMPLATES if options.only in name]
    if not templates:
        sys.exit(f"jinja_bench: no template has `{options.only}` in its name: {' '.join(TEMPLATES)}")
    corpus = sorted([*fixtures.glob("*.jinja"), *(REPO.parent / "shared" / "corpus" / "templates").glob("*.jinja")])
    workers = start_engines(options.rondo, [name for name in options.peers.split(",") if name])
    with tempfile.TemporaryDirectory() as folder:
        report_compile(workers["rondo"], corpus)
        report_renders(workers, templates, pathlib.Path(folder), options)
        report_memory(workers, templates, pathlib.Path(folder))
    for worker in workers.values():
        worker.close()


if __name__ == "__main__":
    main()
