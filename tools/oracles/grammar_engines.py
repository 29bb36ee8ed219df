"""Grammars in the engines they are made for: turns that templates write are accepted, mutated ones that break the schema are not.

Usage: python3 -m tools.oracles.grammar_engines --program build/release/rondo [--templates N] [--mutants N] [--only WORD] [--seed N] ...

For each template, over the tools and calls below: the turn is rendered, and checked against the structural tag (xgrammar), and the
Lark grammar (llguidance) for tool_choice auto and required.  Then its calls' arguments are changed at random and rendered again, or
the turn's own text is damaged; what breaks a schema by the judgement of a small validator here must be refused where a call is
required.  Each text counts once.

The engines are pinned packages; where they can't be had, this says so and passes.  The exit status is 1 if anything differs.
"""
import argparse
import copy
import importlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import threading
import types

from tools import REPO

END = 256  # the token behind the 256 bytes

TOOLS = [
    {"type": "function", "function": {"name": "get_weather", "description": "Weather.", "parameters": {
        "type": "object", "additionalProperties": False, "required": ["city"], "properties": {
            "city": {"type": "string", "description": "d"},
            "unit": {"enum": ["celsius", "fahrenheit"], "type": "string", "description": "d"},
            "days": {"type": "integer", "minimum": 1, "maximum": 14, "description": "d"},
            "hourly": {"type": "boolean", "description": "d"}}}}},
    {"type": "function", "function": {"name": "search", "description": "Search.", "parameters": {
        "type": "object", "additionalProperties": False, "required": ["q", "limit"], "properties": {
            "q": {"type": "string", "description": "d"},
            "limit": {"type": "integer", "description": "d"},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3, "description": "d"},
            "range": {"type": "object", "description": "d", "additionalProperties": False, "required": ["from"], "properties": {
                "from": {"type": "number", "description": "d"}, "to": {"type": "number", "description": "d"}}}}}}},
]
CALLS = [
    [("get_weather", {"city": "Paris"})],
    [("get_weather", {"city": "São Paulo\n\"x\" <b>", "unit": "celsius", "days": 14, "hourly": True})],
    [("search", {"q": "a, b", "limit": 3, "tags": ["x", "y z"], "range": {"from": 1.5}})],
    [("search", {"q": "x", "limit": -1}), ("get_weather", {"city": "Rome", "days": 1})],
]
MESSAGES = [{"role": "user", "content": "Hi."}]


def exchange(process, requests):
    """Sends all requests, and returns the reply line of each."""
    def send():
        for request in requests:
            process.stdin.write(request)
        process.stdin.flush()
    writer = threading.Thread(target=send)
    writer.start()
    lines = [process.stdout.readline() for _ in requests]
    writer.join()
    return lines


# ---- The engines

def need(*names):
    """Makes pinned packages importable that are not installed."""
    from tools.dependencies import fetch
    for name, module in names:
        if importlib.util.find_spec(module) is not None:
            continue
        folder = fetch.wheel(name)
        if folder is None:
            raise ImportError(f"{name} is not to be had here")
        sys.path.insert(0, str(folder))


def stand_in(name, **members):
    """An empty module for imports of what is not used."""
    module = types.ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None)
    for key, value in members.items():
        setattr(module, key, value)
    sys.modules[name] = module


def load_xgrammar():
    """xgrammar's compiler and matcher without torch, transformers and pydantic, which serve its other parts."""
    need(("apache-tvm-ffi", "tvm_ffi"), ("xgrammar", "xgrammar"), ("numpy", "numpy"))
    importlib.import_module("tvm_ffi")  # before the stand-ins: it would use a real torch
    spec = importlib.util.find_spec("xgrammar")
    package = types.ModuleType("xgrammar")
    package.__path__ = list(spec.submodule_search_locations)
    package.__spec__ = spec
    sys.modules["xgrammar"] = package

    class Nothing:
        pass

    stand_in("torch", int32=None, Tensor=Nothing, device=Nothing, dtype=Nothing, tensor=lambda *_a, **_o: None)
    stand_in("transformers", PreTrainedTokenizerBase=Nothing, PreTrainedTokenizerFast=Nothing)
    stand_in("pydantic", BaseModel=Nothing)
    if importlib.util.find_spec("typing_extensions") is None:
        stand_in("typing_extensions", deprecated=lambda *_a, **_o: lambda function: function)
    stand_in("xgrammar.structural_tag", StructuralTag=Nothing, StructuralTagItem=Nothing)
    for name in ("load_binding", "base", "tokenizer_info", "grammar", "compiler", "matcher"):
        setattr(package, name, importlib.import_module("xgrammar." + name))
    for name in ("torch", "transformers", "pydantic"):
        del sys.modules[name]
    return package


