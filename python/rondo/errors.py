"""What rondo raises: a small family of exceptions.

Every one is an `Error` with

* ``code``: the name to branch on, as in the line protocol (``"template_raised"``, ``"bad_request"``, ...),
* ``message``: a sentence without its place,
* ``place``: where it is about, as text (``"chat_template.jinja:12:5"``, ``"messages[0].content"``), or None,
* ``source``, ``line``, ``column`` (from 1; 0: unknown), ``offset`` (bytes, or None), ``trail`` (callers in a template).

``str(error)`` is the message with its place and, where known, the line with a caret.
"""


class Error(Exception):
    """The family.  Raised as itself only for a fault in rondo (code ``internal``)."""

    code = "internal"
    message = ""
    source = ""
    line = 0
    column = 0
    offset = None
    trail = ()

    @property
    def place(self):
        if self.line:
            return f"{self.source or 'template'}:{self.line}:{self.column}"
        if self.offset is not None:
            return f"{self.source}:{self.offset}" if self.source else f"offset {self.offset}"
        return self.source or None

    def __reduce__(self):
        return _restored, (type(self), self.args, dict(self.__dict__))


def _restored(kind, arguments, state):
    exception = kind(*arguments)
    exception.__dict__.update(state)
    return exception


class InvalidArgumentError(Error, ValueError):
    """The call itself does not fit: a wrong type, a missing field, an impossible option (``bad_request``)."""

    code = "bad_request"


class NotFoundError(Error, FileNotFoundError):
    """A named file or entry does not exist (``not_found``)."""

    code = "not_found"

    def __str__(self):
        return self.args[0] if self.args else ""


class TemplateError(Error):
    """A template does not parse, failed, or refused the conversation (``template_syntax``, ``template_error``,
    ``template_raised``; of the last the message is exactly what the template said)."""

    code = "template_error"


class TokenizerError(Error, ValueError):
    """A tokenizer file is damaged or of an unsupported kind, or an id is out of range (``tokenizer_error``)."""

    code = "tokenizer_error"


class ParseError(Error, ValueError):
    """Strict parsing met text that does not fit the format (``parse_error``)."""

    code = "parse_error"


class BridgeError(Error):
    """The next turn cannot be appended (``cannot_bridge``)."""

    code = "cannot_bridge"


class LimitError(Error):
    """A limit on time, depth or size was reached (``limit``)."""

    code = "limit"


class UnsupportedError(Error):
    """Well-formed, but this build or this model cannot serve it (``unsupported``)."""

    code = "unsupported"


_KINDS = {
    "bad_request": InvalidArgumentError,
    "not_found": NotFoundError,
    "template_syntax": TemplateError,
    "template_raised": TemplateError,
    "template_error": TemplateError,
    "tokenizer_error": TokenizerError,
    "parse_error": ParseError,
    "cannot_bridge": BridgeError,
    "limit": LimitError,
    "unsupported": UnsupportedError,
}


def make(code, message, source, line, column, offset, trail, shown):
    """The exception for an error of the library.  Called by the extension module."""
    exception = _KINDS.get(code, Error)(shown)
    exception.code, exception.message, exception.source = code, message, source
    exception.line, exception.column, exception.offset, exception.trail = line, column, offset, tuple(trail)
    return exception
