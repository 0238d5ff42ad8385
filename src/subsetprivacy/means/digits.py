"""The number of digits that a standard error justifies."""

import numpy as np

from subsetprivacy._types import FloatArray


def digits_for(se: FloatArray) -> int:
    """Return the number of decimals that gives the smallest standard error three digits.

    Examples
    --------
    >>> digits_for(np.array([0.0123, 0.5])), digits_for(np.array([812.0, np.nan]))
    (4, 0)
    """
    known = se[np.isfinite(se) & (se > 0)]
    if not len(known):
        return 4
    return int(np.clip(2 - np.floor(np.log10(known.min())), 0, 4))
