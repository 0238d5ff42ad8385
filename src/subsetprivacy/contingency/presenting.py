"""Output of a log-linear model: summary, data frame, JSON and plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from subsetprivacy import draw
from subsetprivacy._choices import ParameterInterval
from subsetprivacy.data.describing import shortened
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.pvalues import positive, pvalue_text
from subsetprivacy.tables import Table, number, percent

if TYPE_CHECKING:
    from subsetprivacy.contingency.result import LogLinear

_MOST_ROWS = 60  # the most parameters in a printed table


def parameter_text(value: float) -> str:
    """Return the name of a parameter for output."""
    if np.isinf(value):
        return "∞" if value > 0 else "-∞"
    return number(value)


def summary_of(fit: LogLinear, level: float, method: ParameterInterval) -> Table:
    """Return the table of parameters, with the notes."""
    columns = frame_columns(fit, level, method)
    names = ("parameter", "estimate", "se", "lower", "upper", "pvalue", "price")
    rows = tuple(
        (name, *map(parameter_text, numbers), pvalue_text(p), number(price, 1))
        for name, *numbers, p, price in list(zip(*(columns[column] for column in names), strict=True))[:_MOST_ROWS]
    )
    head = ("parameter", "estimate", "se", f"lower {percent(level)}", f"upper {percent(level)}", "p-value", "price")
    how = interval_note(fit._interval_method(method, len(fit.labels)))
    short = shortened(len(rows), len(fit.labels), "parameters")
    return Table(f"Log-linear model {fit.model}, {fit.counts.n_text}", head, rows, (how, *short, *fit.notes))


def interval_note(method: str) -> Note:
    """Return a note on the method of intervals and p-values."""
    both = "Intervals and p-values by method 'wald'."
    text = both if method == "wald" else "Intervals by method 'profile', p-values by Wald's test."
    return Note(NoteKind.INTERVAL_METHOD, text)


def frame_columns(fit: LogLinear, level: float, method: ParameterInterval = "auto") -> dict[str, Any]:
    """Return the columns of the data frame, with a row per parameter."""
    ends = fit.interval(level, method=method)
    terms = [fit.structure.term_names[fit.structure.term_of(k)] for k in range(len(fit.labels))]
    return {
        "parameter": list(fit.labels),
        "term": terms,
        "estimate": fit.estimates,
        "se": fit.se,
        "lower": ends[:, 0],
        "upper": ends[:, 1],
        "pvalue": np.array([positive(p) for p in fit.pvalues]),
        "level": np.full(len(ends), level),
        "interval": [fit._interval_method(method, len(ends))] * len(ends),
        "price": fit.price,
    }


def facts_of(fit: LogLinear) -> dict[str, Any]:
    """Return all numbers under stable names."""
    columns = frame_columns(fit, 0.95)
    test = fit.goodness_of_fit
    names = ("n", "n_missing", "n_effective", "loglik", "df", "aic", "bic", "gap", "converged", "maxima")
    return {
        "model": fit.model,
        "generators": fit.generators,
        "variables": [
            {"name": name, "categories": part.labels, "baseline": fit.baseline[name]}
            for name, part in zip(fit.names, fit.categories.parts, strict=True)
        ],
        "known": [[fit.names[k] for k in variables] for variables in fit.margins],
        "parameters": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        "cov": fit.cov if fit.fit.cov is not None else None,
        "robust": fit.is_robust,
        **{name: getattr(fit, name) for name in names},
        "separated": fit.separated,
        "zeros": fit.zeros,
        "shares": fit.w,
        "goodness_of_fit": {"statistic": test.statistic[0], "df": int(test.df[0]), "pvalue": test.pvalue[0]},
        "notes": fit.notes,
    }


def plot_of(fit: LogLinear, level: float, method: ParameterInterval, heading: str | None) -> draw.Figure:
    """Plot the parameters of the interactions, a panel for each order of interaction."""
    orders = np.array([len(fit.terms[fit.structure.term_of(k)]) for k in range(len(fit.labels))])
    shown = np.flatnonzero(orders > 1) if (orders > 1).any() else np.arange(len(orders))
    ends = fit.interval(level, method=method)
    what = "Interactions" if (orders > 1).any() else "Main effects"
    title = f"{what} in {fit.model}, {percent(level)} intervals, n = {fit.counts.n:,.0f}"
    return draw.forest(
        [fit.labels[k] for k in shown],
        ["relative to the baselines"],
        fit.estimates[None, shown],
        ends[None, shown, 0],
        ends[None, shown, 1],
        level=level,
        what="log odds ratio" if (orders > 1).any() else "log odds",
        title=title if heading is None else heading,
    )
