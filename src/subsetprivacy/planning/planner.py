"""`plan`: the required number of people and the leakage of each design, with a recommendation."""

from collections.abc import Iterable, Mapping
from math import inf, log2
from typing import Any

import numpy as np

from subsetprivacy._checks import check_choice, check_count, check_distribution, check_level
from subsetprivacy._choices import Mode
from subsetprivacy._types import Distribution, Label
from subsetprivacy.design import Design, require_design
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.messages.for_general import NEAREST
from subsetprivacy.messages.for_plans import (
    COVER_EACH_DESIGN,
    DESIGN_IN_A_LIST,
    LIST_OF_DESIGNS,
    NO_DUMMY_ROWS,
    ONE_BIT,
    PLAN_FOR_PUBLISHING,
)
from subsetprivacy.planning.candidate_designs import MODES, built_in, read_categories
from subsetprivacy.planning.demand import read_demand, require_spread
from subsetprivacy.planning.options import PlanOption, option
from subsetprivacy.planning.plan_notes import PlanLimits
from subsetprivacy.planning.result import Plan
from subsetprivacy.subsets import Categories

NEAR = 1.05  # designs within five percent of the smallest number of people count as equal
YES_NO = 1.0  # bits of a yes/no question
WARNER = log2(1.5)  # bits of Warner's question with q = 1/4


def plan(
    categories: Iterable[Label] | int,
    margin: float | None = None,
    level: float = 0.95,
    floor: float | None = None,
    w: Distribution | None = None,
    *,
    n: int | None = None,
    category: Label = None,
    relative: float | None = None,
    groups: int | Mapping[str, float] | None = None,
    subgroups: Mapping[str, float] | None = None,
    maximal_leakage: float | None = None,
    smallest: int = 2,
    mode: Mode = "ask",
    designs: Iterable[Design] | None = None,
) -> Plan:
    r"""Return how many people each design needs, what it reveals, and which design to use.

    Parameters
    ----------
    categories
        The labels, or the number of categories.
    margin
        The largest half-width of the confidence intervals over the categories,
        by default 0.02 (two percentage points) unless `n` or `relative` is given.
    level
        The confidence level of each interval.
    floor
        Compare only covered designs with this floor: for every report, at least this share of the rows could have
        produced it.
    w
        The distribution to plan for, the same in every group, with weight on two or more categories. By default each
        design is planned for its least favorable distribution, and the even distribution is shown too.
    n
        The number of people. The margin is then computed.
    category
        The category of interest: the margin applies only to its share. Without `w`, each design is planned for the
        distribution at which this share is hardest to estimate.
    relative
        Instead of `margin`, the half-width relative to the share: 0.2 for ±20% of the share that `w` gives to
        `category`, or to each category.
    groups
        Plan for differences between independent groups: the margin applies to the difference of a share between any
        two of them. Give the number of groups of equal size, or the share of the people in each group by name,
        ``{"f": 0.3, "m": 0.7}``.
    subgroups
        Plan for the shares in every subgroup: give the share of the people in each by name,
        ``{"young": 0.2, "old": 0.8}``, in total at most 1. The margin is reached in each subgroup.
    maximal_leakage
        The largest maximal leakage, in bits, that the recommended design may have. The default for three or more
        categories is 1, a yes/no question. For two categories, where a plain yes or no would be the value, it is log2
        1.5 = 0.585, Warner's question with q = 1/4, which at most triples the odds.
    smallest
        The smallest number of values that every report of the recommended design must leave possible.
    mode
        ``"ask"``: recommend designs that can be asked as questions. ``"publish"``: also consider designs
        for publishers who know the values.
    designs
        Designs to compare instead of the built-in ones.

    Raises
    ------
    ArgumentError
        If an argument is out of range, or no design meets the limits. The hint names the nearest possible value.
    CategoryError
        If `category` is not one of the categories.
    InvalidDesignError
        If no design allows the floor.

    Notes
    -----
    :math:`n = \lceil (z/\text{margin})^2 \max_j V_{jj}(w) \rceil` with the asymptotic covariance V of the maximum
    likelihood estimate (`thm_normality_mle`). This is the half-width of the default intervals of `estimate`, even if
    some shares of w are zero. Wald intervals are wider in that case. For a relative margin :math:`V_{jj}` is divided by
    :math:`w_j^2`. The estimates of groups with shares :math:`s_g` of the people are independent, so the difference
    between two of them has the variance :math:`V_{jj}(1/s_g + 1/s_h)/n`, and a share in a subgroup has
    :math:`V_{jj}/(s_g n)`. The number of people counts those who answer, and dummy rows are added to it. The
    recommendation is the design that needs the fewest people within the limits. If others need at most five percent
    more, the one with the largest smallest set is recommended.

    Examples
    --------
    >>> answers = ["never", "once", "monthly", "weekly", "daily"]
    >>> survey = plan(answers, margin=0.03)
    >>> survey.recommended
    <uniform design on 5 categories: 'never', 'once', 'monthly', 'weekly', 'daily'>
    >>> survey.people
    2747
    >>> plan(["no", "yes"], margin=0.03).best
    <PlanOption warner, q = 0.25: 4,269 people for ±0.03>

    Plan for the share of one category, within a fifth of the expected share:

    >>> plan(answers, w=[0.5, 0.2, 0.1, 0.1, 0.1], category="daily", relative=0.2).people
    4990

    Plan for the difference of each share between two groups of the same size, and for each share in two subgroups:

    >>> plan(answers, margin=0.05, groups=2).by_group
    {'group 1': 1978, 'group 2': 1978}
    >>> plan(answers, margin=0.05, subgroups={"young": 0.2, "old": 0.8}).by_group
    {'young': 989, 'old': 3956}
    """
    labels = read_categories(categories)
    target = None if w is None else check_distribution(w, labels.labels)
    demand = read_demand(
        labels,
        check_level(level),
        margin=margin,
        relative=relative,
        n=n,
        category=category,
        groups=groups,
        subgroups=subgroups,
        w=target,
    )
    if target is not None:
        require_spread("w", target)
    most = _read_limit(maximal_leakage, labels.p)
    check_choice(mode, MODES, "mode")
    limits = PlanLimits(most, check_count(smallest, "smallest", least=1), maximal_leakage is None, mode == "ask")
    considered = _read_designs(designs, labels, floor) or built_in(labels, mode, _read_floor(floor))
    options = tuple(option(design, demand, target) for design in considered)
    best, cheaper = _recommend(options, limits)
    return Plan(options, best, cheaper, level, target is not None, limits)


