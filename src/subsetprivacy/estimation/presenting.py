"""An estimate as a table, as plain data and as a picture."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_distribution
from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy._words import counted
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.caveats import with_interval_advice
from subsetprivacy.incidence import MAX_MATRIX
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_estimates import ALL_ROWS, SINGLE_ERRORS
from subsetprivacy.results import plain as dictionary
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import Table, label_text, number, percent
from subsetprivacy.variables import JointCategories

if TYPE_CHECKING:
    from subsetprivacy.estimation.intervals import Intervals
    from subsetprivacy.estimation.margins import Margin
    from subsetprivacy.estimation.result import Estimate

MOST_SHOWN, SHOWN = 64, 30


def summary(fit: "Estimate", intervals: "Intervals", level: float) -> Table:
    """Return the table to print, with the level in the column names."""
    head, rows = cells(fit, intervals.at, intervals.bounds, level)
    words = ("weight", "weight") if fit.counts.squares is not None else ("person", "people")
    missing = f", {counted(fit.n_missing, *words)} missing and left out" if fit.n_missing else ""
    title = f"Estimated shares, {method_words(fit)}, {fit.n_text}{missing}"
    notes = [] if not np.isfinite(fit.gap) or fit.is_constrained else [certificate(fit)]
    if len(rows) < len(intervals.at):
        text = (
            f"The {len(rows)} largest of {len(intervals.at)} categories. Shares selected for their size are "
            "overestimated on average."
        )
        notes.append(Note(NoteKind.SHORTENED, text, ALL_ROWS))
    if fit.categories.p > MAX_MATRIX and not np.isfinite(fit._shown_se).any():
        notes.append(Note(NoteKind.NO_STANDARD_ERRORS, "Too many categories for standard errors.", SINGLE_ERRORS))
    kinds = set(intervals.kinds)
    if fit.design_effects is not None:
        effects, shown = fit.design_effects[intervals.at], largest(fit.w[intervals.at])
        head = (*head, "design effect")
        rows = tuple((*row, number(effects[k], 2)) for row, k in zip(rows, shown, strict=True))
    if len(kinds) > 1:
        shown = largest(fit.w[intervals.at])
        head, rows = (*head, "interval"), tuple((*row, intervals.kinds[k]) for row, k in zip(rows, shown, strict=True))
    notes.extend(interval_notes(intervals))
    # If the intervals are reliable, they already follow the advice of the notes.
    caveats = with_interval_advice(fit.notes, intervals.advice if intervals.unreliable else None)
    return Table(title, head, rows, (*notes, *caveats))


def interval_notes(intervals: "Intervals") -> list[Note]:
    """Return notes on how the intervals were made."""
    notes = [Note(NoteKind.INTERVAL_METHOD, KINDS[kind]) for kind in KINDS if kind in intervals.kinds]
    return [*notes, Note(NoteKind.SIMULTANEOUS, SIMULTANEOUS[intervals.together])] if intervals.together else notes


SIMULTANEOUS = {  # notes on simultaneous intervals
    "normal": "The level holds for all intervals jointly, by the joint normal distribution of the estimates.",
    "bonferroni": "The level holds for all intervals jointly, by Bonferroni's inequality.",
}


KINDS = {  # notes on the intervals of a table
    "adjusted": "Intervals by method 'adjusted': profile likelihood, corrected near 0 and 1.",
    "profile": "Intervals by method 'profile': profile likelihood.",
    "bootstrap": "Intervals by method 'bootstrap': percentiles of resampled estimates.",
    "wald": "Intervals by method 'wald': estimate and standard error.",
}


def columns(fit: "Estimate", intervals: "Intervals", level: float) -> dict[str, Any]:
    """Return the columns of a data frame: a row per category."""
    labels = fit.categories.labels
    return {
        **shares(
            [labels[j] for j in intervals.at], fit.w[intervals.at], fit._shown_se[intervals.at], intervals.bounds, level
        ),
        "interval": list(intervals.kinds),
        **({} if fit.design_effects is None else {"design_effect": fit.design_effects[intervals.at]}),
    }


def shares(labels: list[Any], w: FloatArray, se: FloatArray, bounds: FloatArray, level: float) -> dict[str, Any]:
    """Return the columns that every table of shares has."""
    return {
        "category": labels,
        "estimate": w,
        "se": se,
        "lower": bounds[:, 0],
        "upper": bounds[:, 1],
        "level": [level] * len(labels),
    }


def cells(
    fit: "Estimate | Margin", at: IntArray, bounds: FloatArray, level: float
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the header and the rows of a printed table of the categories at `at`, or of the largest of very many."""
    w, se, labels = fit.w[at], fit._shown_se[at], fit.categories.labels
    head = ("category", "estimate", "std. error", f"lower {percent(level)}", f"upper {percent(level)}")
    rows = ((label_text(labels[at[k]]), *(number(x) for x in (w[k], se[k], *bounds[k]))) for k in largest(w))
    return head, tuple(rows)


def largest(w: FloatArray) -> Sequence[int]:
    """Return the positions to show, in category order: all of them, or the largest of very many."""
    if len(w) <= MOST_SHOWN:
        return range(len(w))
    return np.sort(np.argsort(-w, kind="stable")[:SHOWN]).tolist()  # of equal shares the first, on every processor


