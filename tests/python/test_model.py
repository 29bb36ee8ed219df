"""Loading, rendering, encoding and tokens."""
import datetime
import json
import pickle
import threading

import numpy
import pytest

import rondo
from conftest import SPECIAL, TEMPLATE, tokenizer_json

END = 256 + SPECIAL.index("<|end|>")


def test_render_is_what_the_template_writes(tiny, conversation, tools):
    """000:35."""
    text = tiny.render(conversation, tools=tools, add_generation_prompt=True)
    assert text == (
        "<|tools|>add <|end|><|system|>Be brief.<|end|><|user|>What is 2 + 2? \u00e9\u4e2d\U0001f600<|end|>"
        "<|assistant|><|think|>Add them.<|/think|><|call|>"
        '{"name": "add", "arguments": {"a": 2, "b": 2.0, "exact": true, "x": null}}<|/call|><|end|><|tool|>4<|end|>'
        "<|assistant|>4.<|end|><|user|>Thanks <|end|><|end|><|assistant|>")


def test_shape_gives_what_render_gives_the_template(tiny, conversation, tools):
    calls = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}]
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": None, "tool_calls": calls},
                {"role": "tool", "tool_call_id": "a", "content": "4"}]
    shaped, changes = tiny.shape(messages, tools=tools)
    assert shaped[1]["tool_calls"][0]["function"]["arguments"] == {"x": 1}
    assert "messages[1].tool_calls[0].function.arguments: given as an object" in changes
    assert tiny.render(shaped, tools=tools) == tiny.render(messages, tools=tools)
    assert tiny.shape(shaped, tools=tools) == (shaped, [])
    assert tiny.shape_tools(tools) == (tools, [])


def test_tools_get_what_the_template_joins_to_text(tmp_path):
    source = tmp_path / "joins.jinja"
    source.write_text("{% for t in tools or [] %}{{ t.function.name + ': ' + t.function.description }}{% endfor %}"
                      "{% for m in messages %}{{ m.content }}{% endfor %}")
    model = rondo.load(source)
    shaped, changes = model.shape_tools([{"type": "function", "function": {"name": "f"}}])
    assert shaped == [{"type": "function", "function": {"name": "f", "description": ""}}]
    assert changes == ["tools[0].function.description: given as an empty text"]
    assert model.shape_tools(shaped) == (shaped, [])


def test_encode_says_whose_each_id_is(tiny, conversation, tools):
    encoded = tiny.encode(conversation, tools=tools, add_generation_prompt=True)
    n = len(encoded)
    for name, dtype in [("ids", "int32"), ("message_indices", "int32"), ("content_mask", "uint8"),
                        ("sampled_mask", "uint8"), ("straddles", "uint8"), ("begins", "uint32"), ("ends", "uint32")]:
        array = getattr(encoded, name)
        assert (array.dtype, array.shape) == (numpy.dtype(dtype), (n,)), name
    assert tiny.detokenize(encoded.ids) == encoded.text
    assert encoded.roles == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert encoded.tool_names == [None, None, None, "add", None, None]
    sampled = tiny.detokenize(encoded.ids[encoded.sampled_mask == 1])
    assert sampled == ('<|think|>Add them.<|/think|><|call|>{"name": "add", "arguments": {"a": 2, "b": 2.0, "exact": true, '
                       '"x": null}}<|/call|><|end|>4.<|end|>')
    first, last = encoded.message_spans()[3]
    assert tiny.detokenize(encoded.ids[first:last]) == "<|tool|>4<|end|>"
    data = (encoded.content_mask == 1) & (encoded.message_indices == 3)
    assert tiny.detokenize(encoded.ids[data]) == "4"
    # Text of a user never becomes a control token, unless that is asked for.
    assert list(encoded.ids).count(END) + 1 == list(
        tiny.encode(conversation, tools=tools, content_specials="parse").ids).count(END)


def test_arrays_are_views_that_keep_their_object_alive(tiny):
    messages = [{"role": "user", "content": "x" * 50}]
    ids = tiny.encode(messages).ids
    assert not ids.flags.owndata
    encoded = tiny.encode(messages)
    assert encoded.ids.__array_interface__["data"][0] == encoded.ids.__array_interface__["data"][0]
    del encoded
    for _ in range(20):
        tiny.encode([{"role": "user", "content": "y" * 50}])
    assert tiny.detokenize(ids) == "<|user|>" + "x" * 50 + "<|end|>"


def test_empty_conversations(tiny):
    encoded = tiny.encode([])
    assert len(encoded) == 0 and encoded.ids.shape == (0,) and encoded.message_spans() == []
    assert tiny.encode([{"role": "assistant", "content": ""}]).message_spans() == [(0, 2)]


