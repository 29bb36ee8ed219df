"""The lint: formatting, layers, sizes, state, words, documents, the list of mutations, every header alone, the system's compiler, and
clang-tidy.

Usage: python3 -m tools.lint.lint [--build TREE] [--fix] [--full] [--only CHECK]...

Needs configured build trees (compile_commands.json): `tidy` for clang-tidy, `quick` for the system's compiler.  A header that compiled,
a source that the system's compiler took, and a file that clang-tidy has passed, is remembered in the cache by its text and that of all it includes, so that only changed files cost time.  --full adds clang's static analyzer and the tests.
--fix formats the sources and does nothing else.  Exceptions with their reasons: tools/lint/lint_allow.txt.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

from tools.dependencies import cache, fetch, llama
from tools.lint import members, standard_names
from tools.testing import mutations

REPO = cache.REPO
FILE_LINES, FUNCTION_LINES, DATA_MEMBERS = 600, 70, 20
CHECKS = ("format", "layers", "size", "state", "words", "docs", "mutations", "headers", "compiler", "tidy")

# Model families, markers of chat formats, and addresses: none of them belongs into the code that users run.
FAMILIES = ("qwen", "gemma", "mistral", "mixtral", "deepseek", "hermes", "granite", "phi-?[34]", "glm-?4", "kimi", "minimax",
            "gpt-?oss", "harmony", "nemotron", "cohere", "command-r", "falcon", "smollm", "devstral", "magistral",
            "llama-?[234]", "functionary", "internlm", "olmo", "chatml")
MARKERS = (r"<\|", r"\|>", r"</?think>", r"</?tool_calls?>", r"</?tool_response>", r"\[/?INST\]", r"\[TOOL_CALLS\]",
           r"<(?:start|end)_of_turn>", r"</?function=", r"<｜")
ADDRESSES = (r"https?://", r"/(?:home|root|work|tmp)/")
WORDS = re.compile("|".join(f"(?:{word})" for word in (*FAMILIES, *MARKERS, *ADDRESSES)), re.IGNORECASE)
COMMENT = re.compile(r"(?<!:)//.*$")


def sources(*folders):
    """The C++ files that git knows or could know in these folders."""
    shown = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders], cwd=REPO,
                           capture_output=True, text=True, check=True).stdout.split("\n")
    return sorted(path for path in set(shown) if path.endswith((".h", ".cpp")) and (REPO / path).is_file())


def read(path):
    return (REPO / path).read_text(encoding="utf-8")


def allowances():
    """{(check, place): reason}"""
    found = {}
    for line in pathlib.Path(__file__).with_name("lint_allow.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            head, _, reason = line.partition(": ")
            check, _, place = head.partition(" ")
            if not reason.strip():
                cache.fail(f"tools/lint/lint_allow.txt: `{line}` gives no reason")
            found[check, place] = reason
    return found


def check_format(options):
    """clang-format agrees with every file."""
    allowed = allowances()
    files = [path for path in sources("src", "include", "tests", "fuzz", "bench") if ("format", path) not in allowed]
    command = ["clang-format-19", *(["-i"] if options.fix else ["--dry-run", "--Werror"]), *files]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    lines = [line for line in done.stderr.splitlines() if "error:" in line]
    by_file = {}
    for line in lines:
        by_file.setdefault(line.split(":")[0], []).append(line.split(":")[1])
    found = [f"{name}: not formatted at line {', '.join(at[:5])}{' ...' if len(at) > 5 else ''}"
             for name, at in by_file.items()]
    if found:
        found.append("./dev lint --fix formats them")
    return found if done.returncode else []


def check_layers(_):
    """A folder includes only folders that layers.txt lists for it, which names all folders and no other."""
    done = subprocess.run([sys.executable, "-m", "tools.lint.check_layers", "src/rondo/layers.txt", "src/rondo"], cwd=REPO,
                          capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).splitlines() if done.returncode else []


def functions(lines):
    """(name, first line, number of lines) of the functions at namespace level of a formatted file."""
    start = None
    for number, line in enumerate(lines, 1):
        if start is None:
            opens = re.match(r"(?!namespace|struct|class|enum|union|extern|using|typedef|#|//|constexpr|inline constexpr)\S", line)
            if opens and not line.rstrip().endswith((";", "}")):
                start = number
        elif line.startswith("}"):
            head = " ".join(lines[start - 1:min(start + 6, number)])
            name = re.search(r"([\w:~]+)\s*\(", head)
            if name and not line.startswith("};"):
                yield name[1], start, number - start + 1
            start = None
        elif line.rstrip().endswith(";") and not line.startswith((" ", "\t")):
            start = None


def check_size(_):
    """Files and functions fit their limits."""
    allowed, found = allowances(), []
    for path in sources("src", "include", "tests", "fuzz", "bench"):
        lines = read(path).splitlines()
        if len(lines) > FILE_LINES and ("file", path) not in allowed:
            found.append(f"{path}: {len(lines)} lines, the limit is {FILE_LINES}")
        if ("file", path) in allowed or path.endswith("_test.cpp"):
            continue
        for name, first, count in functions(lines):
            if count > FUNCTION_LINES and ("function", f"{path}:{name}") not in allowed:
                found.append(f"{path}:{first}: `{name}` has {count} lines, the limit is {FUNCTION_LINES}")
    return found


def check_state(_):
    """Classes have few enough data members to be understood as one thing."""
    allowed, found = allowances(), []
    for path in sources("src", "include", "tests", "fuzz", "bench"):
        for name, line, count in members.of(read(path)):
            if count > DATA_MEMBERS and ("state", f"{path}:{name}") not in allowed:
                found.append(f"{path}:{line}: `{name}` has {count} data members, the limit is {DATA_MEMBERS}")
    return found


def check_words(_):
    """No model family, no marker and no address in the code that users run; comments may give examples of markers."""
    allowed, found = allowances(), []
    for path in sources("src", "include"):
        if path.endswith("_test.cpp"):
            continue
        for number, line in enumerate(read(path).splitlines(), 1):
            for match in WORDS.finditer(COMMENT.sub("", line)):
                if not {("word", f"{path}:{match[0].lower()}"), ("word", f"{path}:*")} & allowed.keys():
                    found.append(f"{path}:{number}: `{match[0]}` does not belong here: the template and the tokenizer say it")
    return found


def check_docs(_):
    """What the documents name exists, and so do the tests of tests/statements and every file that lint_allow.txt makes an exception for."""
    gone = {place.partition(":")[0] for _, place in allowances() if not (REPO / place.partition(":")[0]).is_file()}
    found = [f"tools/lint/lint_allow.txt: there is no {path}" for path in sorted(gone)]
    for tool in ("check_docs", "check_statements"):
        done = subprocess.run([sys.executable, "-m", f"tools.lint.{tool}"], cwd=REPO, capture_output=True, text=True, check=False)
        found += (done.stdout + done.stderr).splitlines() if done.returncode else []
    return found


def check_mutations(_):
    """Every entry of the list that ./dev mutate does not count still fits its line."""
    return mutations.read_allowed(REPO)[1]


INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


@functools.cache
def included(path):
    """The repository's own files that a source includes, by any of the folders that includes are searched in."""
    found = (folder / name for name in INCLUDE.findall(path.read_text(encoding="utf-8"))
             for folder in (path.parent, REPO / "src" / "rondo", REPO / "include", REPO))
    return tuple(dict.fromkeys(file for file in found if file.is_file()))


