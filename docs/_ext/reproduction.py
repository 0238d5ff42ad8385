"""The stored results of `subsetprivacy reproduce all` as a page: an overview, then a section per experiment."""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from subsetprivacy.reproduce import load, read_all
from subsetprivacy.reproduce.page import body, summary

RESULTS = Path(__file__).parents[1] / "reproduction" / "results"


def _html(text: str) -> nodes.raw:
    return nodes.raw("", f'<div class="reproduction">{text}</div>', format="html")


class Reproduction(SphinxDirective):
    """Put the results where the directive stands, with headings that the contents list."""

    def run(self) -> list[nodes.Node]:
        """Return the overview and the sections."""
        records = read_all(RESULTS)
        for record in records:
            self.env.note_dependency(str(RESULTS / f"{record.stem}.json"))
        made: list[nodes.Node] = [_html(summary(records))]
        for record in records:
            section = nodes.section(ids=[record.stem], names=[record.stem])
            title = nodes.title("", load(record.label).title + " ")
            title += nodes.literal("", record.label)
            section += [title, _html(body(record, "results/"))]
            made.append(section)
        return made


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive and its looks."""
    app.add_directive("reproduction", Reproduction)
    app.add_css_file("reproduction.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
