"""Worst cases: maximal leakage, the smallest set, the largest posterior."""

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.design import Design, Mixture, Uniform
from subsetprivacy.privacy.attacker import Setting


def maximal_leakage(design: Design) -> float:
    r"""Return :math:`\log_2 \sum_a \max_j P(a\mid j) = \log_2 S` bits.

    Whatever the distribution and whatever function of the value is guessed,
    the chance of guessing it right is multiplied by at most S on average over
    the subsets that occur. One subset can do more: see `largest_posterior`.
    """
    return float(np.log2(design.S)) + 0.0


def largest_posterior(setting: Setting) -> float:
    """Return the largest probability that any reportable subset leaves to one of its members."""
    design = setting.design
    if isinstance(design, Uniform):
        return _largest_in_pairs(setting.belief)
    if isinstance(design, Mixture) and not design.enumerable:
        return max(largest_posterior(Setting(part, setting.w, setting.belief)) for part in design.components)
    _, _, size = setting.law
    possible = size > 0
    return float((setting.rows.peak(setting.belief)[possible] / size[possible]).max())


def _largest_in_pairs(belief: FloatArray) -> float:
    """Pairs are the smallest sets of a uniform design: the largest with the smallest other is the worst."""
    ordered = np.sort(belief)
    return float(ordered[-1] / (ordered[-1] + ordered[0]))
