"""The publisher's side: replace values that are held by subsets that contain them."""

import warnings
from itertools import islice
from typing import Any

import numpy as np

from subsetprivacy._checks import check_choice
from subsetprivacy._types import BoolArray, IntArray, RandomSource
from subsetprivacy.data import SubsetData, SubsetTable
from subsetprivacy.design import Covered, Design, Held, Product, require_design
from subsetprivacy.errors import CategoryError, NotPrivateWarning, UnknownDesignError
from subsetprivacy.mechanism.cover import add_dummies
from subsetprivacy.mechanism.randomness import random_source
from subsetprivacy.mechanism.reports import draw_given


def privatize(values: Any, design: Design, *, missing: str = "error", seed: int | None = None, rng: Any = None) -> Any:
    r"""Replace every value by a random subset that contains it.

    Parameters
    ----------
    values
        One value per person: a list, NumPy array, pandas or Polars series,
        or Arrow array. For a product, or a joined design, a data frame or a
        dict of columns.
    design
        How subsets are drawn.
    missing
        ``"error"`` refuses missing values; ``"full"`` stores the full set,
        which is left out of the estimates. It says nothing about a value, but
        it does show that the value is missing, unless the design itself
        draws full sets.
    seed, rng
        For experiments only: whoever has the seed can repeat the draw, so
        the output is then **not private**. The default is cryptographic.

    Returns
    -------
    SubsetData
        One code per person, in the order of `values`; with a covered design
        also the dummy rows, all in random order. For a product a
        `SubsetTable`, a column of codes per factor.

    Raises
    ------
    CategoryError
        If a value is missing or is no category of the design. The message
        says how many and the first row, never the value.

    Warns
    -----
    NotPrivateWarning
        If the design reports single values, as `nonprivate` does.

    Notes
    -----
    :math:`P(A=a \mid X=j) = \mu_a 1\{j \in a\}` (`cond_design`). Calling this twice on
    the same people gives two subsets each, which intersect: publish once.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> colours = uniform(["black", "red", "green", "blue"])
    >>> privatize(["red", "blue", "red"], colours, seed=1).labels()
    [('red', 'blue'), ('black', 'blue'), ('black', 'red')]
    """
    check_choice(missing, ("error", "full"), "missing")
    _check_design(require_design(design))
    source = random_source(seed, rng)
    if isinstance(design, Product):
        return _privatize_table(values, design, missing, source)
    if isinstance(design, Covered):
        x, absent = _positions(values, design.base, missing)
        present = x if absent is None else x[~absent]
        drawn = draw_given(present, design.base, source)
        return SubsetData.trusted(*add_dummies(drawn, design, source, missing=len(x) - len(present)))
    return SubsetData.trusted(_draw(values, design, missing, source), design)


def _check_design(design: Design) -> None:
    if design.kind == "coarse":
        raise UnknownDesignError("`design` must say how subsets are drawn; got a design that is not known.")
    # Whoever made a design with a bit or with dummies that reveals the value has said so there.
    if not design.is_subset_private and not isinstance(design, (Held, Covered)):
        warnings.warn(
            f"a {design.kind} design reports single values: what is published is not private.",
            NotPrivateWarning,
            stacklevel=3,
        )


def _privatize_table(values: Any, design: Product, missing: str, source: RandomSource) -> SubsetTable:
    """Draw each factor's column by itself; all columns keep the order of the rows."""
    columns = dict(zip(design.categories.names, design.categories.columns(values), strict=True))
    drawn = []
    for names, factor in design.named().items():
        held = columns[names[0]] if len(names) == 1 else {name: columns[name] for name in names}
        try:
            drawn.append(_draw(held, factor, missing, source))
        except CategoryError as error:
            raise CategoryError(f"{', '.join(names)}: {error}") from None
    return SubsetTable.trusted(tuple(drawn), design)


def _draw(values: Any, design: Design, missing: str, source: RandomSource) -> IntArray:
    x, absent = _positions(values, design, missing)
    if absent is None:
        return draw_given(x, design, source)
    codes = np.full(len(x), design.missing_code, np.int64)
    codes[~absent] = draw_given(x[~absent], design, source)
    return codes


def _positions(values: Any, design: Design, missing: str) -> tuple[IntArray, BoolArray | None]:
    x, absent = design.categories.positions(values)
    _check_values(x, absent, missing, design)
    return x, absent


def _check_values(x: IntArray, absent: BoolArray | None, missing: str, design: Design) -> None:
    unknown = x < 0 if absent is None else (x < 0) & ~absent
    if unknown.any():
        hint = _hint_of_types(design) if unknown.all() else ""
        raise CategoryError(
            f"every value must be one of the design's categories; got {int(unknown.sum())} that are not, "
            f"first in row {int(unknown.argmax())} (counted from 0).{hint}"
        )
    if missing == "error" and absent is not None:
        raise CategoryError(
            f"every value must be known; got {int(absent.sum())} missing, first in row {int(absent.argmax())} "
            "(counted from 0). "
            "Hint: missing='full' stores them as the full set."
        )


def _hint_of_types(design: Design) -> str:
    kinds = sorted({type(label).__name__ for label in islice(design.categories, 1000)})
    return f" Hint: the categories are of type {', '.join(kinds)}; are the values?"
