"""The plugin for vLLM, against vLLM's own parser classes, managers and requests."""
import copy
import itertools
import json
import os
import pathlib
import sys
import types

import pytest
import standins
from conftest import TOOL, streams, told

FOLDER = pathlib.Path(os.environ["RONDO_TEST_VLLM"])
CHAT = "vllm.entrypoints.openai.chat_completion"
REAL = ("vllm.exceptions vllm.entrypoints.serve.engine.protocol vllm.entrypoints.generate.base.protocol vllm.parser.chat_parsing "
        "vllm.parser.chat_parsing.content_parsers vllm.parser.chat_parsing.response_parser vllm.utils.collection_utils "
        "vllm.parser.chat_parsing.response_templates vllm.parser.response_template_grammar vllm.reasoning vllm.tool_parsers "
        "vllm.tool_parsers.tool_strict_level vllm.renderers.chat_utils.tool_call vllm.tool_parsers.abstract_tool_parser "
        "vllm.reasoning.abs_reasoning_parsers vllm.parser.abstract_parser vllm.parser.response_template "
        f"vllm.parser.parser_manager {CHAT}.protocol {CHAT}.message_assembly {CHAT}.stream_processor "
        "vllm.entrypoints.serve.utils.tool_calls_utils vllm.utils.import_utils vllm.utils.async_utils vllm.utils.func_utils "
        "vllm.inputs vllm.inputs.llm vllm.inputs.engine vllm.renderers vllm.renderers.inputs vllm.renderers.inputs.preprocess vllm.renderers.params vllm.renderers.base "
        "vllm.renderers.registry vllm.renderers.hf").split()


class StructuredOutputs:
    """vLLM's own is a structure for its engine."""

    def __init__(self, structural_tag=None):
        self.structural_tag = structural_tag


@pytest.fixture(scope="module")
def vllm():
    numbers = itertools.count()
    utils = standins._Module("vllm.utils")
    utils.random_uuid = lambda: f"id{next(numbers)}"
    sys.modules["vllm.utils"] = utils
    standins.install("vllm", FOLDER, REAL)
    chat_utils, tool_call = sys.modules["vllm.renderers.chat_utils"], sys.modules["vllm.renderers.chat_utils.tool_call"]
    chat_utils.make_tool_call_id = tool_call.make_tool_call_id
    sys.modules["vllm.sampling_params"].StructuredOutputsParams = StructuredOutputs
    import rondo.plugins.vllm_plugin as plugin

    return plugin


def parser_class(tokenizer, tool_parser="rondo", reasoning_parser="rondo"):
    from vllm.parser.parser_manager import ParserManager

    return ParserManager.get_parser(tool_parser_name=tool_parser, reasoning_parser_name=reasoning_parser, enable_auto_tools=True,
                                    tokenizer=tokenizer)


def request_of(tools=None, **fields):
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest

    return ChatCompletionRequest(messages=[{"role": "user", "content": "?"}], model="m", request_id="r", tools=tools, **fields)


def made(cls, turn, request):
    parser = cls(turn.tokenizer, request.tools, chat_template_kwargs={})
    parser.set_prompt_token_ids(turn.prompt_ids)
    return parser


def collected(messages):
    """(reasoning, content, [(name, arguments text)]) of deltas."""
    reasoning, content, calls = "", "", {}
    for message in messages:
        if message is None:
            continue
        reasoning += message.reasoning or ""
        content += message.content or ""
        for call in message.tool_calls:
            name, arguments = calls.get(call.index, ("", ""))
            calls[call.index] = (name + (call.function.name or ""), arguments + (call.function.arguments or ""))
    return reasoning, content, [calls[index] for index in sorted(calls)]


def streamed(parser, request, parts, turn):
    for index, (text, ids) in enumerate(told(turn.tokenizer, parts)):
        yield parser.parse_delta(text, ids, request, turn.prompt_ids, finished=index == len(parts) - 1)


def values(calls):
    return [(name, json.loads(arguments or "{}")) for name, arguments in calls]


def test_both_names_make_one_parser(vllm, turns):
    cls = parser_class(turns[0].tokenizer)
    assert issubclass(cls, vllm.RondoParser)
    assert cls.tool_parser_cls is vllm.RondoToolParser and cls.reasoning_parser_cls is vllm.RondoReasoningParser
    vllm.register()  # a second time
    assert issubclass(parser_class(turns[0].tokenizer), vllm.RondoParser)
    assert parser_class(turns[0].tokenizer, reasoning_parser=None).reasoning_parser_cls is None


def test_a_tokenizer_that_rondo_cannot_read_ends_the_start(vllm):
    with pytest.raises(TypeError, match="rondo cannot be used with this tokenizer"):
        parser_class(object())


