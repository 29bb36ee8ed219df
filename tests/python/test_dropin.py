"""rondo.compat.renderers as a drop-in: what users of the package rely on beside its methods."""
import asyncio
import copy
import dataclasses
import json
import pickle
import sys
import types
from unittest import mock

import pytest

import rondo
from conftest import TEMPLATE, tokenizer_json

pytest.importorskip("pydantic")

from rondo.compat import renderers as compat  # noqa: E402
from rondo.compat.renderers import client, parsers  # noqa: E402

USER = {"role": "user", "content": "Hi"}
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": {"a": 2}}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "4"}
SAYS = {"role": "assistant", "content": "ok"}
PLAIN = ("{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
         "{% if add_generation_prompt %}<|assistant|>{% endif %}")

def rendering(folder, template):
    return rondo.load(folder, template=template)

# --- Messages --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("content", [None, ""])
@pytest.mark.parametrize("condition", ["m.content is none", "m.content == ''"])
def test_the_form_of_no_content_that_shows_calls(tiny_folder, condition, content):
    template = ("{% for m in messages %}{% if m.tool_calls and " + condition + " %}<|call|>{{ m.tool_calls[0].function "
                "| tojson }}<|/call|>{% else %}<|{{ m.role }}|>{{ m.content }}{% endif %}<|end|>{% endfor %}")
    renderer = compat.create_renderer(rendering(tiny_folder, template))
    shown = renderer.model.detokenize(renderer.render_ids([USER, {**CALLS, "content": content}, RESULT]))
    assert '<|call|>{"name": "add", "arguments": {"a": 2}}<|/call|><|end|>' in shown and "None" not in shown

def test_no_content_stays_none(tiny_folder):
    """What the template understands reaches it: here a null is not the same as no member."""
    template = ("{% for m in messages %}<|{{ m.role }}|>{% if m.content is not defined %}NOTHING{% else %}"
                "{{ m.content or '' }}{% endif %}<|end|>{% endfor %}")
    renderer = compat.create_renderer(rendering(tiny_folder, template))
    shown = renderer.model.detokenize(renderer.render_ids([USER, {**SAYS, "content": None}]))
    assert shown.endswith("<|assistant|><|end|>")


# --- Settings --------------------------------------------------------------------------------------------------------

DATED = ("{% if model_identity is not defined %}{% set model_identity = 'Nobody' %}{% endif %}<|system|>"
         "{{ model_identity }} until 2024-06, {{ strftime_now('%Y-%m-%d') }}, {{ reasoning_effort }}<|end|>" + PLAIN)

def dated(folder, **settings):
    renderer = compat.create_renderer(rendering(folder, DATED), compat.GptOssRendererConfig(**settings))
    return renderer.model.detokenize(renderer.render_ids([USER]))

def test_date_and_identity_reach_the_template(tiny_folder):
    shown = dated(tiny_folder, conversation_start_date="2025-06-28", model_identity="Somebody")
    assert shown.startswith("<|system|>Somebody until 2024-06, 2025-06-28, medium<|end|>")
    assert "Nobody" in dated(tiny_folder)
    with pytest.raises(ValueError, match="conversation_start_date: 'soon' is no date"):
        dated(tiny_folder, conversation_start_date="soon")

def test_a_bridge_tells_the_same_date(tiny_folder):
    dated_users = "{{ m.content }}{{ strftime_now('%d') if m.role == 'user' }}{# reasoning_effort #}"
    template = PLAIN.replace("{{ m.content }}", dated_users)
    config = compat.GptOssRendererConfig(conversation_start_date="2025-06-28", thinking_retention="all")
    renderer = compat.create_renderer(rendering(tiny_folder, template), config)
    prompt = renderer.render_ids([USER], add_generation_prompt=True)
    bridged = renderer.bridge_to_next_turn(prompt, renderer.model.tokenize("ok<|end|>").tolist(), [USER])
    assert bridged.token_ids == renderer.render_ids([USER, SAYS, USER], add_generation_prompt=True)

def test_what_the_template_writes_anyway_is_accepted(tiny_folder):
    assert "2024-06" in dated(tiny_folder, knowledge_cutoff="2024-06", use_system_prompt=True)

@pytest.mark.parametrize("settings", [{"knowledge_cutoff": "2030-01"}, {"use_system_prompt": False},
                                      {"auto_drop_analysis": False}])
