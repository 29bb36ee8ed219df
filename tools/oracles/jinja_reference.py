"""The reference of the template engine: jinja2 from its pinned source package, set up as transformers does.

Usage: python3 -m tools.oracles.jinja_reference      unpacks it into the cache; prints the folder on the last line

The folder holds jinja2/ and markupsafe/ (pure Python) to import, and tests/, jinja2's own tests.  `load()` puts it first
on the import path, so that what is installed on the machine has no say.
"""
import contextlib
import datetime
import json
import pathlib
import shutil
import sys
import tarfile

from tools.dependencies import cache, fetch

VERSION = 2  # of this script: raise it when what it writes changes
NAMES = ("jinja2", "markupsafe")
NOW = datetime.datetime(2026, 3, 14, 15, 9, 26)


def prefix():
    return cache.root() / ("jinja2-" + cache.key(VERSION, *(fetch.PACKAGES[name]["sha256"] for name in NAMES)))


def _unpack(archive, folder, wanted):
    """These folders of a source package; what is in src/ without it."""
    with tarfile.open(archive) as tar:
        for member in tar:
            parts = pathlib.PurePosixPath(member.name).parts[1:]
            if not member.isfile() or parts[0] not in wanted or ".." in parts:
                continue
            target = folder.joinpath(*(parts[1:] if parts[0] == "src" else parts))
            target.parent.mkdir(parents=True, exist_ok=True)
            with tar.extractfile(member) as source, open(target, "wb") as out:
                shutil.copyfileobj(source, out)


def unpack():
    """Unpacks everything unless that has been done; returns the folder."""
    def fill(folder):
        for name, wanted in zip(NAMES, (("src", "tests"), ("src",))):
            _unpack(fetch.package(name), folder, wanted)

    return cache.filled(prefix(), fill)


def available():
    """The folder, or None where it cannot be had (no network)."""
    with contextlib.suppress(SystemExit):
        return unpack()
    return None


def load():
    """Makes `import jinja2` give the reference; returns the module.  REQUIRES: jinja2 was not imported before."""
    sys.path.insert(0, str(unpack()))
    import jinja2
    return jinja2


def environment(now=NOW, **options):
    """transformers' environment for chat templates, at a fixed time.  REQUIRES: load() was called."""
    import jinja2
    from jinja2.ext import Extension
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(Extension):
        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            return jinja2.nodes.CallBlock(self.call_method("_write"), [], [], body).set_lineno(line)

        @jinja2.pass_eval_context
        def _write(self, context, caller):
            return caller()

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def strftime_now(format):  # noqa: A002 - the name that templates use
        return now.strftime(format)

    env = ImmutableSandboxedEnvironment(
        **{"trim_blocks": True, "lstrip_blocks": True, "extensions": [Generation, "jinja2.ext.loopcontrols"], **options})
    for function in (tojson, raise_exception, strftime_now):
        function.__qualname__ = function.__name__  # messages name it, not where it is defined
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = strftime_now
    return env


if __name__ == "__main__":
    print(unpack())
