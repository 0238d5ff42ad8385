"""Two-way tables as text, as columns and as pictures."""

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from subsetprivacy import draw
from subsetprivacy._checks import check_choice
from subsetprivacy._types import FloatArray
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.doubt import PROFILE
from subsetprivacy.estimation.margins import Margin
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.tables import Table, number, percent

if TYPE_CHECKING:
    from subsetprivacy.measures.result import Association

KINDS = ("shares", "conditional", "residuals")


def doubts(fit: Estimate) -> tuple[str, ...]:
    """Return the doubts about the joint estimate, without advice that does not apply here."""
    return tuple(note.removesuffix(PROFILE) for note in fit.notes)


def with_errors(values: FloatArray, errors: FloatArray) -> list[list[str]]:
    """Return cells such as '0.1234 (0.0100)'."""
    return [
        [f"{number(value)} ({number(error)})" for value, error in zip(*line, strict=True)]
        for line in zip(values, errors, strict=True)
    ]


def cross_table(both: "Association") -> Table:
    """Return the joint shares with their errors, the margins at the edges, Cramér's V below."""
    one, two = both.names
    cells = with_errors(both.table, both._se)
    right = with_errors(both.rows.w[:, None], both.rows._se[:, None])
    foot = with_errors(both.columns.w[None, :], both.columns._se[None, :])[0]
    labels = [str(label) for label in both.rows.categories]
    body = [(label, *line, *edge) for label, line, edge in zip(labels, cells, right, strict=True)]
    head = (f"{one} \\ {two}", *(str(label) for label in both.columns.categories), "all")
    raw, corrected = both._shown_v
    line = f"Cramér's V {number(raw)}, corrected for its upward bias {number(corrected)}."
    rows = (*body, ("all", *foot, number(float(both.table.sum()))))
    return Table(f"{one} and {two}: {described(both.fit)}", head, rows, (line, *both.notes))


def described(fit: Estimate) -> str:
    """Return method and number of people, for headings."""
    return f"{fit.method}, {fit.counts.n_text}"


def cells(both: "Association", level: float) -> dict[str, Any]:
    """Return the columns of the long data frame of a joint table."""
    half = float(ndtri(0.5 + level / 2)) * both._se.ravel()
    bounds = np.column_stack([both.pair.w - half, both.pair.w + half])
    columns = {
        "estimate": both.pair.w,
        "std_error": both._se.ravel(),
        "count": both.counts.ravel(),
        "expected": both.expected.ravel(),
        "residual": both._residuals.ravel(),
    }
    return long(both.pair, columns, np.clip(bounds, 0.0, 1.0) if both.fit.in_simplex else bounds, level)


def long(pair: Margin, columns: Mapping[str, Any], bounds: FloatArray, level: float) -> dict[str, Any]:
    """Return the columns of a long data frame: the two categories, the numbers, the interval."""
    one, two = (part.labels for part in pair.categories.parts)  # type: ignore[attr-defined]
    pairs = list(product(one, two))
    numbers = {**columns, f"lower {percent(level)}": bounds[:, 0], f"upper {percent(level)}": bounds[:, 1]}
    # A variable may be called as one of the numbers is.
    names = [f"{name} (category)" if name in numbers else name for name in pair.names]
    return {names[0]: [cell[0] for cell in pairs], names[1]: [cell[1] for cell in pairs], **numbers}


def picture(both: "Association", kind: str, given: str | None, title: str | None, ax: Any) -> Any:
    """Draw the shares, the conditional shares or the residuals."""
    if check_choice(kind, KINDS, "kind") == "conditional":
        return both.conditional(given).plot(title=title, ax=ax)
    if given is not None:
        raise ArgumentError(f"`given` must be left out for {kind}; got one. Hint: kind='conditional'.")
    residuals = kind == "residuals"
    return draw.heatmap(
        [str(label) for label in both.rows.categories],
        [str(label) for label in both.columns.categories],
        both._residuals if residuals else 100 * both.table,
        row_name=both.names[0],
        column_name=both.names[1],
        label="difference to independence, in standard errors" if residuals else "share of the population, %",
        diverging=residuals,
        title=title or f"{both.names[0]} and {both.names[1]}: {described(both.fit)}",
        ax=ax,
    )