def certificate(fit: "Estimate") -> Note:
    """Return a note on how close the estimate is to the maximum of the likelihood."""
    steps = f" after {counted(fit.iterations, 'iteration')}" if fit.iterations else ""
    if fit.gap < 1e-15:
        return Note(NoteKind.MAXIMUM, f"log-likelihood {fit.loglik:.6g}, the maximum{steps}")
    below = f"at most {fit.gap:.1e} per person below the maximum"
    return Note(NoteKind.MAXIMUM, f"log-likelihood {fit.loglik:.6g}; {below}{steps}")


def plain(fit: "Estimate", intervals: "Intervals", level: float) -> dict[str, Any]:
    """Return the numbers as plain lists, for JSON."""
    labels = fit.categories.labels
    return dictionary(
        {
            "categories": [labels[j] for j in intervals.at],
            "estimate": fit.w[intervals.at],
            "se": fit._shown_se[intervals.at],
            "lower": intervals.bounds[:, 0],
            "upper": intervals.bounds[:, 1],
            "interval": intervals.kinds,
            "level": level,
            "simultaneous": intervals.together or None,
            "n": fit.n,
            "n_missing": fit.n_missing,
            "method": fit.method,
            "loglik": fit.loglik,
            "gap": fit.gap,
            "iterations": fit.iterations,
            "converged": fit.converged,
            **sampled(fit, intervals.at),
            "notes": fit.notes,
        }
    )


def sampled(fit: "Estimate", at: IntArray) -> dict[str, Any]:
    """Return how the people were sampled as plain data; empty if `sampling` was not passed."""
    if fit.survey is None or fit.design_effects is None:
        return {}
    return {
        "people": fit.survey.people,
        "design_effect": fit.design_effects[at],
        "degrees_of_freedom": fit.survey.degrees_of_freedom,
        "variance": fit.survey.sampling.method,
    }


def picture(
    fit: "Estimate",
    request: tuple[Any, ...],
    reference: Any,
    kind: str,
    ax: Any,
    *,
    sort: bool | None = None,
    label: str | None = None,
    title: str | None = None,
) -> Any:
    """Plot the estimate, its difference from a reference, or its convergence."""
    check_choice(kind, ("estimate", "difference", "convergence"), "kind")
    labels = [label_text(label) for label in fit.categories]
    known = None if reference is None else check_distribution(reference, fit.categories.labels, "reference")
    if kind == "convergence":
        if not fit.trace:
            raise ArgumentError(f"`kind` must be another for {fit.method}, which does not iterate.")
        heading = draw.Heading(f"Gap to the largest likelihood at each step, {fit.n_text}")
        return draw.convergence({label or method_words(fit): fit.trace}, title=title or heading, ax=ax)
    if kind == "difference" and known is None:
        raise ArgumentError("`reference` must be given to draw a difference; got none.")
    intervals = fit._intervals(*request)
    level, shown = request[0], np.array(largest(fit.w[intervals.at]))
    at, bounds = intervals.at[shown], intervals.bounds[shown]
    shown_labels = [labels[j] for j in at]
    which = f", the {len(shown)} largest of {len(intervals.at):,} categories" if len(shown) < len(intervals.at) else ""
    name = label or f"{method_words(fit)}, {fit.n_text}"
    if kind == "difference" and known is not None:
        return draw.difference(
            shown_labels,
            {name: fit.w[at]},
            known[at],
            intervals={name: bounds},
            level=level,
            title=title or heading_of("Estimated shares minus reference", fit, level, which),
            ax=ax,
        )
    return draw.estimate(
        shown_labels,
        fit.w[at],
        bounds[:, 0],
        bounds[:, 1],
        level=level,
        label=name,
        reference=None if known is None else known[at],
        sort=is_sorted(fit.categories, sort),
        title=title or heading_of("Estimated shares", fit, level, which),
        ax=ax,
    )


def is_sorted(categories: Categories, sort: bool | None) -> bool:
    """Return whether a picture has the largest share on top: as asked, else unless the categories have an order."""
    if sort is not None:
        return sort
    return not isinstance(categories, JointCategories) and not draw.have_an_order(
        [label_text(label) for label in categories]
    )


def heading_of(what: str, fit: "Estimate", level: float, which: str = "") -> draw.Heading:
    """Return the title of a plot of shares with intervals."""
    shared = f"{what}{which}, {100 * level:.6g}% intervals"
    return draw.Heading(f"{shared}, {fit.n_text}", shared)


METHODS = {  # estimators in words
    "mle": "maximum likelihood",
    "em": "maximum likelihood by EM",
    "icm": "maximum likelihood by ICM",
    "conic": "maximum likelihood by a conic solver",
    "one-step": "one Newton step from moments",
    "mom": "moments",
    "mom-conditional": "moments given the questions",
    "mom-uniform": "moments in closed form",
    "raked": "raked to known margins",
}


def method_words(fit: "Estimate") -> str:
    """Return the method in words, for titles."""
    name, comma, projected = fit.method.partition(", ")
    return f"{METHODS.get(name, name)}{comma}{projected}"
