"""An estimate as a table, as plain data and as a picture."""

from typing import TYPE_CHECKING, Any

import numpy as np

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_distribution
from subsetprivacy._types import FloatArray
from subsetprivacy.errors import ArgumentError
from subsetprivacy.tables import Table, number, percent

if TYPE_CHECKING:
    from subsetprivacy.estimation.result import Estimate


def summary(fit: "Estimate", bounds: FloatArray, level: float, method: str) -> Table:
    """Return the table to print, the level in the column names."""
    rows = tuple(
        (str(label), number(w), number(se), number(low), number(high))
        for label, w, se, (low, high) in zip(fit.categories, fit.w, fit._se, bounds, strict=True)
    )
    columns = ("category", "estimate", "std. error", f"lower {percent(level)}", f"upper {percent(level)}")
    what = "weight" if fit.counts.squares is not None else "people"
    missing = f", {fit.n_missing:.0f} {what} missing and left out" if fit.n_missing else ""
    title = f"Distribution from subsets: {fit.method}, {fit.counts.n_text}{missing}"
    notes = [certificate(fit)]
    if method != "wald":
        notes.append(f"The intervals are {method} intervals.")
    return Table(title, columns, rows, (*notes, *fit.notes))


def certificate(fit: "Estimate") -> str:
    """Say how near the estimate is to the maximum of the likelihood."""
    if not np.isfinite(fit.gap):
        return "A moment estimate, unbiased and outside the simplex. Hint: projected() gives a distribution."
    steps = f" after {fit.iterations} iteration{'s' * (fit.iterations != 1)}" if fit.iterations else ""
    if fit.gap < 1e-15:
        return f"log-likelihood {fit.loglik:.6g}, the maximum{steps}"
    return f"log-likelihood {fit.loglik:.6g}; at most {fit.gap:.1e} per person below the maximum{steps}"


def plain(fit: "Estimate", bounds: FloatArray, level: float) -> dict[str, Any]:
    """Return the numbers as plain lists, for JSON."""
    return {
        "categories": list(fit.categories),
        "estimate": fit.w.tolist(),
        "std_error": fit._se.tolist(),
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


def picture(fit: "Estimate", level: float, reference: Any, kind: str, method: str, ax: Any) -> Any:
    """Draw the estimate, its difference to a reference, or its convergence."""
    check_choice(kind, ("estimate", "difference", "convergence"), "kind")
    labels = [str(label) for label in fit.categories]
    known = None if reference is None else check_distribution(reference, fit.categories.labels, "reference")
    if kind == "convergence":
        if not fit.trace:
            raise ArgumentError(f"`kind` must be another for {fit.method}, which does not iterate.")
        return draw.convergence({fit.method: fit.trace}, ax=ax)
    if kind == "difference":
        if known is None:
            raise ArgumentError("`reference` must be given to draw a difference.")
        return draw.difference(labels, {fit.method: fit.w}, known, ax=ax)
    bounds = fit._bounds(level, method)
    title = f"{fit.method}, {fit.counts.n_text}"
    return draw.estimate(labels, fit.w, bounds[:, 0], bounds[:, 1], level=level, reference=known, title=title, ax=ax)
