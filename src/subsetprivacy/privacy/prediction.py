"""Prediction privacy: how often the best guess is right (Definition "Prediction privacy")."""

from subsetprivacy._types import FloatArray
from subsetprivacy.privacy.attacker import Setting


def leakage(setting: Setting) -> float:
    r"""Return :math:`\sum_a \mu_a \max_{j\in a} w_j`, the chance that the best guess from the subset is right."""
    return float(guess_weights(setting) @ setting.w)


def coverage(setting: Setting) -> float:
    """Return the chance that the best guess is wrong."""
    return 1 - leakage(setting)


def guess_weights(setting: Setting) -> FloatArray:
    """Return, for each category, the total mu of the subsets in which it is the attacker's guess.

    The guess is the member with the largest belief, the first one in a tie.
    The leakage is linear in these weights, which are also its derivative with
    respect to w.
    """
    return setting.guess_weights


def baseline(setting: Setting) -> float:
    """Return the chance of guessing right without data."""
    return float(setting.w[setting.belief.argmax()])


def nonprivate() -> float:
    """Return the leakage if the value itself were reported."""
    return 1.0
