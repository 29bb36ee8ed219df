"""Parsing, streaming, bridging and rollouts."""
import copy
import pickle

import numpy
import pytest

import rondo
from conftest import TEMPLATE

CALL = '<|think|>so<|/think|>Wait.<|call|>{"name": "add", "arguments": {"a": 2,  "b": 1e5}}<|/call|><|end|>'


def test_parse_of_ids(tiny, tools):
    """000:12-14, 000:122-124."""
    ids = tiny.tokenize(CALL)
    parsed = tiny.parse(ids, tools=tools)
    assert (parsed.reasoning_content, parsed.content, parsed.complete, parsed.stopped) == ("so", "Wait.", True, True)
    call = parsed.tool_calls[0]
    assert (call.id, call.name, call.arguments, call.status) == (None, "add", '{"a": 2,  "b": 1e5}', "ok")
    first, last = call.token_span
    assert tiny.detokenize(ids[first:last]) == call.raw == CALL[CALL.index("<|call|>"):-len("<|end|>")]
    assert parsed.to_message(3) == {
        "role": "assistant", "content": "Wait.", "reasoning_content": "so",
        "tool_calls": [{"id": "call_3", "type": "function",
                        "function": {"name": "add", "arguments": '{"a": 2,  "b": 1e5}'}}]}


def test_parse_of_text_is_the_same(tiny, tools):
    parsed = tiny.parse(CALL, tools=tools)
    assert parsed.to_message() == tiny.parse(tiny.tokenize(CALL), tools=tools).to_message()
    assert parsed.tool_calls[0].token_span is None


def test_spelled_markers_are_text(tiny, tools):
    spelled = tiny.tokenize("<|call|>", parse_special=False)
    parsed = tiny.parse([*spelled, *tiny.tokenize("x<|end|>")], tools=tools)
    assert (parsed.content, parsed.tool_calls) == ("<|call|>x", [])


def test_the_prompt_says_what_is_open(tiny):
    prompt = tiny.tokenize("<|user|>a<|end|><|assistant|><|think|>")
    assert tiny.parse(tiny.tokenize("b<|/think|>c"), prompt_ids=prompt).reasoning_content == "b"
    assert tiny.parse("b<|/think|>c", prompt_tail="<|assistant|><|think|>").reasoning_content == "b"
    assert tiny.parse("b").content == "b"
    parsed = tiny.parse("b", prompt_ids=prompt)
    assert parsed.reasoning_open and not parsed.complete


def test_parse_options(tiny, tools):
    assert tiny.parse(CALL, tools=tools, tool_choice="none").tool_calls == []
    assert "so" in tiny.parse(CALL, tools=tools, reasoning="inline").content
    with pytest.raises(rondo.ParseError) as caught:
        tiny.parse("<|call|>{oops<|/call|>", tools=tools, strict=True)
    assert caught.value.offset is not None and "offset" in caught.value.place
    for bad in ({"tool_choice": "maybe"}, {"reasoning": "gone"}, {"prompt_ids": "abc"}, {"prompt_tail": 3}):
        with pytest.raises((rondo.InvalidArgumentError, TypeError)):
            tiny.parse("x", **bad)
    with pytest.raises(rondo.TokenizerError):
        tiny.parse([100000])


def joined(events):
    out = {}
    for event in events:
        key = (event["kind"], event.get("call"))
        out[key] = out.get(key, "") + event.get("text", "")
    return out


@pytest.mark.parametrize("by", ["text", "characters", "id", "ids"])
def test_stream_parser(tiny, tools, by):
    stream = tiny.stream_parser(tools=tools)
    pieces = {"text": [CALL], "characters": list(CALL), "id": [int(i) for i in tiny.tokenize(CALL)],
              "ids": [tiny.tokenize(CALL)[:9], tiny.tokenize(CALL)[9:]]}[by]
    events = [event for piece in pieces for event in stream.feed(piece)] + stream.close()
    assert joined(events) == {("reasoning", None): "so", ("content", None): "Wait.", ("call_start", 0): "add",
                              ("arguments", 0): '{"a": 2,  "b": 1e5}', ("call_end", 0): ""}
    assert stream.ended
    assert stream.finish().to_message() == tiny.parse(CALL, tools=tools).to_message()
    with pytest.raises(rondo.InvalidArgumentError, match="closed"):
        stream.feed("more")


