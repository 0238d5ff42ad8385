"""An estimate as a table, as plain data and as a picture."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_distribution
from subsetprivacy._types import FloatArray
from subsetprivacy._words import counted
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.doubt import PROFILE
from subsetprivacy.incidence import MAX_MATRIX
from subsetprivacy.tables import Table, label_text, number, percent

if TYPE_CHECKING:
    from subsetprivacy.estimation.margins import Margin
    from subsetprivacy.estimation.result import Estimate

MOST_SHOWN, SHOWN = 64, 30


def summary(fit: "Estimate", bounds: FloatArray, level: float, method: str) -> Table:
    """Return the table to print, the level in the column names."""
    head, rows = cells(fit, bounds, level)
    words = ("weight", "weight") if fit.counts.squares is not None else ("person", "people")
    missing = f", {counted(fit.n_missing, *words)} missing and left out" if fit.n_missing else ""
    title = f"Distribution from subsets: {fit.method}, {fit.counts.n_text}{missing}"
    notes = [certificate(fit)]
    if len(rows) < fit.categories.p:
        notes.append(
            f"The {len(rows)} largest of {fit.categories.p} categories; to_frame() has all. "
            "Being picked for their size, they look larger than they are."
        )
    if fit.categories.p > MAX_MATRIX and not np.isfinite(fit._shown_se).any():
        notes.append("Standard errors: contrast({label: 1}) for one share, method='mom' for all at once.")
    if method != "wald":
        notes.append(f"The intervals are {method} intervals.")
    doubt = [note.replace(PROFILE, "") if method == "profile" else note for note in fit.notes]  # taken already
    return Table(title, head, rows, (*notes, *doubt))


def columns(fit: "Estimate | Margin", bounds: FloatArray, level: float) -> dict[str, Any]:
    """Return the columns of a data frame: a row per category, the level in the column names."""
    return {
        "category": list(fit.categories),
        "estimate": fit.w,
        "std_error": fit._shown_se,
        f"lower {percent(level)}": bounds[:, 0],
        f"upper {percent(level)}": bounds[:, 1],
    }


def cells(
    fit: "Estimate | Margin", bounds: FloatArray, level: float
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the head and the rows of a printed table: all categories, or the largest of very many."""
    se, labels = fit._shown_se, fit.categories.labels
    head = ("category", "estimate", "std. error", f"lower {percent(level)}", f"upper {percent(level)}")
    rows = ((label_text(labels[j]), *(number(x) for x in (fit.w[j], se[j], *bounds[j]))) for j in _largest(fit.w))
    return head, tuple(rows)


def _largest(w: FloatArray) -> Sequence[int]:
    """Return the positions to show, in category order: all, or the largest of very many."""
    if len(w) <= MOST_SHOWN:
        return range(len(w))
    return np.sort(np.argpartition(-w, SHOWN)[:SHOWN]).tolist()


def certificate(fit: "Estimate") -> str:
    """Say how near the estimate is to the maximum of the likelihood."""
    if not np.isfinite(fit.gap):
        return "A moment estimate, unbiased and outside the simplex. Hint: projected() gives a distribution."
    steps = f" after {counted(fit.iterations, 'iteration')}" if fit.iterations else ""
    if fit.gap < 1e-15:
        return f"log-likelihood {fit.loglik:.6g}, the maximum{steps}"
    return f"log-likelihood {fit.loglik:.6g}; at most {fit.gap:.1e} per person below the maximum{steps}"


def plain(fit: "Estimate", bounds: FloatArray, level: float) -> dict[str, Any]:
    """Return the numbers as plain lists, for JSON."""
    return {
        "categories": list(fit.categories),
        "estimate": fit.w.tolist(),
        "std_error": fit._shown_se.tolist(),
        "lower": bounds[:, 0].tolist(),
        "upper": bounds[:, 1].tolist(),
        "level": level,
        "n": fit.n,
        "n_missing": fit.n_missing,
        "method": fit.method,
        "loglik": fit.loglik,
        "gap": fit.gap,
        "iterations": fit.iterations,
        "converged": fit.converged,
        "notes": list(fit.notes),
    }


def picture(
    fit: "Estimate",
    level: float,
    reference: Any,
    kind: str,
    method: str,
    ax: Any,
    *,
    label: str | None = None,
    title: str | None = None,
) -> Any:
    """Draw the estimate, its difference to a reference, or its convergence."""
    check_choice(kind, ("estimate", "difference", "convergence"), "kind")
    labels = [label_text(label) for label in fit.categories]
    known = None if reference is None else check_distribution(reference, fit.categories.labels, "reference")
    if kind == "convergence":
        if not fit.trace:
            raise ArgumentError(f"`kind` must be another for {fit.method}, which does not iterate.")
        heading = draw.Heading(f"Convergence, {n_words(fit)}")
        return draw.convergence({label or fit.method: fit.trace}, title=title or heading, ax=ax)
    if kind == "difference":
        if known is None:
            raise ArgumentError("`reference` must be given to draw a difference.")
        what = "Estimated shares minus reference"
        heading = draw.Heading(f"{what}, {n_words(fit)}", what)
        return draw.difference(labels, {label or fit.method: fit.w}, known, title=title or heading, ax=ax)
    bounds, shown = fit._bounds(level, method), np.array(_largest(fit.w))
    which = f", the {len(shown)} largest of {len(labels):,} categories" if len(shown) < len(labels) else ""
    return draw.estimate(
        [labels[j] for j in shown],
        fit.w[shown],
        bounds[shown, 0],
        bounds[shown, 1],
        level=level,
        label=label or f"{fit.method}, {n_words(fit)}",
        reference=None if known is None else known[shown],
        title=title or heading_of("Estimated shares", fit, level, which),
        ax=ax,
    )


def heading_of(what: str, fit: "Estimate", level: float, which: str = "") -> draw.Heading:
    """Return the title of a picture of shares with intervals: what is seen, in words."""
    shared = f"{what}{which}, {100 * level:.6g}% intervals"
    return draw.Heading(f"{shared}, {n_words(fit)}", shared)


def n_words(fit: "Estimate") -> str:
    """Return the number of people with commas, as a title has it."""
    return re.sub(r"\d{4,}", lambda digits: f"{int(digits[0]):,}", fit.counts.n_text)
