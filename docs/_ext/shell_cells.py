"""Commands in cells are shown as console blocks, which can be pasted into a terminal.

A cell runs a command by a line that begins with "!". Such lines are shown without it, in a block of their own, and the
notebook of the page keeps them as they are.
"""

from itertools import groupby

from docutils import nodes
from sphinx.application import Sphinx


def parts(source: str) -> list[tuple[str, str]]:
    """Split a cell into blocks, each with its language: "console" for the commands, "python" for the rest."""
    lines = source.split("\n")
    kinds = []
    continued = False
    for number, line in enumerate(lines):
        command = continued or line.startswith("!") or (line.startswith("#") and _before_command(lines[number + 1 :]))
        continued = command and line.endswith("\\")
        kinds.append("console" if command else "python")
    blocks = []
    for kind, group in groupby(zip(kinds, lines, strict=True), key=lambda pair: pair[0]):
        text = "\n".join(line.removeprefix("!") if kind == "console" else line for _, line in group).strip("\n")
        if text:
            blocks.append((kind, text))
    return blocks


def _before_command(rest: list[str]) -> bool:
    """Tell whether a comment is about a command: the first line after it that is none is one."""
    following = next((line for line in rest if not line.startswith("#")), "")
    return following.startswith("!")


def show(app: Sphinx, doctree: nodes.document) -> None:
    """Replace the sources of cells that have commands, and color the commands of console blocks without prompts."""
    for block in list(doctree.findall(nodes.literal_block)):
        lines = block.astext().split("\n")
        if "cell_input" in block.parent.get("classes", []) and any(line.startswith("!") for line in lines):
            block.replace_self([_piece(block, *part) for part in parts(block.astext())])
        elif block.get("language") == "console" and not any(line.startswith("$ ") for line in lines):
            block["language"] = "bash"  # without a prompt the lexer of consoles takes all for output


def _piece(block: nodes.literal_block, kind: str, text: str) -> nodes.literal_block:
    piece = block.copy()
    piece.rawsource = text
    piece += nodes.Text(text)
    if kind == "console":
        piece["language"] = "bash"
    return piece


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at the cells of every page that is read."""
    app.connect("doctree-read", show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
