"""Prediction privacy: how often the best guess is right (Definition "Prediction privacy")."""

import numpy as np

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.design import Mixture, Uniform
from subsetprivacy.design.base import require_enumerable
from subsetprivacy.privacy.attacker import Setting


def leakage(setting: Setting) -> float:
    r"""Return :math:`\sum_a \mu_a \max_{j\in a} w_j`, the chance that the best guess from the subset is right."""
    return float(guess_weights(setting) @ setting.w)


def coverage(setting: Setting) -> float:
    """Return the chance that the best guess is wrong."""
    return 1 - leakage(setting)


def guess_weights(setting: Setting) -> FloatArray:
    """Return, per category, the total mu of the subsets in which it is the attacker's guess.

    The guess is the category with the largest belief, the first of them in
    a tie. The leakage is linear in these weights, which are also its
    derivative in w.
    """
    design = setting.design
    if isinstance(design, Mixture) and not design.enumerable:
        parts = zip(design.components, design.shares, strict=True)
        return sum(  # type: ignore[return-value]
            share * guess_weights(Setting(part, setting.w, setting.belief)) for part, share in parts
        )
    if isinstance(design, Uniform):
        return _uniform_guess_weights(design, setting.belief)
    codes, mu = require_enumerable(design, "prediction leakage").support()
    return np.bincount(best_guess(codes, setting.belief), weights=mu, minlength=design.p).astype(np.float64)


def _uniform_guess_weights(design: Uniform, belief: FloatArray) -> FloatArray:
    """Count the admissible subsets whose largest member is the r-th largest of all, in closed form."""
    p = design.p
    order = np.argsort(-belief, kind="stable")
    weights = np.zeros(p)
    for r in range(1, p):  # the smallest of all is never the largest of two
        # Members beyond the r-th are free, but at least one, and not so many that p-1 or p are in.
        sets = 2 ** (p - r) - 1 - {1: p, 2: 1}.get(r, 0)
        weights[order[r - 1]] = sets * design._mu
    return weights


def best_guess(codes: IntArray, belief: FloatArray) -> IntArray:
    """Return for each subset the position of its most likely member, the first of them in a tie."""
    guess = np.full(len(codes), -1, np.int64)
    for j in np.argsort(-belief, kind="stable"):
        guess[(guess < 0) & (codes >> j & 1 == 1)] = j
    return guess


def baseline(setting: Setting) -> float:
    """Return the chance of guessing right without data."""
    return float(setting.w[setting.belief.argmax()])


def nonprivate() -> float:
    """Return the leakage if the value itself were reported."""
    return 1.0
