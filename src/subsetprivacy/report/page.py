"""The page as a whole."""

import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
import scipy
from attrs import frozen

from subsetprivacy.design import Design
from subsetprivacy.report.columns import column_section
from subsetprivacy.report.crossing import MOST_PAIRS, Effort, Pair, Together
from subsetprivacy.report.designs import design_section
from subsetprivacy.report.gathering import Column
from subsetprivacy.report.markup import Html, bullets, code, el, lines, table
from subsetprivacy.report.pairs import pair_section, together_section
from subsetprivacy.report.recipes import in_python, on_the_command_line
from subsetprivacy.report.wording import count_of, label_text, share, whole

# Nothing may be fetched and nothing run: the browser keeps this promise of the page.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_GENERAL = (
    "Names, numbers, times or places in the same file, or an order of rows that leads back to people. The subsets "
    "protect only while a row cannot be told to be yours.",
    "The same people published again with new draws. Two true subsets intersect.",
    "Whoever holds the values, if they were collected before the draw: the subsets protect from readers, not from the "
    "holder. A yes/no question drawn beforehand protects from both.",
    "Draws made with a known seed: whoever has it can often work out the values.",
    "Groups. If everybody in a group has the same value, the estimate for the group says so about each of them.",
)


@frozen(eq=False)
class Findings:
    """All that the page says."""

    path: Path
    rows: int
    columns: Sequence[Column]
    pairs: Sequence[Pair]
    left_out: int
    together: Together | None
    effort: Effort
    version: str
    kept: tuple[str, ...] = ()
    alone: int | None = 0
    title: str | None = None
    date: str | None = None


def page(found: Findings) -> str:
    """Return the page as HTML text."""
    title = found.title or f"Subsets in {found.path.name}"
    style = files("subsetprivacy.report").joinpath("page.css").read_text(encoding="utf-8")
    head = lines(
        [
            el("meta", charset="utf-8"),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
            el("meta", name="color-scheme", content="light dark"),
            el("title", title),
            el("style", Html(f"\n{style}")),
        ]
    )
    body = el("main", "\n", lines([_top(found, title), *_body(found), _end(found)]), "\n")
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n'


def _top(found: Findings, title: str) -> Html:
    return el(
        "header",
        "\n",
        lines(
            [el("h1", title), el("p", _intro(found), class_="intro"), *_alarm(found), _summary(found), _contents(found)]
        ),
        "\n",
    )


def _intro(found: Findings) -> str:
    """Say in three sentences what this is."""
    if not all(_is_private(column.design) for column in found.columns):
        return (
            "Each row of this file holds, in the place of a person’s value, a subset: a list of values that contains "
            "it. Some subsets hold a single value, which is then published. This page gives the estimated shares of "
            "all values, and says what a row gives away about a person."
        )
    dummies = any(column.design.covered is not None for column in found.columns)
    true = "every person’s subset is true" if dummies else "the subset is always true"
    return (
        "Each row of this file holds, in the place of a person’s value, a subset: a list of values that contains it. "
        f"No value was published, and {true}. From many subsets the shares of all values can be estimated, with known "
        "error; this page gives them, and says what a row gives away about a person."
    )


def _is_private(design: Design) -> bool:
    return not design.is_known or design.is_subset_private


def _alarm(found: Findings) -> list[Html]:
    bare = [column.name for column in found.columns if not _is_private(column.design)]
    return (
        [el("p", f"Not private: {', '.join(bare)}. A row can leave a single value.", class_="warning")] if bare else []
    )


def _summary(found: Findings) -> Html:
    """Return the box with the file, its columns and the main numbers."""
    rows = []
    for k, column in enumerate(found.columns, 1):
        w = None if column.fit is None else column.fit.w
        largest = (
            "–" if w is None else f"{label_text(column.design.categories.labels[int(w.argmax())])}, {share(w.max())}"
        )
        rows.append(
            (
                el("a", column.name, href=f"#column-{k}"),
                column.design.kind.replace("_", " "),
                whole(column.design.p),
                largest,
                el("code", _fingerprint(column.design)[:12] or "–"),
            )
        )
    head = ("Column", "Design", "Categories", "Largest share", "Fingerprint")
    columns = f"{count_of(len(rows), 'column', 'columns')} of subsets"
    facts = [f"File: {found.path.name}. {count_of(found.rows, 'row', 'rows')}, {columns}."]
    if found.kept:
        facts.append(f"Published as they are beside the subsets: {', '.join(found.kept)}.")
    facts += [f"Date: {found.date}."] if found.date else []
    return el(
        "div",
        el("p", " ".join(facts)),
        table("Columns of the file, and how their subsets were drawn", head, rows, words=(1, 3, 4)),
        class_="box",
    )


