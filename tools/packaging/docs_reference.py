"""The reference pages of the documentation site: what headers, stubs and help texts say, in their own words."""
import ast
import pathlib
import re

from tools.dependencies import cache
from tools.packaging import command_help


# --- The command line

def command_page(program):
    """`rondo`, its commands, and the commands of these."""
    out = ["# Command line", "", "What `rondo COMMAND --help` prints."]
    for words, text in command_help.all_commands(program):
        heading = "#" * min(2 + len(words), 4) + " " + " ".join(["rondo", *words])
        out += ["", heading, "", "```text", text.rstrip(), "```"]
    return "\n".join(out) + "\n"


# --- Python

def signature(node):
    text = ast.unparse(node).split("\n")
    head = next(line for line in text if line.startswith(("def ", "async def ")))
    return head.removesuffix(" ...").removesuffix(":")


def is_public(name):
    return not name.startswith("_") or name == "__init__"


def python_members(body, level):
    out = []
    for node in body:
        if isinstance(node, ast.ClassDef) and is_public(node.name):
            out += ["", f"{'#' * level} class {node.name}", "", ast.get_docstring(node) or ""]
            out += python_members(node.body, level + 1)
        elif isinstance(node, ast.FunctionDef) and is_public(node.name):
            kind = "property" if any(ast.unparse(one) == "property" for one in node.decorator_list) else ""
            out += ["", f"{'#' * level} {node.name}" + (f" ({kind})" if kind else ""), "", "```python", signature(node), "```", "",
                    ast.get_docstring(node) or ""]
    return out


def python_page():
    out = ["# Python", "", "The types and docstrings of the package; [Python](../python.md) tells how they go together."]
    for path in ("__init__.py", "_rondo.pyi", "edge.py", "errors.py", "masks.py", "testing.py", "types.py"):
        tree = ast.parse((cache.REPO / "python/rondo" / path).read_text(encoding="utf-8"))
        members = python_members(tree.body, 3)
        if members:
            name = "rondo" if path in ("__init__.py", "_rondo.pyi") else f"rondo.{pathlib.Path(path).stem}"
            out += ["", f"## {name}", "", ast.get_docstring(tree) or "", *members]
    return "\n".join(out) + "\n"


# --- Headers

def header_page(title, paths):
    """Each header: its first comment as text, all of it as code."""
    out = [f"# {title}"]
    for path in paths:
        text = (cache.REPO / "include" / path).read_text(encoding="utf-8")
        out += ["", f"## {path}", "", f"```{'c' if path == 'rondo.h' else 'cpp'}", text.rstrip(), "```"]
    return "\n".join(out) + "\n"


# --- JavaScript

def javascript_page():
    """Each declaration of the types: its name as heading, its comment as text, all of it as code."""
    out = ["# JavaScript", "", "The types of the package; [JavaScript](../javascript.md) tells how they go together."]
    declarations = r"^(?:/\*\* (.*) \*/\n)?(export .*\n(?:(?!export |/\*\*).*\n)*)"
    for comment, code in re.findall(declarations, (cache.REPO / "js/rondo.d.ts").read_text(encoding="utf-8"), re.M):
        kind, name = re.search(r"\b(class|interface|type) (\w+)", code).groups()
        out += ["", f"## {kind} {name}", "", *([comment, ""] if comment else []), "```ts", code.rstrip(), "```"]
    return "\n".join(out) + "\n"


def javascript_names():
    """What the package exports, and the public methods of its classes."""
    library = (cache.REPO / "js/rondo.mjs").read_text(encoding="utf-8")
    exported = [name for names in re.findall(r"^export \{ ([\w, ]+) \}", library, re.M) for name in names.split(", ")]
    sources = [library, *((cache.REPO / "js" / name).read_text(encoding="utf-8") for name in ("model.mjs", "streams.mjs"))]
    classes = [body for text in sources for body in re.split(r"^(?=\S.*\bclass )", text, flags=re.M) if body.startswith("export class")]
    methods = [name for text in classes for name in re.findall(r"^(?:  |      )(?:static |async |get )*\*?(\w+)\([^;]*\) \{$", text, re.M)]
    return sorted({*exported, *methods} - {"constructor"})


def pages(program):
    """{file name without ending: (title, text)}, in their order."""
    headers = sorted(f"rondo/{path.name}" for path in (cache.REPO / "include/rondo").glob("*.h"))
    return {
        "commands": ("Command line", command_page(program)),
        "python": ("Python", python_page()),
        "javascript": ("JavaScript", javascript_page()),
        "cpp": ("C++", header_page("C++", headers)),
        "c": ("C", header_page("C", ["rondo.h"])),
    }


def missing(reference):
    """What callers can name and the pages do not tell of: functions of the C library, names of the Python package and of JavaScript's."""
    tree = ast.parse((cache.REPO / "python/rondo/__init__.py").read_text(encoding="utf-8"))
    exported = next(ast.literal_eval(node.value) for node in tree.body
                    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
    functions = set(re.findall(r"\b(?:rondo|RONDO)_\w+", (cache.REPO / "tests/c/abi.txt").read_text(encoding="utf-8")))
    return [name for page, names in (("c", sorted(functions)), ("python", exported), ("javascript", javascript_names())) for name in names
            if not name.startswith("__") and not re.search(rf"\b{name}\b", reference[page][1])]
