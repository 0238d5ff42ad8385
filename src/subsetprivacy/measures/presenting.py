"""Two-way tables as text, columns and plots."""

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from subsetprivacy import draw
from subsetprivacy._checks import check_choice
from subsetprivacy._choices import AssociationPicture
from subsetprivacy._types import FloatArray
from subsetprivacy._words import whole
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.caveats import with_interval_advice
from subsetprivacy.estimation.margins import Margin
from subsetprivacy.estimation.presenting import method_words
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.measures.cramer import NO_ERRORS
from subsetprivacy.measures.precision import if_possible, if_quick, not_computed
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_analyses import ALL_PAIRS, ASK_FOR_ERRORS_AND_V, KIND_CONDITIONAL
from subsetprivacy.results import plain as dictionary
from subsetprivacy.tables import Table, label_text, number

if TYPE_CHECKING:
    from subsetprivacy.measures.result import Association

KINDS: tuple[AssociationPicture, ...] = get_args(AssociationPicture)
MAX_SIDE = 24  # the most rows or columns of a printed table; of a larger one, this many cells are listed


def caveats(fit: Estimate) -> tuple[Note, ...]:
    """Return the caveats of the joint estimate, without advice that does not apply here."""
    return with_interval_advice(fit.notes, None)


def notes(both: "Association") -> tuple[Note, ...]:
    """Return the caveats of a joint table, and what was not computed."""
    raw, corrected = both._shown_v
    absent = not_computed(both.fit, "standard errors, and V is not corrected for its bias", ASK_FOR_ERRORS_AND_V)
    if not absent and corrected != corrected and raw == raw:
        absent = (NO_ERRORS,)
    return (*absent, *caveats(both.fit))


def with_errors(values: FloatArray, errors: FloatArray) -> list[list[str]]:
    """Return cells such as '0.1234 (0.0100)', or without brackets if there is no standard error."""
    return [
        [
            number(value) if error != error else f"{number(value)} ({number(error)})"
            for value, error in zip(*line, strict=True)
        ]
        for line in zip(values, errors, strict=True)
    ]


def is_large(table: FloatArray) -> bool:
    """Return whether a table has too many rows or columns to print."""
    return max(table.shape) > MAX_SIDE


def listed(pair: Margin, values: FloatArray, errors: FloatArray) -> tuple[tuple[tuple[str, ...], ...], Note]:
    """Return a line for each of the largest joint shares, with a value and its standard error, and a note."""
    first, second = pair.categories.parts  # type: ignore[attr-defined]
    largest = np.argsort(-pair.w, kind="stable")[:MAX_SIDE]
    cells = with_errors(values.reshape(-1, 1)[largest], errors.reshape(-1, 1)[largest])
    at = np.divmod(largest, second.p)
    lines = tuple((str(first.labels[i]), str(second.labels[j]), cell) for i, j, (cell,) in zip(*at, cells, strict=True))
    text = f"The pairs with the {len(lines)} largest of {whole(pair.categories.p)} joint shares."
    return lines, Note(NoteKind.SHORTENED, text, ALL_PAIRS)


def cross_table(both: "Association") -> Table:
    """Return the joint shares with standard errors, the margins at the edges, and Cramér's V below."""
    first, second = both.names
    raw, corrected = both._shown_v
    line = f"Cramér's V {number(raw)}, corrected for its upward bias {number(corrected)}."
    title = f"{first} and {second}: {described(both.fit)}"
    below: tuple[Note | str, ...] = (line, *both.notes)
    if is_large(both.table):
        lines, note = listed(both.pair, both.table, both._shown_se)
        return Table(title, (first, second, "share"), lines, (note, *below))
    cells = with_errors(both.table, both._shown_se)
    right, foot = _edge(both.rows), _edge(both.columns)
    labels = [label_text(label) for label in both.rows.categories]
    body = [(label, *line, edge) for label, line, edge in zip(labels, cells, right, strict=True)]
    head = (f"{first} \\ {second}", *(label_text(label) for label in both.columns.categories), "all")
    rows = (*body, ("all", *foot, number(float(both.table.sum()))))
    return Table(title, head, rows, below)


def _edge(margin: Margin) -> list[str]:
    errors = if_quick(margin.fit, lambda: margin._se, margin.w.shape)
    return with_errors(margin.w[None, :], errors[None, :])[0]


def described(fit: Estimate) -> str:
    """Return method and number of people, for headings."""
    return f"{method_words(fit)}, {fit.n_text}"


def plain(both: "Association", level: float) -> dict[str, Any]:
    """Return the numbers of a joint table as plain lists, a list per row."""
    raw, corrected = both._shown_v
    lower, upper = np.moveaxis(both._bounds(level, both._shown_se), -1, 0)
    return dictionary(
        {
            "variables": both.names,
            "rows": list(both.rows.categories),
            "columns": list(both.columns.categories),
            "estimate": both.table,
            "se": both._shown_se,
            "lower": lower,
            "upper": upper,
            "level": level,
            "n": both.n,
            "method": both.fit.method,
            "cramers_v": raw,
            "cramers_v_corrected": corrected,
            "notes": both.notes,
        }
    )


def cells(both: "Association", level: float) -> dict[str, Any]:
    """Return the columns of the long data frame of a joint table."""
    errors = if_possible(lambda: both._se, both.table.shape)
    residuals = if_possible(lambda: both._residuals, both.table.shape)
    more = {"count": both.counts, "expected": both.expected, "residual": residuals}
    return long_columns(both.pair, both.table, errors, both._bounds(level, errors), level, more)


def long_columns(
    pair: Margin,
    table: FloatArray,
    errors: FloatArray,
    bounds: FloatArray,
    level: float,
    more: Mapping[str, FloatArray] | None = None,
) -> dict[str, Any]:
    """Return the columns of a long data frame: both categories, the shares with their intervals, and other numbers."""
    first, second = (part.labels for part in pair.categories.parts)  # type: ignore[attr-defined]
    pairs = list(product(first, second))
    numbers = {
        "estimate": table.ravel(),
        "se": errors.ravel(),
        "lower": bounds[..., 0].ravel(),
        "upper": bounds[..., 1].ravel(),
        "level": [level] * len(pairs),
        **{name: values.ravel() for name, values in (more or {}).items()},
    }
    # A variable may have the same name as a column of numbers.
    names = [f"{name} (category)" if name in numbers else name for name in pair.names]
    return {names[0]: [cell[0] for cell in pairs], names[1]: [cell[1] for cell in pairs], **numbers}


def picture(both: "Association", kind: AssociationPicture, given: str | None, title: str | None, ax: Any) -> draw.Axes:
    """Plot the shares, the conditional shares or the residuals."""
    if check_choice(kind, KINDS, "kind") == "conditional":
        return both.conditional(given).plot(title=title, ax=ax)
    if given is not None:
        raise ArgumentError(f"`given` must be left out for {kind}; got one.", KIND_CONDITIONAL)
    residuals = kind == "residuals"
    what = "Dependence" if residuals else "Estimated joint shares"
    return draw.heatmap(
        [label_text(label) for label in both.rows.categories],
        [label_text(label) for label in both.columns.categories],
        both._residuals if residuals else 100 * both.table,
        row_name=both.names[0],
        column_name=both.names[1],
        label="difference from independence, in standard errors" if residuals else "share of the population, %",
        diverging=residuals,
        title=title or draw.Heading(f"{what} of {both.names[0]} and {both.names[1]}, {both.fit.n_text}"),
        ax=ax,
    )
