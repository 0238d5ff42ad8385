"""Add dummy rows to reports (`sec:dummy`), without any value."""

from collections.abc import Iterator

import numpy as np

from subsetprivacy._types import IntArray, RandomSource, Seed
from subsetprivacy.data import SubsetData
from subsetprivacy.design import Covered, covered, draws
from subsetprivacy.errors import ArgumentError
from subsetprivacy.mechanism.randomness import random_source
from subsetprivacy.mechanism.shuffle import shuffled
from subsetprivacy.messages.for_data import ALL_VARIABLES_IN_ONE

_BLOCK = 1 << 20  # dummy rows drawn at a time


def cover(
    data: SubsetData,
    floor: float,
    *,
    reveals: bool = False,
    seed: Seed | RandomSource | None = None,
) -> SubsetData:
    """Add dummy rows to collected reports and shuffle them, before publishing.

    This is for collectors, who ask the questions of the base design and never
    see a value. Publishers, who have the values, use `privatize` with a
    covered design.

    Parameters
    ----------
    data
        One subset per person, under a design that can be covered.
    floor
        The smallest share of the rows that every report could come from; see `covered`.
    reveals
        As in `covered`.
    seed
        For experiments only: a number, or a NumPy Generator or SeedSequence.
        Anyone who has the seed can identify the dummy rows, so the output is
        then **not private**. By default the randomness is cryptographic.

    Returns
    -------
    SubsetData
        The rows of people and the dummy rows in random order. Do not also
        publish the uncovered data, and do not cover the same data twice: the
        rows that both releases share belong to people.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> asked = SubsetData([3, 12, 5, 10], uniform(list("abcd")))
    >>> len(cover(asked, 0.2, seed=1))
    8
    """
    if not isinstance(data, SubsetData):
        raise ArgumentError(
            f"`data` must be SubsetData, one subset per person; got {type(data).__name__}.",
            ALL_VARIABLES_IN_ONE if hasattr(data, "select") else None,
        )
    design = covered(data.design, floor, reveals=reveals)
    reports = data.codes[~data.design.is_missing(data.codes)] if data.design.mu_full == 0 else data.codes
    source = random_source(seed)
    rows, realized = add_dummies(reports, design, source, missing=len(data) - len(reports))
    return SubsetData.trusted(rows, realized, data.name)


def add_dummies(
    codes: IntArray, design: Covered, source: RandomSource, *, missing: int = 0
) -> tuple[IntArray, Covered]:
    """Add a dummy category to each row, add the dummy rows, and return all rows shuffled, with the realized design.

    A dummy row is drawn like a person's row: its subset is a report of the
    base design, and its category is one of the same D. The shuffle is uniform.
    Rows of missing values do not count as reports that need dummy rows.
    """
    real = with_dummy_category(codes, design, source)
    realized, drawn = dummy_rows(len(codes), design, source)
    together = np.concatenate([real, *drawn, np.full(missing, design.missing_code)])
    return together[shuffled(len(together), source)], realized


def with_dummy_category(codes: IntArray, design: Covered, source: RandomSource) -> IntArray:
    """Add one of the D dummy categories, drawn uniformly, to each report of the base design."""
    return design.join(codes, draws.below(len(codes), design.D, source))


def dummy_rows(reports: int, design: Covered, source: RandomSource) -> tuple[Covered, Iterator[IntArray]]:
    """Return the realized design for this many reports, and their dummy rows in blocks that are drawn lazily."""
    realized = design.realized(reports)
    return realized, _drawn(realized, source)


def _drawn(design: Covered, source: RandomSource) -> Iterator[IntArray]:
    each = int(design.dummies or 0)
    for category in range(design.D):
        for start in range(0, each, _BLOCK):
            yield design.join(design.base.draw_any(min(_BLOCK, each - start), source), category)
