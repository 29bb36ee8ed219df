"""rondo as tool parser, reasoning parser and renderer of SGLang (docs/plugins.md).

    python -m sglang.launch_server --model-path MODEL --tool-call-parser rondo --reasoning-parser rondo

With rondo installed SGLang finds this by itself (its entry points `sglang.srt.plugins`).  `RONDO_RENDER=1` renders prompts by
rondo as well.
"""
import contextvars
import json
import logging
import os

from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult as ToolResult
from sglang.srt.function_call.core_types import ToolCallItem
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser.reasoning_parser import BaseReasoningFormatDetector, ReasoningParser, StreamingParseResult

from rondo.plugins import reading, rendering

__all__ = ["RondoReasoningDetector", "RondoToolDetector", "register"]

logger = logging.getLogger("rondo.plugins")
_request = contextvars.ContextVar("rondo_request", default=None)


def _model_or_none(tokenizer):
    """None, with a line in the log, where a tokenizer is nothing for rondo: text is passed through then."""
    try:
        return reading.model_of(tokenizer)
    except Exception as error:
        logger.error("rondo: replies are passed through as text: %s", error)
        return None


def _marks(model):
    """How the template opens and closes reasoning; "" where it has none."""
    try:
        reasoning = model.format().get("reasoning") or {}
    except Exception:  # without a model too
        return "", ""
    return (reasoning.get("open") or "").strip(), (reasoning.get("close") or "").strip()


def _context_of(request):
    """What of a request tells how its prompt ends."""
    if request is None:
        return {}
    messages = getattr(request, "messages", None) or []
    # Messages may bring tools too, and the server's tool parser gets those as well: both must call the same text a call.
    tools = [*(getattr(request, "tools", None) or ()), *(tool for message in messages for tool in getattr(message, "tools", None) or ())]
    return {"messages": [message.model_dump(exclude_none=True) for message in messages] or None,
            "kwargs": getattr(request, "chat_template_kwargs", None) or None,
            "tools": reading.tools_of(tools)}


class RondoReasoningDetector(BaseReasoningFormatDetector):
    """Tells reasoning from the rest.  Where a tool parser reads the rest, it gets all but the reasoning's text as it was
    written, so that it sees the reply in the state in which the model wrote it."""

    is_in_use = False

    def __init__(self, tokenizer=None, stream_reasoning=True, force_reasoning=False, continue_final_message=False,
                 previous_content="", tool_call_parser_active=False, force_nonempty_content=False):
        type(self).is_in_use = True
        self._model = _model_or_none(tokenizer)
        opening, closing = _marks(self._model)
        super().__init__(opening, closing, force_reasoning=bool(force_reasoning), stream_reasoning=stream_reasoning,
                         continue_final_message=continue_final_message, previous_content=previous_content or "",
                         force_nonempty_content=force_nonempty_content)
        try:
            self._context = _context_of(_request.get())
        except Exception as error:
            logger.warning("rondo: a reply is read without its request: %s", error)
            self._context = {}
        self._hands_on = tool_call_parser_active and RondoToolDetector.is_in_use
        self._reader = None
        self._raw = ""
        self._is_past = False

    def _start(self):
        self._reader = reading.Reader(self._model, parse_tools=self._hands_on, **self._context)
        if self._hands_on:
            # The tool parser reads behind a plain prompt; what this one differs in is said by a mark.
            plain = reading.Reader(self._model).reasoning_open
            mark = self.think_start_token if self._reader.reasoning_open else self.think_end_token
            self._raw = mark if plain != self._reader.reasoning_open else ""

    def _feed(self, text):
        """(reasoning, the rest)"""
        if self._reader is None:
            self._start()
        if not self._hands_on:
            reply = self._reader.feed(text)
            return reply.reasoning, reply.content
        reasoning = rest = ""
        for index, character in enumerate(text):
            if self._is_past:
                rest += text[index:]
                break
            reply = self._reader.feed(character)
            self._raw += character
            if reply.reasoning:
                # What is held back, and what this text is made of, came last.
                reasoning += reply.reasoning
                self._raw = self._without(reply.reasoning)
            if reply.content or reply.calls:
                self._is_past = True
                rest += self._raw
                self._raw = ""
        return reasoning, rest

    def _without(self, reasoning):
        at = self._raw.rfind(reasoning)
        return self._raw if at < 0 else self._raw[:at] + self._raw[at + len(reasoning):]

    def _detect_and_parse_impl(self, text):
        if self._hands_on:
            reader = reading.Reader(self._model, **self._context)
            reply, last = reader.feed(text), reader.close()
            if not reply.calls and not last.calls:
                return StreamingParseResult(normal_text=reply.content + last.content,
                                            reasoning_text=reply.reasoning + last.reasoning)
        reasoning, rest = self._feed(text)
        last_reasoning, last_rest = self._end()
        return StreamingParseResult(normal_text=rest + last_rest, reasoning_text=reasoning + last_reasoning)

    def _parse_streaming_increment_impl(self, new_text):
        reasoning, rest = self._feed(new_text)
        if not self.stream_reasoning:
            self._buffer += reasoning
            reasoning = ""
        return StreamingParseResult(normal_text=rest, reasoning_text=reasoning)

    def _end(self):
        if self._reader is None:
            return "", ""
        reply = self._reader.close()
        if not self._hands_on:
            return reply.reasoning, reply.content
        rest = self._without(reply.reasoning) if reply.reasoning else self._raw
        self._raw = ""
        return reply.reasoning, rest

    def finish(self):
        reasoning, rest = self._end()
        result = StreamingParseResult(normal_text=rest, reasoning_text=self._buffer + reasoning)
        self._buffer = ""
        return result