def test_streams_and_whole_texts_say_what_rondo_reads(vllm, turns, deltas):
    assert len({turn.row for turn in turns}) >= 20
    for number, turn in enumerate(turns):
        cls, request = parser_class(turn.tokenizer), request_of(turn.tools)
        reasoning, content, calls = made(cls, turn, request).parse(turn.text, request, True, turn.ids)
        whole = ((reasoning or "").rstrip(), (content or "").rstrip(), [(call.name, json.loads(call.arguments)) for call in calls or ()])
        assert whole == turn.expected, turn.row
        parts = deltas(turn.ids, number)
        got = collected(streamed(made(cls, turn, request), request, parts, turn))
        assert (got[0].rstrip(), got[1].rstrip(), values(got[2])) == turn.expected, turn.row


def test_a_tool_parser_alone_leaves_reasoning_in_the_content(vllm, turns, deltas):
    for turn in turns:
        request = request_of(turn.tools)
        parser = made(parser_class(turn.tokenizer, reasoning_parser=None), turn, request)
        got = collected(streamed(parser, request, deltas(turn.ids, 1), turn))
        assert got[0] == "" and [name for name, _ in got[2]] == [name for name, _ in turn.expected[2]], turn.row
        for words in turn.expected[:2]:
            assert all(word in got[1] for word in words.split()), turn.row


