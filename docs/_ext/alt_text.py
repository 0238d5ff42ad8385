"""A picture that a cell draws says to those who cannot see it at least what drew it; a page can say more.

More is said in the cell's metadata: ``mystnb: {image: {alt: "What is to be seen"}}``.
"""

from docutils import nodes
from sphinx.application import Sphinx


def describe(app: Sphinx, doctree: nodes.document) -> None:
    """Give the pictures of cells a text where they have none."""
    for cell in doctree.findall(lambda node: isinstance(node, nodes.container) and "cell" in node["classes"]):
        code = next((block.astext() for block in cell.findall(nodes.literal_block)), "")
        drawn = code.strip().splitlines()[-1].rstrip(" ;") if code.strip() else ""
        for image in cell.findall(nodes.image):
            if not image.get("alt"):
                image["alt"] = f"Picture drawn by {drawn}" if drawn else "Picture drawn by the code of this page"


def setup(app: Sphinx) -> dict[str, bool]:
    """Describe the pictures of every page that is read."""
    app.connect("doctree-read", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
