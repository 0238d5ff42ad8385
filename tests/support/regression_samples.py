"""Small samples for the tests of regressions."""

import warnings

import numpy as np
from scipy.special import expit

import subsetprivacy as sp

# Of every kind of row: sets, sets of one design in groups, general rows with weights between 0 and 1.
DESIGNS = {
    "warner": lambda: sp.warner(range(2)),
    "pairs": lambda: sp.fixed_size(range(3), 2),
    "uniform": lambda: sp.uniform(range(4)),
    "partition": lambda: sp.partition(range(5)),
    "hadamard": lambda: sp.hadamard(range(4)),
    "independent": lambda: sp.independent(range(4), {(0, 1): 0.5, (0, 2): 0.3, (0, 3): 0.2}),
}


def values_of(p, n, seed=1, *, slope=1.0):
    """Return values of p categories, and covariates: a normal one and one of 0 and 1."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.standard_normal(n), rng.integers(0, 2, n)])
    B = np.column_stack([np.linspace(0, 0.3, p), np.linspace(0, slope, p), 0.5 * (np.arange(p) % 2)])
    P = np.exp(B @ np.vstack([np.ones(n), X.T]))
    P /= P.sum(axis=0)
    return (P.cumsum(axis=0) > rng.random(n)).argmax(axis=0), X


def ordered_values(p, n, seed=1):
    """Return ordered values under proportional odds with slopes 0.8 and -0.5, and covariates."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.standard_normal(n), rng.integers(0, 2, n)])
    cuts = np.linspace(-1, 1, p - 1)
    return (rng.random(n) > expit(cuts[:, None] - X @ [0.8, -0.5])).sum(axis=0), X


def sample_of(design, n, seed=1, *, ordered=False):
    """Return subsets and covariates."""
    values, X = (ordered_values if ordered else values_of)(design.p, n, seed)
    labels = np.array(design.categories.labels, dtype=object)
    return sp.privatize(labels[values].tolist(), design, seed=seed), X


def quietly(*arguments, **options):
    """Return `regress` without the warnings of the package."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.errors.SubsetPrivacyWarning)
        return sp.regress(*arguments, **options)
