"""Means by maximum likelihood, and the test that they agree with the corrected means."""

import numpy as np
from attrs import evolve

from subsetprivacy._types import FloatArray
from subsetprivacy._words import group_text
from subsetprivacy.means.inference import pvalue_of
from subsetprivacy.means.mixture import NormalMixture, fit_normal
from subsetprivacy.means.result import GroupMeans
from subsetprivacy.means.sample import MeansSample
from subsetprivacy.regression.model_tests import ModelTests


def with_model(made: GroupMeans, sample: MeansSample) -> GroupMeans:
    r"""Return the means of a normal model, the corrected means, and their comparison.

    Notes
    -----
    The comparison uses the influence functions of both, so no covariance matrices are subtracted. If
    :math:`\varphi_i` is the difference of a person's influences, the covariance of the difference is
    :math:`\sum_i w_i^2 \varphi_i \varphi_i^\top`.
    """
    known, p = sample.cells
    fits = [_fitted(made, sample, g) for g in range(known)]
    influence = np.zeros((len(sample.y), known * p))
    for g, fit in enumerate(fits):
        people = np.flatnonzero(sample.groups.number == g)
        influence[np.ix_(people, made._cells(g))] = fit.influence
    empty = np.isnan(np.concatenate([fit.mean for fit in fits]))
    robust = _covariance(sample, np.where(empty, 0.0, influence))
    robust[empty] = np.nan
    robust[:, empty] = np.nan
    information = np.zeros_like(robust)
    for g, fit in enumerate(fits):
        information[np.ix_(made._cells(g), made._cells(g))] = fit.mean_cov
    information[:, empty] = np.nan
    information[empty] = np.nan
    by_likelihood = sample.weights.independent and sample.weights.are_frequencies

    def stacked(name: str) -> FloatArray:
        return np.asarray(np.stack([getattr(fit, name) for fit in fits]).reshape(made.mean.shape))

    share = stacked("share")
    total = made.number.reshape(known, p).sum(axis=1, keepdims=True)
    return evolve(
        made,
        model="normal",
        number=(share.reshape(known, p) * total).reshape(made.mean.shape),
        share=share,
        share_se=stacked("share_se"),
        mean=stacked("mean"),
        cov=information if by_likelihood else robust,
        robust=robust,
        variance=stacked("sd") ** 2,
        variance_se=stacked("variance_se"),
        corrected=made,
        comparison=_compared(made, sample, fits, influence),
    )


def _fitted(made: GroupMeans, sample: MeansSample, g: int) -> NormalMixture:
    """Return the fit to a known group, starting from the corrected means."""
    people = np.flatnonzero(sample.groups.number == g)
    if not len(people):
        return NormalMixture.of_no_one(sample.design.p)
    at = made._cells(g)
    start = tuple(values.ravel()[at] for values in (made.share, made.mean, made.variance))
    return fit_normal(
        sample.y[people],
        sample.codes[people],
        sample.design,
        sample.weights.each[people],
        (start[0], start[1], start[2]),
    )


def _covariance(sample: MeansSample, influence: FloatArray) -> FloatArray:
    if not sample.weights.independent:
        return sample.weights.covariance(influence)
    return np.asarray((influence.T * sample.weights.squares) @ influence)


def _compared(made: GroupMeans, sample: MeansSample, fits: list[NormalMixture], influence: FloatArray) -> ModelTests:
    """Return the test that both means agree, in each known group."""
    _, p = sample.cells
    mean, number = made.mean.ravel(), made.number.ravel()
    apart = -influence
    for g, people, D in sample.chunks():
        at = slice(g * p, (g + 1) * p)
        apart[people, at] += (D * (sample.y[people] - mean[at, None]) / number[at, None]).T
    difference = mean - np.concatenate([fit.mean for fit in fits])
    known = np.isfinite(difference)
    cov = np.zeros((len(mean), len(mean)))
    cov[np.ix_(known, known)] = _covariance(sample, apart[:, known])
    statistic, df = [], []
    for g in range(len(made.groups)):
        at = made._cells(g)[known[made._cells(g)]]
        d, V = difference[at], cov[np.ix_(at, at)]
        usable = len(at) > 0 and bool(np.isfinite(V).all())
        statistic.append(float(d @ np.linalg.pinv(V, hermitian=True) @ d) if usable else float("nan"))
        df.append(len(at) if usable else 0)
    pvalues = [pvalue_of(x, k, made.df) if k else float("nan") for x, k in zip(statistic, df, strict=True)]
    names = tuple(group_text(group) for group in made.groups) if made.by else ("means agree",)
    title = f"Means of {made.outcome}: normal model compared with means without this assumption"
    return ModelTests(title, names, np.array(statistic), np.array(df), np.array(pvalues), "robust")
