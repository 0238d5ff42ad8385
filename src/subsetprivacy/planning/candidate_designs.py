"""The designs that `plan` compares."""

from collections.abc import Callable, Hashable, Iterable
from collections.abc import Sized as HasLength
from numbers import Number
from typing import Any, get_args

import numpy as np

from subsetprivacy._choices import Mode
from subsetprivacy._types import Label
from subsetprivacy.design import Design, covered, fixed_size, hadamard, partition, uniform, warner
from subsetprivacy.design.hadamard import MOST
from subsetprivacy.errors import ArgumentError, InvalidDesignError
from subsetprivacy.messages.advice import Hint
from subsetprivacy.messages.for_general import NEAREST
from subsetprivacy.messages.for_plans import CATEGORIES_OR_NUMBER, GROUP_RARE_CATEGORIES, SMALL_WITH_DUMMIES
from subsetprivacy.subsets import Categories, as_categories

MODES: tuple[Mode, ...] = get_args(Mode)
MOST_GROUPS = 6
WARNER_BITS = (0.1, 0.2, 0.25, 0.3, 0.4)  # the odds are multiplied by at most 9, 4, 3, 2.3, 1.5
_WIDER = 4096  # the most categories for which a Hadamard design with four times the questions is compared too


def read_categories(categories: Iterable[Label] | Categories | int) -> Categories:
    """Return the categories, labeled 0, 1, 2 … if only their number is given.

    Raises
    ------
    ArgumentError
        If there are fewer than two, or more than any design allows. This is checked before they are listed.
    """
    if isinstance(categories, np.ndarray) and categories.ndim == 0:
        categories = categories.item()
    if isinstance(categories, Number):
        return Categories(range(_read_number(categories)))
    if isinstance(categories, HasLength) and not isinstance(categories, (str, bytes)):
        _check_number(len(categories))
    labels = as_categories(categories)
    _check_number(labels.p)
    return labels


def _read_number(number: Any) -> int:
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
        raise ArgumentError(
            f"`categories` must be labels, or a whole number of them; got {number!r}.", _nearest(number)
        )
    _check_number(int(number))
    return int(number)


def _nearest(number: Any) -> Hint:
    """Return a hint with the nearest whole number, if there is one."""
    if isinstance(number, bool) or not isinstance(number, (float, np.floating)) or not np.isfinite(number):
        return CATEGORIES_OR_NUMBER()
    return NEAREST(nearest=min(max(round(float(number)), 2), MOST))


def _check_number(number: int) -> None:
    if number < 2:
        raise ArgumentError(f"the number of categories must be two or more; got {number}.", NEAREST(nearest=2))
    if number > MOST:
        shown = f"{number}" if number < 10**15 else "more digits than people can read"
        raise ArgumentError(
            f"the number of categories must be at most {MOST:,}, the most that any design allows; got {shown}.",
            GROUP_RARE_CATEGORIES(most=MOST),
        )


def built_in(labels: Categories, mode: str, floor: float | None) -> list[Design]:
    """Return the designs for these categories, without two that have the same distribution of reports.

    Raises
    ------
    InvalidDesignError
        If no design allows this floor. The hint names the nearest possible value.
    """
    designs = [design for make in _makers(labels, mode) if (design := _made(make)) is not None]
    if floor is not None:
        designs = _with_floor(designs, floor)
    by_law: dict[Hashable, Design] = {}
    for design in designs:
        by_law.setdefault(design.distribution_key, design)
    return list(by_law.values())


def _makers(labels: Categories, mode: str) -> list[Callable[[], Design]]:
    p = labels.p
    if p == 2:
        return [lambda q=q: warner(labels, q) for q in WARNER_BITS]  # type: ignore[misc]
    makers: list[Callable[[], Design]] = [lambda: uniform(labels)]
    if p > 5:  # with four categories it is the uniform design, with five there is none
        makers.append(lambda: hadamard(labels))
    if 5 < p <= _WIDER:
        makers.append(lambda: hadamard(labels, questions=4 * hadamard(labels).size - 1))
    makers += [lambda m=m: partition(labels, groups=m) for m in range(2, min(p // 2, MOST_GROUPS) + 1)]  # type: ignore[misc]
    if mode == "publish" or p == 3:  # with three categories the respondent draws the companion
        makers += [lambda k=k: fixed_size(labels, k) for k in sorted({2, 3, (p + 1) // 2, p - 1}) if k < p]  # type: ignore[misc]
    return makers


def _made(make: Callable[[], Design]) -> Design | None:
    try:
        return make()
    except InvalidDesignError:
        return None  # too few or too many categories for this kind


def _with_floor(designs: list[Design], floor: float) -> list[Design]:
    out: list[Design] = []
    refusals: list[InvalidDesignError] = []
    for design in designs:
        try:
            out.append(covered(design, floor))
        except InvalidDesignError as refusal:
            refusals.append(refusal)
    if designs[0].p < 4:
        raise ArgumentError(
            f"`floor` must be left out for {designs[0].p} categories: dummy rows need yes/no questions or groups, "
            "which need 4 categories or more.",
            SMALL_WITH_DUMMIES,
        )
    if not out:
        raise refusals[0]
    return out
