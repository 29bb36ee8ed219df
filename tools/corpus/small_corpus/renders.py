"""What jinja2 makes of the small corpus's templates and conversations, in the form of the larger corpus: a line for each row,
conversation and set of variables, and what a model would have to write for each assistant message.

    python3 -c "from small_corpus import renders; renders.record(row, source, conversations, plans)"
"""
import contextlib
import copy
import hashlib

from tools.oracles import jinja_reference

REASONING = ("reasoning_content", "thinking", "reasoning")
LONGEST_MESSAGE = 300
# Stand around a generation block until its place is known; nothing else writes them.
OPEN, CLOSE = "\ue0f0", "\ue0f1"
# transformers' way to end a prompt inside the last message: the tag goes behind its text, and the prompt ends before the tag.
TAG = "CONTINUE_FINAL_MESSAGE_TAG "


def _environment():
    import jinja2
    from jinja2.ext import Extension

    class Generation(Extension):
        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            return jinja2.nodes.CallBlock(self.call_method("_write"), [], [], body).set_lineno(line)

        def _write(self, caller):
            return OPEN + caller() + CLOSE

    return jinja_reference.environment(extensions=[Generation, "jinja2.ext.loopcontrols"])


# Conversations in which only the template writes what looks like a control token.
PLAIN = ("thought_cycle", "parallel", "thoughts", "documents_tools")


def texts_of(row, source, conversations):
    """What a template itself writes: the texts in its source (outside of tags, and string constants), and prompts, which show
    what is put together of several."""
    recorder = Recorder(row, source)
    out = [value for _, kind, value in _environment().lex(source) if kind in ("data", "string")]
    for conversation in conversations:
        for goes_on in (True, False):
            with contextlib.suppress(Exception):  # it may refuse any of them
                if conversation["id"] in PLAIN:
                    out.append(recorder.render(conversation, {"add_generation_prompt": goes_on})[0])
    return out


def _without_marks(text):
    """The text, and the generation blocks as [start, end] in characters."""
    spans, out, size = [], [], 0
    for piece in text.split(OPEN):
        inner, closed, rest = piece.partition(CLOSE)
        if closed:
            spans.append([size, size + len(inner)])
        out += [inner, rest]
        size += len(inner) + len(rest)
    return "".join(out), spans


def _aliased(messages):
    """As transformers gives them: the first field of reasoning under both names."""
    out = []
    for message in messages:
        value = next((message[name] for name in REASONING if message.get(name) is not None), None)
        if value is not None:
            message = {**message, "reasoning_content": value}
            message.setdefault("thinking", value)
        out.append(message)
    return out


class _Refused(Exception):
    pass


