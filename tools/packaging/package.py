"""Makes archives of the command line and Debian packages, which need nothing where they are unpacked: build/packages.

Usage: python3 -m tools.packaging.package [--test] [PROCESSOR...]      x86_64, aarch64; without one: this machine's

The program is linked statically, with musl; it has no engine and no server.  With it come man pages, completion for shells, and the
terms of what is linked in.  --test unpacks and installs what is for this machine in an empty folder, runs it with nothing else
there (as root, else in place), and removes it.
"""
import gzip
import io
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib

from tools.dependencies import cache, fetch
from tools.packaging import cross

BUILD = cache.REPO / "build" / "packages"
PROCESSORS = {"x86_64": ("amd64", "EM_X86_64"), "aarch64": ("arm64", "EM_AARCH64")}  # as Debian and ELF name them
REVISION = 1
MODEL = cache.REPO / "examples" / "model"
RENDERED = "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n"
CONTROL = """\
Package: rondo
Version: {version}
Architecture: {architecture}
Maintainer: The authors of rondo <rondo@rondo.invalid>
Installed-Size: {kilobytes}
Section: utils
Priority: optional
Description: chat messages to token ids and back, by a model's own template
 rondo takes the chat template and the tokenizer of any chat model.  It renders
 messages to text and token ids, says where every byte of a prompt comes from,
 parses what the model writes, and finds where a template's next prompt is not
 the continuation of the last one.
"""
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: rondo

Files: *
Copyright: the authors of rondo
License: Apache-2.0
 On Debian systems the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
Comment:
 What is linked in has terms of its own; they stand in
 /usr/share/doc/rondo/third-party.txt.gz.
"""
# lintian asks why.
OVERRIDES = """\
# One program for all releases of Debian, with its C++ library, PCRE2 and libyaml inside.
rondo: statically-linked-binary [usr/bin/rondo]
rondo: embedded-library
# It is not made for Debian's archive.
rondo: initial-upload-closes-no-bugs
"""
# Where Debian looks for what tools/packaging/shell_files.py writes elsewhere.
DEBIAN_PLACES = {"zsh/site-functions": "zsh/vendor-completions"}


def version():
    return tomllib.loads((cache.REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def moment():
    """Seconds: when the sources were last changed, so that the same sources make the same files."""
    found = subprocess.run(["git", "-C", cache.REPO, "log", "-1", "--format=%ct"], capture_output=True, text=True, check=False)
    return int(os.environ.get("SOURCE_DATE_EPOCH") or found.stdout.strip() or 0)


def squeezed(text):
    return gzip.compress(text.encode("utf-8"), 9, mtime=0)


def program(processor):
    return cross.build(f"{processor}-linux-musl", f"program-{processor}", ["rondo"], f"-DCMAKE_EXE_LINKER_FLAGS={cross.SMALL_ELF}") / "rondo"


def shell_files(folder):
    """share/ as tools/packaging/shell_files.py writes it; the program for this machine tells what all of them say."""
    shutil.rmtree(folder, ignore_errors=True)
    cross.run([sys.executable, "-m", "tools.packaging.shell_files", "--program", program(platform.machine()), "--out", folder], cwd=cache.REPO)
    return folder


def inspect(path, processor):
    """Ends where the program is for another processor, or needs anything of a system."""
    from elftools.elf.elffile import ELFFile  # pylint: disable=import-outside-toplevel
    with open(path, "rb") as file:
        read = ELFFile(file)
        needs = [segment.header.p_type for segment in read.iter_segments() if segment.header.p_type in ("PT_INTERP", "PT_DYNAMIC")]
        if read.header.e_machine != PROCESSORS[processor][1] or needs:
            cache.fail(f"{path} is for {read.header.e_machine} and has {needs}")


def archive(processor, made, shared):
    """rondo-VERSION-linux-PROCESSOR.tar.xz: bin/, share/, and the terms."""
    name = f"rondo-{version()}-linux-{processor}"
    path = BUILD / f"{name}.tar.xz"
    files = {"bin/rondo": made, "LICENSE": cache.REPO / "LICENSE", "README.md": cache.REPO / "README.md",
             **{f"share/{file.relative_to(shared)}": file for file in sorted(shared.rglob("*")) if file.is_file()}}
    contents = {place: file.read_bytes() for place, file in files.items()} | {"third-party.txt": cross.terms(is_static=True).encode()}
    with tarfile.open(path, "w:xz", preset=9) as tar:
        for place, content in sorted(contents.items()):
            entry = tarfile.TarInfo(f"{name}/{place}")
            entry.size, entry.mtime, entry.mode = len(content), moment(), 0o755 if place.startswith("bin/") else 0o644
            tar.addfile(entry, io.BytesIO(content))
    return path


def changelog():
    """Debian's own, of one entry."""
    date = subprocess.run(["date", "-u", "-R", "-d", f"@{moment()}"], capture_output=True, text=True, check=True).stdout.strip()
    return (f"rondo ({version()}-{REVISION}) unstable; urgency=medium\n\n  * See changelog.gz.\n\n"
            f" -- The authors of rondo <rondo@rondo.invalid>  {date}\n")


