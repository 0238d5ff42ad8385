"""Worst cases: maximal leakage, the largest posterior, and values that are revealed exactly (`subsec_p23`)."""

import numpy as np

from subsetprivacy.design import Design
from subsetprivacy.design.disclosure import revealing_reports
from subsetprivacy.privacy.attacker import Setting


def maximal_leakage(design: Design) -> float:
    r"""Return :math:`\log_2 \sum_a \max_j P(a\mid j) = \log_2 S` bits.

    For any distribution and any function of the value, the chance of a right
    guess is multiplied by at most S, on average over the subsets that occur. A
    single subset can reveal more: see `largest_posterior`.
    """
    return float(np.log2(design.S)) + 0.0


def largest_posterior(setting: Setting) -> float:
    """Return the largest probability that any reportable subset leaves to one value."""
    return setting.design.largest_posterior(setting.belief)


def revealed_shares(setting: Setting) -> dict[str, float]:
    """Return for each variable the share of rows that reveal it. A single variable is named "the value"."""
    _, P, _ = setting.subset_distribution
    return {name: float(P[rows].sum()) for name, rows in revealing_reports(setting.design).items()}
