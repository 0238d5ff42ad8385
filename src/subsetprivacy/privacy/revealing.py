"""What a report gives away for certain: the value, or one of several joined variables (`subsec_p23`)."""

from subsetprivacy.design.revealed import revealing
from subsetprivacy.privacy.attacker import Setting


def shares(setting: Setting) -> dict[str, float]:
    """Return for each variable the share of rows that leave a single value of it; "the value" where there is one."""
    _, P, _ = setting.law
    return {name: float(P[rows].sum()) for name, rows in revealing(setting.design).items()}
