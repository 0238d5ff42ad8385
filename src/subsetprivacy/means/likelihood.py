"""Means by maximum likelihood, and the test that they agree with the corrected means."""

import numpy as np
from attrs import evolve, frozen

from subsetprivacy._types import BoolArray, FloatArray
from subsetprivacy._words import group_text
from subsetprivacy.means.mixture import NormalMixture, fit_normal
from subsetprivacy.means.result import GroupMeans
from subsetprivacy.means.sample import MeansSample
from subsetprivacy.regression.model_tests import ModelTests
from subsetprivacy.sampling.sample import Draws


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
    influence = _Influence.of(made, sample, fits)
    empty = np.isnan(np.concatenate([fit.mean for fit in fits]))
    robust = influence.where(~empty).covariance(sample)
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


@frozen(eq=False, repr=False)
class _Influence:
    """The influence of each person on each mean, (n, cells).

    Attributes
    ----------
    by_category
        Its mean over the draws in each category, (p, n, cells), in a sample from a finite population.
    D
        The unbiased indicators, (p, n), then.
    """

    each: FloatArray
    by_category: FloatArray | None = None
    D: FloatArray | None = None

    @classmethod
    def of(cls, made: GroupMeans, sample: MeansSample, fits: list[NormalMixture]) -> "_Influence":
        """Return the influence of the people of all known groups."""
        known, p = sample.cells
        n = len(sample.y)
        each, finite = np.zeros((n, known * p)), sample.weights.is_finite
        by_category, D = (np.zeros((p, n, known * p)), np.zeros((p, n))) if finite else (None, None)
        for g, fit in enumerate(fits):
            people = np.flatnonzero(sample.groups.number == g)
            each[np.ix_(people, made._cells(g))] = fit.influence
            if by_category is not None and D is not None and fit.draws is not None:
                by_category[:, people[:, None], made._cells(g)] = fit.draws[0]
                D[:, people] = fit.draws[1]
        return cls(each, by_category, D)

    def where(self, known: BoolArray) -> "_Influence":
        """Return it with 0 for other means."""
        category = None if self.by_category is None else np.where(known, self.by_category, 0.0)
        return evolve(self, each=np.where(known, self.each, 0.0), by_category=category)

    def covariance(self, sample: MeansSample) -> FloatArray:
        """Return the covariance of the weighted sum."""
        if sample.weights.independent:
            return np.asarray((self.each.T * sample.weights.squares) @ self.each)
        return sample.weights.covariance(self.each, self._of_draws(sample.weights.answered))

    def _of_draws(self, answered: float) -> Draws:
        def draws(factors: FloatArray) -> FloatArray:
            assert self.by_category is not None
            assert self.D is not None
            out = (self.each.T * factors) @ self.each
            for d, mean in zip(self.D, self.by_category, strict=True):
                out -= answered * (mean.T * (factors * d)) @ mean
            return out

        return draws


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
        over_draws=sample.weights.is_finite,
    )


def _compared(made: GroupMeans, sample: MeansSample, fits: list[NormalMixture], influence: _Influence) -> ModelTests:
    """Return the test that both means agree, in each known group."""
    _, p = sample.cells
    mean, number = made.mean.ravel(), made.number.ravel()
    apart = -influence.each
    category = None if influence.by_category is None else -influence.by_category
    for g, people, D in sample.chunks():
        at = slice(g * p, (g + 1) * p)
        corrected = (sample.y[people] - mean[at, None]) / number[at, None]
        apart[people, at] += (D * corrected).T
        for j in range(p if category is not None else 0):
            assert category is not None
            category[j, people, g * p + j] += corrected[j]
    difference = mean - np.concatenate([fit.mean for fit in fits])
    known = np.isfinite(difference)
    cov = np.zeros((len(mean), len(mean)))
    differing = _Influence(apart, category, influence.D).where(known)
    cov[np.ix_(known, known)] = differing.covariance(sample)[np.ix_(known, known)]
    tests: list[tuple[str, tuple[float, int]]] = []
    for g, group in enumerate(made.groups):
        at = made._cells(g)[known[made._cells(g)]]
        d, V = difference[at], cov[np.ix_(at, at)]
        usable = len(at) > 0 and bool(np.isfinite(V).all())
        form = float(d @ np.linalg.pinv(V, hermitian=True) @ d) if usable else float("nan")
        tests.append((group_text(group) if made.by else "means agree", (form, len(at) if usable else 0)))
    title = f"Means of {made.outcome}: normal model compared with means without this assumption"
    return ModelTests.of_forms(title, tests, "robust", degrees=made.df)
