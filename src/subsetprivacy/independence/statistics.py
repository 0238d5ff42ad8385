r"""The statistics of the five tests, each for a whole batch of tables with the same margins (`sec_2D`).

A statistic takes a `Sheet`, which says which pair of subsets every cell is, and the numbers of people, an array
(tables, cells). What depends on the margins alone is worked out once, from the sheet's two sides.
"""

import warnings
from collections.abc import Callable

import numpy as np

from subsetprivacy._choices import IndependenceMethod
from subsetprivacy._types import FloatArray
from subsetprivacy.data.membership import two_by_two
from subsetprivacy.errors import ConvergenceWarning
from subsetprivacy.estimation.likelihood import MANY
from subsetprivacy.estimation.mle import maximise
from subsetprivacy.estimation.newton_many import newton_many
from subsetprivacy.estimation.simplex import project_many
from subsetprivacy.independence.crossing import Sheet

Statistic = Callable[[Sheet, FloatArray], FloatArray]

_ENOUGH = 0.05  # of a statistic: far below what tells two of them apart
_LIFT = 1e-4  # of the start towards the uniform distribution: independence itself may lie on a face


def lrt(sheet: Sheet, n: FloatArray) -> FloatArray:
    r"""Return :math:`2\sum n_{ab}\ln(r_a^\top\hat W r_b\,/\,r_a^\top\hat w_X\,\hat w_Y^\top r_b)` (`eq_LRT`).

    The independent table is one of those that :math:`\hat W` is the best of, so nothing is below zero but rounding.
    """
    if sheet.incidence.p <= MANY:
        return _ratio(sheet, n, sheet.incidence.inner(_fit_all(sheet, n)))
    return np.array([_lrt_of_one(sheet.seen(row), row[row > 0]) for row in n])


def _start(sheet: Sheet) -> FloatArray:
    W = np.outer(sheet.first.fit.w, sheet.second.fit.w).ravel()
    return (1 - _LIFT) * W + _LIFT / len(W)


def _fit_all(sheet: Sheet, n: FloatArray) -> FloatArray:
    total = n.sum(axis=-1, keepdims=True)
    # So near the maximum that the statistic, 2n times a mean log-likelihood, is right to 1e-6 as far as digits last.
    tol = float(np.clip(5e-7 / total.max(), 1e-13, 1e-9))
    maxima = newton_many(sheet.incidence, n / total, start=_start(sheet), tol=tol)
    _require_near(float((2 * total[:, 0] * maxima.gap).max()))
    return maxima.w


def _lrt_of_one(sheet: Sheet, n: FloatArray) -> float:
    tol = float(np.clip(1e-4 / n.sum(), 1e-10, 1e-8))
    maximum = maximise(sheet.incidence, n / n.sum(), tol, _start(sheet))
    _require_near(2 * float(n.sum()) * maximum.gap)
    return float(_ratio(sheet, n, sheet.incidence.inner(maximum.w)))


def _require_near(missing: float) -> None:
    """Warn if a statistic may be too small by more than hundredths."""
    if missing > _ENOUGH:
        warnings.warn(
            f"Not converged: a likelihood ratio may be up to {missing:.2g} too small.", ConvergenceWarning, stacklevel=6
        )


def _ratio(sheet: Sheet, n: FloatArray, L: FloatArray) -> FloatArray:
    """Return twice the log-likelihood ratio of cells with sizes L against independence, by maximum likelihood."""
    return _against(n, L, sheet.first.sizes[sheet.at_a] * sheet.second.sizes[sheet.at_b])


def _against(n: FloatArray, L: FloatArray, independent: FloatArray) -> FloatArray:
    ratio = np.divide(L, independent, out=np.ones_like(L), where=n > 0)
    return 2 * np.einsum("...c,...c->...", n, np.log(ratio))


def lrt_mom(sheet: Sheet, n: FloatArray) -> FloatArray:
    r"""Return the same with moments instead of the maximum, which need not be positive (the paper's approximated LRT).

    :math:`Q_A^{-1}\hat\Gamma Q_B^{-1}` is projected onto the simplex and mixed with 1/n of the independent table, so
    that no observed cell is impossible.
    """
    first, second = sheet.first, sheet.second
    total = n.sum(axis=-1, keepdims=True)
    gamma = sheet.incidence.spread(n / total).reshape(-1, first.design.p, second.design.p)
    half = second.design.solve_informative_Q(gamma)
    whole = first.design.solve_informative_Q(np.swapaxes(half, -1, -2))
    W = project_many(np.swapaxes(whole, -1, -2).reshape(len(gamma), -1))
    W = (1 - 1 / total) * W + np.outer(first.moments, second.moments).ravel() / total
    L = sheet.incidence.inner(W)
    independent = (first.rows @ first.moments)[sheet.at_a] * (second.rows @ second.moments)[sheet.at_b]
    return _against(n, L, np.broadcast_to(independent, L.shape))


def pearson(sheet: Sheet, n: FloatArray) -> FloatArray:
    r"""Return :math:`\sum (n_{ab}-e_{ab})^2/e_{ab}` over all pairs that can be reported.

    With :math:`\sum e = n` it is :math:`\sum n_{ab}^2/e_{ab} - n`, which needs only the cells that occur.
    """
    total = n.sum(axis=-1)
    law = sheet.first.law[sheet.at_a] * sheet.second.law[sheet.at_b]
    return (n**2 / law).sum(axis=-1) / total - total


def pearson_conditional(sheet: Sheet, n: FloatArray) -> FloatArray:
    r"""Return Pearson's statistic given the questions: :math:`e_{ab} = n_{kl}\,L(a)L(b)` for questions k and l.

    Which questions were asked says nothing about the values, so nothing of their chance remains in the statistic.
    """
    law = sheet.first.answer[sheet.at_a] * sheet.second.answer[sheet.at_b]
    expected = sheet.asked(n) * law
    terms = np.divide(n**2, expected, out=np.zeros_like(n), where=n > 0)
    return terms.sum(axis=-1) - n.sum(axis=-1)


def bonferroni(sheet: Sheet, n: FloatArray) -> FloatArray:
    """Return the largest of Pearson's statistics of the 2 x 2 tables (`tab:bonferroni_table`)."""
    return pair_statistics(sheet, n).max(axis=(-1, -2))


def pair_statistics(sheet: Sheet, n: FloatArray) -> FloatArray:
    """Return Pearson's statistic of the 2 x 2 table of every pair of categories, without Yates's correction.

    It is 0 where all subsets, or none, hold a category: then there is nothing to compare.
    """
    first, second = sheet.first.n_a @ sheet.first.members, sheet.second.n_a @ sheet.second.members
    both = sheet.membership.spread(n).reshape(*n.shape[:-1], len(first), len(second))
    total = n.sum(axis=-1)
    cells = two_by_two(both, first, second, total)
    cross = cells[..., 0, 0] * cells[..., 1, 1] - cells[..., 0, 1] * cells[..., 1, 0]
    sides = np.multiply.outer(first * (sheet.first.n - first), second * (sheet.second.n - second))
    return np.divide(total[..., None, None] * cross**2, sides, out=np.zeros_like(cross), where=sides > 0)


STATISTICS: dict[IndependenceMethod, Statistic] = {
    "lrt": lrt,
    "lrt-mom": lrt_mom,
    "pearson": pearson,
    "pearson-conditional": pearson_conditional,
    "bonferroni": bonferroni,
}
