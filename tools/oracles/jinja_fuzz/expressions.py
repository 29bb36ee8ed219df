"""Random expressions by kind: mostly of the kind that is asked for, sometimes of any other."""
from . import values

KINDS = ("str", "int", "float", "bool", "list", "dict", "any")

# name: (kind of the subject, kind of the result, [kinds of arguments], {keyword: kind})
FILTERS = {
    "abs": ("num", "num", [], {}), "attr": ("any", "any", ["key"], {"name": "key"}),
    "batch": ("list", "list", ["small", "any"], {"linecount": "small", "fill_with": "any"}),
    "capitalize": ("str", "str", [], {}), "center": ("str", "str", ["width"], {"width": "width"}),
    "count": ("list", "int", [], {}), "d": ("any", "any", ["any", "bool"], {"default_value": "any", "boolean": "bool"}),
    "default": ("any", "any", ["any", "bool"], {"default_value": "any", "boolean": "bool"}),
    "dictsort": ("dict", "list", ["bool", "by", "bool"], {"case_sensitive": "bool", "by": "by", "reverse": "bool"}),
    "e": ("str", "str", [], {}), "escape": ("str", "str", [], {}), "filesizeformat": ("num", "str", ["bool"], {"binary": "bool"}),
    "first": ("list", "any", [], {}), "float": ("any", "float", ["any"], {"default": "any"}), "forceescape": ("str", "str", [], {}),
    "format": ("percent", "str", ["any", "any"], {"a": "any", "b": "any"}),
    "groupby": ("users", "list", ["attribute"], {"attribute": "attribute", "default": "any", "case_sensitive": "bool"}),
    "indent": ("str", "str", ["width", "bool", "bool"], {"width": "width", "first": "bool", "blank": "bool"}),
    "int": ("any", "int", ["any", "base"], {"default": "any", "base": "base"}), "items": ("dict", "list", [], {}),
    "join": ("list", "str", ["sep", "attribute"], {"d": "sep", "attribute": "attribute"}), "last": ("list", "any", [], {}),
    "length": ("list", "int", [], {}), "list": ("list", "list", [], {}), "lower": ("str", "str", [], {}),
    "map": ("list", "list", ["filtername", "any"], {"attribute": "attribute", "default": "any"}),
    "max": ("list", "any", ["bool", "attribute"], {"case_sensitive": "bool", "attribute": "attribute"}),
    "min": ("list", "any", ["bool", "attribute"], {"case_sensitive": "bool", "attribute": "attribute"}),
    "pprint": ("any", "str", [], {}), "reject": ("list", "list", ["testname", "any"], {}),
    "rejectattr": ("users", "list", ["attribute", "testname", "any"], {}),
    "replace": ("str", "str", ["sep", "str", "small"], {"old": "sep", "new": "str", "count": "small"}),
    "reverse": ("list", "any", [], {}), "round": ("num", "num", ["digits", "method"], {"precision": "digits", "method": "method"}),
    "safe": ("str", "str", [], {}), "select": ("list", "list", ["testname", "any"], {}),
    "selectattr": ("users", "list", ["attribute", "testname", "any"], {}),
    "slice": ("list", "list", ["small", "any"], {"slices": "small", "fill_with": "any"}),
    "sort": ("list", "list", ["bool", "bool", "attribute"], {"reverse": "bool", "case_sensitive": "bool", "attribute": "attribute"}),
    "string": ("any", "str", [], {}), "striptags": ("str", "str", [], {}),
    "sum": ("list", "any", ["attribute", "any"], {"attribute": "attribute", "start": "any"}), "title": ("str", "str", [], {}),
    "tojson": ("any", "str", ["bool", "indent"], {"ensure_ascii": "bool", "indent": "indent", "separators": "separators", "sort_keys": "bool"}),
    "trim": ("str", "str", ["sep"], {"chars": "sep"}),
    "truncate": ("str", "str", ["width", "bool", "sep", "small"], {"length": "width", "killwords": "bool", "end": "sep", "leeway": "small"}),
    "unique": ("list", "list", ["bool", "attribute"], {"case_sensitive": "bool", "attribute": "attribute"}),
    "upper": ("str", "str", [], {}), "urlencode": ("any", "str", [], {}),
    "urlize": ("str", "str", ["width", "bool", "str", "str", "schemes"],
               {"trim_url_limit": "width", "nofollow": "bool", "target": "str", "rel": "str", "extra_schemes": "schemes"}),
    "wordcount": ("str", "int", [], {}),
    "wordwrap": ("str", "str", ["width", "bool", "sep", "bool"],
                 {"width": "width", "break_long_words": "bool", "wrapstring": "sep", "break_on_hyphens": "bool"}),
    "xmlattr": ("dict", "str", ["bool"], {"autospace": "bool"}),
}
TESTS = {
    "boolean": [], "callable": [], "defined": [], "divisibleby": ["int"], "eq": ["any"], "equalto": ["any"], "==": None, "escaped": [],
    "even": [], "false": [], "filter": [], "float": [], "ge": ["any"], "gt": ["any"], "greaterthan": ["any"], "in": ["list"], "integer": [],
    "iterable": [], "le": ["any"], "lessthan": ["any"], "lower": [], "lt": ["any"], "mapping": [], "ne": ["any"], "none": [], "number": [],
    "odd": [], "sequence": [], "string": [], "test": [], "true": [], "undefined": [], "upper": [], "!=": None,
}
TEST_NAMES = [name for name in TESTS if TESTS[name] is not None]
# name: (kind of the subject, kind of the result, [kinds of arguments])
METHODS = {
    "capitalize": ("str", "str", []), "casefold": ("str", "str", []), "center": ("str", "str", ["width", "char"]),
    "count": ("str", "int", ["sep", "index", "index"]), "endswith": ("str", "bool", ["sep", "index", "index"]),
    "expandtabs": ("str", "str", ["small"]), "find": ("str", "int", ["sep", "index", "index"]), "format": ("braces", "str", ["any", "any"]),
    "format_map": ("braces", "str", ["dict"]), "index": ("str", "int", ["sep", "index"]), "isalnum": ("str", "bool", []),
    "isalpha": ("str", "bool", []), "isascii": ("str", "bool", []), "isdecimal": ("str", "bool", []), "isdigit": ("str", "bool", []),
    "isidentifier": ("str", "bool", []), "islower": ("str", "bool", []), "isnumeric": ("str", "bool", []),
    "isprintable": ("str", "bool", []), "isspace": ("str", "bool", []), "istitle": ("str", "bool", []), "isupper": ("str", "bool", []),
    "join": ("str", "str", ["list"]), "ljust": ("str", "str", ["width", "char"]), "lower": ("str", "str", []),
    "lstrip": ("str", "str", ["sep"]), "maketrans": ("str", "any", ["char", "char"]), "partition": ("str", "list", ["sep"]),
    "removeprefix": ("str", "str", ["sep"]), "removesuffix": ("str", "str", ["sep"]), "replace": ("str", "str", ["sep", "str", "small"]),
    "rfind": ("str", "int", ["sep", "index"]), "rindex": ("str", "int", ["sep"]), "rjust": ("str", "str", ["width", "char"]),
    "rpartition": ("str", "list", ["sep"]), "rsplit": ("str", "list", ["sep", "small"]), "rstrip": ("str", "str", ["sep"]),
    "split": ("str", "list", ["sep", "small"]), "splitlines": ("str", "list", ["bool"]), "startswith": ("str", "bool", ["sep", "index", "index"]),
    "strip": ("str", "str", ["sep"]), "swapcase": ("str", "str", []), "title": ("str", "str", []), "upper": ("str", "str", []),
    "translate": ("str", "str", ["dict"]), "zfill": ("str", "str", ["width"]),
    "get": ("dict", "any", ["key", "any"]), "items": ("dict", "list", []), "keys": ("dict", "list", []), "values": ("dict", "list", []),
    "copy": ("dict", "dict", []), "pop": ("any", "any", ["key"]), "append": ("list", "any", ["any"]), "update": ("dict", "any", ["dict"]),
    "fromkeys": ("dict", "dict", ["list", "any"]), "bit_length": ("int", "int", []), "bit_count": ("int", "int", []),
    "conjugate": ("num", "num", []), "as_integer_ratio": ("num", "list", []), "is_integer": ("float", "bool", []),
    "hex": ("float", "str", []),
}
BY_SUBJECT = {}
for _name, _entry in METHODS.items():
    BY_SUBJECT.setdefault(_entry[0], []).append(_name)