def test_continue_final_message(tiny):
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b c"}]
    assert tiny.render(messages, continue_final_message=True) == "<|user|>a<|end|><|assistant|>b c"
    with pytest.raises(rondo.InvalidArgumentError, match="add_generation_prompt"):
        tiny.render(messages, continue_final_message=True, add_generation_prompt=True)


def test_kwargs_documents_and_the_clock(tiny_folder):
    model = rondo.load(tiny_folder, template="{{ strftime_now('%Y') }} {{ extra }} {{ documents[0].title }}")
    arguments = {"kwargs": {"extra": {"a": [1, 2.5]}}, "documents": [{"title": "T"}]}
    assert model.render([], now=datetime.datetime(2031, 1, 2, 3, 4, 5, 6), **arguments) == "2031 {'a': [1, 2.5]} T"
    assert model.render([], now="1999-01-02T03:04:05", **arguments).startswith("1999 ")
    assert int(model.render([], **arguments)[:4]) >= 2024
    with pytest.raises(rondo.InvalidArgumentError, match="now"):
        model.render([], now="soon", **arguments)


def test_tokens(tiny):
    ids = tiny.tokenize("a<|end|>")
    assert ids.dtype == numpy.int32 and ids.tolist() == [tiny.find_token("a"), END]
    assert len(tiny.tokenize("a<|end|>", parse_special=False)) == 8
    assert tiny.detokenize(ids, skip_special=True) == "a"
    assert tiny.find_token("nowhere") is None
    assert tiny.vocab_size == 266
    assert tiny.stop_ids() == [END]
    assert tiny.detokenize(tiny.tokenize("\u00e9")[:1]) == "\ufffd"


def test_load_from_two_places_and_pickle(tiny_folder, tiny):
    model = rondo.load(template=TEMPLATE, tokenizer=tiny_folder / "tokenizer.json")
    messages = [{"role": "user", "content": "a"}]
    assert model.render(messages) == tiny.render(messages)
    for made in (model, tiny):
        again = pickle.loads(pickle.dumps(made))
        assert again.encode(messages).ids.tolist() == tiny.encode(messages).ids.tolist()


def test_a_template_alone_renders_and_a_tokenizer_alone_tokenizes(tmp_path, tiny_folder):
    file = tmp_path / "chat.jinja"
    file.write_text("{{ messages[0].content }}", encoding="utf-8")
    template = rondo.load(file)
    assert template.render([{"role": "user", "content": "x"}]) == "x"
    with pytest.raises(rondo.UnsupportedError, match="tokenizer"):
        template.encode([{"role": "user", "content": "x"}])
    tokenizer = rondo.load(tiny_folder / "tokenizer.json")
    assert tokenizer.tokenize("x").tolist() == [tokenizer.find_token("x")]


class FastTokenizer:
    """What rondo looks at in a tokenizer of `transformers`."""

    name_or_path = "someone/model"
    eos_token = "<|end|>"
    eos_token_id = END
    chat_template = TEMPLATE

    class backend_tokenizer:  # noqa: N801
        @staticmethod
        def to_str():
            return tokenizer_json()


def test_from_tokenizer(tiny, conversation):
    model = rondo.from_tokenizer(FastTokenizer())
    assert model.name == "someone/model"
    assert model.encode(conversation).ids.tolist() == tiny.encode(conversation).ids.tolist()
    assert model.stop_ids() == [END]
    with pytest.raises(TypeError, match="memory"):
        pickle.dumps(model)


def test_from_tokenizer_takes_several_templates(tools):
    class Tokenizer(FastTokenizer):
        chat_template = {"default": "plain", "tool_use": "with tools", "rag": "with documents"}

    model = rondo.from_tokenizer(Tokenizer())
    assert model.render([]) == "plain"
    assert model.render([], tools=tools) == "with tools"
    chosen = rondo.from_tokenizer(Tokenizer(), template="rag")
    assert chosen.render([]) == chosen.render([], tools=tools) == "with documents"


def test_from_slow_tokenizer_reads_its_files(tiny_folder):
    class Slow:
        name_or_path = str(tiny_folder)
        chat_template = "{{ messages | length }}"

    assert rondo.from_tokenizer(Slow()).render([]) == "0"
    with pytest.raises(rondo.InvalidArgumentError, match="name_or_path"):
        rondo.from_tokenizer(object())


