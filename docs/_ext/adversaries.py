"""Build the tables of adversaries from `tests/collect/claims.toml`: each claim, its adversary and its tests."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]
CLAIMS = ROOT / "tests/collect/claims.toml"
PAGE = ROOT / "docs/explanation/what-the-service-promises.md"
WORDS = ROOT / "src/subsetprivacy/collect/web/languages/en.json"
FOLDER = "tests/collect/"
SECTIONS = {
    "promise.": "What respondents are promised",
    "limit.": "What respondents are told cannot be promised",
    "who.": "Who can link an answer to a person",
    "T": "Threats",
}
COLUMNS = ("claim", "adversary, and what they can do", "what must hold", "faults that the tests detect")


def read() -> dict[str, Any]:
    """Return the content of the file: the adversaries and the claims."""
    return tomllib.loads(CLAIMS.read_text("utf-8"))


def claims_of(start: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield name, sentence and entry of each claim whose name starts with `start`."""
    words = json.loads(WORDS.read_text("utf-8"))
    threats = dict(re.findall(r"^\| (T\d+) \| (.*?) \|", PAGE.read_text("utf-8"), re.MULTILINE))
    for name, claim in read()["claims"].items():
        if name.startswith(start):
            mode = " and ".join(claim.get("cells", ()))
            sentence = words.get(name) or threats.get(name) or f"{claim['row']} ({mode})"
            yield name, sentence.replace("**", ""), claim


def broken(claim: dict[str, Any]) -> list[nodes.Node]:
    """Return the faults that were put into the source to see the tests of a claim fail."""
    items = nodes.bullet_list()
    for mutation in claim.get("mutations", ()):
        items += nodes.list_item("", nodes.paragraph("", mutation["what"]))
    made: list[nodes.Node] = [items] if len(items) else []
    if shared := claim.get("shares"):
        line = nodes.paragraph("", ("also " if len(items) else "") + "the faults listed at ")
        for k, name in enumerate(shared):
            line += [nodes.Text(", " if k else ""), nodes.literal(name, name)]
        made.append(line)
    if reason := claim.get("no_mutation"):
        made.append(nodes.paragraph("", reason))
    return made


def tests(claim: dict[str, Any]) -> nodes.paragraph:
    """Return the tests of a claim, grouped by file."""
    files: dict[str, list[str]] = {}
    for test in claim["tests"]:
        path, name = test.removeprefix(FOLDER).split("::")
        files.setdefault(path, []).append(name)
    line = nodes.paragraph("", "Tests: " if files else "No tests.")
    for k, (path, names) in enumerate(files.items()):
        line += [nodes.Text("; " if k else ""), nodes.literal(path, path)]
        for name in names:
            line += [nodes.Text(" "), nodes.literal(name, name)]
    return line


def table(start: str) -> nodes.table:
    """Return the table of the claims whose names start with `start`, each with a second row for its tests."""
    group = nodes.tgroup(cols=len(COLUMNS))
    group += [nodes.colspec(colwidth=25) for _ in COLUMNS]
    head, body = nodes.thead(), nodes.tbody()
    head += _row([[nodes.paragraph("", name)] for name in COLUMNS])
    for name, sentence, claim in claims_of(start):
        label = nodes.paragraph("", "", nodes.literal(name, name))
        adversary = nodes.paragraph("", "", nodes.strong("", claim["adversary"]))
        cells = [
            [label, nodes.paragraph("", sentence)],
            [adversary, nodes.paragraph("", claim["can"])],
            [nodes.paragraph("", claim["property"])],
            broken(claim),
        ]
        body += [
            _row(cells),
            nodes.row("", nodes.entry("", tests(claim), morecols=len(COLUMNS) - 1), classes=["tests"]),
        ]
    group += [head, body]
    return nodes.table("", group, classes=["adversaries"])


def _row(cells: list[list[nodes.Node]]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", *cell) for cell in cells))


class Adversaries(SphinxDirective):
    """Insert the list of adversaries and the tables."""

    def run(self) -> list[nodes.Node]:
        """Return the list and a section for each kind of claim."""
        for path in (CLAIMS, PAGE, WORDS):
            self.env.note_dependency(str(path))
        listed = nodes.definition_list()
        for name, description in read()["adversaries"].items():
            definition = nodes.definition("", nodes.paragraph("", description))
            listed += nodes.definition_list_item("", nodes.term("", name), definition)
        made: list[nodes.Node] = [listed]
        for start, title in SECTIONS.items():
            section = nodes.section("", nodes.title(title, title), names=[nodes.fully_normalize_name(title)])
            section += table(start)
            self.state.document.note_implicit_target(section, section)
            made.append(section)
        return made


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive ``adversaries``."""
    app.add_directive("adversaries", Adversaries)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
