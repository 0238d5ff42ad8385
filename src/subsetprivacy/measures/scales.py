r"""Comparisons of two shares x and y: difference, ratio and odds ratio.

Each has a scale on which it is estimated, and defines the curve :math:`\psi(x, y) = v` of the shares with the value v.
A curve runs from the point where only x differs from its estimate to the point where only y does.
"""

from typing import ClassVar, Protocol

import numpy as np
from attrs import frozen
from scipy.special import expit, logit

FAR = 36.0  # e to this power counts as infinite: shares of 1e-16


class MeasureScale(Protocol):
    """A comparison of two shares, initialized with their estimates."""

    ends: ClassVar[tuple[float, float]]
    limits: ClassVar[tuple[float, float]]
    null: ClassVar[float]
    rests_on: ClassVar[tuple[str, ...]]  # the component of each share that must not be near 0 for the delta method

    @property
    def estimate(self) -> float:
        """The estimate on the scale."""
        ...

    @property
    def slopes(self) -> tuple[float, float]:
        """The derivatives with respect to x and y at the estimate."""
        ...

    def point(self, s: float, v: float) -> tuple[float, float]:
        """Return the shares with value v at s: at 0 only x differs from its estimate, at 1 only y."""
        ...

    def back(self, v: float) -> float:
        """Return the measure of a value on the scale."""
        ...


@frozen
class DifferenceScale:
    """x - y."""

    x: float
    y: float
    ends: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    limits: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    null: ClassVar[float] = 0.0
    rests_on: ClassVar[tuple[str, ...]] = ("whole",)

    @property
    def estimate(self) -> float:
        """The difference."""
        return self.x - self.y

    @property
    def slopes(self) -> tuple[float, float]:
        """One and minus one."""
        return 1.0, -1.0

    def point(self, s: float, v: float) -> tuple[float, float]:
        """Return the shares at s, inside the unit square."""
        least, most = max(0.0, -v), min(1.0, 1.0 - v)
        # Each end is moved into the range, not each point: a stretch of equal points would hide a maximum next to it.
        start, end = (float(np.clip(y, least, most)) for y in (self.y, self.x - v))
        y = float(np.clip(start + s * (end - start), least, most))
        return min(max(y + v, 0.0), 1.0), y

    def back(self, v: float) -> float:
        """Return v itself."""
        return v


class _Logarithmic:
    """A ratio, estimated as its logarithm."""

    ends: ClassVar[tuple[float, float]] = (-FAR, FAR)
    limits: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    null: ClassVar[float] = 1.0

    def back(self, v: float) -> float:
        """Return e to the power v, or 0 or infinity for extreme values."""
        return 0.0 if v <= -FAR else float("inf") if v >= FAR else float(np.exp(v))


@frozen
class RatioScale(_Logarithmic):
    """ln(x/y)."""

    x: float
    y: float
    rests_on: ClassVar[tuple[str, ...]] = ("part", "whole")

    @property
    def estimate(self) -> float:
        """The logarithm of the ratio; NaN for negative shares, and if both are 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.log(self.x) - np.log(self.y))

    @property
    def slopes(self) -> tuple[float, float]:
        """The inverse shares."""
        return 1 / self.x, -1 / self.y

    def point(self, s: float, v: float) -> tuple[float, float]:
        """Return the shares at s, inside the unit square."""
        most = min(1.0, float(np.exp(-v)))
        start, end = min(self.y, most), min(self.x * float(np.exp(-v)), most)
        y = float(np.clip(start + s * (end - start), 0.0, most))
        return min(y * float(np.exp(v)), 1.0), y


@frozen
class OddsRatioScale(_Logarithmic):
    """The log odds of x minus those of y."""

    x: float
    y: float
    rests_on: ClassVar[tuple[str, ...]] = ("part", "rest")

    @property
    def estimate(self) -> float:
        """The logarithm of the odds ratio; NaN for shares outside [0, 1], and for infinity minus infinity."""
        with np.errstate(invalid="ignore"):
            return float(logit(self.x) - logit(self.y))

    @property
    def slopes(self) -> tuple[float, float]:
        """The derivatives of the log odds."""
        return 1 / (self.x * (1 - self.x)), -1 / (self.y * (1 - self.y))

    def point(self, s: float, v: float) -> tuple[float, float]:
        """Return the shares at s, on a straight line in log odds."""
        x, y = (float(np.clip(logit(share), -FAR, FAR)) for share in (self.x, self.y))
        at = y + s * (x - v - y)
        return float(expit(at + v)), float(expit(at))
