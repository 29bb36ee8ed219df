"""Random templates in jinja2 and in rondo: every case must give the same text, or fail on both sides.

Usage: python3 -m tools.oracles.jinja_fuzz --program build/release/rondo [--cases N] [--seed N] [--jobs N]
           [--report FILE] [--minimise N] [--progress SECONDS]

Without --cases: 4,000, and 200,000 with RONDO_TEST_FULL=1.

A case is a template with a context.  A template without variables is one case, others are rendered with several contexts.
What is meant to differ stands in explained.json with its reason.  The exit status is 1 if anything else differs.
"""
import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import random
import re
import sys
import time

from tools import REPO
from tools.oracles import jinja_reference

from . import sides, values
from .minimise import Minimiser
from .templates import Templates

TEMPLATES_PER_BLOCK = 150
CONTEXTS_PER_BLOCK = 64
CONTEXTS_PER_TEMPLATE = 20
MOST_KEPT = 2000
REAL = REPO.parent / "shared" / "corpus" / "templates"
LONGEST_REAL = 3000
NAMES = re.compile(r"\b(" + "|".join(name for group in values.VARIABLES.values() for name in group) + r")\b")
# Patterns for the template and both answers, the kinds of answers that a rule is for, and the reason.
EXPLAINED = [(*(re.compile(rule[part], re.DOTALL) for part in ("template", "reference", "rondo")), rule.get("kinds"), rule["reason"]) for rule in
             json.loads((pathlib.Path(__file__).parent / "explained.json").read_text(encoding="utf-8"))]


def real_templates():
    out = []
    for path in sorted(REAL.glob("*.jinja")):
        source = path.read_text(encoding="utf-8", errors="replace")
        if len(source) <= LONGEST_REAL:
            out.append(source)
    return out


def make_block(seed, number, real):
    """Templates with their contexts: [(template, [context, ...]), ...]."""
    rng = random.Random(f"{seed}/{number}")
    contexts = [values.random_context(rng) for _ in range(CONTEXTS_PER_BLOCK)]
    talks = [values.conversation(rng) for _ in range(CONTEXTS_PER_TEMPLATE)]
    out = []
    for _ in range(TEMPLATES_PER_BLOCK):
        kind = rng.random()
        if real and kind < 0.01:
            maker = Templates(rng)
            source = rng.choice(real)
            out.append((maker.damaged(source) if rng.random() < 0.9 else source, talks))
            continue
        maker = Templates(rng)
        source = maker.template()
        if kind < 0.12:
            source = maker.damaged(source)
        uses = set(NAMES.findall(source))
        count = 1 if not uses else CONTEXTS_PER_TEMPLATE
        out.append((source, rng.sample(contexts, count)))
    return out


def explanation(template, want, got):
    for in_template, in_reference, in_rondo, kinds, reason in EXPLAINED:
        if kinds is not None and kinds != [want[0], got[0]]:
            continue
        if in_template.search(template) and in_reference.search(want[1]) and in_rondo.search(got[1]):
            return reason
    return None


class Worker:
    def __init__(self, program, seed, limit):
        self.program, self.seed, self.limit = program, seed, limit
        self.reference = sides.Reference()
        self.real = real_templates()

    def block(self, number):
        templates = make_block(self.seed, number, self.real)
        dumped = {}
        lines = []
        for source, contexts in templates:
            text = json.dumps(source, ensure_ascii=False)
            for context in contexts:
                if id(context) not in dumped:
                    dumped[id(context)] = json.dumps(context, ensure_ascii=False)
                lines.append(sides.request(text, dumped[id(context)]))
        subject = sides.Subject(self.program)
        process = subject.start(lines)
        wanted = []
        for source, contexts in templates:
            wanted += self.reference.answers(source, contexts)
        got = subject.finish(process, len(lines))
        counts, differences = collections.Counter(), []
        at = 0
        for source, contexts in templates:
            for context in contexts:
                self.judge(source, context, wanted[at], got[at], counts, differences)
                at += 1
        return counts, differences[:self.limit]

    def judge(self, source, context, want, got, counts, differences):
        if want[0] == "slow":
            counts["slow"] += 1
            return
        counts["cases"] += 1
        counts[want[0]] += 1
        if sides.agree(want, got):
            if want[0] != "text":
                counts["messages"] += 1
                counts["same message"] += want[1] == got[1]
            return
        reason = explanation(source, want, got)
        if reason is not None:
            counts["explained: " + reason] += 1
            return
        counts["different"] += 1
        differences.append({"template": source, "context": context, "want": want, "got": got})


