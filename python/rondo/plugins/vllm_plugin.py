"""rondo as tool parser, reasoning parser and renderer of vLLM (docs/plugins.md).

    vllm serve MODEL --enable-auto-tool-choice --tool-call-parser rondo --reasoning-parser rondo
    vllm serve MODEL --tokenizer-mode rondo ...              # prompts by rondo as well

With rondo installed vLLM finds this by itself; else `--tool-parser-plugin rondo.plugins.vllm_plugin` (or this file) loads it.
"""
import functools
import logging

from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    ExtractedToolCallInformation,
    FunctionCall,
    ToolCall,
)
from vllm.parser.abstract_parser import DelegatingParser, Parser
from vllm.parser.parser_manager import ParserManager
from vllm.reasoning.abs_reasoning_parsers import ReasoningParser, ReasoningParserManager
from vllm.renderers.chat_utils import make_tool_call_id
from vllm.sampling_params import StructuredOutputsParams
from vllm.tool_parsers.abstract_tool_parser import ToolParser, ToolParserManager

from rondo.plugins import reading

logger = logging.getLogger("rondo.plugins")


def _model_or_none(tokenizer, template=None):
    """None, with a line in the log, where a tokenizer is nothing for rondo: text is passed through then."""
    try:
        return reading.model_of(tokenizer, template)
    except Exception as error:
        logger.error("rondo: replies are passed through as text: %s", error)
        return None


def _choice_of(request):
    """tool_choice in rondo's words."""
    choice = getattr(request, "tool_choice", None)
    function = getattr(choice, "function", choice)
    name = getattr(function, "name", None)
    return {"name": name} if name else choice or "auto"


def _wants_text(request):
    """Whether text and ids of a reply part: an engine cuts stop strings and stop ids of a request off the text alone."""
    return bool(getattr(request, "stop", None) or getattr(request, "stop_token_ids", None))


def _constrain(request, model, *, prompt_ids, kwargs):
    """Calls that have to come, or have to fit their schema, are held to the template's own syntax."""
    tools = reading.tools_of(request.tools)
    choice = _choice_of(request)
    forced = choice == "required" or isinstance(choice, dict)
    strict = choice == "auto" and any(tool["function"].get("strict") for tool in tools or ())
    taken = getattr(request, "structured_outputs", None) or getattr(request, "response_format", None)
    if model is None or tools is None or not (forced or (strict and not taken)):
        return
    tag = reading.structural_tag(model, tools, tool_choice=choice, kwargs=kwargs, prompt_ids=prompt_ids,
                                 parallel_tool_calls=request.parallel_tool_calls is not False)
    if not tag:
        return
    request.structured_outputs = StructuredOutputsParams(structural_tag=tag)
    if hasattr(request, "response_format"):
        request.response_format = None
    else:
        request.text = None
    # The grammar holds the reasoning too, so it counts from the first token.
    request._grammar_from_parser = True


def _show_all_tokens(request):
    request.skip_special_tokens = False
    if hasattr(request, "spaces_between_special_tokens"):
        request.spaces_between_special_tokens = False


