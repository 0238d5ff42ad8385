"""Give every picture that a cell draws a text for people who cannot see it.

The words are those of the picture itself: title, axes, legend. Where it has none, the text before the cell stands in.
More is said in the cell's metadata: ``mystnb: {image: {alt: "What is to be seen"}}``.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

NUMBER = re.compile(r"[−+-]?[\d.,\s]*(?:%|×10.*)?|\$.*\$")
MOST = 12
PLACE = re.compile(r"translate\(([-\d.]+)[ ,]+([-\d.]+)\)")


def words(svg: str) -> str:
    """Return the words of a matplotlib picture as sentences, or nothing if it has none.

    Its letters are paths, and each text stands beside them as a comment.
    """
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    figure = ElementTree.fromstring(svg, parser)
    plots = [_Plot(group) for group in _groups(figure, "axes_")]
    titles = [text for _, text in _texts(next(_groups(figure, "figure_"), figure))]
    titles += [title for plot in plots for title in plot.titles]
    parts = ["; ".join(dict.fromkeys(titles))]
    for name in ("across", "up", "shown"):
        said = dict.fromkeys(text for plot in plots for text in getattr(plot, name))
        parts.append(f"{name.capitalize()}: {_listed(list(said))}" if said else "")
    return " ".join(part if part.endswith(("?", ".")) else f"{part}." for part in parts if part)


def _listed(said: list[str]) -> str:
    """Return a list to be read aloud, which nobody wants to be long."""
    more = len(said) - MOST
    return "; ".join([*said[:MOST], f"and {more} more"] if more > 1 else said)


class _Plot:
    """The words of one pair of axes: its titles, what goes across and up, what the legend and notes name."""

    def __init__(self, group: Element) -> None:
        top = _top(group)
        own = _texts(group)
        self.titles = [text for y, text in own if y is not None and y < top]
        notes = [text for y, text in own if (y is None or y >= top) and not NUMBER.fullmatch(text)]
        self.across = self._axis(group, "matplotlib.axis_", 0)
        self.up = self._axis(group, "matplotlib.axis_", 1)
        legend = [text for each in _groups(group, "legend_") for text in _deep(each)]
        self.shown = [*legend, *dict.fromkeys(notes)]

    def _axis(self, group: Element, name: str, which: int) -> list[str]:
        """Return an axis's label, or the names of its ticks where they are names."""
        axes = [child for child in group if child.get("id", "").startswith(name)]
        if len(axes) <= which:
            return []
        label = [text for _, text in _texts(axes[which])]
        ticks = [text for tick in axes[which] if "tick_" in tick.get("id", "") for text in [" ".join(_deep(tick))]]
        return label or [tick for tick in ticks if tick and not NUMBER.fullmatch(tick)]


def _groups(element: Element, name: str) -> Iterator[Element]:
    return (group for group in element.iter() if isinstance(group.tag, str) and group.get("id", "").startswith(name))


def _texts(group: Element) -> list[tuple[float | None, str]]:
    """Return the texts that stand directly in a group, with how far down they begin."""
    found = []
    for child in group:
        if isinstance(child.tag, str) and child.get("id", "").startswith("text_"):
            place = next(
                (PLACE.search(inner.get("transform", "")) for inner in child.iter() if inner.get("transform")), None
            )
            down = float(place.group(2)) if place else None
            found += [(down, " ".join(_deep(child)))]
    return found


def _deep(group: Element) -> list[str]:
    comments = (each.text or "" for each in group.iter() if each.tag is ElementTree.Comment)
    return [" ".join(text.split()) for text in comments]


def _top(group: Element) -> float:
    """Return where the frame of the axes begins: their first patch."""
    patch = next(_groups(group, "patch_"), None)
    path = next((each.get("d", "") for each in patch.iter() if each.get("d")), "") if patch is not None else ""
    heights = [float(y) for _, y in re.findall(r"[ML] ([-\d.]+) ([-\d.]+)", path)]
    return min(heights, default=0.0)


def before(cell: nodes.Node) -> str:
    """Return the last sentence before a cell."""
    siblings = cell.parent.children[: cell.parent.index(cell)]
    paragraph = next((each for each in reversed(siblings) if isinstance(each, nodes.paragraph)), None)
    sentences = re.split(r"(?<=[.?!:])\s+", paragraph.astext().strip()) if paragraph is not None else [""]
    return sentences[-1].rstrip(":.") + "." if sentences[-1] else ""


def describe(app: Sphinx, doctree: nodes.document) -> None:
    """Give the pictures of cells a text where they have none."""
    for cell in doctree.findall(lambda node: isinstance(node, nodes.container) and "cell" in node["classes"]):
        for image in cell.findall(nodes.image):
            if image.get("alt"):
                continue
            file = Path(app.srcdir) / image["uri"]
            image["alt"] = (words(file.read_text(encoding="utf-8")) if file.suffix == ".svg" else "") or before(cell)
            if not image["alt"]:
                logger.warning("a picture without a word", location=image)


def setup(app: Sphinx) -> dict[str, bool]:
    """Describe the pictures of every page that is read."""
    app.connect("doctree-read", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
