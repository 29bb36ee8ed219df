"""Stand-ins for the modules of an engine that a test does not name, and for what is not installed.

An engine's parsers import its whole server: torch, kernels, schedulers.  Named modules are the engine's own files; all others
hold, under every name, a class that takes everything.
"""
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import sys
import types

from pydantic_core import core_schema


class _Meta(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything

    def __or__(cls, other):
        return object

    __ror__ = __or__

    def __getitem__(cls, key):
        return cls

    def __contains__(cls, key):
        return False

    def __iter__(cls):
        return iter(())

    def __bool__(cls):
        return False

    def __index__(cls):
        return 1 << 20

    def __call__(cls, *given, **named):
        if len(given) == 1 and not named and callable(given[0]):
            return given[0]  # a decorator
        return cls if cls is Anything else super().__call__()


class Anything(metaclass=_Meta):
    """Every attribute, item and call of it is it; as a decorator it changes nothing."""

    def __init_subclass__(cls, **named):
        pass

    @classmethod
    def __get_pydantic_core_schema__(cls, source, handler):
        return core_schema.any_schema()


class _Module(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules of one engine: `real` ones from `folder`, stand-ins for others, and for packages that are not installed."""

    def __init__(self, package, folder, real):
        self.package, self.folder, self.real = package, folder, frozenset(real)
        self.missing = set()

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if self._file(name.rpartition(".")[0]):
            return None  # a module that is no package has none below it
        if top == self.package and name in self.real:
            file = self._file(name)
            if file:
                return importlib.util.spec_from_file_location(name, file)
            file = self.folder.joinpath(*name.split("."), "__init__.py")
            return importlib.util.spec_from_file_location(name, file, submodule_search_locations=[])
        if top != self.package and not self._is_missing(name, top):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def _file(self, name):
        file = self.folder.joinpath(*name.split(".")).with_suffix(".py")
        return file if name in self.real and file.exists() else None

    def _is_missing(self, name, top):
        if name == top and top not in sys.builtin_module_names and importlib.machinery.PathFinder.find_spec(name) is None:
            self.missing.add(top)
        return top in self.missing

    def create_module(self, spec):
        return _Module(spec.name)

    def exec_module(self, module):
        pass


def install(package, folder, real):
    """Puts a Finder in front of all others."""
    sys.meta_path.insert(0, Finder(package, folder, real))
    for name in real:
        importlib.import_module(name)
