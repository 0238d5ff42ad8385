r"""The criterion to minimize, its derivatives, and a bound on the distance to the minimum.

With :math:`M_k = B^\top I(w_k) B` the A-criterion is :math:`f_k = \operatorname{tr} M_k^{-1}`, the limit of n
times the mean squared error (`thm_normality_mle`); the D-criterion is
:math:`f_k = -\ln\det M_k/(p-1)`, the logarithm of the geometric mean of the limit variances along the axes.
Both are convex in the weights. In the eigenvectors of :math:`M_k` the second derivative is diagonal, so it is a
matrix of p(p-1)/2 rows times its transpose.
"""

from typing import get_args

import numpy as np
from attrs import frozen

from subsetprivacy._choices import Criterion
from subsetprivacy._types import FloatArray
from subsetprivacy.optimizing.program import Program

CRITERIA: tuple[Criterion, ...] = get_args(Criterion)


@frozen(eq=False)
class Expansion:
    """The criterion at given weights: values, slopes, and the spectrum of each information matrix."""

    f: FloatArray
    slopes: FloatArray
    spectra: tuple[tuple[FloatArray, FloatArray], ...]


def expand(program: Program, criterion: str, x: FloatArray) -> Expansion | None:
    """Return the criterion and its slopes at every w, or None if some direction has no information."""
    f, slopes, spectra = [], [], []
    for c in program.c:
        values, vectors = np.linalg.eigh((program.V.T * (x * c)) @ program.V)
        if not values[0] > 1e-15 * values[-1]:
            return None
        rows = program.V @ vectors
        if criterion == "A":
            f.append((1 / values).sum())
            slopes.append(-c * ((rows / values) ** 2).sum(axis=1))
        else:
            f.append(-np.log(values).mean())
            slopes.append(-c * (rows**2 / values).mean(axis=1))
        spectra.append((values, vectors))
    return Expansion(np.array(f), np.array(slopes), tuple(spectra))


def curvature(program: Program, criterion: str, at: Expansion, shares: FloatArray) -> FloatArray:
    """Return rows R such that R'R is the second derivative of the criterion, weighted by shares."""
    i, j, isometry = program.pairs
    rows = []
    for c, share, (values, vectors) in zip(program.c, shares, at.spectra, strict=True):
        product = values[i] * values[j]
        second = (1 / values[i] + 1 / values[j]) / product if criterion == "A" else 1 / product / len(values)
        V = np.ascontiguousarray((program.V @ vectors).T)
        rows.append(V[i] * V[j] * (isometry * np.sqrt(share * second))[:, None] * c)
    return np.concatenate(rows)


def total(f: FloatArray, worst: bool) -> float:
    """Return the criterion over several w: their mean, or the largest."""
    return float(f.max() if worst else f.mean())


def as_loss(criterion: str, f: FloatArray | float) -> FloatArray | float:
    """Return a criterion in units of a variance, so that a ratio of losses is a ratio of sample sizes."""
    return f if criterion == "A" else np.exp(f)


def gap(program: Program, at: Expansion, x: FloatArray, shares: FloatArray, y: FloatArray, lam: FloatArray) -> float:
    r"""Return an upper bound on the distance of the criterion from its minimum, by weak duality.

    Notes
    -----
    For shares on the simplex and every feasible s, convexity gives
    :math:`\max_k f_k(s) \ge \sum_k \pi_k f_k(x) + g^\top (s - x)` with :math:`g = \sum_k \pi_k \nabla f_k(x)`. With
    multipliers :math:`\lambda \ge 0` and z = g + A'y + G'λ >= 0 the last term is at least
    :math:`-z^\top x - \lambda^\top(h - Gx)`. A negative z is raised by a multiple of the equalities, in which all
    columns occur. The result is a bound for any multipliers, and good ones make it small.
    """
    z = shares @ at.slopes + y @ program.A + lam @ program.G
    lift = program.A.sum(axis=0)
    z = z + max(0.0, float((-z / lift).max())) * lift
    return float(z @ x + lam @ (program.h - program.G @ x))


def relative_gap(criterion: str, at: Expansion, shares: FloatArray, worst: bool, absolute: float) -> float:
    """Return an upper bound on the share of the loss that could be saved. For D, f is a logarithm: 1 - exp(-gap)."""
    value = total(at.f, worst)
    absolute += value - float(shares @ at.f)
    return absolute / value if criterion == "A" else absolute  # 1 - exp(-gap) < gap
