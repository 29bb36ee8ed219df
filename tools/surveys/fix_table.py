"""How many templates `rondo check --fix` makes append-only.

Usage: python3 -m tools.surveys.fix_table --program build/release/rondo [--jobs N] [--keep FILE] [--word WORD...] [--all]

Mends the template of each row of the corpus' manifest by itself, without a tokenizer; rows with one template count once.  Prints a
line for each template that still breaks (with --all for each), and the sums.  --keep writes the replies, a line of JSON for each
template.  With words only the rows whose names hold one of them.
"""
import argparse
import concurrent.futures
import json
import pathlib
import sys

from tools import REPO
from tools.surveys import one_request

NOW = "2026-03-14T15:09:26"
TIMEOUT_S = 180


def request_of(row, folder):
    tokens = {"bos_token": row.get("bos_token") or "<s>", "eos_token": row.get("eos_token") or "</s>"}
    return {"op": "fix", "mode": "lenient", "model": row["id"], "now": NOW, "template_file": str(folder / row["template"]), **tokens}


def state_of(reply):
    if "error" in reply:
        return "error"
    if reply["was_append_only"]:
        return "clean"
    return "mended" if reply["is_append_only"] else "breaks"


def line_of(name, reply, seconds):
    state = state_of(reply)
    if state == "error":
        return f"{name}: {reply['error']['message']}"
    left = ", ".join(f"{case['scenario']} / {case['setting']}" for case in reply["broken"][:4])
    return f"{name}: {state}, {len(reply['edits'])} edits, {len(reply['broken'])} cases break, {seconds:.1f} s: {left}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--manifest", type=pathlib.Path, default=REPO.parent / "shared/corpus/manifest.json")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--word", nargs="*", default=[])
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    if not options.manifest.is_file():
        sys.exit(f"no corpus at {options.manifest}")
    rows = {}
    for row in json.loads(options.manifest.read_text(encoding="utf-8"))["rows"]:
        if not options.word or any(word in row["id"] for word in options.word):
            rows.setdefault(row["template_sha256"], row)
    if not rows:
        sys.exit(f"no row of {options.manifest} has {' or '.join(options.word)} in its name")
    requests = [request_of(row, options.manifest.parent) for row in rows.values()]
    kept = options.keep.open("w", encoding="utf-8") if options.keep else None
    counts, times = {}, []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        answers = pool.map(lambda request: one_request.ask(options.program, request, TIMEOUT_S), requests)
        for request, (reply, seconds) in zip(requests, answers, strict=True):
            state = state_of(reply)
            counts[state] = counts.get(state, 0) + 1
            times.append(seconds)
            if kept:
                kept.write(json.dumps({"row": request["model"], "reply": reply, "seconds": seconds}) + "\n")
                kept.flush()
            if options.all or state in ("breaks", "error"):
                print(line_of(request["model"], reply, seconds), flush=True)
    breaking = counts.get("mended", 0) + counts.get("breaks", 0)
    times.sort()
    print(f"{len(requests)} templates: {counts.get('clean', 0)} append-only as they are, {counts.get('error', 0)} not mended for an error; "
          f"of {breaking} others {counts.get('mended', 0)} become so ({100 * counts.get('mended', 0) / max(breaking, 1):.1f} %). "
          f"One takes {times[len(times) // 2]:.1f} s in the median, {times[-1]:.1f} s at most.")


if __name__ == "__main__":
    main()
