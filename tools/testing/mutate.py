"""Flips single operators in a sample of a folder's lines and sees whether the folder's fast tests catch it.

Usage: python3 -m tools.testing.mutate [FOLDER...] [--flips N] [--seed S] [--fast SECONDS] [--own] [--most N] [--again]
                                       [-- CMAKE-OPTION...]

FOLDERs are those of src/rondo; without any, all.  A flip is one operator of one line (mutations.py says which); the sample is drawn by
folder and seed, so that it repeats.  What does not compile is not counted, and another is drawn.  A flip is caught when a test
fails, crashes or hangs.  The tests of a folder are its own program rondo_FOLDER_test and those programs of tests/ that cover its
library (CTest's labels) and take less than --fast seconds of processor time; they run as in a fresh clone, with the small corpus.
With --own only the folder's own program is built and run, where it has one: a quick first look, as the others only catch more.
With --most N, N others are: those that cover the fewest folders.
With --again nothing is drawn: the survivors that are known of the folders are tried once more, after tests were added.

Works on copies of the sources with build trees of their own, in build/mutate: an interrupted run leaves no trace elsewhere.
tools/testing/mutate_allow.txt lists flips that change no behaviour, with the reason.  They are not counted, but tried: an entry whose
flip is caught, or which fits no line any more, is an error.  Survivors are listed, and those of each folder's last run stay in
build/mutate/survivors.txt.  Exit status 1 if in any folder less than 85 % are caught.
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import queue
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

from tools.dependencies import cache
from tools.lint import lint
from tools.testing import mutations, run_tests

REPO = cache.REPO
PLACE = REPO / "build" / "mutate"
WANTED_PERCENT = 85
MEMORY_BYTES, FILE_BYTES = 4 << 30, 1 << 30  # of a test of flipped code, which may ask for anything


class Tree:
    """A copy of the sources with its build tree.  One flip at a time."""

    def __init__(self, number, jobs):
        self.root, self.jobs = PLACE / f"tree{number}", jobs
        self.build = self.root / "build" / "mutate"
        # What flipped code writes into the cache stays here; what is read from it (pinned packages) is the real one.
        self.cache = PLACE / f"cache{number}"
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("RONDO_UPDATE", "RONDO_CORPUS_MODELS", "RONDO_TEST_FULL")}
        self.environment["CCACHE_BASEDIR"] = str(self.root)

    def copy_sources(self):
        """Makes the copy equal to the repository; files that are equal keep their times, so that little is built anew."""
        shown = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=REPO, check=True,
                               capture_output=True, text=True).stdout
        wanted = {name for name in shown.split("\0") if name and (REPO / name).is_file()}
        for name in wanted:
            source, copy = REPO / name, self.root / name
            if not copy.is_file() or copy.read_bytes() != source.read_bytes():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, copy)
        for folder, below, files in os.walk(self.root):
            below[:] = [name for name in below if (pathlib.Path(folder) / name) != self.root / "build"]
            for copy in (pathlib.Path(folder) / name for name in files):
                if str(copy.relative_to(self.root)) not in wanted:
                    copy.unlink()

    def configure(self, options):
        done = subprocess.run(["cmake", "--preset", "mutate", *linker(), *options], cwd=self.root, env=self.environment,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            cache.fail(f"configuring {self.root} failed:\n{done.stdout}{done.stderr}")

    def make(self, target, quiet=True):
        """Whether a target could be built; unless quiet, what goes on is shown."""
        done = subprocess.run(["cmake", "--build", str(self.build), "--parallel", str(self.jobs), "--target", target],
                              env=self.environment, stdout=subprocess.DEVNULL if quiet else None,
                              stderr=subprocess.DEVNULL if quiet else None, check=False)
        return done.returncode == 0

    def fresh_cache(self):
        shutil.rmtree(self.cache, ignore_errors=True)
        (self.cache / "tmp").mkdir(parents=True)
        for entry in cache.root().iterdir():
            if entry.name != "tokenizers":
                (self.cache / entry.name).symlink_to(entry)
        return {**self.environment, "RONDO_CACHE": str(self.cache), "TMPDIR": str(self.cache / "tmp")}


class Test:
    """A test program of a folder, with its command in the tree `home`; `seconds` is its processor time before anything was flipped."""

    def __init__(self, home, name, labels):
        self.home, self.name, self.labels, self.command, self.seconds = home, name, labels, [], 0.0

    def target(self):
        return "rondo_python_package" if "pytest" in self.labels else self.name

    def flags(self):
        return ["-x"] if "pytest" in self.labels else ["--abort-after=1"]


def linker():
    """The option for the fastest linker that is there."""
    for name in ("mold", "lld", "gold"):
        if shutil.which(name if name == "mold" else f"ld.{name}"):
            return [f"-DCMAKE_{kind}_LINKER_FLAGS=-fuse-ld={name}" for kind in ("EXE", "SHARED", "MODULE")]
    return []


def set_limits(processor_s):
    resource.setrlimit(resource.RLIMIT_CPU, (processor_s, processor_s + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def fails(tree, test):
    """How a test failed in a tree with a flip ("failed", "crashed", "hung"); None if it passed."""
    command = [word.replace(str(test.home.root), str(tree.root)) for word in test.command] + test.flags()
    with subprocess.Popen(command, env=tree.fresh_cache(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, start_new_session=True,
                          preexec_fn=lambda: set_limits(5 + math.ceil(5 * test.seconds))) as running:
        try:
            status = running.wait(timeout=60 + 10 * test.seconds)  # for what waits; what runs is ended by its processor time
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            status = -signal.SIGXCPU
    if status == -signal.SIGXCPU:
        return "hung"
    return None if status == 0 else "failed" if status > 0 else "crashed"


class Durations:
    """What tests took before anything was flipped, in this run and those before it: what is known to be slow is not built again."""

    def __init__(self):
        self.file = PLACE / "seconds.json"
        self.seconds = json.loads(self.file.read_text(encoding="utf-8")) if self.file.is_file() else {}
        self.failed = {}  # what those said that fail before anything is flipped

    def is_slow(self, name, limit_s):
        return self.seconds.get(name, 0.0) >= limit_s

    def keep(self, name, seconds):
        self.seconds[name] = seconds
        self.file.write_text(json.dumps(self.seconds, indent=1, sort_keys=True), encoding="utf-8")


def passes(tree, test, limit_s, durations):
    """Whether an unflipped test passes within the limit, in processor time; one that fails is kept for the end of the report."""
    if not tree.make(test.target(), quiet=False):
        cache.fail(f"{test.name} does not build before anything is flipped")
    test.command = next(command for name, command, _, _ in run_tests.list_tests(tree.build) if name == test.name)
    run = run_tests.run_pytest if "pytest" in test.labels else run_tests.run_doctest
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome = run(test.name, test.command, tree.fresh_cache(), 10 * limit_s)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    test.seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    durations.keep(test.name, test.seconds)
    if test.seconds >= limit_s:
        return False
    if outcome.failed:
        durations.failed[test.name] = outcome.output[-3000:]
    return outcome.passed > 0 and not outcome.failed


def fast_tests(tree, folder, options, durations):
    """The tests of a folder that pass: its own, then what is fast and covers the fewest folders; where nothing is fast, what was quickest.

    Those that skip all they have are left out, and tests in Python other than the module's, which take long.
    """
    own, limit_s = f"rondo_{folder}_test", options.fast
    tests = [Test(tree, name, labels) for name, _, _, labels in run_tests.list_tests(tree.build)
             if f"rondo_{folder}" in labels and {"doctest", "pytest"} & set(labels)]
    if options.own and any(test.name == own for test in tests):
        tests = [test for test in tests if test.name == own]
    asked = [test for test in tests if test.name == own or not durations.is_slow(test.name, limit_s)]
    asked.sort(key=lambda test: (test.name != own, len(test.labels), durations.seconds.get(test.name, limit_s)))
    if options.most is not None:
        asked = asked[:options.most + 1]
    kept = [test for test in asked if passes(tree, test, run_tests.TIMEOUT_S if test.name == own else limit_s, durations)]
    if not kept:
        tests.sort(key=lambda test: durations.seconds[test.name])
        kept = [test for test in tests[:1] if passes(tree, test, run_tests.TIMEOUT_S, durations)]
    return sorted(kept, key=lambda test: (test.name != own, len(test.labels), test.seconds))


class Trial:
    """What became of a flip: whether it compiles, and which test caught it how, if one did."""

    def __init__(self, flip, is_compiled, caught, seconds):
        self.flip, self.is_compiled, self.caught, self.seconds = flip, is_compiled, caught, seconds


def try_flip(trees, tests, flip):
    tree, started = trees.get(), time.monotonic()
    file = tree.root / flip.path
    source = file.read_bytes()
    try:
        file.write_text(flip.apply(source.decode("utf-8")), encoding="utf-8")
        for test in tests:
            if not tree.make(test.target()):
                return Trial(flip, False, None, time.monotonic() - started)
            if how := fails(tree, test):
                return Trial(flip, True, f"{test.name} {how}", time.monotonic() - started)
        return Trial(flip, True, None, time.monotonic() - started)
    finally:
        file.write_bytes(source)
        trees.put(tree)


def sources(folder):
    """The files whose code is flipped: no tests, nothing that only tests use, no generated tables."""
    generated = {place for (_, place), reason in lint.allowances().items() if reason == "generated tables"}
    return [path for path in lint.sources(f"src/rondo/{folder}")
            if not path.endswith(("_test.cpp", "/testing.h")) and path not in generated]


class Survivors:
    """The flips that survived each folder's last run, as describe() writes them, in a file that is written as a folder ends."""

    PATTERN = re.compile(r"(src/rondo/([^/]+)/\S+?):\d+:\d+: (\S+ -> \S+(?: #\d+)?)   (.*)")

    def __init__(self):
        self.file, self.lines = PLACE / "survivors.txt", {}
        for line in self.file.read_text(encoding="utf-8").splitlines() if self.file.is_file() else []:
            self.lines.setdefault(self.PATTERN.fullmatch(line)[2], []).append(line)

    def keep(self, folder, lines):
        self.lines[folder] = lines
        shown = [line for _, of_folder in sorted(self.lines.items()) for line in of_folder]
        self.file.write_text("".join(f"{line}\n" for line in shown), encoding="utf-8")

    def have(self, folder, flip):
        found = [self.PATTERN.fullmatch(line) for line in self.lines.get(folder, [])]
        return (flip.path, flip.name(), flip.text) in {(match[1], match[3], match[4]) for match in found}


