r"""The score test that several independent samples have the same distribution.

At the pooled estimate, sample i has the score :math:`g_i = n_i s_i` and the covariance matrix :math:`V_i`, the inverse
of its information. :math:`\delta_i = V_i g_i` is the change of the estimate of that sample in one Newton step. Unlike
the maximum, it is nearly normal even if shares are 0. The statistic is
:math:`\sum_i (\delta_i - \bar\delta)^\top V_i^{-1} (\delta_i - \bar\delta)`. For values that are observed
directly, it is Pearson's statistic of the table of groups and categories.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen
from scipy.special import chdtrc

from subsetprivacy._types import FloatArray
from subsetprivacy.estimation.likelihood import tangent_inverse
from subsetprivacy.estimation.newton import newton
from subsetprivacy.estimation.shares import Shares
from subsetprivacy.incidence import Mapped, Stacked
from subsetprivacy.pvalues import chi_square_or_f, df_text, p_equals, positive
from subsetprivacy.tables import number

_SMALL = 1e-9  # relative to the largest variance; a direction with less is known, and is not tested


TESTS = {"score": "score test", "newton": "test after a Newton step", "wald": "Wald test"}  # in words


@frozen
class JointTest:
    """A chi-square or F statistic with its degrees of freedom and p-value; NaN if there is nothing to test.

    Attributes
    ----------
    method
        ``"score"``, ``"newton"`` (for estimates after one more Newton step) or ``"wald"``.
    denominator_df
        The denominator degrees of freedom of an F statistic; infinite for chi-square.
    """

    statistic: float
    df: int
    pvalue: float
    method: str
    denominator_df: float = np.inf

    @property
    def text(self) -> str:
        """The statistic, its degrees of freedom and the p-value, in words."""
        name = "chi-square" if np.isinf(self.denominator_df) else "F"
        degrees = df_text(self.df, self.denominator_df)
        return f"{name} {number(self.statistic, 2)}, {degrees}, {p_equals(positive(self.pvalue))}"

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        return {
            "statistic": self.statistic,
            "df": self.df,
            "denominator_df": self.denominator_df,
            "pvalue": positive(self.pvalue),
            "method": self.method,
        }


NOT_TESTED = JointTest(np.nan, 0, np.nan, "none")  # too many categories for a covariance matrix
NO_DEGREES = JointTest(np.nan, 0, np.nan, "none", 0.0)  # more shares than the covariance has degrees of freedom


def why_not(test: JointTest) -> str:
    """Return why there is nothing to test, in words."""
    if test is NO_DEGREES:
        return "more shares than degrees of freedom"
    return "too many categories" if test.method == "none" else "nothing varies"


def same_distribution(samples: Sequence[Shares], orders: Sequence[FloatArray]) -> JointTest:
    """Test that independent samples have the same distribution.

    Parameters
    ----------
    samples
        Estimates by likelihood.
    orders
        For each estimate, the matrix that reorders the shares of the first to its own categories.
    """
    peaks = [fit._base._peak() for fit in samples]
    people = np.array([peak.counts.n for peak in peaks])
    rows = Stacked([Mapped(peak.inc, order) for peak, order in zip(peaks, orders, strict=True)])
    f = np.concatenate([n / people.sum() * peak.f for n, peak in zip(people, peaks, strict=True)])
    w = newton(rows, f, tol=1e-12).w
    steps, precisions = [], []
    for n, peak, order in zip(people, peaks, orders, strict=True):
        L = peak.inc.inner(order @ w)
        V = order.T @ tangent_inverse(peak.information(order @ w, L)) @ order / n
        V = np.nan_to_num(V, posinf=0.0)  # a category on which this sample has no information
        steps.append(V @ (order.T @ peak.inc.spread(n * peak.f / L)))
        precisions.append(inverse_and_rank(V))
    return chi_square(steps, precisions, "score")


def newton_step(shares: Shares) -> tuple[FloatArray, FloatArray]:
    """Return the shares after one more Newton step, which may leave the simplex, and their covariance matrix.

    An estimate that is cut off at 0 is not normally distributed; after the step it nearly is.
    """
    peak = shares._base._peak()
    V = np.nan_to_num(tangent_inverse(peak.information(peak.w, peak.L)), posinf=0.0)
    fold = np.array([shares._lift(unit) for unit in np.eye(shares.categories.p)])
    return fold @ (peak.w + V @ peak.s), fold @ V @ fold.T / peak.counts.n


def chi_square(values: Sequence[FloatArray], precisions: Sequence[tuple[FloatArray, int]], method: str) -> JointTest:
    """Test that independent estimates have the same mean, given their precision matrices and ranks."""
    total = np.sum([W for W, _ in precisions], axis=0)
    inverse, rank = inverse_and_rank(total)
    mean = inverse @ np.sum([W @ x for (W, _), x in zip(precisions, values, strict=True)], axis=0)
    statistic = float(sum((x - mean) @ W @ (x - mean) for (W, _), x in zip(precisions, values, strict=True)))
    df = sum(own for _, own in precisions) - rank
    return JointTest(statistic, df, float(chdtrc(df, max(statistic, 0.0))) if df > 0 else np.nan, method)


def by_covariance(difference: FloatArray, cov: FloatArray, method: str = "wald", degrees: float = np.inf) -> JointTest:
    """Test that a difference is zero, given its covariance matrix and the degrees of freedom of that matrix."""
    W, df = inverse_and_rank(np.nan_to_num(cov, posinf=0.0))
    statistic, denominator, pvalue = chi_square_or_f(float(difference @ W @ difference), df, degrees)
    if not denominator > 0:
        return NO_DEGREES
    return JointTest(statistic, df, pvalue, method, denominator)


def inverse_and_rank(V: FloatArray) -> tuple[FloatArray, int]:
    """Return the inverse on the directions with positive variance, and their number."""
    values, vectors = np.linalg.eigh((V + V.T) / 2)
    kept = values > _SMALL * max(values[-1], 0.0)
    if not kept.any() or values[-1] <= 0:
        return np.zeros_like(V), 0
    return (vectors[:, kept] / values[kept]) @ vectors[:, kept].T, int(kept.sum())
