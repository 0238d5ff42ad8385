r"""The difference of a weighted sum of shares between two independent samples.

With :math:`l_i` the profiles of the sum :math:`v_i = c^\top w_i` in the two samples, the likelihood of
:math:`d = v_1 - v_2` is highest where :math:`n_1 l_1'(v_1) = -n_2 l_2'(v_2)`: a search over this one
multiplier finds every value that a test does not reject. The score statistic is

.. math:: z^2 = V_1 u_1^2 + V_2 u_2^2,

with :math:`u_i = n_i l_i'` and :math:`V_i` the variance of the sum at the point, less its value at the two peaks. Away
from the ends of the range that value is 0, and :math:`z = u\sqrt{V_1+V_2}`. For shares that are observed directly, this
is the statistic of Miettinen and Nurminen (1985) without their factor N/(N-1). At an end, which may cut off a peak,
subtracting it ensures that the test does not reject the estimate, like the likelihood ratio test.
"""

from collections.abc import Callable

import numpy as np
from attrs import frozen
from scipy.special import ndtr

from subsetprivacy.estimation.linear_profile import LinearProfile
from subsetprivacy.estimation.profile import ProfilePoint

_EVALUATIONS = 60
_FINE = 1e-5  # relative to a standard error
_LARGEST = 1e9


@frozen
class Pair:
    """A point in each of two samples."""

    one: ProfilePoint
    two: ProfilePoint

    @property
    def difference(self) -> float:
        """The difference of the two sums."""
        return self.one.v - self.two.v

    @property
    def score(self) -> float:
        """The absolute value of the score statistic, before subtracting its value at the peaks."""
        return float(np.hypot(self.one.score, self.two.score))

    @property
    def root(self) -> float:
        """The root of the likelihood ratio statistic, without a sign."""
        return float(np.sqrt(2 * (self.one.people * self.one.drop + self.two.people * self.two.drop)))


class TwoSamples:
    """The likelihood of a difference between two samples."""

    def __init__(self, first: LinearProfile, second: LinearProfile) -> None:
        self._one, self._two = first, second
        self._people = first.at_slope(0.0).people, second.at_slope(0.0).people

    @property
    def top(self) -> float:
        """The difference at the two peaks."""
        return self._one.top - self._two.top

    @property
    def error(self) -> float:
        """An approximate standard error."""
        return float(np.hypot(self._one.error, self._two.error))

    def at(self, multiplier: float) -> Pair:
        """Return the points where n l' is the multiplier in the first sample and minus the multiplier in the second."""
        return Pair(self._one.at_slope(multiplier / self._people[0]), self._two.at_slope(-multiplier / self._people[1]))

    def interval(self, z: float, *, score: bool) -> tuple[float, float]:
        """Return the interval of differences whose statistic is at most z in absolute value."""

        def excess(multiplier: float) -> float:
            return self._size(self.at(multiplier), score=score) - z

        first = z / max(self.error, 1e-12)
        low = _crossing(excess, first)
        high = _crossing(excess, -first)
        least, most = self._one.least - self._two.most, self._one.most - self._two.least
        return (
            least if low is None else self.at(low).difference,
            most if high is None else self.at(high).difference,
        )

    def pvalue(self, null: float, *, score: bool) -> tuple[float, float]:
        """Return the signed statistic of a difference of `null` and its two-sided p-value."""
        pair = self._with_difference(null)
        z = float(np.copysign(self._size(pair, score=score), self.top - null))
        return z, float(2 * ndtr(-abs(z)))

    def _size(self, pair: Pair, *, score: bool) -> float:
        """Return the absolute value of the statistic."""
        if not score:
            return pair.root
        return float(np.sqrt(max(pair.score**2 - self._one.start**2 - self._two.start**2, 0.0)))

    def _with_difference(self, d: float) -> Pair:
        """Return the points of maximum likelihood with the difference d."""
        pair = self.at(self._multiplier_of(d))
        if abs(pair.difference - d) <= 10 * _FINE * self.error:
            return pair
        # In a small sample a profile can be linear over some range, and the search jumps from one end of it to the
        # other. The point lies between, and the other sample determines it.
        ones, twos = self._one.at(pair.two.v + d), self._two.at(pair.one.v - d)
        pairs = [Pair(first, second) for first, second in ((ones, pair.two), (pair.one, twos)) if first and second]
        pairs = [each for each in pairs if abs(each.difference - d) <= 1e-6]
        return min(pairs, key=lambda each: each.root, default=pair)

    def _multiplier_of(self, d: float) -> float:
        """Return the multiplier with the difference d."""

        def excess(multiplier: float) -> float:
            return (self.at(multiplier).difference - d) / max(self.error, 1e-12)

        start = (self.top - d) / max(self.error, 1e-12) ** 2
        if start == 0:
            return 0.0
        sign = np.sign(start)
        crossing = _crossing(lambda m: -sign * excess(m), start)
        return start if crossing is None else crossing


def _crossing(excess: Callable[[float], float], first: float) -> float | None:
    """Return the root, on the side of `first`, of a function that is negative at 0 and increases away from it.

    None if there is no root. If the function jumps over 0, return the end of the jump.
    """
    inside, outside = (0.0, excess(0.0)), None
    if inside[1] >= -_FINE:
        return 0.0
    m = first
    for _ in range(_EVALUATIONS):
        value = excess(m)
        if abs(value) <= _FINE:
            return m
        if value < 0:
            if abs(m) > _LARGEST * abs(first):
                return None
            before, inside = inside, (m, value)
            if outside is None:
                rise = (value - before[1]) / (m - before[0])
                step = -value / rise if rise * m > 0 else m
                m += float(np.clip(step, -4 * abs(m), 4 * abs(m))) if step * m > 0 else m
                continue
        else:
            outside = (m, value)
        assert outside is not None
        share = inside[1] / (inside[1] - outside[1])
        m = inside[0] + float(np.clip(share, 0.05, 0.95)) * (outside[0] - inside[0])
        if abs(outside[0] - inside[0]) <= 1e-12 * abs(outside[0]):
            break
    return m if outside is None else outside[0]
