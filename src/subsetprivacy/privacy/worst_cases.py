"""Worst cases: maximal leakage, the smallest set, the largest posterior."""

import numpy as np

from subsetprivacy.design import Design
from subsetprivacy.design.disclosure import revealing_reports
from subsetprivacy.privacy.attacker import Setting


def maximal_leakage(design: Design) -> float:
    r"""Return :math:`\log_2 \sum_a \max_j P(a\mid j) = \log_2 S` bits.

    Whatever the distribution and whatever function of the value is guessed,
    the chance of guessing it right is multiplied by at most S on average over
    the subsets that occur. One subset can do more: see `largest_posterior`.
    """
    return float(np.log2(design.S)) + 0.0


def largest_posterior(setting: Setting) -> float:
    """Return the largest probability that any reportable subset leaves to one value."""
    return setting.design.largest_posterior(setting.belief)


def revealed_shares(setting: Setting) -> dict[str, float]:
    """Return for each variable the share of rows that leave a single value of it; "the value" where there is one."""
    _, P, _ = setting.law
    return {name: float(P[rows].sum()) for name, rows in revealing_reports(setting.design).items()}
