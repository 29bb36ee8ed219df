"""Runs the test programs of a build tree and the fuzz targets, and counts what ran.

Usage: python3 -m tools.testing.run_tests [--build TREE] [--fuzz TREE] [--fuzz-seconds N] [--full] [WORD...]

Cases are counted one by one: each case of a doctest program or of pytest, each other CTest test, each fuzz target.  A case that says
that it was skipped (a doctest message that begins with "skipped:") counts as skipped.  With WORDs only programs run whose
name contains one of them.  The last line is `N passed, N failed` (and `, N skipped` where there are any); the exit status
is 1 when anything failed or nothing ran.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from tools import REPO

TIMEOUT_S = 1500
SUMMARY = re.compile(r"\[doctest\] test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed\s*\|\s*(\d+) skipped")
PYTEST = re.compile(r"^(?:\d+ \w+, )*\d+ \w+(?:, \d+ \w+)* in [\d.]+s", re.MULTILINE)
SKIPPED = re.compile(r"MESSAGE:\s*(skipped:.*|.*; skipped$|.*, nothing to test$)", re.MULTILINE)
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
# A finding ends the program at once; the stack of an undefined-behaviour finding is part of the report.  The stacks of all
# allocations, kept for the report too, are a seventh of the time: their innermost frames do.  Frames that functions have left are kept
# in a smaller area, which an exception goes through as a whole: a tenth to a quarter of the time.
SANITIZERS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1"
                    ":malloc_context_size=4:min_uar_stack_size_log=16:max_uar_stack_size_log=16",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1",
}


class Outcome:
    """What one program gave: counts, and its output where that matters."""

    def __init__(self, name):
        self.name, self.passed, self.failed, self.seconds = name, 0, 0, 0.0
        self.skipped, self.output = [], ""

    def line(self):
        parts = [f"{self.passed} passed"] + ([f"{self.failed} FAILED"] if self.failed else [])
        parts += [f"{len(self.skipped)} skipped"] if self.skipped else []
        return f"{'FAIL' if self.failed else ' ok '} {self.name}: {', '.join(parts)} ({self.seconds:.1f} s)"


def run(name, command, environment, timeout, folder=None):
    """Runs a program to its end; returns an Outcome with its output and the exit status (None: it ran too long)."""
    outcome, started = Outcome(name), time.monotonic()
    try:
        done = subprocess.run(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=timeout, check=False)
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as expired:
        status, output = None, (expired.stdout or b"") + f"\nran longer than {timeout} s".encode()
    outcome.output = COLOURS.sub("", output.decode("utf-8", errors="replace"))
    outcome.seconds = time.monotonic() - started
    return outcome, status


def run_doctest(name, command, environment, timeout=TIMEOUT_S):
    outcome, status = run(name, command, environment, timeout)
    summary = SUMMARY.search(outcome.output)
    if not summary:  # crashed, ran too long, or was ended by a sanitizer: the cases that did run can't be counted
        outcome.failed = 1
        return outcome
    outcome.passed, outcome.failed = int(summary[2]), int(summary[3])
    if status != 0 and outcome.failed == 0:
        outcome.failed = 1  # a leak or another finding at exit
    outcome.skipped = SKIPPED.findall(outcome.output)
    outcome.passed = max(0, outcome.passed - len(outcome.skipped))
    return outcome


def run_plain(name, command, environment, folder):
    outcome, status = run(name, command, environment, TIMEOUT_S, folder)
    outcome.passed, outcome.failed = (1, 0) if status == 0 else (0, 1)
    if outcome.passed:
        outcome.skipped = re.findall(r"^skipped:.*", outcome.output, re.MULTILINE)
        outcome.passed = 0 if outcome.skipped else 1
    return outcome


def run_pytest(name, command, environment, timeout=TIMEOUT_S):
    outcome, status = run(name, command, environment, timeout)
    summary = PYTEST.search(outcome.output)
    if not summary:  # nothing ran: skipped, or it broke before the first case
        outcome.skipped = re.findall(r"^skipped:.*", outcome.output, re.MULTILINE) if status == 0 else []
        outcome.failed = 0 if outcome.skipped else 1
        return outcome
    counts = {what: int(number) for number, what in re.findall(r"(\d+) (\w+)", summary[0].partition(" in ")[0])}
    outcome.passed = counts.get("passed", 0)
    outcome.failed = counts.get("failed", 0) + counts.get("errors", 0) + counts.get("error", 0)
    if status != 0 and outcome.failed == 0:
        outcome.failed = 1  # a finding of a sanitizer at the end
    reasons = re.findall(r"^SKIPPED \[(\d+)\] \S+ (.*)$", outcome.output, re.MULTILINE)
    outcome.skipped = [f"skipped: {reason}" for number, reason in reasons for _ in range(int(number))]
    return outcome


def run_fuzz(target, seconds, environment):
    """Fuzzes for `seconds`, starting from fuzz/seeds/NAME; new inputs are kept beside the build."""
    name = target.name.removeprefix("fuzz_")
    found = target.parent / f"corpus_{name}"
    found.mkdir(exist_ok=True)
    seeds = REPO / "fuzz" / "seeds" / name
    dictionary = REPO / "fuzz" / f"{name}.dict"
    with tempfile.TemporaryDirectory() as artifacts:
        command = [str(target), f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", "-max_len=16384",
                   "-print_final_stats=1", f"-artifact_prefix={artifacts}/", str(found)]
        command += [str(seeds)] if seeds.is_dir() else []
        command += [f"-dict={dictionary}"] if dictionary.is_file() else []
        outcome, status = run(target.name, command, environment, seconds + 300)
        outcome.passed, outcome.failed = (1, 0) if status == 0 else (0, 1)
        for artifact in pathlib.Path(artifacts).iterdir():
            if outcome.failed:
                kept = target.parent / artifact.name
                kept.write_bytes(artifact.read_bytes())
                outcome.output += f"\nthe input is kept as {kept}"
    return outcome


def list_tests(tree):
    """Name, command, working folder and labels of every CTest test of a build tree."""
    shown = subprocess.run(["ctest", "--test-dir", str(tree), "--show-only=json-v1"], capture_output=True, text=True,
                           check=True)
    for test in json.loads(shown.stdout)["tests"]:
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        yield test["name"], test.get("command"), properties.get("WORKING_DIRECTORY"), properties.get("LABELS", [])


def plan(options, environment):
    """The jobs, as functions without arguments; the slowest kinds first."""
    def wanted(name):
        return not options.words or any(word in name for word in options.words)

    jobs = []
    if options.build:
        for name, command, folder, labels in list_tests(options.build):
            if not wanted(name):
                continue
            if not command or not pathlib.Path(command[0]).exists() and "/" in command[0]:
                jobs.append(lambda name=name: missing(name))
            elif "doctest" in labels:
                jobs.append(lambda name=name, command=command: run_doctest(name, command, environment))
            elif "pytest" in labels:
                jobs.append(lambda name=name, command=command: run_pytest(name, command, environment))
            else:
                jobs.append(lambda name=name, command=command, folder=folder:
                            run_plain(name, command, environment, folder))
    if options.fuzz:
        for target in sorted(options.fuzz.glob("**/fuzz_*")):
            if target.is_file() and os.access(target, os.X_OK) and wanted(target.name):
                jobs.append(lambda target=target: run_fuzz(target, options.fuzz_seconds, environment))
    return jobs


def missing(name):
    outcome = Outcome(name)
    outcome.failed, outcome.output = 1, "the program has not been built"
    return outcome


def report_details(outcomes):
    for outcome in outcomes:
        if outcome.failed:
            lines = outcome.output.rstrip().splitlines()
            print(f"\n---- {outcome.name} " + "-" * max(0, 90 - len(outcome.name)))
            if len(lines) > 220:
                lines = [*lines[:120], f"[... {len(lines) - 220} lines ...]", *lines[-100:]]
            print("\n".join(lines))
    skipped = sorted({reason for outcome in outcomes for reason in outcome.skipped})
    for reason in skipped:
        print(f"  {reason}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--fuzz", type=pathlib.Path)
    parser.add_argument("--fuzz-seconds", type=int, default=20)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    environment = dict(os.environ)
    for name, value in SANITIZERS.items():
        environment.setdefault(name, value)
    if options.full:
        environment["RONDO_TEST_FULL"] = "1"
    jobs = plan(options, environment)
    outcomes = []
    workers = max(1, int(os.environ.get("RONDO_JOBS") or os.cpu_count() or 1))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for done in concurrent.futures.as_completed([pool.submit(job) for job in jobs]):
            outcomes.append(done.result())
            print(outcomes[-1].line(), flush=True)
    report_details(outcomes)
    passed, failed = sum(o.passed for o in outcomes), sum(o.failed for o in outcomes)
    skipped = sum(len(o.skipped) for o in outcomes)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""), flush=True)
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
