"""What the plugins of engines share: the model of an engine's tokenizer, and replies read without ever losing text.

Nothing here raises while a reply is read.  Where the parser cannot go on, what it held back and all that follows is content.
"""
import logging
import os
import threading

import rondo

__all__ = ["Reader", "Reply", "model_of", "prompt_closes_reasoning", "structural_tag", "tools_of"]

logger = logging.getLogger("rondo.plugins")
_models = {}
_lock = threading.Lock()
_KEPT = 32  # models of templates that requests bring; the oldest goes


def model_of(tokenizer, template=None):
    """The rondo.Model of an engine's tokenizer, made once for each template.

    `RONDO_PLUGIN_MODEL` names a path that is loaded in the tokenizer's place, `RONDO_PLUGIN_TEMPLATE` a template in the place of
    the tokenizer's own.  Raises rondo.Error.
    """
    template = template or os.environ.get("RONDO_PLUGIN_TEMPLATE") or None
    key = (id(tokenizer), template)
    with _lock:
        # The tokenizer is kept with its model, so that no other one can take its id.
        kept = _models.get(key)
        if kept is None:
            path = os.environ.get("RONDO_PLUGIN_MODEL")
            model = rondo.load(path, template=template) if path else rondo.from_tokenizer(tokenizer, template=template)
            kept = _models[key] = (tokenizer, model)
            while len(_models) > _KEPT:
                del _models[next(iter(_models))]
    return kept[1]


def tools_of(tools):
    """Tools of a request as the dicts of chat completions; those that are no functions are left out."""
    found = []
    for tool in tools or ():
        entry = tool.model_dump(exclude_none=True) if hasattr(tool, "model_dump") else dict(tool)
        if isinstance(entry.get("function"), dict):
            found.append({"type": "function", "function": entry["function"]})
        elif entry.get("type") == "function" and entry.get("name"):
            names = ("name", "description", "parameters", "strict")
            found.append({"type": "function", "function": {name: entry[name] for name in names if name in entry}})
    return found or None


def prompt_closes_reasoning(model, prompt_ids):
    """Whether a reply behind this prompt has no reasoning to come: the template has none, or the prompt closes it.  False
    where it is open, or the model may open it."""
    reasoning = model.format().get("reasoning") or {}
    close = (reasoning.get("close") or "").strip()
    if not reasoning.get("present") or not close:
        return True
    if model.stream_parser(prompt_ids=prompt_ids).reasoning_open:
        return False
    # What the generation prompt closes stands right at its end.
    return model.detokenize(prompt_ids[-16:]).rstrip().endswith(close)


def structural_tag(model, tools, *, tool_choice, parallel_tool_calls=True, prompt_ids=None, messages=None, kwargs=None):
    """The structural tag for calls of these tools, "" where nothing is to be constrained or rondo cannot say it."""
    try:
        made = model.grammar(prompt_ids=prompt_ids, messages=messages, tools=tools, tool_choice=tool_choice, kwargs=kwargs,
                             parallel_tool_calls=parallel_tool_calls, format="structural_tag")
    except Exception as error:
        logger.warning("rondo: calls are not constrained: %s", error)
        return ""
    for warning in made["warnings"]:
        logger.info("rondo: the grammar of calls leaves out: %s", warning)
    return made["grammar"]


def _stops_of(model):
    """(texts, ids)"""
    try:
        return [stop for stops in model.format()["stops"].values() for stop in stops if stop], frozenset(model.stop_ids())
    except Exception:  # without a model too
        return [], frozenset()