class StructuralTag:
    name = "structural_tag"

    def __init__(self):
        self.package = load_xgrammar()
        kinds = self.package.tokenizer_info
        vocabulary = [bytes([i]) for i in range(256)] + [b"<end>"]
        info = kinds.TokenizerInfo(vocabulary, vocab_type=kinds.VocabType.RAW, stop_token_ids=[END])
        self.compiler = self.package.compiler.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def compile(self, grammar):
        return self.compiler.compile_structural_tag(grammar)

    def refused_at(self, compiled, text):
        """None if the whole text is accepted, else the offset."""
        matcher = self.package.matcher.GrammarMatcher(compiled)
        for i, byte in enumerate(text):
            if not matcher.accept_token(byte):
                return i
        return None if matcher.accept_token(END) else len(text)

    def accepted(self, compiled, texts):
        """Which of the texts are accepted."""
        matcher = self.package.matcher.GrammarMatcher(compiled)
        out = []
        for text in texts:
            out.append(matcher.accept_string(text) and matcher.accept_token(END))
            matcher.reset()
        return out


class Gbnf:
    """libllama's own grammar sampler, in a program that links it, with a vocabulary of a real model."""
    name = "gbnf"

    def __init__(self, program, vocabulary):
        self.process = subprocess.Popen([program, vocabulary], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.current = None

    def accepted(self, compiled, texts):
        if compiled != self.current:
            self.compile(compiled)
        lines = exchange(self.process, [f"text {len(text)}\n".encode() + text for text in texts])
        return [line.split() == [b"fits"] for line in lines]

    def ask(self, kind, text):
        self.process.stdin.write(f"{kind} {len(text)}\n".encode() + text)
        self.process.stdin.flush()
        return self.process.stdout.readline().decode().split()

    def compile(self, grammar):
        self.current = grammar
        if self.ask("grammar", grammar.encode()) != ["ok"]:
            raise ValueError("libllama does not take the grammar")
        return grammar

    def refused_at(self, compiled, text):
        if compiled != self.current:
            self.compile(compiled)
        reply = self.ask("text", text)
        return None if reply == ["fits"] else int(reply[1])


class Lark:
    name = "lark"

    def __init__(self):
        need(("llguidance", "llguidance"))
        package = importlib.import_module("llguidance")

        class Bytes:
            eos_token_id = END
            bos_token_id = None
            tokens = [bytes([i]) for i in range(256)] + [b"<end>"]
            special_token_ids = [END]

            def __call__(self, text):
                return list(text if isinstance(text, bytes) else text.encode())
        self.matcher = package.LLMatcher
        self.tokenizer = package.LLTokenizer(package.TokenizerWrapper(Bytes()), slices=[])

    def compile(self, grammar):
        made = self.matcher(self.tokenizer, grammar)
        if made.is_error():
            raise ValueError(made.get_error())
        return made

    def accepted(self, compiled, texts):
        return [self.refused_at(compiled, text) is None for text in texts]

    def refused_at(self, compiled, text):
        matcher = compiled.deep_copy()
        count = matcher.try_consume_tokens(list(text))
        if count < len(text):
            return count
        return None if matcher.is_accepting() else len(text)


def engines(options):
    out = []
    if options.llama and os.path.exists(options.vocabulary):
        out.append(Gbnf(options.llama, options.vocabulary))
    for kind in (StructuralTag, Lark):
        try:
            out.append(kind())
        except ImportError as error:
            print(f"skipped: {kind.name}: {error}")
    return out


# ---- rondo

class Rondo:
    def __init__(self, program):
        self.process = subprocess.Popen([program, "batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, **request):
        return self.ask_all([request])[0]

    def ask_all(self, requests):
        return [json.loads(line) for line in exchange(self.process, [json.dumps(one).encode() + b"\n" for one in requests])]


def message_of(calls, as_text):
    return {"role": "assistant", "content": "", "tool_calls": [
        {"id": f"abcdef00{i}", "type": "function", "function": {
            "name": name, "arguments": json.dumps(arguments) if as_text else arguments}}
        for i, (name, arguments) in enumerate(calls)]}


def loaded(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


class Writer:
    """What a template writes behind its prompt for some calls."""

    def __init__(self, rondo, template):
        self.rondo = rondo
        self.common = {"template_file": template, "tools": TOOLS, "mode": "lenient", "now": "2026-03-14T15:09:26",
                       "bos_token": "<s>", "eos_token": "</s>"}
        self.prompt = rondo.ask(op="render", messages=MESSAGES, add_generation_prompt=True, **self.common).get("text")
        plain = rondo.ask(op="render", messages=MESSAGES, **self.common).get("text", "")
        self.header = self.prompt[len(plain):] if self.prompt and self.prompt.startswith(plain) else ""
        self.as_text = [False, True]

    def turns(self, many):
        """For each of many lists of calls the turn without its stop; None if the template can't write it or shows it otherwise."""
        out = [None] * len(many)
        if self.prompt is None:
            return out
        for as_text in self.as_text:
            todo = [i for i, turn in enumerate(out) if turn is None]
            renders = self.rondo.ask_all([dict(op="render", messages=MESSAGES + [message_of(many[i], as_text)], **self.common)
                                          for i in todo])
            texts = {i: self.cut(reply.get("text"), many[i]) for i, reply in zip(todo, renders)}
            shown = [i for i in todo if texts[i] is not None]
            for i, read in zip(shown, self.read([texts[i] for i in shown], with_tools=True)):
                if read == many[i]:
                    out[i] = texts[i].rstrip()
        return out

    def cut(self, full, calls):
        if full is None or not full.startswith(self.prompt):
            return None
        text = full[len(self.prompt):]
        if self.header.strip() and text.endswith(self.header):  # some templates open the next turn at once
            text = text[:-len(self.header)]
        return text if all(name in text for name, _ in calls) else None

    def read(self, texts, with_tools):
        """The calls that the parser finds in each; None where it fails."""
        common = self.common if with_tools else {key: value for key, value in self.common.items() if key != "tools"}
        replies = self.rondo.ask_all([dict(op="parse", messages=MESSAGES, text=text, **common) for text in texts])
        return [None if "error" in reply else [(call["name"], loaded(call["arguments"])) for call in reply["tool_calls"]]
                for reply in replies]


# ---- Mutations, and what a schema says of them

def fits(value, schema):
    """Draft 2020-12, as far as the tools above go."""
    kinds = {"string": str, "object": dict, "array": list, "boolean": bool}
    kind = schema.get("type")
    if kind in kinds and not isinstance(value, kinds[kind]):
        return False
    if kind in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, int if kind == "integer" else (int, float)):
            return False
        if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if kind == "array":
        return len(value) <= schema.get("maxItems", len(value)) and all(fits(item, schema["items"]) for item in value)
    if kind == "object":
        properties = schema["properties"]
        return all(name in value for name in schema["required"]) and all(
            name in properties and fits(item, properties[name]) for name, item in value.items())
    return True


def calls_fit(calls):
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}
    return all(name in schemas and fits(arguments, schemas[name]) for name, arguments in calls)


VALUES = ["", "celsius", "kelvin", "7", 0, 1, 14, 15, -3, 2.5, True, None, [], ["a", "b", "c", "d"], [1], {}, {"from": "x"}, {"to": 1}]


WORDS = ["a", "citys", "unit", "days", "x y", "é", "7", "true", "null", '"', "'", "<b>", "\n", "{", "}", "[", "]", "\\", ",", ":"]


def random_value(rng, depth=2):
    kind = rng.randrange(8 if depth else 6)
    if kind == 0:
        return "".join(rng.choice(WORDS) for _ in range(rng.randrange(5)))
    if kind == 1:
        return rng.randrange(-10**rng.randrange(1, 12), 10**rng.randrange(1, 12))
    if kind == 2:
        return round(rng.uniform(-100, 100), rng.randrange(1, 6))
    if kind == 6:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(6))]
    if kind == 7:
        return {rng.choice(WORDS[:7] + ["from", "to"]): random_value(rng, depth - 1) for _ in range(rng.randrange(4))}
    return rng.choice(VALUES)