def test_a_setting_without_effect_is_refused(tiny_folder, settings):
    with pytest.raises(ValueError, match=f"{next(iter(settings))}=.* has no effect"):
        dated(tiny_folder, **settings)

def test_preserve_thinking(tiny_folder):
    template = TEMPLATE.replace("{%- if message.reasoning_content %}",
                                "{%- if message.reasoning_content and (preserve_thinking or loop.last) %}", 1)
    model = rendering(tiny_folder, template + "{# add_vision_id #}")
    for preserve, retention in ((True, "all"), (False, "tool_cycle")):
        renderer = compat.create_renderer(model, compat.Qwen36RendererConfig(preserve_thinking=preserve))
        shown = renderer.model.detokenize(renderer.render_ids([USER, {**SAYS, "reasoning_content": "Hm."}, USER]))
        assert ("Hm." in shown) is preserve and renderer.effective_thinking_retention == retention
    assert compat.create_renderer(rendering(tiny_folder, PLAIN), compat.Qwen36RendererConfig())
    with pytest.raises(ValueError, match="preserve_thinking=True has no effect.*thinking_retention='all'"):
        compat.create_renderer(rendering(tiny_folder, PLAIN), compat.Qwen36RendererConfig(preserve_thinking=True))

def test_variables_of_any_template(tiny, tiny_folder):
    model = rendering(tiny_folder, "{{ style }}" + PLAIN)
    renderer = compat.create_renderer(model, chat_template_kwargs={"style": "short"})
    assert renderer.config.model_extra == {"style": "short"}
    assert renderer.model.detokenize(renderer.render_ids([USER])).startswith("short<|user|>")
    with pytest.raises(ValueError, match="styl='short' has no effect"):
        compat.create_renderer(model, compat.DefaultRendererConfig(styl="short"))

# --- Reading ---------------------------------------------------------------------------------------------------------

CALL_TEXTS = {
    "qwen3": '<tool_call>\n{"name": "add", "arguments": {"a": 2}}\n</tool_call>',
    "qwen3.5": "<tool_call>\n<function=add>\n<parameter=a>\n2\n</parameter>\n</function>\n</tool_call>",
    "glm": "<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>2</arg_value>\n</tool_call>",
    "deepseek-v3": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n"
                   '{"a": 2}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
}

def test_an_unknown_model_is_read_without_loss(tiny_folder):
    renderer = compat.create_renderer(rendering(tiny_folder, PLAIN))
    text = " \n <think> so </think>\n\n  yes \n"
    parsed = renderer.parse_response(renderer.model.tokenize(text + "<|end|>").tolist())
    assert (parsed.content, parsed.reasoning_content) == (text, None)
    assert not renderer.supports_tools

@pytest.mark.parametrize("name", CALL_TEXTS)
def test_parsers_by_name(tiny_folder, name):
    config = compat.DefaultRendererConfig(tool_parser=name, reasoning_parser="think")
    renderer = compat.create_renderer(rendering(tiny_folder, PLAIN), config)
    assert renderer.supports_tools
    ids = renderer.model.tokenize(f"<think>\n so </think>\n\nwell {CALL_TEXTS[name]}<|end|>").tolist()
    parsed = renderer.parse_response(ids)
    assert (parsed.content, parsed.reasoning_content) == ("\n\nwell ", "\n so ")
    call, = parsed.tool_calls
    assert (call.name, call.arguments, call.status) == ("add", {"a": 2}, compat.ToolCallParseStatus.OK)
    open_end = renderer.parse_response(renderer.model.tokenize("<think> so").tolist())
    assert (open_end.reasoning_content, open_end.reasoning_complete) == (" so", False)

@pytest.mark.parametrize("name", CALL_TEXTS)
def test_tool_parsers_alone(tiny, name):
    parser = parsers.get_tool_parser(name, tiny)
    assert isinstance(parser, parsers.ToolParser)
    rest, calls = parser.extract(tiny.tokenize(f"well {CALL_TEXTS[name]}").tolist())
    assert [(call.name, call.arguments) for call in calls] == [("add", {"a": 2})]
    assert tiny.detokenize(rest).startswith("well ")

def test_reasoning_parsers_alone(tiny):
    parser = parsers.get_reasoning_parser("think", tiny)
    assert parser.extract("<think> a </think>\n b") == (" a ", "\n b")
    assert parser.extract("<think> a") == (" a", "") and parser.extract("a </think>") == (None, "a </think>")
    assert set(parsers.TOOL_PARSERS) == set(CALL_TEXTS) and set(parsers.REASONING_PARSERS) == {"think"}

