"""Presentation of means by private category: columns, tables and pictures."""

from typing import TYPE_CHECKING, Any

import numpy as np

from subsetprivacy import draw
from subsetprivacy._choices import MeansInterval
from subsetprivacy._types import FloatArray
from subsetprivacy._words import group_text, whole
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.tables import Table, label_text, number, percent

if TYPE_CHECKING:
    from subsetprivacy.means.result import GroupMeans


def _cell_columns(means: "GroupMeans") -> dict[str, list[Any]]:
    """Return the columns that name the group and category of each row."""
    columns: dict[str, list[Any]] = {}
    for k, name in enumerate(means.by):
        parts = [group[k] if len(means.by) > 1 else group for group in means.groups]  # type: ignore[index]
        columns[name] = [part for part in parts for _ in means.categories]
    for k, name in enumerate(means.variables):
        parts = [label[k] if len(means.variables) > 1 else label for label in means.categories]  # type: ignore[index]
        taken = name if name not in columns else f"{name} (private)"
        columns[taken] = parts * len(means.groups)
    return columns


def frame_columns(means: "GroupMeans", level: float, method: MeansInterval) -> dict[str, Any]:
    """Return the columns of the data frame."""
    ends = means.interval(level, method=method).reshape(-1, 2)
    columns: dict[str, Any] = {
        **_cell_columns(means),
        "number": means.number.ravel(),
        "share": means.share.ravel(),
        "share_se": means.share_se.ravel(),
        "mean": means.mean.ravel(),
        "se": means.se.ravel(),
        "lower": ends[:, 0],
        "upper": ends[:, 1],
        "level": np.full(len(ends), level),
        "sd": means.sd.ravel(),
        "sd_se": means.sd_se.ravel(),
    }
    for k, name in enumerate(quantile_names(means.probabilities)):
        columns[name] = means.quantile.reshape(-1, len(means.probabilities))[:, k]
        columns[f"{name}_se"] = means.quantile_se.reshape(-1, len(means.probabilities))[:, k]
    return columns


def summary_of(means: "GroupMeans", level: float, method: MeansInterval) -> Table:
    """Return a table to print or show in a notebook."""
    ends = means.interval(level, method=method).reshape(-1, 2)
    digits = digits_for(means.se.ravel())
    head = [f"lower {percent(level)}", f"upper {percent(level)}"]
    columns = [means.mean.ravel(), means.se.ravel(), *ends.T]
    if not means.is_rate:
        columns.append(means.sd.ravel())
        head.append("sd")
    effect = (
        ()
        if means.design_effect is None
        else (("design effect", [number(float(x), 2) for x in means.design_effect.ravel()]),)
    )
    middle = np.flatnonzero(means.probabilities == 0.5)
    if not means.is_rate and len(middle) and not effect:
        columns.append(means.quantile.reshape(-1, len(means.probabilities))[:, middle[0]])
        head.append("median")
    names = [" & ".join(map(group_text, cells)) for cells in zip(*_cell_columns(means).values(), strict=True)]
    shares = [number(float(x), 3) for x in means.share.ravel()]
    rows = tuple(
        (name, share, *(number(x, digits) for x in values), *more)
        for name, share, values, *more in zip(
            names, shares, zip(*columns, strict=True), *(texts for _, texts in effect), strict=True
        )
    )
    title = " and ".join((*means.by, *means.variables))
    what = "rate" if means.is_rate else "mean"
    heads = (title, "share", what, "se", *head, *(name for name, _ in effect))
    heading = f"{what.capitalize()} of {means.outcome} by {title}: n = {whole(means.n)}"
    return Table(heading, heads, rows, (*_legend(means, method), *means.notes))


def _legend(means: "GroupMeans", method: MeansInterval) -> list[Note]:
    chosen = method if method != "auto" else "fieller" if means.model is None else "wald"
    how = {
        "fieller": "all means that a test does not reject (Fieller)",
        "wald": "estimate and standard error",
        "logit": "estimate and standard error of the log odds",
        "robust": "estimate and robust (sandwich) standard error",
    }
    return [Note(NoteKind.INTERVAL_METHOD, f"Intervals by method '{chosen}': {how[chosen]}.")]


def picture_of(
    means: "GroupMeans", level: float, method: MeansInterval, title: str | None, ax: draw.AxesOrNone
) -> draw.Axes:
    """Draw the means with their intervals."""
    known, p = len(means.groups), len(means.categories)
    mean, ends = means.mean.reshape(known, p), means.interval(level, method=method).reshape(known, p, 2)
    people = np.nan_to_num(means.number.reshape(known, p))
    with np.errstate(invalid="ignore", divide="ignore"):
        overall = np.nan_to_num(people / people.sum(axis=0)) * mean
    labels = [label_text(label) for label in means.categories]
    total = np.where(np.isfinite(overall).any(axis=0), np.nansum(overall, axis=0), -np.inf)
    order = np.argsort(-total, kind="stable")
    if draw.have_an_order(labels):
        order = np.arange(p)
    series = {
        group_text(group) if means.by else means.outcome: (mean[g, order], ends[g, order, 0], ends[g, order, 1])
        for g, group in enumerate(means.groups)
    }
    what = "rate" if means.is_rate else "mean"
    who = " and ".join((*means.variables, *means.by))
    heading = f"Estimated {what} of {means.outcome} by {who}, {percent(level)} intervals, n = {means.n:,.0f}"
    return draw.by_row(
        [labels[j] for j in order],
        series,
        xlabel=f"{what} of {means.outcome}, {percent(level)} interval",
        title=draw.Heading(heading) if title is None else title,
        ax=ax,
    )


def quantile_names(probabilities: FloatArray) -> list[str]:
    """Return the names of quantiles: q25 for 0.25.

    Examples
    --------
    >>> quantile_names(np.array([0.25, 0.5, 0.975]))
    ['q25', 'q50', 'q97.5']
    """
    return [f"q{100 * q:.6g}" for q in probabilities]


def digits_for(se: FloatArray) -> int:
    """Return the number of decimals that gives the smallest standard error three digits.

    Examples
    --------
    >>> digits_for(np.array([0.0123, 0.5])), digits_for(np.array([812.0, np.nan]))
    (4, 0)
    """
    known = se[np.isfinite(se) & (se > 0)]
    if not len(known):
        return 4
    return int(np.clip(2 - np.floor(np.log10(known.min())), 0, 4))
