"""What models make of a template's own writing, by rule, and whether the parser finds the message that was meant.

Usage: python3 -m tools.surveys.messy_turns --program build/release/rondo [--only WORD] [--rule WORD] [--verbose]

For each template with calls: turns of some messages as the template writes them, and each of them as a model might write it
instead (RULES).  What was meant is known, so the answer is.  Prints how many are equal by rule, and what is not.
"""
import argparse
import collections
import json
import re
import subprocess

from tools import REPO


def tool(name, required, **properties):
    return {"type": "function", "function": {"name": name, "description": f"Does {name}.", "parameters": {
        "type": "object", "properties": properties, "required": required}}}


S, I, N, B = ({"type": kind, "description": "d"} for kind in ("string", "integer", "number", "boolean"))
TOOLS = [
    tool("get_weather", ["city"], city=S, days=I, metric=B),
    tool("run_code", ["code"], code=S),
    tool("book", ["room"], room=S, price=N, guests={"type": "array", "items": S, "description": "d"},
         extra={"type": "object", "description": "d", "properties": {"note": S, "late": B, "floor": I}},
         kind={"type": "string", "enum": ["single", "double"], "description": "d"}),
    tool("now", []),
]
R = "I should look into it."
C = "Let me see what I can find."
WEATHER = ("get_weather", {"city": "Paris", "days": 3})
CODE = ("run_code", {"code": "def f(x):\n    if x < 3 and x > 1:\n        return \"a\\n\"\n    return 'b'"})
BOOK = ("book", {"room": "12", "price": 99.5, "guests": ["Ann", "Bob"], "extra": {"note": "a, b", "late": True, "floor": 2}})
NOW = ("now", {})


