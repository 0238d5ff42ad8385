"""`power`: the power to find a difference, and the required number of people."""

from collections.abc import Mapping
from math import sqrt
from numbers import Real
from typing import Any, Self

import numpy as np
from attrs import frozen

from subsetprivacy import draw
from subsetprivacy._checks import check_distribution
from subsetprivacy._types import Distribution, FloatArray, Label
from subsetprivacy._words import people
from subsetprivacy.design import Design, require_design
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages import Note
from subsetprivacy.messages.for_plans import CONTRAST_BY_LABEL, POWER_OF_80, SHARE_OF_ONE
from subsetprivacy.planning.demand import read_people, require_spread
from subsetprivacy.planning.variance import contrast_variance
from subsetprivacy.planning.z_test import chance, critical, people_for
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import Table, number, percent

_NUMBERS = ("power", "n1", "n2", "difference", "se", "alpha")


@frozen(repr=False)
class Power(Result):
    """The power of a test for a difference, and the numbers it depends on.

    Attributes
    ----------
    power
        The probability that the two-sided z test rejects.
    n1, n2
        The number of people in the two groups. `n2` is 0 if the second value is known.
    difference, se
        The true difference and the standard error of its estimate.
    alpha
        The level of the test, at most 0.5.
    """

    power: float
    n1: int
    n2: int
    difference: float
    se: float
    alpha: float

    @property
    def notes(self) -> tuple[Note, ...]:
        """Always empty."""
        return ()

    def __repr__(self) -> str:
        groups = f"{self.n1} and {people(self.n2)}" if self.n2 else people(self.n1)
        return f"<Power {self.power:.4f} with {groups}: difference {self.difference:.4g}, std. error {self.se:.4g}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names, for JSON."""
        facts: dict[str, Any] = plain({name: getattr(self, name) for name in _NUMBERS})
        return {**facts, "notes": []}

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the result that `to_dict` wrote."""
        return cls(**{name: facts[name] for name in _NUMBERS})

    def _columns(self) -> Mapping[str, Any]:
        return {name: [getattr(self, name)] for name in _NUMBERS}

    def plot(self, *, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Draw the power against the number of people in the first group, with the second group in proportion.

        Parameters
        ----------
        title, ax
            The title, and the Matplotlib axes to draw on; by default a new figure.
        """
        z = critical(self.alpha)
        n: FloatArray = np.geomspace(max(self.n1 / 10, 1), self.n1 * 10, 200)
        curve = [chance(self.difference, self.se * sqrt(self.n1 / size), z) for size in n.tolist()]
        minus = "\N{MINUS SIGN}" if self.difference < 0 else ""
        heading = f"Power to find a difference of {minus}{abs(self.difference):.3g}, test at {percent(self.alpha)}"
        return draw.power_curves(
            n,
            {"two-sided z test": curve},
            points={"two-sided z test": (self.n1, self.power, float("nan"))},
            alpha=self.alpha,
            xlabel="people in the first group" if self.n2 else "people",
            title=draw.Heading(heading) if title is None else title,
            ax=ax,
        )

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook."""
        rows = (
            ("people in the first group", f"{self.n1}"),
            ("people in the second group", f"{self.n2}" if self.n2 else "known value"),
            ("true difference", number(self.difference)),
            ("standard error", number(self.se)),
            ("power", number(self.power)),
        )
        return Table(f"Two-sided z test at {percent(self.alpha)}", ("", "value"), rows)


def power(
    design: Design,
    w1: Distribution,
    w2: Distribution | float,
    n1: int | None = None,
    n2: int | None = None,
    *,
    category: Label = None,
    contrast: Distribution | None = None,
    alpha: float = 0.05,
    target: float | None = None,
) -> Power:
    r"""Return the power to find a difference between two groups, or the required number of people.

    Parameters
    ----------
    design
        The design of both groups.
    w1
        The distribution in the first group.
    w2
        The distribution in the second group, or a number: the known value
        with which the share in the first group is compared.
    n1, n2
        The number of people in each group. By default `n2` equals `n1`.
    category
        The category whose share is compared.
    contrast
        Instead of `category`, a weighted sum of shares, ``{"red": 1, "blue": -1}``.
    alpha
        The level of the two-sided z test, at most 0.5.
    target
        The required power, to compute the number of people in each group.
        Omit `n1` and `n2` then.

    Raises
    ------
    ArgumentError
        If the comparison or the number to compute is ambiguous, or there is no difference to find.

    Notes
    -----
    With :math:`se^2 = c^\top V(w_1)c/n_1 + c^\top V(w_2)c/n_2` the power is
    :math:`\Phi(|\delta|/se - z) + \Phi(-|\delta|/se - z)`; V is the asymptotic covariance of the estimate
    (`thm_normality_mle`). It is the chance that the default interval of a share excludes a known value. If several
    shares are zero, `Estimate.contrast` has larger standard errors, and tests based on them have less power.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> design = uniform(["a", "b", "c", "d"])
    >>> there = power(design, [0.4, 0.2, 0.2, 0.2], [0.3, 0.3, 0.2, 0.2], n1=1000, category="a")
    >>> round(there.power, 3)
    0.856
    >>> power(design, [0.4, 0.2, 0.2, 0.2], 0.3, category="a", target=0.8).n1
    424
    """
    labels = require_design(design).require_identifiable().categories.labels
    c = _weights(design, category, contrast)
    first = check_distribution(w1, labels, "w1")
    spread = [contrast_variance(design, first, c), 0.0]
    known = isinstance(w2, Real)
    if isinstance(w2, Real):
        require_spread("w1", first)
        difference = float(c @ first) - _known_value(w2, c)
    else:
        second = check_distribution(w2, labels, "w2")
        require_spread("w1", first, second)
        difference = float(c @ (first - second))
        spread[1] = contrast_variance(design, second, c)
    z = critical(alpha)
    sizes = _read_sizes(n1, n2, target, known) or _people(difference, sum(spread), alpha, target, known)
    se = sqrt(spread[0] / sizes[0] + (spread[1] / sizes[1] if sizes[1] else 0.0))
    return Power(chance(difference, se, z), *sizes, difference, se, alpha)


def _weights(design: Design, category: Label, contrast: Any) -> FloatArray:
    if (category is None) == (contrast is None):
        both = "neither" if category is None else "both"
        raise ArgumentError(f"either `category` or `contrast` must be given; got {both}.")
    c: FloatArray = np.zeros(design.p)
    if category is not None:
        c[design.categories.index(category)] = 1.0
    elif isinstance(contrast, Mapping):
        c[[design.categories.index(label) for label in contrast]] = _numbers(list(contrast.values()), design)
    else:
        c = _numbers(contrast, design)
    if c.shape != (design.p,) or np.ptp(c) == 0:
        raise _no_contrast(design, "all the same" if c.shape == (design.p,) else f"the shape {c.shape}")
    return c


def _numbers(weights: Any, design: Design) -> FloatArray:
    """Return weights as an array if they are finite numbers."""
    try:
        c = np.asarray(weights)
        if c.dtype.kind in "iuf" and np.isfinite(c).all():
            return c.astype(np.float64)
    except (TypeError, ValueError):  # lists of different lengths
        pass
    raise _no_contrast(design, "something that is no finite number")


def _no_contrast(design: Design, got: str) -> ArgumentError:
    example = f"{{{design.categories.labels[0]!r}: 1, {design.categories.labels[-1]!r}: -1}}"
    return ArgumentError(
        f"`contrast` must map labels to finite numbers, or be {design.p} of them that are not all the same; got {got}.",
        CONTRAST_BY_LABEL(example=example),
    )


def _known_value(value: Any, c: FloatArray) -> float:
    """Return the known value if a share (or a weighted sum of shares) can have it."""
    least, most = float(c.min()), float(c.max())
    if isinstance(value, bool) or not least <= value <= most:
        shown = f"{value}"[:12] if isinstance(value, (int, float, np.number)) else type(value).__name__
        raise ArgumentError(
            f"`w2` must be a distribution, or a known value from {least:g} to {most:g}; got {shown}.", SHARE_OF_ONE
        )
    return float(value)


def _read_sizes(n1: Any, n2: Any, target: Any, known: bool) -> tuple[int, int] | None:
    if (n1 is None) == (target is None):
        both = "neither" if n1 is None else "both"
        raise ArgumentError(f"either `n1` or `target` must be given; got {both}.", POWER_OF_80)
    if n2 is not None and (known or n1 is None):
        raise ArgumentError("`n2` must be left out if the second value is known or the number of people is computed.")
    if n1 is None:
        return None
    first = read_people(n1, "n1")
    return first, 0 if known else first if n2 is None else read_people(n2, "n2")


def _people(difference: float, variance: float, alpha: float, target: Any, known: bool) -> tuple[int, int]:
    """Return the smallest number of people per group that reaches the target."""
    n = people_for(difference, variance, alpha, target)
    return n, 0 if known else n
