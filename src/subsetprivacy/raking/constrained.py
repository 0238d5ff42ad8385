r"""Shares of counts with known margins: the likelihood under linear constraints :math:`Aw = b`.

Newton's method on the changes that keep the margins, with a logarithmic barrier that keeps shares positive and is
removed step by step. The covariance is :math:`N(N^\top G N)^{-1}N^\top/n`, where G is the information and N spans
the changes that keep the margins.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import null_space

from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import ArgumentError, CategoryError, MismatchError
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.likelihood import observed_information
from subsetprivacy.estimation.result import RAKED, Estimate
from subsetprivacy.estimation.simplex import lifted
from subsetprivacy.estimation.uncertainty import FromMatrix
from subsetprivacy.incidence import Incidence
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.raking.margins import KnownMargin
from subsetprivacy.raking.weights import calibrate
from subsetprivacy.variables import JointCategories

if TYPE_CHECKING:
    from subsetprivacy.subsets import Categories

_BARRIERS = 10.0 ** -np.arange(2, 13)  # relative to one person
_STEPS = 50


def rake_counts(counts: SubsetCounts, margins: Sequence[KnownMargin]) -> Estimate:
    """Return the estimated joint shares of several variables with some known margins.

    Raises
    ------
    ArgumentError, CategoryError
        If a margin is not of these variables, or lacks labels.
    MismatchError
        If no distribution has these margins.
    """
    A, b = _constraints(counts.categories, margins)
    inside = lifted(estimate(counts).w, 1e-4 / counts.categories.p)
    start = calibrate(A.T, inside, b, "raking", None)
    if not start.converged:
        raise MismatchError("`margins` must be those of some distribution of all variables; no distribution has them.")
    N = null_space(A)
    w, steps, converged = _climb(counts.incidence, counts.shares, inside * start.ratio, N, 1 / counts.n)
    known = ", ".join(margin.name for margin in margins)
    text = f"Known margins: {known}. They fix these totals, but hardly reduce standard errors of conditional shares."
    return Estimate(
        w,
        counts,
        RAKED,
        FromMatrix(partial(_covariance, N)),
        iterations=steps,
        converged=converged,
        remarks=(Note(NoteKind.MARGINS, text),),
    )


def _constraints(categories: "Categories", margins: Sequence[KnownMargin]) -> tuple[FloatArray, FloatArray]:
    """Return the matrix A and the vector b of the constraints."""
    if not isinstance(categories, JointCategories):
        raise ArgumentError(
            "`data` must be counts of several variables, or a row per person; got counts of one variable."
        )
    rows, known = [np.ones(categories.p)], [1.0]
    at = categories.coordinates(np.arange(categories.p))
    for margin in margins:
        unknown = [name for name in margin.names if name not in categories.names]
        if unknown or margin.is_mean:
            raise ArgumentError(
                f"a margin of counts must be of their variables ({', '.join(categories.names)}), by label; got that of "
                f"{margin.name}."
            )
        axes = [categories.axis(name) for name in margin.names]
        covered = np.zeros(categories.p, bool)
        for label, total in zip(margin.labels, margin.totals, strict=True):
            here = np.ones(categories.p, bool)
            for axis, part in zip(axes, margin.parts(label), strict=True):
                here &= at[axis] == categories.parts[axis].index(part)
            covered |= here
            rows.append(here.astype(float))
            known.append(float(total) / margin.sum)
        if not covered.all():
            raise CategoryError(f"the margin of {margin.name} must have all labels of its variables; some are missing.")
    return np.array(rows), np.array(known)


def _climb(inc: Incidence, f: FloatArray, w: FloatArray, N: FloatArray, person: float) -> tuple[FloatArray, int, bool]:
    """Maximize the likelihood among shares that differ from w by combinations of N."""
    if not N.shape[1]:
        return w, 0, True
    steps, gain = 0, np.inf
    for barrier in _BARRIERS * person:
        for _ in range(_STEPS):
            steps += 1
            w, gain = _step(inc, f, w, N, float(barrier))
            if gain < 1e-3 * barrier:
                break
    return w, steps, bool(gain < 1e-9)


def _step(inc: Incidence, f: FloatArray, w: FloatArray, N: FloatArray, barrier: float) -> tuple[FloatArray, float]:
    """Return the shares after one step, and its predicted gain."""

    def value(v: FloatArray) -> float:
        return float(f @ np.log(inc.inner(v))) + barrier * float(np.log(v).sum())

    L = inc.inner(w)
    g = N.T @ (inc.spread(f / L) + barrier / w)
    H = N.T @ (inc.gram(f / L**2) + np.diag(barrier / w**2)) @ N
    solved = np.linalg.lstsq(H, g, rcond=None)[0]
    step, gain = N @ solved, float(g @ solved) / 2
    shrinking = step < 0
    size = min(1.0, 0.99 * float((w[shrinking] / -step[shrinking]).min())) if shrinking.any() else 1.0
    here = value(w)
    while size > 1e-12 and not value(w + size * step) > here:
        size /= 2
    return (w + size * step, gain) if size > 1e-12 else (w, 0.0)


def _covariance(N: FloatArray, fit: Estimate) -> FloatArray:
    counts = fit.counts
    if not N.shape[1]:
        return np.zeros((fit.categories.p, fit.categories.p))
    J = N.T @ observed_information(counts.incidence, counts.shares, fit.w) @ N
    bread = N @ np.linalg.pinv(J, hermitian=True) @ N.T
    if counts.squares is None:
        return bread / counts.n
    V = counts.incidence.gram(counts.squares[counts.informative] / counts.incidence.inner(fit.w) ** 2)
    return bread @ V @ bread / counts.total**2