def _read_limit(bits: Any, p: int) -> float:
    if bits is None:
        return WARNER if p == 2 else YES_NO
    if isinstance(bits, bool) or not isinstance(bits, (int, float, np.number)) or not bits > 0:
        shown = repr(bits) if isinstance(bits, (int, float)) else type(bits).__name__
        raise ArgumentError(f"`maximal_leakage` must be a positive number of bits; got {shown}.", ONE_BIT)
    return float(bits) if bits < 1e6 else inf


def _read_floor(floor: Any) -> float | None:
    if floor is None:
        return None
    if isinstance(floor, bool) or not isinstance(floor, (int, float, np.floating)) or not 0 < floor < 1:
        shown = repr(floor) if isinstance(floor, (int, float)) else type(floor).__name__
        raise ArgumentError(f"`floor` must be a share above 0 and below 1; got {shown}.", NO_DUMMY_ROWS)
    return float(floor)


def _read_designs(designs: Iterable[Design] | None, labels: Categories, floor: Any) -> list[Design]:
    if designs is None:
        return []
    if floor is not None:
        raise ArgumentError("`floor` and `designs` must not both be given.", COVER_EACH_DESIGN)
    single = isinstance(designs, np.ndarray) and designs.ndim == 0
    if single or isinstance(designs, (Design, str)) or not isinstance(designs, Iterable):
        advice = DESIGN_IN_A_LIST if isinstance(designs, Design) else LIST_OF_DESIGNS
        raise ArgumentError(f"`designs` must be a list of designs; got {type(designs).__name__}.", advice)
    listed = [require_design(design) for design in designs]
    if not listed:
        raise ArgumentError("`designs` must contain at least one design; got none.", LIST_OF_DESIGNS)
    for design in listed:
        if design.categories.labels != labels.labels:
            raise MismatchError(
                f"`designs` must be on the same categories as the plan; got a {design.maker} design on "
                f"{design.categories.preview()}."
            )
    return listed


def _recommend(options: tuple[PlanOption, ...], limits: PlanLimits) -> tuple[PlanOption, PlanOption | None]:
    """Return the recommended option, and the next cheaper one that the limits rule out."""
    possible = [o for o in options if o.design.can_be_asked] if limits.asked else list(options)
    if not possible:
        raise ArgumentError(
            f"`designs` must include one that can be asked; got only a {options[0].design.maker} design, which needs "
            "the value to draw a subset.",
            PLAN_FOR_PUBLISHING,
        )
    allowed = [o for o in possible if limits.allow(o)]
    if not allowed:
        raise _refusal(possible, limits)
    fewest = min(o.variance for o in allowed)
    near = [o for o in allowed if o.variance <= NEAR * fewest]
    best = min(near, key=lambda o: (-o.smallest_set, o.maximal_leakage, o.variance))
    cheaper = [o for o in possible if o.variance < best.variance / NEAR]
    return best, max(cheaper, key=lambda o: o.variance, default=None)


def _refusal(options: list[PlanOption], limits: PlanLimits) -> ArgumentError:
    large_enough = [o for o in options if o.smallest_set >= limits.smallest]
    if not large_enough:
        most = max(o.smallest_set for o in options)
        return ArgumentError(
            f"`smallest` must be at most {most} for these designs; got {limits.smallest}.", NEAREST(nearest=most)
        )
    least = min(o.maximal_leakage for o in large_enough)
    got = f"{limits.bits:.3g}, the default" if limits.is_default else f"{limits.bits:g}"
    return ArgumentError(
        f"`maximal_leakage` must be at least {least:.4g} bit for these designs; got {got}.",
        NEAREST(nearest=f"{np.ceil(least * 1e4) / 1e4:g}"),
    )