def all_flips(folder):
    return [flip for path in sources(folder) for flip in mutations.find(path, lint.read(path))]


def draw(folder, seed, allowed):
    """(flips that are allowed, others: one of each line, in the order of the draw, which no entry of the list changes)"""
    flips, lines = all_flips(folder), {}
    for flip in flips:
        lines.setdefault((flip.path, flip.line), []).append(flip)
    order = random.Random(f"{seed} {folder}")
    drawn = list(lines.values())
    order.shuffle(drawn)
    drawn = [order.choice(of_line) for of_line in drawn]

    def is_allowed(flip):
        return (flip.path, flip.text, flip.name()) in allowed

    return [flip for flip in flips if is_allowed(flip)], [flip for flip in drawn if not is_allowed(flip)]


def read_allowed(folders):
    """{(path, text of the line, flip): reason} of these folders; ends the run where an entry of the list is not right."""
    found, wrong = mutations.read_allowed(REPO)
    if wrong:
        cache.fail("\n".join(wrong))
    return {entry: reason for entry, reason in found.items() if pathlib.PurePath(entry[0]).parent.name in folders}


def describe(flip):
    return f"{flip.path}:{flip.line}:{flip.column}: {flip.name()}   {flip.text}"


def counted_trials(trials_of, drawn, wanted):
    """The first `wanted` of the drawn flips that compile, tried; progress is shown."""
    counted, at = [], 0
    while len(counted) < wanted and at < len(drawn):
        batch = drawn[at:at + wanted - len(counted)]
        at += len(batch)
        for trial in trials_of(batch):
            if not trial.is_compiled:
                continue
            counted.append(trial)
            print(f"  {len(counted):3d} {'caught  ' if trial.caught else 'SURVIVED'} {describe(trial.flip)}   "
                  f"({f'{trial.caught}, ' if trial.caught else ''}{trial.seconds:.1f} s)", flush=True)
    return counted


