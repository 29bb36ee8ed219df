"""Tests of wheels: installed in empty environments on this machine."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import urllib.request

from tools.corpus import fixtures
from tools.dependencies import cache
from tools.packaging import cross

# What the tutorial's commands call beside rondo; where nothing else is to be found, there is no compiler.
SHELL_TOOLS = ("sh", "cat", "head", "grep")
COMPILERS = ("cc", "gcc", "c++", "g++", "clang", "clang++", "cmake", "ninja", "make")

ABI3_SINCE = 12  # the minor version of Python from which on one wheel is for all


def _candidates(name):
    """Where a Python may be: on PATH, and with those that pyenv and uv manage, which PATH need not show."""
    yield shutil.which(name)
    home = pathlib.Path.home()
    for folder in (pathlib.Path(os.environ.get("PYENV_ROOT") or home / ".pyenv") / "versions",
                   pathlib.Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or home / ".local" / "share" / "uv" / "python")):
        yield from map(str, sorted(folder.glob(f"*/bin/{name}"), reverse=True))


def _works(python):
    return python and subprocess.run([python, "-c", "import venv, encodings"], capture_output=True, check=False).returncode == 0


def interpreters():
    """The Pythons of this machine that a wheel is for, one of each version."""
    found = {minor: next(filter(_works, _candidates(f"python3.{minor}")), None) for minor in range(11, 20)}
    return {minor: python for minor, python in found.items() if python}


def _environment(python, folder, wheels, *packages, ours="rondo"):
    """The Python of a new environment with our package and others, none of which is compiled here."""
    shutil.rmtree(folder, ignore_errors=True)
    cross.run([python, "-m", "venv", "--without-pip", folder])
    inside = folder / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", inside, "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir",
               "--only-binary", ":all:"]
    cross.run([*install, "numpy", *packages])
    cross.run([*install, "--no-index", "--find-links", wheels, ours])
    return inside


def test_module(python, minor, wheels):
    """The program, and the tests of the module."""
    folder = wheels / f"test-3.{minor}"
    inside = _environment(python, folder, wheels, "pytest", "pydantic")
    environment = {"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1",
                   **{name: value for name, value in os.environ.items() if name.startswith("RONDO_")}}
    cross.run(["rondo", "--version"], env=environment, executable=folder / "bin" / "rondo")
    cache.say(f"the tests of the module, installed from the wheel, with Python 3.{minor}")
    cross.run([inside, "-m", "pytest", "-q", "-p", "no:cacheprovider", cache.REPO / "tests" / "python"], env=environment, cwd=folder)


def _repeated(page, ask):
    """The page with what `ask` prints for the commands of its blocks `console`: behind `$ `, going on behind `>`."""
    out = []
    lines = page.split("\n")
    is_console = False
    while lines:
        line = lines.pop(0)
        if line.startswith("```"):
            is_console = not is_console and line == "```console"
        if not is_console or line == "```console":
            out.append(line)
        elif line.startswith("$ "):
            out.append(line)
            command = [line[2:]]
            while lines and lines[0].startswith(">"):
                command.append(lines[0][2:])
                out.append(lines.pop(0))
            out += ask("\n".join(command)).splitlines()
    return "\n".join(out)


def test_bare(python, wheels):
    """The tutorial, with the program of the wheel, where there is no compiler and no variable of this machine."""
    folder = wheels / "test-bare"
    _environment(python, folder, wheels)
    tools = folder / "tools"
    tools.mkdir()
    for name in SHELL_TOOLS:
        (tools / name).symlink_to(shutil.which(name))
    path = f"{folder / 'bin'}:{tools}"
    found = [name for name in COMPILERS if shutil.which(name, path=path)]
    if found:
        cache.fail(f"the environment without compilers has {found}")
    work = folder / "work"
    shutil.copytree(cache.REPO / "examples" / "model", work / "model")

    def ask(command):
        done = subprocess.run([tools / "sh", "-c", f"{{ {command}\n}} 2>&1"], cwd=work, env={"PATH": path, "HOME": str(folder), "RONDO_CACHE": str(folder / "cache")},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
        text = done.stdout.decode("utf-8")
        return text if done.returncode == 0 else f"{text}[exit status {done.returncode}]\n"

    page = (cache.REPO / "docs" / "tutorial.md").read_text(encoding="utf-8")
    again = _repeated(page, ask)
    for wanted, got in zip(page.split("\n"), again.split("\n")):
        if wanted != got:
            cache.fail(f"the tutorial says `{wanted}`, and the wheel's program prints `{got}`")
    if len(page) != len(again):
        cache.fail("the wheel's program prints more or less than the tutorial says")
    cache.say("the tutorial's commands, in an environment without compilers")


def test_engine(python, wheels):
    """A conversation of two turns with the server, which `rondo` finds in the other wheel; the model is the small random one."""
    folder = wheels / "test-engine"
    _environment(python, folder, wheels, ours="rondo[engine]")
    if not fixtures.prefix().is_dir():
        cache.fail("the test of the engine needs the test data; run ./dev setup")
    environment = {"PATH": str(folder / "bin"), "HOME": str(folder), "RONDO_FIXTURES": str(fixtures.prefix())}
    command = [folder / "bin" / "rondo", "serve", "--port", "0", "--json", "--store", "memory"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            line = server.stdout.readline()
            if not line:
                cache.fail("the server of the wheel does not start")
            messages = [{"role": "user", "content": "Hello"}]
            for reused in (False, True):
                body = json.dumps({"messages": messages, "max_tokens": 16}).encode()
                request = urllib.request.Request(json.loads(line)["url"] + "/v1/chat/completions", body, {"Content-Type": "application/json"})
                with urllib.request.urlopen(request, timeout=60) as reply:
                    answer = json.load(reply)
                if answer["usage"]["completion_tokens"] == 0:
                    cache.fail("the server of the wheel does not answer")
                if (answer["usage"]["prompt_tokens_details"]["cached_tokens"] > 0) != reused:
                    cache.fail(f"the wrong part of the prompt was reused: {answer['usage']}")
                messages += [answer["choices"][0]["message"], {"role": "user", "content": "Go on"}]
        finally:
            server.terminate()
    cache.say("a conversation with the engine, installed as rondo[engine]")


def test(wheels, with_engine):
    found = interpreters()
    if not found:
        cache.fail("the tests need Python 3.11 or later")
    for minor, python in found.items():
        test_module(python, minor, wheels)
    if max(found) < ABI3_SINCE:
        cache.say(f"NOT TESTED: the wheel for Python 3.{ABI3_SINCE} and later; there is no such Python here, on PATH or of pyenv or uv")
    test_bare(found[max(found)], wheels)
    if with_engine:
        test_engine(found[max(found)], wheels)
