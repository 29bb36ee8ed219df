"""The data members of classes, counted from the text of C++ files.

    members.of(text) yields (name, line, count) for each class and struct that `text` defines.

Static members, functions, types and friends do not count.  The text is read as clang-format writes it.  Macros are not expanded, and
a member that is a pointer to a function is taken for a function."""
import re

CLASS = re.compile(r"(?<!enum )\b(?:class|struct)\s+([\w:]+)(?:\s+final)?\s*(?::[^;{]*)?\{")
HIDDEN = re.compile(r"""//[^\n]* | /\*.*?\*/ | R"(\w*)\(.*?\)\1" | "(?:\\.|[^"\\\n])*" | (?<!\w)'(?:\\.|[^'\\\n])+'""",
                    re.DOTALL | re.VERBOSE)
LABELS = re.compile(r"^\s*(?:(?:public|private|protected)\s*:\s*|\[\[[^\]]*\]\]\s*|mutable\s+)+")
NO_DATA = re.compile(r"\s*(?:using|typedef|friend|static|enum|class|struct|union|template|extern)\b")
BRACES = re.compile(r"[{}]")
INNERMOST = re.compile(r"\{[^{}]*\}")
DECLARATION = re.compile(r"(.*?)(;|\{\}(?!\s*[;,]))", re.DOTALL)  # the second ends the body of a function


def without_text(text):
    """The code alone: comments and literals become blanks, so that no bracket in them counts; lines stay where they are."""
    return HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def end_of_block(code, at):
    """Where the block ends whose brace opens at `at`."""
    depth = 0
    for match in BRACES.finditer(code, at):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.end()
    return len(code)


def declarations(body):
    """The declarations of a class that end with a semicolon, each block in them shortened to `{}`."""
    shortened, count = body, 1
    while count:
        shortened, count = INNERMOST.subn("\1", shortened)
    shortened = shortened.replace("\1", "{}")
    return [match[1] for match in DECLARATION.finditer(shortened) if match[2] == ";"]


def declarators(declaration):
    """The declaration up to its first initialiser, without template arguments."""
    out, depth = "", 0
    for char in declaration:
        if depth == 0 and char in "={":
            break
        depth += char == "<"
        if depth == 0:
            out += char
        depth -= char == ">"
    return out


def data_members(declaration):
    """How many data members it declares."""
    declaration = LABELS.sub("", declaration)
    if NO_DATA.match(declaration) or "operator" in declaration:
        return 0
    declared = declarators(declaration)
    is_data = "(" not in declared and re.search(r"[\w>*&]\s+[*&]*\w+\s*(?:\[.*\]\s*|:.*)?$", " " + declared.split(",")[0])
    return 1 + declared.count(",") if is_data else 0


def of(text):
    code = without_text(text)
    for match in CLASS.finditer(code):
        opens = match.end() - 1
        body = code[opens + 1:end_of_block(code, opens) - 1]
        yield match[1], code.count("\n", 0, match.start()) + 1, sum(data_members(one) for one in declarations(body))