@functools.cache
def closure(path):
    """A source and all of the repository's own files that it includes, by way of others too."""
    files = [path]
    for file in files:
        files += [other for other in included(file) if other not in files]
    return tuple(sorted(files))


def key_of(files, *parts):
    """A digest of these texts, and of the files' own."""
    digest = hashlib.sha256()
    for part in (*parts, *(read(file) for file in files)):
        digest.update(b"\0" + part.replace(str(REPO), "").encode())
    return digest.hexdigest()


def workers():
    return int(os.environ.get("RONDO_JOBS") or os.cpu_count() or 1)


HEADER_COMMAND = ("clang++-19", "-std=c++20", "-Isrc/rondo", "-Iinclude", "-isystem", str(llama.prefix() / "include"),
                  "-Wno-pragma-once-outside-header", "-x", "c++-header")


PRECOMPILED_HEADERS = 16


def bases_of(headers):
    """{header: the largest one in it that is precompiled, or None}: those are precompiled that spare the others most."""
    below = {header: set(closure(header)) - {header} for header in headers}
    size = {header: 20 + len(below[header]) for header in headers}  # the standard library's headers are most of the work
    bases, spared = dict.fromkeys(headers), dict.fromkeys(headers, 0)
    for _ in range(PRECOMPILED_HEADERS):
        best = max(headers, key=lambda base: sum(max(0, size[base] - spared[header]) for header in headers if base in below[header]))
        for header in headers:
            if best in below[header] and size[best] > spared[header]:
                bases[header], spared[header] = best, size[best]
    return {header: None if header in bases.values() else base for header, base in bases.items()}