class RondoToolDetector(BaseFormatDetector):
    """Finds calls in the syntax of the template."""

    is_in_use = False

    def __init__(self, tokenizer=None):
        super().__init__()
        type(self).is_in_use = True
        self._model = _model_or_none(tokenizer)
        self._reader = None

    def _read(self, tools):
        # The reasoning parser has taken the reasoning out, but not its marks; without one it stays in the content.
        return reading.Reader(self._model, tools=reading.tools_of(tools), split=RondoReasoningDetector.is_in_use)

    def has_tool_call(self, text):
        """Whether the text is anything but content: only reading tells, since a syntax may need no mark."""
        found = self.detect_and_parse(text, [])
        return bool(found.calls) or found.normal_text != text

    def detect_and_parse(self, text, tools):
        reader = self._read(tools)
        reply = reader.feed(text)
        rest = reader.close()
        reply.calls += rest.calls
        calls = [ToolCallItem(tool_index=index, name=name, parameters=arguments or "{}")
                 for index, (name, _, arguments) in enumerate(reply.whole_calls())]
        return ToolResult(normal_text=reply.shown + rest.shown, calls=calls)

    def parse_streaming_increment(self, new_text, tools):
        if self._reader is None:
            self._reader = self._read(tools)
        return self._result(self._reader.feed(new_text))

    def finish(self, tools):
        return self._result(self._reader.close()) if self._reader is not None else ToolResult()

    def _result(self, reply):
        calls = []
        for index, name, _, arguments in reply.calls:
            self._note(index, name, arguments)
            calls.append(ToolCallItem(tool_index=index, name=name, parameters=arguments))
        return ToolResult(normal_text=reply.shown, calls=calls)

    def _note(self, index, name, arguments):
        """What the server looks at when a stream ends: the arguments sent, and all of them, which are the same here."""
        self.current_tool_id = index
        while len(self.streamed_args_for_tool) <= index:
            self.streamed_args_for_tool.append("")
            self.prev_tool_call_arr.append({"name": "", "arguments": {}})
        if name is not None:
            self.prev_tool_call_arr[index]["name"] = name
        self.streamed_args_for_tool[index] += arguments
        try:
            self.prev_tool_call_arr[index]["arguments"] = json.loads(self.streamed_args_for_tool[index])
        except ValueError:
            pass

    def supports_structural_tag(self):
        return False

    def parses_required_natively(self):
        return True

    def structure_info(self):
        raise NotImplementedError("rondo gives whole structural tags")

    def get_structural_tag(self, tools=None, tool_choice="auto", thinking_mode=False, parallel_tool_calls=True):
        """Calls that have to come, in the template's own syntax.  SGLang takes the reasoning in front of them as its own where
        it has a reasoning parser."""
        if self._model is None:
            return None
        name = getattr(getattr(tool_choice, "function", None), "name", None)
        closing = _marks(self._model)[1]
        try:
            prompt_ids = None
            if not thinking_mode and closing and reading.Reader(self._model).reasoning_open:
                plain = self._model.encode([{"role": "user", "content": ""}], add_generation_prompt=True)
                prompt_ids = [*plain.ids.tolist(), *self._model.tokenize(closing).tolist()]
            tag = reading.structural_tag(self._model, reading.tools_of(tools), prompt_ids=prompt_ids,
                                         tool_choice={"name": name} if name else tool_choice,
                                         parallel_tool_calls=parallel_tool_calls)
            return _tag_object(tag) if tag else None
        except Exception as error:
            logger.warning("rondo: calls are not constrained: %s", error)
            return None


def _tag_object(tag):
    from xgrammar import StructuralTag

    return StructuralTag.model_validate_json(tag)


def _with_request(original, self, *args, **kwargs):
    """ReasoningParser.__init__(), during which detectors may look at the request: it says how the prompt ends."""
    request = kwargs.get("request", args[3] if len(args) > 3 else None)
    token = _request.set(request)
    try:
        return original(self, *args, **kwargs)
    finally:
        _request.reset(token)


def _render(original, self, messages, *args, tools=None, template_kwargs=None, add_generation_prompt=True, **kwargs):
    """OpenAIServingChat._render_and_encode_chat_template() by rondo: (ids, their text or None)."""
    def own(**_):
        return None

    ids = None
    if not args:
        ids = rendering.apply(self.tokenizer_manager.tokenizer, own, messages, tools=tools,
                              add_generation_prompt=add_generation_prompt, **(template_kwargs or {}))
    if ids is None:
        return original(self, messages, *args, tools=tools, template_kwargs=template_kwargs,
                        add_generation_prompt=add_generation_prompt, **kwargs)
    return ids, self.tokenizer_manager.tokenizer.decode(ids) if kwargs.get("use_cache") else None


def register():
    """Makes the parsers known, and the renderer where `RONDO_RENDER` is set; a second time does nothing."""
    FunctionCallParser.ToolCallParserEnum["rondo"] = RondoToolDetector
    ReasoningParser.DetectorMap["rondo"] = RondoReasoningDetector
    if getattr(ReasoningParser, "of_rondo", False):
        return
    ReasoningParser.of_rondo = True
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType

    HookRegistry.register("sglang.srt.parser.reasoning_parser.ReasoningParser.__init__", _with_request, HookType.AROUND)
    if os.environ.get("RONDO_RENDER"):
        HookRegistry.register("sglang.srt.entrypoints.openai.serving_chat.OpenAIServingChat._render_and_encode_chat_template",
                              _render, HookType.AROUND)
