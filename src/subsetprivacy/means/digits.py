"""How many digits of a number its standard error leaves."""

import numpy as np

from subsetprivacy._types import FloatArray


def digits_for(se: FloatArray) -> int:
    """Return how many decimals to print: so many that the smallest standard error has three digits.

    Examples
    --------
    >>> digits_for(np.array([0.0123, 0.5])), digits_for(np.array([812.0, np.nan]))
    (4, 0)
    """
    known = se[np.isfinite(se) & (se > 0)]
    if not len(known):
        return 4
    return int(np.clip(2 - np.floor(np.log10(known.min())), 0, 4))
