"""How often intervals contain the true share, and how wide they are: run as a script it prints the table.

python tests/support/interval_coverage.py [replications]
"""

import sys
import warnings

import numpy as np
from attrs import frozen
from scipy.special import chdtri

import subsetprivacy as sp
from subsetprivacy.estimation.newton_many import newton_many
from subsetprivacy.incidence import DenseRows

SIZES = (100, 300, 1000, 10_000)
FOUR = sp.uniform(range(4))
HALVES = sp.partition(range(4))
THIRDS = sp.partition(range(6), groups=3)
CASES = {
    "uniform": (FOUR, [(0.25,) * 4, (0.4, 0.3, 0.2, 0.1), (0.7, 0.1, 0.1, 0.1), (0.85, 0.05, 0.05, 0.05)]),
    "uniform, rare": (FOUR, [(0.9, 0.06, 0.03, 0.01), (0.94, 0.02, 0.02, 0.02), (0.97, 0.01, 0.01, 0.01)]),
    "partition in 2 groups": (HALVES, [(0.97, 0.01, 0.01, 0.01)]),
    "partition in 3 groups": (
        THIRDS,
        [(1 / 6,) * 6, (0.5, *(0.1,) * 5), (0.8, 0.1, 0.04, 0.03, 0.02, 0.01), (0.95, *(0.01,) * 5)],
    ),
}
# Samples of which a part counts several times: (share of the sample, weight, distribution in that part).
WEIGHTED = {
    "weights 1 and 3": lambda w: ((0.5, 1.0, w), (0.5, 3.0, w)),
    "weights 1 and 4, rarer in the heavy": lambda w: ((0.7, 1.0, w), (0.3, 4.0, 0.5 * w + 0.5 * np.eye(len(w))[0])),
}


@frozen
class Row:
    """The coverage of one share."""

    case: str
    w: tuple[float, ...]
    n: int
    share: float
    coverage: float
    width: float
    wald_coverage: float
    wald_width: float

    def __str__(self) -> str:
        shares = ", ".join(f"{x:.3g}" for x in self.w)
        return (
            f"| {self.case} | {shares} | {self.n} | {self.share:.3g} | {100 * self.coverage:.1f} | {self.width:.4f} "
            f"| {100 * self.wald_coverage:.1f} | {self.wald_width:.4f} |"
        )


HEAD = (
    "| design | w | n | share | coverage % | mean width | Wald's coverage % | Wald's mean width |\n" + "|---" * 8 + "|"
)


def covered(design, samples, w, least_weight=1.0):
    """Return how often the default interval contains each share.

    The batch is screened first: where the likelihood ratio of the true share is below even the one-sided quantile,
    every interval contains it. Only the others, about a tenth, are worked out.
    """
    codes = design.support()[0]
    rows = DenseRows(design.incidence(codes).inner(np.eye(design.p)).T)
    n_a = np.array([dict(zip(one.codes.tolist(), one.counts, strict=True)) for one in samples])
    n_a = np.array([[one.get(code, 0) for code in codes.tolist()] for one in n_a], float)
    total = n_a.sum(axis=1, keepdims=True)
    best = loglik(rows, n_a, newton_many(rows, n_a / total, tol=1e-11).w)
    inside = np.empty((len(samples), len(w)), bool)
    for j, share in enumerate(w):
        T = (1 - share) * np.delete(np.eye(design.p), j, axis=1)
        T[j] = share
        fixed = newton_many(DenseRows(rows.inner(T.T).T), n_a / total, tol=1e-11).w
        ratio = 2 * (best - loglik(rows, n_a, fixed @ T.T)) / least_weight
        inside[:, j] = ratio < chdtri(1, 0.1) - 1e-3
        for k in np.flatnonzero(~inside[:, j]):
            low, high = sp.estimate(samples[k]).interval(categories=[j])[0]
            inside[k, j] = low <= share <= high
    return inside.mean(axis=0)


def loglik(rows, n_a, w):
    L = rows.inner(w)
    return np.einsum("ba,ba->b", n_a, np.log(L, out=np.zeros_like(L), where=n_a > 0))


MEASURED = 100  # samples whose intervals are worked out for the mean width


def rows_of(case, design, samples, w, n, measured=MEASURED, least_weight=1.0):
    """Return a row per share: coverage from all samples, the mean width from the first ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.errors.SubsetPrivacyWarning)
        coverage = covered(design, samples, w, least_weight)
        fits = [sp.estimate(sample) for sample in samples]
        width = np.diff([fit.interval() for fit in fits[:measured]]).mean(axis=0)[:, 0]
        wald = np.array([fit.interval(method="wald") for fit in fits])
    of_wald = ((wald[..., 0] <= w) & (w <= wald[..., 1])).mean(axis=0), np.diff(wald).mean(axis=0)[:, 0]
    figures = (coverage, width, *of_wald)
    return [Row(case, tuple(w), n, float(w[j]), *(float(one[j]) for one in figures)) for j in range(len(w))]


def plain(case, design, w, n, replications, seed, measured=MEASURED):
    """Return the rows for people who count as one."""
    w = np.array(w)
    return rows_of(case, design, list(sp.simulate_many(design, w, n, replications, seed=seed)), w, n, measured)


def weighted(case, design, w, n, replications, seed, measured=MEASURED):
    """Return the rows for a sample in which some people count several times."""
    parts = WEIGHTED[case](np.array(w))
    weights = np.array([weight for _, weight, _ in parts])
    truth = sum(share * weight * part for share, weight, part in parts)
    truth = truth / sum(share * weight for share, weight, _ in parts)
    codes, mu = design.support()
    rows = design.incidence(codes)
    law = np.concatenate([share * mu * rows.inner(part) for share, _, part in parts])
    drawn = np.random.default_rng(seed).multinomial(n, law / law.sum(), size=replications)
    drawn = drawn.reshape(replications, len(parts), -1)
    samples = [sp.SubsetCounts(codes, one.T @ weights, design, one.T @ weights**2) for one in drawn]
    return rows_of(case, design, samples, truth, n, measured, least_weight=weights.min())


def study(replications, sizes=SIZES, seed=1):
    """Yield the rows of all cases."""
    for n in sizes:
        for case, (design, distributions) in CASES.items():
            for w in distributions:
                yield from plain(case, design, w, n, replications, seed)
        for case in WEIGHTED:
            for w in ((0.25,) * 4, (0.7, 0.1, 0.1, 0.1), (0.97, 0.01, 0.01, 0.01)):
                yield from weighted(case, FOUR, w, n, replications, seed)


if __name__ == "__main__":
    print(HEAD, flush=True)
    for row in study(int(sys.argv[1]) if len(sys.argv) > 1 else 2000):
        print(row, flush=True)
