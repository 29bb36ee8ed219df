"""The jinja2 worker of jinja_bench.py; the line protocol is described there.

The environment is that of transformers' apply_chat_template.
"""
import datetime
import json
import pathlib
import sys
import time

import jinja2
import jinja2.ext
import jinja2.sandbox

NOW = datetime.datetime(2026, 1, 15, 10, 30)
# A batch of renders takes about this long, so that reading the clock costs nothing.
BATCH_US = 200


def cpu_us():
    """What this thread has spent on a processor, in microseconds."""
    return time.thread_time_ns() / 1e3


class Generation(jinja2.ext.Extension):
    """{% generation %}: only marks its body, which is rendered as it stands."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def environment():
    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = NOW.strftime
    return made


class Worker:
    def __init__(self):
        self.template = None
        self.variables = None

    def load(self, template, variables, output):
        source = pathlib.Path(template).read_text(encoding="utf-8")
        self.variables = json.loads(pathlib.Path(variables).read_text(encoding="utf-8"))
        start = cpu_us()
        self.template = environment().from_string(source)
        compile_us = cpu_us() - start
        pathlib.Path(output).write_bytes(self.template.render(**self.variables).encode())
        return [compile_us]

    def _batch_us(self, count):
        start = cpu_us()
        for _ in range(count):
            self.template.render(**self.variables)
        return cpu_us() - start

    def run(self, milliseconds):
        batch = max(1, int(BATCH_US / self._batch_us(1)))
        times, end = [], cpu_us() + float(milliseconds) * 1e3
        while len(times) < 3 or cpu_us() < end:
            times.append(self._batch_us(batch) / batch)
        times.sort()
        return [times[len(times) // 2], len(times) * batch]


def main():
    worker = Worker()
    for line in sys.stdin:
        command, *fields = line.rstrip("\n").split("\t")
        try:
            answer = ["ok", *{"load": worker.load, "run": worker.run}[command](*fields)]
        except Exception as error:  # whatever the template raises is an answer
            answer = ["error", f"{type(error).__name__}: {error}".replace("\n", " ").replace("\t", " ")]
        print("\t".join(map(str, answer)), flush=True)


if __name__ == "__main__":
    main()
