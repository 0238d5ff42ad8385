r"""The requirements of a plan: the precision, the share of interest, and the groups.

Every plan solves :math:`n = (z/t)^2 f v`, with the required half-width t, the limit variance v of one person's report,
and a factor f for the groups.
"""

from collections.abc import Mapping
from math import ceil, floor, sqrt
from typing import Any

import numpy as np
from attrs import field, frozen
from scipy.special import ndtri

from subsetprivacy._checks import check_count
from subsetprivacy._types import FloatArray, Label
from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.messages.for_general import NEAREST
from subsetprivacy.messages.for_plans import (
    DIVIDE_BY_100,
    GIVE_W,
    GROUPS_OR_SUBGROUPS,
    GROUPS_WITH_SHARES,
    LEAVE_OUT_THE_UNKNOWN,
    MARGIN_OR_RELATIVE,
    ONE_OF_THE_CATEGORIES,
    RELATIVE_SHARE,
    SHARE_OR_CATEGORY,
    SMALL_SHARES,
    SUBGROUPS_WITH_SHARES,
    TWO_POINTS,
)
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import label_text

MARGIN = 0.02
MOST_PEOPLE = 10**12
MOST_PARTS = 1000
_ROUNDING = 1e-12  # the relative rounding error of a number of people
_SUM = 1e-6  # tolerance of the sum of the shares of groups


@frozen
class PlanGroups:
    """The groups of a plan.

    Attributes
    ----------
    shares
        The share of the people in each group, by name. Empty if there are no groups.
    compared
        Whether the plan is for differences between groups instead of the shares in each group.
    """

    shares: Mapping[str, float] = field(factory=dict)
    compared: bool = False

    @property
    def factor(self) -> float:
        """How many times as many people as for one sample are needed, before rounding."""
        if not self.shares:
            return 1.0
        inverse = sorted((1 / share for share in self.shares.values()), reverse=True)
        return inverse[0] + inverse[1] if self.compared else inverse[0]

    def planned(self, each: float) -> tuple[int, dict[str, int]]:
        """Return the number of people in total and by group if one sample needs `each` people, before rounding."""
        if not self.shares:
            return max(_rounded_up(each), 1), {}
        if self.compared:
            sizes = {name: max(_rounded_up(self.factor * each * share), 1) for name, share in self.shares.items()}
            return sum(sizes.values()), sizes
        total = _rounded_up(max(_rounded_up(each), 1) / min(self.shares.values()))
        return total, {name: floor(total * share * (1 + _ROUNDING)) for name, share in self.shares.items()}

    def divided(self, n: int) -> dict[str, int]:
        """Return the expected number of people in each group, out of n."""
        return {name: floor(n * share + 0.5) for name, share in self.shares.items()}


@frozen
class Demand:
    """The requirements of a plan.

    Attributes
    ----------
    z
        The quantile of the confidence level.
    margin, relative, n
        The half-width, its ratio to the share, or the number of people. The other two are None.
    category
        The position of the category of interest; None for all categories.
    parts
        The groups.
    """

    z: float
    margin: float | None = None
    n: int | None = None
    relative: float | None = None
    category: int | None = None
    parts: PlanGroups = field(factory=PlanGroups)

    def per_share(self, variances: FloatArray, w: FloatArray) -> FloatArray:
        """Return the variances, divided by the squared shares if the margin is relative."""
        return variances if self.relative is None else variances / w**2

    def hardest(self, variances: FloatArray, w: FloatArray) -> int:
        """Return the category that needs the most people."""
        return int(self.per_share(variances, w).argmax()) if self.category is None else self.category

    def largest(self, variances: FloatArray, w: FloatArray) -> float:
        """Return the variance that determines the number of people."""
        return float(self.per_share(variances, w)[self.hardest(variances, w)])

    def planned(self, variance: float) -> tuple[int, dict[str, int]]:
        """Return the required or given number of people, in total and by group."""
        wanted = self.margin if self.relative is None else self.relative
        if self.n is not None or wanted is None:
            assert self.n is not None
            return self.n, self.parts.divided(self.n)
        return self.parts.planned((self.z / wanted) ** 2 * variance)

    def half_width(self, variance: float, share: float) -> float:
        """Return the required half-width at a share, or the half-width for the given number of people."""
        if self.n is not None:
            return self.z * sqrt(self.parts.factor * variance / self.n)
        if self.relative is not None:
            return self.relative * share
        assert self.margin is not None
        return self.margin


def _rounded_up(number: float) -> int:
    return ceil(number * (1 - _ROUNDING))


# Arguments ------------------------------------------------------------------------------------


def read_demand(
    labels: Categories,
    level: float,
    *,
    margin: Any,
    relative: Any,
    n: Any,
    category: Any,
    groups: Any,
    subgroups: Any,
    w: FloatArray | None,
) -> Demand:
    """Check the arguments and return the requirements.

    Raises
    ------
    ArgumentError
        If an argument is out of range, or two arguments exclude each other.
    CategoryError
        If the category is unknown.
    """
    z = float(ndtri(0.5 + level / 2))
    position = None if category is None else _read_category(category, labels)
    parts = _read_parts(groups, subgroups)
    if margin is not None and relative is not None:
        raise ArgumentError("either `margin` or `relative` must be given; got both.", MARGIN_OR_RELATIVE)
    if n is not None:
        given = "margin" if margin is not None else "relative"
        if margin is not None or relative is not None:
            raise ArgumentError(f"either `{given}` or `n` must be given; got both.", LEAVE_OUT_THE_UNKNOWN)
        return Demand(z, n=_read_n(n, labels, parts), category=position, parts=parts)
    if relative is not None:
        ratio = _read_relative(relative, w, position, labels)
        return Demand(z, relative=ratio, category=position, parts=parts)
    return Demand(z, margin=_read_margin(MARGIN if margin is None else margin), category=position, parts=parts)


