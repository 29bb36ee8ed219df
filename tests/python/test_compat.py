"""rondo.compat.renderers: the interface of the package `renderers` over any model."""
import json
import sys

import pytest

import rondo

pytest.importorskip("pydantic")
import pydantic  # noqa: E402

from rondo.compat import renderers as compat  # noqa: E402

USER = {"role": "user", "content": "What is 2 + 2?"}
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": {"a": 2}}}
THINKS = {"role": "assistant", "content": "", "reasoning_content": "Add.", "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "4"}
SAYS = {"role": "assistant", "content": "4."}
CONVERSATION = [{"role": "system", "content": "Be brief."}, USER, THINKS, RESULT, SAYS]


@pytest.fixture(scope="module")
def renderer(tiny):
    return compat.create_renderer(tiny)


def text_of(renderer, rendered, mask):
    return renderer.model.detokenize([token for token, wanted in zip(rendered.token_ids, mask) if wanted])


def test_it_is_what_the_interface_asks_for(renderer):
    """000:208-210."""
    assert isinstance(renderer, compat.Renderer)
    assert not isinstance(object(), compat.Renderer)
    assert not compat.is_multimodal(renderer)
    assert renderer.config.name == "default" and renderer.config.thinking_retention is None
    assert renderer.is_prefix_stable is True
    assert renderer.effective_thinking_retention == "all"


def test_render(renderer):
    rendered = renderer.render(CONVERSATION, add_generation_prompt=True)
    assert isinstance(rendered, compat.RenderedTokens)
    assert {type(entry) for entry in rendered.token_ids} == {int}
    assert {type(entry) for entry in rendered.sampled_mask + rendered.is_content} == {bool}
    assert rendered.token_ids == renderer.render_ids(CONVERSATION, add_generation_prompt=True)
    assert rendered.message_roles == ["system", "user", "assistant", "tool", "assistant"]
    assert rendered.message_tool_names == [None, None, None, "add", None]
    sampled = '<|think|>Add.<|/think|><|call|>{"name": "add", "arguments": {"a": 2}}<|/call|><|end|>4.<|end|>'
    assert text_of(renderer, rendered, rendered.sampled_mask) == sampled
    assert text_of(renderer, rendered, rendered.content_mask_for_roles({"tool", "user"})) == "What is 2 + 2?4"
    assert rendered.message_indices[-1] == -1
    with pytest.raises(ValueError, match="no messages"):
        renderer.render([])


def test_helpers_of_rendered_tokens(renderer):
    rendered = renderer.render(CONVERSATION)
    counts = rendered.tokens_per_message()
    assert sum(counts) == len(rendered.token_ids)
    assert rendered.tokens_per_message(2) == counts[:2] and len(rendered.tokens_per_message(99)) == 5
    assert rendered.tokens_by_role() == {"system": counts[0], "user": counts[1], "assistant": counts[2] + counts[4],
                                         "tool": counts[3]}
    sampled = rendered.tokens_by_role(sampled_only=True)
    assert sampled["tool"] == sampled["user"] == 0 and sampled["assistant"] == sum(rendered.sampled_mask)
    spans = rendered.message_token_spans()
    assert [end - begin for begin, end in spans] == counts and spans[0][0] == 0
    assert rendered.role_token_spans()["assistant"] == [spans[2], spans[4]]
    (begin, end), = rendered.content_token_spans_by_role()["tool"]
    assert renderer.model.detokenize(rendered.token_ids[begin:end]) == "4"
    nothing = compat.RenderedTokens(token_ids=[1, 2], message_indices=[0, 2])
    assert nothing.message_token_spans() == [(0, 1), None, (1, 2)]
    assert nothing.tokens_per_message() == [] and nothing.content_mask_for_roles({"user"}) == [False, False]
    assert nothing.content_token_spans_by_role() == {} and nothing.tokens_by_role() == {}
    assert compat.RenderedTokens().message_token_spans() == []


def test_parse_response(renderer):
    ids = renderer.model.tokenize('<|think|>\nso\n<|/think|>\nWait. <|call|>{"name": "add", "arguments": {"a": 2}}<|/call|>'
                                  "<|call|>{oops<|/call|><|call|>{}<|/call|><|end|>")
    parsed = renderer.parse_response(ids.tolist())
    assert (parsed.reasoning_content, parsed.content, parsed.reasoning_complete) == ("\nso\n", "\nWait. ", True)
    good, bad, nameless = parsed.tool_calls
    assert (good.name, good.arguments, good.status) == ("add", {"a": 2}, compat.ToolCallParseStatus.OK)
    assert good.raw == '{"name": "add", "arguments": {"a": 2}}'
    assert renderer.model.detokenize(ids[slice(*good.token_span)]) == f"<|call|>{good.raw}<|/call|>"
    assert (bad.raw, bad.status, bad.name) == ("{oops", compat.ToolCallParseStatus.INVALID_JSON, None)
    assert (nameless.raw, nameless.status) == ("{}", compat.ToolCallParseStatus.MISSING_NAME)
    unclosed = renderer.parse_response(renderer.model.tokenize("a<|call|>x").tolist())
    assert (unclosed.content, unclosed.tool_calls[0].status) == ("a", compat.ToolCallParseStatus.UNCLOSED_BLOCK)
    spelled = renderer.model.tokenize("<|call|>{}", parse_special=False).tolist()
    assert renderer.parse_response(spelled).tool_calls == []
    cut = renderer.parse_response(renderer.model.tokenize("<|think|>so").tolist())
    assert (cut.reasoning_content, cut.content, cut.reasoning_complete) == ("so", "", False)
    prompt = renderer.model.tokenize("<|assistant|><|think|>").tolist()
    assert renderer.parse_response(renderer.model.tokenize("so<|/think|>4").tolist(), prompt_ids=prompt).content == "4"


def test_schemas_are_not_checked(renderer):
    tools = [{"type": "function", "function": {"name": "add", "parameters": {"properties": {"a": {"type": "integer"}}}}}]
    ids = renderer.model.tokenize('<|call|>{"name": "add", "arguments": {"a": "two", "c": 1}}<|/call|><|end|>').tolist()
    call, = renderer.parse_response(ids, tools=tools).tool_calls
    assert (call.status, call.arguments) == (compat.ToolCallParseStatus.OK, {"a": "two", "c": 1})


def test_bridge(renderer):
    prompt = renderer.render_ids(CONVERSATION[:2], add_generation_prompt=True)
    whole = renderer.render_ids(CONVERSATION[:3])
    completion = whole[len(prompt):]
    bridged = renderer.bridge_to_next_turn(prompt, completion, [RESULT])
    assert bridged.token_ids == renderer.render_ids(CONVERSATION[:4], add_generation_prompt=True)
    assert bridged.tokens_per_message() == [len(renderer.model.tokenize("<|tool|>4<|end|>"))]
    assert text_of(renderer, bridged, bridged.is_content) == "4" and not any(bridged.sampled_mask)
    for refused in (([], completion, [RESULT]), (prompt, completion, []), (prompt, completion, [SAYS])):
        assert renderer.bridge_to_next_turn(*refused) is None
    thinking = renderer.model.tokenize("<|think|>so").tolist()
    cut = renderer.bridge_to_next_turn(prompt, thinking, [USER])
    behind = renderer.model.detokenize(cut.token_ids[len(prompt) + len(thinking):])
    assert behind.startswith("<|/think|><|end|><|user|>")
    assert renderer.bridge_to_next_turn(prompt, [*thinking, *renderer.get_stop_token_ids()], [USER]) is None


def test_retention(tiny_folder):
    """A template that drops earlier reasoning: within the tool cycle a bridge, with the next question none."""
    source = (tiny_folder / "tokenizer_config.json").read_text(encoding="utf-8")
    template = json.loads(source)["chat_template"].replace(
        "{%- for message in messages -%}",
        "{%- set ns = namespace(last=-1) -%}{%- for m in messages -%}{%- if m.role == 'user' -%}"
        "{%- set ns.last = loop.index0 -%}{%- endif -%}{%- endfor -%}{%- for message in messages -%}", 1).replace(
        "{%- if message.reasoning_content %}", "{%- if message.reasoning_content and loop.index0 > ns.last %}", 1)
    model = rondo.load(tiny_folder, template=template)
    renderer = compat.create_renderer(model)
    assert renderer.effective_thinking_retention == "tool_cycle" and not renderer.is_prefix_stable
    prompt = renderer.render_ids(CONVERSATION[:2], add_generation_prompt=True)
    completion = renderer.render_ids(CONVERSATION[:3])[len(prompt):]
    assert renderer.bridge_to_next_turn(prompt, completion, [RESULT]) is not None
    assert renderer.bridge_to_next_turn(prompt, completion, [USER]) is None
    keeps = compat.create_renderer(model, compat.DefaultRendererConfig(thinking_retention="all"))
    bridged = keeps.bridge_to_next_turn(prompt, completion, [USER])
    assert bridged.token_ids[:len(prompt) + len(completion)] == [*prompt, *completion]


def test_messages_of_many_shapes(renderer):
    wanted = renderer.render_ids(CONVERSATION)

    def with_call(call):
        return [*CONVERSATION[:2], {**THINKS, "tool_calls": [call]}, *CONVERSATION[3:]]

    assert renderer.render_ids(with_call({**CALL, "function": {"name": "add", "arguments": '{"a": 2}'}})) == wanted
    assert renderer.render_ids(with_call({"id": "c1", "name": "add", "arguments": {"a": 2}})) == wanted
    parts = [{"type": "text", "text": "What is "}, {"type": "text", "text": "2 + 2?"}]
    assert renderer.render_ids([CONVERSATION[0], {**USER, "content": parts}, *CONVERSATION[2:]]) == wanted
    thinking = {**THINKS, "content": [{"type": "thinking", "thinking": "Add."}]}
    del thinking["reasoning_content"]
    assert renderer.render_ids([*CONVERSATION[:2], thinking, *CONVERSATION[3:]]) == wanted
    assert renderer.render_ids([*CONVERSATION[:2], {**THINKS, "content": None}, *CONVERSATION[3:]]) == wanted

    class Model(pydantic.BaseModel):
        role: str
        content: str | None = None
        name: str | None = None

    assert renderer.render_ids([Model(role="user", content="x")]) == renderer.render_ids([{"role": "user", "content": "x"}])
    assert CONVERSATION[2] == THINKS and "reasoning_content" in THINKS  # what was given stays as it was
    with pytest.raises(TypeError):
        renderer.render([3])


def test_training_samples(renderer):
    rendered = renderer.render(CONVERSATION)
    sample = compat.build_training_sample(renderer, CONVERSATION)
    assert sample.token_ids == rendered.token_ids and sample.loss_mask == rendered.sampled_mask
    assert sample.multi_modal_data is None and sample.mm_token_type_ids is None
    last = compat.build_training_sample(renderer, CONVERSATION, message_loss_mask=[1, 1, 0, 1, True])
    assert text_of(renderer, last, last.loss_mask) == "4.<|end|>"
    tools = compat.build_training_sample(renderer, CONVERSATION, content_sft_roles={"tool"},
                                         role_to_mask=lambda message: False)
    assert text_of(renderer, tools, tools.loss_mask) == "4"
    for wrong in ([1], [2] * 5, ["a"] * 5):
        with pytest.raises(ValueError, match="message_loss_mask"):
            compat.build_training_sample(renderer, CONVERSATION, message_loss_mask=wrong)


def test_the_last_turn_gets_its_stop(tiny_folder):
    template = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
    renderer = compat.create_renderer(rondo.load(tiny_folder, template=template))
    conversation = [USER, SAYS]
    plain = compat.build_training_sample(renderer, conversation)
    closed = compat.build_training_sample(renderer, conversation, ensure_final_stop=True)
    assert closed.token_ids == [*plain.token_ids, renderer.get_stop_token_ids()[0]] and closed.loss_mask[-1] is True
    kept = compat.build_training_sample(renderer, conversation, ensure_final_stop=True, message_loss_mask=[1, 0])
    assert len(kept.token_ids) == len(closed.token_ids) and not any(kept.loss_mask)


def test_without_a_sampled_mask():
    class Bare:
        def render(self, messages, *, tools=None):
            return compat.RenderedTokens([1, 2, 3], [0, 1, -1], message_roles=["user", "assistant"])

    with pytest.raises(ValueError, match="role_to_mask"):
        compat.build_training_sample(Bare(), [USER, SAYS])
    sample = compat.build_training_sample(Bare(), [USER, SAYS], role_to_mask=lambda m: m["role"] == "assistant")
    assert sample.loss_mask == [False, True, False]


def test_trajectory_step(renderer):
    step = compat.build_trajectory_step(renderer, CONVERSATION[:2], CONVERSATION[2:])
    assert step["prompt_ids"] + step["completion_ids"] == renderer.render_ids(CONVERSATION)
    assert step["prompt_ids"] == renderer.render_ids(CONVERSATION[:2], add_generation_prompt=True)
    assert step["completion_mask"] == [True] * len(step["completion_ids"])
    assert compat.build_trajectory_step(renderer, CONVERSATION, [])["completion_ids"] == []


def test_configurations():
    assert compat.config_from_name("auto") is None
    names = set(compat.FAMILIES) | {"default"}
    for name in names:
        config = compat.config_from_name(name)
        assert config.name == name and hash(config) == hash(compat.config_from_name(name))
        with pytest.raises(pydantic.ValidationError):
            config.thinking_retention = "all"
        if name != "default":
            with pytest.raises(pydantic.ValidationError):
                type(config)(no_such_field=1)
    adapter = pydantic.TypeAdapter(compat.RendererConfig)
    for name in names:
        assert type(adapter.validate_python({"name": name})) is type(compat.config_from_name(name))
    with pytest.raises(ValueError, match="no configuration"):
        compat.config_from_name("nobody")
    with pytest.raises(pydantic.ValidationError):
        compat.DefaultRendererConfig(preserve_all_thinking=True)


def test_a_field_and_the_retention_must_agree():
    rules = {name: family["retention"] for name, family in compat.FAMILIES.items() if "retention" in family}
    assert rules
    for name, rule in rules.items():
        kind = type(compat.config_from_name(name))
        field = rule["field"]
        assert kind(**{field: True, "thinking_retention": rule["true"]})
        with pytest.raises(pydantic.ValidationError, match="thinking_retention"):
            kind(**{field: True, "thinking_retention": rule["false"]})


def test_create_renderer(tiny, tiny_folder):
    class Tokenizer:
        name_or_path = next(iter(compat.MODEL_RENDERER_MAP))

    name = compat.MODEL_RENDERER_MAP[Tokenizer.name_or_path]
    resolved = compat._resolved(Tokenizer(), None, {"enable_thinking": False})
    assert resolved.name == name and resolved.enable_thinking is False
    with pytest.raises(ValueError, match="nothing_like_it"):
        compat._resolved(Tokenizer(), None, {"nothing_like_it": 1})
    assert compat.create_renderer(str(tiny_folder)).render_ids([USER]) == compat.create_renderer(tiny).render_ids([USER])
    with pytest.raises(TypeError):
        compat.create_renderer(tiny, chat_template_kwargs=[1])


def test_custom_renderers(tiny, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text('''
from typing import Literal
from rondo.compat.renderers import DefaultRenderer
from rondo.compat.renderers.configs import BaseRendererConfig


class MineConfig(BaseRendererConfig):
    name: Literal["mine"] = "mine"
    loud: bool = False
    _template_fields = frozenset({"loud"})


class Mine(DefaultRenderer):
    config_class = MineConfig
''', encoding="utf-8")
    config = compat.CustomRendererConfig(import_path=f"{file}:Mine", loud=True)
    renderer = compat.create_renderer(tiny, config)
    assert type(renderer).__name__ == "Mine" and renderer.config.loud is True
    assert compat.template_field_names(config) == {"loud"}
    with pytest.raises(pydantic.ValidationError):
        compat.CustomRendererConfig(import_path=f"{file}:Mine", quiet=True)
    for wrong in ("nowhere", f"{file}:Nobody", f"{tmp_path}/none.py:Mine"):
        with pytest.raises(ValueError):
            compat.load_target(wrong)


def test_helpers():
    assert compat.trim_to_turn_close([1, 9], [2, 9, 3], {9}) == [1, 9, 2, 9]
    assert compat.trim_to_turn_close([1, 9], [2], {9}) is None
    assert compat.trim_to_turn_close([1], [2], {9}, synthesize_close=9) == [1, 2, 9]
    assert compat.reject_assistant_in_extension([USER, SAYS]) and not compat.reject_assistant_in_extension([USER])
    assert compat.extract_message_tool_names([THINKS, RESULT, {**RESULT, "name": "own"}, {"role": "tool"}]) == [
        None, "add", "own", None]

    class Letters:
        def __call__(self, text, **_options):
            return {"input_ids": [ord(c) for c in text], "offset_mapping": [(i, i + 1) for i in range(len(text))]}

    pairs = compat.attribute_text_segments(Letters(), [("ab", False), ("c", True)])
    assert pairs == [(97, False), (98, False), (99, True)] and pairs.has_content_attribution
    conversation = compat.RenderedConversation([1], messages=[USER]).with_completion([2], completion_logprobs=[-1.0])
    assert conversation.token_ids == [1, 2] and conversation.messages == [USER]


def test_install(monkeypatch):
    for name in [name for name in sys.modules if name == "renderers" or name.startswith("renderers.")]:
        monkeypatch.delitem(sys.modules, name)
    compat.install()
    try:
        import renderers
        from renderers.base import Message, RenderedTokens, create_renderer
        from renderers.configs import AutoRendererConfig

        assert renderers.create_renderer is create_renderer is compat.create_renderer
        assert RenderedTokens is compat.RenderedTokens and AutoRendererConfig().name == "auto" and Message
        for family in compat.FAMILIES.values():
            module = __import__(f"renderers.{family['module']}", fromlist=[family["class"]])
            assert issubclass(getattr(module, family["class"]), compat.Renderer)
    finally:
        for name in [name for name in sys.modules if name == "renderers" or name.startswith("renderers.")]:
            del sys.modules[name]


def test_a_real_family(real):
    renderer = compat.create_renderer(real, compat.config_from_name("qwen3"))
    tools = [{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object"}}}]
    rendered = renderer.render(CONVERSATION, tools=tools)
    assert -1 not in rendered.message_indices  # the tools stand in the system turn
    sampled = text_of(renderer, rendered, rendered.sampled_mask)
    assert sampled.startswith("<think>\nAdd.\n</think>\n\n<tool_call>\n") and sampled.endswith("4.<|im_end|>")
    assert renderer.effective_thinking_retention == "tool_cycle"
    off = compat.create_renderer(real, compat.Qwen3RendererConfig(enable_thinking=False))
    assert off.effective_thinking_retention == "all"
