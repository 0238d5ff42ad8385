"""Maxima that prove themselves: what tests compare the library's own maxima with.

An oracle must be more reliable than what it checks, on every processor. A general optimizer is not: it may stop
anywhere, and another order of summation moves where it does. The likelihood of subsets is concave and the constraints
are linear, so a linear program bounds what any point is short of the maximum, whichever way the point was found.
"""

import numpy as np
import pytest
from scipy.linalg import block_diag, null_space
from scipy.optimize import linprog, minimize

_BARRIERS = 10.0 ** np.arange(-1, -13, -1)
_SHORT = 1e-7  # what the log-likelihood per person may be short of its maximum


def most_likely(rows, n_a, A, b):
    """Return the largest sum of n_a log(rows @ w) over w >= 0 with A w = b, and where it is, with a proof.

    Newton's method on the directions that keep A w, with a logarithmic barrier that is lowered in steps.
    """
    f = n_a / n_a.sum()
    w, free = _inside(A, b), null_space(A)

    def value(w, barrier):
        return f @ np.log(rows @ w) + barrier * np.log(w).sum() if (w > 0).all() else -np.inf

    for barrier in _BARRIERS:
        for _ in range(100):
            r = rows @ w
            slope = free.T @ (rows.T @ (f / r) + barrier / w)
            curvature = free.T @ ((rows.T * (f / r**2)) @ rows + np.diag(barrier / w**2)) @ free
            step = free @ np.linalg.lstsq(curvature, slope, rcond=None)[0]
            gain = float(slope @ (free.T @ step))
            if gain < 1e-3 * barrier:
                break
            length = 1.0
            while value(w + length * step, barrier) < value(w, barrier) + 0.01 * length * gain and length > 1e-12:
                length /= 2
            w = w + length * step
    short = shortfall(rows.T @ (f / (rows @ w)), w, A, b)
    assert short < _SHORT, f"the oracle may be short of the maximum by {short} per person"
    return float(n_a @ np.log(rows @ w)), w


def shortfall(slope, x, A, b, *, A_ub=None, b_ub=None):
    """Return the most that a concave function with this slope at x can gain where A x = b and x >= 0.

    A concave function lies below its tangent plane, and the largest gain of that plane is a linear program.
    """
    best = linprog(-slope, A_ub=A_ub, b_ub=b_ub, A_eq=A, b_eq=b)
    assert best.status == 0, best.message
    return float(slope @ (best.x - x))


def _inside(A, b):
    """Return the point with A w = b that is farthest from the boundary w = 0."""
    p = A.shape[1]
    best = linprog(
        np.r_[np.zeros(p), -1.0],
        A_ub=np.column_stack([-np.eye(p), np.ones(p)]),
        b_ub=np.zeros(p),
        A_eq=np.column_stack([A, np.zeros(len(A))]),
        b_eq=b,
    )
    assert best.status == 0, best.message
    assert best.x[-1] > 0, "no distribution with all weights positive keeps the constraint"
    return best.x[:-1]


class Sample:
    """Counts with the matrix of their subsets, and the design's own."""

    def __init__(self, counts):
        self.design, self.n_a = counts.design, np.asarray(counts.n_a, float)
        self.p, self.n = counts.categories.p, float(np.sum(counts.n_a))
        eye = np.eye(self.p)
        codes, mu = self.design.support()
        self.rows = counts.incidence.inner(eye).T
        self._all = self.design.support_incidence.inner(eye).T
        self._mu = np.where(self.design.is_missing(codes), 0.0, mu / (1 - self.design.mu_full))

    def slope(self, w):
        """Return the gradient of the log-likelihood."""
        return self.rows.T @ (self.n_a / (self.rows @ w))

    def variance(self, w, c):
        """Return the variance of c'w by the expected information, over the categories that have weight."""
        information = self.n * (self._all.T * (self._mu / np.maximum(self._all @ w, 1e-12))) @ self._all
        free = _free(w, c)
        basis = np.linalg.svd(np.ones((1, int(free.sum()))))[2][1:].T
        inside = basis.T @ information[np.ix_(free, free)] @ basis
        return float(c[free] @ basis @ np.linalg.solve(inside, basis.T @ c[free]))

    def multiplier(self, w, c):
        """Return b where the score is a + b c on the categories that have weight."""
        free = _free(w, c)
        X = np.column_stack([np.ones(int(free.sum())), c[free]])
        return float(np.linalg.lstsq(X, self.slope(w)[free], rcond=None)[0][1])


