"""Tests of templates: the fluent checks, and suites as tests of pytest."""
import json
from importlib.metadata import entry_points

import pytest

import rondo
from rondo.testing import check, load_suite

pytest_plugins = ["pytester"]
# An installed package has named its plugin; a tree of the build has not.
PLUGIN = [] if entry_points(group="pytest11", name="rondo") else ["-p", "rondo.pytest_plugin"]

QUESTION = [{"role": "user", "content": "Hi"}]
SUITE = """
model: {model}
cases:
  - name: any
    messages: [{{role: user, content: And now?}}]
  - name: good
    messages: [{{role: user, content: Hi}}]
    rendered: "<|user|>Hi<|end|><|assistant|>"
  - name: bad
    messages: [{{role: user, content: Hi}}]
    rendered: "<|user|>Ho<|end|><|assistant|>"
"""


def test_a_conversation_in_one_line(tiny, tools):
    """001:300-307."""
    call = '<|think|>so<|/think|>Look.<|call|>{"name": "add", "arguments": {"a": 2, "b": 2.5}}<|/call|><|end|>'
    check(tiny, QUESTION).renders("<|user|>Hi<|end|><|assistant|>").contains("Hi", "<|user|>").excludes("None").holds()
    check(tiny, QUESTION).encodes(tiny.encode(QUESTION, add_generation_prompt=True).ids)
    (check(tiny, QUESTION, tools=tools)
     .parses(call, content="Look.", reasoning="so", complete=True, place="ended",
             tool_calls=[{"name": "add", "arguments": {"b": 2.5, "a": 2}}])
     .in_pieces().grammar_accepts().grammar_accepts(call).grammar_refuses(call.replace("2.5", '"x"'))
     .bridges([{"role": "tool", "content": "4.5"}]))
    said = [*QUESTION, {"role": "assistant", "content": "Hello"}]
    check(tiny, said).round_trips().learns("Hello<|end|>").learns("Hi", part="content", roles=["user"])
    check(tiny, QUESTION).writes("Hello<|end|>").bridges([{"role": "user", "content": "Bye"}],
                                                        appended="<|user|>Bye<|end|><|assistant|>")


def test_a_failure_shows_the_template_line(tiny):
    with pytest.raises(AssertionError) as failed:
        check(tiny, QUESTION).renders("<|user|>Ho<|end|><|assistant|>")
    text = str(failed.value)
    assert "- <|user|>Ho<|end|><|assistant|>" in text
    assert "+ <|user|>Hi<|end|><|assistant|>" in text
    assert "^ messages[0].content, written by template line " in text
    for fails in (lambda one: one.contains("x"), lambda one: one.excludes("Hi"), lambda one: one.encodes([1]),
                  lambda one: one.fails("x"), lambda one: one.parses("a", content="b"), lambda one: one.learns("x"),
                  lambda one: one.writes("Hello<|end|>").bridges([{"role": "user", "content": "x"}], appended="y"),
                  lambda one: one.writes("Hello").grammar_refuses("Hello"), lambda one: one.round_trips()):
        with pytest.raises(AssertionError):
            fails(check(tiny, QUESTION))


def test_the_template_may_have_to_fail(tmp_path):
    template = tmp_path / "strict.jinja"
    template.write_text("{{ raise_exception('roles must alternate') }}", encoding="utf-8")
    check(template, QUESTION).fails("alternate", code="template_raised", line=1)
    with pytest.raises(AssertionError, match="the template fails"):
        check(template, QUESTION).holds()


def test_what_is_no_case_is_refused(tiny):
    with pytest.raises(rondo.InvalidArgumentError, match="unknown key `tols`"):
        check(tiny, QUESTION, tols=[]).holds()
    with pytest.raises(rondo.InvalidArgumentError, match="unknown key `contents`"):
        check(tiny, QUESTION).parses("x", contents="x")


def test_a_suite_is_loaded_with_its_model(tiny_folder, tmp_path):
    path = tmp_path / "tiny.rondo.yaml"
    path.write_text(SUITE.format(model=json.dumps(str(tiny_folder))), encoding="utf-8")
    suite, model = load_suite(path)
    assert [name for name, _ in suite.cases] == ["any", "good", "bad"]
    assert suite.cases[0][1] == 4
    results = [suite.run(index, model) for index in range(3)]
    assert [result["passed"] for result in results] == [True, True, False]
    assert results[2]["failures"][0]["line"] == 11
    with pytest.raises(rondo.InvalidArgumentError):
        suite.run(3, model)
    other, _ = load_suite(path, tiny_folder)
    assert other.cases == suite.cases


def test_pytest_collects_suites(tiny_folder, pytester):
    pytester.makefile(".rondo.yaml", tiny=SUITE.format(model=json.dumps(str(tiny_folder))))
    pytester.makefile(".rondo.json", other=json.dumps({"cases": [{"name": "one", "messages": QUESTION}]}))
    pytester.makefile(".yaml", data="cases: 3")
    result = pytester.runpytest(*PLUGIN, "--rondo-model", str(tiny_folder))
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*prompt is another text*", "*- <|user|>Ho<|end|>*", "*+ <|user|>Hi<|end|>*",
                                 "*messages?0?.content, written by template line*", "tiny.rondo.yaml, line 10"])


def test_pytest_says_what_is_wrong_with_a_suite(pytester):
    pytester.makefile(".rondo.yaml", wrong="cases:\n  - nam: x\n")
    result = pytester.runpytest(*PLUGIN)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*wrong.rondo.yaml:2:5: unknown key `nam` in a case*"])