def test_nothing_is_lost_and_nothing_raised_in_any_stream(vllm, turns, deltas):
    count = int(os.environ.get("RONDO_PLUGIN_STREAMS", 0)) or 300
    for number, turn in enumerate(turns):
        cls, request = parser_class(turn.tokenizer), request_of([TOOL])
        for seed, ids in enumerate(streams(turn, -(-count // len(turns)), number)):
            parser = made(cls, turn, request)
            got = collected(streamed(parser, request, deltas(ids, seed), turn))
            shown = ids[:-1] if ids[-1] in turn.tokenizer.model.stop_ids() else ids
            said = turn.tokenizer.model.parse(shown, prompt_ids=turn.prompt_ids, tools=[TOOL])
            # Up to the first stop it is what rondo reads; what stands behind is content.
            assert got[0].rstrip() == (said.reasoning_content or "").rstrip(), (turn.row, ids)
            assert got[1].startswith((said.content or "").rstrip()), (turn.row, ids)
            assert [name for name, _ in got[2]] == [call.name for call in said.tool_calls], (turn.row, ids)


def test_ids_that_no_tokenizer_has_are_passed_through_as_text(vllm, turns):
    turn = turns[0]
    request = request_of([TOOL])
    parser = made(parser_class(turn.tokenizer), turn, request)
    first = parser.parse_delta("so ", turn.tokenizer.encode("so "), request, turn.prompt_ids, finished=False)
    second = parser.parse_delta("be it", [1 << 30], request, None, finished=False)
    third = parser.parse_delta(" then", [5], request, None, finished=True)
    got = collected((first, second, third))
    assert (got[0] + got[1]).endswith("be it then") and (got[0] + got[1]).startswith("so ")


def test_stop_strings_are_the_engines_own(vllm, turns):
    turn = next(turn for turn in turns if turn.messages[-1]["role"] == "user")
    request = request_of([TOOL], stop=["END"])
    parser = made(parser_class(turn.tokenizer), turn, request)
    ids = turn.tokenizer.encode("done END")
    got = collected([parser.parse_delta("done ", ids, request, turn.prompt_ids, finished=True)])
    assert got[0] + got[1] == "done "


def test_calls_that_nobody_may_make_are_text(vllm, turns):
    turn = next(turn for turn in turns if turn.expected[2])
    request = request_of(turn.tools, tool_choice="none")
    _, content, calls = made(parser_class(turn.tokenizer), turn, request).parse(turn.text, request, True, turn.ids)
    assert calls is None and turn.expected[2][0][0] in content


def test_a_required_call_is_held_to_the_templates_syntax(vllm, turns):
    forced = {"type": "function", "function": {"name": "get_weather"}}
    turn = next(turn for turn in turns if turn.expected[2])
    for choice, constrained in (("required", True), (forced, True), ("auto", False), ("none", False)):
        request = request_of([TOOL], tool_choice=choice)
        request = made(parser_class(turn.tokenizer), turn, request).adjust_request(request)
        assert request.skip_special_tokens is False
        assert request._grammar_from_parser is constrained
        if constrained:
            tag = json.loads(request.structured_outputs.structural_tag)
            assert tag["type"] == "structural_tag" and "get_weather" in json.dumps(tag)


def test_reasoning_is_over_where_its_mark_is(vllm, turns):
    """The engine's gate of grammars: not before the mark, and then at once."""
    seen = 0
    for turn in turns:
        parser = made(parser_class(turn.tokenizer), turn, request_of(turn.tools))
        if not turn.expected[0] or parser.is_reasoning_end(turn.prompt_ids):
            continue
        gate = parser.reasoning_parser
        over = [index for index in range(len(turn.ids))
                if gate.is_reasoning_end_streaming(turn.prompt_ids + turn.ids[:index + 1], [turn.ids[index]])]
        if over:
            seen += 1
            behind = turn.tokenizer.decode(turn.ids[over[0] + 1:])
            assert turn.expected[0].split()[-1] not in behind or turn.expected[0].split()[-1] in turn.expected[1], turn.row
            assert all(word in behind for word in turn.expected[1].split()), turn.row
            gate.set_prompt_token_ids(turn.prompt_ids)
            assert gate.extract_content_ids(turn.ids) == turn.ids[over[0] + 1:]
            assert 0 < gate.count_reasoning_tokens(turn.ids) <= over[0] + 1
    assert seen >= 3


def test_each_parser_works_beside_one_of_another_kind(vllm, turns, deltas):
    """vLLM's own composition of two parsers, where one of them is rondo's."""
    from vllm.parser.abstract_parser import DelegatingParser
    from vllm.tool_parsers.abstract_tool_parser import ToolParser, ToolParserManager

    class NoCalls(ToolParser):
        supports_required_and_named = False

        def extract_tool_calls_streaming(self, previous_text, current_text, delta_text, *rest):
            from vllm.entrypoints.generate.base.protocol import DeltaMessage
            return DeltaMessage(content=delta_text) if delta_text else None

    ToolParserManager.register_module("no_calls", module=NoCalls)
    for turn in turns:
        if turn.expected[2] or "\ufffd" in turn.text:
            continue
        cls = parser_class(turn.tokenizer, tool_parser="no_calls")
        assert issubclass(cls, DelegatingParser)
        request = request_of([TOOL])
        got = collected(streamed(made(cls, turn, request), request, deltas(turn.ids, 3), turn))
        for words in turn.expected[:2]:
            assert all(word in got[0] + got[1] for word in words.split()), turn.row


def test_a_file_of_the_plugin_is_loaded_as_vllm_loads_it(vllm, turns):
    from vllm.utils.import_utils import import_plugin

    assert import_plugin(vllm.__file__) is not None
    assert issubclass(parser_class(turns[0].tokenizer), vllm.RondoParser)


def test_prompts_are_rondos_and_text_never_a_control_token(vllm, turns):
    from rondo.plugins import rendering

    turn = next(turn for turn in turns if turn.row == "own-channels" or turn.expected[0])
    apply = rendering.chat_template_of(turn.tokenizer, lambda **given: "original")
    assert apply(conversation=turn.messages, tools=turn.tools, add_generation_prompt=True, tokenize=False,
                 return_dict=False) == turn.prompt_ids
    picture = [{"role": "user", "content": [{"type": "image"}]}]
    assert apply(conversation=picture) == "original"


def renderer_of(turn):
    """What a server makes of `--tokenizer-mode rondo`, and all that it asks of its configuration and tokenizer."""
    from vllm.renderers.registry import RENDERER_REGISTRY

    tokenizer = copy.copy(turn.tokenizer)
    tokenizer.get_chat_template = lambda given, tools: given or (pathlib.Path(tokenizer.name_or_path) / "chat_template.jinja").read_text(encoding="utf-8")
    tokenizer.apply_chat_template = lambda **given: "original"
    model = types.SimpleNamespace(hf_config=None, renderer_num_workers=1, supports_multimodal_inputs=False, enable_prompt_embeds=False,
                                  tokenizer_revision=None, code_revision=None, tokenizer="", model="", trust_remote_code=False)
    config = types.SimpleNamespace(model_config=model, parallel_config=types.SimpleNamespace(_api_process_rank=0))
    return tokenizer, RENDERER_REGISTRY.load_renderer("rondo", config, tokenizer)


def test_vllms_own_renderer_renders_by_rondo(vllm, turns, monkeypatch):
    from vllm.renderers import hf
    from vllm.renderers.params import ChatParams

    # Reading a request's messages and the variables of a template is vLLM's, with packages that are not here.
    monkeypatch.setattr(hf, "parse_chat_messages", lambda messages, *_, **__: (messages, None, None))
    monkeypatch.setattr(hf, "resolve_chat_template_content_format", lambda **_: "string")
    monkeypatch.setattr(hf, "_try_get_processor_chat_template", lambda *_, **__: None)
    monkeypatch.setattr(hf, "_cached_resolve_chat_template_kwargs", lambda template: {"enable_thinking"})
    monkeypatch.setattr(hf, "_get_hf_base_chat_template_params", lambda: {"tools", "add_generation_prompt", "return_dict"})
    vllm.register()
    for turn in turns:
        tokenizer, renderer = renderer_of(turn)
        assert type(renderer).__name__ == "RondoRenderer" and isinstance(renderer, hf.HfRenderer)
        params = ChatParams(chat_template_kwargs={"tools": turn.tools, "add_generation_prompt": True})
        conversation, prompt = renderer.render_messages(turn.messages, params)
        assert conversation == turn.messages and prompt["prompt_token_ids"] == turn.prompt_ids, turn.row
        assert tokenizer.apply_chat_template() == "original"  # the server's own is untouched
        picture = [{"role": "user", "content": [{"type": "image"}]}]
        assert renderer.render_messages(picture, params)[1] == {"prompt": "original"}
