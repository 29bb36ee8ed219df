"""Checks README.md, CHANGELOG.md and docs/*.md, and the places that programs spell, against the tree, without network and without a build.

Usage: python3 -m tools.lint.check_docs

What the pages name must exist: the targets of links with their headings, files, names of C++ as `Class::name`, subcommands, commands of
./dev, options, and variables RONDO_*.  A measured figure (one with a thousands separator that is not round) stands on one page only;
the others link to it.  Each subcommand of rondo is named on a page.  What a program in Python spells as a place in the repository, REPO / "docs" / "hacking.md" or "-m", "tools.lint.lint", is there too.
"""
import re
import subprocess
import sys

from tools import REPO

TABLES = ("docs/checked-templates", "docs/formats")  # how pages begin that are made by tools; their code is that of templates
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```\w*\n(.*?)^```$|((?:^ {4}[^\n]*\n)+)", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
FILE = re.compile(r"(?<![\w./<>$~{*-])(?:[\w.-]+/)*[\w-]+\.(?:cpp|h|py|pyi|cmake)(?![\w*])")
FOLDER = re.compile(r"(?<![\w./<>$~{-])(?:src/rondo|tests|tools|bench|fuzz|examples|include|cmake|docs)/[\w./-]*\w")
MODULE = re.compile(r"python3 -m (tools(?:\.\w+)+)")
OPTION = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*(?![\w/-])")
QUALIFIED = re.compile(r"\b[A-Za-z]\w*(?:::\w+)+")
VARIABLE = re.compile(r"\bRONDO_[A-Z_]+\b")
DEV = re.compile(r"\./dev +([a-z]+)")
COMMAND = re.compile(r"^ *(?:\$ )?rondo +([a-z]+(?:-[a-z]+)*)", re.MULTILINE)
FIGURE = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")
PLACE = re.compile(r'\bREPO((?: / "[^"]*")+)')
CALLED = re.compile(r'"-m", "(tools[\w.]+)"')
MADE = re.compile(r"build|\.cache|tests/golden/cut_turns/")  # how places begin that programs make themselves
EXAMPLE = re.compile(r"(?:\bname(?:[_./]|$)|\ba(?:_test)?\.(?:cpp|h)$|llama\.cpp$|src/c0|_$)")  # names that stand for others
OTHERS_OPTIONS = {"--preset", "--model-path"}  # of CMake, of SGLang
SETTINGS = "src/rondo/cli/serve_settings.cpp"  # options that stand in a table
SETTING = re.compile(r'^ +\{"([a-z-]+)",', re.MULTILINE)


def tracked():
    """The files that git knows or could know."""
    shown = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=REPO, capture_output=True,
                           text=True, check=True).stdout.split("\n")
    return sorted(path for path in set(shown) if path and (REPO / path).is_file())


def read(path):
    return (REPO / path).read_text(encoding="utf-8", errors="replace")


def anchor(heading):
    """As code hosts name a heading: lower case, without punctuation, with a dash for each blank."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(text):
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)}


def dead_links(page, text):
    for target in LINK.findall(FENCE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, heading = target.partition("#")
        path = (REPO / page).parent / name if name else REPO / page
        if not path.exists():
            yield f"the link `{target}` leads nowhere"
        elif heading and heading not in anchors(path.read_text(encoding="utf-8")):
            yield f"no heading for the link `{target}`"


def code_of(text):
    """The blocks and the spans of code."""
    yield from (fenced or indented for fenced, indented in BLOCK.findall(text))
    for paragraph in BLOCK.sub("", text).split("\n\n"):
        yield from (code for _, code in SPAN.findall(paragraph))


class Tree:
    """What may be named."""

    def __init__(self, files):
        self.files = files
        self.ends = {"/".join(parts[i:]) for parts in (path.split("/") for path in files) for i in range(len(parts))}
        code = "\n".join(read(path) for path in files
                         if path == "dev" or path.endswith((".cpp", ".c", ".h", ".py", ".txt", ".cmake")) and "testdata" not in path)
        self.options = set(OPTION.findall(code)) | OTHERS_OPTIONS | {f"--{name}" for name in SETTING.findall(read(SETTINGS))}
        self.variables = set(VARIABLE.findall(code))
        self.words = set(re.findall(r"\w+", code))
        self.dev = set(re.findall(r"^cmd_(\w+)\(\)", read("dev"), re.MULTILINE))
        cli = "\n".join(read(path) for path in files if path.startswith("src/rondo/cli/"))
        self.commands = set(re.findall(r'add_subcommand\(\s*"([\w-]+)"', cli))
        self.top_commands = set(re.findall(r'\bapp\.add_subcommand\(\s*"([\w-]+)"', cli))

    def lacks(self, code):
        for name in FILE.findall(code) + FOLDER.findall(code):
            if name not in self.ends and not (REPO / name).exists() and not EXAMPLE.search(name):
                yield f"no file `{name}`"
        for name in MODULE.findall(code):
            path = name.replace(".", "/")
            if not {f"{path}.py", f"{path}/__main__.py"} & set(self.files):
                yield f"no program `{name}`"
        for name in QUALIFIED.findall(code):
            if not set(name.split("::")) <= self.words:
                yield f"no `{name}` in the sources"
        for word, known, names in (("option", self.options, OPTION), ("variable", self.variables, VARIABLE),
                                   ("command of ./dev", self.dev, DEV), ("command of rondo", self.commands, COMMAND)):
            yield from (f"no {word} `{name}`" for name in names.findall(code) if name not in known)


def twice(pages):
    """Figures that stand on several pages."""
    found = {}
    for page, text in pages.items():
        for figure in FIGURE.findall(text):
            if not figure.endswith("000"):
                found.setdefault(figure, set()).add(page)
    return [f"{' and '.join(sorted(where))}: the figure {figure} stands on several pages; link to one"
            for figure, where in sorted(found.items()) if len(where) > 1]


def unnamed_commands(tree, pages):
    """Subcommands that no page names."""
    named = {name for text in pages.values() for name in re.findall(r"\brondo +([a-z]+(?:-[a-z]+)*)", text)}
    return [f"no page names the subcommand `rondo {name}`" for name in sorted(tree.top_commands - named)]


def lost_places(text):
    """What a program in Python spells and is not there."""
    places = {"/".join(re.findall(r'"([^"]*)"', place)) for place in PLACE.findall(text)}
    places |= {f"{name.replace('.', '/')}.py" for name in CALLED.findall(text)}
    return sorted(place for place in places if not MADE.match(place) and not (REPO / place).exists())


def main():
    files = tracked()
    tree = Tree(files)
    pages = {path: read(path) for path in files if path in ("README.md", "CHANGELOG.md") or re.fullmatch(r"docs/[^/]+\.md", path)}
    found = []
    for page, text in pages.items():
        lines = list(dead_links(page, text))
        if not page.startswith(TABLES):
            for part in code_of(text):
                lines += tree.lacks(part)
        found += [f"{page}: {line}" for line in dict.fromkeys(lines)]
    found += twice(pages) + unnamed_commands(tree, pages)
    found += [f"{path}: there is no `{place}`" for path in files if path.endswith(".py") for place in lost_places(read(path))]
    for line in found:
        print(line)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
