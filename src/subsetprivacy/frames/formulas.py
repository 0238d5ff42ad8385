"""Make an `Encoder` from a formula or covariates, and a table."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from attrs import frozen

from subsetprivacy._types import BoolArray, FloatArray, Label
from subsetprivacy.errors import ArgumentError
from subsetprivacy.frames.computed_terms import (
    ComputedTerms,
    categorical_kind,
    coded_spec,
    computed,
    new_spec,
    not_computed,
)
from subsetprivacy.frames.covariate_problems import CovariateProblems
from subsetprivacy.frames.covariates import (
    CovariateColumn,
    Covariates,
    LabelColumn,
    check_level_count,
    covariates_of,
    in_order,
    names_of,
    number_levels,
    snapshot,
)
from subsetprivacy.frames.encoder import (
    MOST_ROWS,
    Encoder,
    PlainColumns,
    categories,
    column_values,
    frame_of_values,
    pandas,
)
from subsetprivacy.frames.formula_terms import (
    INTERCEPT,
    FormulaFactor,
    FormulaTerm,
    FormulaTerms,
    formulaic,
    read_terms,
    split_formula,
)
from subsetprivacy.messages.for_regression import LEAVE_OUT_CONSTANT, RENAME_A_COLUMN

AnyEncoder = TypeVar("AnyEncoder")

__all__ = [
    "Encoder",
    "covariate_matrix",
    "encode_covariates",
    "encode_formula",
    "encoder_of_terms",
    "formula_matrix",
    "frame_of",
    "snapshot",
    "split_formula",
]


def encode_formula(formula: str, table: Any, *, leave_out: Collection[str] = ()) -> Encoder:
    """Make an encoder from the right-hand side of a formula and a table.

    Parameters
    ----------
    formula
        The right-hand side, as `split_formula` returns it.
    table
        A table of any library, or a dict of columns.
    leave_out
        Columns that a dot in the formula excludes: the response, private columns, weights.

    Raises
    ------
    ArgumentError
        If it is not a formula, a column does not exist, or a term cannot be computed or has only one level.
    NoDataError
        If the table has no rows.
    MissingDependencyError
        If formulaic is not installed.

    Notes
    -----
    Integers, floats and booleans are numbers. Text and categories are coded by treatment contrasts, with the first
    level as reference. Levels have the order of a categorical column, or are sorted. Levels that do not occur are
    left out. ``C(x)`` turns numbers into levels.

    Examples
    --------
    >>> table = {"age": [39, 50, 38], "sex": ["Male", "Male", "Female"]}
    >>> encode_formula("np.log(age) + age:sex", table).columns
    ('Intercept', 'np.log(age)', 'age:sex[Female]', 'age:sex[Male]')
    """
    terms = read_terms(formula, [name for name in names_of(table) if name not in leave_out])
    return encoder_of_terms(terms, TableOfCovariates(covariates_of(table, terms.variables or None)))


def encode_covariates(covariates: Any, known: Mapping[str, tuple[Label, ...]] | None = None) -> Encoder:
    """Make an encoder of all columns of a table or an array; an intercept is added.

    Parameters
    ----------
    covariates
        A table of any library or a dict of columns, each of which is a term; or an array of numbers, with columns x1,
        x2, …
    known
        Known levels by column; other columns have the observed levels.

    Raises
    ------
    ArgumentError
        If it is another type, or a column has only one level.
    NoDataError
        If it has no rows.

    Examples
    --------
    >>> encode_covariates(np.eye(3)[:, :2]).columns
    ('Intercept', 'x1', 'x2')
    """
    loaded = covariates_of(covariates)
    levels: dict[str, tuple[Label, ...]] = {}
    columns = [INTERCEPT]
    terms: dict[str, tuple[int, ...]] = {INTERCEPT: (0,)}
    plain = [PlainColumns(0, 1)]
    for name, column in loaded.columns.items():
        start = len(columns)
        if isinstance(column, LabelColumn):
            levels[name] = (known or {}).get(name) or tuple(column.levels())
            columns += [f"{name}[{level}]" for level in levels[name][1:]]
        else:
            columns.append(name)
        terms[name] = tuple(range(start, len(columns)))
        plain.append(PlainColumns(start, len(columns), name, int(name in levels)))
    _check_levels(loaded, levels)
    _check_columns(columns, terms)
    formula = " + ".join(name if name.isidentifier() else f"`{name}`" for name in loaded.columns)
    return Encoder(formula or "1", tuple(columns), terms, tuple(loaded.columns), levels, tuple(plain))


def formula_matrix(
    formula: str, table: Any, *, leave_out: Collection[str] = (), used: BoolArray | None = None
) -> tuple[Encoder, FloatArray]:
    """Make an encoder like `encode_formula`, and the matrix of the table, in one pass.

    Parameters
    ----------
    formula, table, leave_out
        As in `encode_formula`.
    used
        The rows that are used, if cells of others may be missing; None for all.
    """
    terms = read_terms(formula, [name for name in names_of(table) if name not in leave_out])
    covariates = covariates_of(table, terms.variables or None)
    encoder = encoder_of_used(terms, covariates, used, encoder_of_terms)
    return encoder, encoder.encode(covariates.within(used))


def encoder_of_used(
    terms: FormulaTerms,
    covariates: Covariates,
    used: BoolArray | None,
    made_of: "Callable[[FormulaTerms, TableOfCovariates], AnyEncoder]",
) -> "AnyEncoder":
    """Make an encoder of the rows that are used.

    Rows in place of those that are not used would change the state of transforms such as ``center(x)``. They are there
    first, so that errors have the numbers of the rows.
    """
    filled = covariates.within(used)
    encoder = made_of(terms, TableOfCovariates(filled))
    if used is None or filled is covariates or not any(factor.remembers for factor in terms.factors):
        return encoder
    return made_of(terms, TableOfCovariates(covariates.taken(np.flatnonzero(used))))


def covariate_matrix(covariates: Any, used: BoolArray | None = None) -> tuple[Encoder, FloatArray]:
    """Make an encoder like `encode_covariates`, and the matrix of the covariates, in one pass."""
    loaded = covariates_of(covariates).within(used)
    encoder = encode_covariates(loaded)
    return encoder, encoder.encode(loaded)


def frame_of(table: Any, variables: Sequence[str]) -> Any:
    """Return some columns of any table as a pandas data frame of numbers and categories.

    Raises
    ------
    ArgumentError
        If a column does not exist, or contains neither numbers nor labels.
    NoDataError
        If the table has no rows.
    """
    covariates = covariates_of(table, variables)
    columns = {name: _native(column, covariates.rows) for name, column in covariates.columns.items()}
    return pandas().DataFrame(columns, copy=False)


def _native(column: CovariateColumn, rows: int) -> Any:
    if not isinstance(column, LabelColumn):
        return column.part(0, rows)
    levels = column.levels()
    position = {level: k for k, level in enumerate(levels)}
    lookup = np.array([*(position.get(label, -1) for label in column.labels), -1], np.int64)
    return categories(lookup[column.codes], levels)


# Terms --------------------------------------------------------------------------------------------------------------


class CovariateSource(Protocol):
    """Covariates from which an encoder learns levels and the state of transforms: in memory or streamed."""

    def levels(self, name: str, coded: bool) -> tuple[Label, ...] | None:
        """Return the levels of a column; None for numbers unless they are `coded`."""
        ...

    def parts(self, variables: Sequence[str]) -> Iterable[Covariates]:
        """Return all rows of some columns, in batches."""
        ...

    def whole(self, variables: Sequence[str], term: str) -> Covariates:
        """Return all rows of some columns at once for a term, or refuse it."""
        ...


@frozen(eq=False)
class TableOfCovariates:
    """A table in memory."""

    covariates: Covariates

    def levels(self, name: str, coded: bool) -> tuple[Label, ...] | None:
        """Return the levels of a column."""
        column = self.covariates.columns[name]
        if isinstance(column, LabelColumn):
            return tuple(column.levels())
        if not coded:
            return None
        distinct = (
            np.unique(column.part(start, start + MOST_ROWS)) for start in range(0, self.covariates.rows, MOST_ROWS)
        )
        return number_levels(set().union(*(part.tolist() for part in distinct)), name, column.boolean)

    def parts(self, variables: Sequence[str]) -> Iterable[Covariates]:
        """Return all rows of some columns, in batches."""
        return self._only(variables).parts(MOST_ROWS)

    def whole(self, variables: Sequence[str], term: str) -> Covariates:
        """Return some columns."""
        return self._only(variables)

    def _only(self, variables: Sequence[str]) -> Covariates:
        covariates = self.covariates
        return Covariates({name: covariates.columns[name] for name in variables}, covariates.rows, covariates.ordered)


def encoder_of_terms(terms: FormulaTerms, source: CovariateSource) -> Encoder:
    """Make an encoder from the terms of a formula, and a table or a stream of rows."""
    coded = terms.coded_columns
    by_column = {name: source.levels(name, name in coded) for name in terms.variables}
    levels = {name: each for name, each in by_column.items() if each is not None}
    return _Fit(terms, levels, source).encoder()


class _Fit:
    """Makes an encoder: first the state of transforms, then the levels of expressions, then the columns."""

    def __init__(self, terms: FormulaTerms, levels: dict[str, tuple[Label, ...]], source: CovariateSource) -> None:
        self.terms, self.levels, self.source = terms, levels, source
        self.states: dict[str, Any] = {}
        self.categories: dict[str, Any] = {}

    def encoder(self) -> Encoder:
        for factor in self.terms.factors:
            if factor.remembers:
                self._remember(factor)
        for factor in self.terms.factors:
            if factor.coded is not None and not factor.given_levels:
                self.categories[factor.text] = (categorical_kind(), {"categories": self._levels_of(factor)})
        return self._encoder(self._spec())

    def _frame(self, parts: Iterable[Covariates], variables: Sequence[str]) -> Any:
        """Return the first batch as a data frame; if it has problems, check all batches and raise."""
        problems: CovariateProblems | None = None
        for part in parts:
            problems = problems or CovariateProblems("row {}".format if part.ordered else None)
            values = column_values(part, variables, self.levels, problems)
            if not problems:
                return frame_of_values(values, self.levels)
        if problems is not None:
            problems.refuse()
        return pandas().DataFrame()

    def _remember(self, factor: FormulaFactor) -> None:
        frame = self._frame([self.source.whole(factor.variables, factor.text)], factor.variables)
        result = computed(new_spec(formulaic().Formula(f"0 + {{{factor.text}}}"), {}, {}), frame)
        if result is None:
            raise not_computed(factor.text)
        self.states |= result.spec.transform_state

    def _levels_of(self, factor: FormulaFactor) -> list[Any]:
        if factor.column in self.levels:
            return list(self.levels[str(factor.column)])
        levels: set[Any] = set()
        for part in self.source.parts(factor.variables):
            result = computed(coded_spec(factor, self.states), self._frame([part], factor.variables))
            if result is None:
                raise not_computed(factor.text)
            for _, state in result.spec.encoder_state.values():
                levels.update(state["categories"])
            check_level_count(len(levels), factor.text)
        return in_order(list(levels))

    def _spec(self) -> Any:
        """Return the formulaic specification of all terms; one row is enough to number the columns."""
        frame = self._frame(self.source.parts(self.terms.variables), self.terms.variables).iloc[:1]
        result = computed(new_spec(self.terms.parsed, self.states, self.categories), frame)
        if result is not None:
            return result.spec
        for term in self.terms.terms:
            alone = formulaic().SimpleFormula([term.parsed])
            if computed(new_spec(alone, dict(self.states), dict(self.categories)), frame) is None:
                raise not_computed(term.name)
        raise not_computed(self.terms.text)

    def _encoder(self, spec: Any) -> Encoder:
        names = tuple(name.replace("[T.", "[") for name in spec.column_names)
        positions = {term.name: tuple(spec.term_indices[term.parsed]) for term in self.terms.terms}
        _check_columns(names, positions)
        plain = [self._plain(term, positions[term.name]) for term in self.terms.terms if _is_plain(term)]
        others = [term for term in self.terms.terms if not _is_plain(term)]
        computed_terms = self._computed(spec, others, positions) if others else None
        return Encoder(
            self.terms.text, names, positions, self.terms.variables, self.levels, tuple(plain), computed_terms
        )

    def _plain(self, term: FormulaTerm, at: tuple[int, ...]) -> PlainColumns:
        if term.name == INTERCEPT:
            return PlainColumns(at[0], at[0] + 1)
        name = term.variables[0]
        skipped = len(self.levels[name]) - len(at) if name in self.levels else 0
        return PlainColumns(at[0], at[-1] + 1, name, skipped)

    def _computed(self, spec: Any, terms: list[FormulaTerm], positions: dict[str, tuple[int, ...]]) -> ComputedTerms:
        some = spec.subset([term.parsed for term in terms])
        by_text = {str(term.parsed): positions[term.name] for term in terms}
        at = [k for term in some.terms for k in by_text[str(term)]]
        variables = dict.fromkeys(name for term in terms for name in term.variables)
        coded = dict.fromkeys(factor for term in terms for factor in term.factors if factor.coded is not None)
        return ComputedTerms(some, tuple(variables), tuple(at), tuple(coded))


def _is_plain(term: FormulaTerm) -> bool:
    """Return whether a term is the intercept or a plain column."""
    if term.name == INTERCEPT:
        return True
    return len(term.factors) == 1 and term.factors[0].column is not None and term.factors[0].coded is None


def _check_levels(covariates: Covariates, levels: dict[str, tuple[Label, ...]]) -> None:
    """Raise if all values of a column of labels are missing."""
    empty = [name for name, each in levels.items() if not each]
    problems = CovariateProblems("row {}".format if covariates.ordered else None)
    column_values(covariates, empty, levels, problems)
    problems.refuse()


def _check_columns(columns: Sequence[str], terms: dict[str, tuple[int, ...]]) -> None:
    """Raise if a term has only one level and so no column, or two columns have the same name."""
    for term, positions in terms.items():
        if not positions:
            raise ArgumentError(
                f"the term {term} must have two or more levels; got one in all rows.", LEAVE_OUT_CONSTANT
            )
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise ArgumentError(
            f"columns of the model matrix must have different names; got {twice} more than once.", RENAME_A_COLUMN
        )
