"""What a report gives away for certain: the value, or one of several joined variables (`subsec_p23`)."""

import numpy as np

from subsetprivacy.design.revealed import revealing
from subsetprivacy.privacy.attacker import Setting


def shares(setting: Setting) -> dict[str, float]:
    """Return for each variable the share of rows that leave a single value of it; "the value" where there is one."""
    _, P, _ = setting.law
    return {name: float(P[rows].sum()) for name, rows in revealing(setting.design).items()}


def certain(setting: Setting) -> float:
    """Return the largest of these shares, or not a number where the support is too large to list."""
    return max(shares(setting).values()) if setting.design.enumerable else np.nan