def test_from_a_bare_tokenizer():
    tokenizers = pytest.importorskip("tokenizers")
    bare = tokenizers.Tokenizer.from_str(tokenizer_json())
    model = rondo.from_tokenizer(bare, template=TEMPLATE)
    assert model.tokenize("a\u00e9<|end|>").tolist() == bare.encode("a\u00e9<|end|>").ids


def test_grammar_format_and_losses(tiny, tools):
    grammar = tiny.grammar(tools=tools, tool_choice="required")
    assert "root ::=" in grammar["grammar"] and grammar["lazy"] is False
    assert json.loads(tiny.grammar(tools=tools, format="structural_tag", tool_choice={"name": "add"})["grammar"])
    assert tiny.format()["calls"]["call_open"] == "<|call|>"
    assert set(tiny.losses()) == {"losses", "notes", "objection"}
    with pytest.raises(rondo.InvalidArgumentError, match="format"):
        tiny.grammar(tools=tools, format="ebnf")


def test_capabilities(tiny):
    can = tiny.capabilities()
    assert can["system"]["supported"] and can["system"]["line"] > 0
    assert can["images"] == {"supported": False, "evidence": can["images"]["evidence"]}
    assert isinstance(can["free_variables"], list)


def test_polyfills(tiny_folder):
    template = "{% for m in messages %}{{ '<|' ~ m.role ~ '|>' ~ m.content ~ '<|end|>' }}{% endfor %}<|assistant|>"
    model = rondo.load(tiny_folder, template=template, polyfill="auto")
    call = {"type": "function", "function": {"name": "add", "arguments": {"a": 1}}}
    text = model.render([{"role": "user", "content": "x"}, {"role": "assistant", "content": None, "tool_calls": [call]}])
    assert '{"name": "add", "arguments": {"a": 1}}' in text
    assert model.format()["calls"].get("present")
    assert not rondo.load(tiny_folder, template=template).format().get("calls", {}).get("present")
    assert pickle.loads(pickle.dumps(model)).format() == model.format()
    with pytest.raises(rondo.InvalidArgumentError, match="polyfill"):
        rondo.load(tiny_folder, polyfill="maybe")
    with pytest.raises(rondo.InvalidArgumentError, match="lenient"):
        rondo.load(tiny_folder, template=template, polyfill="on", strict=True)


def test_a_template_can_be_checked(tiny):
    report = tiny.check()
    assert report["worst"] in ("none", "warning", "error") and report["has_tokenizer"]
    assert {case["scenario"] for case in report["cases"]} >= {"content", "call"}
    one = tiny.check(scenarios=["content"], now="2026-03-14T15:09:26")
    assert {case["scenario"] for case in one["cases"]} == {"content"}
    assert any(case["string_prefix"] == "holds" for case in one["cases"])
    with pytest.raises(rondo.InvalidArgumentError, match="scenario"):
        tiny.check(scenarios=["no such conversation"])


def test_a_check_names_the_line_that_strips(tiny_folder):
    template = ("{%- for m in messages %}\n{{- '<|' + m.role + '|>' }}\n{{- (m.content or '') | trim }}\n{{- '<|end|>' }}\n"
                "{%- endfor %}{%- if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}")
    report = rondo.load(tiny_folder, template=template).check()
    stripped = [finding for finding in report["findings"] if finding["rule"] == "whitespace-stripped"]
    assert stripped and stripped[0]["place"]["line"] == 3


def test_a_format_can_be_corrected(tiny_folder, tiny):
    model = rondo.load(tiny_folder, format={"stops": {"content": ["STOP"], "tool": ["STOP"]}})
    assert model.format()["stops"]["content"] == ["STOP"] != tiny.format()["stops"]["content"]
    with pytest.raises(rondo.InvalidArgumentError):
        rondo.load(tiny_folder, format={"no such part": 1}).format()


def test_threads_share_a_model(tiny, conversation, tools):
    wanted = tiny.encode(conversation, tools=tools).ids.tolist()
    failures = []

    def work():
        for _ in range(100):
            if tiny.encode(conversation, tools=tools).ids.tolist() != wanted:
                failures.append("encode")
            completion = tiny.tokenize("<|think|>a<|/think|>b<|end|>")
            if tiny.parse(completion, tools=tools).content != "b":
                failures.append("parse")
            if len(tiny.bridge(wanted, completion, [{"role": "user", "content": "c"}])) <= len(wanted):
                failures.append("bridge")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_real_vocabulary(real, conversation, tools):
    encoded = real.encode(conversation, tools=tools, add_generation_prompt=True)
    assert real.detokenize(encoded.ids) == encoded.text
    assert encoded.text.endswith("<|im_start|>assistant\n")
    assert set(encoded.message_indices.tolist()) == {-1, 0, 1, 2, 3, 4, 5}
