"""The renderer: the interface's methods over a rondo model, for any chat template.

What a family's renderer knows by hand is read off the template (facts.py); messages get the form that the template needs
from rondo itself (docs/shaping.md).
"""
import abc
from collections.abc import Mapping

import numpy

import rondo

from .base import (
    ParsedResponse,
    RenderedTokens,
    extract_message_tool_names,
    reject_assistant_in_extension,
    should_rerender_for_thinking_retention,
)
from .calls import parsed_call, take_attempts
from .configs import FAMILIES, DefaultRendererConfig
from .facts import Facts
from .models import model_of
from .parsers import parser_format
from .settings import template_settings

# What of a prompt says which blocks are open.
_PROMPT_END = 512


def _plain_ids(ids):
    """Ids as a list of Python's ints; a list or tuple is taken to hold such."""
    return ids if isinstance(ids, list) else ids.tolist() if hasattr(ids, "tolist") else [int(token) for token in ids]


def _behind(size, value, array):
    """A list of `size` times the value, then the array; without a copy of the first."""
    out = [value] * size
    out += array.tolist()
    return out


def _plain(message):
    """A message as a dict of its own, with reasoning that is a part of its content in the field for it."""
    if isinstance(message, Mapping):
        message = dict(message)
    elif hasattr(message, "model_dump"):
        message = message.model_dump(exclude_none=True)
    else:
        raise TypeError(f"a message must be a mapping, found `{type(message).__name__}`")
    content = message.get("content")
    if isinstance(content, list) and any(map(_is_thinking, content)):
        message["content"] = [part for part in content if not _is_thinking(part)]
        message.setdefault("reasoning_content", "".join(part["thinking"] for part in content if _is_thinking(part)))
    if not message.get("tool_calls"):
        message.pop("tool_calls", None)
    return message


def _is_thinking(part):
    return isinstance(part, Mapping) and part.get("type") == "thinking"


