"""Random templates: statements around random expressions, white space in awkward places, and damaged copies."""
import re

from .expressions import Expressions

TEXTS = ["", "a", " ", "\n", "  \n", "text ", " b\n", "\n  ", "\t", "<p>", "é", "😀", "}", "{", "%", "# ", "\r\n", " \n\n ", "x\n", "--", "\u2028", "\u00a0"]
TOKENS = re.compile(r"\{\{[-+]?|[-+]?\}\}|\{%[-+]?|[-+]?%\}|\{#|#\}|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\w+|\s+|\*\*|//|[=!<>]=|.", re.DOTALL)
INSERTS = ["if", "else", "endif", "for", "in", "(", ")", "[", "]", "{", "}", "'", '"', "|", ".", ",", ":", "~", "not", "is", "and", "or", "1", "x", "=", "==",
           "*", "**", "{%", "%}", "{{", "}}", "{#", "#}", "-", "+", "set", "macro", "endfor", "endset", " ", "\n", "recursive", "%", "!", "?", "$", "@", "\\", "1.",
           "..", ";", "0x", "é", "elif", "with", "raw", "endraw", "call", "filter", "import", "block", "loop", "none", "e5", "_"]


class Templates(Expressions):
    def template(self):
        rng = self.rng
        depth = rng.choice((1, 2, 2, 3))
        if rng.random() < 0.35:  # one expression, deep
            return self.output(rng.choice((2, 3, 3, 4)))
        out = self.text() + "".join(self.statement(depth) + self.text() for _ in range(rng.choice((1, 1, 2, 3))))
        return out if rng.random() < 0.9 else out + rng.choice(("\n", "\n\n", " \n"))

    def text(self):
        return self.rng.choice(TEXTS) if self.chance(0.6) else ""

    def tag(self, inside):
        rng = self.rng
        before = rng.choice(("", "", "", "", "-", "+"))
        after = rng.choice(("", "", "", "", "-", "+"))
        space = " " if rng.random() < 0.95 or inside[:1] in "-+" or inside[-1:] in "-+" else ""
        return "{%" + before + space + inside + space + after + "%}"

    def output(self, depth):
        rng = self.rng
        inside = self.expr(rng.choice(("str", "any", "any", "list", "bool", "int", "dict", "float")), depth)
        return "{{" + rng.choice(("", "", "", "-", "+")) + " " + inside + " " + rng.choice(("", "", "", "-")) + "}}"

    def body(self, depth):
        return self.text() + "".join(self.statement(depth - 1) + self.text() for _ in range(self.rng.choice((1, 1, 2))))

    def statement(self, depth):
        rng = self.rng
        if depth <= 0 or rng.random() < 0.35:
            return self.output(rng.choice((1, 2, 2, 3)))
        kind = rng.choices(("if", "for", "set", "set_block", "macro", "call", "filter", "with", "raw", "autoescape", "generation", "comment", "loopcontrol", "ns"),
                           (5, 6, 4, 2, 2, 1, 1, 2, 0.7, 1.5, 0.7, 1, 0.6, 2))[0]
        return getattr(self, "statement_" + kind)(depth)

    def scoped(self, make):
        """Runs `make` so that names it declares are gone afterwards."""
        saved = {kind: list(names) for kind, names in self.names.items()}
        macros = list(self.macros)
        out = make()
        if self.chance(0.9):
            self.names, self.macros = saved, macros
        return out

    def declare(self, name, kind="any"):
        self.names.setdefault(kind, []).append(name)
        return name

    def statement_if(self, depth):
        out = self.tag("if " + self.expr("bool", 2)) + self.body(depth)
        while self.chance(0.3):
            out += self.tag("elif " + self.expr("bool", 2)) + self.body(depth)
        if self.chance(0.4):
            out += self.tag("else") + self.body(depth)
        return out + self.tag("endif")

    def statement_for(self, depth):
        def make():
            rng = self.rng
            if rng.random() < 0.12:
                return self.recursive_for()
            source = rng.choice(("xs", "words", "nums", "users", "messages", "d.items()", "d", "s", "range(3)", "d|dictsort", "ys")) if rng.random() < 0.6 else self.expr("list", 2)
            target = rng.choice(("item", "item", "item", "x", "s", "n", "loop", "k, v", "a, b, c"))
            if "items" in source or "dictsort" in source:
                target = "k, v" if rng.random() < 0.8 else "(k, v)"
            for name in re.findall(r"\w+", target):
                self.declare(name)
            self.in_loop += 1
            head = f"for {target} in {source}"
            if rng.random() < 0.2:
                head += " if " + self.expr("bool", 2)
            out = self.tag(head) + self.body(depth)
            if rng.random() < 0.08:
                out += "{% if loop.index > 2 %}" + rng.choice(("{% break %}", "{% continue %}")) + "{% endif %}" + self.text()
            self.in_loop -= 1
            if rng.random() < 0.2:
                out += self.tag("else") + self.body(depth)
            return out + self.tag("endfor")
        return self.scoped(make)

    def recursive_for(self):
        rng = self.rng
        inner = rng.choice(("loop(item.c)", "loop(item.c)|upper", "loop(item.c)|length", "loop(item['c'])", "loop([])", "loop(item.c) if item.c"))
        return ("{% for item in tree recursive %}" + self.text() + rng.choice(("{{ item.v }}", "{{ loop.depth }}{{ item.v }}", "{{ loop.index }}:", "{{ item }}")) +
                "{{ " + inner + " }}" + self.text() + rng.choice(("", "{% else %}none")) + "{% endfor %}")

    def statement_set(self, depth):
        rng = self.rng
        value = self.expr("any", 2)
        kind = rng.random()
        if kind < 0.75:
            name = rng.choice(("v", "x", "y", "s", "xs", "n", "acc", "item"))
            out = self.tag(f"set {name} = {value}")
            self.declare(name)
            return out
        if kind < 0.9:
            out = self.tag(f"set a, b = {rng.choice(('xs', '(1, 2)', 's', value, '[1, 2]', '1, 2'))}")
            self.declare("a")
            self.declare("b")
            return out
        return self.tag("set " + rng.choice(("d.a = 1", "(v) = 1", "v, = [1]", "loop = 1", "true = 1", "v = 1, 2", "v.x = 2", "v = none", "self = 1", "v = xs, ")))

    def statement_ns(self, depth):
        name = self.rng.choice(("ns", "acc2"))
        out = ""
        if name not in self.names["any"]:
            out = self.tag(f"set {name} = namespace({self.rng.choice(('', 'x=1', 'x=s', 'd', 'x=[], y=0'))})")
            self.declare(name)
        inside = self.rng.choice((f"{name}.x = {self.expr('any', 1)}", f"{name}.x = {name}.x ~ 'a'", f"{name}.x = {name}.x + 1", f"{name}.y = {name}.x"))
        return out + self.tag("set " + inside) + "{{ " + name + self.rng.choice((".x", ".x", ".y", "", ".nope", "['x']")) + " }}"

    def statement_set_block(self, depth):
        name = self.rng.choice(("v", "blk", "s", "x"))
        pipe = "".join(" | " + self.rng.choice(("upper", "trim", "length", "title", "replace('a', 'b')", "e", "safe", "indent(2)", "list")) for _ in range(self.rng.choice((0, 0, 1, 2))))
        out = self.tag(f"set {name}{pipe}") + self.body(depth) + self.tag("endset")
        self.declare(name)
        return out + ("{{ " + name + " }}" if self.chance(0.7) else "")

    def statement_macro(self, depth):
        rng = self.rng
        name = rng.choice(("mac", "mac2", "s", "render"))
        parameters = [f"p{i}" if rng.random() < 0.9 else rng.choice(("a", "s", "caller", "n")) for i in range(rng.choice((0, 1, 2, 2)))]
        defaults = rng.randrange(len(parameters) + 1)
        head = [p if i < len(parameters) - defaults else p + "=" + rng.choice((self.expr("any", 1), "p0", "n", "[]")) for i, p in enumerate(parameters)]
        saved = {kind: list(names) for kind, names in self.names.items()}
        for parameter in parameters:
            self.declare(parameter)
        in_loop, self.in_loop = self.in_loop, 0
        inner = self.body(depth)
        extra = rng.choice(("", "", "", "{{ varargs }}", "{{ kwargs }}", "{{ caller() }}", "{{ caller(1) }}", "{{ varargs|length }}{{ kwargs|dictsort }}",
                            "{% if caller %}{{ caller() }}{% endif %}"))
        self.in_loop = in_loop
        self.names = saved
        out = self.tag(f"macro {name}({', '.join(head)})") + inner + extra + self.tag("endmacro")
        self.macros.append(name)
        if rng.random() < 0.8:
            out += "{{ " + self.macro_call(2) + " }}"
        if rng.random() < 0.1:
            out += "{{ " + name + rng.choice((".name", ".arguments", ".catch_kwargs", ".catch_varargs", ".caller", "", "|string")) + " }}"
        return out

    def statement_call(self, depth):
        rng = self.rng
        macro = rng.choice(self.macros) if self.macros else "undef"
        parameters = rng.choice(("", "", "(x)", "(x, y=2)", "()"))
        inside = self.scoped(lambda: self.declare("x") and self.body(depth))
        out = "" if self.macros else "{% macro mac(a=1) %}[{{ caller() }}{{ a }}]{% endmacro %}"
        macro = macro if self.macros else "mac"
        return out + self.tag(f"call{parameters} {macro}({rng.choice(('', '1', 's', 'a=2', 'xs'))})") + inside + self.tag("endcall")

    def statement_filter(self, depth):
        name = self.rng.choice(("upper", "trim", "indent(2, true)", "replace('a', 'X')", "title", "e", "length", "upper|lower", "wordwrap(10)", "truncate(5)", "safe", "urlize", "center(20)"))
        return self.tag("filter " + name) + self.body(depth) + self.tag("endfilter")

    def statement_with(self, depth):
        def make():
            rng = self.rng
            heads = []
            for _ in range(rng.choice((0, 1, 1, 2))):
                heads.append(rng.choice(("x", "y", "s", "n", "a, b")) + " = " + self.expr("any", 2))
            for head in heads:
                for name in re.findall(r"\w+", head.split(" = ")[0]):
                    self.declare(name)
            return self.tag(("with " + ", ".join(heads)).strip()) + self.body(depth) + self.tag("endwith")
        return self.scoped(make)

    def statement_raw(self, depth):
        return self.tag("raw") + self.rng.choice(("{{ x }}", "{% if %}", "{# c #}", " a \n b", "{{", "%}", "\n", "{% endfor %}")) + self.tag("endraw")

    def statement_autoescape(self, depth):
        head = self.rng.choice(("true", "true", "true", "false", "yes", "1", "none", "s"))
        return self.tag("autoescape " + head) + self.body(depth) + self.body(depth) + self.tag("endautoescape")

    def statement_generation(self, depth):
        return self.tag("generation") + self.body(depth) + self.tag("endgeneration")

    def statement_comment(self, depth):
        return self.rng.choice(("{# note #}", "{#- note -#}", "{# a\nb #}\n", "{##}", "{#-#}", "{# {{ x }} #}", "  {# x #}\n", "{#+ x +#}\n"))

    def statement_loopcontrol(self, depth):
        return "{% for i in " + self.rng.choice(("nums", "range(6)", "words")) + " %}{{ i }}" + self.rng.choice((
            "{% if loop.index == 2 %}{% continue %}{% endif %}", "{% if i == 3 %}{% break %}{% endif %}", "{% break %}", "{% continue %}")) + self.text() + \
            "{{ loop.last }}{% else %}" + self.text() + "{% endfor %}"

    # ---- damage

    def damaged(self, source):
        """`source` with one to three tokens dropped, doubled, replaced or swapped."""
        rng = self.rng
        tokens = TOKENS.findall(source)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            if not tokens:
                break
            at = rng.randrange(len(tokens))
            kind = rng.random()
            if kind < 0.3:
                del tokens[at]
            elif kind < 0.45:
                tokens.insert(at, tokens[at])
            elif kind < 0.65:
                tokens[at] = rng.choice(INSERTS)
            elif kind < 0.8:
                tokens.insert(at, rng.choice(INSERTS))
            else:
                other = rng.randrange(len(tokens))
                tokens[at], tokens[other] = tokens[other], tokens[at]
        return "".join(tokens)
