"""Fail when a source file includes a folder its own folder may not see.

Usage: python3 -m tools.lint.check_layers LAYERS ROOT
LAYERS: one line per folder, "folder: dep dep ..." ('#' starts a comment). ROOT: the folder that holds them (src/rondo).
A folder of a folder that holds sources is a room, and has a line of its own: "folder/room: dep folder/room ...". "folder" alone
stands for the files beside the rooms.
An include is "rondo/folder/file.h" or "folder/file.h", quoted or in angle brackets; the first part after rondo/ counts, and for a room
the second one. Relative includes ("../x.h") are refused. Includes of what is no folder of ROOT (third-party, system) are not judged.
LAYERS names each folder and room of ROOT, and no other.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+["<](?:rondo/)?([\w.-]+)/(?:([\w.-]+)/)?[^">]+[">]')
SOURCES = {".h", ".hpp", ".cc", ".cpp"}


def read_layers(path):
    layers = {}
    for line in pathlib.Path(path).read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            name, _, deps = line.partition(":")
            layers[name.strip()] = set(deps.split())
    return layers


def find_cycle(layers):
    done, path = set(), []

    def visit(name):
        if name in path:
            return path[path.index(name):] + [name]
        if name in done:
            return None
        path.append(name)
        for dep in sorted(layers.get(name, ())):
            if (cycle := visit(dep)):
                return cycle
        path.pop()
        done.add(name)
        return None

    for name in layers:
        if (cycle := visit(name)):
            return cycle
    return None


def units_of(root):
    """The folders of `root`, and their rooms as "folder/room"."""
    folders = [path for path in pathlib.Path(root).iterdir() if path.is_dir()]
    rooms = [path for folder in folders for path in folder.iterdir()
             if path.is_dir() and any(file.suffix in SOURCES for file in path.iterdir())]
    return {path.relative_to(root).as_posix() for path in folders + rooms}


def unit_of(layers, folder, room):
    """The room if there is one of that name, else the folder."""
    return f"{folder}/{room}" if f"{folder}/{room}" in layers else folder


def main(layers_file, root):
    layers = read_layers(layers_file)
    folders = units_of(root)
    wrong = [f"names `{name}`, which is no folder of {root}" for name in sorted(set(layers).union(*layers.values()) - folders)]
    wrong += [f"has no line for `{name}`" for name in sorted(folders - layers.keys())]
    if wrong:
        sys.exit("\n".join(f"{layers_file}: {what}" for what in wrong))
    if cycle := find_cycle(layers):
        sys.exit(f"{layers_file}: cycle: {' -> '.join(cycle)}")
    bad = 0
    for file in sorted(pathlib.Path(root).rglob("*")):
        if file.suffix not in SOURCES:
            continue
        folder = unit_of(layers, *(*file.relative_to(root).parts, "")[:2])
        if folder not in layers:
            continue
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            to = unit_of(layers, match[1], match[2])
            if to == ".." or (to in layers and to != folder and to not in layers[folder]):
                print(f"{file}:{number}: {folder} may not include {to}")
                bad += 1
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