def _kept(found: Findings) -> list[str]:
    """Return what the columns that are kept give away."""
    if not found.kept:
        return []
    names = ", ".join(found.kept)
    said = f"Columns that are kept. The file also holds {names}, as they are, in the same rows."
    if found.alone:
        rows = count_of(found.alone, "row is", "rows are")
        said += f" {rows} alone in them: whoever knows {names} of a person knows the row, and so the subsets."
    return [said]


def _fingerprint(design: Design) -> str:
    try:
        return design.fingerprint
    except (TypeError, ValueError):  # labels that JSON does not have
        return ""


def _contents(found: Findings) -> Html:
    entries = [el("a", f"Column {column.name}", href=f"#column-{k}") for k, column in enumerate(found.columns, 1)]
    if found.pairs:
        entries.append(el("a", "Which columns go together", href="#pairs"))
    if found.together is not None:
        entries.append(el("a", "What the columns give away together", href="#together"))
    rest = {"limits": "What nothing here protects", "designs": "The designs", "again": "Get the numbers again"}
    entries += [el("a", text, href=f"#{name}") for name, text in rest.items()]
    return el("nav", bullets(entries), aria_label="Contents")


def _body(found: Findings) -> list[Html]:
    level = found.effort.level
    parts = [column_section(column, k, level) for k, column in enumerate(found.columns, 1)]
    if found.pairs:
        parts.append(_pairs(found))
    if found.together is not None:
        parts.append(together_section(found.together))
    limits = [el("h2", "What nothing here protects"), bullets([*_kept(found), *_GENERAL])]
    designs = [design_section(column, k) for k, column in enumerate(found.columns, 1)]
    how = el(
        "p", "A design says how the subsets are drawn. It is public: who knows it learns nothing more about anybody."
    )
    parts.append(el("section", lines(limits), id="limits"))
    parts.append(el("section", lines([el("h2", "The designs"), how, *designs]), id="designs"))
    return parts


def _pairs(found: Findings) -> Html:
    parts: list[Html] = [el("h2", "Which columns go together")]
    if found.left_out:
        parts.append(
            el(
                "p",
                f"The first {MOST_PAIRS} of {whole(MOST_PAIRS + found.left_out)} pairs; choose columns to see others.",
            )
        )
    many = sum(pair.test is not None for pair in found.pairs)
    if many > 1:
        parts.append(
            el(
                "p",
                f"{many} tests are made here, and of many some p-values are small by chance alone. To allow for that, "
                f"take only those below {(1 - found.effort.level) / many:.2g} for a finding (Bonferroni).",
            )
        )
    parts += [pair_section(pair, k, found.effort.level) for k, pair in enumerate(found.pairs, 1)]
    return el("section", "\n", lines(parts), "\n", id="pairs")


def _end(found: Findings) -> Html:
    """Return how to get the numbers again, and what made them."""
    steps = (found.path, found.columns, found.pairs, found.effort)
    chance = (
        "The p-values rest on random tables; without a seed they differ a little from run to run."
        if found.effort.seed is None
        else f"The p-values rest on random tables drawn with the seed {found.effort.seed}; it gives the same page."
    )
    made = (
        f"Made by subsetprivacy {found.version} with Python {sys.version_info.major}.{sys.version_info.minor}, NumPy "
        f"{np.__version__} and SciPy {scipy.__version__}."
    )
    return el(
        "section",
        lines(
            [
                el("h2", "Get the numbers again"),
                el("p", "Whoever has the file can compute the numbers of this page. In Python:"),
                code(in_python(*steps)),
                el("p", "On the command line:"),
                code(on_the_command_line(*steps)),
                el("p", chance) if any(pair.test is not None for pair in found.pairs) else Html(),
                el("p", made, class_="notes"),
            ]
        ),
        id="again",
    )
