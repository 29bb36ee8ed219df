"""What the Python side does by itself: what it hands to the library, where it keeps tokenizers, which errors it makes."""
import os
import pickle

import pytest

import rondo
from rondo import errors


class Tokenizer:
    """What from_tokenizer() looks at."""

    name_or_path = ""
    bos_token = None
    eos_token = "</s>"
    eos_token_id = 2
    chat_template = None

    class backend_tokenizer:  # noqa: N801
        @staticmethod
        def to_str():
            return "{}"


class Token:
    content = "<s>"


@pytest.fixture
def handed(monkeypatch):
    """The parts and options that from_tokenizer() hands over."""
    calls = []
    monkeypatch.setattr(rondo, "_from_memory", lambda parts, **options: calls.append((parts, options)))
    return calls


@pytest.mark.parametrize(("variables", "folder"), [
    ({"RONDO_CACHE": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/a/tokenizers"),
    ({"XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/b/rondo/tokenizers"),
    ({"HOME": "/c"}, "/c/.cache/rondo/tokenizers"),
    ({}, ""),
    ({"RONDO_TOKENIZER_CACHE": "off", "RONDO_CACHE": "/a"}, ""),
    ({"RONDO_TOKENIZER_CACHE": "on", "RONDO_CACHE": "", "XDG_CACHE_HOME": "", "HOME": "/c"}, "/c/.cache/rondo/tokenizers"),
])
def test_tokenizers_are_kept_where_the_program_keeps_them(monkeypatch, variables, folder):
    for name in ("RONDO_TOKENIZER_CACHE", "RONDO_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    given = {}
    monkeypatch.setattr(rondo, "_load_model", lambda path, **options: given.update(options, path=path))
    rondo.load("somewhere", strict=True)
    assert given.pop("cache_folder").replace(os.sep, "/") == folder
    assert given == {"path": "somewhere", "template": None, "tokenizer": None, "format": None, "strict": True,
                     "polyfill": "off"}


def test_special_tokens_are_texts(handed):
    made = Tokenizer()
    made.bos_token = Token()
    rondo.from_tokenizer(made, template="t", format={"stops": {}}, strict=True)
    (parts, options), = handed
    assert parts["config"] == {"bos_token": "<s>", "eos_token": "</s>"}
    assert parts["name"] == "Tokenizer" and parts["tokenizer_json"] == "{}"
    assert options == {"template": "t", "format": {"stops": {}}, "strict": True, "polyfill": "off",
                       "cache_folder": ""}
    made.bos_token = made.eos_token = None
    rondo.from_tokenizer(made)
    assert handed[1][0]["config"] == {}


@pytest.mark.parametrize(("template", "default", "with_tools"), [
    (None, None, None), ("", "", None), ("a", "a", None), ({"default": "a", "tool_use": "b"}, "a", "b"), ({"rag": "c"}, None, None)])
def test_templates_by_name(handed, template, default, with_tools):
    made = Tokenizer()
    made.chat_template = template
    rondo.from_tokenizer(made)
    parts = handed[0][0]
    assert (parts["chat_template"], parts["tool_template"]) == (default, with_tools)


def test_the_end_of_generation_is_read_beside_the_tokenizer(handed, tmp_path):
    made = Tokenizer()
    made.name_or_path = str(tmp_path)
    rondo.from_tokenizer(made)
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [2, 7]}', encoding="utf-8")
    rondo.from_tokenizer(made)
    (tmp_path / "generation_config.json").write_text("{", encoding="utf-8")
    rondo.from_tokenizer(made)
    made.eos_token_id = None
    rondo.from_tokenizer(made)
    found = [parts["generation_config"] for parts, _ in handed]
    assert found == [{"eos_token_id": 2}, {"eos_token_id": [2, 7]}, {"eos_token_id": 2}, None]


@pytest.mark.parametrize(("code", "kind", "also"), [
    ("bad_request", rondo.InvalidArgumentError, ValueError), ("not_found", rondo.NotFoundError, FileNotFoundError),
    ("template_syntax", rondo.TemplateError, rondo.Error), ("template_raised", rondo.TemplateError, rondo.Error),
    ("template_error", rondo.TemplateError, rondo.Error), ("tokenizer_error", rondo.TokenizerError, ValueError),
    ("parse_error", rondo.ParseError, ValueError), ("cannot_bridge", rondo.BridgeError, rondo.Error),
    ("limit", rondo.LimitError, rondo.Error), ("unsupported", rondo.UnsupportedError, rondo.Error),
    ("internal", rondo.Error, Exception), ("of_tomorrow", rondo.Error, Exception)])
def test_every_code_has_its_exception(code, kind, also):
    made = errors.make(code, "it failed", "chat.jinja", 3, 4, None, ["a", "b"], "chat.jinja:3:4: it failed")
    for error in (made, pickle.loads(pickle.dumps(made))):
        assert type(error) is kind and isinstance(error, also)
        assert str(error) == "chat.jinja:3:4: it failed"
        assert (error.code, error.message, error.place, error.trail) == (code, "it failed", "chat.jinja:3:4", ("a", "b"))


@pytest.mark.parametrize(("source", "line", "offset", "place"), [
    ("", 3, None, "template:3:4"), ("a.json", 0, 9, "a.json:9"), ("", 0, 9, "offset 9"), ("messages[0]", 0, None, "messages[0]"),
    ("", 0, None, None)])
def test_places(source, line, offset, place):
    assert errors.make("bad_request", "m", source, line, 4, offset, [], "m").place == place


def test_an_error_without_arguments_has_a_text():
    assert str(rondo.NotFoundError()) == "" and rondo.NotFoundError().code == "not_found"
    assert rondo.Error().place is None
