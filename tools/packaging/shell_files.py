"""Makes what shells and man need of the program: a man page for each command, and scripts for completion.

Usage: python3 -m tools.packaging.shell_files --program RONDO --out FOLDER      FOLDER: share/ of an installation
"""
import argparse
import pathlib
import re
import subprocess

from tools.packaging import command_help

SCRIPTS = {"bash": "bash-completion/completions/rondo", "zsh": "zsh/site-functions/_rondo", "fish": "fish/vendor_completions.d/rondo.fish"}
HEADING = re.compile(r"^([A-Z][\w ]*):\s*$", re.MULTILINE)


def roff(text):
    """Text as roff that prints it as it is."""
    out = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", out, flags=re.MULTILINE)


def page_name(words):
    return "-".join(["rondo", *words])


def man_page(words, text, names, version):
    """The help's parts under man's headings."""
    about, _, rest = text.partition("\nUsage: ")
    usage, _, rest = rest.partition("\n")
    out = [f'.TH {page_name(words).upper()} 1 "" "{version}"', ".SH NAME",
           f"{roff(page_name(words))} \\- {roff(' '.join(about.split()))}", ".SH SYNOPSIS", roff(usage)]
    parts = HEADING.split(rest.strip("\n"))
    for heading, body in zip(parts[1::2], parts[2::2]):
        out += [f".SH {heading.upper()}", ".nf", roff(body.strip("\n")), ".fi"]
    others = [roff(page_name(other)) + "(1)" for other in names if other != words and (not words or other[:1] in ((), words[:1]))]
    return "\n".join([*out, ".SH SEE ALSO", ", ".join(others)]) + "\n"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    options = parser.parse_args()
    program = options.program.resolve()
    version = "rondo " + subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    files = {SCRIPTS[shell]: subprocess.run([program, "completion", shell], capture_output=True, text=True, check=True).stdout
             for shell in SCRIPTS}
    commands = command_help.all_commands(program)
    for words, text in commands:
        files[f"man/man1/{page_name(words)}.1"] = man_page(words, text, [other for other, _ in commands], version)
    for name, text in files.items():
        path = options.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
