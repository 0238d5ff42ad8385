"""Presentation of a regression: labels of parameters, summary, frame, numbers and picture."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from subsetprivacy import draw
from subsetprivacy._choices import CoefficientInterval
from subsetprivacy._types import FloatArray, Label
from subsetprivacy.pvalues import positive, pvalue_text
from subsetprivacy.tables import Table, label_text, number, percent

if TYPE_CHECKING:
    from subsetprivacy.regression.result import Regression

ALL = "all"  # shown as the category of slopes that all categories share
CUT_POINT = "cut point"
_FAMILIES = {"logit": "Logit", "ordinal": "Proportional odds"}
METHODS = {"ml": "maximum likelihood", "corrected": "corrected scores"}


def parameter_labels(fit: Regression) -> tuple[tuple[Label, str], ...]:
    """Return the category and the term of every parameter."""
    labels, names = fit.categories.labels, fit.columns.names
    if fit.family == "ordinal":
        cuts = [(f"{label_text(a)} | {label_text(b)}", CUT_POINT) for a, b in pairwise(labels)]
        return (*cuts, *((ALL, name) for name in names))
    return tuple((label, name) for label in labels if label != fit.baseline for name in names)


def model_columns(X: FloatArray, fit: Regression) -> FloatArray:
    """Return the columns of the model, from those that the encoder makes."""
    if X.shape[1] == fit.problem.blocks.d:
        return X
    return np.ascontiguousarray(np.delete(X, fit.columns.encoder.columns.index("Intercept"), axis=1))


def title(fit: Regression) -> str:
    """Return what was fitted, in words."""
    of = "two categories" if fit.categories.p == 2 else f"{fit.categories.p} categories"
    kind = "Ordered logit" if fit.family == "ordinal" else ("Logit" if fit.categories.p == 2 else "Multinomial logit")
    drawn = "" if fit.sampling is None else fit.sampling.drawn_text
    return f"{kind} of {fit.name} ({of}) by {METHODS[fit.method]}, n = {fit.n:,.0f}{drawn}"


def summary_of(fit: Regression, level: float, method: CoefficientInterval) -> Table:
    """Return the table of coefficients, with the notes."""
    columns = frame_columns(fit, level, method)
    head: tuple[str, ...]
    head = ("category", "term", "estimate", "se", f"lower {percent(level)}", f"upper {percent(level)}", "p-value")
    rows = tuple(
        (label_text(category), term, *map(coefficient_text, numbers), pvalue_text(p))
        for category, term, *numbers, p in zip(
            *(columns[name] for name in ("category", "term", "estimate", "se", "lower", "upper", "pvalue")), strict=True
        )
    )
    if np.isfinite(fit.price).any():
        head = (*head, "price")
        rows = tuple((*row, number(price, 2)) for row, price in zip(rows, fit.price, strict=True))
    if fit.design_effects is not None:
        head = (*head, "design effect")
        rows = tuple((*row, number(effect, 2)) for row, effect in zip(rows, fit.design_effects, strict=True))
    return Table(title(fit), head, rows, fit.notes, text_columns=2)


def coefficient_text(value: float) -> str:
    """Return a coefficient as text, with four decimals, or more for small ones."""
    if np.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0 or abs(value) >= 0.01 or np.isnan(value):
        return number(value)
    return f"{value:.3g}"


def frame_columns(fit: Regression, level: float, method: CoefficientInterval) -> dict[str, Any]:
    """Return the columns of the frame: a row per category and term."""
    ends = fit.interval(level, method=method)
    pvalues = np.array([positive(p) for p in fit._pvalues(method)])
    return {
        "category": [category for category, _ in fit.labels],
        "term": [term for _, term in fit.labels],
        "estimate": fit.estimates,
        "se": fit._se(method),
        "lower": ends[:, 0],
        "upper": ends[:, 1],
        "pvalue": pvalues,
        "level": np.full(len(ends), level),
        "price": fit.price,
        **({} if fit.design_effects is None else {"design_effect": fit.design_effects}),
    }


def facts_of(fit: Regression) -> dict[str, Any]:
    """Return all numbers under stable names."""
    columns = frame_columns(fit, 0.95, "auto")
    specification = fit.specification
    names = ("n", "n_missing", "n_effective", "loglik", "null_loglik", "df", "aic", "bic", "pseudo_r2", "gap")
    return {
        "response": fit.name,
        "family": fit.family,
        "method": fit.method,
        "categories": fit.categories.labels,
        "baseline": fit.baseline,
        "terms": list(fit.columns.terms),
        "coefficients": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        "cov": fit.cov,
        "robust": fit.is_robust,
        "degrees_of_freedom": fit.degrees_of_freedom,
        **{name: getattr(fit, name) for name in names},
        "converged": fit.converged,
        "maxima": fit.maxima,
        "separated": fit.separated,
        "specification": {
            "statistic": specification.statistic[0],
            "df": int(specification.df[0]),
            "pvalue": specification.pvalue[0],
        },
        "chosen": dict(fit.chosen),
        "notes": fit.notes,
    }


def plot_of(fit: Regression, level: float, method: CoefficientInterval, heading: str | None) -> draw.Figure:
    """Draw the coefficients, a panel for each category."""
    ends = fit.interval(level, method=method)
    intercept = fit.columns.intercept
    kept = [k for k in range(len(fit.columns.names)) if k != intercept]
    unit = _units(fit)
    first = fit.categories.p - 1 if fit.family == "ordinal" else 0
    b, low, high = (x[first:].reshape(-1, len(unit))[:, kept] * unit[kept] for x in (fit.estimates, *ends.T))
    rows = [with_unit(fit.columns.names[k], unit[k]) for k in kept]
    panels = (
        [f"higher {fit.name}"]
        if fit.family == "ordinal"
        else [
            f"{label_text(label)} rather than {label_text(fit.baseline)}"
            for label in fit.categories
            if label != fit.baseline
        ]
    )
    return draw.forest(
        rows, panels, b, low, high, level=level, what="log odds ratio", title=title(fit) if heading is None else heading
    )


def _units(fit: Regression) -> FloatArray:
    """Return the change of each column that is drawn: 1 for a level, one standard deviation for a number."""
    problem = fit.problem
    level = np.isclose(problem.gram.diagonal(), problem.mean, rtol=1e-9)  # zeros and ones equal their squares
    return np.where(level | (problem.spread == 0), 1.0, problem.spread)


def with_unit(name: str, unit: float) -> str:
    """Return the name of a column with the change that is drawn."""
    size = f"{unit:.3g}" if unit < 1000 else f"{float(f'{unit:.3g}'):,.0f}"
    return name if unit == 1 else f"{name} (+{size})"