def lay_out(root, processor, made, shared):
    """The tree of a Debian package, DEBIAN/control included."""
    shutil.rmtree(root, ignore_errors=True)
    usr = root / "usr"
    (usr / "bin").mkdir(parents=True)
    shutil.copyfile(made, usr / "bin" / "rondo")
    about = {"copyright": COPYRIGHT.encode(), "third-party.txt.gz": squeezed(cross.terms(is_static=True)), "changelog.Debian.gz": squeezed(changelog()),
             "changelog.gz": squeezed((cache.REPO / "CHANGELOG.md").read_text(encoding="utf-8"))}
    contents = {f"share/doc/rondo/{name}": content for name, content in about.items()} | {"share/lintian/overrides/rondo": OVERRIDES.encode()}
    for file in shared.rglob("*"):
        place = str(file.relative_to(shared))
        for theirs, debians in DEBIAN_PLACES.items():
            place = place.replace(theirs, debians)
        if file.is_file() and place.startswith("man/"):
            contents[f"share/{place}.gz"] = squeezed(file.read_text(encoding="utf-8"))
        elif file.is_file():
            contents[f"share/{place}"] = file.read_bytes()
    for place, content in contents.items():
        (usr / place).parent.mkdir(parents=True, exist_ok=True)
        (usr / place).write_bytes(content)
    files = [path for path in root.rglob("*") if path.is_file()]
    control = CONTROL.format(version=f"{version()}-{REVISION}", architecture=PROCESSORS[processor][0],
                             kilobytes=sum(path.stat().st_size for path in files) // 1024 + 1)
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN" / "control").write_text(control, encoding="utf-8")
    sums = subprocess.run(["md5sum", *sorted(str(path.relative_to(root)) for path in files)], cwd=root, capture_output=True, text=True, check=True)
    (root / "DEBIAN" / "md5sums").write_text(sums.stdout, encoding="utf-8")
    for path in [root, *root.rglob("*")]:
        path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)


def debian_package(processor, made, shared):
    """rondo_VERSION_ARCHITECTURE.deb; None where there is no dpkg."""
    if shutil.which("dpkg-deb") is None:
        cache.say("no .deb: dpkg-deb is not here")
        return None
    root = BUILD / "staged"
    lay_out(root, processor, made, shared)
    path = BUILD / f"rondo_{version()}-{REVISION}_{PROCESSORS[processor][0]}.deb"
    cross.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, path], stdout=subprocess.DEVNULL,
              env=os.environ | {"SOURCE_DATE_EPOCH": str(moment())})
    shutil.rmtree(root)
    return path


def make(processor, shared):
    made = program(processor)
    inspect(made, processor)
    for path in (archive(processor, made, shared), debian_package(processor, made, shared)):
        if path is not None:
            cache.say(f"{path.relative_to(cache.REPO)}: {path.stat().st_size / 1e6:.2f} MB")


