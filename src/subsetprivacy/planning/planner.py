"""`plan`: how many people, with which design, and what it gives away."""

from collections.abc import Iterable
from math import inf, log2
from typing import Any

import numpy as np
from scipy.special import ndtri

from subsetprivacy._checks import check_choice, check_count, check_distribution, check_level
from subsetprivacy._choices import Mode
from subsetprivacy._types import Distribution, Label
from subsetprivacy.design import Design, require_design
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.planning.choices import MODES, built_in, read_categories
from subsetprivacy.planning.options import Demand, Option, option, read_people, require_spread
from subsetprivacy.planning.result import Plan
from subsetprivacy.subsets import Categories

MARGIN = 0.02
NEAR = 1.05  # designs within five percent of the fewest people are equally cheap
YES_NO = 1.0  # bits of a yes/no question
WARNER = log2(1.5)  # bits of Warner's question with q = 1/4
_BITS = 1e-9


def plan(
    categories: Iterable[Label] | int,
    margin: float | None = None,
    level: float = 0.95,
    floor: float | None = None,
    w: Distribution | None = None,
    *,
    n: int | None = None,
    maximal_leakage: float | None = None,
    smallest: int = 2,
    mode: Mode = "ask",
    designs: Iterable[Design] | None = None,
) -> Plan:
    r"""Say how many people each design needs, what it gives away, and which one to take.

    Parameters
    ----------
    categories
        The labels, or how many there are.
    margin
        The largest half-width of the confidence intervals over the categories;
        by default 0.02, two percentage points, unless `n` is given.
    level
        The confidence level of each interval.
    floor
        Compare covered designs only: dummy rows make every report one that at
        least this share of the rows could be.
    w
        The distribution to plan for, with weight on two categories or more. By default each design is planned for its
        least favourable one, with the even one beside it.
    n
        The number of people there are; then the margin is worked out.
    maximal_leakage
        The most bits that the recommended design may give away whatever the
        distribution. By default 1, a yes/no question, for three and more
        categories; for two, where a plain yes or no would be the value, log2 1.5
        = 0.585, Warner's question with q = 1/4, which triples the odds at most.
    smallest
        The fewest values that every report of the recommended design must leave possible.
    mode
        ``"ask"``: designs that people answer. ``"publish"``: also those for
        whoever holds the values.
    designs
        Designs to compare instead of the built-in ones.

    Raises
    ------
    ArgumentError
        If an argument is out of its range, or no design meets the limits; with the nearest possible value.
    InvalidDesignError
        If no design allows the floor.

    Notes
    -----
    :math:`n = \lceil (z/\text{margin})^2 \max_j V_{jj}(w) \rceil` with the limit covariance V of maximum likelihood
    (`thm_normality_mle`). That is the half-width of the intervals that `estimate` reports by default, also where some
    shares of w are zero; Wald intervals are wider there. People are those who answer; dummy rows come on top. The
    recommended design has the fewest people within the limits; among those
    within five percent of it, the one whose smallest set is largest.

    Examples
    --------
    >>> survey = plan(["never", "once", "monthly", "weekly", "daily"], margin=0.03)
    >>> survey.recommended
    <uniform design on 5 categories: 'never', 'once', 'monthly', 'weekly', 'daily'>
    >>> survey.people
    2747
    >>> plan(["no", "yes"], margin=0.03).best
    <warner, q = 0.25: 4269 people for ±0.03>
    """
    labels = read_categories(categories)
    demand = _read_demand(margin, n, check_level(level), labels)
    target = None if w is None else check_distribution(w, labels.labels)
    if target is not None:
        require_spread("w", target)
    limit = _read_limit(maximal_leakage, labels.p)
    check_count(smallest, "smallest", least=1)
    check_choice(mode, MODES, "mode")
    considered = _read_designs(designs, labels, floor) or built_in(labels, mode, _read_floor(floor))
    options = tuple(option(design, demand, target) for design in considered)
    best, cheaper = _recommend(options, limit, smallest, maximal_leakage is None)
    return Plan(options, best, cheaper, level, target is not None, limit, smallest, maximal_leakage is None)


