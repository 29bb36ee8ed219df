"""The package as such: its stubs, its names, its documents and examples."""
import pathlib
import re
import runpy
import subprocess
import sys

import pytest

import rondo

REPO = pathlib.Path(__file__).resolve().parents[2]
# These talk to a server: tests/examples/training_example_test.py runs them.
SERVED = ("training_rows.py", "trainer_rollouts.py")
EXAMPLES = sorted(path for path in (REPO / "examples" / "python").glob("*.py") if path.name not in SERVED)


def test_the_stubs_are_those_of_the_module(tmp_path):
    """After a change: python -m nanobind.stubgen -m rondo._rondo -o python/rondo/_rondo.pyi"""
    pytest.importorskip("nanobind")
    out = tmp_path / "_rondo.pyi"
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "rondo._rondo", "-o", out], check=True)
    assert out.read_text(encoding="utf-8") == (REPO / "python" / "rondo" / "_rondo.pyi").read_text(encoding="utf-8")


def test_every_public_name_is_there_and_documented():
    for name in rondo.__all__:
        assert getattr(rondo, name) is not None
        if name != "__version__":
            assert getattr(rondo, name).__doc__, name
    for kind in (rondo.Model, rondo.Encoded, rondo.Bridged, rondo.Parsed, rondo.ToolCall, rondo.StreamParser, rondo.Rollout):
        for name, member in vars(kind).items():
            if not name.startswith("_") and callable(member):
                assert member.__doc__, f"{kind.__name__}.{name}"


def test_versions_agree():
    project = (REPO / "pyproject.toml").read_text(encoding="utf-8")
    assert re.search(r'^version = "(.*)"', project, re.MULTILINE)[1] == rondo.__version__


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example(example, tiny_folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(example), str(tiny_folder)])
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out
