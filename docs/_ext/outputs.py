"""Wrap the sentences that cells print to the width of the page, and leave tables as they are."""

import re

from docutils import nodes
from sphinx.application import Sphinx

RULE = re.compile(r" *[-=─]{12,}[-=─ ]*")
COLUMNS = re.compile(r"\S {3,}\S")  # aligned by hand
WIDTH = 84  # characters that a line of the page has room for


def parts(text: str) -> list[tuple[str, bool]]:
    """Split what was printed into pieces, each with whether its lines may be wrapped.

    Everything from the first line to the last rule is a table. Without a rule, text with columns of its own is left
    as it is, and so is what needs no wrapping.
    """
    lines = text.splitlines()
    rules = [number for number, line in enumerate(lines) if RULE.fullmatch(line)]
    cut = rules[-1] + 1 if rules else 0
    table, rest = "\n".join(lines[:cut]), "\n".join(lines[cut:])
    wraps = any(len(line) > WIDTH for line in lines[cut:]) and not COLUMNS.search(rest)
    if not wraps:
        return [(text, False)]
    return [(table, False), (rest, True)] if table else [(rest, True)]


def mark(app: Sphinx, doctree: nodes.document) -> None:
    """Put the class ``wraps`` on what may be wrapped."""
    for block in list(doctree.findall(nodes.literal_block)):
        if "output" not in block["classes"]:
            continue
        made = []
        for text, wraps in parts(block.astext()):
            piece = block.copy()
            piece.rawsource = text
            piece += nodes.Text(text)
            piece["classes"] = [*block["classes"], *(["wraps"] if wraps else [])]
            made.append(piece)
        block.replace_self(made)


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at the outputs of every page that is read."""
    app.connect("doctree-read", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
