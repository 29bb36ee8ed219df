"""What document 000 says of renderers and bridges; tests/statements/000.md names the places."""
import inspect

import pytest

import rondo

pytest.importorskip("pydantic")

from rondo.compat import renderers as compat  # noqa: E402

USER = {"role": "user", "content": "Hi"}
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": {"a": 2}}}
CALLS = {"role": "assistant", "content": "", "reasoning_content": "so", "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "4"}
SAYS = {"role": "assistant", "content": "ok"}
TOOLS = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]
# As many do: a line end behind each turn, a system message where there is none, the prompt opens the reasoning.
LINES = ("{% if messages[0].role != 'system' %}{{ '<|system|>You help.<|end|>\n' }}{% endif %}"
         "{% for m in messages %}{{ '<|' ~ m.role ~ '|>' }}"
         "{% if m.role == 'assistant' %}{{ '<|think|>' ~ (m.reasoning_content or '') ~ '<|/think|>' }}{% endif %}"
         "{{ m.content }}"
         "{% for c in m.tool_calls or [] %}{{ '<|call|>' ~ c.function | tojson ~ '<|/call|>' }}{% endfor %}"
         "{{ '<|end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|><|think|>' }}{% endif %}")
CUTS = LINES.replace("{% if m.role == 'assistant' %}", "{% if m.role == 'assistant' and loop.last %}")


@pytest.fixture(scope="module")
def model(tiny_folder):
    return rondo.load(tiny_folder, template=LINES)


@pytest.fixture(scope="module")
def renderer(model):
    return compat.create_renderer(model)


def turn(renderer):
    """A prompt and what was sampled behind it, stop included."""
    prompt = renderer.render_ids([USER], tools=TOOLS, add_generation_prompt=True)
    sampled = 'so<|/think|><|call|>{"name":"add","arguments":{"a":2}}<|/call|><|end|>'
    return prompt, renderer.model.tokenize(sampled).tolist()


def appended(renderer, prompt, completion, messages):
    bridged = renderer.bridge_to_next_turn(prompt, completion, messages, tools=TOOLS)
    old = [*prompt, *completion]
    assert bridged.token_ids[:len(old)] == old
    return renderer.model.detokenize(bridged.token_ids[len(old):])


def test_a_control_token_is_one_token(model):
    """000:82-84: no text around it changes that."""
    for text in ("<|call|>", "x<|call|>{", "<|call|><|call|>"):
        ids = model.tokenize(text).tolist()
        assert ids.count(model.find_token("<|call|>")) == text.count("<|call|>")
        assert len(ids) == len(text) - text.count("<|call|>") * (len("<|call|>") - 1)


def test_the_methods_of_a_renderer(renderer):
    """000:208-215, 000:217."""
    assert {"messages", "tools", "add_generation_prompt"} <= set(inspect.signature(renderer.render).parameters)
    assert "token_ids" in inspect.signature(renderer.parse_response).parameters
    bridge = list(inspect.signature(renderer.bridge_to_next_turn).parameters)
    assert bridge[:3] == ["previous_prompt_ids", "previous_completion_ids", "new_messages"] and "tools" in bridge
    stops = renderer.get_stop_token_ids()
    assert stops[0] == renderer.model.find_token("<|end|>") and {type(stop) for stop in stops} == {int}


def test_a_render_is_the_template_tokenized(renderer):
    """000:216, 000:242: the ids are those of the text that the template writes."""
    messages = [USER, CALLS, RESULT, SAYS, USER]
    rendered = renderer.render(messages, tools=TOOLS, add_generation_prompt=True)
    text = renderer.model.render(messages, tools=TOOLS, add_generation_prompt=True)
    assert rendered.token_ids == renderer.model.tokenize(text).tolist()
    assert len(rendered.message_indices) == len(rendered.token_ids)


def test_a_response_is_read_from_ids(renderer):
    """000:217."""
    prompt, completion = turn(renderer)
    parsed = renderer.parse_response(completion, prompt_ids=prompt)
    call, = parsed.tool_calls
    assert (parsed.reasoning_content, parsed.content, call.name, call.arguments) == ("so", "", "add", {"a": 2})


def test_a_bridge_keeps_the_old_ids_and_ends_with_the_prompt(renderer):
    """000:218-223, 000:230."""
    prompt, completion = turn(renderer)
    text = appended(renderer, prompt, completion, [RESULT, USER])
    assert text.endswith("<|tool|>4<|end|>\n<|user|>Hi<|end|>\n<|assistant|><|think|>")


def test_a_bridge_writes_the_line_end_behind_the_stop(renderer):
    """000:225-228: engines end at the stop."""
    prompt, completion = turn(renderer)
    assert appended(renderer, prompt, completion, [USER]) == "\n<|user|>Hi<|end|>\n<|assistant|><|think|>"


def test_a_bridge_writes_a_stop_that_is_not_there(renderer):
    """000:206, 000:224: taken away by the engine, or never sampled."""
    prompt, completion = turn(renderer)
    assert appended(renderer, prompt, completion[:-1], [USER]).startswith("<|end|>\n<|user|>")
    cut = renderer.model.tokenize("so far").tolist()
    assert appended(renderer, prompt, cut, [USER]).startswith("<|/think|><|end|>\n<|user|>")


def test_ids_behind_a_stop_stay(renderer):
    """000:224: the package cuts there; here what was sampled is never dropped."""
    prompt, completion = turn(renderer)
    behind = [*completion, *renderer.model.tokenize("more").tolist()]
    assert appended(renderer, prompt, behind, [USER]).startswith("\n<|user|>")


