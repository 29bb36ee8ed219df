"""The two sides of a comparison: what the reference makes of a case, and what `rondo batch` makes of it.

An answer is a tuple (kind, text).  Kinds: "text", "syntax", "raised" (by raise_exception), "error" and, on the reference's
side only, "compile" (a template that it accepts and then cannot turn into Python) and "slow".
"""
import copy
import json
import re
import resource
import signal
import subprocess
import sys
import tempfile
import types
import warnings

from tools.oracles import jinja_reference

SECONDS = 2
LONGEST_TEXT = 1 << 20
MEMORY_BYTES = 3 << 30
ADDRESS = re.compile(r"(?: at |%20at%20)0x[0-9a-f]+")
KINDS = {"template_syntax": "syntax", "template_raised": "raised"}
NOW = jinja_reference.NOW.isoformat()


class _LooksLikeStr(type(str)):
    def __instancecheck__(cls, value):
        return isinstance(value, str)


class clean_str(str, metaclass=_LooksLikeStr):  # noqa: N801 - stands where the reference says `str`
    """str() without memory addresses."""

    def __new__(cls, value="", *rest):
        text = str(value, *rest)
        return text if type(value) is str or " at 0x" not in text else type(text)(ADDRESS.sub("", text))


def first_choice(items):
    """random.choice(), but always the first: that is what rondo takes."""
    if len(items) == 0:
        raise IndexError
    return items[0]


def make_repeatable(env):
    """Makes the reference print objects without their addresses, wherever it turns values into text, and choose nothing by chance."""
    import markupsafe
    from jinja2 import compiler, filters, runtime

    escape_text = markupsafe.escape

    def soft_str(value):
        return value if isinstance(value, str) else clean_str(value)

    def escape(value):
        return escape_text(value if isinstance(value, str) or hasattr(value, "__html__") else clean_str(value))

    class Template(env.template_class):
        @classmethod
        def from_code(cls, environment, code, global_names, uptodate=None):
            names = {"environment": environment, "__file__": code.co_filename, "str": clean_str}
            exec(code, names)  # what the class does itself, with one more name
            out = cls._from_namespace(environment, names, global_names)
            out._uptodate = uptodate
            return out

    env.template_class = Template
    compiler.CodeGenerator._default_finalize = staticmethod(clean_str)
    filters.str = clean_str
    filters.soft_str, filters.escape = soft_str, escape
    runtime.escape, runtime.soft_str = escape, soft_str
    runtime.str_join = lambda values: "".join(map(clean_str, values))
    markupsafe.escape = escape
    for name in ("e", "escape"):
        env.filters[name] = escape
    env.filters["string"] = soft_str
    filters.random = types.SimpleNamespace(choice=first_choice)
    env.filters["forceescape"] = lambda value: escape(clean_str(value.__html__() if hasattr(value, "__html__") else value))


class TooSlow(BaseException):
    pass


def _alarm(_number, _frame):
    raise TooSlow


class Reference:
    def __init__(self):
        self.jinja2 = jinja_reference.load()
        self.env = jinja_reference.environment()
        make_repeatable(self.env)
        warnings.simplefilter("ignore")
        signal.signal(signal.SIGALRM, _alarm)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
        sys.setrecursionlimit(1000)

    def answers(self, template, contexts):
        """One answer per context."""
        try:
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            try:
                compiled = self.env.from_string(template)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except TooSlow:
            return [("slow", "")] * len(contexts)
        except self.jinja2.TemplateSyntaxError as error:
            return [("syntax", error.message or "")] * len(contexts)
        except Exception as error:
            return [("compile", str(error))] * len(contexts)
        # The filter `indent` adds to its subject in place before it finds that a list is no string.
        changes = "indent" in template
        return [self._render(compiled, copy.deepcopy(context) if changes else context) for context in contexts]

    def _render(self, compiled, context):
        try:
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            try:
                text = compiled.render(context)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except TooSlow:
            return "slow", ""
        except Exception as error:
            raised = type(error) is self.jinja2.exceptions.TemplateError
            try:
                return "raised" if raised else "error", str(error)
            except Exception:  # an exception whose text cannot be made, e.g. with an undefined value in it
                return "raised" if raised else "error", ""
        if len(text) > LONGEST_TEXT:  # nothing to keep in memory twenty times
            return "slow", ""
        return "text", ADDRESS.sub("", text) if "0x" in text else text


def _whole_memory():
    """The limit is for the reference only; sanitizers need all addresses."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def request(template_json, context_json):
    return '{"op":"jinja","now":"' + NOW + '","template":' + template_json + ',"context":' + context_json + "}\n"


def answer(reply):
    if "text" in reply:
        return "text", reply["text"]
    error = reply["error"]
    return KINDS.get(error["code"], "error" if error["code"] in ("template_error", "limit") else error["code"]), error["message"]


class Subject:
    """Runs `rondo batch` over many requests, each time in a new process."""

    def __init__(self, program):
        self.program = program

    def start(self, requests):
        with tempfile.TemporaryFile() as source:
            source.writelines(line.encode("utf-8") for line in requests)
            source.seek(0)
            self.replies = tempfile.TemporaryFile()
            return subprocess.Popen([self.program, "batch"], stdin=source, stdout=self.replies, preexec_fn=_whole_memory)

    def finish(self, process, count):
        """`count` answers; what a crash left unanswered is the answer ("crash", ...)."""
        status = process.wait()
        self.replies.seek(0)
        out = [answer(json.loads(line)) for line in self.replies]
        self.replies.close()
        return out + [("crash", f"exit status {status}")] * (count - len(out))


class Asker:
    """Asks one running `rondo batch`, for many single questions."""

    def __init__(self, program):
        self.program = program
        self.process = None

    def ask(self, template, context):
        if self.process is None:
            self.process = subprocess.Popen([self.program, "batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            preexec_fn=_whole_memory)
        self.process.stdin.write(request(json.dumps(template), json.dumps(context)).encode("utf-8"))
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if line:
            return answer(json.loads(line))
        self.process = None
        return "crash", ""


def agree(want, got):
    """Whether the two answers count as equal."""
    if want[0] == "text" or got[0] == "text":
        return want == got
    if want[0] == "compile":
        return got[0] in ("syntax", "error")
    if want[0] == "raised":
        return want == got
    return want[0] == got[0]