def test_folder(folder, trees, options, allowed, durations, survivors):
    """(the trials that count, those of flips that are allowed)"""
    started = time.monotonic()
    tests = fast_tests(trees[0], folder, options, durations)
    for tree in trees[1:]:
        for test in tests:
            tree.make(test.target())
    shown = ", ".join(f"{test.name} ({test.seconds:.1f} s)" for test in tests) or "no test covers it, so nothing is caught"
    cache.say(f"{folder}: {shown}; ready after {time.monotonic() - started:.0f} s")
    free = queue.SimpleQueue()
    for tree in trees:
        free.put(tree)
    excused, drawn = draw(folder, options.seed, allowed)
    if options.again:
        excused, drawn = [], [flip for flip in all_flips(folder) if survivors.have(folder, flip)]
    with concurrent.futures.ThreadPoolExecutor(len(trees)) as pool:
        def trials_of(flips):
            return pool.map(lambda flip: try_flip(free, tests, flip), flips)

        wanted = len(drawn) if options.again else options.flips
        return counted_trials(trials_of, drawn, wanted), list(trials_of(excused))


def prepared_trees(cmake_options):
    workers = max(1, int(os.environ.get("RONDO_JOBS") or os.cpu_count() or 1))
    trees = [Tree(number, max(1, workers if number == 1 else workers // 2)) for number in range(1, min(workers, 4) + 1)]
    for tree in trees:
        tree.copy_sources()
        tree.configure(cmake_options)
    return trees


def all_folders():
    return sorted(file.parent.name for file in (REPO / "src" / "rondo").glob("*/CMakeLists.txt"))


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--flips", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fast", type=float, default=6.0)
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--most", type=int)
    parser.add_argument("--again", action="store_true")
    at = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:at])
    for folder in options.folders:
        if folder not in all_folders():
            cache.fail(f"mutate: there is no folder src/rondo/{folder}; there are: {', '.join(all_folders())}")
    return options, arguments[at + 1:]


