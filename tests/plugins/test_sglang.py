"""The plugin for SGLang, against SGLang's own detectors, parsers and hooks."""
import json
import os
import pathlib
import types

import pytest
import standins
from conftest import TOOL, streams

FOLDER = pathlib.Path(os.environ["RONDO_TEST_SGLANG"])
REAL = ("sglang.srt.environ sglang.srt.parser.reasoning_parser sglang.srt.function_call.base_format_detector sglang.srt.function_call.core_types "
        "sglang.srt.function_call.function_call_parser sglang.srt.plugins.hook_registry "
        "sglang.srt.entrypoints.openai.protocol").split()


@pytest.fixture(scope="module")
def sglang():
    standins.install("sglang", FOLDER, REAL)
    import rondo.plugins.sglang_plugin as plugin
    from sglang.srt.plugins.hook_registry import HookRegistry

    plugin.register()
    plugin.register()  # a second time
    HookRegistry.apply_hooks()
    return plugin


class Request:
    """What a server gives its reasoning parser of a request."""

    def __init__(self, turn, **fields):
        self.messages = [types.SimpleNamespace(model_dump=lambda exclude_none, message=message: message, role=message["role"])
                         for message in turn.messages]
        self.tools, self.chat_template_kwargs = turn.tools, None
        vars(self).update(fields)


def tool_objects(tools):
    from sglang.srt.entrypoints.openai.protocol import Tool

    return [Tool(**tool) for tool in tools or ()]


def served(turn, parts, tools, stream=True, fields=None):
    """A reply through both parsers as the server calls them: (reasoning, content, [(name, arguments)]).  `fields` are what
    the request says, its tools where it says nothing else."""
    from sglang.srt.function_call.function_call_parser import FunctionCallParser
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    tools = tool_objects(tools)
    FunctionCallParser(tools, "rondo", tokenizer=turn.tokenizer)  # for the grammar, before a reply begins
    first = ReasoningParser("rondo", stream, False, Request(turn, **(fields or {"tools": tools})),
                            tokenizer=turn.tokenizer, tool_call_parser_active=bool(tools))
    second = FunctionCallParser(tools, "rondo", tokenizer=turn.tokenizer) if tools else None
    if not stream:
        reasoning, text = first.parse_non_stream("".join(parts))
        if second is None or not second.has_tool_call(text):
            return reasoning, text, []
        text, calls = second.parse_non_stream(text)
        return reasoning, text, [(call.name, call.parameters) for call in calls]
    reasoning, content, calls = "", "", {}
    for index, part in enumerate(parts):
        told = [first.parse_stream_chunk(part)] + ([first.parse_stream_end()] if index == len(parts) - 1 else [])
        reasoning += "".join(entry[0] or "" for entry in told)
        text = "".join(entry[1] or "" for entry in told)
        if second is None:
            content += text
            continue
        found = [second.parse_stream_chunk(text)] + ([second.parse_stream_end()] if index == len(parts) - 1 else [])
        for normal, items in found:
            content += normal
            for item in items:
                name, arguments = calls.get(item.tool_index, ("", ""))
                calls[item.tool_index] = (name + (item.name or ""), arguments + item.parameters)
    return reasoning, content, [calls[index] for index in sorted(calls)]


def values(calls):
    return [(name, json.loads(arguments or "{}")) for name, arguments in calls]


def test_both_parsers_say_what_rondo_reads(sglang, turns, deltas):
    assert len({turn.row for turn in turns}) >= 20
    differ = []
    for number, turn in enumerate(turns):
        for stream in (True, False):
            reasoning, content, calls = served(turn, deltas(turn.text, number), turn.tools, stream)
            if (reasoning.rstrip(), content.rstrip(), values(calls)) != turn.expected:
                differ.append((turn.row, stream, (reasoning, content, calls), turn.expected))
    assert not differ


