"""docs/tutorial.md: its part for Python gives what the page says."""
import doctest
import pathlib
import shutil

REPO = pathlib.Path(__file__).resolve().parents[2]


def test_the_tutorials_python_gives_what_its_page_says(tmp_path, monkeypatch):
    shutil.copytree(REPO / "examples/model", tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(REPO / "docs/tutorial.md"), module_relative=False)
    assert found.attempted > 5
    assert found.failed == 0