def mutant_of(calls, rng):
    """Calls with one to three things changed: an argument gone, one more, another name or value."""
    out = copy.deepcopy(calls)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at = rng.randrange(len(out))
        name, arguments = out[at]
        kind = rng.randrange(5)
        if kind == 0 and arguments:
            del arguments[rng.choice(sorted(arguments))]
        elif kind == 1:
            arguments[rng.choice(["other", "citys", "limit", "days", "unit", "tags", "range"])] = random_value(rng)
        elif kind == 2:
            out[at] = (rng.choice(["get_weathers", "search", "get_weather", "sear"]), arguments)
        elif arguments:
            arguments[rng.choice(sorted(arguments))] = random_value(rng)
    return out


def broken_text(text, rng):
    """A turn with one to three places changed: characters gone, doubled, moved or put in."""
    for _ in range(rng.choice([1, 1, 2, 3])):
        begin = rng.randrange(len(text))
        end = min(len(text), begin + rng.choice([1, 1, 2, 4, 8, 30]))
        kind = rng.randrange(4)
        middle = ["", text[begin:end] * 2, rng.choice(WORDS) + text[begin:end], text[begin:end][::-1]][kind]
        text = text[:begin] + middle + text[end:] or "x"
    return text


# ---- The check

def trigger_at(reply, text):
    """Where the grammar begins."""
    if not reply.get("lazy"):
        return 0
    begins = []
    for trigger in reply["triggers"]:
        if trigger["type"] == "word" and trigger["value"] in text:
            begins.append(text.index(trigger["value"]))
        found = re.search(trigger["value"], text) if trigger["type"] == "pattern" else None
        if found:
            begins.append(found.start(1))
    return min(begins, default=None)