def test_nothing_is_lost_and_nothing_raised_in_any_stream(sglang, turns, deltas):
    count = int(os.environ.get("RONDO_PLUGIN_STREAMS", 0)) or 200
    for number, turn in enumerate(turns):
        for seed, ids in enumerate(streams(turn, -(-count // len(turns)), number)):
            text = turn.tokenizer.decode(ids)
            reasoning, content, calls = served(turn, deltas(text, seed), [TOOL])
            shown = reasoning + content + json.dumps(calls)
            said = turn.tokenizer.model.parse(text, messages=turn.messages, tools=[TOOL])
            for words in (said.reasoning_content or "", said.content or ""):
                left = iter(shown)
                assert all(letter in left for letter in words if not letter.isspace()), (turn.row, text)


def test_a_broken_call_in_open_reasoning_is_the_same_in_one_piece_and_in_many(sglang, turns, deltas):
    text = 'reasoning_field\n\n<tool_call>\n{"name": "list_files",}, {'
    known = {"type": "function", "function": {"name": "list_files", "parameters": {"type": "object", "properties": {}}}}
    read = 0
    for turn in turns:
        if not turn.tokenizer.model.stream_parser(messages=turn.messages).reasoning_open:
            continue
        for tools in ([TOOL], [known]):
            said = turn.tokenizer.model.parse(text, messages=turn.messages, tools=tools)
            expected = (said.reasoning_content, said.content or "", [(call.name, call.arguments) for call in said.tool_calls])
            for parts in ([text], list(text), deltas(text, 1), deltas(text, 2)):
                assert served(turn, parts, tools) == expected, (turn.row, parts)
            read += 1
    assert read or not turns


def test_tools_that_a_message_brings_count_for_both_parsers(sglang, turns):
    text = '\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
    read = 0
    for turn in turns:
        model = turn.tokenizer.model
        call = model.parse(text, messages=turn.messages, tools=[TOOL]).tool_calls
        if not call or not model.stream_parser(messages=turn.messages).reasoning_open:
            continue
        brings = types.SimpleNamespace(model_dump=lambda exclude_none: {"role": "system", "content": ""}, role="system", tools=[TOOL])
        told = [message for message in Request(turn).messages if message.role != "system"]
        assert served(turn, list(text), [TOOL], fields={"tools": None, "messages": [brings, *told]})[2] == [("get_weather", call[0].arguments)], turn.row
        read += 1
    assert read or not turns


def test_a_required_call_is_held_to_the_templates_syntax(sglang, turns, monkeypatch):
    from sglang.srt.entrypoints.openai.protocol import ToolChoice
    from sglang.srt.function_call.function_call_parser import FunctionCallParser

    monkeypatch.setattr(sglang, "_tag_object", json.loads)
    turn = next(turn for turn in turns if turn.expected[2])
    parser = FunctionCallParser(tool_objects([TOOL]), "rondo", tokenizer=turn.tokenizer)
    assert parser.owns_tool_format()
    for choice in ("required", ToolChoice(function={"name": "get_weather"})):
        kind, tag = parser.get_structure_constraint(choice)
        assert kind == "structural_tag" and tag["type"] == "structural_tag" and "get_weather" in json.dumps(tag)
    assert parser.get_structure_constraint("auto") is None


def test_a_tokenizer_that_rondo_cannot_read_passes_text_through(sglang):
    from sglang.srt.function_call.function_call_parser import FunctionCallParser
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    first = ReasoningParser("rondo", True, tokenizer=object())
    assert first.parse_stream_chunk("so be it") == ("", "so be it")
    second = FunctionCallParser(tool_objects([TOOL]), "rondo", tokenizer=object())
    assert second.parse_stream_chunk("so be it") == ("so be it", [])
    assert second.get_structure_constraint("required") is None
    assert not second.has_tool_call("so be it")


def test_prompts_are_rondos(sglang, turns):
    turn = turns[0]
    server = types.SimpleNamespace(tokenizer_manager=types.SimpleNamespace(tokenizer=turn.tokenizer))
    ids, text = sglang._render(None, server, turn.messages, tools=turn.tools, template_kwargs={}, encode_kwargs={}, use_cache=True)
    assert ids == turn.prompt_ids and text == turn.tokenizer.decode(ids)
    picture = [{"role": "user", "content": [{"type": "image"}]}]
    assert sglang._render(lambda *given, **named: "original", server, picture, tools=None, template_kwargs={}) == "original"
