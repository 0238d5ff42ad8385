"""The whole page: findings in one language."""

import sys
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np
import scipy
from attrs import frozen

from subsetprivacy.finding.result import Findings
from subsetprivacy.finding.sources import counted_people
from subsetprivacy.finding.variable import VariableFindings
from subsetprivacy.presenting.checks import checks_section, level_sentence
from subsetprivacy.presenting.designs import design_section, name_of
from subsetprivacy.presenting.html import Html, bullets, code, el, lines, table
from subsetprivacy.presenting.links import links_section
from subsetprivacy.presenting.pairs import pair_section
from subsetprivacy.presenting.privacy import (
    candidates_sentence,
    cover_sentence,
    exposed,
    privacy_table,
    row_section,
    smallest_sets_table,
)
from subsetprivacy.presenting.shares import (
    difference_section,
    groups_section,
    lead_sentence,
    needed_section,
    people_sentence,
    shares_section,
)
from subsetprivacy.presenting.words import Words, label_text
from subsetprivacy.report.recipes import Recipe

# The browser may load nothing and run nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@frozen(eq=False)
class ReportPage:
    """A page about findings.

    Attributes
    ----------
    findings
        The findings.
    words
        The language.
    recipe
        How to compute the numbers again.
    title, date
        The heading and a date to print. None for the file's name and no date.
    version
        The version of the package.
    """

    findings: Findings
    words: Words
    recipe: Recipe
    version: str
    title: str | None = None
    date: str | None = None

    def html(self) -> str:
        """Return the page as HTML text."""
        words = self.words
        head = lines(
            [
                el("meta", charset="utf-8"),
                el("meta", name="viewport", content="width=device-width, initial-scale=1"),
                el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
                el("meta", name="color-scheme", content="light dark"),
                el("title", self._title),
                el("style", Html(f"\n{_style()}")),
            ]
        )
        body = el("main", "\n", lines([self._top(), *self._body()]), "\n")
        return (
            f'<!DOCTYPE html>\n<html lang="{words.language}" dir="{words.direction}">\n<head>\n{head}\n</head>\n'
            f"<body>\n{body}\n</body>\n</html>\n"
        )

    # The top ----------------------------------------------------------------------------------

    @property
    def _title(self) -> str:
        if self.title is not None:
            return self.title
        name = self.findings.title
        return self.words("report.title", name=name) if name else self.words("report.untitled")

    @property
    def _counted(self) -> int | None:
        return counted_people(self.findings.source)

    @property
    def _not_private(self) -> list[str]:
        return [
            variable.title
            for variable in self.findings
            if variable.design.is_known and not variable.design.is_subset_private
        ]

    def _top(self) -> Html:
        words, bare = self.words, self._not_private
        parts = [el("h1", self._title), el("p", self._intro(), class_="intro")]
        if bare:
            parts.append(el("p", words("report.not_private", names=", ".join(bare)), class_="warning"))
        return el("header", "\n", lines([*parts, self._overview(), self._contents()]), "\n")

    def _intro(self) -> str:
        row = self.words("report.row" if self._counted is None else "report.row_of_counts")
        if self._not_private:
            return self.words("report.intro_not_private", row=row)
        dummies = any(variable.design.covered for variable in self.findings)
        true = self.words("report.intro_true_dummies" if dummies else "report.intro_true")
        return self.words("report.intro", row=row, true=true)

    def _overview(self) -> Html:
        """Return the box with the file, its columns and the main numbers."""
        words, facts = self.words, self.findings.source_facts
        sentences = [words("report.file", name=facts.name)] if facts.name else []
        sentences += [words.count("report.rows", facts.rows), words.count("report.columns", len(self.findings))]
        if self._counted is not None:
            sentences.append(words.count("report.counted", self._counted))
        if facts.kept:
            sentences.append(words("report.kept", names=", ".join(facts.kept)))
        if self.date:
            sentences.append(words("report.date", date=self.date))
        alarms = self.findings.alarms
        if alarms:
            checked = el("p", words.count("report.alarms", alarms), class_="warning")
        else:
            checked = el("p", words("report.no_alarm" if self.findings.alarm.tests else "report.unchecked"))
        rows = [self._line(k, variable) for k, variable in enumerate(self.findings, 1)]
        head = [words(f"report.{key}") for key in ("column", "design", "categories", "largest", "fingerprint")]
        whole = table(words("report.overview"), head, rows, words=(1, 3, 4))
        return el("div", el("p", " ".join(sentences), class_="facts-line"), checked, whole, class_="box")

    def _line(self, k: int, variable: VariableFindings) -> tuple[Any, ...]:
        words, shares = self.words, variable.shares
        largest = "–"
        if shares is not None:
            top = int(np.argmax(shares.estimate))
            largest = f"{label_text(variable.categories[top])}, {words.percent(float(shares.estimate[top]))}"
        return (
            el("a", variable.title, href=f"#column-{k}"),
            name_of(words, variable.design),
            words.whole(variable.design.p),
            largest,
            el("code", variable.design_fingerprint[:12] or "–"),
        )

    def _contents(self) -> Html:
        words = self.words
        entries = [
            el("a", words("report.of_column", name=variable.title), href=f"#column-{k}")
            for k, variable in enumerate(self.findings, 1)
        ]
        places = {
            "pairs": bool(self.findings.pairs),
            "links": bool(self.findings.tables),
            "together": bool(self.findings.rows),
            "reading": True,
        }
        places |= {"limits": True, "designs": True, "again": True}
        names = {"together": "row.heading", "reading": "reading.heading"}
        entries += [
            el("a", words(names.get(place, f"report.{place}")), href=f"#{place}")
            for place, is_there in places.items()
            if is_there
        ]
        return el("nav", bullets(entries), aria_label=words("report.contents"))

    # The sections -----------------------------------------------------------------------------

    def _body(self) -> list[Html]:
        parts = [self._column(variable, k) for k, variable in enumerate(self.findings, 1)]
        parts += [self._pairs()] if self.findings.pairs else []
        parts += [self._links()] if self.findings.tables else []
        parts += [self._together()] if self.findings.rows else []
        return [*parts, self._reading(), self._limits(), self._designs(), self._how_to_repeat()]

    def _column(self, variable: VariableFindings, k: int) -> Html:
        words = self.words
        joined = getattr(variable.design.categories, "names", ())
        parts: list[Html] = [el("h2", el("span", words("report.of_column", name=variable.title), class_="column"))]
        if joined:
            parts.append(el("p", words("report.holds", n=words.whole(len(joined)), names=", ".join(joined))))
        parts.append(el("p", people_sentence(words, variable)))
        parts.append(el("h3", words("shares.heading")))
        if variable.shares is not None:
            parts.append(lead_sentence(words, variable))
        parts += [shares_section(words, variable), needed_section(words, variable)]
        parts += [difference_section(words, variable), groups_section(words, variable)]
        parts.append(checks_section(words, variable))
        parts += self._privacy(variable)
        return el("section", "\n", lines(parts), "\n", id=f"column-{k}")

    def _privacy(self, variable: VariableFindings) -> list[Html]:
        words = self.words
        parts: list[Html] = [el("h3", words("privacy.heading"))]
        if variable.title in self._not_private:
            parts.append(el("p", words("privacy.not_private"), class_="warning"))
        parts += [privacy_table(words, variable), smallest_sets_table(words, variable), cover_sentence(words, variable)]
        return [*parts, el("h3", words("exposed.heading")), exposed(words, variable)]

    def _pairs(self) -> Html:
        words, findings = self.words, self.findings
        parts: list[Html] = [el("h2", words("report.pairs"))]
        shown = len(findings.pairs)
        if findings.pairs_left_out:
            numbers = {"shown": words.whole(shown), "n": words.whole(shown + findings.pairs_left_out)}
            parts.append(el("p", words("report.pairs_first", **numbers)))
        if findings.pairs_alpha is not None:
            tests = sum(pair.test is not None for pair in findings.pairs)
            level = words.small(findings.pairs_alpha)
            parts.append(el("p", words("report.pairs_level", n=words.whole(tests), level=level)))
        titles = {variable.name: variable.title for variable in findings}
        for k, pair in enumerate(findings.pairs, 1):
            heading = el("h3", " – ".join(titles.get(name, name) for name in pair.names))
            body = pair_section(words, pair, titles, findings.level)
            parts.append(el("section", "\n", lines([heading, body]), "\n", id=f"pair-{k}"))
        return el("section", "\n", lines(parts), "\n", id="pairs")

    def _links(self) -> Html:
        words, titles = self.words, {variable.name: variable.title for variable in self.findings}
        parts = [el("h2", words("report.links"))]
        parts += [links_section(words, table, titles) for table in self.findings.tables]
        return el("section", "\n", lines(parts), "\n", id="links")

    def _together(self) -> Html:
        words = self.words
        parts = [el("h2", words("row.heading"))]
        titles = {variable.name: variable.title for variable in self.findings}
        for row in self.findings.rows:
            parts += [row_section(words, row, titles), el("p", candidates_sentence(words, row))]
        return el("section", "\n", lines(parts), "\n", id="together")

    def _reading(self) -> Html:
        words = self.words
        level = words.level(self.findings.level)
        keys = ["shares", "interval", "pvalue", *(["strength"] if self.findings.pairs else [])]
        sentences = [*(words(f"reading.{key}", level=level) for key in keys), level_sentence(words, self.findings)]
        return el(
            "section",
            lines([el("h2", words("reading.heading")), bullets([text for text in sentences if text])]),
            id="reading",
        )

    def _limits(self) -> Html:
        words, facts = self.words, self.findings.source_facts
        sentences: list[str] = []
        if facts.kept:
            names = ", ".join(facts.kept)
            alone = f" {words.count('report.limit_alone', facts.alone, names=names)}" if facts.alone else ""
            sentences.append(words("report.limit_kept", names=names) + alone)
        sentences += [words(f"report.limit_{key}") for key in ("links", "again", "holder", "seed", "groups")]
        return el("section", lines([el("h2", words("report.limits")), bullets(sentences)]), id="limits")

    def _designs(self) -> Html:
        words = self.words
        parts: list[Html] = [el("h2", words("report.designs")), el("p", words("report.designs_public"))]
        for k, variable in enumerate(self.findings, 1):
            section = lines([el("h3", variable.title), design_section(words, variable.design)])
            parts.append(el("section", section, id=f"design-{k}"))
        return el("section", lines(parts), id="designs")

    def _how_to_repeat(self) -> Html:
        """Return how to compute the numbers again, and the versions that made them."""
        words, recipe = self.words, self.recipe
        key, seed = ("report.seed_counts", None) if recipe.seed is None else ("report.seed_given", recipe.seed)
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        made = {"version": self.version, "python": python, "numpy": np.__version__, "scipy": scipy.__version__}
        programs: Sequence[Html] = [
            el("p", words("report.again_python")),
            code(recipe.python(), words("report.code")),
            el("p", words("report.again_shell")),
            code(recipe.shell(), words("report.code")),
        ]
        parts: Sequence[Html] = [
            el("h2", words("report.again")),
            *(programs if recipe.file else ()),  # counts in memory have no file
            el("p", words(key, seed=seed)),
            el("p", words("report.made", **made), class_="notes"),
        ]
        return el("section", lines(parts), id="again")


def _style() -> str:
    parts = (("subsetprivacy.report", "page.css"), ("subsetprivacy.presenting", "findings.css"))
    return "\n".join(files(package).joinpath(name).read_text(encoding="utf-8") for package, name in parts)
