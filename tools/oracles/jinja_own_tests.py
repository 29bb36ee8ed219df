"""Runs jinja2's own tests while recording every template they render, and asks rondo for the same.

Usage: python3 -m tools.oracles.jinja_own_tests --program build/release/rondo [--verbose]

The tests are functions of pytest; a stand-in for the little of it that they use is below, so that nothing is installed.
A recorded case applies to rondo if transformers' environment for chat templates, which has other options than the tests
use, gives the same answer for the same variables as JSON.  Cases that rondo answers otherwise must be listed with their
reason in jinja_own_tests.json; a listed case that passes is an error as well.
"""
import argparse
import collections
import contextlib
import copy
import functools
import importlib.util
import inspect
import itertools
import json
import pathlib
import re
import sys
import types
import warnings

from tools.oracles import jinja_reference
from tools.oracles.jinja_fuzz import sides

MODULES = ("test_filters", "test_tests", "test_core_tags", "test_lexnparse", "test_regression", "test_runtime", "test_security",
           "test_ext", "test_api", "test_compile", "test_debug", "test_nativetypes", "test_utils", "test_inheritance", "test_imports")
EXCEPTIONS = pathlib.Path(__file__).with_name("jinja_own_tests.json")
LEAST_SHARE = 0.98
LONGEST = 5000
OTHER_TAGS = re.compile(r"\{%[-+]?\s*(include|import|from|extends|block|do|trans|debug)\b")


# --- what the tests use of pytest

class Skipped(Exception):
    pass


class Raises:
    def __init__(self, kinds, match):
        self.kinds, self.match, self.value = kinds, match, None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.type, self.value, self.tb = kind, value, trace
        assert kind is not None and issubclass(kind, self.kinds), f"{self.kinds} was not raised"
        assert not self.match or re.search(self.match, str(value))
        return True


class Marks:
    def __getattr__(self, name):
        def mark(*arguments, **_):
            def decorate(function):
                if name == "parametrize":
                    function.rows = [*getattr(function, "rows", []), arguments[:2]]
                return function
            return decorate(arguments[0]) if len(arguments) == 1 and callable(arguments[0]) else decorate
        return mark


def pytest_standin():
    module = types.ModuleType("pytest")

    def fixture(function=None, **_):
        def decorate(inner):
            inner.is_fixture = True
            return inner
        return decorate(function) if function else decorate

    def raises(kinds, *arguments, match=None, **named):
        if not arguments:
            return Raises(kinds, match)
        with Raises(kinds, match) as caught:
            arguments[0](*arguments[1:], **named)
        return caught

    def skip(*_, **__):
        raise Skipped

    module.fixture, module.raises, module.skip = fixture, raises, skip
    module.mark = Marks()
    module.param = lambda *values, **_: values
    module.importorskip = lambda name: importlib.import_module(name)
    return module


