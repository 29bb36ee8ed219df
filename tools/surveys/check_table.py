"""What `rondo check` says about the templates of the corpus, as docs/checked-templates.md and a page for each level beside it.

Usage: python3 -m tools.surveys.check_table --program build/release/rondo --models FOLDER --date 2026-11-22 [--jobs N] [--keep FILE] [--out FILE]

FOLDER has a folder for each row of the manifest that has a tokenizer (./dev setup unpacks it); of the other rows the template
alone is checked.  The time is fixed, so that the same program writes the same table.  --keep also writes the reports, a line of JSON
for each row; where that file is there already, they are read from it in place of checking.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import subprocess
import sys

from tools import REPO
from tools.surveys import one_request

NOW = "2026-03-14T15:09:26"
TIMEOUT_S = 120
LEVELS = ("error", "warning", "note")
PAGES = {"errors": "have errors", "warnings": "have warnings at worst", "clean": "have no finding, or notes alone"}
CHECKS = (("string_prefix", "text"), ("token_prefix", "ids"), ("bridge", "bridge"), ("parse_of_render", "parse"),
          ("render_of_parse", "write back"))


def request_of(row, options):
    request = {"op": "check", "mode": "lenient", "model": row["id"], "now": NOW}
    folder = options.models / row["id"]
    if folder.is_dir():
        return {**request, "template_file": str(folder), "tokenizer": str(folder)}
    tokens = {name: row[name] for name in ("bos_token", "eos_token") if row.get(name) is not None}
    return {**request, "template_file": str(options.manifest.parent / row["template"]), **tokens}


def check_all(options, rows):
    """{row: (reply, seconds)}"""
    if options.keep and options.keep.is_file():
        lines = options.keep.read_text(encoding="utf-8").splitlines()
        return {entry["row"]: (entry["reply"], entry["seconds"]) for entry in map(json.loads, lines)}
    requests = [request_of(row, options) for row in rows]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        answers = pool.map(lambda request: one_request.ask(options.program, request, TIMEOUT_S), requests)
        found = {row["id"]: answer for row, answer in zip(rows, answers, strict=True)}
    if options.keep:
        lines = [json.dumps({"row": name, "reply": reply, "seconds": seconds}) for name, (reply, seconds) in found.items()]
        options.keep.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return found


def cell(text, limit=110):
    text = " ".join(text.split())
    text = text if len(text) <= limit else text[:limit - 1] + "…"
    for mark in "\\|<>*_[]`":
        text = text.replace(mark, "\\" + mark)
    return text


def code(text):
    return f"`` {' '.join(text.split())} ``".replace("|", "\\|") if text else ""


def asked(cases, field):
    """"31/36": how many of the cases that were asked hold; what breaks under any template is left out."""
    verdicts = [case[field] for case in cases if not (case["inherent"] and case[field] == "breaks")]
    holds, breaks = verdicts.count("holds"), verdicts.count("breaks")
    return f"{holds}/{holds + breaks}" if holds + breaks else "–"


def excerpt(reply, place):
    """The line of the template; of a long one what stands at the place."""
    text, limit = place.get("source", ""), 60
    if len(text) > limit and place.get("column") and place["line"] <= len(reply["template_lines"]):
        line = reply["template_lines"][place["line"] - 1].encode()
        text = line[place["column"] - 1:].decode(errors="ignore")
    return code(text if len(text) <= limit else text[:limit - 1] + "…")


def worst(reply):
    """The first finding: level, rule, line, and what is lost."""
    if not reply["findings"]:
        return "none", ""
    finding = reply["findings"][0]
    place = finding.get("place")
    what = finding["rule"]
    what += f", line {place['line']}: {excerpt(reply, place)}" if place else f": {cell(finding['sentence'])}"
    if finding["lost_tokens"]:
        what += f", −{finding['lost_tokens']} tokens"
    return finding["level"], what


def row_of(name, title, reply):
    if "error" in reply:
        return f"| {cell(title)} | `{name}` | | | | | | could not be checked | {cell(reply['error']['message'])} |"
    level, what = worst(reply)
    numbers = " | ".join(asked(reply["cases"], field) for field, _ in CHECKS)
    return f"| {cell(title)} | `{name}` | {numbers} | {level} | {what} |"


def summary(found, rows):
    """How many models each level and each rule has."""
    replies = [reply for reply, _ in found.values()]
    checked = [reply for reply in replies if "error" not in reply]
    levels = collections.Counter(worst(reply)[0] for reply in checked)
    rules = collections.Counter((finding["level"], finding["rule"]) for reply in checked
                                for finding in {f["rule"]: f for f in reply["findings"][::-1]}.values())
    played = [case for reply in checked for case in reply["cases"]]

    def share(field):
        verdicts = [case[field] for case in played if not case["inherent"]]
        return f"{verdicts.count('breaks'):,} of {verdicts.count('breaks') + verdicts.count('holds'):,} cases"

    different = len({row["template_sha256"] for row in rows if row["id"] in found})
    lines = [f"Of {len(replies)} models ({different} different templates), {len(checked)} could be checked. {levels['none']} have no finding, "
             f"{levels['warning']} have warnings at worst, {levels['error']} have errors.",
             "",
             f"In {share('string_prefix')} the re-rendered prompt does not begin with the text that the model has seen, and in "
             f"{share('token_prefix')} with a tokenizer it does not begin with the model's ids. Cases that break under any template are "
             f"not counted. A bridged prompt begins with these ids in every case. In {share('bridge')} it ends differently than the "
             f"template's own prompt, or cannot be made.",
             "",
             "| rule | level | templates |", "| --- | --- | --- |"]
    for (level, rule), count in sorted(rules.items(), key=lambda entry: (LEVELS.index(entry[0][0]), -entry[1], entry[0][1])):
        lines.append(f"| [{rule}](check.md#the-rules) | {level} | {count} |")
    return lines


def page_of(reply):
    """Which of PAGES a template stands on; one that could not be checked is an error."""
    level = "error" if "error" in reply else worst(reply)[0]
    return {"error": "errors", "warning": "warnings"}.get(level, "clean")


def page_path(summary_path, page):
    return summary_path.with_name(f"{summary_path.stem}-{page}{summary_path.suffix}")


def level_page(page, rows, summary_name):
    lines = [f"# Checked templates: {page}", "",
             f"The {len(rows)} templates that {PAGES[page]}; [all of them]({summary_name}).", "",
             "Each number says in how many of the cases, over all settings, the statement holds. Cases that break under any template count "
             "only if they hold. The finding is the worst one; `rondo check` lists all of them, with what helps.", "",
             "| model | row | " + " | ".join(name for _, name in CHECKS) + " | worst | finding |",
             "| --- | --- | " + "--- | " * len(CHECKS) + "--- | --- |", *rows]
    return "\n".join(lines) + "\n"


def document(options, found, rows):
    version = subprocess.run([options.program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    seconds = sorted(seconds for _, seconds in found.values())
    lines = ["# Checked templates", "",
             f"What [`rondo check`](check.md) says about the chat templates of the corpus beside the checkout: rondo {version}, "
             f"{options.date}. No word about these models is in the code. The templates are those of the corpus, which "
             "may have been changed by their makers since. Some tokenizers are substitutes with the same markers. Models without a tokenizer "
             "were checked by their text only. This command makes these pages:", "",
             f"    python3 -m tools.surveys.check_table --program build/release/rondo --models FOLDER --date {options.date}", "",
             f"One check takes {seconds[len(seconds) // 2]:.1f} s in the median and {seconds[-1]:.1f} s at most, including the start of the "
             f"program and the loading of the tokenizer ({options.jobs} at a time).", "",
             *summary(found, rows), "",
             "Each template has a row on one of these pages:", ""]
    lines += [f"* [{page}]({page_path(options.out, page).name}): those that {what}" for page, what in PAGES.items()]
    return "\n".join(lines) + "\n"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", required=True)
    options.add_argument("--models", required=True, type=pathlib.Path)
    options.add_argument("--manifest", type=pathlib.Path, default=REPO.parent / "shared" / "corpus" / "manifest.json")
    options.add_argument("--date", required=True)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--keep", type=pathlib.Path)
    options.add_argument("--out", type=pathlib.Path, default=REPO / "docs" / "checked-templates.md")
    options = options.parse_args()
    rows = json.loads(options.manifest.read_text(encoding="utf-8"))["rows"]
    if not any((options.models / row["id"]).is_dir() for row in rows):
        sys.exit(f"check_table: {options.models} has no folder of the manifest's rows")
    titles = {row["id"]: row["display"] for row in rows}
    found = check_all(options, rows)
    options.out.write_text(document(options, found, rows), encoding="utf-8")
    for page in PAGES:
        rows = [row_of(name, titles[name], reply) for name, (reply, _) in found.items() if page_of(reply) == page]
        page_path(options.out, page).write_text(level_page(page, rows, options.out.name), encoding="utf-8")
    print(f"check_table: {options.out}: {len(found)} templates")
    return 0


if __name__ == "__main__":
    sys.exit(main())
