"""The reduction of a variance because a covered release has a fixed number of dummy rows (`sec:dummy`)."""

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.design import Covered
from subsetprivacy.incidence import Incidence


def known_part(
    design: Covered, rows: Incidence, f: FloatArray, w: FloatArray, y: FloatArray
) -> tuple[float, FloatArray]:
    r"""Return s(1-s) and the difference d of two means: the variance between dummies and people is s(1-s) dd'.

    Parameters
    ----------
    design
        The covered design.
    rows, f
        Rows r_a and the share of each.
    w
        A distribution.
    y
        A factor for each row: the means are of y_a r_a.

    Notes
    -----
    A row is a dummy row with probability :math:`\pi_a = \alpha/L_a`. Estimated from the
    same rows as the total variance, the part between the two groups never exceeds
    it. Computed from the design, it could exceed it in small samples.
    """
    dummy = f * design.share / rows.inner(w)
    s = float(dummy.sum())
    if not 0 < s < 1:
        return 0.0, np.zeros(rows.p)
    return s * (1 - s), rows.spread(dummy * y) / s - rows.spread((f - dummy) * y) / (1 - s)
