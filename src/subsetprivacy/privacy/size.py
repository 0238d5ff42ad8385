"""Size privacy: how much of the population could have sent the same subset (Definition "Size privacy")."""

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.privacy.attacker import Setting


def coverage(setting: Setting) -> float:
    r"""Return :math:`\tau = E\,L(A) = w^\top Q w`, the average size of the reported subset."""
    return setting.design.pair_form(setting.w, setting.belief)


def leakage(setting: Setting) -> float:
    r"""Return :math:`1 - \tau`, the share of the population ruled out on average."""
    return 1 - coverage(setting)


def gradient(setting: Setting) -> FloatArray:
    """Return the derivative of the leakage with respect to w."""
    return -2 * setting.design.apply_Q(setting.w)


def baseline() -> float:
    """Return the leakage without data, 0, since no one is ruled out."""
    return 0.0


def nonprivate(setting: Setting) -> float:
    """Return the leakage if the value itself were reported."""
    return 1 - setting.design.alike(setting.w, setting.belief)


def of_subsets(sizes: FloatArray) -> FloatArray:
    """Return each person's leakage 1 - L(a)."""
    return np.maximum(1 - sizes, 0.0)
