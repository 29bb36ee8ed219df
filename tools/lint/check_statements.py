"""Checks tests/statements: every line of a document is a statement with the tests that prove it, or a line without one.

Usage: python3 -m tools.lint.check_statements

NAME.md has two tables.  One has a row for each statement: its place (`NAME:12` or `NAME:12-15`), what it says, and
tests, each as `file` "name".  The other has a row for lines that state nothing about the program, with the reason.
Together they cover all lines of the document, whose number the page gives.  A test is a TEST_CASE, a Python function, a
test of CTest (in a CMakeLists.txt), a section `### name` of a golden, or a case of NAME.jsonl by its name or its place;
of these cases each belongs to a row.

And each statement is quoted: the tests of its row name every line of its place, in a title, in a docstring, or as the
place of a case.  So who reads a test, or its failure, finds the statement, and who changes the tests of a row sees
where it would be left without one.
"""
import ast
import json
import pathlib
import re
import sys

from tools import REPO

FOLDER = REPO / "tests" / "statements"
PLACE = re.compile(r"(\d{3}):(\d+)(?:-(\d+))?")
CASE = re.compile(r'TEST_CASE(?:_FIXTURE\(\w+,\s*|\(\s*)"((?:[^"\\]|\\.)*)"')
EXPECTED = {"is", "has", "lacks", "ends", "absent"}
TEST = re.compile(r'`([^`]+)` "([^"]+)"')


def span_of(place):
    """(document, first line, last line); None if it is no place."""
    found = PLACE.fullmatch(place)
    return found and (found[1], int(found[2]), int(found[3] or found[2]))


def rows_of(text):
    """The cells of each row of the tables that begins with a place."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells and re.match(r"\d{3}:", cells[0]):
            yield cells


def names_in(path):
    """The tests of a file, each with the text that quotes its places; None if it has none by its kind."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".cpp":
        names = [name.replace('\\"', '"') for name in CASE.findall(text)]
    elif path.suffix == ".py":
        functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
        return {function.name: ast.get_docstring(function) or "" for function in functions}
    elif path.name == "CMakeLists.txt":
        names = re.findall(r"(?:add_test\(NAME|rondo_(?:tool_)?test\()\s*(\w+)", text)
    elif path.suffix == ".txt":
        names = re.findall(r"^### (.+)$", text, re.MULTILINE)
    elif path.suffix == ".jsonl":
        return {name: case["at"] for case in cases_in(path) for name in (case["it"], case["at"])}
    else:
        return None
    return {name: name for name in names}


def lines_of(document, text):
    """The lines of a document that a text quotes."""
    places = [span_of(found[0]) for found in PLACE.finditer(text)]
    return {line for name, first, last in places if name == document for line in range(first, last + 1)}


def cases_in(path):
    entries = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [entry for entry in entries if "at" in entry]


def check_tests(cell, known):
    """What is wrong with the tests that a row names, and the pairs (file, name)."""
    named = TEST.findall(cell)
    wrong = [] if named else ["names no test"]
    for file, name in named:
        path = REPO / file
        if file not in known:
            known[file] = names_in(path) if path.is_file() else None
        if known[file] is None:
            wrong.append(f"no file of tests `{file}`")
        elif name not in known[file]:
            wrong.append(f'`{file}` has no test "{name}"')
    return wrong, named


def check_cases(file, rows):
    """The cases of a document: each name once, and in a row whose place and name are the case's."""
    seen = set()
    for case in cases_in(file):
        if case["it"] in seen:
            yield f'the name "{case["it"]}" is there twice'
        seen.add(case["it"])
        if not EXPECTED & case.keys() or not {"rows", "template"} & case.keys():
            yield f'the case "{case["it"]}" asks nobody, or expects nothing'
        if not any(file.name == pathlib.Path(path).name and name in (case["it"], case["at"]) for path, name in rows):
            yield f'no row names the case "{case["it"]}" of {case["at"]}'


def check_page(page, known):
    text = page.read_text(encoding="utf-8")
    size = re.search(r"has (\d+) lines", text)
    if not size:
        yield "the page does not say how many lines the document has"
        return
    missing, named = set(range(1, int(size[1]) + 1)), []
    for cells in rows_of(text):
        span = span_of(cells[0])
        if not span or span[0] != page.stem or not span[1] <= span[2] <= int(size[1]):
            yield f"{cells[0]} is no place of the document"
            continue
        lines = set(range(span[1], span[2] + 1))
        missing -= lines
        if len(cells) == 3:
            wrong, tests = check_tests(cells[2], known)
            named += tests
            for file, name in tests:
                lines -= lines_of(page.stem, (known[file] or {}).get(name, ""))
            wrong += [f"has no test that quotes its lines {sorted(lines)}"] if lines else []
            yield from (f"{cells[0]} {sentence}" for sentence in wrong)
        if len(cells) not in (2, 3) or not all(cells):
            yield f"{cells[0]}: a row has a place, a sentence, and tests if it is a statement"
    if missing:
        yield f"no row for the lines {sorted(missing)}"
    cases = page.with_suffix(".jsonl")
    if cases.is_file():
        yield from check_cases(cases, named)


def main():
    known = {}
    pages = sorted(FOLDER.glob("[0-9]*.md"))
    found = [f"{page.relative_to(REPO)}: {sentence}" for page in pages for sentence in check_page(page, known)]
    print("\n".join(found) if found else f"{len(pages)} documents, {len(known)} files with their tests")
    sys.exit(1 if found or not pages else 0)


if __name__ == "__main__":
    main()
