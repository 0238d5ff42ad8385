"""`Publisher`: draw subsets batch by batch under one design, for all ways of publishing."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, get_args

import numpy as np
from attrs import field, frozen

from subsetprivacy._checks import check_choice
from subsetprivacy._choices import Missing
from subsetprivacy._types import BoolArray, IntArray, RandomSource
from subsetprivacy._words import counted
from subsetprivacy.design import Design, require_design
from subsetprivacy.errors import ArgumentError, CategoryError, UnknownDesignError
from subsetprivacy.mechanism.cover import dummy_rows, with_dummy_category
from subsetprivacy.mechanism.reports import ReportSampler, in_blocks, sampler
from subsetprivacy.messages import Hint
from subsetprivacy.messages.for_data import PRIVATIZE_A_PRODUCT, SAME_TYPES, STORE_MISSING_AS_FULL


@frozen
class ValueProblems:
    """Problems with a batch of values. Row numbers count from 0 within the batch.

    Attributes
    ----------
    unknown, first_unknown
        The number of values that are not a category of the design, and the first such row, or None.
    absent, first_absent
        The number of missing values if they are not allowed, and the first such row, or None.
    rows
        The number of rows of the batch.
    """

    unknown: int
    first_unknown: int | None
    absent: int
    first_absent: int | None
    rows: int


def _check_design(design: Any) -> Design:
    known = require_design(design)
    if not known.is_known:
        raise UnknownDesignError("`design` must specify how subsets are drawn; got an unknown design.")
    if known.product is not None:
        raise ArgumentError("`design` must be the design of one column; got a product.", PRIVATIZE_A_PRODUCT)
    return known


def _check_missing(missing: Missing) -> Missing:
    return check_choice(missing, get_args(Missing), "missing")


@frozen(eq=False)
class Publisher:
    """Draw the subsets of one column, batch by batch. Lookup tables are built once.

    It can be pickled and sent to other processes. Batches do not affect each
    other.

    Parameters
    ----------
    design
        The design of the column. A product needs one publisher per factor.
    missing
        ``"error"`` refuses missing values, ``"full"`` stores the full set.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> from subsetprivacy.mechanism.randomness import random_source
    >>> publisher = Publisher(uniform(["black", "red", "green", "blue"]))
    >>> x, absent = publisher.look_up(["red", "blue", "red"])
    >>> publisher.problems(x, absent) is None
    True
    >>> publisher.draw(x, absent, random_source(seed=1)).tolist()
    [10, 9, 3]
    """

    design: Design = field(converter=_check_design)
    missing: Missing = field(default="error", kw_only=True, converter=_check_missing)
    _sampler: ReportSampler = field(init=False, repr=False)

    @_sampler.default
    def _make_sampler(self) -> ReportSampler:
        return sampler(self.design.exposed)

    def look_up(self, values: Any) -> tuple[IntArray, BoolArray | None]:
        """Return the position of each value (-1 if it is not a category), and which are missing (None if none is)."""
        return self.design.exposed.categories.positions(values)

    def problems(self, x: IntArray, absent: BoolArray | None) -> ValueProblems | None:
        """Return the problems with the values, or None if there are none."""
        unknown = x < 0 if absent is None else (x < 0) & ~absent
        refused = absent if self.missing == "error" else None
        if not unknown.any() and (refused is None or not refused.any()):
            return None
        return ValueProblems(*_how_many(unknown), *_how_many(refused), len(x))

    def require_fit(self, x: IntArray, absent: BoolArray | None) -> None:
        """Raise if a value is not a category, or is missing although missing values are not allowed.

        Raises
        ------
        CategoryError
            With the number of such rows and the first one, never a value.
        """
        problems = self.problems(x, absent)
        if problems is None:
            return
        if problems.unknown:
            raise CategoryError(
                "every value must be one of the design's categories; got "
                f"{counted(problems.unknown, 'value that is not', 'values that are not')}, first in row "
                f"{problems.first_unknown} (counted from 0).",
                advice_on_types(self.design) if problems.unknown == problems.rows else None,
            )
        raise CategoryError(
            f"every value must be known; got {problems.absent} missing, first in row {problems.first_absent} "
            "(counted from 0).",
            STORE_MISSING_AS_FULL,
        )

    def draw(self, x: IntArray, absent: BoolArray | None, source: RandomSource) -> IntArray:
        """Draw the code to publish for each row. Missing values get the full set.

        The values must have no problems (see `problems`). With a covered design
        each code includes a dummy category. `dummies` draws the dummy rows
        once for all batches, and all rows must be shuffled together.
        """
        if absent is None:
            return self._drawn(x, source)
        codes = np.full(len(x), self.design.missing_code, np.int64)
        present = np.flatnonzero(~absent)
        codes[present] = self._drawn(x[present], source.among(present))
        return codes

    def _drawn(self, x: IntArray, source: RandomSource) -> IntArray:
        codes = in_blocks(self._sampler, x, source)
        covered = self.design.covered
        return codes if covered is None else with_dummy_category(codes, covered, source)

    def dummies(self, reports: int, source: RandomSource) -> tuple[Design, Iterator[IntArray]]:
        """Return the design of this many reports, and the dummy rows that a covered design adds to them.

        Parameters
        ----------
        reports
            The number of rows in all batches whose value is not missing.
        source
            The source of the bits of the dummy rows.

        Returns
        -------
        design
            A covered design with its numbers of people and dummy rows. Other designs are returned unchanged.
        blocks
            The codes of the dummy rows, drawn lazily. Empty for other designs.
        """
        covered = self.design.covered
        return (self.design, iter(())) if covered is None else dummy_rows(reports, covered, source)


def _how_many(rows: BoolArray | None) -> tuple[int, int | None]:
    count = 0 if rows is None else int(rows.sum())
    return (count, int(rows.argmax())) if rows is not None and count else (0, None)


def advice_on_types(design: Design) -> Hint:
    """Return the advice for a column without any valid value, which may have the wrong type."""
    kinds = sorted({type(label).__name__ for label in islice(design.categories, 1000)})
    return SAME_TYPES(kinds=", ".join(kinds))