def test_arguments_while_they_come(tiny, tools):
    stream = tiny.stream_parser(tools=tools)
    assert stream.arguments(0) is None and stream.open_argument(0) is None
    stream.feed('<|call|>{"name": "add", "arguments": {"a": 2, "b": [1, "x')
    assert (stream.arguments(0), stream.open_argument(0)) == ({"a": 2, "b": [1, "x"]}, "/b/1")
    stream.feed('"]}}<|/call|><|end|>')
    assert (stream.arguments(0), stream.open_argument(0)) == ({"a": 2, "b": [1, "x"]}, None)


def test_partial_value():
    value = rondo.PartialValue()
    assert (value.value, value.open_path, value.complete, value.valid) == (None, None, False, True)
    for piece in ('{"city": "Par', "is", '", "n": 1'):
        value.feed(piece)
    assert (value.value, value.open_path) == ({"city": "Paris"}, "/n")
    value.feed("2}")
    assert value.value == {"city": "Paris", "n": 12} and value.complete
    value.feed("}")
    assert not value.valid
    number = rondo.PartialValue()
    number.feed("-1.5")
    number.close()
    assert number.value == -1.5 and number.complete


def test_problems_of_arguments(tiny, tools):
    parsed = tiny.parse('<|call|>{"name": "add", "arguments": {"a": "two", "c": 1}}<|/call|><|end|>', tools=tools)
    call = parsed.tool_calls[0]
    assert (call.status, call.arguments) == ("malformed", '{"a": "two", "c": 1}')
    assert call.problems == [
        {"kind": "wrong_type", "parameter": "a", "message": "`a` is a string, and the tool's schema wants an integer"},
        {"kind": "unknown_parameter", "parameter": "c", "message": "the tool has no parameter `c`"}]
    assert tiny.parse(CALL, tools=tools).tool_calls[0].problems == []


def test_a_character_in_pieces(tiny):
    stream = tiny.stream_parser()
    texts = [event["text"] for byte in tiny.tokenize("\U0001f600") for event in stream.feed(int(byte))]
    texts += [event["text"] for event in stream.close()]
    assert "".join(texts) == "\U0001f600"


def test_bridge(tiny, conversation, tools):
    prompt = tiny.encode(conversation[:2], tools=tools, add_generation_prompt=True).ids
    completion = tiny.tokenize(CALL)
    bridged = tiny.bridge(prompt, completion, [{"role": "tool", "content": "4"}], messages=conversation[:2], tools=tools)
    assert bridged.ids.tolist()[:-bridged.appended] == [*prompt, *completion]
    assert bridged.appended_text == "<|tool|>4<|end|><|assistant|>"
    assert tiny.detokenize(bridged.ids[bridged.message_indices == 0]) == "<|tool|>4<|end|>"
    assert tiny.detokenize(bridged.ids[bridged.content_mask == 1]) == "4"
    assert bridged.lossy == [] and bridged.notes == []
    added = tiny.append(prompt[-50:], completion, [{"role": "tool", "content": "4"}], messages=conversation[:2], tools=tools)
    assert added.ids.tolist() == bridged.ids[-bridged.appended:].tolist() and added.text == bridged.appended_text
    assert added.message_indices.tolist() == bridged.message_indices[-bridged.appended:].tolist()
    assert added.content_mask.sum() == 1 and added.notes == [] and added.lossy == [] and len(added) == bridged.appended
    cut = tiny.bridge(list(prompt), list(tiny.tokenize("<|think|>so")), [{"role": "user", "content": "go on"}])
    assert cut.appended_text.startswith("<|/think|><|end|>")
    with pytest.raises(rondo.InvalidArgumentError):
        tiny.bridge(prompt, completion, [{"role": "assistant", "content": "no"}])


