"""What openai-harmony reads of turns that were cut off and then closed by rondo; records tests/golden/cut_turns/harmony.jsonl.

Usage: TIKTOKEN_ENCODINGS_BASE=FOLDER python3 -m tools.recorders.harmony_cuts --program build/release/rondo --model MODEL [--check]

MODEL is a folder with a template of the format and its tokenizer, FOLDER has o200k_base.tiktoken, and openai-harmony 0.0.8 is
installed.  Each turn is cut behind each of its tokens, `rondo batch` bridges it to a message, and harmony's own parser reads
the result.  A cut that it refuses, or reads as something else, is printed and fails the run.  --check compares with the record
and writes nothing.

A line is a turn ({"turn": its text}), or a cut of the last one: `size` in bytes, the role that `follows`, `lead`, what stands
between the cut and that message, and `reads`, the (channel, recipient, text) of each of harmony's messages before it.
"""
import argparse
import json
import subprocess
import sys

import openai_harmony

from tools import REPO

RECORD = REPO / "tests" / "golden" / "cut_turns" / "harmony.jsonl"
TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "d", "parameters": {
    "type": "object", "properties": {"location": {"type": "string", "description": "d"}}}}}]
ASKED = [{"role": "user", "content": "Weather in Oslo?"}]
FOLLOWING = [{"role": "user", "content": "12"}, {"role": "tool", "content": "12"}]
NEXT = "<|start|>assistant"
THOUGHT = "<|channel|>analysis<|message|>I should look.<|end|>" + NEXT
ARGUMENTS = '<|message|>{"location": "Oslo"}<|call|>'
TURNS = [
    THOUGHT + "<|channel|>final<|message|>It is 12C.<|return|>",
    THOUGHT + "<|channel|>commentary<|message|>Let me check.<|end|>" + NEXT +
    "<|channel|>commentary to=functions.get_weather <|constrain|>json" + ARGUMENTS,
    THOUGHT + " to=functions.get_weather<|channel|>commentary json" + ARGUMENTS,
    THOUGHT + "<|channel|>commentary to=functions.get_weather json" + ARGUMENTS,
]


class Rondo:
    def __init__(self, program, model):
        self.process = subprocess.Popen([program, "batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.shared = {"template_file": model, "tokenizer": model, "tools": TOOLS, "mode": "lenient",
                       "now": "2026-03-14T15:09:26"}

    def ask(self, **request):
        self.process.stdin.write(json.dumps({**self.shared, **request}).encode() + b"\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        if "error" in reply:
            raise SystemExit(f"rondo: {reply['error']['message']}")
        return reply


def read(encoding, ids):
    """Harmony's messages, or its complaint."""
    try:
        messages = encoding.parse_messages_from_completion_tokens(ids, openai_harmony.Role.ASSISTANT)
    except openai_harmony.HarmonyError as error:
        return str(error)
    return [(str(message.author.role.value), message.channel, message.recipient,
             "".join(part.text for part in message.content)) for message in messages]


def is_json(text):
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def objection(messages, whole, follows):
    """Why these are not the messages of the whole turn as far as they go, closed, and the one that follows."""
    if isinstance(messages, str):
        return messages
    *said, last = messages
    if last[0] != follows:
        return f"the last message is of {last[0]}"
    for place, (role, channel, recipient, text) in enumerate(said):
        meant = whole[place] if place < len(whole) else None
        if role != "assistant" or channel not in ("analysis", "commentary", "final"):
            return f"message {place} is of {role} in {channel}"
        if recipient is not None and not is_json(text):
            return f"the arguments of message {place} are {text}"
        if recipient is None and text and (meant is None or not meant[3].startswith(text)):
            return f"message {place} says {text}"
    return None


def cuts_of(rondo, encoding, prompt, turn):
    """The record of one turn, and the complaints."""
    ids = encoding.encode(turn, allowed_special="all")
    generation_prompt = encoding.encode(NEXT, allowed_special="all")
    whole = read(encoding, ids)
    rows, complaints = [{"turn": turn}], []

    def bridge(size, message):
        reply = rondo.ask(op="bridge", prompt_ids=prompt, completion_ids=ids[:size], messages=ASKED,
                          new_messages=[message], lossy=True)
        return reply["ids"][len(prompt):]

    # The message alone, in the words of the template: it names the tool whose result it is, which is not told of every cut.
    for message in FOLLOWING:
        for size in range(len(ids) + 1):
            out = bridge(size, message)
            begin = size
            while out[begin:begin + 1] != encoding.encode("<|start|>", allowed_special="all") or \
                    encoding.decode(out[begin + 1:begin + 2]) not in ("user", "functions"):
                begin += 1
            messages = read(encoding, out[:-len(generation_prompt)])
            if complaint := objection(messages, whole, message["role"]):
                complaints.append(f"{encoding.decode(ids[:size])!r} + {encoding.decode(out[size:])!r}: {complaint}")
                continue
            rows.append({"size": len(encoding.decode(ids[:size]).encode()), "follows": message["role"],
                         "lead": encoding.decode(out[size:begin]),
                         "reads": [message[1:] for message in messages[:-1]]})
    return rows, complaints


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--model", required=True)
    arguments.add_argument("--check", action="store_true")
    given = arguments.parse_args()
    encoding = openai_harmony.load_harmony_encoding(openai_harmony.HarmonyEncodingName.HARMONY_GPT_OSS)
    rondo = Rondo(given.program, given.model)
    prompt = rondo.ask(op="encode", messages=ASKED, add_generation_prompt=True)["ids"]
    rows, complaints = [], []
    for turn in TURNS:
        more, wrong = cuts_of(rondo, encoding, prompt, turn)
        rows += more
        complaints += wrong
    for complaint in complaints:
        print(complaint)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if given.check and RECORD.read_text(encoding="utf-8") != text:
        complaints.append("")
        print("the record says something else")
    if not given.check:
        RECORD.parent.mkdir(exist_ok=True)
        RECORD.write_text(text, encoding="utf-8")
    print(f"{len(rows) - len(TURNS)} cuts, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