class RondoReasoningParser(ReasoningParser):
    """Says where reasoning ends; alone, beside a tool parser of another kind, it tells reasoning from the rest too."""

    engine_based_streaming = True
    of_rondo = True  # the class may be another copy's: vLLM loads a plugin's file under a name of its own

    def __init__(self, tokenizer, *args, **kwargs):
        super().__init__(tokenizer, *args, **kwargs)
        self._model = _model_or_none(tokenizer)
        self._kwargs = kwargs.get("chat_template_kwargs") or None
        self._prompt_ids = None
        self._reader = None
        self._watcher = None
        self._was_open = False
        self._is_over = False

    @property
    def reasoning_start_str(self):
        return self._mark("open")

    @property
    def reasoning_end_str(self):
        return self._mark("close")

    def _mark(self, which):
        try:
            return (self._model.format().get("reasoning") or {}).get(which) or None
        except Exception:  # without a model too
            return None

    def adjust_request(self, request):
        _show_all_tokens(request)
        return request

    def set_prompt_token_ids(self, prompt_token_ids):
        self._prompt_ids = list(prompt_token_ids)
        self._reader = None

    def is_reasoning_end(self, input_ids):
        try:
            return self._model is None or reading.prompt_closes_reasoning(self._model, list(input_ids))
        except Exception as error:
            logger.warning("rondo: taken for a prompt without reasoning: %s", error)
            return True

    def is_reasoning_end_streaming(self, input_ids, delta_ids):
        """Reasoning that was open, in the prompt or by the model, is closed by these ids."""
        delta = list(delta_ids)
        if self._watcher is None:
            behind = max(0, len(input_ids) - len(delta))
            self._watcher = reading.Reader(self._model, parse_tools=False, prompt_ids=list(input_ids)[:behind])
            self._was_open = self._watcher.reasoning_open
        for token in delta:
            self._watcher.feed("", [token])
            is_open = self._watcher.reasoning_open
            if self._was_open and not is_open:
                return True
            self._was_open = is_open
        return False

    def extract_content_ids(self, input_ids):
        """The ids behind the reasoning."""
        watcher = reading.Reader(self._model, parse_tools=False, prompt_ids=self._prompt_ids, kwargs=self._kwargs)
        ids, was_open = list(input_ids), watcher.reasoning_open
        for index, token in enumerate(ids):
            watcher.feed("", [token])
            if was_open and not watcher.reasoning_open:
                return ids[index + 1:]
            was_open = watcher.reasoning_open
        return [] if was_open else ids

    def count_reasoning_tokens(self, token_ids):
        watcher = reading.Reader(self._model, parse_tools=False, prompt_ids=self._prompt_ids, kwargs=self._kwargs)
        count = 0
        for token in token_ids:
            was_open = watcher.reasoning_open
            watcher.feed("", [token])
            count += was_open and watcher.reasoning_open
        return count

    def _new_reader(self):
        return reading.Reader(self._model, parse_tools=False, prompt_ids=self._prompt_ids, kwargs=self._kwargs)

    def extract_reasoning(self, model_output, request):
        reader = self._new_reader()
        first, rest = reader.feed(model_output), reader.close()
        return first.reasoning + rest.reasoning or None, first.content + rest.content or None

    def extract_reasoning_streaming(self, previous_text, current_text, delta_text, previous_token_ids, current_token_ids,
                                    delta_token_ids):
        if self._reader is None:
            self._reader = self._new_reader()
        reply = self._reader.feed(delta_text)
        self._is_over = self._is_over or bool(reply.content)
        return _delta(reply)

    def has_engine_confirmed_reasoning_end(self):
        return self._is_over

    def finish_streaming(self):
        return _delta(self._reader.close()) if self._reader is not None else None


def _delta(reply, calls=()):
    fields = {"reasoning": reply.reasoning, "content": reply.content, "tool_calls": list(calls)}
    given = {name: value for name, value in fields.items() if value}
    return DeltaMessage(**given) if given else None


class RondoToolParser(ToolParser):
    """Finds calls in the syntax of the template; alone, beside a reasoning parser of another kind, behind the reasoning."""

    supports_required_and_named = False
    engine_based_streaming = True
    of_rondo = True

    def __init__(self, tokenizer, tools=None, **kwargs):
        super().__init__(tokenizer, tools)
        self._model = _model_or_none(tokenizer)
        self._reader = None
        self._sent = set()

    def adjust_request(self, request):
        if request.tools and request.tool_choice != "none":
            _show_all_tokens(request)
        return request

    def _new_reader(self):
        # Reasoning has been taken out by another parser: none is open, and what looks like it is text.
        return reading.Reader(self._model, split=False, tools=reading.tools_of(self.tools), prompt_tail="")

    def extract_tool_calls(self, model_output, request):
        reader = self._new_reader()
        reply = reader.feed(model_output)
        rest = reader.close()
        reply.content += rest.content
        reply.calls += rest.calls
        calls = [ToolCall(id=given or make_tool_call_id(), function=FunctionCall(name=name, arguments=arguments or "{}"))
                 for name, given, arguments in reply.whole_calls()]
        return ExtractedToolCallInformation(tools_called=bool(calls), tool_calls=calls, content=reply.content or None)

    def extract_tool_calls_streaming(self, previous_text, current_text, delta_text, previous_token_ids, current_token_ids,
                                     delta_token_ids, request):
        if self._reader is None:
            self._reader = self._new_reader()
        reply = self._reader.feed(delta_text)
        return _delta(reply, _call_deltas(reply, lambda name: make_tool_call_id()))

    def finish_streaming(self):
        if self._reader is None:
            return None
        reply = self._reader.close()
        return _delta(reply, _call_deltas(reply, lambda name: make_tool_call_id()))


def _call_deltas(reply, new_id):
    for index, name, given, arguments in reply.calls:
        if name is None:
            yield DeltaToolCall(index=index, function=DeltaFunctionCall(arguments=arguments))
        else:
            yield DeltaToolCall(index=index, id=given or new_id(name), type="function",
                                function=DeltaFunctionCall(name=name, arguments=""))


