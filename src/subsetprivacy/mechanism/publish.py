"""The publisher's side: replace values that are held by subsets that contain them."""

import warnings
from typing import Any

import numpy as np

from subsetprivacy._checks import check_choice
from subsetprivacy._types import AnyArray, BoolArray, IntArray, RandomSource
from subsetprivacy.data import SubsetData
from subsetprivacy.design import Design, require_design
from subsetprivacy.design.weights import pick, thresholds
from subsetprivacy.errors import CategoryError, NotPrivateWarning, UnknownDesignError
from subsetprivacy.mechanism.randomness import random_source

_BLOCK = 1 << 16  # rows drawn at a time: the working arrays stay in the processor's cache


def privatize(
    values: Any, design: Design, *, missing: str = "error", seed: int | None = None, rng: Any = None
) -> SubsetData:
    r"""Replace every value by a random subset that contains it.

    Parameters
    ----------
    values
        One value per person: a list, NumPy array, pandas or Polars series,
        or Arrow array.
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
        One code per person, in the order of `values`.

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
    if require_design(design).kind == "coarse":
        raise UnknownDesignError("`design` must say how subsets are drawn; got a design that is not known.")
    if not design.is_subset_private:
        warnings.warn(
            f"a {design.kind} design reports single values: what is published is not private.",
            NotPrivateWarning,
            stacklevel=2,
        )
    x, absent = design.categories.positions(values)
    _check_values(x, absent, missing, design)
    source = random_source(seed, rng)
    if absent is None:
        return SubsetData.trusted(draw_given(x, design, source), design)
    codes = np.full(len(x), design.categories.full, np.int64)
    codes[~absent] = draw_given(x[~absent], design, source)
    return SubsetData.trusted(codes, design)


def _check_values(x: IntArray, absent: BoolArray | None, missing: str, design: Design) -> None:
    unknown = x < 0 if absent is None else (x < 0) & ~absent
    if unknown.any():
        kinds = sorted({type(label).__name__ for label in design.categories})
        hint = f" Hint: the categories are of type {', '.join(kinds)}; are the values?" if unknown.all() else ""
        raise CategoryError(
            f"every value must be one of the design's categories; got {int(unknown.sum())} that are not, "
            f"first in row {int(unknown.argmax())} (counted from 0).{hint}"
        )
    if missing == "error" and absent is not None:
        raise CategoryError(
            f"every value must be known; got {int(absent.sum())} missing, first in row {int(absent.argmax())}. "
            "Hint: missing='full' stores them as the full set."
        )


def draw_given(x: IntArray, design: Design, source: RandomSource) -> IntArray:
    """Draw the subset reported for each position x."""
    out = np.empty(len(x), np.int64)
    draw = _draw_by_question if design.is_independent else _Table(design)
    for start in range(0, len(x), _BLOCK):
        out[start : start + _BLOCK] = draw(x[start : start + _BLOCK], design, source)
    return out


def _draw_by_question(x: IntArray, design: Design, source: RandomSource) -> AnyArray:
    """Ask a question that was drawn without the value, and answer it."""
    q = design.draw_questions(len(x), source)
    inside = (q >> x.astype(q.dtype)) & q.dtype.type(1)
    # inside - 1 is 0 for yes and all ones for no, so that the exclusive or takes the complement.
    return q ^ ((inside - q.dtype.type(1)) & q.dtype.type(design.categories.full))


class _Table:
    """For each category the subsets that hold it, drawn by their mu."""

    def __init__(self, design: Design) -> None:
        codes, mu = design.support()
        holds = [np.flatnonzero(codes >> j & 1) for j in range(design.p)]
        self._laws = [(codes[h], thresholds(mu[h])) for h in holds]

    def __call__(self, x: IntArray, design: Design, source: RandomSource) -> IntArray:
        words = source.bits(len(x), 64)
        out = np.empty(len(x), np.int64)
        for j in np.unique(x):
            rows = np.flatnonzero(x == j)
            codes, table = self._laws[j]
            out[rows] = codes[pick(table, words[rows])]
        return out
