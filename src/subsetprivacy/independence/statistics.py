r"""The statistics of the five tests, for a batch of tables with the same margins (`sec_2D`).

A statistic takes a `CellLayout`, which gives the pair of subsets of every cell, and an array of counts (tables, cells).
What depends only on the margins is computed once, from the two variables of the layout.
"""

import warnings
from collections.abc import Callable

import numpy as np

from subsetprivacy._choices import IndependenceMethod
from subsetprivacy._types import FloatArray
from subsetprivacy.data.joint import two_by_two
from subsetprivacy.errors import ConvergenceWarning
from subsetprivacy.estimation.likelihood import MANY
from subsetprivacy.estimation.mle import maximize
from subsetprivacy.estimation.newton_many import newton_many
from subsetprivacy.estimation.simplex import project_many
from subsetprivacy.independence.crossing import CellLayout

Statistic = Callable[[CellLayout, FloatArray], FloatArray]

_ENOUGH = 0.05  # the tolerance of a statistic, far below any relevant difference
_LIFT = 1e-4  # how far the start is moved towards the uniform distribution, since independence may lie on a face


def lrt(layout: CellLayout, n: FloatArray) -> FloatArray:
    r"""Return :math:`2\sum n_{ab}\ln(r_a^\top\hat W r_b\,/\,r_a^\top\hat w_X\,\hat w_Y^\top r_b)` (`eq_LRT`).

    The independent table is a candidate for :math:`\hat W`, so the statistic is negative only by rounding.
    """
    if layout.incidence.p <= MANY:
        return _ratio(layout, n, layout.incidence.inner(_fit_all(layout, n)))
    return np.array([_lrt_of_one(layout.observed(row), row[row > 0]) for row in n])


def _start(layout: CellLayout) -> FloatArray:
    W = np.outer(layout.first.fit.w, layout.second.fit.w).ravel()
    return (1 - _LIFT) * W + _LIFT / len(W)


def _fit_all(layout: CellLayout, n: FloatArray) -> FloatArray:
    total = n.sum(axis=-1, keepdims=True)
    # So close to the maximum that the statistic, 2n times a mean log-likelihood, is accurate to about 1e-6.
    tol = float(np.clip(5e-7 / total.max(), 1e-13, 1e-9))
    maxima = newton_many(layout.incidence, n / total, start=_start(layout), tol=tol)
    _require_near(float((2 * total[:, 0] * maxima.gap).max()))
    return maxima.w


def _lrt_of_one(layout: CellLayout, n: FloatArray) -> float:
    tol = float(np.clip(1e-4 / n.sum(), 1e-10, 1e-8))
    maximum = maximize(layout.incidence, n / n.sum(), tol, _start(layout))
    _require_near(2 * float(n.sum()) * maximum.gap)
    return float(_ratio(layout, n, layout.incidence.inner(maximum.w)))


def _require_near(missing: float) -> None:
    """Warn if a statistic may be too small by more than a hundredth."""
    if missing > _ENOUGH:
        warnings.warn(
            f"Not converged: a likelihood ratio may be up to {missing:.2g} too small.", ConvergenceWarning, stacklevel=6
        )


def _ratio(layout: CellLayout, n: FloatArray, L: FloatArray) -> FloatArray:
    """Return twice the log-likelihood ratio of cells with sizes L against independence."""
    return _against(n, L, layout.first.sizes[layout.at_a] * layout.second.sizes[layout.at_b])


def _against(n: FloatArray, L: FloatArray, independent: FloatArray) -> FloatArray:
    ratio = np.divide(L, independent, out=np.ones_like(L), where=n > 0)
    return 2 * np.einsum("...c,...c->...", n, np.log(ratio))


def lrt_mom(layout: CellLayout, n: FloatArray) -> FloatArray:
    r"""Return the statistic with moments instead of the maximum, which may be negative (the paper's approximated LRT).

    :math:`Q_A^{-1}\hat\Gamma Q_B^{-1}` is projected onto the simplex and mixed with 1/n of the independent
    table, so that no observed cell is impossible.
    """
    first, second = layout.first, layout.second
    total = n.sum(axis=-1, keepdims=True)
    gamma = layout.incidence.spread(n / total).reshape(-1, first.design.p, second.design.p)
    half = second.design.solve_informative_Q(gamma)
    whole = first.design.solve_informative_Q(np.swapaxes(half, -1, -2))
    W = project_many(np.swapaxes(whole, -1, -2).reshape(len(gamma), -1))
    W = (1 - 1 / total) * W + np.outer(first.moments, second.moments).ravel() / total
    L = layout.incidence.inner(W)
    independent = (first.rows @ first.moments)[layout.at_a] * (second.rows @ second.moments)[layout.at_b]
    return _against(n, L, np.broadcast_to(independent, L.shape))


def pearson(layout: CellLayout, n: FloatArray) -> FloatArray:
    r"""Return :math:`\sum (n_{ab}-e_{ab})^2/e_{ab}` over all possible pairs.

    With :math:`\sum e = n` it is :math:`\sum n_{ab}^2/e_{ab} - n`, which needs only the cells that occur.
    """
    total = n.sum(axis=-1)
    probabilities = layout.first.probabilities[layout.at_a] * layout.second.probabilities[layout.at_b]
    return (n**2 / probabilities).sum(axis=-1) / total - total


def pearson_conditional(layout: CellLayout, n: FloatArray) -> FloatArray:
    r"""Return Pearson's statistic given the questions: :math:`e_{ab} = n_{kl}\,L(a)L(b)` for questions k and l.

    The questions do not depend on the values, so the statistic does not include their random variation.
    """
    first, second = layout.first.answer_probabilities, layout.second.answer_probabilities
    expected = layout.people_asked(n) * (first[layout.at_a] * second[layout.at_b])
    terms = np.divide(n**2, expected, out=np.zeros_like(n), where=n > 0)
    return terms.sum(axis=-1) - n.sum(axis=-1)


def bonferroni(layout: CellLayout, n: FloatArray) -> FloatArray:
    """Return the largest of Pearson's statistics of the 2 x 2 tables (`tab:bonferroni_table`)."""
    return pair_statistics(layout, n).max(axis=(-1, -2))


def pair_statistics(layout: CellLayout, n: FloatArray) -> FloatArray:
    """Return Pearson's statistic of the 2 x 2 table of every pair of categories, without Yates's correction.

    It is 0 if all subsets, or none, contain a category, since there is nothing to compare.
    """
    first, second = layout.first.n_a @ layout.first.members, layout.second.n_a @ layout.second.members
    both = layout.membership.spread(n).reshape(*n.shape[:-1], len(first), len(second))
    total = n.sum(axis=-1)
    cells = two_by_two(both, first, second, total)
    cross = cells[..., 0, 0] * cells[..., 1, 1] - cells[..., 0, 1] * cells[..., 1, 0]
    sides = np.multiply.outer(first * (layout.first.n - first), second * (layout.second.n - second))
    return np.divide(total[..., None, None] * cross**2, sides, out=np.zeros_like(cross), where=sides > 0)


STATISTICS: dict[IndependenceMethod, Statistic] = {
    "lrt": lrt,
    "lrt-mom": lrt_mom,
    "pearson": pearson,
    "pearson-conditional": pearson_conditional,
    "bonferroni": bonferroni,
}