class Renderer(abc.ABC):
    """Messages to ids and back for one model.

    tokenizer: one of `transformers`, a rondo.Model, or a path.  config: a configuration of `configs`.  Immutable; may be used
    from many threads at once.
    """

    config_class = DefaultRendererConfig
    is_thread_safe = True

    def __init__(self, tokenizer, config=None, **settings):
        self.tokenizer = self._tokenizer = tokenizer
        self.config = config if config is not None else self.config_class(**settings)
        if config is not None and settings:
            raise ValueError(f"{sorted(settings)}: either a configuration or its fields can be given")
        parsers = [getattr(self.config, name, None) for name in ("tool_parser", "reasoning_parser")]
        self.model = model_of(tokenizer, format=parser_format(*parsers))
        self._kwargs, now = template_settings(self.config, self.model)
        self._given = {"kwargs": self._kwargs, **({} if now is None else {"now": now})}
        self._conventions = FAMILIES.get(self.config.name, {})
        self._facts = Facts(self.model, self._kwargs, self._conventions, getattr(tokenizer, "eos_token_id", None))

    # Whatever has the methods is one, so that renderers from elsewhere pass isinstance().
    @classmethod
    def __subclasshook__(cls, other):
        if cls is not Renderer:
            return NotImplemented
        methods = ("render", "render_ids", "parse_response", "get_stop_token_ids", "bridge_to_next_turn")
        return all(any(name in base.__dict__ for base in other.__mro__) for name in methods)

    # --- Rendering ---------------------------------------------------------------------------------------------------

    def render(self, messages, *, tools=None, add_generation_prompt=False) -> RenderedTokens:
        plain = self._prepared(messages)
        encoded = self.model.encode(plain, tools=tools or None, add_generation_prompt=add_generation_prompt,
                                    **self._given)
        ids, names = encoded.ids.tolist(), extract_message_tool_names(plain)
        if not getattr(encoded, "is_attributed", True):
            return RenderedTokens(ids, encoded.message_indices.tolist(), message_roles=encoded.roles,
                                  message_tool_names=names)
        owners, sampled, body = self._view(encoded, add_generation_prompt)
        return RenderedTokens.lazily(
            {"message_indices": owners.tolist, "sampled_mask": sampled.tolist, "is_content": body.tolist},
            token_ids=ids, message_roles=encoded.roles, message_tool_names=names)

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
            if ids[place] in self._facts.stops:
                owners[place] = owners[place - 1]
            else:
                sampled[place] = False
        for place in numpy.flatnonzero(sampled[:-1] & ~sampled[1:]).tolist():
            if ids[place] not in self._facts.stops and ids[place + 1] in self._facts.stops:
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
        size = len(self._facts.header)
        turns = is_assistant[owners]
        begins = numpy.flatnonzero(turns & (numpy.concatenate(([-2], owners[:-1])) != owners))
        for begin in begins.tolist():
            if size == 0 or ids[begin:begin + size].tolist() != self._facts.header:
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
        stops = [place for place in range(begin, end) if ids[place] in self._facts.stops]
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
        return self.model.encode(self._prepared(messages), tools=tools or None,
                                 add_generation_prompt=add_generation_prompt, **self._given).ids.tolist()

    @staticmethod
    def _prepared(messages):
        if not messages:
            raise ValueError("there are no messages")
        return [_plain(message) for message in messages]

    def get_stop_token_ids(self) -> list[int]:
        """The ids that end generation; the one that closes a plain turn first."""
        return list(self._facts.stops)

    @property
    def supports_tools(self) -> bool:
        """Whether calls can be read: the template writes them, or a parser was named."""
        return bool(self._facts.part("calls").get("present"))

    # --- Reading -----------------------------------------------------------------------------------------------------

    def parse_response(self, token_ids, *, tools=None, prompt_ids=None) -> ParsedResponse:
        has_prompt = prompt_ids is not None and len(prompt_ids) > 0
        prompt = {"prompt_ids": prompt_ids[-_PROMPT_END:]} if has_prompt else self._unknown_prompt(token_ids)
        parsed = self.model.parse(token_ids, tools=tools or None, kwargs=self._kwargs, **prompt)
        reasoning, content, marks = parsed.reasoning_content, parsed.content, self._facts.part("calls")
        calls = [parsed_call(call, marks) for call in parsed.tool_calls]
        if not parsed.reasoning_open:
            content, calls = take_attempts(self.model, _plain_ids(token_ids), reasoning, content, calls,
                                           self._facts.call_tokens, self._facts.stops)
        if self._strips:
            content, reasoning = content.strip(), reasoning and reasoning.strip()
        return ParsedResponse(content, reasoning or None, calls, not parsed.reasoning_open)

    # Families' renderers give texts without the white space around them.
    _strips = True

    def _unknown_prompt(self, token_ids):
        """What is open where a completion without its prompt begins: reasoning, if it closes some that it did not open."""
        tail = self._facts.generation_prompt
        opener, closer = (self._facts.mark("reasoning", name) for name in ("open", "close"))
        if not tail.rstrip().endswith(opener) or not opener or not closer:
            return {"prompt_tail": ""}
        text = self.model.detokenize(token_ids)
        is_inside = closer in text and opener not in text.partition(closer)[0]
        return {"prompt_tail": tail if is_inside else ""}

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
        completion = _plain_ids(previous_completion_ids)
        if said.reasoning_open:
            if said.stopped:
                return None
            completion = [*completion, *self._facts.reasoning_closer]
        try:
            added = self.model.append(prompt_end, completion, new_messages, tools=tools or None, close=False,
                                      **self._given)
        except (rondo.BridgeError, rondo.TemplateError):
            return None
        ids = _plain_ids(previous_prompt_ids) + completion
        ids += added.ids.tolist()
        size = len(ids) - len(added)
        return RenderedTokens.lazily(
            {
                "message_indices": lambda: _behind(size, -1, added.message_indices),
                "sampled_mask": lambda: [False] * len(ids),
                "is_content": lambda: _behind(size, False, added.content_mask.astype(bool)),
            },
            token_ids=ids,
            message_roles=[message.get("role") or "" for message in new_messages],
            message_tool_names=extract_message_tool_names(new_messages))

    @property
    def effective_thinking_retention(self) -> str:
        """"all", "tool_cycle" or "template": what a bridge may keep of earlier reasoning."""
        return self._retention_with(None)

    def _retention_with(self, tools):
        requested = self.config.thinking_retention
        if requested is not None:
            return requested
        return self._facts.retention_with_tools if tools else self._facts.retention_without_tools

    @staticmethod
    def _is_user_query(message):
        return message.get("role") == "user"

    @property
    def is_prefix_stable(self) -> bool:
        """Whether a conversation that ends with the model's turn stays a prefix of all that extend it, as far as a matrix of
        small conversations shows."""
        return self._facts.is_prefix_stable


class DefaultRenderer(Renderer):
    """Any model whose family has no name here.  What it wrote is given as it stands."""

    _strips = False


CLASSES = {"default": DefaultRenderer}
