"""Intervals that do not rest on a standard error: profile likelihood and bootstrap."""

import warnings
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtri

from subsetprivacy._checks import check_count
from subsetprivacy._seeds import numpy_generator
from subsetprivacy._types import FloatArray
from subsetprivacy.data import CountsBatch, SubsetCounts
from subsetprivacy.errors import ArgumentError, SubsetPrivacyError, SubsetPrivacyWarning
from subsetprivacy.estimation.likelihood import mean_loglik
from subsetprivacy.estimation.newton import newton
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.estimation.simplex import lifted
from subsetprivacy.incidence import Mapped

_IMPOSSIBLE = -1e3


def profile(counts: SubsetCounts, level: float) -> FloatArray:
    r"""Return, for each category, the values that the likelihood ratio test does not reject.

    Notes
    -----
    With :math:`w_j = v` held, the others are :math:`(1-v)u` for a distribution u: w is a linear
    image of u, and the same iteration maximises over u.
    """
    _require_people(counts, "profile")
    best = newton(counts.incidence, counts.shares)
    drop = float(chdtri(1, 1 - level)) / (2 * counts.total)
    top = mean_loglik(counts.incidence, counts.shares, best.w)
    return np.array([_invert(counts, j, float(best.w[j]), top - drop) for j in range(counts.categories.p)])


def _require_people(counts: SubsetCounts, what: str) -> None:
    if counts.squares is not None:
        raise ArgumentError(f"a {what} interval must come from unweighted people; got sampling weights. Hint: 'wald'.")


def _invert(counts: SubsetCounts, j: int, peak: float, bar: float) -> tuple[float, float]:
    profiled = _Profile(counts, j)

    def above(v: float) -> float:
        return profiled.height(v) - bar

    low = 0.0 if peak <= 0 or above(0.0) >= 0 else float(brentq(above, 0.0, peak, xtol=1e-10))
    high = 1.0 if peak >= 1 or above(1.0) >= 0 else float(brentq(above, peak, 1.0, xtol=1e-10))
    return low, high


class _Profile:
    """The log-likelihood per person, maximised with the weight of one category held."""

    def __init__(self, counts: SubsetCounts, j: int) -> None:
        self._inc, self._f, self._j = counts.incidence, counts.shares, j
        self._others = np.delete(np.eye(counts.categories.p), j, axis=1)
        self._near: FloatArray | None = None

    def height(self, v: float) -> float:
        """Return the profile; a large negative number where some observed subset becomes impossible."""
        T = (1 - v) * self._others
        T[self._j] = v
        rows = Mapped(self._inc, T)
        if rows.inner(np.full(rows.p, 1 / rows.p)).min() <= 0:
            return _IMPOSSIBLE
        u = newton(rows, self._f, start=self._near).w
        # The next v is near this one; off the boundary, since no step leaves a face it starts on.
        self._near = lifted(u, 1e-4 / rows.p)
        return mean_loglik(rows, self._f, u)


def bootstrap(fit: Estimate, level: float, replications: int, seed: Any) -> FloatArray:
    """Return percentile intervals over samples of people drawn with replacement, fitted by the same method."""
    from subsetprivacy.estimation.dispatch import METHODS, read_method

    counts = fit.counts
    _require_people(counts, "bootstrap")
    check_count(replications, "replications", least=20)
    generator = numpy_generator(seed)
    drawn = generator.multinomial(int(counts.total), counts.shares, size=replications)
    samples = CountsBatch(counts.observed_codes, drawn, counts.design)
    method = METHODS[read_method(fit.method.partition(",")[0])]
    estimates = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        for sample in samples:
            try:
                again = method(sample)
            except SubsetPrivacyError:
                continue
            estimates.append((again.projected() if fit.in_simplex else again).w)
    if len(estimates) < 0.9 * replications:
        raise ArgumentError(
            f"a bootstrap interval must be able to refit its samples; {replications - len(estimates)} of "
            f"{replications} were not identifiable. Hint: interval(method='profile')."
        )
    tail = 50 * (1 - level)
    return np.percentile(np.array(estimates), [tail, 100 - tail], axis=0).T