def compile_header(header, folder, base, is_base=False):
    """The complaints about a header, compiled behind a precompiled one that it includes or that holds the standard library's."""
    def place(file):
        return f"{folder}/{hashlib.sha256(str(file).encode()).hexdigest()}.pch"
    command = [*HEADER_COMMAND, str(header)]
    command += ["-o", place(header)] if is_base else ["-fsyntax-only"]
    if base:
        command += ["-include-pch", place(base)]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    return [line.replace(f"{REPO}/", "") for line in done.stderr.splitlines() if "error:" in line] if done.returncode else []


def lacking(header):
    """Which of the standard library's headers a header does not include although it uses their names."""
    path = str(header.relative_to(REPO))
    return [f"{path}: {what}" for what in standard_names.missing(read(path), [read(file) for file in closure(header)])]


def check_headers(_):
    """Every header includes what it needs, but for those of src/rondo/python, which include another package's."""
    headers = [REPO / path for path in sources("src", "include") if path.endswith(".h") and "/python/" not in path]
    memory = cache.root() / "tidy"
    memory.mkdir(exist_ok=True)
    keys = {header: memory / key_of(closure(header), "header", version_of("g++", HEADER_COMMAND[0]), *HEADER_COMMAND,
                                    *standard_names.headers()) for header in headers}
    found = [line for header in headers for line in lacking(header)]
    wanted = [header for header in headers if not keys[header].exists()]
    bases = bases_of(headers)
    needed = {bases[header] for header in wanted} - {None}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(workers()) as pool:
        standard = pathlib.Path(folder, "standard.h")
        standard.write_text("".join(f"#include <{name}>\n" for name in standard_names.headers()), encoding="utf-8")
        found += compile_header(standard, folder, None, is_base=True)
        for lines in pool.map(lambda header: compile_header(header, folder, standard, is_base=True), needed):
            found += lines
        for lines in pool.map(lambda header: compile_header(header, folder, bases[header] or standard), set(wanted) - needed):
            found += lines
    for key in keys.values() if not found else ():
        key.touch()
    return sorted(set(found))


def tidy_key(entry, checks):
    """What decides clang-tidy's answer for a file: tools, configuration, command, and the file with all that it includes."""
    words = [word for word in shlex.split(entry["command"]) if word != "ccache" and not word.endswith("/ccache")]
    if "-o" in words:
        del words[words.index("-o"):words.index("-o") + 2]
    files = closure(pathlib.Path(entry["file"]))
    paths = {str(file.relative_to(REPO)) for file in files}
    excused = sorted(place for check, place in allowances() if check == "complexity" and place.partition(":")[0] in paths)
    return key_of(files, checks, read(".clang-tidy"), version_of(tidy_program(), "g++"), " ".join(words), *excused)


@functools.cache
def tidy_program():
    """The pinned clang-tidy.  It passes over what system headers declare, which older ones do not: they take three times as long."""
    folder = fetch.wheel("clang-tidy")
    if folder is None:
        cache.fail("the pinned clang-tidy cannot be had here, so that this machine cannot run the lint `tidy`")
    program = folder / "clang_tidy" / "data" / "bin" / "clang-tidy"
    program.chmod(0o755)
    return str(program)


@functools.cache
def version_of(*programs):
    """What these programs say of themselves.  The compiler is one of them: every source includes its library's headers."""
    return "".join(subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout for program in programs)


COMPLEX = re.compile(r"(\S+?):\d+:\d+: \w+: function '([^']+)' has cognitive complexity of \d+ .*")


def without_excused(lines, allowed):
    """clang-tidy's lines, without those about functions whose complexity is excused, as it is in tests."""
    out, is_excused = [], False
    for line in lines:
        found = COMPLEX.fullmatch(line)
        if found:
            is_excused = found[1].endswith("_test.cpp") or ("complexity", f"{found[1]}:{found[2]}") in allowed
        elif re.match(r"\S+:\d+:\d+: (?:error|warning): ", line):
            is_excused = False
        out += [] if is_excused else [line]
    return out


