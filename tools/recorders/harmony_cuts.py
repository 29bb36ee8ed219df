"""What openai-harmony reads of turns that were cut off and then closed by rondo; records tests/golden/cut_turns/harmony.jsonl.

Usage: TIKTOKEN_ENCODINGS_BASE=FOLDER python3 -m tools.recorders.harmony_cuts --program build/release/rondo --model MODEL [--check]

MODEL is a folder with a template of the format and its tokenizer, FOLDER has o200k_base.tiktoken, and openai-harmony 0.0.8 is
installed.  Each turn is cut behind each of its tokens, `rondo batch` bridges it to a message, and harmony's own parser reads
the result.  A cut that it refuses, or reads as something else, is printed and fails the run.  --check compares with the record
and writes nothing.  The record's form is in tools/recorders/cuts.py; `reads` is the (channel, recipient, text) of each of
harmony's messages.
"""
import json
import sys

import openai_harmony

from tools.recorders import cuts

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

    # The message alone, in the words of the template: it names the tool whose result it is, which is not told of every cut.
    for message in cuts.FOLLOWING:
        for size in range(len(ids) + 1):
            out = rondo.bridge(prompt, ids[:size], message)["ids"][len(prompt):]
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
    given = cuts.arguments_of(__doc__).parse_args()
    encoding = openai_harmony.load_harmony_encoding(openai_harmony.HarmonyEncodingName.HARMONY_GPT_OSS)
    rondo = cuts.Rondo(given.program, given.model, tools=cuts.weather_tools(location="string"))
    prompt = rondo.ask(op="encode", messages=cuts.ASKED, add_generation_prompt=True)["ids"]
    rows, complaints = [], []
    for turn in TURNS:
        more, wrong = cuts_of(rondo, encoding, prompt, turn)
        rows += more
        complaints += wrong
    return cuts.keep("harmony", rows, complaints, given.check)


if __name__ == "__main__":
    sys.exit(main())