FILTERS_BY_RESULT, METHODS_BY_RESULT = {}, {}
for _table, _index in ((FILTERS, FILTERS_BY_RESULT), (METHODS, METHODS_BY_RESULT)):
    for _name, _entry in _table.items():
        _index.setdefault(_entry[1], []).append(_name)
FILTER_NAMES, METHOD_NAMES = list(FILTERS), list(METHODS)
MAPPED = ["upper", "lower", "length", "string", "int", "float", "abs", "trim", "first", "last", "list", "join", "tojson", "escape", "title",
          "default", "replace", "round", "e", "capitalize", "nosuchfilter", "map", "sort"]
ATTRIBUTES = ["name", "age", "city.name", "city", "active", "a", "0", "1", "role", "content", "nope", "city.tags.0", "v", "city.nope"]
SEPARATORS = ["", " ", ",", ", ", "a", "b", "X", "-", "\\n", "<", ">", "'", ".", "lo", "ab", "é", "\\t", "& ", "l", "o", "\\r", "e ", "  "]
SPEC_TYPES = "bcdeEfFgGnosxX%"


class Expressions:
    """Makes expressions.  `names` maps kinds to the variables in scope."""

    def __init__(self, rng):
        self.rng = rng
        self.names = {kind: list(group) for kind, group in values.VARIABLES.items()}
        self.macros = []
        self.in_loop = 0
        self.in_macro = 0

    def chance(self, probability):
        return self.rng.random() < probability

    # ---- literals

    def string(self, text):
        """A string constant, with some characters written as escapes."""
        rng = self.rng
        quote = "'" if rng.random() < 0.7 else '"'
        out = []
        for character in text:
            if character in ("\\", quote):
                out.append("\\" + character)
            elif character == "\n" and rng.random() < 0.8:
                out.append("\\n")
            elif rng.random() < 0.01:
                out.append(f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}")
            else:
                out.append(character)
        return quote + "".join(out) + quote

    def literal_str(self):
        if self.chance(0.01):
            return self.rng.choice(("'\\x41\\u00e9\\n'", "'\\101\\0'", "'\\q\\é'", "'a' 'b'", "'\\N{BULLET}'", "'\\N{LATIN SMALL LETTER E WITH ACUTE}'",
                                    "'line\\\nbreak'", "'\\x4'", "'\\400'", "'\\N{nope}'"))
        return self.string(values.random_text(self.rng))

    def literal_int(self):
        kind = self.rng.random()
        if kind < 0.85:
            return str(self.rng.choice(values.INTS))
        if kind < 0.93:
            return str(self.rng.choice(values.BIG_INTS))
        return self.rng.choice(("0x1F", "0b1011", "0o17", "1_000", "0_0", "00", "0xDEAD_beef", "12_3"))

    def literal_float(self):
        if self.chance(0.1):
            return self.rng.choice(("1_0.5", "1e5", "2.5e-3", "1E+2", "1_0e1_0", "1e400", "0.0", "1.0e0"))
        return repr(self.rng.choice(values.FLOATS))

    def literal_list(self, depth):
        kind = self.rng.choice(KINDS)
        items = [self.expr(kind if self.chance(0.8) else "any", depth - 1) for _ in range(self.rng.choice((0, 1, 2, 3, 3, 5)))]
        if self.chance(0.25):
            return "(" + ", ".join(items) + ("," if len(items) == 1 or (items and self.chance(0.2)) else "") + ")"
        return "[" + ", ".join(items) + ("," if items and self.chance(0.1) else "") + "]"

    def literal_dict(self, depth):
        pairs = []
        for _ in range(self.rng.choice((0, 1, 2, 2, 3))):
            key = self.key() if self.chance(0.8) else self.expr("any", depth - 1)
            pairs.append(key + ": " + self.expr("any", depth - 1))
        return "{" + ", ".join(pairs) + ("," if pairs and self.chance(0.1) else "") + "}"

    def key(self):
        return self.string(self.rng.choice(values.KEYS)) if self.chance(0.9) else self.rng.choice(("0", "1", "True", "none", "1.5", "(1, 2)"))

    # ---- arguments of filters and methods

    def argument(self, kind, depth):
        rng = self.rng
        if self.chance(0.03):
            return self.expr("any", min(depth, 1))
        simple = getattr(self, "argument_" + kind, None)
        if simple is not None:
            return simple()
        return self.expr(kind, depth - 1)

    def argument_small(self):
        return self.rng.choice(("0", "1", "2", "3", "4", "-1", "-2", "m", "10", "none", "'x'", "True", "1.5")) if self.chance(0.5) else self.rng.choice("1234")

    def argument_width(self):
        return self.rng.choice(("0", "1", "2", "3", "4", "5", "7", "10", "12", "20", "40", "79", "80", "-3", "m", "n", "'  '", "none", "True"))

    def argument_index(self):
        return self.rng.choice(("0", "1", "2", "3", "-1", "-2", "5", "100", "none", "m", "-100"))

    def argument_digits(self):
        return self.rng.choice(("0", "1", "2", "3", "-1", "-2", "5", "15", "m", "none", "20"))

    def argument_indent(self):
        return self.rng.choice(("none", "0", "1", "2", "4", "'\\t'", "''", "-1", "'  '", "True"))

    def argument_base(self):
        return self.rng.choice(("10", "2", "8", "16", "36", "0", "1", "37", "-1", "m"))

    def argument_separators(self):
        return self.rng.choice(("(',', ':')", "[', ', ': ']", "(',',)", "none", "(' , ', ' : ')", "', '", "',:'", "(1, 2)", "('é', '\"')"))

    def argument_schemes(self):
        return self.rng.choice(("none", "['ftp://']", "['ftp:', 'x:']", "[]", "['bad']", "[1]", "'ftp:'", "['tel:']"))

    def argument_sep(self):
        if self.chance(0.15):
            return self.rng.choice(("s", "t", "none", "''", "('a', 'b')"))
        return "'" + self.rng.choice(SEPARATORS).replace("'", "\\'") + "'"

    def argument_char(self):
        return self.rng.choice(("' '", "'*'", "'é'", "'😀'", "''", "'ab'", "'0'"))

    def argument_attribute(self):
        if self.chance(0.1):
            return self.rng.choice(("0", "1", "-1", "none", "'name,age'", "''", "'.'", "'a..b'", "['name']", "'age,city.name'"))
        return "'" + self.rng.choice(ATTRIBUTES) + "'"

    def argument_key(self):
        return self.key()

    def argument_by(self):
        return self.rng.choice(("'key'", "'value'", "'other'"))

    def argument_method(self):
        return self.rng.choice(("'common'", "'ceil'", "'floor'", "'other'"))

    def argument_filtername(self):
        return "'" + self.rng.choice(MAPPED) + "'"

    def argument_testname(self):
        return "'" + self.rng.choice(TEST_NAMES + ["==", "!=", "<", ">=", "nosuchtest"]) + "'"

    def arguments(self, positional, named, depth, spread=True):
        rng = self.rng
        out = []
        for kind in positional:
            if rng.random() < 0.45:
                break
            out.append(self.argument(kind, depth))
        names = list(named)
        rng.shuffle(names)
        for name in names[:rng.choice((0, 0, 0, 1, 1, 2))]:
            if name in ("a", "b") or list(named).index(name) >= len(out) or rng.random() < 0.05:
                out.append(f"{name}={self.argument(named[name], depth)}")
        if spread and rng.random() < 0.02:
            out.append(rng.choice(("*xs", "**d", "*[1, 2]", "**{'a': 1}", "nope=1", "'extra'")))
        return out

    # ---- format strings

    def percent_format(self):
        rng = self.rng
        out = []
        for _ in range(rng.choice((1, 1, 2, 3))):
            flags = "".join(rng.choices("#0- +", k=rng.choice((0, 0, 1, 2))))
            width = rng.choice(("", "", "5", "12", "*", "2"))
            precision = rng.choice(("", "", ".2", ".0", ".", ".10", ".*"))
            name = rng.choice(("", "", "", "", "(a)", "(b)"))
            kind = rng.choice("diouxXeEfFgGcrsa%") if rng.random() < 0.96 else rng.choice("qyl")
            out.append(rng.choice(("", "a", " ", "%%", "é")) + "%" + name + flags + width + precision + rng.choice(("", "", "", "l")) + kind)
        return self.string("".join(out))

    def brace_format(self):
        rng = self.rng
        out = []
        for _ in range(rng.choice((1, 1, 2, 3))):
            field = rng.choice(("", "", "0", "1", "a", "b", "0.name", "a[0]", "a[k]", "0[a]", "a.b", "2", "0.real", "0[0]"))
            conversion = rng.choice(("", "", "", "!r", "!s", "!a", "!x"))
            spec = ""
            if rng.random() < 0.6:
                spec = ":" + self.format_spec()
            piece = "{" + field + conversion + spec + "}"
            out.append(rng.choice(("", "x", " ", "{{", "}}", "é")) + piece)
        if rng.random() < 0.04:
            out.append(rng.choice(("{", "}", "{0", "{!}", "{a[}", "{:{}}", "{0:{1}}", "{:{a}}")))
        return self.string("".join(out))

    def format_spec(self):
        rng = self.rng
        fill = rng.choice(("", "", "<", ">", "^", "=", "*<", "0>", "é^", "*="))
        return "".join((fill, rng.choice(("", "", "+", "-", " ")), rng.choice(("", "", "", "z", "#")), rng.choice(("", "", "", "0")),
                        rng.choice(("", "", "5", "12", "3")), rng.choice(("", "", "", ",", "_")), rng.choice(("", "", ".2", ".0", ".10")),
                        rng.choice(SPEC_TYPES) if rng.random() < 0.6 else ""))

    # ---- expressions

    def name(self, kind):
        rng = self.rng
        if kind == "num":
            kind = "int" if rng.random() < 0.6 else "float"
        if kind in ("any", "percent", "braces", "key") or rng.random() < 0.02:
            kind = rng.choice(list(self.names))
        pool = self.names.get(kind)
        return rng.choice(pool) if pool else "undef"

    def atom(self, kind):
        rng = self.rng
        if rng.random() < 0.62:
            if rng.random() < 0.02:
                return "undef"
            if self.in_loop and rng.random() < 0.2:
                return self.loop_attribute(kind)
            return self.name(kind)
        if kind == "num":
            kind = "int" if rng.random() < 0.5 else "float"
        if kind == "any":
            kind = rng.choice(KINDS[:-1])
        if kind in ("str", "key"):
            return self.literal_str()
        if kind == "percent":
            return self.percent_format()
        if kind == "braces":
            return self.brace_format()
        if kind == "int":
            return self.literal_int()
        if kind == "float":
            return self.literal_float()
        if kind == "bool":
            return rng.choice(("true", "false", "True", "False", "none", "None"))
        if kind in ("list", "users", "tree"):
            return self.literal_list(1) if rng.random() < 0.7 else rng.choice(("range(3)", "range(5, 1, -2)", "[1, 2, 3]", "'abc'", "(1, 'a')", "range(m)", "()"))
        return self.literal_dict(1) if rng.random() < 0.8 else rng.choice(("dict(a=1)", "namespace(a=1)", "dict(xs)", "dict(d, k=2)", "{}"))

    def loop_attribute(self, kind):
        rng = self.rng
        if kind == "bool":
            return rng.choice(("loop.first", "loop.last", "loop.changed(item)", "loop.changed(loop.index // 2)"))
        if kind in ("int", "num"):
            return rng.choice(("loop.index", "loop.index0", "loop.revindex", "loop.revindex0", "loop.length", "loop.depth", "loop.depth0"))
        return rng.choice(("loop.previtem", "loop.nextitem", "loop.cycle('a', 'b')", "loop.cycle(1, 2, 3)", "item", "loop.nope", "loop", "loop.index",
                           "loop|length", "loop.cycle()", "item", "item", "item"))

    def expr(self, kind, depth):
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            return self.atom(kind)
        if rng.random() < 0.02:
            kind = rng.choice(KINDS)
        choice = rng.random()
        if choice < 0.26:
            return self.filtered(kind, depth)
        if choice < 0.42:
            return self.method(kind, depth)
        if choice < 0.5:
            return self.subscript(kind, depth)
        if choice < 0.55:
            return self.conditional(kind, depth)
        if choice < 0.58:
            return "(" + self.expr(kind, depth - 1) + ")"
        if choice < 0.6 and self.macros:
            return self.macro_call(depth)
        maker = getattr(self, "make_" + kind, None)
        return maker(depth) if maker else self.make_any(depth)

    def operand(self, kind, depth):
        text = self.expr(kind, depth - 1)
        return "(" + text + ")" if self.chance(0.4) else text

    def filtered(self, kind, depth):
        rng = self.rng
        pool = FILTERS_BY_RESULT.get(kind)
        name = rng.choice(pool) if pool and rng.random() < 0.8 else rng.choice(FILTER_NAMES)
        if rng.random() < 0.003:
            return self.operand("any", depth) + "|nosuchfilter"
        subject, _, positional, named = FILTERS[name]
        arguments = self.arguments(positional, named, depth)
        call = "(" + ", ".join(arguments) + ")" if arguments or rng.random() < 0.05 else ""
        out = self.operand(subject if rng.random() < 0.93 else "any", depth) + "|" + name + call
        if FILTERS[name][1] == "list" and rng.random() < 0.5:
            out += rng.choice(("|list", "|list", "|join(',')", "|map('string')|join", "|length", "|map('list')|list"))
        return out

    def method(self, kind, depth):
        rng = self.rng
        pool = METHODS_BY_RESULT.get(kind)
        name = rng.choice(pool) if pool and rng.random() < 0.8 else rng.choice(METHOD_NAMES)
        subject, _, positional = METHODS[name]
        named = {"a": "any", "b": "any"} if name == "format" else {}
        arguments = self.arguments(positional, named, depth)
        text = self.expr(subject if rng.random() < 0.95 else "any", depth - 1)
        if not text.replace("_", "a").isalnum() and text[:1] not in "'\"[{(" or rng.random() < 0.1 or " " in text or text[:1].isdigit():
            text = "(" + text + ")"
        if rng.random() < 0.01:
            return text + "." + rng.choice(("__class__", "nope", "__len__()", "mro()", "_x", "real", "numerator", "imag", "denominator"))
        return text + "." + name + "(" + ", ".join(arguments) + ")"

    def subscript(self, kind, depth):
        rng = self.rng
        which = rng.random()
        if which < 0.35:
            subject = rng.choice(("str", "list", "list"))
            bounds = [self.argument_index() if rng.random() < 0.7 else "" for _ in range(2)]
            step = rng.choice(("", "", ":", ":2", ":-1", ":-2", ":0", ":m"))
            return self.paren(subject, depth) + "[" + bounds[0] + ":" + bounds[1] + step + "]"
        if which < 0.6:
            return self.paren(rng.choice(("list", "str", "users")), depth) + "[" + self.argument_index() + "]"
        if which < 0.8:
            return self.paren("dict", depth) + "[" + self.key() + "]"
        return self.paren(rng.choice(("dict", "users", "any")), depth) + "." + rng.choice(("a", "b", "name", "items", "k", "0", "1", "role", "keys", "nope"))

    def paren(self, kind, depth):
        text = self.expr(kind, depth - 1)
        return text if text.isidentifier() or text[0] in "[{" and self.chance(0.7) and "|" not in text else "(" + text + ")"

    def conditional(self, kind, depth):
        out = self.operand(kind, depth) + " if " + self.expr("bool", depth - 1)
        if self.chance(0.85):
            out += " else " + self.operand(kind, depth)
        return "(" + out + ")" if self.chance(0.8) else out

    def macro_call(self, depth):
        name = self.rng.choice(self.macros)
        out = [self.expr("any", depth - 1) for _ in range(self.rng.choice((0, 1, 1, 2, 3)))]
        if self.chance(0.3):
            out.append(self.rng.choice(("a", "b", "k", "p0", "p1")) + "=" + self.expr("any", depth - 1))
        if self.chance(0.05):
            out.append(self.rng.choice(("*xs", "**d", "*words")))
        return name + "(" + ", ".join(out) + ")"

    def make_str(self, depth):
        rng = self.rng
        which = rng.random()
        if which < 0.4:
            return " ~ ".join(self.operand(rng.choice(("str", "any", "int")), depth) for _ in range(rng.choice((2, 2, 3))))
        if which < 0.6:
            return self.operand("str", depth) + " + " + self.operand("str", depth)
        if which < 0.7:
            return self.operand("str", depth) + " * " + rng.choice(("0", "1", "2", "3", "-1", "m"))
        if which < 0.9:
            right = self.expr("any", depth - 1)
            if rng.random() < 0.6:
                right = "(" + ", ".join(self.expr("any", depth - 1) for _ in range(rng.choice((1, 2, 2, 3)))) + ",)"
            elif rng.random() < 0.5:
                right = "{'a': " + self.expr("any", depth - 1) + ", 'b': " + self.expr("any", depth - 1) + "}"
            return self.percent_format() + " % " + right
        return self.literal_str()

    def make_num(self, depth):
        rng = self.rng
        which = rng.random()
        left, right = self.operand("num", depth), self.operand("num", depth)
        if which < 0.75:
            return left + " " + rng.choice(("+", "-", "*", "/", "//", "%", "+", "-")) + " " + right
        if which < 0.85:  # the exponent is small, and so is the base
            return rng.choice(("n", "m", "f", "2", "-2", "10", "0", "1.5", "(-1)", "-n", "g", "yes")) + " ** " + rng.choice(("0", "1", "2", "3", "-1", "0.5", "m", "-2", "10"))
        if which < 0.95:
            return rng.choice(("-", "+", "- ", "--")) + self.paren("num", depth)
        return self.operand("num", depth) + "|" + rng.choice(("abs", "round", "int", "float", "round(1)"))

    make_int = make_float = make_num

    def make_bool(self, depth):
        rng = self.rng
        which = rng.random()
        if which < 0.35:
            kind = rng.choice(("int", "str", "any", "num", "list"))
            out = self.operand(kind, depth)
            for _ in range(rng.choice((1, 1, 1, 2))):
                out += " " + rng.choice(("==", "!=", "<", ">", "<=", ">=", "==")) + " " + self.operand(kind, depth)
            return out
        if which < 0.5:
            return self.operand("any", depth) + rng.choice((" in ", " not in ")) + self.operand(rng.choice(("list", "str", "dict")), depth)
        if which < 0.75:
            return self.test(depth)
        if which < 0.9:
            return self.operand("bool", depth) + rng.choice((" and ", " or ")) + self.operand("bool", depth)
        return "not " + self.operand("bool", depth)

    def test(self, depth):
        rng = self.rng
        name = rng.choice(TEST_NAMES)
        kinds = TESTS[name]
        out = self.operand("any", depth) + (" is not " if rng.random() < 0.2 else " is ") + name
        if kinds:
            argument = self.expr(kinds[0], depth - 1)
            out += "(" + argument + ")" if rng.random() < 0.7 or argument[0] in "-+" else " " + argument
        elif rng.random() < 0.01:
            out += rng.choice(("(1)", " 1", "()"))
        return out

    def make_list(self, depth):
        rng = self.rng
        which = rng.random()
        if which < 0.4:
            return self.literal_list(depth)
        if which < 0.6:
            return self.operand("list", depth) + " + " + self.operand("list", depth)
        if which < 0.7:
            return self.operand("list", depth) + " * " + rng.choice(("0", "1", "2", "3", "m", "-1"))
        if which < 0.85:
            return "range(" + ", ".join(rng.choice(("0", "1", "2", "3", "5", "-1", "m", "10")) for _ in range(rng.choice((1, 1, 2, 3)))) + ")"
        return self.literal_list(depth)

    make_users = make_tree = make_list

    def make_dict(self, depth):
        if self.chance(0.2):
            return "dict(" + ", ".join(self.arguments(["any"], {"a": "any", "b": "any"}, depth)) + ")"
        return self.literal_dict(depth)

    def make_percent(self, depth):
        return self.percent_format()

    def make_braces(self, depth):
        return self.brace_format() if self.chance(0.9) else self.brace_format() + "|safe"

    def make_any(self, depth):
        rng = self.rng
        if rng.random() < 0.03:
            return rng.choice(("joiner()", "joiner('|')", "cycler(1, 2)", "namespace(a=1).a", "lipsum is callable", "range", "dict", "self is defined",
                               "strftime_now('%Y-%m-%d %H:%M')", "raise_exception('no ' ~ n)", "caller is defined", "varargs", "kwargs", "loop is defined",
                               "cycler('a').next()", "joiner is callable", "range(2)|list", "loop is defined"))
        kind = rng.choice(KINDS[:-1] + ("num",))
        return getattr(self, "make_" + kind)(depth)
