"""Makes a differing case small: fewer tokens in the template, fewer and simpler variables."""
from . import sides
from .templates import TOKENS

SIMPLE = ["", "1", "'a'", "x", "n", "s", "[]"]
STEPS = 400


class Minimiser:
    def __init__(self, reference, program):
        self.reference = reference
        self.asker = sides.Asker(program)

    def answers(self, template, context):
        return self.reference.answers(template, [context])[0], self.asker.ask(template, context)

    def minimise(self, template, context):
        """The smaller template and context, and both answers."""
        want, got = self.answers(template, context)
        kinds = (want[0], got[0])
        if want[0] == "slow" or sides.agree(want, got):
            return template, context, want, got
        self.steps = STEPS

        def differs(new_template, new_context):
            self.steps -= 1
            if self.steps < 0:
                return False
            new_want, new_got = self.answers(new_template, new_context)
            return (new_want[0], new_got[0]) == kinds and not sides.agree(new_want, new_got)

        tokens = self._shorter(TOKENS.findall(template), lambda some: differs("".join(some), context))
        template = "".join(tokens)
        context = {name: value for name, value in context.items() if name in template} if differs(
            template, {name: value for name, value in context.items() if name in template}) else context
        for name in list(context):
            without = {key: value for key, value in context.items() if key != name}
            if differs(template, without):
                context = without
        for name in list(context):
            context = self._simpler(template, context, name, differs)
        return template, context, *self.answers(template, context)

    def _shorter(self, tokens, holds):
        size = len(tokens) // 2
        while size >= 1:
            at = 0
            while at < len(tokens):
                without = tokens[:at] + tokens[at + size:]
                if holds(without):
                    tokens = without
                else:
                    at += size
            size //= 2
        return tokens

    def _simpler(self, template, context, name, differs):
        value = context[name]
        if isinstance(value, str):
            for size in (len(value) // 2, len(value) // 4, 2, 1):
                at = 0
                while size > 0 and at < len(value):
                    shorter = value[:at] + value[at + size:]
                    if differs(template, {**context, name: shorter}):
                        value = shorter
                        context = {**context, name: value}
                    else:
                        at += size
        elif isinstance(value, (list, dict)):
            for key in list(value) if isinstance(value, dict) else range(len(value) - 1, -1, -1):
                smaller = value.copy()
                del smaller[key]
                if differs(template, {**context, name: smaller}):
                    value = smaller
                    context = {**context, name: value}
        return context
