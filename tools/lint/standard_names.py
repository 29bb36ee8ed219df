"""Which headers of the C++ standard library go with the names that a header uses.

A header is compiled behind the standard library's own headers, which costs a fifth of compiling it alone; that it includes those it
needs is looked up in standard_names.txt instead.
"""
import functools
import pathlib
import re

from tools.lint import members

NAME = re.compile(r"\bstd::(\w+)")
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.MULTILINE)
TABLE = pathlib.Path(__file__).with_name("standard_names.txt")


@functools.cache
def table():
    """{name: headers}, of which one is enough."""
    found = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            names, _, headers = line.partition(":")
            found |= dict.fromkeys(names.split(), headers.split())
    return found


def headers():
    """All headers of the table, in its order."""
    return list(dict.fromkeys(header for named in table().values() for header in named))


def missing(text, texts):
    """What a header with this text lacks; `texts`: its own, and those of all headers of the project that it includes."""
    included = {name for one in texts for name in INCLUDE.findall(one)}
    found = []
    for name in sorted(set(NAME.findall(members.without_text(text)))):
        known = table().get(name)
        if known is None:
            found.append(f"std::{name} is not in tools/lint/{TABLE.name}")
        elif not included.intersection(known):
            found.append(f"std::{name} needs <{known[0]}>")
    return found
