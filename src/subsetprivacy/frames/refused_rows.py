"""Rows that cannot be privatized, reported by count and row number, never by content."""

from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from subsetprivacy._words import counted, plural
from subsetprivacy.errors import CategoryError
from subsetprivacy.messages import Advice
from subsetprivacy.messages.for_files import CLEAN_VALUES, NAME_THE_MARK, STORE_ABSENT_AS_FULL, STRIP_SPACES

_MUST = {
    "unknown": ("every value must be one of the design's categories", ("value that is not", "values that are not")),
    "absent": ("every value must be known", ("missing", "missing")),
    "id missing": ("every row must have an id", ("without", "without")),
    "id type": ("ids must be text or whole numbers", ("other", "others")),
    "id repeated": ("ids must be distinct", ("row that repeats an earlier id", "rows that repeat an earlier id")),
}


@frozen
class RefusedRows:
    """Rows of one column that cannot be privatized: the problem, the count and the first row.

    Attributes
    ----------
    why
        A possible reason why no value is a category.
    tidy, marks
        Of values that are not categories: how many become one after stripping, and how many of the others look like a
        mark of a missing answer.
    """

    column: str
    problem: str
    count: int
    first: int | None  # None if no row can be given
    why: str = ""
    tidy: int = 0
    marks: int = 0

    def moved(self, rows: int) -> "RefusedRows":
        """Return it with row numbers of the whole table."""
        return self if self.first is None else evolve(self, first=self.first + rows)

    def __add__(self, later: "RefusedRows") -> "RefusedRows":
        return evolve(
            self,
            count=self.count + later.count,
            why=self.why if self.why == later.why else "",
            tidy=self.tidy + later.tidy,
            marks=self.marks + later.marks,
        )

    @property
    def advice(self) -> list[Advice]:
        """Advice that would make the rows fit."""
        by_kind = {STRIP_SPACES: self.tidy, NAME_THE_MARK: self.marks, STORE_ABSENT_AS_FULL: self.problem == "absent"}
        return [advice for advice, applies in by_kind.items() if applies]

    def _explained(self) -> str:
        """Return why the rows do not fit, by counts only."""
        if self.problem == "id repeated":
            return " Two values of one person would get the same question, and two answers to it could reveal them."
        text = ""
        if self.tidy:
            many = f"All {self.count}" if self.tidy == self.count else f"{self.tidy} of them"
            text += f" {many} {plural(self.tidy, 'is a category', 'are categories')} after stripping spaces."
        if self.marks:
            look = plural(self.marks, "looks like a mark", "look like marks")
            text += f" {self.marks} {look} of a missing answer, such as ? or NA."
        return text or (self.why and f" {self.why}")

    def message(self, rows: str, number: Callable[[int], int]) -> str:
        """Return the message; `rows` is the word for a row, and `number` returns its number."""
        must, got = _MUST[self.problem]
        where = "" if self.first is None else f", first in {rows} {number(self.first)}"
        start = " (counted from 0)" if where and rows == "row" else ""
        return f"column {self.column!r}: {must}; got {counted(self.count, *got)}{where}{start}.{self._explained()}"


def refuse(
    refused: Sequence[RefusedRows], where: str = "", *, rows: str = "row", number: Callable[[int], int] = int
) -> None:
    """Raise if there are refused rows; the message gives columns, counts and rows, never content.

    Parameters
    ----------
    refused
        The refused rows of all batches, in order, with row numbers of the whole table.
    where
        The file, for the message.
    rows, number
        The word for a row, and its number in messages.
    """
    total: dict[tuple[str, str], RefusedRows] = {}
    for each in refused:
        place = (each.column, each.problem)
        total[place] = total[place] + each if place in total else each
    if total:
        lines = [f"{where}{': ' if where else ''}{each.message(rows, number)}" for each in total.values()]
        raise CategoryError(
            "\n".join(lines), _combined_advice([advice for each in total.values() for advice in each.advice])
        )


def _combined_advice(several: Sequence[Advice]) -> Advice | None:
    """Return a single piece of advice, because an error has one."""
    different = set(several)
    return CLEAN_VALUES if len(different) > 1 else next(iter(different), None)
