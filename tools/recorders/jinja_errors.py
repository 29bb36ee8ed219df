"""Records what jinja2 says about the failing templates of tests/golden/jinja/err_*.txt.

  python3 -m tools.recorders.jinja_errors FILE...     writes the section `reference` of each case anew

Needs jinja2 3.1.6 under Python 3.11, whose wording the engine follows.  The environment is that of jinja_golden.py.
The format of the files is in tests/support/sections.h.
"""
import copy
import json
import re
import sys

from tools.oracles import jinja_reference
from tools.recorders.jinja_golden import NOW

jinja2 = jinja_reference.load()


def parse(text):
    """The heading with the sections of the file, and the cases: lists of [name, text]."""
    pieces = re.split(r"^(===|---) (.*)\n", text, flags=re.M)
    heading, shared, cases = pieces[0], [], []
    for mark, name, body in zip(pieces[1::3], pieces[2::3], pieces[3::3]):
        if mark == "===":
            cases.append([])
        (cases[-1] if cases else shared).append([name, body[:-1]])
    return heading, shared, cases


def reference(template, variables):
    try:
        return "text: " + jinja_reference.environment(NOW).from_string(template).render(**copy.deepcopy(variables))
    except Exception as error:  # whatever Python raises is the recorded result
        line = getattr(error, "lineno", None)
        message = str(error)
        if isinstance(error, SyntaxError):  # its place is in the code that jinja2 generated
            line, message = None, error.msg
        return type(error).__name__ + (f" at line {line}" if line else "") + ": " + message


def write(sections, mark):
    out = ""
    for name, body in sections:
        out += f"{mark} {name}\n{body}\n"
        mark = "---"
    return out


def main():
    if jinja2.__version__ != "3.1.6" or sys.version_info[:2] != (3, 11):
        sys.exit("jinja_errors.py: needs jinja2 3.1.6 under Python 3.11")
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8", newline="") as file:
            heading, shared, cases = parse(file.read())
        for case in cases:
            sections = dict(shared) | dict(case)
            said = reference(sections["template"], json.loads(sections.get("variables", "{}")))
            found = [section for section in case if section[0] == "reference"]
            if found:
                found[0][1] = said
            else:
                case.insert(1, ["reference", said])
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(heading + write(shared, "---") + "".join(write(case, "===") for case in cases))


if __name__ == "__main__":
    main()