def test_parsers_that_there_are_not(tiny):
    for field in ("tool_parser", "reasoning_parser"):
        with pytest.raises(ValueError, match=f"no {field} is called 'nothing'; there are"):
            compat.create_renderer(tiny, compat.DefaultRendererConfig(**{field: "nothing"}))

# --- Lists that are made when asked for ------------------------------------------------------------------------------

def test_lists_behave_as_if_they_were_there(tiny):
    renderer = compat.create_renderer(tiny)
    rendered = renderer.render([USER, SAYS])
    assert "sampled_mask" not in vars(rendered)
    assert rendered == renderer.render([USER, SAYS]) and "sampled_mask" in vars(rendered)
    for again in (pickle.loads(pickle.dumps(rendered)), copy.copy(rendered), copy.deepcopy(rendered),
                  dataclasses.replace(renderer.render([USER, SAYS])),
                  compat.RenderedTokens(**dataclasses.asdict(rendered))):
        assert again == rendered
    bridged = renderer.bridge_to_next_turn(rendered.token_ids, renderer.model.tokenize("x<|end|>").tolist(), [USER])
    sizes = {len(getattr(bridged, name)) for name in ("token_ids", "message_indices", "sampled_mask", "is_content")}
    assert sizes == {len(bridged.token_ids)} and "is_content=" in repr(bridged)
    with pytest.raises(AttributeError, match="no_such"):
        _ = bridged.no_such

# --- Names -----------------------------------------------------------------------------------------------------------

def test_names_that_users_import():
    compat.install()
    try:
        from renderers import Content, ContentPart, RendererPool, __version__, create_renderer_pool
        from renderers.base import Content as base_content
        from renderers.base import should_preserve_past_thinking
        from renderers.client import MalformedGenerateResponseError, OverlongPromptError, generate
        from renderers.parsers import ReasoningParser, ToolParser, get_reasoning_parser, get_tool_parser

        assert Content is base_content and ContentPart and __version__ == compat.__version__
        assert generate and get_tool_parser and get_reasoning_parser and ToolParser and ReasoningParser
        assert RendererPool is compat.RendererPool and create_renderer_pool
        assert issubclass(MalformedGenerateResponseError, ValueError)
        assert OverlongPromptError is compat.OverlongPromptError
        turns = [USER, CALLS, RESULT]
        flags = {"preserve_all_thinking": False, "preserve_thinking_between_tool_calls": True}
        assert should_preserve_past_thinking(turns, 1, **flags)
        assert not should_preserve_past_thinking([*turns, USER], 1, **flags)
    finally:
        for name in [name for name in sys.modules if name == "renderers" or name.startswith("renderers.")]:
            del sys.modules[name]

def test_arguments_of_earlier_versions(tiny, tiny_folder):
    assert compat.create_renderer(tiny, renderer="deepseek_v3").config.name == "deepseek-v3"
    assert compat.create_renderer(tiny, "auto").config.name == "default"
    named = compat.create_renderer(rendering(tiny_folder, PLAIN), tool_parser="qwen3", reasoning_parser="think")
    assert (named.config.tool_parser, named.config.reasoning_parser) == ("qwen3", "think")
    direct = compat.DefaultRenderer(rendering(tiny_folder, PLAIN), tool_parser="qwen3")
    assert direct.supports_tools
    for wrong in ({"renderer": "nobody"}, {"preserve_all_thinking": True},
                  {"renderer": "deepseek-v3", "tool_parser": "qwen3"}, {"config": compat.DefaultRendererConfig(), "renderer": "default"}):
        with pytest.raises(ValueError):
            compat.create_renderer(tiny, **wrong)

def test_pools(tiny):
    pool = compat.create_renderer_pool(tiny, size=3)
    assert isinstance(pool, compat.Renderer) and pool.size == 3 and pool.supports_tools and not pool.is_multimodal
    one = compat.create_renderer(tiny)
    ids = pool.render_ids([USER])
    assert ids == one.render_ids([USER]) and pool.get_stop_token_ids() == one.get_stop_token_ids()
    with pool.checkout() as first, pool.checkout() as second:
        assert first is second and first.render([USER]) == pool.render([USER])
    assert pool.bridge_to_next_turn(ids, one.model.tokenize("x<|end|>").tolist(), [USER]).token_ids
    assert pool.parse_response(one.model.tokenize("x<|end|>").tolist()).content == "x"
    with pytest.raises(ValueError):
        compat.RendererPool(lambda: one, size=0)

