"""What users of the library write, and no command prints."""

import re

PYTHON = re.compile(r"(?<![\w.])sp\.[a-z]|=True|=False|=None|\bmethod=|\binterval\(|\bbudget=|\bprojected\(|_frame\(")


def python_in(text):
    """Return the lines of an output that speak Python."""
    return [line for line in text.splitlines() if PYTHON.search(line)]


def without_advice(facts):
    """Return the facts of a result without the advice of its notes, which a command gives in its own words."""
    notes = [note if isinstance(note, str) else {**note, "advice": None} for note in facts.get("notes", ())]
    return {**facts, "notes": notes}
