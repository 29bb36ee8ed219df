"""Tests of a chat template, in one line each (docs/tester.md).

    from rondo.testing import check

    def test_a_call(model):
        check(model, [{"role": "user", "content": "Weather in Oslo?"}], tools=tools) \\
            .contains("Oslo") \\
            .parses('{!do get_weather with {"location": "Oslo"} do!}~fin~', tool_calls=[{"name": "get_weather"}]) \\
            .in_pieces().grammar_accepts().bridges([{"role": "tool", "content": "18 degrees"}])

Each expectation is checked where it stands; one that fails raises AssertionError with what differs and the line of the
template that wrote it.  Under pytest, files that end in `.rondo.yaml`, `.rondo.yml` or `.rondo.json` are collected as tests too.
"""
import os as _os

from . import _cache_folder, load
from ._rondo import Model, Suite, run_case

__all__ = ["Check", "check", "load_suite"]

_ABSENT = object()


def check(model, messages=None, **given) -> "Check":
    """Begins the tests of one conversation.

    model: a Model, or what rondo.load() takes.
    given: tools, documents, kwargs, now, add_generation_prompt, tool_choice, response_schema, ...: the input's keys of a
    case (docs/tester.md).
    """
    case = dict(given)
    if messages is not None:
        case["messages"] = messages
    return Check(model if isinstance(model, Model) else load(model), case)


def load_suite(path, model=None):
    """The Suite in a file, and its Model: the one that the suite names, or the one at the path `model`."""
    name = _os.fspath(path)
    with open(name, encoding="utf-8") as file:
        suite = Suite(file.read(), name)
    return suite, suite.load("" if model is None else _os.fspath(model), cache_folder=_cache_folder())


class Check:
    """A conversation and what is expected of it; every method but the last returns the same object."""

    def __init__(self, model, case):
        self._model = model
        self._input = case

    def expect(self, **expectations) -> "Check":
        """Any expectations of a case, by their keys: the methods below are short for these."""
        expectations.setdefault("pieces", False)  # of what was written; unless asked for
        return self._run(expectations)

    def _run(self, expectations):
        result = run_case(self._model, {**self._input, **expectations})
        if not result["passed"]:
            raise AssertionError(result["text"].rstrip("\n"))
        return self

    def renders(self, text) -> "Check":
        """The prompt is this text."""
        return self.expect(rendered=text)

    def contains(self, *texts) -> "Check":
        """The prompt holds these texts."""
        return self.expect(rendered={"contains": list(texts)})

    def excludes(self, *texts) -> "Check":
        """The prompt holds none of these texts."""
        return self.expect(rendered={"excludes": list(texts)})

    def encodes(self, ids) -> "Check":
        """The prompt's ids are these."""
        return self.expect(ids=[int(one) for one in ids])

    def learns(self, *texts, part="sampled", roles=("assistant",)) -> "Check":
        """The stretches of ids that are learned are these texts."""
        return self.expect(mask={"part": part, "roles": list(roles), "texts": list(texts)})

    def fails(self, message="", **more) -> "Check":
        """The template fails with a message that holds this; more: code, line."""
        return self.expect(error={"message": message, **more})

    def writes(self, text) -> "Check":
        """What a model wrote behind the prompt: what follows is about that."""
        self._input["sampled"] = text
        return self

    def parses(self, text=_ABSENT, **parsed) -> "Check":
        """What the model wrote is this message: content, reasoning, tool_calls, complete, place."""
        if text is not _ABSENT:
            self.writes(text)
        return self.expect(parsed=parsed)

    def in_pieces(self) -> "Check":
        """It is read the same in any pieces."""
        return self.expect(pieces=True)

    def round_trips(self) -> "Check":
        """The last message, one of the assistant, is read from its own turn."""
        return self.expect(roundtrip=True)

    def bridges(self, new_messages, **more) -> "Check":
        """What a bridge appends is what a re-render writes; more: appended, may_differ."""
        return self.expect(bridge={"new_messages": new_messages, **more})

    def grammar_accepts(self, *texts) -> "Check":
        """The grammar accepts these texts; without any, what the model wrote."""
        return self.expect(grammar={"accepts": list(texts)} if texts else True)

    def grammar_refuses(self, *texts) -> "Check":
        """The grammar accepts none of these texts."""
        return self.expect(grammar={"refuses": list(texts)})

    def holds(self) -> None:
        """The laws of any conversation hold, for its turns or for some that are made up."""
        self._input.pop("sampled", None)
        self._run({})
