"""A build backend that builds nothing.

`pip download` of a source package asks the package's build backend for metadata: pip would fetch that backend un-pinned
and run it.  With this folder first on PYTHONPATH and --no-build-isolation, pip asks this module instead, which answers
with the metadata that the package already carries (PKG-INFO).  No code of the package or of its backend runs.
"""
import email.parser
import pathlib


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    text = pathlib.Path("PKG-INFO").read_text(encoding="utf-8")
    fields = email.parser.HeaderParser().parsestr(text)
    name = f"{fields['Name'].replace('-', '_')}-{fields['Version']}.dist-info"
    folder = pathlib.Path(metadata_directory) / name
    folder.mkdir()
    (folder / "METADATA").write_text(text, encoding="utf-8")
    (folder / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: rondo\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    raise RuntimeError("this stand-in only answers for metadata; nothing is built through pip")