# --- Tokenizers with few methods -------------------------------------------------------------------------------------

class Letters:
    """Ids are code points; control tokens have ids of their own."""

    name_or_path, unk_token_id, eos_token_id = "letters", None, 1_000_000
    specials = {"<|end|>": 1_000_000, "<|assistant|>": 1_000_001}

    def encode(self, text, add_special_tokens=True):
        out = []
        while text:
            special = next((it for it in self.specials if text.startswith(it)), text[0])
            out.append(self.specials.get(special, ord(special[0])))
            text = text[len(special):]
        return out

    def decode(self, token_ids, skip_special_tokens=False):
        known = {token: text for text, token in self.specials.items()}
        return "".join(known.get(token) or chr(token) for token in token_ids)

    def convert_tokens_to_ids(self, token):
        return self.specials.get(token)

class TemplatedLetters(Letters):
    chat_template = TEMPLATE

def test_a_tokenizer_with_a_template_and_few_methods(tiny):
    renderer, whole = compat.create_renderer(TemplatedLetters()), compat.create_renderer(tiny)
    messages = [{**USER, "content": "Hié"}, {**CALLS, "reasoning_content": "Hm."}, RESULT]
    rendered, wanted = (it.render(messages, add_generation_prompt=True) for it in (renderer, whole))
    assert Letters().decode(rendered.token_ids) == whole.model.detokenize(wanted.token_ids)
    for role, body in (("user", "Hié"), ("tool", "4")):
        mask = rendered.content_mask_for_roles({role})
        assert Letters().decode([token for token, wanted in zip(rendered.token_ids, mask) if wanted]) == body
    sampled = Letters().decode([t for t, m in zip(rendered.token_ids, rendered.sampled_mask) if m])
    assert sampled == '<|think|>Hm.<|/think|><|call|>{"name": "add", "arguments": {"a": 2}}<|/call|><|end|>'
    parsed = renderer.parse_response(Letters().encode(sampled))
    assert (parsed.reasoning_content, parsed.tool_calls[0].arguments) == ("Hm.", {"a": 2})
    prompt = renderer.render_ids(messages[:1], add_generation_prompt=True)
    bridged = renderer.bridge_to_next_turn(prompt, Letters().encode(sampled), [RESULT])
    assert bridged.token_ids == rendered.token_ids
    assert renderer.get_stop_token_ids() == [1_000_000] and renderer.is_prefix_stable

def test_a_tokenizer_that_only_applies_its_template():
    class Applies(Letters):
        def apply_chat_template(self, messages, add_generation_prompt=False, **_):
            text = "".join(f"[{m['role']}]{m['content']}<|end|>" for m in messages)
            return self.encode(text + "<|assistant|>" * add_generation_prompt)

    renderer = compat.create_renderer(Applies(), compat.DefaultRendererConfig(tool_parser="qwen3", anything=1))
    rendered = renderer.render([USER, SAYS], add_generation_prompt=True)
    assert Letters().decode(rendered.token_ids) == "[user]Hi<|end|>[assistant]ok<|end|><|assistant|>"
    assert rendered.tokens_per_message() == [9, 14] and rendered.message_indices[-1] == -1
    assert rendered.sampled_mask == rendered.is_content == []
    parsed = renderer.parse_response(Letters().encode(f"well {CALL_TEXTS['qwen3']}<|end|> lost"))
    assert (parsed.content, parsed.tool_calls[0].name) == ("well ", "add")
    assert renderer.bridge_to_next_turn(rendered.token_ids, [1_000_000], [USER]) is None
    assert renderer.get_stop_token_ids() == [1_000_000]

def test_mocks_and_what_is_no_tokenizer():
    renderer = compat.create_renderer(mock.MagicMock(), compat.Qwen3RendererConfig(enable_thinking=False))
    assert renderer.config.enable_thinking is False
    with pytest.raises(TypeError, match="`encode` and `decode`, found `int`"):
        compat.create_renderer(3)
    with pytest.raises(rondo.UnsupportedError, match="chat_template"):
        compat.create_renderer(Letters()).render([USER])