def test_a_bridge_takes_no_assistant_messages(renderer, model):
    """000:229."""
    prompt, completion = turn(renderer)
    assert renderer.bridge_to_next_turn(prompt, completion, [RESULT, SAYS], tools=TOOLS) is None
    with pytest.raises(rondo.InvalidArgumentError):
        model.bridge(prompt, completion, [SAYS], messages=[USER])


def test_the_same_text_in_other_tokens_stays(real):
    """000:205, 000:231-232: the old ids are not merged anew, and what follows a stop is encoded by itself."""
    prompt = real.encode([USER], add_generation_prompt=True).ids.tolist()
    stop = real.find_token("<|im_end|>")
    split = [real.tokenize(letter).tolist()[0] for letter in "Hello"]
    assert split != real.tokenize("Hello").tolist()
    bridged = real.bridge(prompt, [*split, stop], [USER], messages=[USER])
    old = [*prompt, *split, stop]
    assert bridged.ids.tolist()[:len(old)] == old
    line_end, = real.tokenize("\n").tolist()
    assert bridged.ids.tolist()[len(old):len(old) + 2] == [line_end, real.find_token("<|im_start|>")]


def test_what_the_template_adds_is_nobodys(tiny_folder):
    """000:239-240: a system message of its own, the tools, the generation prompt."""
    source = "{{ '<|system|>You help.' }}{{ tools | tojson }}{{ '<|end|>' }}" + LINES[LINES.index("{% for m"):]
    renderer = compat.create_renderer(rondo.load(tiny_folder, template=source))
    rendered = renderer.render([USER], tools=TOOLS, add_generation_prompt=True)
    nobodys = [token for token, index in zip(rendered.token_ids, rendered.message_indices) if index == -1]
    text = renderer.model.detokenize(nobodys)
    assert text.startswith("<|system|>You help.[{") and text.endswith("<|end|><|assistant|><|think|>")
    assert "Hi" not in text
    assert renderer.model.detokenize([token for token, index in zip(rendered.token_ids, rendered.message_indices)
                                      if index == 0]) == "<|user|>Hi<|end|>\n"


def test_a_bridge_adds_no_second_system_message(renderer):
    """000:251: the template writes one where the first message is none."""
    prompt, completion = turn(renderer)
    assert renderer.model.detokenize(prompt).count("You help.") == 1
    assert "You help." not in appended(renderer, prompt, completion, [RESULT])


def test_one_render_gives_the_loss_mask(renderer):
    """000:234-240: assistant's ids alone, from indices and roles."""
    messages = [USER, CALLS, RESULT, SAYS]
    rendered = renderer.render(messages, tools=TOOLS)
    said = [index >= 0 and messages[index]["role"] == "assistant" for index in rendered.message_indices]
    shown = renderer.model.detokenize([token for token, wanted in zip(rendered.token_ids, said) if wanted])
    assert "so<|/think|>" in shown and "ok<|end|>" in shown and "Hi" not in shown and "4" not in shown
    sample = compat.build_training_sample(renderer, messages, tools=TOOLS)
    assert all(owned for owned, learned in zip(said, sample.loss_mask) if learned) and any(sample.loss_mask)


def test_every_family_of_the_document_has_a_configuration():
    """000:241-242."""
    named = {"qwen3", "qwen3.5", "qwen3.6", "glm-4.5", "glm-5", "glm-5.1", "kimi-k2", "kimi-k2.5", "deepseek-v3",
             "nemotron-3", "gpt-oss"}
    assert named <= set(compat.FAMILIES) and len(compat.FAMILIES) >= 13
    for name in named:
        assert compat.config_from_name(name).name == name


def test_reasoning_is_kept_where_the_template_has_no_switch(tiny_folder):
    """000:252-254."""
    model = rondo.load(tiny_folder, template=CUTS)
    messages = [USER, {**SAYS, "reasoning_content": "old"}, USER, CALLS, RESULT]

    def shown(retention):
        made = model.encode(messages, tools=TOOLS, add_generation_prompt=True, retention=retention)
        return model.detokenize(made.ids)

    assert "old" not in shown("template") and "so" not in shown("template")
    assert "old" in shown("preserve_all_thinking") and "so" in shown("preserve_all_thinking")
    between = shown("preserve_thinking_between_tool_calls")
    assert "old" not in between and "so" in between


def test_what_was_sampled_is_passed_through(model):
    """000:271-273, 000:277: the text beside its parts, and back in the next turn."""
    prompt = model.encode([USER], tools=TOOLS, add_generation_prompt=True).ids
    text = 'so\n\n<|/think|> Wait.<|call|>{"name":"add","arguments":{"a":2}}<|/call|><|end|>'
    sampled = model.tokenize(text)
    message = model.parse(sampled, prompt_ids=prompt, tools=TOOLS).to_message(raw=True)
    assert message["tool_calls"][0]["function"]["arguments"] == '{"a":2}' and message["reasoning_content"] == "so\n\n"
    following = model.encode([USER, message, RESULT], tools=TOOLS, add_generation_prompt=True, raw_turns=True)
    assert following.ids.tolist()[:len(prompt) + len(sampled)] == [*prompt, *sampled]
    written = model.encode([USER, message, RESULT], tools=TOOLS, add_generation_prompt=True)
    assert written.ids.tolist()[:len(prompt) + len(sampled)] != [*prompt, *sampled]
