"""A running `rondo serve` whose engine is `rondo fake-engine`, for tests in Python.

The model is tests/golden/batch/model; what it answers to which question is said in a script.  Its ids below 256 are bytes.
"""
import contextlib
import functools
import json
import pathlib
import subprocess
import urllib.request

REPO = pathlib.Path(__file__).resolve().parents[2]
MODEL = REPO / "tests" / "golden" / "batch" / "model"
MARKERS = {"[[": 282, "~fin~": 283, "{!do": 284, "do!}": 285, "(*mull": 286, "mull*)": 287, "<bos>": 288}
END = MARKERS["~fin~"]


def ids_of(text):
    """The text with its markers as ids."""
    out, at = [], 0
    while at < len(text):
        marker = next((one for one in MARKERS if text.startswith(one, at)), None)
        out += [MARKERS[marker]] if marker else list(text[at].encode())
        at += len(marker or text[at])
    return out


def post(url, body, headers=None):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json", **(headers or {})})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.loads(reply.read())


@contextlib.contextmanager
def running(program, *arguments):
    """The program until the end of the block, and what its ready line says."""
    process = subprocess.Popen([str(program), *map(str, arguments), "--json"], stdout=subprocess.PIPE, text=True)
    try:
        yield json.loads(process.stdout.readline()), process
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@functools.cache
def _script(program, answers):
    """The engine's script: the ids with which a prompt ends that asks the question, and the answer."""
    rules = []
    with running(program, "fake-engine", "vllm", "--generate", "on") as (bare, _), gateway(program, bare["url"]) as (url, _):
        for question, answer in answers:
            ids = post(url + "/v1/responses/render", {"input": question})["token_ids"]
            openings = [i for i, one in enumerate(ids) if one == MARKERS["[["]]
            rules.append({"suffix": ids[openings[-2]:], "completion": [*ids_of(answer), END]})
    return json.dumps({"vocabulary": 289, "end_ids": [END], "rules": rules})


@contextlib.contextmanager
def engine(program, answers, *options):
    """The address of an engine that answers so."""
    script = _script(program, tuple(answers.items()))
    with running(program, "fake-engine", "vllm", "--generate", "on", "--script", script, *options) as (ready, _):
        yield ready["url"]


@contextlib.contextmanager
def gateway(program, engine_url, *options):
    """The address of a gateway before that engine, and its process."""
    with running(program, "serve", MODEL, "--port", "0", "--url", engine_url, *options) as (ready, process):
        yield ready["url"], process


@contextlib.contextmanager
def served(program, answers, *options, engine_options=()):
    """The address of a gateway whose engine answers so."""
    with engine(program, answers, *engine_options) as engine_url, gateway(program, engine_url, *options) as (url, _):
        yield url
