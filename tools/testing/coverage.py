"""Which lines of src/rondo the tests reach, folder by folder, counted by clang and llvm-cov.

Usage: python3 -m tools.testing.coverage --build TREE [WORD...]

TREE is configured with the preset `coverage`.  Builds it, runs its tests with tools/testing/run_tests.py and adds up what they counted.  With
WORDs only test programs whose name contains one of them are built and run; what is shown then is no verdict.  Tests and generated tables do
not count; lines of headers count for the folder that the header is in.  TREE/unreached.txt lists the lines that no test reached.  Exit
status 1 when a test fails, or when in any folder less than 85 % of the lines are reached.
"""
import argparse
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import time

from tools.dependencies import cache
from tools.lint import lint
from tools.testing import run_tests

REPO = cache.REPO
WANTED_PERCENT = 85
WORST = 12  # files that are shown


def stage(name, started):
    cache.say(f"{name} ({time.monotonic() - started:.0f} s)")


def build(tree, words):
    """All of the tree, or those test programs that are asked for; what is no program of its own needs all."""
    targets = []
    if words:
        found = [(name, labels) for name, _, _, labels in run_tests.list_tests(tree) if any(word in name for word in words)]
        if not found:
            cache.fail(f"coverage: no test's name contains {' or '.join(words)}")
        if all("doctest" in labels for _, labels in found):
            targets = ["--target", *(name for name, _ in found)]
    jobs = str(max(1, int(os.environ.get("RONDO_JOBS") or os.cpu_count() or 1)))
    if subprocess.run(["cmake", "--build", str(tree), "--parallel", jobs, *targets], check=False).returncode != 0:
        cache.fail("coverage: the build failed")


def run(tree, words):
    """Whether all tests passed.  Each program adds to a file of its own, of which there are a few at most."""
    profiles = tree / "profiles"
    shutil.rmtree(profiles, ignore_errors=True)
    environment = dict(os.environ, LLVM_PROFILE_FILE=str(profiles / "%2m.profraw"))
    done = subprocess.run([sys.executable, "-m", "tools.testing.run_tests", "--build", str(tree), *words], cwd=REPO, env=environment,
                          check=False)
    return done.returncode == 0


def merged_profile(tree):
    out = tree / "tests.profdata"
    counted = sorted(str(file) for file in (tree / "profiles").glob("*.profraw"))
    if not counted:
        cache.fail("coverage: no test counted anything")
    done = subprocess.run(["llvm-profdata-19", "merge", "-sparse", "-o", str(out), *counted], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        cache.fail(f"coverage: llvm-profdata-19 failed:\n{done.stderr}")
    return out


def built_files(tree):
    """Everything that tells of lines: programs, and then objects, for code that no program takes out of its library."""
    programs = [pathlib.Path(command[0]) for _, command, _, labels in run_tests.list_tests(tree) if command and "doctest" in labels]
    modules = sorted((tree / "python").glob("**/*.so"))
    objects = sorted((tree / "src" / "rondo").glob("*/CMakeFiles/rondo_*.dir/**/*.cpp.o"))
    return [file for file in (*programs, tree / "rondo", *modules, *objects)
            if file.is_file() and not file.name.endswith("_test.cpp.o")]


def counts(tree, profile):
    """{path: {line: how often it ran}} of the sources that count."""
    generated = {place for (_, place), reason in lint.allowances().items() if reason == "generated tables"}
    wanted = set(lint.sources("src/rondo")) - generated
    files = built_files(tree)
    command = ["llvm-cov-19", "export", "-format=lcov", "-skip-expansions", f"-instr-profile={profile}",
               r"-ignore-filename-regex=(_test\.cpp$|^/usr/|/tests/)", str(files[0])]
    for file in files[1:]:
        command += ["-object", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        cache.fail(f"coverage: llvm-cov-19 failed:\n{done.stderr[-3000:]}")
    found, lines = {}, None
    for row in done.stdout.splitlines():
        kind, _, value = row.partition(":")
        if kind == "SF":
            path = os.path.relpath(value, REPO)
            lines = found.setdefault(path, {}) if path in wanted else None
        elif kind == "DA" and lines is not None:
            line, count = value.split(",")[:2]
            lines[int(line)] = max(lines.get(int(line), 0), int(count))
    return found


def ranges(lines):
    """[3, 4, 5, 9] as "3-5 9"."""
    out = []
    for line in sorted(lines):
        if out and out[-1][1] == line - 1:
            out[-1][1] = line
        else:
            out.append([line, line])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in out)


def percent(reached, lines):
    return 100 * reached / lines if lines else 100.0


def report(tree, found):
    """Whether enough of every folder is reached, which a table shows."""
    missed = {path: [line for line, count in lines.items() if count == 0] for path, lines in found.items()}
    missed = {path: lines for path, lines in sorted(missed.items()) if lines}
    (tree / "unreached.txt").write_text("".join(f"{path}: {ranges(lines)}\n" for path, lines in missed.items()), encoding="utf-8")
    print(f"\nlines not reached, all of them in {os.path.relpath(tree / 'unreached.txt', REPO)}; the files with most:")
    for path in sorted(missed, key=lambda path: -len(missed[path]))[:WORST]:
        print(f"  {len(missed[path]):4d} of {len(found[path]):4d}  {path}: {ranges(missed[path][:40])}"
              f"{' ...' if len(missed[path]) > 40 else ''}")
    folders = collections.defaultdict(lambda: [0, 0])
    for path, lines in found.items():
        row = folders[path.split("/")[2]]
        row[0] += len(lines)
        row[1] += len(lines) - len(missed.get(path, ()))
    print(f"\n{'folder':12} {'lines':>7} {'reached':>8} {'share':>8}")
    for name, (lines, reached) in sorted(folders.items()):
        low = percent(reached, lines) < WANTED_PERCENT
        print(f"{name:12} {lines:7} {reached:8} {percent(reached, lines):6.1f} %{f'   below {WANTED_PERCENT} %' if low else ''}")
    lines, reached = (sum(row[index] for row in folders.values()) for index in (0, 1))
    print(f"{'all':12} {lines:7} {reached:8} {percent(reached, lines):6.1f} %")
    return all(percent(reached, lines) >= WANTED_PERCENT for lines, reached in folders.values())


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    tree = options.build.absolute()
    started = time.monotonic()
    build(tree, options.words)
    stage("built", started)
    passed = run(tree, options.words)
    stage("tests have run", started)
    found = counts(tree, merged_profile(tree))
    stage("lines are counted", started)
    enough = report(tree, found)
    if options.words:
        print("not a verdict: only some tests ran")
    elif not enough:
        print(f"every folder needs {WANTED_PERCENT} %")
    if not passed:
        print("some tests failed")
    sys.exit(0 if passed and (enough or options.words) else 1)


if __name__ == "__main__":
    main()
