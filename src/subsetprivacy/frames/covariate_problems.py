"""Problems with cells of covariates, reported by column, count and row, never by content."""

from collections.abc import Callable

import numpy as np

from subsetprivacy._types import BoolArray
from subsetprivacy._words import counted
from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.messages import Hint
from subsetprivacy.messages.for_regression import FILL_OR_LEAVE_OUT, FINITE_TERMS

_MUST = {
    "missing": ("must have a value in every row", ("missing value", "missing values")),
    "infinite": ("must be finite in every row", ("infinite value", "infinite values")),
    "undefined": ("must be finite in every row", ("row in which it is not", "rows in which it is not")),
    "unknown": (
        "must hold levels that the model was fitted with",
        ("row with another level", "rows with other levels"),
    ),
    "category": (
        "must hold a category of its design in every row",
        ("row with something else", "rows with something else"),
    ),
}
_OTHERS = {"unknown", "category"}  # cells with an unknown level or category


class CovariateProblems:
    """The problems with the cells of a table.

    Parameters
    ----------
    place
        Returns the position of a row in words; None if rows have no numbers.
    used
        The rows that are used, if others may have problems.
    """

    def __init__(self, place: Callable[[int], str] | None = "row {}".format, used: BoolArray | None = None) -> None:
        self._place, self._used = place, used
        self._found: dict[tuple[str, str], tuple[int, int]] = {}  # the count and the first row

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, what: str, problem: str, bad: BoolArray, first: int = 0) -> None:
        """Add the bad rows of a batch.

        Parameters
        ----------
        what
            The column or term, in words.
        problem
            One of missing, infinite, undefined, unknown, category.
        bad
            Which rows of the batch.
        first
            The number of the first row of the batch.
        """
        if self._used is not None:
            bad = bad & self._used[first : first + len(bad)]
        many = int(np.count_nonzero(bad))
        if many:
            before, row = self._found.get((what, problem), (0, first + int(np.argmax(bad))))
            self._found[what, problem] = (before + many, row)

    def add_counted(self, what: str, problem: str, many: int) -> None:
        """Add bad rows that an engine counted, without row numbers."""
        if many:
            self._found[what, problem] = (many, 0)

    def refuse(self, known: Hint | None = None) -> None:
        """Raise if there are problems.

        Parameters
        ----------
        known
            Advice that lists the known levels or categories.

        Raises
        ------
        ArgumentError
            If values are missing or not finite, with a line per column.
        CategoryError
            Otherwise, if a level or category is not known.
        """
        levels = {key: rows for key, rows in self._found.items() if key[1] in _OTHERS}
        others = {key: rows for key, rows in self._found.items() if key[1] not in _OTHERS}
        if others:
            cells = any(problem != "undefined" for _, problem in others)
            raise ArgumentError(self._message(others), FILL_OR_LEAVE_OUT if cells else FINITE_TERMS)
        if levels:
            raise CategoryError(self._message(levels), known)

    def _message(self, problems: dict[tuple[str, str], tuple[int, int]]) -> str:
        lines = []
        for (what, problem), (many, first) in problems.items():
            must, words = _MUST[problem]
            where = "" if self._place is None else f", first in {self._place(first)}"
            lines.append(f"{what} {must}; got {counted(many, *words)}{where}.")
        return "\n".join(lines)