def test_what_a_bridge_keeps_though_the_template_changes_it(tiny_folder):
    """bug: the findings of a bridge could not be read where there were any."""
    model = rondo.load(tiny_folder, template=TEMPLATE.replace("if message.reasoning_content", "if loop.last and message.reasoning_content"))
    prompt = model.encode([{"role": "user", "content": "Hi"}], add_generation_prompt=True).ids
    completion = model.tokenize("<|think|>so<|/think|>Hello<|end|>")
    bridged = model.bridge(prompt, completion, [{"role": "user", "content": "more"}])
    finding, = bridged.lossy
    assert (finding["cause"], finding["message"], finding["place"]) == ("reasoning-dropped", 1, "messages[1].reasoning_content")
    assert finding["line"] == 5 and finding["column"] > 0 and "the reasoning is gone" in finding["what"]
    added = model.append(prompt, completion, [{"role": "user", "content": "more"}])
    assert added.text == bridged.appended_text
    replaced = model.append(prompt, model.tokenize("Hello<|user|>"), [{"role": "user", "content": "more"}])
    assert all(isinstance(finding["cause"], str) for finding in replaced.lossy)


def test_raw_turns(tiny, conversation, tools):
    sampled = tiny.tokenize(CALL)
    first = tiny.encode(conversation[:2], tools=tools, add_generation_prompt=True)
    message = tiny.parse(sampled, tools=tools).to_message(raw=True)
    assert message["raw_ids"] == list(sampled)
    history = [*conversation[:2], message, {"role": "tool", "content": "4"}]
    following = tiny.encode(history, tools=tools, add_generation_prompt=True, raw_turns=True)
    bridged = tiny.bridge(first.ids, sampled, history[3:], messages=history[:2], tools=tools)
    assert following.ids.tolist() == bridged.ids.tolist() and following.notes == []
    assert tiny.detokenize(following.ids[following.sampled_mask == 1]) == CALL
    history[2] = tiny.parse(CALL, tools=tools).to_message(raw=True)
    assert history[2]["raw"] == CALL
    again = tiny.encode(history, tools=tools, add_generation_prompt=True, raw_turns=True)
    assert again.ids.tolist() == bridged.ids.tolist()
    history[2]["content"] = "Hold on."
    assert "messages[2].content" in tiny.encode(history, tools=tools, raw_turns=True).notes[0]
    with pytest.raises(rondo.InvalidArgumentError, match="raw_ids"):
        tiny.encode([{"role": "assistant", "content": "", "raw_ids": "x"}], raw_turns=True)


def test_rollout(tiny, conversation, tools):
    """000:257."""
    rollout = rondo.Rollout(tiny, conversation[:2], tools=tools)
    prompt = rollout.ids
    assert prompt.tolist() == tiny.encode(conversation[:2], tools=tools, add_generation_prompt=True).ids.tolist()
    with pytest.raises(rondo.InvalidArgumentError, match="not spoken"):
        rollout.add([{"role": "user", "content": "x"}])
    said = rollout.complete(tiny.tokenize(CALL))
    assert said.tool_calls[0].name == "add"
    with pytest.raises(rondo.InvalidArgumentError, match="has spoken"):
        rollout.complete([1])
    new = rollout.add([{"role": "tool", "content": "4"}])
    assert tiny.detokenize(new) == "<|tool|>4<|end|><|assistant|>"
    ids = rollout.ids
    assert ids.tolist() == [*prompt, *tiny.tokenize(CALL), *new] and len(rollout) == len(ids)
    assert tiny.detokenize(ids[rollout.sampled_mask == 1]) == CALL
    assert rollout.last_add == {"begin": len(ids) - len(new), "kept": len(ids) - len(new), "cuts": [], "notes": [], "shaped": []}
    with pytest.raises(rondo.InvalidArgumentError, match="retention"):
        rollout.add([{"role": "user", "content": "x"}], retention="some")
    assert [message["role"] for message in rollout.messages] == ["system", "user", "assistant", "tool"]
    assert tiny.detokenize(ids[rollout.message_indices == 3]) == "<|tool|>4<|end|>"
    with pytest.raises(rondo.InvalidArgumentError):
        rollout.complete([1]), rollout.add([{"role": "assistant", "content": "x"}])
    assert len(rollout) == len(ids) + 1  # what was sampled stays, what was refused does not


