"""Pages that the search of the site leaves out: decision records, which repeat the words of other pages."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

FOLDERS = ("decisions/",)


def is_searched(docname: str) -> bool:
    """Tell whether a page belongs to the search index. The list of decisions does, the records do not."""
    return not docname.startswith(FOLDERS) or docname.endswith("/index")


def leave_out(app: Sphinx) -> None:
    """Keep the builder from indexing these pages. The metadata "nosearch" would still index their titles."""
    index_page = getattr(app.builder, "index_page", None)
    if index_page is None:
        return

    def index_searched(pagename: str, doctree: nodes.document, title: str, **more: Any) -> None:
        if is_searched(pagename):
            index_page(pagename, doctree, title, **more)

    app.builder.index_page = index_searched  # type: ignore[attr-defined]


def setup(app: Sphinx) -> dict[str, bool]:
    """Wait until the builder is there."""
    app.connect("builder-inited", leave_out)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
