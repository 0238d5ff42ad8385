"""Maxima of the likelihood under a constraint, by a general optimizer: an independent check of comparisons."""

import itertools

import numpy as np
from scipy.optimize import minimize

_TRIES = 3


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

    def loss(self, w):
        """Return minus the log-likelihood."""
        return -float(self.n_a @ np.log(np.maximum(self.rows @ w, 1e-300)))

    def slope(self, w):
        """Return its gradient."""
        return -self.rows.T @ (self.n_a / np.maximum(self.rows @ w, 1e-300))

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
        return float(np.linalg.lstsq(X, -self.slope(w)[free], rcond=None)[0][1])


def _free(w, c):
    """Tell which categories have weight; at an end of the range also those that can take the sum away from it."""
    free = w > 1e-6
    return free if np.ptp(c[free]) else free | (c != c[free][0])


def best(samples, constraint=None):
    """Return the least loss of several samples together, and the shares of each.

    Parameters
    ----------
    samples
        Samples, each with a distribution of its own.
    constraint
        The weights of each sample and the value that their sum is to have; None for the whole maximum.
    """
    sizes = [sample.p for sample in samples]
    ends = np.cumsum([0, *sizes])
    total = sum(sample.n for sample in samples)

    def parts(x):
        return [x[a:b] for a, b in itertools.pairwise(ends)]

    one = np.array([np.repeat(np.eye(len(sizes))[k], sizes) for k in range(len(sizes))])
    rules = [{"type": "eq", "fun": lambda x, row=row: row @ x - 1, "jac": lambda x, row=row: row} for row in one]
    if constraint is not None:
        c, v = np.concatenate(constraint[0]), constraint[1]
        rules.append({"type": "eq", "fun": lambda x: c @ x - v, "jac": lambda x: c})
    found = None
    rng = np.random.default_rng(1)
    for _ in range(_TRIES):
        start = np.concatenate([rng.dirichlet(np.ones(p)) for p in sizes])
        result = minimize(
            lambda x: sum(sample.loss(w) for sample, w in zip(samples, parts(x), strict=True)) / total,
            start,
            jac=lambda x: np.concatenate([s.slope(w) for s, w in zip(samples, parts(x), strict=True)]) / total,
            bounds=[(0, 1)] * len(start),
            constraints=rules,
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 1000},
        )
        kept = all(abs(rule["fun"](result.x)) < 1e-8 for rule in rules)
        if kept and (found is None or result.fun < found.fun):
            found = result
    assert found is not None, "the optimizer did not find a point with the constraint"
    return total * found.fun, parts(np.clip(found.x, 0, 1))


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
    return sign * np.sqrt(max(2 * (at - top), 0.0)), sign * np.sqrt(max(there - start, 0.0))
