"""Presentation of a regression on private predictors: summary, frame, numbers and picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from subsetprivacy import draw
from subsetprivacy._choices import CoefficientInterval
from subsetprivacy._types import FloatArray
from subsetprivacy.pvalues import positive, pvalue_text
from subsetprivacy.regression.presenting import METHODS, coefficient_text, with_unit
from subsetprivacy.tables import Table, label_text, number, percent

if TYPE_CHECKING:
    from subsetprivacy.predictors.result import OutcomeRegression

_FAMILIES = {"linear": "Linear model", "logit": "Logit", "poisson": "Poisson regression"}
_EFFECTS = {"linear": "change in the mean", "logit": "log odds ratio", "poisson": "log rate ratio"}


def title(fit: OutcomeRegression) -> str:
    """Return what was fitted, in words."""
    kind = _FAMILIES[fit.family]
    if fit.categories is not None and len(fit.categories) > 2:
        kind = "Multinomial logit"
    private = ", ".join(fit.layout.private)
    drawn = "" if fit.problem.sampling is None else fit.problem.sampling.drawn_text
    people = f"n = {fit.n:,.0f}{drawn}"
    return f"{kind} of {fit.response} with private {private} by {METHODS[fit.method]}, {people}"


def summary_of(fit: OutcomeRegression, level: float, method: CoefficientInterval) -> Table:
    """Return the table of coefficients, with the notes."""
    columns = frame_columns(fit, level, method)
    words = [name for name in ("category", "term") if name in columns]
    head = (*words, "estimate", "se", f"lower {percent(level)}", f"upper {percent(level)}", "p-value")
    priced = bool(np.isfinite(fit.price).any())
    rows = []
    for k in range(fit.df):
        numbers = (columns[name][k] for name in ("estimate", "se", "lower", "upper"))
        texts = (label_text(columns[name][k]) for name in words)
        price = (number(columns["price"][k], 2),) if priced else ()
        rows.append((*texts, *map(coefficient_text, numbers), pvalue_text(columns["pvalue"][k]), *price))
    head = (*head, "price") if priced else head
    return Table(title(fit), head, tuple(rows), fit.notes, text_columns=len(words))


def frame_columns(fit: OutcomeRegression, level: float, method: CoefficientInterval) -> dict[str, Any]:
    """Return the columns of the frame: a row per coefficient, with its category for a private outcome."""
    ends = fit.interval(level, method=method)
    named: dict[str, Any] = {"term": list(fit.labels)}
    if fit.categories is not None:
        named = {"category": [label for label, _ in fit.labels], "term": [term for _, term in fit.labels]}
    return {
        **named,
        "estimate": fit.estimates,
        "se": fit._se(method),
        "lower": ends[:, 0],
        "upper": ends[:, 1],
        "pvalue": np.array([positive(p) for p in fit._pvalues(method)]),
        "level": np.full(len(ends), level),
        "price": fit.price,
    }


def facts_of(fit: OutcomeRegression) -> dict[str, Any]:
    """Return all numbers under stable names."""
    columns = frame_columns(fit, 0.95, "auto")
    comparison = fit.specification
    names = ("n", "n_missing", "n_effective", "loglik", "df", "aic", "gap", "scale")
    return {
        "outcome": fit.name,
        "family": fit.family,
        "method": fit.method,
        "modeled": fit.modeled,
        "categories": fit.categories,
        "private": [
            {"name": name, "labels": categories.labels, "baseline": fit.baselines[name]}
            for name, categories in fit.layout.private.items()
        ],
        "terms": list(fit.layout.terms),
        "coefficients": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        "cov": fit.cov,
        "robust": fit.problem.is_robust,
        "degrees_of_freedom": fit.degrees_of_freedom,
        "design_effects": fit.design_effects,
        **{name: getattr(fit, name) for name in names},
        "converged": fit.converged,
        "maxima": fit.maxima,
        "separated": fit.separated,
        "rare": fit.rare,
        "unsolved": fit.fit.unsolved,
        "specification": {
            "statistic": comparison.statistic[0],
            "df": int(comparison.df[0]),
            "pvalue": comparison.pvalue[0],
        },
        "notes": fit.notes,
    }


def plot_of(fit: OutcomeRegression, level: float, method: CoefficientInterval, heading: str | None) -> draw.Figure:
    """Draw the coefficients, with a panel per category of a private outcome."""
    ends = fit.interval(level, method=method)
    kept = [k for k in range(len(fit.layout.names)) if k != fit.layout.intercept]
    unit = _units(fit)
    b, low, high = (x.reshape(-1, len(unit))[:, kept] * unit[kept] for x in (fit.estimates, *ends.T))
    rows = [with_unit(fit.layout.names[k], unit[k]) for k in kept]
    text = title(fit) if heading is None else heading
    if fit.categories is None:
        axis = f"{_EFFECTS[fit.family]}, {percent(level)} interval"
        figure: Any = draw.by_row(rows, {fit.response: (b[0], low[0], high[0])}, xlabel=axis, zero=True).figure
        figure.suptitle(text, fontsize="large")  # over the names of the rows, too, since it is long
        return figure
    baseline = label_text(fit.categories[0])
    panels = [f"{label_text(label)} rather than {baseline}" for label in fit.categories[1:]]
    return draw.forest(rows, panels, b, low, high, level=level, what=_EFFECTS[fit.family], title=text)


def _units(fit: OutcomeRegression) -> FloatArray:
    """Return the change of each observed column that is drawn: 1 for a level, one standard deviation for a number."""
    V = fit.problem.people.V
    level = np.array([bool(np.isin(column, (0.0, 1.0)).all()) for column in V.T])
    return np.where(level, 1.0, fit.problem.spread)[fit.layout.seen]