def _read_demand(margin: Any, n: Any, level: float, labels: Categories) -> Demand:
    if margin is not None and n is not None:
        raise ArgumentError("either `margin` or `n` must be given; got both. Hint: leave out the one to work out.")
    z = float(ndtri(0.5 + level / 2))
    if n is not None:
        least = labels.p - 1
        if read_people(n, "n") < least:
            raise ArgumentError(
                f"`n` must be at least {least} for {labels.p} categories: fewer answers cannot tell all distributions "
                f"apart; got {n}. Hint: the nearest is {least}."
            )
        return Demand(z, None, int(n))
    margin = MARGIN if margin is None else margin
    if isinstance(margin, bool) or not isinstance(margin, (int, float, np.floating)) or not 0 < margin < 0.5:
        shown = repr(margin) if isinstance(margin, (int, float)) else type(margin).__name__
        raise ArgumentError(f"`margin` must be between 0 and 0.5; got {shown}. Hint: two points are 0.02.")
    return Demand(z, float(margin), None)


def _read_limit(bits: Any, p: int) -> float:
    if bits is None:
        return WARNER if p == 2 else YES_NO
    if isinstance(bits, bool) or not isinstance(bits, (int, float, np.number)) or not bits > 0:
        shown = repr(bits) if isinstance(bits, (int, float)) else type(bits).__name__
        raise ArgumentError(f"`maximal_leakage` must be a positive number of bits; got {shown}. Hint: yes/no is 1.")
    return float(bits) if bits < 1e6 else inf


def _read_floor(floor: Any) -> float | None:
    if floor is None:
        return None
    if isinstance(floor, bool) or not isinstance(floor, (int, float, np.floating)) or not 0 < floor < 1:
        shown = repr(floor) if isinstance(floor, (int, float)) else type(floor).__name__
        raise ArgumentError(
            f"`floor` must be a share above 0 and below 1; got {shown}. Hint: leave it out for no dummy rows."
        )
    return float(floor)


def _read_designs(designs: Iterable[Design] | None, labels: Categories, floor: Any) -> list[Design]:
    if designs is None:
        return []
    if floor is not None:
        raise ArgumentError("`floor` and `designs` must not both be given. Hint: pass sp.covered(design, floor).")
    single = isinstance(designs, np.ndarray) and designs.ndim == 0
    if single or isinstance(designs, (Design, str)) or not isinstance(designs, Iterable):
        hint = "designs=[design]" if isinstance(designs, Design) else "designs=[sp.uniform(categories)]"
        raise ArgumentError(f"`designs` must be a list of designs; got {type(designs).__name__}. Hint: {hint}.")
    listed = [require_design(design) for design in designs]
    if not listed:
        raise ArgumentError("`designs` must hold at least one design; got none.")
    for design in listed:
        if design.categories.labels != labels.labels:
            raise MismatchError(
                f"`designs` must be on the same categories as the plan; got a {design.kind} design on "
                f"{design.categories.preview()}."
            )
    return listed


def _recommend(options: tuple[Option, ...], limit: float, smallest: int, default: bool) -> tuple[Option, Option | None]:
    """Return the option to take, and the next cheaper one that the limits rule out."""
    allowed = [o for o in options if o.maximal_leakage <= limit + _BITS and o.smallest_set >= smallest]
    if not allowed:
        _refuse(options, limit, smallest, default)
    fewest = min(o.variance for o in allowed)
    near = [o for o in allowed if o.variance <= NEAR * fewest]
    best = min(near, key=lambda o: (-o.smallest_set, o.maximal_leakage, o.variance))
    cheaper = [o for o in options if o.variance < best.variance / NEAR]
    return best, max(cheaper, key=lambda o: o.variance, default=None)


def _refuse(options: tuple[Option, ...], limit: float, smallest: int, default: bool) -> None:
    leaky = [o for o in options if o.smallest_set >= smallest]
    if not leaky:
        most = max(o.smallest_set for o in options)
        raise ArgumentError(f"`smallest` must be at most {most} for these designs; got {smallest}.")
    least = min(o.maximal_leakage for o in leaky)
    got = f"{limit:.3g}, the default" if default else f"{limit:g}"
    raise ArgumentError(
        f"`maximal_leakage` must be at least {least:.4g} bit for these designs; got {got}. "
        f"Hint: the nearest is {np.ceil(least * 1e4) / 1e4:g}."
    )
