"""What `rondo COMMAND --help` prints, of all commands."""
import re
import subprocess

SUBCOMMANDS = re.compile(r"^Subcommands:\n((?:  .*\n)+)", re.MULTILINE)


def help_of(program, words):
    return subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout


def commands_in(text):
    found = SUBCOMMANDS.search(text)
    return re.findall(r"^  ([a-z][\w-]*)", found.group(1), re.MULTILINE) if found else []


def all_commands(program, words=()):
    """[(words, help)]: the program itself, each of its commands, and behind each the commands of that."""
    text = help_of(program, words)
    out = [(words, text)]
    for name in commands_in(text):
        out += all_commands(program, (*words, name))
    return out
