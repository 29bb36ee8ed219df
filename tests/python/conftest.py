"""Models for the tests: a tiny one that is written on the spot, and real ones where the fixtures are at hand."""
import json
import os
import pathlib

import pytest

import rondo

TEMPLATE = """{%- if tools %}{{ '<|tools|>' }}{% for tool in tools %}{{ tool.function.name }} {% endfor %}{{ '<|end|>' }}{% endif -%}
{%- for message in messages -%}
{%- if message.role == 'assistant' -%}
{{ '<|assistant|>' }}
{%- if message.reasoning_content %}{{ '<|think|>' + message.reasoning_content + '<|/think|>' }}{% endif -%}
{{ message.content or '' }}
{%- for call in message.tool_calls or [] -%}
{{ '<|call|>' }}{{ {'name': call.function.name, 'arguments': call.function.arguments} | tojson }}{{ '<|/call|>' }}
{%- endfor -%}
{{ '<|end|>' }}
{%- elif message.role == 'tool' -%}
{{ '<|tool|>' + message.content + '<|end|>' }}
{%- else -%}
{{ '<|' + message.role + '|>' + message.content + '<|end|>' }}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt %}{{ '<|assistant|>' }}{% endif -%}
"""
SPECIAL = ["<|end|>", "<|user|>", "<|assistant|>", "<|system|>", "<|tool|>", "<|tools|>", "<|think|>", "<|/think|>",
           "<|call|>", "<|/call|>"]


def byte_characters():
    """The 256 characters by which byte-level vocabularies write bytes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    table = {byte: chr(byte) for byte in plain}
    table.update({byte: chr(256 + index) for index, byte in enumerate(others)})
    return [table[byte] for byte in range(256)]


def tokenizer_json():
    """A tokenizer of single bytes and ten control tokens."""
    vocab = {character: index for index, character in enumerate(byte_characters())}
    added = [{"id": 256 + index, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": True} for index, text in enumerate(SPECIAL)]
    return json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False},
        "model": {"type": "BPE", "vocab": vocab, "merges": []}})


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    config = {"eos_token": "<|end|>", "chat_template": TEMPLATE}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def tiny(tiny_folder):
    return rondo.load(tiny_folder)


def fixtures():
    folder = os.environ.get("RONDO_FIXTURES")
    if not folder:
        pytest.skip("no fixtures")
    return pathlib.Path(folder)


@pytest.fixture(scope="session")
def real():
    """A real vocabulary and template: reasoning, tool calls, history that drops reasoning."""
    folder = fixtures()
    return rondo.load(tokenizer=folder / "qwen-tokenizer", template=folder / "templates" / "Qwen-Qwen3-0.6B.jinja")


@pytest.fixture
def conversation():
    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is 2 + 2? \u00e9\u4e2d\U0001f600"},
        {"role": "assistant", "content": "", "reasoning_content": "Add them.",
         "tool_calls": [{"id": "c1", "type": "function",
                         "function": {"name": "add", "arguments": {"a": 2, "b": 2.0, "exact": True, "x": None}}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "4"},
        {"role": "assistant", "content": "4."},
        {"role": "user", "content": "Thanks <|end|>"},
    ]


@pytest.fixture
def tools():
    return [{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {
        "type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "number"}}}}}]