class Rondo:
    def __init__(self, program):
        self.process = subprocess.Popen([program, "batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


class Meant:
    """A message, and how its calls' arguments are compared."""

    def __init__(self, reasoning="", content="", calls=()):
        self.reasoning, self.content, self.calls = reasoning, content, list(calls)

    def message(self, field, as_text):
        out = {"role": "assistant", "content": self.content}
        if self.reasoning:
            out[field] = self.reasoning
        if self.calls:
            out["tool_calls"] = [{"id": f"abcdef00{i}", "type": "function", "function": {
                "name": name, "arguments": json.dumps(arguments) if as_text else arguments}}
                for i, (name, arguments) in enumerate(self.calls)]
        return out


def loaded(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def difference(meant, got):
    """'' if the reply says what was meant, white space aside in texts, but not in arguments."""
    if "error" in got:
        return f"error {got['error']}"
    if (got["reasoning_content"] or "").split() != meant.reasoning.split():
        return f"reasoning {got['reasoning_content']!r}"
    if got["content"].split() != meant.content.split():
        return f"content {got['content']!r}"
    calls = [(call["name"], loaded(call["arguments"])) for call in got["tool_calls"]]
    if calls != meant.calls:
        return f"calls {calls!r}"
    return ""


# ---- A template's own writing

class Template:
    def __init__(self, rondo, path, bos, eos, kwargs):
        self.rondo, self.path, self.kwargs = rondo, path, kwargs
        self.common = {"template_file": str(path), "tools": TOOLS, "mode": "lenient", "now": "2026-03-14T15:09:26",
                       "kwargs": kwargs}
        if bos:
            self.common["bos_token"] = bos
        if eos:
            self.common["eos_token"] = eos
        self.user = [{"role": "user", "content": "Hi."}]
        self.prompt = rondo.ask(op="render", messages=self.user, add_generation_prompt=True, **self.common).get("text")
        self.plain = rondo.ask(op="render", messages=self.user, **self.common).get("text", "")
        format = rondo.ask(op="explain", **{key: self.common[key] for key in self.common if key not in ("tools", "kwargs", "now")}).get("format", {})
        self.format = format
        self.stops = [stop for stop in format.get("stops", {}).get("tool", []) + format.get("stops", {}).get("content", []) if stop.strip()]
        self.stops = sorted(set(self.stops), key=self.stops.index)

    def write(self, meant):
        """What the template writes behind its prompt, without the stop; None if it can't or shows it otherwise."""
        if self.prompt is None:
            return None
        for field in ("reasoning_content", "thinking"):
            for as_text in (False, True):
                messages = self.user + [meant.message(field, as_text)]
                full = self.rondo.ask(op="render", messages=messages, **self.common).get("text")
                if full is None or not full.startswith(self.prompt):
                    continue
                text = full[len(self.prompt):]
                shown = [meant.reasoning, meant.content] + [name for name, _ in meant.calls]
                if not all(part in text for part in shown) or text.count("Ann") != str(meant.calls).count("Ann"):
                    continue
                return self.without_stop(text)
        return None

    def without_stop(self, text):
        text = text.rstrip()
        header = self.prompt[len(self.plain):].strip() if self.prompt.startswith(self.plain) else ""
        if header and text.endswith(header):
            text = text[:-len(header)].rstrip()
        for stop in sorted(self.stops, key=len, reverse=True):
            if text.endswith(stop.strip()):
                return text[:-len(stop.strip())]
        return text

    def parse(self, text, **more):
        return self.rondo.ask(op="parse", messages=self.user, text=text, **self.common, **more)


# ---- Rules: from a turn and what it means to other writings of it

def json_span(text, begin=0, wanted=None):
    """The first JSON object in `text` that satisfies `wanted`: (begin, end, value)."""
    decoder = json.JSONDecoder()
    for at in range(begin, len(text)):
        if text[at] != "{":
            continue
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            continue
        if wanted is None or wanted(value):
            return at, end, value
    return None


def outermost(text, arguments):
    """Each JSON object of the call: the arguments, or the envelope that holds them."""
    return json_span(text, 0, lambda value: value == arguments or arguments in value.values() or any(
        isinstance(inner, dict) and arguments in inner.values() for inner in value.values()))


def respelled(dump):
    def rule(text, meant):
        if len(meant.calls) != 1:
            return
        found = outermost(text, meant.calls[0][1])
        if found:
            yield text[:found[0]] + dump(found[2]) + text[found[1]:], meant
    return rule


def masked(text, meant):
    """`text` with what the message brought along replaced by private characters."""
    parts = [meant.reasoning, meant.content]
    for _, arguments in meant.calls:
        parts += [value for value in arguments.values() if isinstance(value, str)]
    kept = []
    for part in sorted(filter(None, parts), key=len, reverse=True):
        for spelled in (part, json.dumps(part)[1:-1], json.dumps(part, ensure_ascii=False)[1:-1]):
            while spelled in text:
                text = text.replace(spelled, chr(0xE000 + len(kept)), 1)
                kept.append(spelled)
    return text, kept


def unmasked(text, kept):
    for i in range(len(kept) - 1, -1, -1):
        text = text.replace(chr(0xE000 + i), kept[i])
    return text


def layout(pattern, replacement):
    def rule(text, meant):
        cover, kept = masked(text, meant)
        changed = re.sub(pattern, replacement, cover)
        if changed != cover:
            yield unmasked(changed, kept), meant
    return rule


RULES = {}


def rule(name):
    def add(function):
        RULES[name] = function
        return function
    return add


RULES["as it is"] = lambda text, meant: [(text, meant)]
RULES["compact JSON"] = respelled(lambda value: json.dumps(value, separators=(",", ":")))
RULES["pretty JSON"] = respelled(lambda value: json.dumps(value, indent=2))
RULES["pretty JSON, tabs"] = respelled(lambda value: json.dumps(value, indent="\t"))
RULES["spaces in JSON"] = respelled(lambda value: json.dumps(value, separators=(" , ", " : ")).replace("{", "{ "))
RULES["reversed keys"] = respelled(lambda value: json.dumps(dict(reversed(list(value.items())))))
RULES["JSON ends with a line"] = respelled(lambda value: json.dumps(value) + "\n")
RULES["line before JSON"] = respelled(lambda value: "\n" + json.dumps(value))
RULES["no line behind markers"] = layout(r"([>\]])\n+", r"\1")
RULES["no line before markers"] = layout(r"\n+([<\[])", r"\1")
# White space right behind a value would be part of it in many formats.
RULES["blank before markers"] = layout(r"(?<=[>\]}])\n+(<)", r" \1")
RULES["two lines before markers"] = layout(r"(?<=[>\]}])\n(<)", r"\n\n\1")
RULES["windows lines between markers"] = layout(r"(?<=[>\]}])\n(<)", "\r\n\\1")
RULES["lines between markers"] = layout(r"(>)(<)", r"\1\n\2")
RULES["indented markers"] = layout(r"(?<=[>\]}])\n(<)", r"\n  \1")


@rule("lines at the end")
def _(text, meant):
    yield text + "\n", meant
    yield text + "\n\n  ", meant


@rule("blank lines at the begin")
def _(text, meant):
    if not (text.startswith(R) or not meant.calls):
        yield "\n\n" + text, meant


@rule("string of JSON as arguments")
def _(text, meant):
    if len(meant.calls) != 1:
        return
    arguments = meant.calls[0][1]
    found = outermost(text, arguments)
    if found and found[2] != arguments and arguments:
        value = {key: json.dumps(item) if item == arguments else item for key, item in found[2].items()}
        if value != found[2]:
            yield text[:found[0]] + json.dumps(value) + text[found[1]:], meant


@rule("more keys in the envelope")
def _(text, meant):
    if len(meant.calls) != 1:
        return
    arguments = meant.calls[0][1]
    found = outermost(text, arguments)
    if found and found[2] != arguments and "name" in found[2]:
        value = dict({"type": "function"}, **found[2])
        yield text[:found[0]] + json.dumps(value) + text[found[1]:], meant
        other = "parameters" if "arguments" in found[2] else "arguments"
        value = {other if item == arguments else key: item for key, item in found[2].items()}
        yield text[:found[0]] + json.dumps(value) + text[found[1]:], meant


@rule("unknown tool")
def _(text, meant):
    if [name for name, _ in meant.calls] == ["get_weather"] and not text.lstrip().startswith(("{", "[{", "[get", "get")):
        yield text.replace("get_weather", "get_forecast"), Meant(
            meant.reasoning, meant.content, [("get_forecast", meant.calls[0][1])])


@rule("escaped unicode")
def _(text, meant):
    if len(meant.calls) != 1 or meant.calls[0][0] != "get_weather":
        return
    found = outermost(text, meant.calls[0][1])
    if found:
        spelled = text[found[0]:found[1]].replace("Paris", "S\\u00e3o \\ud83d\\ude00 \\/")
        yield text[:found[0]] + spelled + text[found[1]:], Meant(
            meant.reasoning, meant.content, [("get_weather", {"city": "S\u00e3o \U0001F600 /", "days": 3})])


def template_rules(template, text, meant):
    """Rules that need more of the template than the turn."""
    one = meant.calls and len(meant.calls) == 1 and meant.calls[0] == WEATHER
    stop = template.stops[0] if template.stops else ""
    if stop:
        yield "with stop", text + stop, meant
        yield "text behind the stop", text + stop + "\nuser: more", meant
    if not meant.calls:
        return
    if one:
        for value in ("a <b>bold</b> move", "x < 3 and y > 4 [ok] {z}", "100% \"sure\"", "it's", "", " padded ", "12", "true",
                      "null", "{\"a\": 1}", "[1, 2]", "a\nb", "tab\there", "back\\slash", "\u00e9\u00e8 \u4f60\u597d \U0001F600", stop.strip(),
                      "</x>", "name=\"x\"", "a,b", "a=b", "a: b", "f(x)", "-1", "3.0", "```py\nx\n```"):
            other = Meant(meant.reasoning, meant.content, [("get_weather", {"city": value, "days": 3})])
            full = template.write(other)
            if full is not None and full != text:
                yield "values", full, other
        for spelled, value in (("1e2", 100.0), ("-4", -4)):
            yield "numbers", text.replace("3", spelled) if text.count("3") == 1 else "", Meant(
                meant.reasoning, meant.content, [("get_weather", {"city": "Paris", "days": value})])
    # A close that is missing: cut before each marker behind the last value.
    end = text.rfind("3") if one else len(text)
    tail = text[end:]
    for cut in sorted({match.start() for match in re.finditer(r"<|\[/?[A-Z]|\n```", tail)} - {0}, reverse=True):
        yield "close missing", text[:end + cut].rstrip(), meant
        if stop:
            yield "close missing, stop", text[:end + cut].rstrip() + stop, meant
    if not any(stop.strip() in text for stop in template.stops):
        behind = "I will wait for the result."
        yield "text behind calls", f"{text}\n\n{behind}", Meant(meant.reasoning, f"{meant.content}\n\n{behind}", meant.calls)
    if not meant.content:
        for words in ("Sure!", "I'll check the weather.\n\n", "Ok \u2014 one *moment*:\n"):
            if not meant.reasoning:
                with_content = template.write(Meant("", C, meant.calls))
                if with_content and C in with_content and with_content.index(C) < with_content.index(meant.calls[0][0]):
                    yield "content before", with_content.replace(C, words), Meant("", words, meant.calls)
                    yield "content before, glued", with_content.replace(C + "\n\n", C).replace(C + "\n", C), Meant("", C, meant.calls)


def check(template, counts, options):
    shapes = [Meant("", C), Meant(R, C)] + [
        Meant(reasoning, content, calls) for calls in ([WEATHER], [CODE], [BOOK], [NOW], [WEATHER, NOW], [WEATHER, BOOK, CODE])
        for reasoning, content in (("", ""), (R, ""), ("", C), (R, C))]
    seen = set()
    for meant in shapes:
        text = template.write(meant)
        if text is None:
            continue
        # What the template cannot show is no matter of the parser's: counted once.
        if wrong := difference(meant, template.parse(text)):
            counts["as it is"][1] += 1
            if options.verbose:
                print(f"{template.path.name} {template.kwargs or ''}: as it is: {text!r}\n    {wrong}")
            continue
        rows = [(name, changed, wanted) for name, make in RULES.items() for changed, wanted in make(text, meant)]
        rows += list(template_rules(template, text, meant))
        for name, changed, wanted in rows:
            if not changed or changed in seen or (options.rule and options.rule not in name):
                continue
            seen.add(changed)
            got = template.parse(changed)
            wrong = difference(wanted, got)
            counts[name][bool(wrong)] += 1
            counts["@" + template.path.name][bool(wrong)] += 1
            if wrong and options.verbose:
                print(f"{template.path.name} {template.kwargs or ''}: {name}: {changed!r}\n    {wrong}\n    wanted {wanted.reasoning!r} {wanted.content!r} {wanted.calls!r}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--rule", default="")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    rondo = Rondo(options.program)
    counts = collections.defaultdict(lambda: [0, 0])
    corpus = REPO.parent / "shared" / "corpus"
    if not corpus.exists():
        print("skipped: there is no corpus beside the checkout")
        return
    rows = json.load(open(corpus / "manifest.json"))["rows"]
    done = set()
    for row in rows:
        path = corpus / row["template"]
        if path in done or options.only not in path.name or not (row["tier"] == "A" or path.name.startswith(("llamacpp", "vllm-tool"))):
            continue
        done.add(path)
        prompts = set()
        for kwargs in ({}, {"enable_thinking": True, "thinking": True}, {"enable_thinking": False, "thinking": False}):
            template = Template(rondo, path, row["bos_token"], row["eos_token"], kwargs)
            if template.prompt in prompts:
                continue
            prompts.add(template.prompt)
            check(template, counts, options)
    good = bad = 0
    for name, (right, wrong) in sorted(counts.items(), key=lambda item: item[1][1]):
        print(f"{right + wrong:7} {wrong:6}  {name}")
        if not name.startswith("@"):
            good, bad = good + right, bad + wrong
    print(f"{good + bad} outputs, {good} as meant ({100 * good / max(1, good + bad):.2f} %)")


main()
