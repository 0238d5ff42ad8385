"""Offer every page with code cells for download as a Jupyter notebook."""

import posixpath
import re
from pathlib import Path

import nbformat
from docutils import nodes
from myst_nb.core.read import read_myst_markdown_notebook
from sphinx.application import Sphinx

FOLDER = "notebooks"
TERM = re.compile(r"\{term\}`([^`<]+?)(?:\s*<[^`>]+>)?`")  # a link to the glossary, which is words and not code
ROLE = re.compile(r"\{[a-z:]+\}(`+)~?(.+?)\1")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)\s]*\)")  # to another page, which is not part of the notebook


def is_notebook(app: Sphinx, docname: str) -> bool:
    """Tell whether a page has cells, and is no front page."""
    if posixpath.basename(docname) == "index":
        return False
    text = Path(app.env.doc2path(docname)).read_text(encoding="utf-8")
    return "\nfile_format: mystnb\n" in text[:400] and "\n```{code-cell}" in text


def offer(app: Sphinx, doctree: nodes.document) -> None:
    """Put the link below the title."""
    docname = app.env.docname
    if app.builder.format != "html" or not is_notebook(app, docname):
        return
    address = posixpath.relpath(f"{FOLDER}/{docname}.ipynb", posixpath.dirname(docname) or ".")
    link = nodes.reference("", "Download this page as a notebook", refuri=address, internal=True)
    title = next(iter(doctree.findall(nodes.title)))
    place = title.parent
    place.insert(place.index(title) + 1, nodes.paragraph("", "", link, classes=["as-notebook"]))


def notebook(text: str) -> nbformat.NotebookNode:
    """Return a page as a notebook without outputs and without the cells that only check its numbers."""
    book = read_myst_markdown_notebook(text)
    book.cells = [cell for cell in book.cells if "remove-cell" not in cell.metadata.get("tags", [])]
    for number, cell in enumerate(book.cells):
        cell["id"] = f"cell-{number}"
        cell.metadata.pop("mystnb", None)
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(r"\1", ROLE.sub(r"`\2`", TERM.sub(r"\1", cell.source)))
    book.metadata = nbformat.from_dict(
        {"kernelspec": {"name": "python3", "display_name": "Python 3"}, "language_info": {"name": "python"}}
    )
    book.nbformat, book.nbformat_minor = 4, 5
    nbformat.validate(book)
    return book


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the notebooks beside the pages."""
    if exception is not None or app.builder.format != "html":
        return
    for docname in app.env.found_docs:
        if is_notebook(app, docname):
            target = Path(app.outdir) / FOLDER / f"{docname}.ipynb"
            target.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook(Path(app.env.doc2path(docname)).read_text(encoding="utf-8")), target)


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer and write the notebooks."""
    app.connect("doctree-read", offer)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
