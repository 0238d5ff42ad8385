"""The contents in the sidebar, resolved once for all pages, and the headings of contents on a page.

The theme asks for the whole tree on every page, and Sphinx copies the contents of all pages each time, names of the
reference included. Without its cells, the site would take more than twice as long. Here the tree is resolved once, for
the first page. Other pages get a copy with their own addresses, and with the path to themselves marked.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment.adapters.toctree import global_toctree_for_doc
from sphinx.util.osutil import relative_uri

# What the theme asks for.
WHOLE = {"collapse": False, "titles_only": True, "maxdepth": -1, "includehidden": True}

CAPTION = 'class="caption" role="heading" aria-level="2">'


def tree_for(tree: nodes.Element, first: str, here: str) -> nodes.Element:
    """Return the tree of the page at the address `first` as it is at the address `here`."""
    copied: nodes.Element = tree.deepcopy()
    for reference in copied.findall(nodes.reference):
        if not reference.get("internal"):
            continue
        address = reference["refuri"]
        reference["refuri"] = relative_uri(here, address) or "#"
        if address == here:
            branch: nodes.Element | None = reference
            while branch is not None:
                branch["classes"].append("current")
                branch = branch.parent
    return copied


def offer(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the theme the tree, before it asks."""
    usual = context.get("toctree")
    if usual is None or app.builder.format != "html":
        return
    builder: Any = app.builder

    def toctree(**options: Any) -> str:
        root = app.config.root_doc
        if options != WHOLE or pagename == root:
            return usual(**options)
        if not hasattr(app, "navigation"):
            app.navigation = global_toctree_for_doc(app.env, root, builder, tags=builder.tags, **WHOLE)  # type: ignore
        tree = tree_for(app.navigation, builder.get_target_uri(root), builder.get_target_uri(pagename))  # type: ignore
        return builder.render_partial(tree)["fragment"]

    context["toctree"] = toctree


def give_levels(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give the captions of contents, which Sphinx marks as headings, the level that screen readers need."""
    if "body" in context:
        context["body"] = context["body"].replace('class="caption" role="heading">', CAPTION)


def setup(app: Sphinx) -> dict[str, bool]:
    """Come before the theme."""
    app.connect("html-page-context", offer, priority=400)
    app.connect("html-page-context", give_levels)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
