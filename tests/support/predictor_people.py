"""People with a private predictor, for tests of regressions on it."""

import numpy as np
from scipy.special import expit

import subsetprivacy as sp
from subsetprivacy.predictors.layout import ModelTerm, arrange
from subsetprivacy.predictors.outcome import fit_outcome
from subsetprivacy.subsets import Categories

LABELS = ("a", "b", "c")
# Lopsided on purpose: a uniform design hides index errors.
LOPSIDED = sp.independent(["a", "b", "c", "d"], {("a", "b"): 0.5, ("a", "c"): 0.3, ("a", "d"): 0.2})


def layout(labels=LABELS, baseline="a", *, interaction=False, names=("Intercept", "v", "u")):
    """Return the columns of a model with seen columns and a private x."""
    terms = [ModelTerm(name, (k,)) for k, name in enumerate(names)] + [ModelTerm("x", (0,), ("x",))]
    if interaction:
        terms.append(ModelTerm("v:x", (1,), ("x",)))
    return arrange(names, 0, {"x": Categories(list(labels))}, {"x": baseline}, terms)


def outcomes(family, eta, rng):
    if family == "linear":
        return eta + rng.standard_normal(len(eta))
    if family == "logit":
        return (rng.random(len(eta)) < expit(eta)).astype(float)
    return rng.poisson(np.exp(eta / 2)).astype(float)


def people(family, n=800, labels=LABELS, design=None, seed=0):
    """Return outcome, seen columns, codes, design and the values."""
    rng = np.random.default_rng(seed)
    V = np.column_stack([np.ones(n), rng.standard_normal(n), rng.integers(0, 2, n)])
    x = np.minimum((rng.random(n) * len(labels) + 0.4 * (V[:, 1] > 0)).astype(int), len(labels) - 1)
    eta = 0.5 * V[:, 1] - 0.3 * V[:, 2] + np.linspace(0, 1, len(labels))[x]
    if design is None:  # each one's value, as a subset of one
        design, codes = sp.nonprivate(list(labels)), np.left_shift(1, x)
    else:
        codes = sp.privatize(np.array(list(labels))[x], design, seed=seed + 1).codes
    return outcomes(family, eta, rng), V, codes, design, x


def fit(family, *, n=800, labels=LABELS, design=None, seed=0, made=None, **more):
    """Fit people, those of `people` if none are given."""
    y, V, codes, design = (people(family, n, labels, design, seed) if made is None else made)[:4]
    columns = more.pop("layout", None) or layout(labels)
    return fit_outcome("y", y, V, codes, design, columns, family=family, starts=1, **more)