def _free(w, c):
    """Tell which categories have weight; at an end of the range also those that can take the sum away from it."""
    free = w > 1e-6
    return free if np.ptp(c[free]) else free | (c != c[free][0])


def best(samples, constraint=None):
    """Return the largest log-likelihood of several samples together, and the shares of each.

    Parameters
    ----------
    samples
        Samples, each with a distribution of its own.
    constraint
        The weights of each sample and the value that their sum is to have; None for the whole maximum.
    """
    A, b = block_diag(*(np.ones((1, sample.p)) for sample in samples)), np.ones(len(samples))
    if constraint is not None:
        A, b = np.vstack([A, np.concatenate(constraint[0])]), np.r_[b, constraint[1]]
    rows, n_a = block_diag(*(sample.rows for sample in samples)), np.concatenate([sample.n_a for sample in samples])
    top, w = most_likely(rows, n_a, A, b)
    return top, np.split(w, np.cumsum([sample.p for sample in samples])[:-1])


def root_and_score(samples, weights, v):
    """Return the signed root of the likelihood ratio and the score statistic of the value v of a weighted sum."""
    top, peaks = best(samples)
    at, w = best(samples, (weights, v))
    sign = np.sign(sum(c @ peak for c, peak in zip(weights, peaks, strict=True)) - v)
    there, start = (
        sum(
            s.variance(part, c) * s.multiplier(part, c) ** 2
            for s, part, c in zip(samples, shares, weights, strict=True)
        )
        for shares in (w, peaks)
    )
    return sign * np.sqrt(max(2 * (top - at), 0.0)), sign * np.sqrt(max(there - start, 0.0))


def range_of(measure, loglik, least, starts):
    """Return the smallest and the largest value of a measure over the x where a log-likelihood is at least `least`.

    A general optimizer from every start, of which those ends count that keep the constraint. No measure here is
    concave, so each end has to be reached from two starts or more: one that stopped too early is alone.
    """
    ends = []
    for sign in (1, -1):
        found = []
        for start in starts:
            with np.errstate(all="ignore"):  # a long step may leave the range of the exponential
                end = minimize(
                    lambda x, sign=sign: sign * measure(x),
                    start,
                    method="SLSQP",
                    constraints=[{"type": "ineq", "fun": lambda x: loglik(x) - least}],
                    options={"ftol": 1e-12, "maxiter": 500},
                )
            if loglik(end.x) - least > -1e-6:
                found.append(end.fun)
        found.sort()
        assert len(found) > 1, "no two starts led to a point that keeps the constraint"
        assert found[1] - found[0] < 1e-4 * max(1, abs(found[0])), f"the ends differ: {found}"
        ends.append(sign * found[0])
    return ends


def assert_alike(one, two):
    """Expect two documents to be the same but for the last digits of their numbers.

    Those depend on the order in which a processor adds up, which depends on how an array lies in memory.
    """
    if isinstance(one, dict):
        assert one.keys() == two.keys()
        for key in one:
            assert_alike(one[key], two[key])
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(two)
        for first, second in zip(one, two, strict=True):
            assert_alike(first, second)
    elif isinstance(one, float):
        assert one == pytest.approx(two, rel=1e-12, abs=1e-15, nan_ok=True)
    else:
        assert one == two