def main(arguments):
    options, cmake_options = parse_arguments(arguments)
    survivors, durations = Survivors(), Durations()
    folders = options.folders or all_folders()
    if options.again:
        folders = [folder for folder in folders if survivors.lines.get(folder)]
    allowed = read_allowed(folders)
    trees = prepared_trees(cmake_options)
    rows, needless = [], []
    for folder in folders:
        counted, excused = test_folder(folder, trees, options, allowed, durations, survivors)
        lived = [describe(trial.flip) for trial in counted if not trial.caught]
        survivors.keep(folder, lived)
        rows.append((folder, len(counted), len(counted) - len(lived)))
        if len(folders) > 1:
            report(rows[-1:])
        needless += [f"{describe(trial.flip)} ({trial.caught})" for trial in excused if trial.caught]
    print("\nsurvivors (build/mutate/survivors.txt):")
    for line in (line for folder in folders for line in survivors.lines[folder]):
        print(f"  {line}")
    for line in needless:
        print(f"tools/testing/mutate_allow.txt allows what is caught; remove the entry: {line}")
    for name, output in durations.failed.items():
        print(f"{name} fails before anything is flipped, and was left out:\n{output}")
    return report(rows) and not needless and not durations.failed


def report(rows):
    """Whether enough is caught in every folder, which a table shows."""
    print(f"\n{'folder':12} {'flips':>6} {'caught':>7} {'share':>7}")
    low = [row for row in rows if 100 * row[2] < WANTED_PERCENT * row[1]]
    for row in rows:
        share = f"{100 * row[2] / row[1]:.0f} %" if row[1] else "-"
        print(f"{row[0]:12} {row[1]:6} {row[2]:7} {share:>7}{f'   below {WANTED_PERCENT} %' if row in low else ''}")
    return not low


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