def check(rondo, template, all_engines, mutants, rng):
    """(turns, mutants refused rightly, complaints)."""
    complaints = []
    writer = Writer(rondo, template)
    turns = [text for text in writer.turns(CALLS) if text is not None]
    if not turns:
        return 0, 0, complaints
    request = {"op": "grammar", "messages": MESSAGES, **writer.common}
    required, triggers = {}, {}
    for engine in all_engines:
        for choice in ("auto", "required"):
            reply = rondo.ask(format=engine.name, tool_choice=choice, **request)
            where = f"{engine.name} {choice}"
            if not reply.get("grammar"):
                complaints.append(f"{where}: no grammar: {reply.get('error')}")
                continue
            try:
                compiled = engine.compile(reply["grammar"])
            except Exception as error:  # noqa: BLE001
                complaints.append(f"{where}: does not compile: {str(error)[:300]}")
                continue
            if choice == "auto" and reply["lazy"]:
                triggers = reply
            if choice == "required" and not reply["warnings"]:  # which name what the grammar leaves open
                required[engine.name] = compiled
            for text in turns:
                begin = trigger_at(reply, text)
                if begin is None:
                    complaints.append(f"{where}: no trigger in {text!r}")
                    continue
                at = engine.refused_at(compiled, text[begin:].encode())
                if at is not None:
                    complaints.append(f"{where}: refused at {at}: ...{text.encode()[max(0, at - 60):at + 40]!r}")
    chosen = [engine for engine in all_engines if engine.name in required]
    seen = set()
    for number in range(mutants if chosen else 0):
        if number % BULK:
            continue
        count = min(BULK, mutants - number)
        found = broken_calls(writer, count // 2, rng) + broken_turns(writer, turns, triggers, count - count // 2, rng)
        found = [(calls, text) for calls, text in dict((text, (calls, text)) for calls, text in found).values() if text not in seen]
        seen.update(text for _, text in found)
        texts = [text.encode() for _, text in found]
        for engine in chosen:
            for (calls, text), accepted in zip(found, engine.accepted(required[engine.name], texts)):
                if accepted:
                    complaints.append(f"{engine.name}: accepted {json.dumps(calls)}: {text!r}")
    return len(turns), len(seen), complaints


BULK = 200  # mutants at a time


def broken_calls(writer, count, rng):
    """Calls that break the schema, each with the turn that the template writes for them."""
    many = [mutant_of(rng.choice(CALLS), rng) for _ in range(count)]
    many = [calls for calls in many if not calls_fit(calls)]
    return [(calls, text) for calls, text in zip(many, writer.turns(many)) if text is not None]


def broken_turns(writer, turns, triggers, count, rng):
    """Damaged turns, each with the calls in it, where these break the schema or are none.  Text in front of what opens the
    calls is free: what the parser makes of a damaged opener there does not count."""
    texts = [broken_text(rng.choice(turns), rng) for _ in range(count)]
    read = writer.read([text[trigger_at(triggers, text) or 0:] for text in texts], with_tools=True)
    out = []
    for text, calls in zip(texts, read):
        is_whole = calls and all(isinstance(arguments, dict) for _, arguments in calls)
        if calls is not None and not (is_whole and calls_fit(calls)):
            out.append((calls, text))
    return out


def families(rondo, chosen):
    """One template of each format."""
    found = {}
    for template in chosen:
        reply = rondo.ask(op="explain", template_file=template, mode="lenient", bos_token="<s>", eos_token="</s>")
        found.setdefault(json.dumps(reply.get("format")), template)
    return list(found.values())


def templates(only):
    folders = [REPO.parent / "shared" / "corpus" / "templates"]
    if os.environ.get("RONDO_FIXTURES"):
        folders.append(pathlib.Path(os.environ["RONDO_FIXTURES"]) / "templates")
    for folder in folders:
        found = sorted(str(path) for path in folder.glob("*.jinja") if only in path.name)
        if found:
            return found
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--templates", type=int, default=0, help="at most this many, evenly chosen")
    parser.add_argument("--families", action="store_true", help="one template of each format")
    parser.add_argument("--mutants", type=int, default=20)
    parser.add_argument("--llama", help="the program tests/grammar/llama_grammar.cpp; without it GBNF is not checked")
    parser.add_argument("--vocabulary", help="a .gguf file for it", default=os.path.join(
        os.environ.get("RONDO_FIXTURES", ""), "vocab", "ggml-vocab-qwen2.gguf"))
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", default="1/1", help="I/N: the I-th of N parts of the templates")
    parser.add_argument("--progress", action="store_true", help="a line for each template")
    options = parser.parse_args()
    chosen = templates(options.only)
    all_engines = engines(options)
    if not chosen or not all_engines:
        print("skipped: there are no templates, or no engines")
        return 0
    if options.templates:
        chosen = chosen[::max(1, len(chosen) // options.templates)]
    rondo = Rondo(options.program)
    if options.families:
        chosen = families(rondo, chosen)
    part, parts = map(int, options.part.split("/"))
    chosen = chosen[part - 1::parts]
    rng = random.Random(options.seed)
    total = [0, 0, 0, 0]
    for template in chosen:
        turns, refused, complaints = check(rondo, template, all_engines, options.mutants, rng)
        total = [total[0] + (turns > 0), total[1] + turns, total[2] + refused, total[3] + len(complaints)]
        for complaint in complaints[:6]:
            print(f"{pathlib.Path(template).stem}: {complaint}")
        if options.progress:
            print(f"{pathlib.Path(template).stem}: {turns} turns, {refused} mutants, {len(complaints)} complaints", flush=True)
    print(f"{total[0]} templates, {total[1]} turns, {total[2]} mutants refused, {total[3]} complaints")
    return 1 if total[3] else 0


if __name__ == "__main__":
    sys.exit(main())
