"""What the code of models without templates reads of turns that were cut off and then closed by rondo; records tests/golden/cut_turns/ENCODER.jsonl.

Usage: python3 -m tools.recorders.dsv_cuts --program build/release/rondo --model MODEL --encoder dsv4|dsv32 [--check]

MODEL is a folder with a template of the same format and its tokenizer.  The code comes from a pinned package
(tools/oracles/encoders.py).  Each turn is cut behind each of its tokens, `rondo batch` bridges it to a message, and the code's own
parser reads the turn as it stands before that message.  A cut that it refuses, or reads as something else, is printed and
fails the run.  --check compares with the record and writes nothing.  The record's form is in tools/recorders/cuts.py; `reads`
is [reasoning, content, [[name, arguments], ...]].
"""
import json
import sys

from tools.oracles import encoders
from tools.recorders import cuts

SECTIONS = {"dsv4": "tool_calls", "dsv32": "function_calls"}
VARIABLES = {"thinking": True}
THOUGHT = "I should look.</think>"


def turns_of(code, section):
    tag = code.dsml_token

    def call(*parameters):
        written = "".join(f'<{tag}parameter name="{name}" string="{is_text}">{value}</{tag}parameter>\n'
                          for name, is_text, value in parameters)
        return f'<{tag}invoke name="get_weather">\n{written}</{tag}invoke>\n'

    oslo = call(("location", "true", "Oslo"), ("days", "false", "2"), ("place", "false", '{"a": [1, "x"]}'))
    calls = f"\n\n<{tag}{section}>\n{oslo}{call(('location', 'true', 'Rome'))}</{tag}{section}>"
    return [THOUGHT + said + code.eos_token for said in ("It is 12C.", calls, "Let me check." + calls)]


def read(code, text):
    """The message as the code reads it, or its complaint."""
    try:
        message = code.parse_message_from_completion_text(text, "thinking")
    except Exception as error:  # whatever the code raises
        return f"{type(error).__name__}: {error}"
    calls = [[call["function"]["name"], call["function"]["arguments"]] for call in message["tool_calls"]]
    return [message["reasoning_content"], message["content"], calls]


def objection(said, whole, cut):
    """Why this is not the message of the whole turn as far as `cut` goes, closed.  An opener that has only begun is content as
    long as another text may begin so."""
    if isinstance(said, str):
        return said
    reasoning, content, calls = said
    if not whole[0].startswith(reasoning):
        return f"the reasoning is {reasoning!r}"
    if not whole[1].startswith(content) and cut.removeprefix(THOUGHT) != content:
        return f"the content is {content!r}"
    for place, (name, arguments) in enumerate(calls):
        if place == len(whole[2]) or not whole[2][place][0].startswith(name):
            return f"call {place} is one of {name!r}"
        if not isinstance(json.loads(arguments), dict):
            return f"the arguments of call {place} are {arguments}"
    return None


def cuts_of(rondo, code, prompt, turn):
    """The record of one turn, and the complaints."""
    ids = rondo.ids(turn)
    whole = read(code, turn)
    rows, complaints = [{"turn": turn}], []

    for message in cuts.FOLLOWING:
        for size in range(len(ids) + 1):
            reply = rondo.bridge(prompt, ids[:size], message)
            begin = len(prompt) + size
            end = next(at for at in range(begin, len(reply["ids"])) if reply["message_indices"][at] >= 0)
            cut, lead = rondo.text(ids[:size]), rondo.text(reply["ids"][begin:end])
            said = read(code, cut + lead)
            if complaint := objection(said, whole, cut):
                complaints.append(f"{cut!r} + {lead!r}: {complaint}")
                continue
            rows.append({"size": len(cut.encode()), "follows": message["role"], "lead": lead, "reads": said})
    return rows, complaints


def main():
    arguments = cuts.arguments_of(__doc__)
    arguments.add_argument("--encoder", required=True, choices=SECTIONS)
    given = arguments.parse_args()
    code = encoders.code_of(given.encoder)
    rondo = cuts.Rondo(given.program, given.model, kwargs=VARIABLES,
                       tools=cuts.weather_tools(location="string", days="integer", place="object"))
    prompt = rondo.ask(op="encode", messages=cuts.ASKED, add_generation_prompt=True)["ids"]
    rows, complaints = [], []
    for turn in turns_of(code, SECTIONS[given.encoder]):
        more, wrong = cuts_of(rondo, code, prompt, turn)
        rows += more
        complaints += wrong
    return cuts.keep(given.encoder, rows, complaints, given.check)


if __name__ == "__main__":
    sys.exit(main())
