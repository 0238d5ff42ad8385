"""Covariates in files: one pass determines the column types, then rows are read in batches."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._paths import local_path
from subsetprivacy._types import BoolArray, Label
from subsetprivacy._words import counted
from subsetprivacy.errors import ArgumentError, NoDataError
from subsetprivacy.frames.covariate_problems import CovariateProblems
from subsetprivacy.frames.covariates import (
    MOST_LEVELS,
    CovariateColumn,
    Covariates,
    LabelColumn,
    NumberColumn,
    arrow_numbers,
    check_level_count,
    covariate_column,
    in_order,
    number_levels,
    numbers_of,
)
from subsetprivacy.frames.data_file import (
    ColumnSelection,
    DataFile,
    all_numbers,
    check_present,
    number_cells,
    plain_cells,
    read_batches,
)
from subsetprivacy.frames.encoder import MOST_ROWS, column_values
from subsetprivacy.frames.files import format_of
from subsetprivacy.frames.metadata import TableMetadata
from subsetprivacy.frames.release import Release
from subsetprivacy.messages.for_regression import LEVELS_OF_MIXED_CELLS, LOAD_THE_TABLE
from subsetprivacy.tables import plain_header

_TRUTH = {"true", "false"}


@frozen
class ColumnFacts:
    """The type of a column in a file.

    Attributes
    ----------
    levels
        Its levels, in order; None for numbers.
    boolean
        Whether it contains True and False.
    """

    levels: tuple[Label, ...] | None
    boolean: bool = False


class FileCovariates:
    """Stream columns of covariates from one or more files.

    Parameters
    ----------
    releases
        The files, whose rows are concatenated.
    names
        The columns.
    coded
        Columns whose numbers are levels.
    used
        The rows that are used, if cells of others may be missing.

    Attributes
    ----------
    facts
        The type of each column.
    rows
        The number of rows.

    Raises
    ------
    ArgumentError
        If values are missing or infinite, or a column contains both numbers and text.
    NoDataError
        If there are no rows.
    DataFileError
        If a file cannot be read, or a column does not exist.
    """

    def __init__(
        self,
        releases: Sequence[Release],
        names: Sequence[str],
        coded: Collection[str] = (),
        used: BoolArray | None = None,
    ) -> None:
        self._used = used
        self.releases, self.names = tuple(releases), tuple(names)
        self.rows = 0
        self._starts: list[int] = []  # the number of each file's first row
        problems = CovariateProblems(self.place, self._used)
        columns = {name: _ColumnSoFar(name, name in coded) for name in self.names}
        for release in self.releases:
            check_present(release.file, self.names)
            self._starts.append(self.rows)
            for batch in release.file.batches(self.names or release.names[:1]):
                for name in self.names:
                    columns[name].add(batch.column(name), release.file.kind == "csv", self.rows, problems)
                self.rows += batch.num_rows
        if not self.rows:
            raise NoDataError(f"{self.releases[0].file.where} must have rows; it has none.")
        problems.refuse()
        orders = self.releases[0].file.orders(self.names)
        self.facts = {
            name: columns[name].facts(order, self.place) for name, order in zip(self.names, orders, strict=True)
        }

    def place(self, row: int) -> str:
        """Describe the position of a row."""
        at = bisect_right(self._starts, row) - 1
        file = self.releases[at].file
        position = file.place(row - self._starts[at])
        return position if len(self.releases) == 1 else f"{position} of {file.path.name!r}"

    # What an encoder asks for -------------------------------------------------------------------------------------

    def levels(self, name: str, coded: bool) -> tuple[Label, ...] | None:
        """Return the levels of a column; None for numbers."""
        return self.facts[name].levels

    def parts(self, variables: Sequence[str]) -> Iterable[Covariates]:
        """Return all rows of some columns, in batches."""
        return (part for _, part in self.read(variables))

    def whole(self, variables: Sequence[str], term: str) -> Covariates:
        """Refuse a term that needs all rows at once.

        Raises
        ------
        ArgumentError
            Always.
        """
        raise needs_all_rows(term)

    # Rows ---------------------------------------------------------------------------------------------------------

    def read(
        self, variables: Sequence[str], response: str | None = None, size: int = MOST_ROWS
    ) -> Iterator[tuple[Any, Covariates]]:
        """Yield batches of at most `size` rows, with the codes of a response, and their covariates."""
        row = 0
        for release in self.releases:
            designs = {} if response is None else {response: release.designs[response]}
            some = tuple(variables) or (release.names[:1] if response is None else ())
            batches = read_batches(release.file, ColumnSelection(designs, release.stored.forms, raw=some), parse=True)
            for batch in resized(batches, size):
                columns = {name: self._column(batch.column(name), name, release) for name in variables}
                yield batch, Covariates(columns, batch.num_rows, first=row)
                row += batch.num_rows

    def _column(self, cells: Any, name: str, release: Release) -> CovariateColumn:
        if release.file.kind != "csv":
            return covariate_column(cells, name)
        facts = self.facts[name]
        if facts.boolean:
            return _truth(cells)
        if facts.levels is None or not isinstance(facts.levels[0], str):
            return numbers_of(arrow_numbers(number_cells(cells)))
        return covariate_column(plain_cells(cells), name)

    def loaded(self) -> Covariates:
        """Return all rows of all columns, in memory."""
        columns = {
            name: np.empty(self.rows) if facts.levels is None else np.empty(self.rows, np.int32)
            for name, facts in self.facts.items()
        }
        levels = {name: facts.levels for name, facts in self.facts.items() if facts.levels is not None}
        problems = CovariateProblems(self.place, self._used)
        for _, part in self.read(self.names):
            for name, values in column_values(part, self.names, levels, problems).items():
                columns[name][part.first : part.first + part.rows] = values
        problems.refuse()  # in case a file changed meanwhile
        return Covariates({name: self._covariate(name, values) for name, values in columns.items()}, self.rows)

    def _covariate(self, name: str, values: Any) -> CovariateColumn:
        facts = self.facts[name]
        if facts.levels is not None:
            return LabelColumn(values, list(facts.levels), declared=True)
        return numbers_of(values, facts.boolean)


def release_table(
    release: Release, names: Sequence[str], coded: Collection[str] = (), used: BoolArray | None = None
) -> Any:
    """Load some columns of a release as a PyArrow table of numbers and labels, also from CSV.

    Parameters
    ----------
    release
        The file.
    names
        Columns that are not private.
    coded
        Columns whose numbers are levels.
    used
        The rows that are used, if cells of others may be missing.

    Raises
    ------
    ArgumentError
        If values are missing or infinite, or a column contains both numbers and text.
    """
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for name, column in (covariates := FileCovariates([release], names, coded, used).loaded()).columns.items():
        if isinstance(column, LabelColumn):
            at = pa.array(column.codes, mask=column.codes < 0)
            columns[name] = pa.DictionaryArray.from_arrays(at, pa.array(column.labels), ordered=True)
        else:
            values = column.part(0, covariates.rows)
            gaps = np.isnan(values) if column.boolean else None
            columns[name] = pa.array(values.astype(np.bool_) if column.boolean else values, mask=gaps)
    return pa.table(columns)


def read_covariates(path: str | Path, names: Sequence[str], coded: Collection[str] = ()) -> Covariates:
    """Load covariates from any CSV, Parquet or Arrow file, or a folder of Parquet files.

    Parameters
    ----------
    path
        The file.
    names
        The columns. If none is needed, the first determines the number of rows.
    coded
        Columns whose numbers are levels.

    Raises
    ------
    ArgumentError
        If values are missing or infinite, or a column contains both numbers and text.
    DataFileError
        If the file cannot be read, or a column does not exist.
    """
    place = local_path(path)
    file = DataFile(place, format_of(place))
    return FileCovariates([Release(file, TableMetadata({}, {}))], list(names) or file.names()[:1], coded).loaded()


def needs_all_rows(term: str) -> ArgumentError:
    """Return the error for a term that cannot be streamed."""
    return ArgumentError(
        f"the term {term} must be computable row by row in a stream; it needs all rows.", LOAD_THE_TABLE
    )


def resized(batches: Iterable[Any], size: int) -> Iterator[Any]:
    """Yield the same rows in batches of `size`, with a smaller last one."""
    import pyarrow as pa

    pending: list[Any] = []
    rows = 0
    for batch in batches:
        pending.append(batch)
        rows += batch.num_rows
        if rows < size:
            continue
        whole = pa.Table.from_batches(pending).combine_chunks().to_batches()[0] if len(pending) > 1 else batch
        full = rows - rows % size
        yield from (whole.slice(start, size) for start in range(0, full, size))
        pending, rows = ([whole.slice(full)], rows - full) if rows > full else ([], 0)
    if rows:
        yield pa.Table.from_batches(pending).combine_chunks().to_batches()[0]


def _truth(cells: Any) -> NumberColumn:
    """Convert the text true and false to booleans."""
    from pyarrow import compute as pc

    return numbers_of(arrow_numbers(pc.equal(pc.utf8_lower(cells), "true")), boolean=True)


class _ColumnSoFar:
    """Facts about a column, collected while its rows are read."""

    def __init__(self, name: str, coded: bool) -> None:
        self.name, self.coded = name, coded
        self.numbers = self.words = 0
        self.first_word = 0
        self.boolean = True
        self.text = False  # whether cells are text that may be numeric
        self.distinct: set[Any] | None = set()  # None if there are too many for levels

    def add(self, cells: Any, csv: bool, first: int, problems: CovariateProblems) -> None:
        """Add some rows, starting at row `first`."""
        self.text |= csv
        column = None if csv else covariate_column(cells, self.name)
        if isinstance(column, LabelColumn):
            problems.add(f"column {self.name}", "missing", column.codes < 0, first)
            self._words(column.used(), int((column.codes >= 0).sum()), first)
        elif column is not None:
            self.boolean &= column.boolean
            self._numbers(column.part(0, len(cells)), first, problems)
        elif (numbers := all_numbers(cells)) is not None:
            self._numbers(arrow_numbers(numbers), first, problems)
            self._distinct(cells.unique().drop_null().to_pylist() if self.distinct is not None else ())
        else:
            self._texts(cells, first, problems)

    def _numbers(self, values: Any, first: int, problems: CovariateProblems) -> None:
        self.numbers += len(values)
        if values.dtype.kind == "f":
            problems.add(f"column {self.name}", "missing", np.isnan(values), first)
            problems.add(f"column {self.name}", "infinite", np.isinf(values), first)
        if self.coded and not self.text:
            self._distinct(np.unique(values).tolist())

    def _texts(self, cells: Any, first: int, problems: CovariateProblems) -> None:
        """Add cells of a CSV file, not all of which are numbers."""
        encoded = cells.dictionary_encode()
        texts = [plain_header(text) for text in encoded.dictionary.to_pylist()]
        at = encoded.indices.cast("int64").fill_null(len(texts)).to_numpy(zero_copy_only=False)
        is_word = np.array([*(not _is_number(text) for text in texts), False])[at]
        problems.add(f"column {self.name}", "missing", at == len(texts), first)
        self.numbers += int((~is_word).sum() - (at == len(texts)).sum())
        self._words(texts, int(is_word.sum()), first + int(is_word.argmax()))

    def _words(self, labels: Iterable[Any], rows: int, first: int) -> None:
        if rows and not self.words:
            self.first_word = first
        self.words += rows
        self._distinct(labels)

    def _distinct(self, values: Iterable[Any]) -> None:
        if self.distinct is not None:
            self.distinct.update(values)
            if len(self.distinct) > MOST_LEVELS:
                self.distinct = None

    def facts(self, order: Sequence[Any] | None, place: Any) -> ColumnFacts:
        """Return the type of the column, after all rows have been read.

        Raises
        ------
        ArgumentError
            If it contains both numbers and text, or too many levels.
        """
        if not self.words:
            return self._facts_of_numbers()
        distinct = self.distinct or set()
        if self.text and not self.numbers and {text.lower() for text in distinct} <= _TRUTH and distinct:
            truths = tuple(sorted({text.lower() == "true" for text in distinct}))
            return ColumnFacts(truths if self.coded else None, boolean=True)
        if self.numbers and not (self.coded and self.text):
            raise ArgumentError(
                f"column {self.name} must hold numbers only or text only; got "
                f"{counted(self.words, 'cell that is not a number', 'cells that are not numbers')}, first in "
                f"{place(self.first_word)}, and {counted(self.numbers, 'number')}.",
                LEVELS_OF_MIXED_CELLS,
            )
        check_level_count(MOST_LEVELS + 1 if self.distinct is None else 0, self.name)
        return ColumnFacts(tuple(in_order(list(distinct)) if order is None else [x for x in order if x in distinct]))

    def _facts_of_numbers(self) -> ColumnFacts:
        if not self.coded:
            return ColumnFacts(None)
        check_level_count(MOST_LEVELS + 1 if self.distinct is None else 0, self.name)
        numbers = {float(value) for value in self.distinct or ()}
        return ColumnFacts(number_levels(numbers, self.name, self.boolean and not self.text))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