_worker = None


def _start(program, seed, limit):
    global _worker
    _worker = Worker(program, seed, limit)


def _block(number):
    try:
        return _worker.block(number)
    except MemoryError:  # a template that made the reference large: the block does not count
        return collections.Counter(lost=1), []


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--program", required=True)
    full = os.environ.get("RONDO_TEST_FULL") == "1"
    parser.add_argument("--cases", type=int, default=200_000 if full else 4_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--report", type=pathlib.Path)
    parser.add_argument("--minimise", type=int, default=20, help="how many differences to make small")
    parser.add_argument("--progress", type=float, default=0, help="seconds between lines of progress")
    return parser.parse_args()


def run(options):
    """Blocks in order, so that the same seed and number of cases are always the same cases, whatever `jobs` is."""
    counts, differences = collections.Counter(), []
    started = shown = time.monotonic()
    with multiprocessing.Pool(options.jobs, _start, (options.program, options.seed, 50)) as pool:
        number = 0
        waiting = collections.deque()
        while counts["cases"] < options.cases:
            while len(waiting) < options.jobs + 1:
                waiting.append(pool.apply_async(_block, (number,)))
                number += 1
            some_counts, some = waiting.popleft().get()
            counts.update(some_counts)
            differences += some[:max(0, MOST_KEPT - len(differences))]
            if options.progress and time.monotonic() - shown > options.progress:
                shown = time.monotonic()
                print(f"{counts['cases']} cases, {counts['different']} different, {counts['cases'] / (shown - started):.0f}/s", flush=True)
    counts["seconds"] = round(time.monotonic() - started)
    return counts, differences


def report(options, counts, differences):
    lines = [f"seed {options.seed}: {counts['cases']} cases in {counts['seconds']} s, {counts['different']} different",
             "  " + ", ".join(f"{kind} {counts[kind]}" for kind in ("text", "error", "raised", "syntax", "compile", "slow", "lost"))]
    if counts["messages"]:
        lines.append(f"  messages equal: {counts['same message']} of {counts['messages']}")
    lines += [f"  {name}: {count}" for name, count in sorted(counts.items()) if name.startswith("explained")]
    seen = set()
    minimiser = Minimiser(sides.Reference(), options.program) if differences else None
    small = []
    for item in differences:
        key = (item["template"],)
        if key in seen or len(small) >= options.minimise:
            continue
        seen.add(key)
        template, context, want, got = minimiser.minimise(item["template"], item["context"])
        if (template, want) in [(other["template"], other["want"]) for other in small]:
            continue
        small.append({"template": template, "context": context, "want": want, "got": got})
        lines.append(f"\n{template!r}\n  with {json.dumps(context, ensure_ascii=False)}\n  reference {want}\n  rondo     {got}")
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if options.report:
        options.report.write_text(text, encoding="utf-8")
        options.report.with_suffix(".jsonl").write_text("".join(json.dumps(item) + "\n" for item in differences), encoding="utf-8")


def main():
    options = parse()
    if jinja_reference.available() is None:
        print("skipped: the packages of the reference cannot be fetched")
        return
    counts, differences = run(options)
    report(options, counts, differences)
    sys.exit(1 if counts["different"] else 0)


main()
