"""What users of the library write, and no command prints."""

import re

PYTHON = re.compile(r"(?<![\w.])sp\.[a-z]|=True|=False|=None|\bmethod=|\binterval\(|\bbudget=|\bprojected\(|_frame\(")


def python_in(text):
    """Return the lines of an output that speak Python."""
    return [line for line in text.splitlines() if PYTHON.search(line)]
