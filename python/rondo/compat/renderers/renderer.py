"""The renderer: the interface's methods over a rondo model, for any chat template.

What a family's renderer knows by hand is read off the template here, by a few small renders when it is first asked for:
what closes a turn, which reasoning history keeps, in which shape arguments are wanted.
"""
import abc
import functools
import json
import weakref
from collections.abc import Mapping

import numpy

import rondo

from .base import (
    ParsedResponse,
    ParsedToolCall,
    RenderedTokens,
    ToolCallParseStatus,
    extract_message_tool_names,
    reject_assistant_in_extension,
    should_rerender_for_thinking_retention,
)
from .configs import FAMILIES, DefaultRendererConfig

_STATUS = {
    "ok": ToolCallParseStatus.OK,
    "invalid_json": ToolCallParseStatus.INVALID_JSON,
    "unclosed": ToolCallParseStatus.UNCLOSED_BLOCK,
    "malformed": ToolCallParseStatus.MALFORMED_STRUCTURE,
    "unknown_tool": ToolCallParseStatus.UNKNOWN_TOOL,
}
# Kinds of problems that the interface leaves to who runs the tool.
_OF_THE_SCHEMA = ("wrong_type", "unknown_parameter")
# Text that no template writes of itself.
_ASKED, _THOUGHT, _SAID = "Qaq", "Rerer", "Zizi"
# What of a prompt says which blocks are open.
_PROMPT_END = 512
_MODELS = weakref.WeakKeyDictionary()


def model_of(tokenizer):
    """The rondo model of a tokenizer (made once for each), a model itself, or a path."""
    if isinstance(tokenizer, rondo.Model):
        return tokenizer
    if isinstance(tokenizer, str):
        return rondo.load(tokenizer)
    template = getattr(tokenizer, "chat_template", None)
    key = json.dumps(template, sort_keys=True, default=str)
    try:
        known = _MODELS.setdefault(tokenizer, {})
    except TypeError:  # neither hashable nor weakly referable: made anew
        known = {}
    if key not in known:
        known[key] = rondo.from_tokenizer(tokenizer)
    return known[key]


def _plain_ids(ids):
    """Ids as Python's ints; a list or tuple is taken to hold such."""
    return ids if isinstance(ids, (list, tuple)) else ids.tolist() if hasattr(ids, "tolist") else map(int, ids)


def _plain(message):
    """A message as a dict of its own."""
    if isinstance(message, Mapping):
        return dict(message)
    if hasattr(message, "model_dump"):
        return message.model_dump(exclude_none=True)
    raise TypeError(f"a message must be a mapping, found `{type(message).__name__}`")


def _joined_text(content):
    """The text of content parts, if they are nothing but text; else None."""
    if not isinstance(content, list):
        return None
    texts = [part if isinstance(part, str) else part.get("text") if isinstance(part, Mapping) else None
             for part in content]
    return "".join(texts) if all(isinstance(text, str) for text in texts) else None


def _split_thinking(message):
    """Moves content parts with reasoning to the field for it."""
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    thoughts = [part["thinking"] for part in parts if isinstance(part, Mapping) and part.get("type") == "thinking"]
    if thoughts:
        message["content"] = [part for part in parts if not (isinstance(part, Mapping) and part.get("type") == "thinking")]
        message.setdefault("reasoning_content", "".join(thoughts))


def _fault(text, is_closed):
    """Why the inside of a call is none."""
    if not is_closed:
        return ToolCallParseStatus.UNCLOSED_BLOCK
    if not text.startswith(("{", "[")):
        return ToolCallParseStatus.MALFORMED_STRUCTURE
    try:
        json.loads(text)
    except ValueError:
        return ToolCallParseStatus.INVALID_JSON
    return ToolCallParseStatus.MISSING_NAME


def _decoded(arguments):
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


