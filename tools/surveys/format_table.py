"""The formats of the corpus beside the checkout as a table for docs/formats.md.

Usage: python3 -m tools.surveys.format_table --program build/release/rondo --models FOLDER [--manifest FILE] [--covers TEXT]

FOLDER has a folder for each row of the manifest (./dev setup unpacks it); a row is shown if one of the things that it covers
begins with TEXT, all rows without.
"""
import argparse
import json
import pathlib
import subprocess
import sys

from tools import REPO


def shown(text, limit=48):
    """A marker in a table cell."""
    text = json.dumps(text, ensure_ascii=False)[1:-1]
    text = text if len(text) <= limit else text[: limit // 2] + "…" + text[-limit // 2:]
    return "`` " + text.replace("|", "\\|") + " ``" if text else ""


def reasoning(format_):
    block = format_["reasoning"] if "reasoning" in format_ else {}
    if not block.get("present"):
        return "–"
    opened = [prompt["name"] for prompt in format_.get("generation_prompts", []) if block.get("open", "").strip()
              and prompt.get("text", "").rstrip().endswith(block["open"].strip())]
    where = " in content" if block.get("in_content") else ""
    prompt = f", opened by the prompt ({', '.join(opened)})" if opened else "" if block.get("open") else ", starts by itself"
    return f"{shown(block.get('open', ''))} … {shown(block['close'])}{where}{prompt}"


def call(format_):
    calls = format_.get("calls") or {}
    if not calls.get("present"):
        return "–"
    envelope = calls.get("envelope", "tags")
    opening = shown(calls.get("section_open", "") + calls.get("call_open", ""))
    if envelope != "tags":
        roles = calls.get("roles", {})
        name = "the key" if roles.get("name_is_key") else ".".join(roles.get("name", []))
        kind = {"json_object": "JSON objects", "json_array": "a JSON array"}[envelope]
        return f"{opening} {kind}: name {name}, arguments {'.'.join(roles.get('arguments', [])) or 'its value'}"
    pieces = [shown(piece["text"]) if piece["kind"] == "literal" else piece["kind"].upper()
              for piece in calls.get("pieces", [])]
    text = f"{opening} {' '.join(pieces)}"
    if calls.get("arguments") == "parameters":
        parameters = calls["parameters"]
        closing = parameters.get("key_in_close", "") and shown(parameters["key_in_close"]) + " KEY "
        text += (f"; each {shown(parameters.get('open', ''))} KEY {shown(parameters['key_close'])} VALUE "
                 f"{closing}{shown(parameters.get('close', ''))}")
    return text


def read_back(probes):
    answered = [probe["read_back"] for probe in probes if "read_back" in probe]
    return f"{sum(answered)} of {len(answered)}"


def row_of(titles, name, reply):
    if "error" in reply:
        return f"| {titles} | {reply['error']['message']} | | | |"
    format_ = reply["format"]
    losses = "; ".join(f"{loss['what']} (line {loss['line']})" if loss.get("line") else loss["what"]
                       for loss in format_.get("losses", []))
    return f"| {titles} | {reasoning(format_)} | {call(format_)} | {read_back(reply['probes'])} | {losses or '–'} | `{name}` |"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", required=True)
    options.add_argument("--models", required=True, type=pathlib.Path)
    options.add_argument("--manifest", type=pathlib.Path, default=REPO.parent / "shared" / "corpus" / "manifest.json")
    options.add_argument("--covers", default="")
    options = options.parse_args()
    wanted = []
    for row in json.loads(options.manifest.read_text(encoding="utf-8"))["rows"]:
        covered = [text for text in row.get("covers") or [] if text.startswith(options.covers)]
        if (covered or not options.covers) and (options.models / row["id"]).is_dir():
            titles = ", ".join(text.split(": ", 1)[-1].removeprefix(options.covers).strip() for text in covered)
            wanted.append((titles or row["display"], row["id"]))
    requests = "".join(json.dumps({"op": "explain", "mode": "lenient", "template_file": str(options.models / name),
                                   "tokenizer": str(options.models / name)}) + "\n" for _, name in wanted)
    done = subprocess.run([options.program, "batch"], input=requests, capture_output=True, text=True, check=True)
    print("| model | reasoning | calls | probes read back | what history loses | folder |\n| --- | --- | --- | --- | --- | --- |")
    for (titles, name), line in zip(wanted, done.stdout.splitlines(), strict=True):
        print(row_of(titles, name, json.loads(line)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