def test_a_tokenizer_that_can_only_be_saved(tiny):
    class Slow:
        name_or_path = "nowhere"

        def save_pretrained(self, folder):
            with open(f"{folder}/tokenizer.json", "w", encoding="utf-8") as file:
                file.write(tokenizer_json())
            with open(f"{folder}/tokenizer_config.json", "w", encoding="utf-8") as file:
                json.dump({"eos_token": "<|end|>", "chat_template": TEMPLATE}, file)

    assert compat.create_renderer(Slow()).render_ids([USER]) == compat.create_renderer(tiny).render_ids([USER])

def test_ids_that_do_not_spell_the_text():
    class Lossy(TemplatedLetters):
        def decode(self, token_ids, **_options):
            return super().decode(token_ids).lower()

    rendered = compat.create_renderer(Lossy()).render([USER])
    assert rendered.token_ids and set(rendered.message_indices) == {-1} and rendered.is_content == []

# --- The client ------------------------------------------------------------------------------------------------------

class Engine:
    base_url = "http://engine/v1/"

    def __init__(self, reply, longest=None):
        self.reply, self.longest, self.sent = reply, longest, []

    async def get(self, path, cast_to):
        return {"data": [{"id": "other", "max_model_len": 1}, {"id": "m", "max_model_len": self.longest}]}

    async def post(self, url, cast_to, body, options=None):
        self.sent.append((url, body, options))
        return types.SimpleNamespace(content=json.dumps(self.reply).encode())

@pytest.fixture
def ask(tiny, monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", types.SimpleNamespace(Response=object))
    monkeypatch.setattr(client, "_longest", {})
    renderer = compat.create_renderer(tiny)
    return lambda engine, **options: asyncio.run(client.generate(
        client=engine, renderer=renderer, messages=[USER], model="m", **options))

def reply(tiny, text, **changes):
    ids = tiny.tokenize(text).tolist()
    content = [{"token": f"token_id:{token}", "logprob": -0.5} for token in ids]
    choice = {"token_ids": ids, "logprobs": {"content": content}, "finish_reason": "stop", **changes}
    return {"request_id": "r", "choices": [choice]}

def test_generate(tiny, ask):
    engine = Engine(reply(tiny, '<|call|>{"name": "add", "arguments": {"a": 2}}<|/call|><|end|>'), longest=1000)
    said = ask(engine, sampling_params={"top_p": 0.5}, extra_headers={"x": "y"}, priority=1)
    (url, body, options), = engine.sent
    assert url == "http://engine/inference/v1/generate" and options == {"headers": {"x": "y"}} and body["priority"] == 1
    prompt = compat.create_renderer(tiny).render([USER], add_generation_prompt=True)
    assert body["token_ids"] == said["prompt_ids"] == prompt.token_ids and said["prompt_attribution"] == prompt
    assert body["sampling_params"] == {"top_p": 0.5, "logprobs": 1, "skip_special_tokens": False,
                                       "stop_token_ids": compat.create_renderer(tiny).get_stop_token_ids()}
    assert said["finish_reason"] == "tool_calls" and said["tool_calls"][0].arguments == {"a": 2}
    assert said["completion_logprobs"] == [-0.5] * len(said["completion_ids"])
    with pytest.raises(compat.OverlongPromptError):
        ask(engine, prompt_ids=[65] * 1001)
    assert ask(engine, prompt_ids=[65])["prompt_attribution"] is None and engine.sent[-1][1]["token_ids"] == [65]

def test_what_generate_refuses(tiny, ask):
    good = reply(tiny, "x<|end|>")
    with pytest.raises(compat.OverlongPromptError) as error:
        ask(Engine(good), max_prompt_len=2)
    assert error.value.max_prompt_len == 2 and error.value.prompt_len > 2
    with pytest.raises(NotImplementedError):
        ask(Engine(good), process_multimodal=False)
    entries = good["choices"][0]["logprobs"]["content"]
    for logprobs in (None, {"content": None}, {"content": entries[1:]},
                     {"content": [{**entries[0], "token": "x"}, entries[1]]},
                     *({"content": [{**entries[0], "logprob": value}, entries[1]]}
                       for value in (True, None, "1", float("inf"), -9999.0))):
        with pytest.raises(compat.MalformedGenerateResponseError):
            ask(Engine(reply(tiny, "x<|end|>", logprobs=logprobs)))

def test_routed_experts_are_not_read_as_json():
    raw = b'{"choices":[{"routed_experts":{"data":"QUJD","shape":[1]}}]}'
    routed = client.parse_generate_response(raw)["choices"][0]["routed_experts"]
    assert bytes(routed["data"]) == b"QUJD" and routed["shape"] == [1]