class Renderer(abc.ABC):
    """Messages to ids and back for one model.

    tokenizer: one of `transformers`, a rondo.Model, or a path.  config: a configuration of `configs`.  Immutable; may be used
    from many threads at once.
    """

    config_class = DefaultRendererConfig

    def __init__(self, tokenizer, config=None):
        self.tokenizer = self._tokenizer = tokenizer
        self.config = config if config is not None else self.config_class()
        self.model = model_of(tokenizer)
        fields = {name: getattr(self.config, name) for name in type(self.config).template_field_names()}
        fields.update(getattr(self.config, "model_extra", None) or {})
        self._kwargs = {name: value for name, value in fields.items() if value is not None}

    # Whatever has the methods is one, so that renderers from elsewhere pass isinstance().
    @classmethod
    def __subclasshook__(cls, other):
        if cls is not Renderer:
            return NotImplemented
        methods = ("render", "render_ids", "parse_response", "get_stop_token_ids", "bridge_to_next_turn")
        return all(any(name in base.__dict__ for base in other.__mro__) for name in methods)

    # --- Rendering ---------------------------------------------------------------------------------------------------

    def render(self, messages, *, tools=None, add_generation_prompt=False) -> RenderedTokens:
        if not messages:
            raise ValueError("there are no messages")
        plain = self._prepared(messages)
        encoded = self.model.encode(plain, tools=tools or None, add_generation_prompt=add_generation_prompt,
                                    kwargs=self._kwargs)
        owners, sampled, body = self._view(encoded, add_generation_prompt)
        return RenderedTokens(
            token_ids=encoded.ids.tolist(),
            message_indices=owners.tolist(),
            sampled_mask=sampled.tolist(),
            is_content=body.tolist(),
            message_roles=encoded.roles,
            message_tool_names=extract_message_tool_names(plain),
        )

    def _view(self, encoded, has_generation_prompt):
        """Owners, sampled and body masks by the interface's conventions."""
        owners = encoded.message_indices.copy()
        sampled = encoded.sampled_mask.astype(bool)
        is_assistant = numpy.array([role == "assistant" for role in encoded.roles] + [False])
        if self._conventions.get("sampled") == "header":
            self._sample_from_header(encoded.ids, owners, sampled, is_assistant)
        if self._conventions.get("head") == "turn":
            self._own_head(encoded.ids, owners, has_generation_prompt)
        self._own_stops(encoded.ids, owners, sampled, is_assistant)
        for text in self._conventions.get("not_sampled", ()):
            self._unsample(encoded.ids, sampled, self.model.tokenize(text).tolist())
        return owners, sampled, numpy.where(is_assistant[owners], sampled, encoded.content_mask.astype(bool))

    def _own_stops(self, ids, owners, sampled, is_assistant):
        """The token with which a model ends its turn is the model's, even where it also opens the next turn."""
        for place in numpy.flatnonzero(sampled & ~is_assistant[owners]).tolist():
            if ids[place] in self._stops:
                owners[place] = owners[place - 1]
            else:
                sampled[place] = False
        for place in numpy.flatnonzero(sampled[:-1] & ~sampled[1:]).tolist():
            if ids[place] not in self._stops and ids[place + 1] in self._stops:
                owners[place + 1], sampled[place + 1] = owners[place], True

    @staticmethod
    def _unsample(ids, sampled, beginning):
        """Takes `beginning` out of what is sampled where a turn's sampled part begins with it."""
        begins = numpy.flatnonzero(sampled & ~numpy.concatenate(([False], sampled[:-1])))
        for begin in begins.tolist():
            if ids[begin:begin + len(beginning)].tolist() == beginning:
                sampled[begin:begin + len(beginning)] = False

    def _sample_from_header(self, ids, owners, sampled, is_assistant):
        """Takes what stands between a turn's header and its sampled part for sampled."""
        size = len(self._header)
        turns = is_assistant[owners]
        begins = numpy.flatnonzero(turns & (numpy.concatenate(([-2], owners[:-1])) != owners))
        for begin in begins.tolist():
            if size == 0 or ids[begin:begin + size].tolist() != self._header:
                continue
            at = begin + size
            while at < len(ids) and not sampled[at] and owners[at] == owners[begin]:
                at += 1
            if at < len(ids) and sampled[at]:
                sampled[begin + size:at] = True

    def _own_head(self, ids, owners, has_generation_prompt):
        """Gives nobody's ids in the turns of the first two messages to those: what no stop token parts from them."""
        end = len(ids)
        if has_generation_prompt and (owners >= 0).any():
            end = int(numpy.flatnonzero(owners >= 0)[-1]) + 1
        known = []  # the messages so far
        at = 1 if len(ids) and ids[0] == getattr(self._tokenizer, "bos_token_id", None) else 0
        while at < end and len(known) < 3:
            owner = int(owners[at])
            run = at
            while run < end and owners[run] == owner:
                run += 1
            if owner >= 0:
                known += [owner] if owner not in known else []
            elif len(known) < 2:
                self._own_run(ids, owners, at, run)
            at = run

    def _own_run(self, ids, owners, begin, end):
        """Splits a run of nobody's ids behind its last stop token, and the white space behind that."""
        stops = [place for place in range(begin, end) if ids[place] in self._stops]
        before = owners[begin - 1] if begin else -1
        behind = owners[end] if end < len(ids) else -1
        if not stops:
            owners[begin:end] = before if before >= 0 else behind
            return
        cut = stops[-1] + 1
        while cut < end and not self.model.detokenize(ids[cut:cut + 1]).strip():
            cut += 1
        if before >= 0:
            owners[begin:cut] = before
        if behind >= 0:
            owners[cut:end] = behind

    def render_ids(self, messages, *, tools=None, add_generation_prompt=False) -> list[int]:
        if not messages:
            raise ValueError("there are no messages")
        return self.model.encode(self._prepared(messages), tools=tools or None, kwargs=self._kwargs,
                                 add_generation_prompt=add_generation_prompt).ids.tolist()

    def get_stop_token_ids(self) -> list[int]:
        """The ids that end generation; the one that closes a plain turn first."""
        return list(self._stops)

    def _prepared(self, messages):
        """Messages in the shape that the template shows."""
        return [self._prepared_message(message) for message in messages]

    def _prepared_message(self, message):
        message = _plain(message)
        _split_thinking(message)
        if message.get("content") is None:
            message["content"] = ""
        text = _joined_text(message.get("content"))
        if text is not None and not self._shows_parts:
            message["content"] = text
        if message.get("tool_calls"):
            message["tool_calls"] = [self._prepared_call(call) for call in message["tool_calls"]]
        else:
            message.pop("tool_calls", None)
        return message

    def _prepared_call(self, call):
        """A call with its arguments as the template wants them."""
        call = _plain(call)
        if not call.get("function") and "name" in call:  # the function alone
            call = {"type": "function", "function": {key: value for key, value in call.items() if key not in ("id", "type")},
                    **({"id": call["id"]} if "id" in call else {})}
        if not call.get("function"):
            return call
        function = call["function"] = _plain(call["function"])
        arguments = function.get("arguments")
        if isinstance(arguments, str) and self._wants_arguments == "object":
            function["arguments"] = _decoded(arguments) if arguments.strip() else {}
        elif isinstance(arguments, Mapping) and self._wants_arguments == "text":
            function["arguments"] = json.dumps(arguments, ensure_ascii=False)
        return call

    # --- Reading -----------------------------------------------------------------------------------------------------

    def parse_response(self, token_ids, *, tools=None, prompt_ids=None) -> ParsedResponse:
        has_prompt = prompt_ids is not None and len(prompt_ids) > 0
        prompt = {"prompt_ids": prompt_ids[-_PROMPT_END:]} if has_prompt else self._unknown_prompt(token_ids)
        parsed = self.model.parse(token_ids, tools=tools or None, kwargs=self._kwargs, **prompt)
        reasoning = parsed.reasoning_content
        content, attempts = self._attempts(token_ids, parsed)
        calls = [*[self._parsed_call(call) for call in parsed.tool_calls], *attempts]
        return ParsedResponse(
            content=content.strip(),
            reasoning_content=(reasoning.strip() or None) if reasoning is not None else None,
            tool_calls=sorted(calls, key=lambda call: call.token_span or (0, 0)),
            reasoning_complete=not parsed.reasoning_open,
        )

    def _unknown_prompt(self, token_ids):
        """What is open where a completion without its prompt begins: reasoning, if it closes some that it did not open."""
        tail = self._generation_prompt
        reasoning = self._part("reasoning")
        opener, closer = reasoning.get("open", "").strip(), reasoning.get("close", "").strip()
        if not tail.rstrip().endswith(opener) or not opener or not closer:
            return {"prompt_tail": ""}
        text = self.model.detokenize(token_ids)
        is_inside = closer in text and opener not in text.partition(closer)[0]
        return {"prompt_tail": tail if is_inside else ""}

    def _parsed_call(self, call):
        is_other_schema = call.problems and all(problem["kind"] in _OF_THE_SCHEMA for problem in call.problems)
        status = ToolCallParseStatus.OK if is_other_schema else _STATUS[call.status]
        if status is ToolCallParseStatus.MALFORMED_STRUCTURE and not call.name:
            status = ToolCallParseStatus.MISSING_NAME
        is_read = status in (ToolCallParseStatus.OK, ToolCallParseStatus.UNKNOWN_TOOL, ToolCallParseStatus.MISSING_NAME)
        return ParsedToolCall(
            raw=self._inside(call.raw),
            name=call.name or None,
            arguments=_decoded(call.arguments) if is_read and call.arguments else None,
            token_span=call.token_span,
            status=status,
            id=call.id,
        )

    def _attempts(self, token_ids, parsed):
        """What begins with the token that opens calls and is none: text to rondo, calls that failed to the interface.

        Returns the content without them, and them.
        """
        opener, closer = self._call_tokens
        content, found = parsed.content, []
        if opener is None or parsed.reasoning_open:
            return content, found
        ids = [int(token) for token in token_ids]
        end = next((place for place, token in enumerate(ids) if token in self._stops), len(ids))
        spans = [call.token_span for call in parsed.tool_calls if call.token_span]
        for begin in [place for place, token in enumerate(ids[:end]) if token == opener]:
            if any(first <= begin < last for first, last in spans):
                continue
            close = next((place for place in range(begin + 1, end) if ids[place] == closer), None)
            last = end if close is None else close + 1
            text = self.model.detokenize(ids[begin:last])
            if text not in content:
                continue  # in the reasoning
            content = content.replace(text, "", 1)
            inside = self.model.detokenize(ids[begin + 1:end if close is None else close]).strip()
            found.append(ParsedToolCall(raw=inside, token_span=(begin, last), status=_fault(inside, close is not None)))
            spans.append((begin, last))
        return content, found

    @functools.cached_property
    def _call_tokens(self):
        """The tokens that open and close a call, where a single token does so."""
        calls = self._part("calls")
        markers = [calls.get(name, "").strip() for name in ("call_open", "call_close")]
        return [self.model.find_token(marker) if marker else None for marker in markers]

    def _inside(self, raw):
        """A call's text without the markers around it."""
        calls = self._part("calls")
        for opener in (calls.get("section_open", ""), calls.get("call_open", "")):
            raw = raw.strip().removeprefix(opener.strip())
        for closer in (calls.get("section_close", ""), calls.get("call_close", "")):
            raw = raw.strip().removesuffix(closer.strip())
        return raw.strip()

    # --- Bridging ----------------------------------------------------------------------------------------------------

    def bridge_to_next_turn(self, previous_prompt_ids, previous_completion_ids, new_messages, *, tools=None,
                            previous_multi_modal_data=None) -> RenderedTokens | None:
        """The next prompt: the old ids, then the new turn.  None where the interface wants a render of everything."""
        new_messages = [_plain(message) for message in new_messages]
        if len(previous_prompt_ids) == 0 or not new_messages or reject_assistant_in_extension(new_messages):
            return None
        if should_rerender_for_thinking_retention(self._retention_with(tools), new_messages,
                                                  is_user_query=self._is_user_query):
            return None
        prompt_end = previous_prompt_ids[-_PROMPT_END:]
        said = self.model.parse(previous_completion_ids, prompt_ids=prompt_end, tools=tools or None, kwargs=self._kwargs)
        completion = previous_completion_ids
        if said.reasoning_open:
            if said.stopped:
                return None
            completion = [*completion, *self._reasoning_closer]
        try:
            added = self.model.append(prompt_end, completion, self._prepared(new_messages), tools=tools or None,
                                      kwargs=self._kwargs, close=False)
        except (rondo.BridgeError, rondo.TemplateError):
            return None
        size = len(previous_prompt_ids) + len(completion)
        return RenderedTokens(
            token_ids=[*_plain_ids(previous_prompt_ids), *_plain_ids(completion), *added.ids.tolist()],
            message_indices=[-1] * size + added.message_indices.tolist(),
            sampled_mask=[False] * (size + len(added)),
            is_content=[False] * size + added.content_mask.astype(bool).tolist(),
            message_roles=[message.get("role") or "" for message in new_messages],
            message_tool_names=extract_message_tool_names(new_messages),
        )

    @property
    def effective_thinking_retention(self) -> str:
        """"all", "tool_cycle" or "template": what a bridge may keep of earlier reasoning."""
        return self._retention_with(None)

    def _retention_with(self, tools):
        requested = self.config.thinking_retention
        if requested is not None:
            return requested
        return self._implied_with_tools if tools else self._implied_without_tools

    @staticmethod
    def _is_user_query(message):
        return message.get("role") == "user"

    # --- What the template shows of itself ---------------------------------------------------------------------------

    @property
    def is_prefix_stable(self) -> bool:
        """Whether a conversation that ends with the model's turn stays a prefix of all that extend it, as far as a matrix of
        small conversations shows."""
        return self._prefix_stable

    def _text(self, messages, **options):
        """The prompt, or None where the template refuses."""
        try:
            return self.model.render(messages, kwargs=self._kwargs, **options)
        except rondo.TemplateError:
            return None

    @functools.cached_property
    def _format(self):
        return self.model.format(kwargs=self._kwargs)

    def _part(self, name):
        """A part of the format; empty where the template writes no such thing."""
        return self._format.get(name) or {}

    @functools.cached_property
    def _generation_prompt(self):
        user = [{"role": "user", "content": _ASKED}]
        text = self._text(user, add_generation_prompt=True)
        return "" if text is None else text.rpartition(_ASKED)[2]

    @functools.cached_property
    def _conventions(self):
        return FAMILIES.get(self.config.name, {})

    @functools.cached_property
    def _header(self):
        """The ids that open the model's turn."""
        return self.model.tokenize(self._format.get("header") or "").tolist()

    @functools.cached_property
    def _reasoning_closer(self):
        return self.model.tokenize(self._part("reasoning").get("close", "").strip()).tolist()

    @functools.cached_property
    def _stops(self):
        """What ends a last turn first: the template's own stop where it writes that there, else the tokenizer's."""
        stops = self.model.stop_ids(kwargs=self._kwargs)
        plain = [text.strip() for text in self._part("stops").get("content", ()) if text.strip()]
        last = (self._text([{"role": "user", "content": _ASKED}, {"role": "assistant", "content": _SAID}]) or "").rstrip()
        closing = [self.model.find_token(text) for text in plain if last.endswith(text)]
        own = getattr(self._tokenizer, "eos_token_id", None)
        first = next((token for token in [*closing, own] if token in stops), None)
        return stops if first is None else [first, *(token for token in stops if token != first)]

    @functools.cached_property
    def _shows_parts(self):
        """Whether the template shows content parts as it shows their text."""
        parts = self._text([{"role": "user", "content": [{"type": "text", "text": _ASKED}]}])
        return parts is not None and parts == self._text([{"role": "user", "content": _ASKED}])

    @functools.cached_property
    def _wants_arguments(self):
        """"any" if text and object come out alike, else the one that the template shows as an object."""
        def render(arguments):
            call = {"id": "abcdef000", "type": "function", "function": {"name": "probe", "arguments": arguments}}
            return self._text([{"role": "user", "content": _ASKED},
                               {"role": "assistant", "content": "", "tool_calls": [call]}])
        as_object, as_text = render({"z": _SAID}), render(json.dumps({"z": _SAID}))
        if as_object == as_text:
            return "any"
        if as_text is None:
            return "object"
        if as_object is None:
            return "text"
        return "text" if self._part("input").get("arguments_as_text") else "object"

    def _thinking_turn(self, calls=()):
        """A message with reasoning, in the shape that the template shows it in, if it shows any."""
        message = {"role": "assistant", "content": _SAID, "reasoning_content": _THOUGHT}
        if calls:
            message["tool_calls"] = list(calls)
        reasoning = self._part("reasoning")
        if reasoning.get("in_content"):
            message["content"] = f"{reasoning.get('open', '')}{_THOUGHT}{reasoning.get('close', '')}{_SAID}"
        return message

    def _call(self):
        arguments = {"z": _SAID}
        return {"id": "abcdef000", "type": "function", "function": {
            "name": "probe", "arguments": json.dumps(arguments) if self._wants_arguments == "text" else arguments}}

    @functools.cached_property
    def _implied_with_tools(self):
        return self._implied_retention(True)

    @functools.cached_property
    def _implied_without_tools(self):
        return self._implied_retention(False)

    def _implied_retention(self, has_tools):
        """What the template itself does with earlier reasoning when a user speaks again."""
        if "retention_is" in self._conventions:
            return self._conventions["retention_is"]
        if self._closes_reasoning and self._conventions.get("retention_of") != "history":
            return "all"  # nothing is sampled that could be dropped
        user = {"role": "user", "content": _ASKED}
        result = {"role": "tool", "tool_call_id": "abcdef000", "name": "probe", "content": _SAID}
        tools = [{"type": "function", "function": {"name": "probe", "description": "d", "parameters": {
            "type": "object", "properties": {"z": {"type": "string", "description": "d"}}}}}]
        options = {"tools": tools} if has_tools else {}
        plain = {"role": "assistant", "content": _SAID}
        for shown, further in (([user, self._thinking_turn()], [user]),
                               ([user, self._thinking_turn([self._call()]), result], [plain, user])):
            before = self._text(shown, **options) or ""
            behind = self._text([*shown, *further], add_generation_prompt=True, **options)
            if _THOUGHT in before and behind is not None and _THOUGHT not in behind:
                return "tool_cycle"
        return "all"

    @functools.cached_property
    def _closes_reasoning(self):
        """Whether the generation prompt opens and closes the reasoning itself."""
        reasoning = self._part("reasoning")
        closer = reasoning.get("close", "").strip()
        return bool(closer) and self._generation_prompt.rstrip().endswith(closer)

    @functools.cached_property
    def _prefix_stable(self):
        user = {"role": "user", "content": _ASKED}
        result = {"role": "tool", "tool_call_id": "abcdef000", "name": "probe", "content": _SAID}
        plain = {"role": "assistant", "content": _SAID}
        endings = [plain, self._thinking_turn(), self._thinking_turn([self._call()]), {**plain, "tool_calls": [self._call()]}]
        for ending in endings:
            following = [result] if ending.get("tool_calls") else [user]
            for turns in ([user, ending], [user, plain, user, ending]):
                for further in (following, [*following, plain], [*following, self._thinking_turn()],
                                [*following, plain, user]):
                    before, behind = self._text(turns), self._text([*turns, *further])
                    if before is not None and behind is not None and not behind.startswith(before):
                        return False
        return True


class DefaultRenderer(Renderer):
    """Any model whose family has no name here."""


CLASSES = {"default": DefaultRenderer}
