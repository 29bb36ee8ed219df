"""Records what jinja2 makes of the templates in tests/golden/jinja/language.json.

  python3 -m tools.recorders.jinja_golden FILE [TEMPLATE...]     adds the templates, then renders all of them anew

The environment is that of chat templates (jinja_reference.py).  A case's field `ours` (a message that is meant to
differ) is kept; its line is then not compared.
"""
import copy
import datetime
import json
import sys

from tools.oracles import jinja_reference

NOW = datetime.datetime(2024, 2, 29, 13, 5, 9)
jinja2 = jinja_reference.load()


def record(case, variables):
    new = {"template": case["template"]}
    try:
        new["text"] = jinja_reference.environment(NOW).from_string(case["template"]).render(**copy.deepcopy(variables))
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
