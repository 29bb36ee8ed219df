"""Suites of rondo as tests of pytest: files that end in .rondo.yaml, .rondo.yml or .rondo.json (docs/tester.md)."""
import pytest

from . import errors

_ENDINGS = (".rondo.yaml", ".rondo.yml", ".rondo.json")


def pytest_addoption(parser):
    parser.getgroup("rondo").addoption("--rondo-model", metavar="PATH", default=None,
                                       help="the model that suites of rondo are run with, in place of what they name")


def pytest_collect_file(file_path, parent):
    if file_path.name.endswith(_ENDINGS):
        return SuiteFile.from_parent(parent, path=file_path)
    return None


class SuiteFile(pytest.File):
    def collect(self):
        from .testing import load_suite
        try:
            suite, model = load_suite(self.path, self.config.getoption("--rondo-model"))
        except errors.Error as error:
            raise self.CollectError(str(error)) from error
        for index, (name, line) in enumerate(suite.cases):
            yield CaseItem.from_parent(self, name=name, suite=suite, model=model, index=index, line=line)


class CaseFailure(AssertionError):
    """A case that failed; its text is all that there is to show."""


class CaseItem(pytest.Item):
    def __init__(self, *, suite, model, index, line, **kwargs):
        super().__init__(**kwargs)
        self._suite, self._model, self._index, self._line = suite, model, index, line

    def runtest(self):
        result = self._suite.run(self._index, self._model)
        for note in result["notes"]:
            self.add_report_section("call", "rondo", note)
        if not result["passed"]:
            lines = sorted({failure.get("line", 0) for failure in result["failures"]})
            where = ", ".join(str(line) for line in lines if line)
            raise CaseFailure(result["text"] + (f"{self.path.name}, line {where}" if where else ""))

    def repr_failure(self, excinfo):
        if isinstance(excinfo.value, CaseFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, max(self._line - 1, 0), self.name
