"""Writes what jinja2 makes of every expression in src/rondo/jinja/testdata/expressions.txt into its second column.

    python3 -m tools.recorders.make_jinja_rows

A row is an expression (or a whole template, if it begins with `{%`), a tab, and the output as a JSON string or
`error` and a message.  The variables are in variables.json beside it.  The environment is that of transformers' chat
templates (jinja_reference.py).
"""
import json
import re

from tools import REPO
from tools.oracles import jinja_reference

DATA = REPO / "src/rondo/jinja/testdata"


def main():
    jinja_reference.load()
    environment = jinja_reference.environment()
    variables = json.loads((DATA / "variables.json").read_text(encoding="utf-8"))
    path = DATA / "expressions.txt"
    rows = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        source = line.split("\t")[0]
        if not source or source.startswith("#"):
            rows.append(line)
            continue
        template = source if source.startswith("{%") else "{{ " + source + " }}"
        try:
            text = environment.from_string(template).render(**variables)
            # Addresses are chance; ours are left out.
            answer = json.dumps(re.sub(" at 0x[0-9a-f]+", "", text), ensure_ascii=False)
        except Exception as error:
            answer = "error " + " ".join(str(error).split())
        rows.append(source + "\t" + answer)
    path.write_text("\n".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