class Recorder:
    """One row's template."""

    def __init__(self, row, source):
        jinja_reference.load()
        self.row = row
        self.template, self.failure = None, None
        try:
            self.template = _environment().from_string(source)
        except Exception as error:  # noqa: BLE001  it is recorded
            self.failure = error

    def render(self, conversation, kwargs, alias=True):
        """(text, spans), or raises what the template raises."""
        if self.failure:
            raise self.failure
        messages, tools, documents = (copy.deepcopy(conversation.get(name)) for name in ("messages", "tools", "documents"))
        variables = {}
        for name, value in kwargs.items():
            if value == "$tools":
                value, tools = tools, None
            variables[name] = copy.deepcopy(value)
        variables |= copy.deepcopy(conversation.get("kwargs") or {})
        for name in ("bos_token", "eos_token"):
            if self.row[name] is not None:
                variables[name] = self.row[name]
        given = {"messages": _aliased(messages) if alias else messages, "tools": tools, "documents": documents}
        return _without_marks(self.template.render(**given, **variables))

    def _continued(self, conversation, kwargs, alias):
        """The prompt that ends behind the content of the last message."""
        messages = copy.deepcopy(conversation["messages"])
        content = messages[-1]["content"]
        messages[-1]["content"] = content + TAG
        text, spans = self.render({**conversation, "messages": messages}, kwargs, alias)
        if content.strip() not in text or TAG.strip() not in text:
            raise ValueError("the template does not write the last message")
        at = text.rindex(TAG.strip())
        return (text[:at] if text[at:].startswith(TAG) else text[:at].rstrip()), spans

    def lines(self, conversations):
        """Lines as in the larger corpus's render/."""
        shown = set()
        for conversation in conversations:
            sets = [(self.render, chosen["name"], chosen["kwargs"]) for chosen in self.row["kwargs_sets"]]
            if "prefill" in conversation["tags"]:
                sets.append((self._continued, "continue", {"add_generation_prompt": False}))
            for render, name, kwargs in sets:
                line, plain = {"c": conversation["id"], "k": name}, {}
                self._put(line, "", lambda alias: render(conversation, kwargs, alias), shown)
                if name == "continue":
                    line.pop("g", None)  # of the text behind the end as well
                elif _aliased(conversation["messages"]) != conversation["messages"]:
                    self._put(plain, "0", lambda alias: render(conversation, kwargs, alias), None)
                if plain and [plain.get(key) for key in ("h0", "e0")] != [line.get(key) for key in ("h", "e")]:
                    line |= plain
                yield line

    def _put(self, line, suffix, render, shown):
        """Text and hash, or the error, of a render with or without aliases of reasoning."""
        try:
            text, spans = render(not suffix)
        except Exception as error:  # noqa: BLE001  it is recorded
            line["e" + suffix], line["m" + suffix] = type(error).__name__, str(error)[:LONGEST_MESSAGE]
            return
        line["h" + suffix] = _hash(text)
        if shown is None or line["h" + suffix] not in shown:
            line["t" + suffix] = text
        if shown is not None:
            shown.add(line["h" + suffix])
        if self.row["uses_generation_tag"] and not suffix:
            line["g"] = spans

    def completion(self, conversation, index, kwargs):
        """What the history has behind the prompt of message `index`.  Raises _Refused where it does not begin with the prompt."""
        messages = conversation["messages"]
        prompt, _ = self.render({**conversation, "messages": messages[:index]}, {**kwargs, "add_generation_prompt": True})
        full, _ = self.render({**conversation, "messages": messages[:index + 1]}, {**kwargs, "add_generation_prompt": False})
        if not full.startswith(prompt):
            raise _Refused
        return prompt, full[len(prompt):]

    def completions(self, conversations):
        """Lines as in the larger corpus's completions/."""
        for conversation in conversations:
            for index, message in enumerate(conversation["messages"]):
                if message.get("role") != "assistant" or index == 0:
                    continue
                seen = set()
                for chosen in self.row["kwargs_sets"]:
                    if chosen["name"] == "nogen":
                        continue
                    try:
                        found = self.completion(conversation, index, chosen["kwargs"])
                    except Exception:  # noqa: BLE001  the template refuses it, or rewrites the prompt
                        continue
                    if found not in seen:
                        yield {"c": conversation["id"], "i": index, "k": chosen["name"], "p": _hash(found[0]), "q": found[1]}
                    seen.add(found)

    def replay(self, plan, kwargs):
        """{kind: text} for the answers of golden/parse/replay.json that the template can write."""
        out = {}
        for kind, answer in plan["answers"].items():
            calls = [{"id": f"functions.{name}:{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
                     for number, (name, arguments) in enumerate(plan["calls"][:answer["calls"]])]
            message = {"role": "assistant", "content": answer["content"], "reasoning_content": plan["reasoning"]}
            conversation = {"messages": [{"role": "user", "content": "Go."}, message | ({"tool_calls": calls} if calls else {})],
                            "tools": plan["tools"]}
            try:
                out[kind] = self.completion(conversation, 1, kwargs)[1]
            except Exception:  # noqa: BLE001
                continue
        return out


def _hash(text):
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