class Reply:
    """What was read in one step: texts, and parts of calls as (index, name or None, id or None, arguments).  `shown` is
    reasoning and content in the order in which they came."""

    __slots__ = ("calls", "content", "reasoning", "shown")

    def __init__(self):
        self.reasoning = ""
        self.content = ""
        self.shown = ""
        self.calls = []

    def __bool__(self):
        return bool(self.reasoning or self.content or self.calls)

    def add(self, text):
        self.content += text
        self.shown += text

    def take(self, events):
        for event in events:
            kind = event["kind"]
            if kind == "content":
                self.add(event["text"])
            elif kind == "reasoning":
                self.reasoning += event["text"]
                self.shown += event["text"]
            elif kind == "call_start":
                self.calls.append((event["call"], event["text"], event.get("id"), ""))
            elif kind == "arguments" and event["text"]:
                self.calls.append((event["call"], None, None, event["text"]))

    def whole_calls(self):
        """The calls put together: [name, id, arguments]."""
        calls = {}
        for index, name, given, arguments in self.calls:
            call = calls.setdefault(index, ["", None, ""])
            calls[index] = [name or call[0], given or call[1], call[2] + arguments]
        return [calls[index] for index in sorted(calls)]


class Reader:
    """Reads one reply as it is sampled, from ids or from text.  No method raises.

    parse_tools: calls become calls; else they stay content, as they were written.  split: reasoning is told apart; else it
    stays in the content.
    """

    def __init__(self, model, *, parse_tools=True, split=True, tools=None, prompt_ids=None, messages=None, kwargs=None,
                 prompt_tail=None):
        self._model = model
        self._stream = None
        self._closed = False
        self._tail = ""
        self._stops, self._stop_ids = _stops_of(model)
        self._longest_stop = max(map(len, self._stops), default=1)
        if model is None:
            return
        options = {"tool_choice": "auto" if parse_tools else "none", "reasoning": "split" if split else "inline"}
        context = {"prompt_ids": prompt_ids, "messages": messages, "kwargs": kwargs, "prompt_tail": prompt_tail}
        # What a request brings may be what no parser can be made of; the template alone still tells most.
        for given in ({**context, "tools": tools}, {**context, "tools": None}, {}):
            try:
                self._stream = model.stream_parser(**options, **given)
                return
            except Exception as error:
                logger.warning("rondo: a parser with less of its request: %s", error)

    @property
    def reasoning_open(self):
        return self._stream is not None and self._stream.reasoning_open

    def feed(self, text, ids=None):
        """What is certain now.  Ids count where they are given; `text` is what an engine made of them."""
        reply = Reply()
        if self._stream is None or self._closed or self._stream.ended:
            reply.add(text)
            return reply
        try:
            self._feed(reply, text, ids)
        except Exception as error:
            logger.warning("rondo: the rest of a reply is passed through as text: %s", error)
            self._give_up(reply)
            reply.add(text)
        return reply

    def _feed(self, reply, text, ids):
        """Piece by piece where a stop may be inside: what follows one belongs to nobody in a parser, but an engine that goes on
        behind it shows it."""
        if ids:
            ids = [int(token) for token in ids]
            if not all(0 <= token < self._model.vocab_size for token in ids):
                raise ValueError("an id that the tokenizer does not have")
            if ids[-1] in self._stop_ids and not text.endswith(self._model.detokenize(ids[-1:])):
                ids.pop()  # the engine ended there, and shows nothing of it
            pieces, text_of = ids, self._model.detokenize
        else:
            self._tail += text
            pieces, text_of = (text if self._may_stop() else [text]), str
            self._tail = self._tail[-self._longest_stop:]
        for index, piece in enumerate(pieces):
            reply.take(self._stream.feed(piece))
            if self._stream.ended:
                reply.add(text_of(pieces[index + 1:]) if index + 1 < len(pieces) else "")
                return

    def _may_stop(self):
        return any(stop in self._tail for stop in self._stops)

    def close(self):
        """What was held back, once the reply is over."""
        reply = Reply()
        if self._stream is not None and not self._closed:
            self._give_up(reply)
        return reply

    def _give_up(self, reply):
        self._closed = True
        try:
            reply.take(self._stream.close())
        except Exception as error:
            logger.warning("rondo: the end of a reply could not be read: %s", error)
