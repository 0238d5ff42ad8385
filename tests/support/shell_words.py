"""What users of the library write, and no command prints."""

import re

import click

PYTHON = re.compile(r"(?<![\w.])sp\.[a-z]|=True|=False|=None|\bmethod=|\binterval\(|\bbudget=|\bprojected\(|_frame\(")


def python_in(text):
    """Return the lines of an output that speak Python."""
    return [line for line in text.splitlines() if PYTHON.search(line)]


def without_advice(facts):
    """Return the facts of a result without the advice of its notes, which a command gives in its own words."""
    notes = [note if isinstance(note, str) else {**note, "advice": None} for note in facts.get("notes", ())]
    return {**facts, "notes": notes}


def leaves(group, path=()):
    """Give the commands of a group and of the groups in it, each after the words that call it."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from leaves(command, (*path, name))
        else:
            yield (*path, name), command
