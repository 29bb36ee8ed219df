"""The reference packages: installed ones, else the pinned ones of tools/dependencies/packages.json, unpacked into the cache."""
import importlib.util
import sys

from tools.dependencies import fetch


def need(name):
    """Makes the package importable, or ends the program well where it is not to be had."""
    if importlib.util.find_spec(name) is not None:
        return
    folder = fetch.wheel(name)
    if folder is None:
        print(f"skipped: {name} is not to be had here")
        sys.exit(0)
    sys.path.insert(0, str(folder))
