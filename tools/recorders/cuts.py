"""Turns that were cut off and then closed by rondo, as records for tests/bridge/cut_turns_test.cpp: what the recorders share.

A line of a record is a turn ({"turn": its text}), or a cut of the last one: `size` in bytes, the role that `follows`, `lead`,
what stands between the cut and that message, and `reads`, what the reference parser reads up to that message.
"""
import argparse
import json
import subprocess

from tools import REPO

RECORDS = REPO / "tests" / "golden" / "cut_turns"
ASKED = [{"role": "user", "content": "Weather in Oslo?"}]
FOLLOWING = [{"role": "user", "content": "12"}, {"role": "tool", "content": "12"}]


class Rondo:
    """`rondo batch` for one model.  Requests about prompts share the fields `shared`."""

    def __init__(self, program, model, **shared):
        self.process = subprocess.Popen([program, "batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.model = model
        self.shared = {"template_file": model, **shared, "mode": "lenient", "now": "2026-03-14T15:09:26"}

    def ask(self, **request):
        return self._reply({**self.shared, **request})

    def ids(self, text):
        return self._reply({"op": "tokenize", "text": text, "parse_special": True, "add_special": False})["ids"]

    def text(self, ids):
        return self._reply({"op": "detokenize", "ids": ids})["text"] if ids else ""

    def _reply(self, request):
        self.process.stdin.write(json.dumps({"tokenizer": self.model, **request}).encode() + b"\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        if "error" in reply:
            raise SystemExit(f"rondo: {reply['error']['message']}")
        return reply

    def bridge(self, prompt, completion, message):
        """The reply to a bridge from the completion to the message."""
        return self.ask(op="bridge", prompt_ids=prompt, completion_ids=completion, messages=ASKED, new_messages=[message],
                        lossy=True)


def weather_tools(**properties):
    """The list of the tool that the turns call."""
    return [{"type": "function", "function": {"name": "get_weather", "description": "d", "parameters": {
        "type": "object", "properties": {name: {"type": kind, "description": "d"} for name, kind in properties.items()}}}}]


def arguments_of(text):
    """The program's arguments.  `text` says what it does."""
    arguments = argparse.ArgumentParser(description=text.splitlines()[0])
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--model", required=True)
    arguments.add_argument("--check", action="store_true")
    return arguments


def keep(name, rows, complaints, check):
    """Writes the record, or compares with it; prints the complaints.  Returns the exit status."""
    record = RECORDS / f"{name}.jsonl"
    for complaint in complaints:
        print(complaint)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    is_other = check and record.read_text(encoding="utf-8") != text
    if is_other:
        print("the record says something else")
    if not check:
        record.parent.mkdir(exist_ok=True)
        record.write_text(text, encoding="utf-8")
    print(f"{sum('size' in row for row in rows)} cuts, {len(complaints)} complaints")
    return 1 if complaints or is_other else 0
