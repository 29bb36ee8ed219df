#!/usr/bin/env python3
"""Records what jinja2 makes of the templates in tests/golden/jinja/language.json.

  jinja_golden.py FILE [TEMPLATE...]     adds the templates, then renders all of them anew

Needs jinja2 3.1 (the version is written into the file).  The environment is that of chat templates: immutable sandbox,
trim_blocks, lstrip_blocks, loop controls, generation blocks, json.dumps as tojson, raise_exception.  A case's field
`ours` (a message that is meant to differ) is kept; its line is then not compared.
"""
import copy
import datetime
import json
import sys

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_write"), [], [], body).set_lineno(line)

    def _write(self, caller):
        return caller()


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"])

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def strftime_now(format):
        return datetime.datetime(2024, 2, 29, 13, 5, 9).strftime(format)

    for function in (tojson, raise_exception, strftime_now):
        function.__qualname__ = function.__name__  # messages name it, not where it is defined
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = strftime_now
    return env


def record(case, variables):
    new = {"template": case["template"]}
    try:
        new["text"] = environment().from_string(case["template"]).render(**copy.deepcopy(variables))
    except Exception as error:  # whatever Python raises is the recorded result
        new["error"] = type(error).__name__
        new["message"] = str(error)
        if getattr(error, "lineno", None) is not None and "ours" not in case:
            new["line"] = error.lineno
        if "ours" in case:
            new["ours"] = case["ours"]
    return new


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        golden = json.load(file)
    golden["cases"] += [{"template": template} for template in sys.argv[2:]]
    golden["jinja2"] = jinja2.__version__
    golden["cases"] = [record(case, golden["variables"]) for case in golden["cases"]]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(golden, file, indent=1, ensure_ascii=False)
        file.write("\n")


if __name__ == "__main__":
    main()
