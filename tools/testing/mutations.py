"""Single operators of C++ sources that can be flipped, found with a small tokenizer; used by mutate.py.

What is flipped:  == !=   < <=   > >=   && ||   + -   += -=   ++ --   true false   the integers 0 and 1   and `!x` becomes `x`.
What never is: comments, strings, preprocessor lines, template brackets, operators' own names, pure virtual functions, arguments of
assert, static_assert and reserve (they change no behaviour), functions named `verify`, which are assertions of their own, and what a
variable or member is declared with (the style wants a value there even where another one always follows), but for constants and loops.
Sources are expected as clang-format leaves them: a binary operator stands between spaces, a bracket of a template does not.
"""
import dataclasses
import re

TOKENS = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<directive>^[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<string>(?:u8|[uUL])?R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>\.?[0-9](?:[eEpP][+-]|[\w.']|)+)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<operator><<=|>>=|<=>|->\*|\.\.\.|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|->|::|[-+*/%&|^]=|[^\w\s])
""", re.VERBOSE | re.MULTILINE | re.DOTALL)

BINARY = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&", "+": "-", "-": "+",
          "+=": "-=", "-=": "+="}
UNARY = {"++": "--", "--": "++", "!": ""}
WORDS = {"true": "false", "false": "true"}
NUMBERS = {"0": "1", "1": "0"}
WITHOUT_BEHAVIOUR = {"assert", "static_assert", "reserve"}


@dataclasses.dataclass(frozen=True)
class Flip:
    path: str  # relative to the repository
    begin: int  # in the file's text
    line: int
    column: int  # both from 1
    before: str
    after: str
    text: str  # the line, without its indentation
    number: int  # of the flips of this operator in all lines of this text, from 1

    def name(self):
        """As it is written in tools/testing/mutate_allow.txt."""
        return f"{self.before} -> {self.after or 'nothing'}" + (f" #{self.number}" if self.number > 1 else "")

    def apply(self, source):
        return source[:self.begin] + self.after + source[self.begin + len(self.before):]


def _tokens(source):
    return [match for match in TOKENS.finditer(source) if match.lastgroup not in ("comment", "directive")]


def _closing(tokens, opening):
    """The index of the bracket that closes the one at `opening`; the last token where none does."""
    pairs, depth = {"(": ")", "{": "}"}, 0
    bracket, closes = tokens[opening][0], pairs[tokens[opening][0]]
    for index in range(opening, len(tokens)):
        depth += (tokens[index][0] == bracket) - (tokens[index][0] == closes)
        if depth == 0:
            return index
    return len(tokens) - 1


def _end_of_left_out(tokens, index):
    """Where a part that is left out ends, which begins with the word at `index`; None: none does."""
    if index + 1 >= len(tokens) or tokens[index + 1][0] != "(":
        return None
    behind = _closing(tokens, index + 1)
    if tokens[index][0] in WITHOUT_BEHAVIOUR:
        return behind
    if tokens[index][0] != "verify":
        return None
    while behind + 1 < len(tokens) and tokens[behind + 1][0] in ("const", "noexcept"):
        behind += 1
    return _closing(tokens, behind + 1) if behind + 1 < len(tokens) and tokens[behind + 1][0] == "{" else None


def _is_first_value(tokens, index):
    """Whether the literal at `index` is what a variable or member is declared with; not so of constants and in heads of loops."""
    around = [token[0] for token in tokens[max(0, index - 3):index + 2]]
    if len(around) < 5 or around[2] != "=" or around[4] != ";" or tokens[index - 2].lastgroup != "word":
        return False
    if tokens[index - 3].lastgroup != "word" and around[0] not in (">", "*"):
        return False
    for token in reversed(tokens[:index]):
        if token[0] in ("const", "constexpr", "(", ";", "{", "}"):
            return token[0] in (";", "{", "}")
    return True


def _flipped(source, tokens, index):
    """What the token becomes; None where it stays."""
    token, text = tokens[index], tokens[index][0]
    before = tokens[index - 1][0] if index > 0 else ""
    kind = token.lastgroup
    if before == "operator" or _is_first_value(tokens, index):
        return None
    if kind == "word":
        return WORDS.get(text)
    if kind == "number":
        is_in_brackets = source[token.start() - 1] == "<" or source[token.end():token.end() + 1] == ">"
        is_pure = before == "=" and index > 1 and tokens[index - 2][0] in (")", "const", "noexcept", "override")
        return None if is_in_brackets or is_pure else NUMBERS.get(text)
    if kind != "operator":
        return None
    if text in UNARY:
        return UNARY[text]
    if text in ("+", "+=") and "string" in (tokens[index - 1].lastgroup, tokens[index + 1].lastgroup):
        return None  # joins strings: nothing else compiles there
    is_binary = source[token.start() - 1].isspace() and source[token.end():token.end() + 1].isspace()
    return BINARY.get(text) if is_binary else None


def find(path, source):
    """All flips of a file, in its order."""
    tokens, found, seen, index = _tokens(source), [], {}, 0
    lines = source.split("\n")
    while index < len(tokens):
        end = _end_of_left_out(tokens, index) if tokens[index].lastgroup == "word" else None
        if end is not None:
            index = end + 1
            continue
        after = _flipped(source, tokens, index)
        if after is not None:
            begin, before = tokens[index].start(), tokens[index][0]
            line = source.count("\n", 0, begin) + 1
            text = lines[line - 1].strip()
            seen[text, before] = seen.get((text, before), 0) + 1
            found.append(Flip(path, begin, line, begin - source.rfind("\n", 0, begin), before, after, text,
                              seen[text, before]))
        index += 1
    return found


def read_allowed(root):
    """({(path, text of the line, flip): reason} of tools/testing/mutate_allow.txt, what is wrong with its lines)"""
    found, wrong = {}, []
    for number, line in enumerate((root / "tools/testing/mutate_allow.txt").read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(" :: ")]
        if len(parts) != 4 or not parts[3]:
            wrong.append(f"tools/testing/mutate_allow.txt:{number}: expected `PATH :: LINE :: FLIP :: REASON`, found `{line}`")
            continue
        path, text, name, reason = parts
        known = find(path, (root / path).read_text(encoding="utf-8")) if (root / path).is_file() else []
        if not any((flip.text, flip.name()) == (text, name) for flip in known):
            wrong.append(f"tools/testing/mutate_allow.txt:{number}: no line of {path} fits any more: remove the entry")
        found[path, text, name] = reason
    return found, wrong