def tidy_one(entry, options, memory):
    checks = "clang-analyzer-*" if options.full else ""
    key = tidy_key(entry, checks)
    if (memory / key).exists():
        return []
    command = [tidy_program(), "--quiet", f"--config-file={REPO / '.clang-tidy'}", "-p", str(options.build), entry["file"]]
    command += [f"--checks={checks}"] if checks else []
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    lines = [line.replace(f"{REPO}/", "") for line in done.stdout.splitlines() if line.strip()]
    left = without_excused(lines, allowances())
    if done.returncode == 0 or (lines and not left):
        (memory / key).touch()
        return []
    return left or done.stderr.splitlines()


def tidy_entries(commands, wanted):
    """What clang-tidy is asked about: sources that are compiled together as one, the others alone; and the sources that are in neither."""
    together = [entry for entry in commands if "/Unity/unity_" in entry["file"]]
    covered = {str(file) for entry in together for file in included(pathlib.Path(entry["file"]))}
    alone = [entry for entry in commands if entry["file"] in wanted - covered]
    missing = wanted - covered - {entry["file"] for entry in alone}
    return [entry for entry in together if wanted & {str(file) for file in included(pathlib.Path(entry["file"]))}] + alone, missing


def not_built():
    """Sources that only another choice of the engine, or another platform, compiles."""
    return {str(REPO / path) for path in ("src/rondo/engine/llama_off.cpp", "src/rondo/capi/wasm.cpp")}


def sources_of(tree, files):
    """What a configured tree compiles of the files, the longest first; and why it can't be said."""
    database, preset = tree / "compile_commands.json", tree.name
    if not database.is_file():
        return [], [f"{database} is missing: configure the preset `{preset}` first"]
    newest = max(path.stat().st_mtime for path in (REPO / "src").rglob("CMakeLists.txt"))
    if newest > database.stat().st_mtime:
        return [], [f"{database} is older than a list of sources, which may name files that it lacks: configure `{preset}` again"]
    wanted = {str(REPO / path) for path in files if path.endswith(".cpp")}
    entries, missing = tidy_entries(json.loads(database.read_text(encoding="utf-8")), wanted - not_built())
    entries.sort(key=lambda entry: -sum(file.stat().st_size for file in included(pathlib.Path(entry["file"]))))
    return entries, [f"{path}: no target of the preset `{preset}` compiles it" for path in sorted(missing)]


def take(entry, memory):
    """What the compiler of an entry says against its source, which is read and checked but not translated."""
    words = [word for word in shlex.split(entry["command"]) if word != "ccache" and not word.endswith("/ccache")]
    del words[words.index("-o"):words.index("-o") + 2]
    words[words.index("-c")] = "-fsyntax-only"
    key = memory / key_of(closure(pathlib.Path(entry["file"])), "compiler", version_of(words[0]), " ".join(words))
    if key.exists():
        return []
    done = subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        key.touch()
        return []
    errors = [line.replace(f"{REPO}/", "") for line in done.stderr.splitlines() if "error:" in line]
    return errors[:20] or done.stderr.splitlines()[:20]


def check_compiler(_):
    """The compiler that builds what users run takes every source; the tests are compiled by clang."""
    entries, found = sources_of(REPO / "build" / "quick", [path for path in sources("src") if is_of_program(path)])
    memory = cache.root() / "tidy"
    memory.mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(workers()) as pool:
        for lines in pool.map(lambda entry: take(entry, memory), entries if not found else []):
            found += [line for line in lines if line not in found]
    return found


def is_of_program(path):
    """Whether the preset `quick` builds a source: it has neither tests nor the Python module."""
    return not path.endswith("_test.cpp") and "/python/" not in path


def check_tidy(options):
    """clang-tidy, with the checks of .clang-tidy."""
    entries, found = sources_of(options.build, [path for path in sources("src") if options.full or not path.endswith("_test.cpp")])
    if found:
        return found
    memory = cache.root() / "tidy"
    memory.mkdir(exist_ok=True)
    found, done = [], 0
    with concurrent.futures.ThreadPoolExecutor(workers()) as pool:
        for lines in pool.map(lambda entry: tidy_one(entry, options, memory), entries):
            found += [line for line in lines if line not in found]
            done += 1
            if done % 20 == 0:
                cache.say(f"clang-tidy: {done} of {len(entries)}")
    return found


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=REPO / "build" / "tidy")
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", action="append", choices=CHECKS)
    options = parser.parse_args()
    failed = 0
    for name in ("format",) if options.fix else options.only or CHECKS:
        started = time.monotonic()
        found = globals()[f"check_{name}"](options)
        for line in found:
            print(line)
        failed += bool(found)
        print(f"lint {name}: {'FAILED' if found else 'ok'} ({time.monotonic() - started:.1f} s)", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
