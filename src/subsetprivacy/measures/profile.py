r"""Profile likelihood of a comparison of two shares.

With H(x, y) the likelihood maximized with both shares fixed, the profile of a measure :math:`\psi(x, y)` at v is the
maximum of H along the curve :math:`\psi(x, y) = v`.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import chdtrc, chdtri

from subsetprivacy.measures.scales import MeasureScale
from subsetprivacy.measures.shares import TwoShares

_STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
_ALONG = 1e-4  # H is flat at its maximum along the curve, so the error in H is about the square of this
_WINDOWS, _GAIN = 12, 1e-12
_FIRST_STEP = 0.125


class TwoShareProfile:
    """The profile log-likelihood per person of one measure.

    Parameters
    ----------
    shares
        The likelihood with both shares fixed.
    scale
        The scale of the measure, with the shares at the maximum.
    top, n
        The maximum of the log-likelihood per person, and the number of people.
    """

    def __init__(self, shares: TwoShares, scale: MeasureScale, top: float, n: float) -> None:
        self._shares, self._scale, self._top, self._n = shares, scale, top, n

    def height(self, v: float) -> float:
        """Return the largest log-likelihood per person with the measure equal to v, on its scale.

        Far from the peak, the curve can have two maxima, one with x and one with y on its boundary. A few points in
        between show where to search.
        """

        def depth(s: float) -> float:
            return -self._shares.height(*self._scale.point(s, v))

        depths = [depth(s) for s in _STEPS]
        least, middle, width = min(depths), _STEPS[int(np.argmin(depths))], _STEPS[1]
        for _ in range(_WINDOWS):
            window = (middle - width, middle + width)
            minimum = minimize_scalar(depth, bounds=window, method="bounded", options={"xatol": _ALONG})
            gain, least = least - float(minimum.fun), min(least, float(minimum.fun))
            if gain <= _GAIN or abs(minimum.x - middle) < 0.98 * width:
                break
            middle = float(minimum.x)  # at the edge of the window: move the window
        return -least

    def pvalue(self) -> float:
        """Return the p-value of the likelihood ratio test of no difference, 0 on every scale."""
        return float(chdtrc(1, max(2 * self._n * (self._top - self.height(0.0)), 0.0)))

    def interval(self, level: float) -> tuple[float, float]:
        """Return the values that the likelihood ratio test does not reject, on the scale of the measure."""
        bar = self._top - float(chdtri(1, 1 - level)) / (2 * self._n)

        @cache  # the search for a root evaluates the ends of its bracket again
        def above(v: float) -> float:
            return self.height(v) - bar

        low, high = self._scale.ends
        peak = min(max(self._scale.estimate, low), high)
        return _end(above, peak, low), _end(above, peak, high)


def _end(above: Callable[[float], float], peak: float, end: float) -> float:
    """Return where the profile falls below the bound between the peak and the end, or the end if it does not."""
    step, inside = _FIRST_STEP, peak
    while inside != end:
        outside = end if abs(end - inside) <= step else inside + float(np.copysign(step, end - inside))
        if above(outside) < 0:
            return float(brentq(above, inside, outside, xtol=1e-9, rtol=1e-9))
        step, inside = 2 * step, outside
    return end