def expect(found, wanted, what):
    if found != wanted:
        cache.fail(f"{what}: found {found!r}, wanted {wanted!r}")


def use(root, place):
    """Runs the program that stands at the place in root, with nothing else there but a model."""
    shutil.copytree(MODEL, root / "model")
    alone = os.geteuid() == 0
    begin = ["chroot", root, f"/{place}"] if alone else [root / place]
    model = "/model" if alone else root / "model"
    for arguments, wanted in ((["--version"], version()), (["render", model, "-m", "Hello"], RENDERED)):
        done = subprocess.run([str(part) for part in (*begin, *arguments)], env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, capture_output=True, text=True, check=False)
        expect((done.stdout.strip(), done.returncode), (wanted.strip(), 0), f"rondo {arguments[0]} ({done.stderr.strip()})")
    shutil.rmtree(root / "model")


def empty_folder(name):
    root = BUILD / name
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    return root


def test_archive(path):
    root = empty_folder("test-archive")
    with tarfile.open(path) as tar:
        tar.extractall(root, filter="data")
    use(root, f"{path.name.removesuffix('.tar.xz')}/bin/rondo")
    shutil.rmtree(root)


def test_debian_package(path):
    """Installs it below an empty folder, uses it, removes it: nothing stays."""
    root = empty_folder("test-deb")
    database = root / "var" / "lib" / "dpkg"
    for name in ("info", "updates", "triggers"):
        (database / name).mkdir(parents=True)
    (database / "status").touch()
    (database / "available").touch()
    dpkg = ["dpkg", f"--root={root}", "--force-not-root", "--log=/dev/null"]
    cross.run([*dpkg, "--install", path], stdout=subprocess.DEVNULL)
    use(root, "usr/bin/rondo")
    verified = subprocess.run([*map(str, dpkg), "--verify", "rondo"], capture_output=True, text=True, check=False)
    expect((verified.stdout, verified.returncode), ("", 0), "dpkg --verify")
    page = gzip.decompress((root / "usr" / "share" / "man" / "man1" / "rondo-render.1.gz").read_bytes()).decode()
    expect(page.startswith(".TH RONDO\\-RENDER 1") or page.startswith(".TH RONDO-RENDER 1"), True, "the man page of rondo render")
    cross.run([*dpkg, "--purge", "rondo"], stdout=subprocess.DEVNULL)
    expect([str(file) for file in (root / "usr").rglob("*") if file.is_file()], [], "files that stay")
    shutil.rmtree(root)
    if shutil.which("lintian"):
        found = subprocess.run(["lintian", "--allow-root", path], capture_output=True, text=True, check=False)
        expect(re.findall(r"^[EW]: .*", found.stdout, re.MULTILINE), [], "lintian")
    else:
        cache.say("lintian is not here, so it is not asked")


def test():
    processor = platform.machine()
    test_archive(BUILD / f"rondo-{version()}-linux-{processor}.tar.xz")
    path = BUILD / f"rondo_{version()}-{REVISION}_{PROCESSORS[processor][0]}.deb"
    if path.is_file():
        test_debian_package(path)
    cache.say("unpacked, installed, used and removed")


def main(arguments):
    processors = [argument for argument in arguments if argument != "--test"] or [platform.machine()]
    if any(processor not in PROCESSORS for processor in processors):
        sys.exit(__doc__)
    elftools = fetch.wheel("pyelftools")
    if elftools is None:
        cache.fail("the package pyelftools is not to be had; is there a network?")
    sys.path.insert(0, str(elftools))
    BUILD.mkdir(parents=True, exist_ok=True)
    shared = shell_files(BUILD / "share")
    for processor in processors:
        make(processor, pathlib.Path(shared))
    if "--test" in arguments:
        test()


if __name__ == "__main__":
    main(sys.argv[1:])