class RondoParser(Parser):
    """Both parsers in one: a reply is read once, from its ids, with what its prompt has opened."""

    always_adjust_request = True

    def __init__(self, tokenizer, tools=None, *args, **kwargs):
        super().__init__(tokenizer, tools, *args, **kwargs)
        self._model = _model_or_none(tokenizer)
        self._kwargs = kwargs.get("chat_template_kwargs") or None
        self._tools = tools
        self._prompt_ids = None
        self._reader = None

    def set_prompt_token_ids(self, prompt_token_ids):
        self._prompt_ids = list(prompt_token_ids)

    def adjust_request(self, request):
        _show_all_tokens(request)
        if self._tool_parser is not None:
            try:
                _constrain(request, self._of_request(request), prompt_ids=self._prompt_ids, kwargs=self._kwargs)
            except Exception as error:
                logger.warning("rondo: calls are not constrained: %s", error)
        return request

    def is_reasoning_end(self, input_ids):
        return self._reasoning_parser is None or self._reasoning_parser.is_reasoning_end(input_ids)

    def count_reasoning_tokens(self, token_ids):
        if self._reasoning_parser is None:
            return 0
        if self._prompt_ids is not None:
            self._reasoning_parser.set_prompt_token_ids(self._prompt_ids)
        return self._reasoning_parser.count_reasoning_tokens(token_ids)

    def parse(self, model_output, request, enable_auto_tools=False, model_output_token_ids=()):
        self._initialize_history_tool_call_cnt(request)
        reader = self._new_reader(request)
        reply = reader.feed(model_output, None if _wants_text(request) else model_output_token_ids)
        rest = reader.close()
        reply.reasoning += rest.reasoning
        reply.content += rest.content
        reply.calls += rest.calls
        calls = [FunctionCall(id=given or self._new_id(name), name=name, arguments=arguments or "{}")
                 for name, given, arguments in reply.whole_calls()]
        return reply.reasoning or None, reply.content or None, calls or None

    def parse_delta(self, delta_text, delta_token_ids, request, prompt_token_ids=None, *, finished):
        self._initialize_history_tool_call_cnt(request)
        if self._prompt_ids is None and prompt_token_ids is not None:
            self.set_prompt_token_ids(prompt_token_ids)
        if self._reader is None:
            self._reader = self._new_reader(request)
        reply = self._reader.feed(delta_text, None if _wants_text(request) else delta_token_ids)
        if finished:
            rest = self._reader.close()
            reply.reasoning += rest.reasoning
            reply.content += rest.content
            reply.calls += rest.calls
        if not request.include_reasoning:
            reply.reasoning = ""
        return _delta(reply, _call_deltas(reply, self._new_id))

    def _of_request(self, request):
        template = getattr(request, "chat_template", None)
        return _model_or_none(self.model_tokenizer, template) if template else self._model

    def _new_reader(self, request):
        # Calls that vLLM would not show are text.
        parse_tools = self._tool_parser is not None and bool(request.tools) and request.tool_choice not in ("none", None)
        return reading.Reader(
            self._of_request(request), parse_tools=parse_tools, split=self._reasoning_parser is not None,
            tools=reading.tools_of(self._tools) if parse_tools else None, prompt_ids=self._prompt_ids, kwargs=self._kwargs)

    def _new_id(self, name):
        state = self._stream_state
        made = make_tool_call_id(id_type=state.tool_call_id_type, func_name=name, idx=state.history_tool_call_cnt)
        state.history_tool_call_cnt += 1
        return made


def _is_ours(parser_cls):
    parts = [cls for cls in (parser_cls.reasoning_parser_cls, parser_cls.tool_parser_cls) if cls is not None]
    return bool(parts) and all(getattr(cls, "of_rondo", False) for cls in parts)


def _get_parser(original, *args, tokenizer=None, **kwargs):
    """ParserManager.get_parser(); where every parser is rondo's, one RondoParser stands for them."""
    made = original(*args, tokenizer=tokenizer, **kwargs)
    if made is None or not issubclass(made, DelegatingParser) or not _is_ours(made):
        return made
    if tokenizer is not None:
        try:
            reading.model_of(tokenizer)
        except Exception as error:
            raise TypeError(f"the parser rondo cannot be used with this tokenizer: {error}") from error
    names = ("reasoning_parser_cls", "tool_parser_cls", "tool_strict_level")
    return type("RondoParser", (RondoParser,), {name: getattr(made, name) for name in names})


def register():
    """Makes the parsers and the renderer known; a second time does nothing."""
    ToolParserManager.register_module("rondo", module=RondoToolParser)
    ReasoningParserManager.register_module("rondo", module=RondoReasoningParser)
    if not getattr(ParserManager.get_parser, "of_rondo", False):
        composed = functools.partial(_get_parser, ParserManager.get_parser)
        composed.of_rondo = True
        ParserManager.get_parser = composed
    try:
        from vllm.renderers.registry import RENDERER_REGISTRY
        from vllm.tokenizers.registry import TokenizerRegistry
    except ImportError as error:
        logger.info("rondo: no renderer in this vLLM: %s", error)
        return
    if "rondo" not in TokenizerRegistry.tokenizers:
        TokenizerRegistry.register("rondo", "vllm.tokenizers.hf", "CachedHfTokenizer")
    if "rondo" not in RENDERER_REGISTRY.renderers:
        RENDERER_REGISTRY.register("rondo", "rondo.plugins.vllm_renderer", "RondoRenderer")


register()