def test_errors_tell_code_place_and_survive_pickle(tmp_path):
    file = tmp_path / "chat.jinja"
    file.write_text("a\n{{ raise_exception('no: ' + messages[0].role) }}", encoding="utf-8")
    model = rondo.load(file)
    with pytest.raises(rondo.TemplateError) as caught:
        model.render([{"role": "user"}])
    error = caught.value
    assert (error.code, error.message, error.line, error.column) == ("template_raised", "no: user", 2, error.column)
    assert error.place.endswith(f"chat.jinja:2:{error.column}")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.code, again.place) == (type(error), str(error), error.code, error.place)
    assert copy.copy(error).line == 2
    file.write_text("{% if %}", encoding="utf-8")
    with pytest.raises(rondo.TemplateError) as caught:
        rondo.load(file)
    assert caught.value.code == "template_syntax" and caught.value.line == 1
    with pytest.raises(FileNotFoundError) as missing:
        rondo.load(tmp_path / "nowhere")
    assert missing.value.code == "not_found" and "nowhere" in str(missing.value)
    damaged = tmp_path / "tokenizer.json"
    damaged.write_text("{", encoding="utf-8")
    with pytest.raises(rondo.TokenizerError):
        rondo.load(damaged)
    with pytest.raises(TypeError):
        rondo.load(3)


def test_a_rollout_tells_what_became_of_its_first_messages(tiny, tools):
    call = {"type": "function", "function": {"name": "add", "arguments": "{}"}}
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "content": "4"}]
    encoded = tiny.encode(messages, tools=tools, add_generation_prompt=True)
    rollout = rondo.Rollout(tiny, messages, tools=tools)
    assert rollout.shaped == encoded.shaped and rollout.shaped
    assert rollout.notes == encoded.notes == []


def test_many_rollouts_share_a_model(tiny):
    rollouts = [rondo.Rollout(tiny, [{"role": "user", "content": str(number)}]) for number in range(200)]
    for rollout in rollouts:
        rollout.complete(tiny.tokenize("a<|end|>"))
        rollout.add([{"role": "user", "content": "b"}])
    assert {len(rollout.messages) for rollout in rollouts} == {3}
    assert numpy.all(rollouts[0].ids[-6:] == rollouts[9].ids[-6:])


def test_a_control_token_behind_half_a_character_counts_in_a_stream_too(tiny):
    half = tiny.tokenize("日")[:1].tolist()
    ids = [*tiny.tokenize("so ").tolist(), *half, *tiny.tokenize("<|think|>why<|/think|>").tolist()]
    parsed = tiny.parse(ids)
    stream = tiny.stream_parser()
    events = [event for token in ids for event in stream.feed(token)] + stream.close()
    reasoning = "".join(event["text"] for event in events if event["kind"] == "reasoning")
    assert reasoning == parsed.reasoning_content == "why"
    assert not stream.reasoning_open


def test_a_stream_says_whether_reasoning_is_open(tiny):
    stream, seen = tiny.stream_parser(), []
    for piece in ("<|think|>", "so", "<|/think|>", "Yes"):
        stream.feed(tiny.tokenize(piece))
        seen.append(stream.reasoning_open)
    assert seen == [True, True, False, False]


def test_a_grammar_looks_at_the_end_of_its_prompt(tiny, tools):
    plain = tiny.encode([{"role": "user", "content": "?"}], add_generation_prompt=True).ids.tolist()
    opened = tiny.grammar(prompt_ids=[*plain, *tiny.tokenize("<|think|>").tolist()], tools=tools, tool_choice="required")
    assert opened["grammar"] != tiny.grammar(prompt_ids=plain, tools=tools, tool_choice="required")["grammar"]
