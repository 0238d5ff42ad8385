"""One design of a plan: what it costs and what it gives away."""

from functools import cached_property
from math import ceil, inf, log2, sqrt
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_count
from subsetprivacy._types import FloatArray
from subsetprivacy._words import people
from subsetprivacy.auditing import audit
from subsetprivacy.design import Covered, Design
from subsetprivacy.errors import ArgumentError, TooLargeError
from subsetprivacy.planning.choices import name_of
from subsetprivacy.planning.variance import precision
from subsetprivacy.planning.worst import least_favourable

LEAKS = ("size_leakage", "mi_leakage", "prediction_leakage", "prediction_baseline", "largest_posterior")
NUMBERS = (
    *("people", "margin", "dummies", "people_even", "margin_even", "cost", "cost_even", "loss"),
    *("efficiency", "maximal_leakage", "smallest_set"),
)
_DRAWN_BY_RESPONDENT = {
    "artificial_bit": "the respondent draws the bit, which is never shown or sent",
    "fixed_size": "for whoever holds the value: a publisher, or a respondent who draws the others in the set herself",
}


MOST_PEOPLE = 10**12


def read_people(value: Any, name: str) -> int:
    """Return a number of people, if there can be so many."""
    people = check_count(value, name, least=1)
    if people > MOST_PEOPLE:
        raise ArgumentError(f"`{name}` must be at most {MOST_PEOPLE}; got more. Hint: the nearest is {MOST_PEOPLE}.")
    return people


def require_spread(name: str, *distributions: FloatArray) -> None:
    """Raise if all weight is on one category: nothing varies then, and a limit law says that one person is enough.

    Parameters
    ----------
    name
        The argument, for the message.
    distributions
        The distributions, of which one must have two categories or more.
    """
    if all(w.max() > 1 - 1e-12 for w in distributions):
        raise ArgumentError(
            f"`{name}` must give weight to two categories or more, or nothing is left to estimate; got all of it "
            "on one. Hint: give the other categories the shares that you still want to detect, such as 0.01."
        )


@frozen
class Demand:
    """What is asked of a plan: a margin or a number of people, and the quantile of the level."""

    z: float
    margin: float | None
    n: int | None

    def people(self, variance: float) -> int:
        """Return how many people are needed, or are there."""
        if self.margin is None:
            assert self.n is not None
            return self.n
        return max(ceil((self.z / self.margin) ** 2 * variance * (1 - 1e-12)), 1)

    def half_width(self, variance: float) -> float:
        """Return the half-width that is asked for, or that these people give."""
        if self.n is None:
            assert self.margin is not None
            return self.margin
        return self.z * sqrt(variance / self.n)


@frozen(slots=False, eq=False, repr=False)
class Option:
    """One design of a plan.

    Attributes
    ----------
    design
        The design.
    demand
        What the plan asks for.
    w
        The distribution that was planned for: the one given, or the least favourable.
    variance
        n times the variance of the worst category's share at w, per person.
    direct
        The same for asking directly, planned in the same way.
    compared
        Where designs are compared: the distribution given, or the even one.
    variances, variances_even
        n times the variance of every share there, and at the even distribution.
    estimator
        The estimator the numbers are for.
    remarks
        What is approximate about them.
    """

    design: Design
    demand: Demand
    w: FloatArray
    variance: float
    direct: float
    compared: FloatArray
    variances: FloatArray
    variances_even: FloatArray
    estimator: str = "mle"
    remarks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the design is called in tables."""
        return name_of(self.design)

    # Costs ------------------------------------------------------------------------------------

    @property
    def people(self) -> int:
        """How many real people are asked."""
        return self.demand.people(self.variance)

    @property
    def margin(self) -> float:
        """The largest half-width of the intervals over the categories."""
        return self.demand.half_width(self.variance)

    @property
    def dummies(self) -> int:
        """How many dummy rows come on top of the people."""
        design = self.design
        return design.D * design.dummies_for(self.people) if isinstance(design, Covered) else 0

    @property
    def people_even(self) -> int:
        """How many people the even distribution needs."""
        return self.demand.people(float(self.variances_even.max()))

    @property
    def margin_even(self) -> float:
        """The largest half-width at the even distribution."""
        return self.demand.half_width(float(self.variances_even.max()))

    @property
    def cost(self) -> float:
        """How many times the people of asking directly, planned in the same way."""
        return self.variance / self.direct if self.direct else inf

    @property
    def cost_even(self) -> float:
        """How many times the people of asking directly, at the even distribution."""
        p = self.design.p
        return float(self.variances_even.max()) / ((1 - 1 / p) / p)

    @property
    def loss(self) -> float:
        """The squared error summed over the categories, times that of asking directly, where designs are compared."""
        direct = 1 - float(self.compared @ self.compared)
        return float(self.variances.sum()) / direct if direct else inf

    @property
    def efficiency(self) -> float:
        """The bound (p-1)/(S-1) on the cost per row at the even distribution, over that cost: 1 if balanced."""
        p, real = self.design.p, self.design.real_share
        # Dummy rows bring no information: seen at the rows of a release, no cell is as telling as without them.
        S = self.design.S * (real + self.design.share) if isinstance(self.design, Covered) else self.design.S
        return (p - 1) / (S - 1) * (1 - 1 / p) * real / float(self.variances_even.sum())

    # Leaks ------------------------------------------------------------------------------------

    @property
    def maximal_leakage(self) -> float:
        """The bits given away at most, whatever the distribution."""
        return log2(self.design.S)

    @property
    def smallest_set(self) -> int:
        """How many values every report leaves at least."""
        return self.design.smallest_set

    @cached_property
    def leaks(self) -> dict[str, float]:
        """The numbers of `audit` where designs are compared; NaN where the design is too large for one."""
        try:
            facts = audit(self.design, self.compared).to_dict()
        except TooLargeError:
            facts = {}
        return {name: float(facts.get(name, np.nan)) for name in LEAKS}

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names."""
        return {"design": self.name, **{name: getattr(self, name) for name in NUMBERS}, **self.leaks}

    def __repr__(self) -> str:
        return f"<{self.name}: {people(self.people)} for ±{self.margin:.4g}>"


def option(design: Design, demand: Demand, w: FloatArray | None) -> Option:
    """Work out one design of a plan, at w or at its least favourable distribution."""
    design.require_identifiable()
    even = np.full(design.p, 1 / design.p)
    at_even = precision(design, even)
    remarks = [_DRAWN_BY_RESPONDENT[design.kind]] if design.kind in _DRAWN_BY_RESPONDENT else []
    if w is None:
        worst = least_favourable(design)
        remarks += _doubts(worst.estimator, worst.bound / worst.variance - 1, 0.0)
        found = (worst.w, worst.variance, 0.25, even, at_even.variances)
        return Option(design, demand, *found, at_even.variances, worst.estimator, tuple(remarks))
    at_w = precision(design, w)
    remarks += _doubts(at_w.estimator, 0.0, at_w.error)
    found = (w, at_w.largest, float((w * (1 - w)).max()), w, at_w.variances)
    return Option(design, demand, *found, at_even.variances, at_w.estimator, tuple(remarks))


def _doubts(estimator: str, missed: float, error: float) -> list[str]:
    """Say what is approximate."""
    out = []
    if missed > 0.01:
        out.append(f"some distribution may need up to {100 * missed:.0f} % more people")
    if error:
        out.append(f"simulated, within {200 * error:.1f} %")
    if estimator == "mom":
        out.append("for the moment estimator; maximum likelihood needs no more")
    return out