def read_people(value: Any, name: str) -> int:
    """Return a number of people if it is within the limits."""
    people = check_count(value, name, least=1)
    if people > MOST_PEOPLE:
        raise ArgumentError(f"`{name}` must be at most {MOST_PEOPLE:,}; got more.", NEAREST(nearest=MOST_PEOPLE))
    return people


def require_spread(name: str, *distributions: FloatArray) -> None:
    """Raise if all weight is on one category: the variance is then 0, and one person would seem to be enough.

    Parameters
    ----------
    name
        The argument, for the message.
    distributions
        The distributions. At least one must have two or more categories.
    """
    if all(w.max() > 1 - 1e-12 for w in distributions):
        raise ArgumentError(
            f"`{name}` must give weight to two categories or more; got all weight on one, which leaves nothing to "
            "estimate.",
            SMALL_SHARES,
        )


def _read_category(category: Label, labels: Categories) -> int:
    try:
        return labels.index(category)
    except CategoryError:
        shown = repr(category) if isinstance(category, (str, int, float)) else type(category).__name__
        raise CategoryError(
            f"`category` must be one of the {labels.p} categories; got {shown}.",
            ONE_OF_THE_CATEGORIES(categories=labels.preview()),
        ) from None


def _read_n(n: Any, labels: Categories, parts: PlanGroups) -> int:
    smallest = min(parts.shares.values(), default=1.0)
    least = _rounded_up((labels.p - 1) / smallest)
    if read_people(n, "n") < least:
        where = " in every group" if parts.shares else ""
        raise ArgumentError(
            f"`n` must be at least {least} for {labels.p} categories{where}: fewer answers cannot distinguish all "
            f"distributions; got {n}.",
            NEAREST(nearest=least),
        )
    return int(n)


def _read_margin(margin: Any) -> float:
    if not _is_number(margin) or not 0 < margin < 0.5:
        raise ArgumentError(f"`margin` must be above 0 and at most 0.5; got {_shown(margin)}.", TWO_POINTS)
    return float(margin)


def _read_relative(relative: Any, w: FloatArray | None, category: int | None, labels: Categories) -> float:
    if not _is_number(relative) or not 0 < relative <= 1:
        raise ArgumentError(f"`relative` must be above 0 and at most 1; got {_shown(relative)}.", RELATIVE_SHARE)
    if w is None:
        raise ArgumentError("`relative` must come with `w`, because it refers to a known share.", GIVE_W)
    smallest = int(w.argmin()) if category is None else category
    if w[smallest] <= 0:
        raise ArgumentError(
            f"`relative` must refer to shares above 0; got a share of 0 for {labels.labels[smallest]!r}.",
            SHARE_OR_CATEGORY,
        )
    return float(relative)


def _read_parts(groups: Any, subgroups: Any) -> PlanGroups:
    if groups is not None and subgroups is not None:
        raise ArgumentError("either `groups` or `subgroups` must be given; got both.", GROUPS_OR_SUBGROUPS)
    if subgroups is not None:
        return PlanGroups(_read_shares(subgroups, "subgroups", 1, SUBGROUPS_WITH_SHARES))
    if groups is None:
        return PlanGroups()
    if isinstance(groups, (int, np.integer)) and not isinstance(groups, bool):
        if not 2 <= groups <= MOST_PARTS:
            raise ArgumentError(f"`groups` must be from 2 to {MOST_PARTS}; got {groups}.", GROUPS_WITH_SHARES)
        return PlanGroups({f"group {k + 1}": 1 / int(groups) for k in range(int(groups))}, compared=True)
    shares = _read_shares(groups, "groups", 2, GROUPS_WITH_SHARES)
    if sum(shares.values()) < 1 - _SUM:
        raise ArgumentError(
            f"`groups` must have shares that sum to 1; got {sum(shares.values()):.6g}.", GROUPS_WITH_SHARES
        )
    return PlanGroups(shares, compared=True)


def _read_shares(given: Any, name: str, fewest: int, advice: Any) -> dict[str, float]:
    """Return the share of each group by name, if all are positive and sum to at most 1."""
    if not isinstance(given, Mapping):
        raise ArgumentError(f"`{name}` must map names to shares of the people; got {type(given).__name__}.", advice)
    if not fewest <= len(given) <= MOST_PARTS:
        raise ArgumentError(f"`{name}` must be from {fewest} to {MOST_PARTS}; got {len(given)}.", advice)
    wrong = [label_text(label) for label, share in given.items() if not _is_number(share) or not 0 < share < 1e9]
    if wrong:
        raise ArgumentError(f"`{name}` must have shares above 0; got something else for {wrong[0]!r}.", advice)
    total = float(sum(given.values()))
    if total > 1 + _SUM:
        percentages = abs(total - 100) < 1
        raise ArgumentError(
            f"`{name}` must have shares that sum to {'1' if name == 'groups' else 'at most 1'}; got {total:.6g}.",
            DIVIDE_BY_100 if percentages else advice,
        )
    shares = {label_text(label): float(share) for label, share in given.items()}
    if len(shares) < len(given):
        raise ArgumentError(f"`{name}` must have different names; got one twice.", advice)
    return shares


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, (int, float)) else type(value).__name__
