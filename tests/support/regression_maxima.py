"""How often `method="ml"` misses the best maximum: samples with many, and a general optimizer to compare with.

Run it to print the table of `docs/measured-levels.md`.
"""

import warnings

import numpy as np
from scipy.optimize import minimize

import subsetprivacy as sp
from subsetprivacy.estimation.indicator import rows_of

SETTINGS = {
    "uniform": (lambda: sp.uniform(range(8)), 500),
    "hadamard": (lambda: sp.hadamard(range(7)), 500),
    "product": (lambda: sp.product({"a": sp.fixed_size(range(3), 2), "b": sp.warner(range(2))}), 400),
    "four": (lambda: sp.uniform(range(4)), 200),
}


def samples(name, number):
    """Yield subsets, covariates, and the true coefficients of all categories, (labels, array)."""
    design, n = SETTINGS[name][0](), SETTINGS[name][1]
    p, labels = design.p, design.categories.labels
    B = np.column_stack([np.linspace(0, 0.3, p), np.linspace(0, 1, p), 0.5 * (np.arange(p) % 2)])
    for seed in range(number):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.standard_normal(n), rng.integers(0, 2, n)])
        P = np.exp(B @ np.vstack([np.ones(n), X.T]))
        values = ((P / P.sum(axis=0)).cumsum(axis=0) > rng.random(n)).argmax(axis=0)
        data = sp.privatize([labels[k] for k in values], design, seed=seed)
        data = data.select(data.names) if isinstance(data, sp.SubsetTable) else data
        yield data, X, B - B[0]


def best_around_the_truth(data, X, truth, starts=8):
    """Return the best log-likelihood that a general optimizer finds from the true coefficients and around them."""
    told = ~data.design.is_missing(data.codes)
    R, Z = rows_of(data.codes[told], data.design), np.column_stack([np.ones(told.sum()), X[told]])
    p = len(R)

    def loss(theta):
        U = np.vstack([np.zeros(len(Z)), theta.reshape(p - 1, -1) @ Z.T])
        E = np.exp(U - U.max(axis=0))
        inside, every = np.maximum((R * E).sum(axis=0), 1e-200), E.sum(axis=0)  # far out a step may lose a subset
        G = (R * E / inside - E / every)[1:]
        return -np.log(inside / every).sum(), -(G @ Z).ravel()

    rng, theta = np.random.default_rng(0), truth[1:].ravel()
    spread = [0.0] + [0.5] * (starts // 2 - 1) + [1.5] * (starts - starts // 2)
    ends = [
        minimize(loss, theta + size * rng.standard_normal(theta.size), jac=True, method="BFGS", options={"gtol": 1e-6})
        for size in spread
    ]
    return -min(end.fun for end in ends)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name in SETTINGS:
        missed, told, starts = [], [], []
        for data, X, truth in samples(name, 200):
            fit = sp.regress(data, X, method="ml", baseline=data.design.categories.labels[0])
            missed.append(best_around_the_truth(data, X, truth) - fit.loglik)
            told.append(any("maxima from" in note.text for note in fit.notes))
            starts.append(fit.fit.starts)
        d, told = np.array(missed), np.array(told)
        print(
            f"| {name} | {100 * np.mean(d > 0.5):.1f} | {100 * np.mean(d > 2):.1f} | {d.max():.2f} | "
            f"{100 * np.mean((d > 0.5) & ~told):.1f} | {100 * np.mean(told):.0f} | {np.mean(starts):.0f} |",
            flush=True,
        )
