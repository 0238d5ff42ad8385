"""`Encoder`: convert covariates of a table to the columns of a model matrix."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen

from subsetprivacy._checks import shown
from subsetprivacy._types import AnyArray, FloatArray, IntArray, Label
from subsetprivacy._words import counted
from subsetprivacy.errors import ArgumentError, CategoryError, MissingDependencyError
from subsetprivacy.frames.computed_terms import ComputedTerms
from subsetprivacy.frames.covariate_problems import CovariateProblems
from subsetprivacy.frames.covariates import Covariates, LabelColumn, covariates_of
from subsetprivacy.messages.for_general import INSTALL
from subsetprivacy.messages.for_regression import LEVELS_OF_THE_MODEL, VARIABLES_OF_THE_MODEL

Levels: TypeAlias = Mapping[str, tuple[Label, ...]]

MOST_ROWS = 1 << 16  # of a batch that is encoded at once
_MOST_ENTRIES = 1 << 22  # entries of a batch, so that a wide matrix has fewer rows at once
_CACHED = 1 << 17  # entries whose source and target both fit in the cache during transposition
_MISSING, _UNKNOWN = -1, -2


@frozen
class PlainColumns:
    """Matrix columns made from one table column.

    Attributes
    ----------
    start, stop
        Which columns of the matrix.
    variable
        The column of the table: numbers unchanged, labels as indicator columns. None for the intercept.
    skipped
        The number of levels without a column: 1 if the first is the reference.
    """

    start: int
    stop: int
    variable: str | None = None
    skipped: int = 0


@frozen(slots=False, eq=False, repr=False)
class Encoder:
    """The rule from covariates to a model matrix, made by `encode_formula` and `encode_covariates`.

    It can be pickled. Of the data it was made from, it keeps only the levels of categorical columns and the state of
    transforms such as `bs`.

    Attributes
    ----------
    formula
        The right-hand side of the formula.
    columns
        The column names of the matrix; the intercept is ``"Intercept"``.
    terms
        The column positions of each term, by name.
    variables
        The columns of the table that it uses.
    levels
        The levels of each categorical column, in order. With treatment contrasts, the first is the reference.

    Examples
    --------
    >>> from subsetprivacy.frames.formulas import encode_formula
    >>> table = {"age": [39, 50, 38], "sex": ["Male", "Male", "Female"]}
    >>> encoder = encode_formula("age + sex", table)
    >>> encoder.columns, encoder.terms
    (('Intercept', 'age', 'sex[Male]'), {'Intercept': (0,), 'age': (1,), 'sex': (2,)})
    >>> encoder.matrix(table)
    array([[ 1., 39.,  1.],
           [ 1., 50.,  1.],
           [ 1., 38.,  0.]])
    """

    formula: str
    columns: tuple[str, ...]
    terms: dict[str, tuple[int, ...]]
    variables: tuple[str, ...]
    levels: dict[str, tuple[Label, ...]]
    plain: tuple[PlainColumns, ...]
    computed: ComputedTerms | None = None

    def __repr__(self) -> str:
        return f"<Encoder: {self.formula}, {counted(len(self.columns), 'column')}>"

    @property
    def rows_at_once(self) -> int:
        """The number of rows to encode at once; fewer if the matrix is wide."""
        return max(1024, min(MOST_ROWS, _MOST_ENTRIES // max(len(self.columns), 1)))

    def matrix(self, table: Any) -> FloatArray:
        """Return the model matrix of a table.

        Parameters
        ----------
        table
            A table of any library with the columns `variables`, a dict of
            columns or, where `variables` are x1, x2, …, an array.

        Returns
        -------
        array, shape (n, d)
            In C order.

        Raises
        ------
        ArgumentError
            If a column does not exist, or has missing or infinite values. The message gives the column, the count and
            the first row.
        CategoryError
            If a level is not known. The message gives the column, the count and the first row, never the level.
        NoDataError
            If there are no rows.
        """
        return self.encode(covariates_of(table, self.variables))

    def encode(self, covariates: Covariates, place: Callable[[int], str] = "row {}".format) -> FloatArray:
        """Return the model matrix of covariates; `place` describes the position of a row."""
        X = np.empty((covariates.rows, len(self.columns)))
        problems = CovariateProblems(place if covariates.ordered else None)
        for part in covariates.parts(self.rows_at_once):
            start = part.first - covariates.first
            self._fill(X[start : start + part.rows], part, problems)
        problems.refuse()
        return X

    def encode_into(
        self,
        X: FloatArray,
        columns: Sequence[int],
        covariates: Covariates,
        place: Callable[[int], str] = "row {}".format,
    ) -> None:
        """Fill a matrix that has only some of the columns; the others exist for one batch at a time."""
        problems = CovariateProblems(place if covariates.ordered else None)
        for part in covariates.parts(self.rows_at_once):
            start = part.first - covariates.first
            made = np.empty((part.rows, len(self.columns)))
            self._fill(made, part, problems)
            X[start : start + part.rows] = made[:, list(columns)]
        problems.refuse()

    def _fill(self, X: FloatArray, part: Covariates, problems: CovariateProblems) -> None:
        """Fill some rows of a matrix, or record their problems."""
        values = column_values(part, self.variables, self.levels, problems)
        if problems:
            return
        step = max(_CACHED // X.shape[1], 64)
        for start in range(0, part.rows, step):
            for each in self.plain:
                target = X[start : start + step, each.start : each.stop]
                if each.variable is None:
                    target[:] = 1
                elif each.variable in self.levels:
                    _indicators(target, values[each.variable][start : start + step], each.skipped)
                else:
                    target[:, 0] = values[each.variable][start : start + step]
        if self.computed is not None:
            frame = frame_of_values({name: values[name] for name in self.computed.variables}, self.levels)
            X[:, self.computed.positions] = self.computed.values(frame, problems, part.first)

    # Tables of the columns that are needed ------------------------------------------------------------------------

    def frame(self, table: Any) -> Any:
        """Return a pandas data frame of `variables`: numbers, and categories with the known levels.

        Raises
        ------
        ArgumentError, CategoryError, NoDataError
            As `matrix`.
        """
        covariates = covariates_of(table, self.variables)
        problems = CovariateProblems("row {}".format if covariates.ordered else None)
        values = column_values(covariates, self.variables, self.levels, problems)
        problems.refuse()
        return frame_of_values(values, self.levels)

    def replace_variable(self, table: Any, name: str, value: Any) -> Any:
        """Return the `frame` of a table with one of the columns set to a value in all rows.

        Parameters
        ----------
        table
            As in `matrix`.
        name
            One of `variables`.
        value
            A number or a level, or one for each row.

        Raises
        ------
        ArgumentError
            If the formula does not use the column, or the value is not a finite number.
        CategoryError
            If the value is not a level of the column.
        """
        if name not in self.variables:
            raise ArgumentError(
                f"`name` must be a column that the formula uses; got {shown(name)}.",
                VARIABLES_OF_THE_MODEL(names=", ".join(self.variables)),
            )
        frame = self.frame(table)
        return frame.assign(**{name: self._replaced(name, value, len(frame))})

    def _replaced(self, name: str, value: Any, rows: int) -> Any:
        levels = self.levels.get(name)
        if levels is None:
            try:
                numbers = np.broadcast_to(np.asarray(value, np.float64), (rows,))
            except (TypeError, ValueError):
                numbers = np.full(rows, np.nan)
            if not np.isfinite(numbers).all():
                raise ArgumentError(f"`value` must be a finite number for column {name}; got {shown(value)}.")
            return numbers.copy()
        given = list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value] * rows
        position = {level: k for k, level in enumerate(levels)}
        unknown = [each for each in given if each not in position]
        if unknown or len(given) != rows:
            listed = ", ".join(map(str, levels[:12])) + (", …" if len(levels) > 12 else "")
            raise CategoryError(
                f"`value` must be a level of column {name}; got {shown(value)}.", LEVELS_OF_THE_MODEL(levels=listed)
            )
        return categories(np.array([position[each] for each in given]), levels)


def _indicators(target: FloatArray, positions: IntArray, skipped: int) -> None:
    """Fill indicator columns of the level of each row."""
    target[:] = 0
    rows = np.flatnonzero(positions >= skipped)
    target[rows, positions[rows] - skipped] = 1


# Columns of the table -----------------------------------------------------------------------------------------------


def column_values(
    part: Covariates, names: Sequence[str], levels: Levels, problems: CovariateProblems
) -> dict[str, AnyArray]:
    """Return the numbers or level positions of some columns, and record problems.

    Parameters
    ----------
    part
        The rows.
    names
        The columns.
    levels
        The levels of categorical columns.
    problems
        Collects missing, infinite and unknown values.

    Raises
    ------
    ArgumentError
        If a column holds text instead of numbers, or the reverse.
    """
    return {
        name: _positions(part, name, levels[name], problems) if name in levels else _numbers(part, name, problems)
        for name in names
    }


def _numbers(part: Covariates, name: str, problems: CovariateProblems) -> FloatArray:
    column = part.columns[name]
    if isinstance(column, LabelColumn):
        raise ArgumentError(f"column {name} must hold numbers, as it did when the model was fitted; got text.")
    values = column.part(0, part.rows)
    numbers = np.asarray(values, np.float64)
    if values.dtype.kind == "f" and not np.isfinite(numbers).all():
        problems.add(f"column {name}", "missing", np.isnan(numbers), part.first)
        problems.add(f"column {name}", "infinite", np.isinf(numbers), part.first)
    return numbers


def _positions(part: Covariates, name: str, levels: Sequence[Label], problems: CovariateProblems) -> IntArray:
    """Return the position of each row's level."""
    column = part.columns[name]
    known = {level: k for k, level in enumerate(levels)}
    if isinstance(column, LabelColumn):
        labels, codes = column.labels, column.part(0, part.rows)
    elif all(isinstance(level, (int, float, np.number)) for level in levels[:1]):
        distinct, codes = np.unique(column.part(0, part.rows), return_inverse=True)
        labels = distinct.tolist()
        codes = np.where(np.isfinite(distinct), np.arange(len(distinct)), -1)[codes]
    else:
        raise ArgumentError(f"column {name} must hold text, as it did when the model was fitted; got numbers.")
    lookup = np.array([*(known.get(label, _UNKNOWN) for label in labels), _MISSING], np.int64)
    positions = lookup[codes]  # the code -1 of a missing value indexes the last entry
    if positions.size and positions.min() < 0:
        problems.add(f"column {name}", "missing", positions == _MISSING, part.first)
        problems.add(f"column {name}", "unknown", positions == _UNKNOWN, part.first)
    return positions


def categories(positions: IntArray, levels: Sequence[Label]) -> Any:
    """Return the levels at some positions as a pandas column, missing for -1."""
    return pandas().Categorical.from_codes(positions, list(levels))


def frame_of_values(values: Mapping[str, AnyArray], levels: Levels) -> Any:
    """Return the result of `column_values` as a pandas data frame, without copying numbers."""
    columns = {name: categories(each, levels[name]) if name in levels else each for name, each in values.items()}
    return pandas().DataFrame(columns, copy=False)


def pandas() -> Any:
    """Return the module pandas.

    Raises
    ------
    MissingDependencyError
        If it is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise MissingDependencyError("data frames need pandas.", INSTALL(extra="frames")) from None
    return pandas