def import_test(folder, name):
    spec = importlib.util.spec_from_file_location(name, folder / "tests" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def value_of(name, owner, scopes, made):
    """The fixture `name`, made once per test."""
    if name not in made:
        for scope in scopes:
            function = getattr(scope, name, None)
            if getattr(function, "is_fixture", False):
                given = [value_of(other, owner, scopes, made) for other in inspect.signature(function).parameters if other != "self"]
                result = function(*([owner] if inspect.isclass(scope) else []), *given)
                made[name] = next(result) if inspect.isgenerator(result) else result
                break
        else:
            raise Skipped
    return made[name]


def calls(function):
    """The arguments that the parametrize marks give, one dict per call."""
    tables = []
    for names, rows in getattr(function, "rows", []):
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
        tables.append([dict(zip(names, row if len(names) > 1 or (isinstance(row, tuple) and len(row) == 1) else (row,))) for row in rows])
    for rows in itertools.product(*tables):
        yield {name: value for row in rows for name, value in row.items()}


def run_test(function, owner, scopes):
    for given in calls(function):
        made = dict(given)
        names = [name for name in inspect.signature(function).parameters if name != "self"]
        arguments = [value_of(name, owner, scopes, made) for name in names]
        function(*([owner] if owner is not None else []), *arguments)


def run_module(module, common, recorder, counts):
    tests = [(name, None, function) for name, function in vars(module).items() if name.startswith("test") and callable(function)]
    for name, group in vars(module).items():
        if inspect.isclass(group) and name.startswith("Test"):
            tests += [(f"{name}.{inner}", group, function) for inner, function in inspect.getmembers(group, inspect.isfunction)
                      if inner.startswith("test")]
    for name, group, function in tests:
        if getattr(function, "is_fixture", False) or inspect.iscoroutinefunction(function):
            continue
        recorder.test = f"{module.__name__}.{name}"
        owner = group() if group else None
        try:
            run_test(function, owner, ([group] if group else []) + [module, common])
            counts["ran"] += 1
        except Skipped:
            counts["skipped"] += 1
        except Exception as error:  # the stand-in is no pytest; what was rendered before counts all the same
            counts["did not finish"] += 1
            recorder.unfinished.append(f"{recorder.test}: {type(error).__name__}: {error}")


# --- recording

class NoJson(Exception):
    pass


def as_json(value):
    """The value as JSON has it; tuples, ranges and iterators become lists."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float and value - value == 0:
        return value
    if type(value) is dict and all(type(key) is str for key in value):
        return {key: as_json(item) for key, item in value.items()}
    if type(value) in (list, tuple, range, set, frozenset, types.GeneratorType):
        return [as_json(item) for item in value]
    raise NoJson(type(value).__name__)


class Recorder:
    """Stands between the tests and the environment; `cases` are dicts, in the order of rendering."""

    def __init__(self, jinja2):
        self.jinja2, self.test, self.cases, self.unfinished, self.depth, self.recording = jinja2, "", [], [], 0, True
        environment, template = jinja2.Environment, jinja2.Template
        from_string, render = environment.from_string, template.render

        def recorded_from_string(env, source, *arguments, **named):
            try:
                compiled = from_string(env, source, *arguments, **named)
            except jinja2.TemplateSyntaxError:
                self.add(env, source, {}, ("syntax", ""))
                raise
            compiled.recorded_source = source
            return compiled

        def recorded_render(compiled, *arguments, **named):
            source = getattr(compiled, "recorded_source", None)
            variables = dict(*arguments, **named)
            for name, value in variables.items():
                if isinstance(value, types.GeneratorType):
                    variables[name] = list(value)
            try:
                context = as_json(variables)
            except NoJson as error:
                context = error
            given = {name: iter(value) if isinstance(dict(*arguments, **named)[name], types.GeneratorType) else value
                     for name, value in variables.items()}
            self.depth += 1
            try:
                text = render(compiled, given)
            except Exception:
                self.finish(compiled, source, context, ("error", ""))
                raise
            self.finish(compiled, source, context, ("text", text))
            return text

        environment.from_string, template.render = recorded_from_string, recorded_render

    def finish(self, compiled, source, context, answer):
        self.depth -= 1
        if source is not None and self.depth == 0:
            self.add(compiled.environment, source, context, answer)

    def add(self, env, source, context, answer):
        if not self.recording:
            return
        if not isinstance(source, str) or not isinstance(answer[1], str):
            context = NoJson("no text")
        self.cases.append({"test": self.test, "source": source, "context": context, "answer": answer, "options": {
            "trim_blocks": env.trim_blocks, "lstrip_blocks": env.lstrip_blocks, "keep_trailing_newline": env.keep_trailing_newline},
            "autoescape": bool(env.autoescape), "why_not": self.why_not(env, source, context)})

    def why_not(self, env, source, context):
        """Why the case cannot be put to rondo, or "" """
        standard = (env.block_start_string, env.block_end_string, env.variable_start_string, env.variable_end_string,
                    env.comment_start_string, env.comment_end_string) == ("{%", "%}", "{{", "}}", "{#", "#}")
        if not standard or env.line_statement_prefix or env.line_comment_prefix:
            return "other delimiters, line statements"
        if len(source) > LONGEST:
            return f"longer than {LONGEST} characters: the reference needs too long"
        if isinstance(context, NoJson):
            return "variables that are no JSON"
        if OTHER_TAGS.search(source):
            return "include, import, extends, block, do, trans"
        if env.is_async:
            return "async"
        if env.undefined is not self.jinja2.Undefined:
            return "another class for undefined"
        if env.finalize or env.newline_sequence != "\n":
            return "finalize or another newline"
        return ""


@functools.lru_cache(None)
def environments(options):
    return jinja_reference.environment(**dict(options))


def applicable(case):
    """Whether the chat environment gives the recorded answer; sets `source` to what must be asked."""
    env = environments(tuple(case["options"].items()))
    wrappers = [("", "")] + ([("{% autoescape true %}", "{% endautoescape %}")] if case["autoescape"] else [])
    for prefix, suffix in wrappers:
        source = prefix + case["source"] + suffix
        try:
            answer = ("text", env.from_string(source).render(copy.deepcopy(case["context"])))
        except Exception as error:
            answer = ("syntax" if type(error).__name__ in ("TemplateSyntaxError", "TemplateAssertionError") else "error", "")
        if answer == tuple(case["answer"]):
            case["asked"] = source
            return True
    return False


def record(counts):
    jinja2 = jinja_reference.load()
    warnings.simplefilter("ignore")
    sys.modules["pytest"] = pytest_standin()
    folder = jinja_reference.unpack()
    common = import_test(folder, "conftest")
    recorder = Recorder(jinja2)
    for name in MODULES:
        with contextlib.suppress(Skipped):
            run_module(import_test(folder, name), common, recorder, counts)
    recorder.recording = False
    return recorder


def put_to(program, cases):
    lines = [json.dumps({"op": "jinja", "template": case["asked"], "context": case["context"], **case["options"]}) + "\n" for case in cases]
    subject = sides.Subject(program)
    return subject.finish(subject.start(lines), len(lines))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if jinja_reference.available() is None:
        print("skipped: the packages of the reference cannot be fetched")
        return
    counts, reasons = collections.Counter(), collections.Counter()
    recorder = record(counts)
    cases, seen = [], set()
    for case in recorder.cases:
        if not case["why_not"] and not applicable(case):
            case["why_not"] = "an option, filter or object of the test that chat templates do not have"
        if case["why_not"]:
            reasons[case["why_not"]] += 1
            continue
        key = json.dumps([case["asked"], case["context"], case["options"]])
        if key not in seen:
            seen.add(key)
            cases.append(case)
    listed = {(entry["test"], entry["source"]): entry["reason"] for entry in json.loads(EXCEPTIONS.read_text(encoding="utf-8"))}
    failed, unlisted = set(), []
    for case, got in zip(cases, put_to(options.program, cases)):
        want = tuple(case["answer"])
        if want == got or (want[0] != "text" and want[0] == got[0].replace("raised", "error")):
            continue
        failed.add((case["test"], case["source"]))
        if (case["test"], case["source"]) not in listed:
            unlisted.append(f"{case['test']}: {case['asked']!r} with {case['context']}\n  reference {want}\n  rondo     {got}")
    passing = [key for key in listed if key not in failed]
    share = (len(cases) - len(failed)) / max(1, len(cases))
    print(f"{len(recorder.cases)} templates rendered by {counts['ran']} tests ({counts['did not finish']} did not finish, {counts['skipped']} skipped)")
    for reason, count in reasons.most_common():
        print(f"  {count} do not apply: {reason}")
    print(f"{len(cases)} different cases apply, {len(cases) - len(failed)} pass ({100 * share:.1f} %), {len(failed)} are exceptions")
    if options.verbose:
        print("\n".join(recorder.unfinished))
    for text in unlisted:
        print(text)
    for test, source in passing:
        print(f"listed as an exception, but passes: {test}: {source!r}")
    sys.exit(1 if unlisted or passing or share < LEAST_SHARE or not cases else 0)


main()
