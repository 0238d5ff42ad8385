"""`PredictorEncoder`: encode a formula with private predictors, as numbers of cells times observed columns.

Formulaic sees a private predictor as a column of placeholder labels, one for each category, which reappear in the names
of the columns. So interactions and dropped levels follow the usual rules of formulas.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
from attrs import field, frozen

from subsetprivacy._checks import read_only
from subsetprivacy._types import FloatArray, IntArray, Label
from subsetprivacy._words import counted
from subsetprivacy.errors import ArgumentError
from subsetprivacy.frames.covariate_problems import CovariateProblems
from subsetprivacy.frames.covariates import CovariateColumn, Covariates, LabelColumn, covariates_of, names_of
from subsetprivacy.frames.encoder import Encoder
from subsetprivacy.frames.formula_terms import INTERCEPT, FormulaTerms
from subsetprivacy.frames.formulas import CovariateSource, encode_covariates, encoder_of_terms
from subsetprivacy.messages.for_regression import LABELS_OF_A_PREDICTOR, RENAME_A_COLUMN
from subsetprivacy.tables import label_text

_MISSING, _UNKNOWN = -1, -2
_FIRST = 1  # the level assigned to everyone to compute observed columns: unlike the baseline, it is in every coding
_GONE = "\ue003"


@frozen
class PrivatePredictor:
    """A private column on the right-hand side of a formula.

    Attributes
    ----------
    name
        The column.
    labels
        Its categories, in the order of the design.
    baseline
        The category, or merged categories, that the others are compared with.
    merged
        Names of categories that share their coefficients, by category.
    """

    name: str
    labels: tuple[Label, ...]
    baseline: Label
    merged: Mapping[Label, Label] = field(factory=dict)

    @property
    def levels(self) -> tuple[Label, ...]:
        """The levels, with merged categories once and the baseline first."""
        own = dict.fromkeys(self.level_of(label) for label in self.labels)
        return (self.baseline, *(level for level in own if level != self.baseline))

    def level_of(self, label: Label) -> Label:
        """Return the level of a category: its merged name, or itself."""
        return self.merged.get(label, label)

    def first_of(self, level: Label) -> Label:
        """Return the first category of a level."""
        return next(label for label in self.labels if self.level_of(label) == level)

    @property
    def level_at(self) -> IntArray:
        """The position of each category's level."""
        at = {level: k for k, level in enumerate(self.levels)}
        return np.array([at[self.level_of(label)] for label in self.labels], np.int64)

    def tokens(self, at: int) -> tuple[str, ...]:
        """Return the placeholders of the levels in column names, for the predictor with this number."""
        return tuple(f"\ue000{at}\ue001{k}\ue002" for k in range(len(self.levels)))


@frozen(slots=False, eq=False, repr=False)
class PredictorEncoder:
    """The rule from observed columns and private cells to the columns of a model.

    Column c of a person i in cell j is ``Z[j, c] * V[i, seen[c]]``. It can be pickled. Of the data, it keeps only the
    levels of observed columns and the state of transforms such as `bs`.

    Attributes
    ----------
    formula
        The right-hand side of the formula.
    private
        The private predictors. The cells are their combinations, in the order of the designs with the last one fastest.
    columns
        The names of the columns of the model, as in ``race[Black]`` and ``age:race[Black]``.
    terms
        The column positions of each term, by name.
    Z
        The number of each cell in each column, shape (cells, columns); 1 for terms without private predictors.
    seen
        The observed column of each column, shape (columns,).
    seen_columns
        The names of the observed columns V; the first is 1 for everyone.
    """

    formula: str
    private: tuple[PrivatePredictor, ...]
    columns: tuple[str, ...]
    terms: dict[str, tuple[int, ...]]
    Z: FloatArray = field(converter=read_only)
    seen: IntArray = field(converter=read_only)
    seen_columns: tuple[str, ...]
    _whole: Encoder
    _chosen: tuple[int, ...]  # columns of `_whole` that are observed columns, after the first

    def __repr__(self) -> str:
        return f"<PredictorEncoder: {self.formula}, {counted(len(self.columns), 'column')}>"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the private predictors."""
        return tuple(each.name for each in self.private)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of categories of each private predictor."""
        return tuple(len(each.labels) for each in self.private)

    @property
    def variables(self) -> tuple[str, ...]:
        """The observed columns of the table that it uses."""
        return tuple(name for name in self._whole.variables if name not in self.names)

    @property
    def levels(self) -> dict[str, tuple[Label, ...]]:
        """The levels of each observed column of labels."""
        return {name: levels for name, levels in self._whole.levels.items() if name not in self.names}

    # Rows ---------------------------------------------------------------------------------------------------------

    def encode(self, covariates: Covariates, place: Callable[[int], str] = "row {}".format) -> FloatArray:
        """Return the observed columns V of covariates, shape (n, observed columns)."""
        V = np.empty((covariates.rows, len(self.seen_columns)))
        V[:, 0] = 1.0
        if self._chosen:
            rows = with_constants(covariates, _tokens(self.private))
            self._whole.encode_into(V[:, 1:], self._chosen, rows, place)
        return V

    def matrix(self, table: Any) -> FloatArray:
        """Return the observed columns V of a table of any library.

        Raises
        ------
        ArgumentError, CategoryError, NoDataError
            As `Encoder.matrix`.
        """
        some = self.variables or (None if isinstance(table, Covariates) else names_of(table)[:1])
        return self.encode(covariates_of(table, some))

    def labels(self, table: Any, name: str) -> list[Label]:
        """Return the categories of a private predictor from a column of labels.

        Raises
        ------
        ArgumentError
            If the column does not exist, or a label is missing.
        CategoryError
            If a cell is not a category. The message gives the count and the first row, never the cell.
        """
        predictor = next(each for each in self.private if each.name == name)
        covariates = covariates_of(table, [name])
        at = _positions(covariates.columns[name], predictor, covariates.rows)
        problems = CovariateProblems("row {}".format if covariates.ordered else None)
        problems.add(f"column {name}", "missing", at == _MISSING)
        problems.add(f"column {name}", "category", at == _UNKNOWN)
        problems.refuse(LABELS_OF_A_PREDICTOR(name=name, labels=_listed(predictor.labels)))
        return [predictor.labels[k] for k in at.tolist()]

    # Tables of the seen columns -----------------------------------------------------------------------------------

    def frame(self, table: Any) -> Any:
        """Return a pandas data frame of the observed columns `variables`."""
        return self._seen_only.frame(table)

    def replace_variable(self, table: Any, name: str, value: Any) -> Any:
        """Return the `frame` of a table with one observed column set to a value; see `Encoder`."""
        return self._seen_only.replace_variable(table, name, value)

    @property
    def _seen_only(self) -> Encoder:
        return Encoder(self.formula, (), {}, self.variables, self.levels, ())


def _listed(labels: Sequence[Label]) -> str:
    return ", ".join(map(label_text, labels[:12])) + (", …" if len(labels) > 12 else "")


def _positions(column: CovariateColumn, predictor: PrivatePredictor, rows: int) -> IntArray:
    """Return the position of each row's category, -1 for a missing label and -2 for an unknown one."""
    known = {
        label_text(name): predictor.labels.index(label) for label, name in reversed(list(predictor.merged.items()))
    }
    known |= {label_text(label): k for k, label in enumerate(predictor.labels)}
    if isinstance(column, LabelColumn):
        lookup = np.array([*(known.get(label_text(label), _UNKNOWN) for label in column.labels), _MISSING], np.int64)
        return lookup[column.part(0, rows)]
    distinct, at = np.unique(column.part(0, rows), return_inverse=True)
    return np.array([_number_position(each, known, column.boolean) for each in distinct.tolist()], np.int64)[at]


def _number_position(number: float, known: Mapping[str, int], boolean: bool) -> int:
    if number != number:
        return _MISSING
    if boolean:
        return known.get(label_text(bool(number)), _UNKNOWN)
    whole = int(number) if float(number).is_integer() else number
    return known.get(label_text(whole), known.get(label_text(number), _UNKNOWN))


# From a formula -----------------------------------------------------------------------------------------------------


def with_constants(covariates: Covariates, tokens: Mapping[str, Sequence[str]]) -> Covariates:
    """Add a constant column of the same placeholder for each private predictor."""
    everyone = np.broadcast_to(np.int64(_FIRST), (covariates.rows,))
    private = {name: LabelColumn(everyone, list(each), declared=True) for name, each in tokens.items()}
    return Covariates({**covariates.columns, **private}, covariates.rows, covariates.ordered, covariates.first)


@frozen(eq=False)
class _WithPredictors:
    """Covariates with placeholders instead of private predictors."""

    source: CovariateSource
    tokens: Mapping[str, tuple[str, ...]]

    def levels(self, name: str, coded: bool) -> tuple[Label, ...] | None:
        """Return the levels of a column."""
        return self.tokens[name] if name in self.tokens else self.source.levels(name, coded)

    def parts(self, variables: Sequence[str]) -> Iterable[Covariates]:
        """Return all rows of some columns, in batches."""
        seen = [name for name in variables if name not in self.tokens]
        for part in self.source.parts(seen):
            yield with_constants(part, self.tokens)

    def whole(self, variables: Sequence[str], term: str) -> Covariates:
        """Return all rows of some columns at once."""
        return self.source.whole(variables, term)  # a transform uses observed columns only


def encode_predictors(
    terms: FormulaTerms, source: CovariateSource, private: Sequence[PrivatePredictor]
) -> PredictorEncoder:
    """Make an encoder from the terms of a formula with private predictors.

    Parameters
    ----------
    terms
        The right-hand side, with private columns outside of functions.
    source
        The observed columns of a table or of files.
    private
        The private predictors, in the order of the cells.

    Raises
    ------
    ArgumentError
        If a term cannot be computed or has only one level, or two columns have the same name.

    Examples
    --------
    >>> from subsetprivacy.frames.formula_terms import read_terms
    >>> from subsetprivacy.frames.formulas import TableOfCovariates
    >>> held = TableOfCovariates(covariates_of({"age": [39, 50, 38]}))
    >>> race = PrivatePredictor("race", ("Black", "White"), "White")
    >>> encoder = encode_predictors(read_terms("age * race"), held, [race])
    >>> encoder.columns, encoder.seen_columns
    (('Intercept', 'age', 'race[Black]', 'age:race[Black]'), ('Intercept', 'age'))
    >>> encoder.Z, encoder.seen
    (array([[1., 1., 1., 1.],
           [1., 1., 0., 0.]]), array([0, 1, 0, 1]))
    """
    whole = encoder_of_terms(terms, _WithPredictors(source, _tokens(private)))
    scales = {
        at: ":".join(factor.text for factor in term.factors if not factor.variables)
        for term in terms.terms
        for at in whole.terms[term.name]
    }
    return _split(whole, private, scales)


def encode_predictor_columns(covariates: Covariates, private: Sequence[PrivatePredictor]) -> PredictorEncoder:
    """Make an encoder with all observed columns and private predictors as terms, plus an intercept."""
    tokens = _tokens(private)
    whole = encode_covariates(with_constants(covariates, tokens), tokens)
    return _split(whole, private, {})


def _tokens(private: Sequence[PrivatePredictor]) -> dict[str, tuple[str, ...]]:
    return {each.name: each.tokens(k) for k, each in enumerate(private)}


def _split(whole: Encoder, private: Sequence[PrivatePredictor], scales: Mapping[int, str]) -> PredictorEncoder:
    """Split the columns of an encoder into numbers of cells and observed columns; `scales` are numbers in terms."""
    tokens = _tokens(private)
    columns = [_Column.of(name, tokens, scales.get(k, "")) for k, name in enumerate(whole.columns)]
    keys = {("", ""): 0}
    chosen = []
    for k, column in enumerate(columns):
        if column.key not in keys and set(column.at.values()) <= {_FIRST}:
            keys[column.key] = len(keys)
            chosen.append(k)
    names = tuple(column.named(private) for column in columns)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ArgumentError(
            f"columns of the model must have different names; got {twice} more than once.", RENAME_A_COLUMN
        )
    return PredictorEncoder(
        whole.formula,
        tuple(private),
        names,
        {name: tuple(at) for name, at in whole.terms.items()},
        _numbers_of_cells(columns, private),
        np.array([keys[column.key] for column in columns], np.int64),
        (INTERCEPT, *(":".join(filter(None, key)) for key in list(keys)[1:])),
        whole,
        tuple(chosen),
    )


@frozen
class _Column:
    """A column of the model: the levels of private predictors, and its observed part."""

    name: str  # with tokens
    at: dict[int, int]  # the level of each private predictor, by its number
    tokens: dict[int, str]
    key: tuple[str, str]  # numeric factors, and the rest of its name

    @classmethod
    def of(cls, name: str, tokens: Mapping[str, Sequence[str]], scale: str) -> "_Column":
        """Parse the name of a column."""
        at, own_tokens, rest = {}, {}, name
        for number, (variable, each) in enumerate(tokens.items()):
            for level, token in enumerate(each):
                if token in name:
                    at[number], own_tokens[number] = level, token
                    rest = rest.replace(f"{variable}[{token}]", _GONE)
        seen = rest.replace(f":{_GONE}", "").replace(f"{_GONE}:", "").replace(_GONE, "")
        return cls(name, at, own_tokens, (scale if scale != "1" else "", "" if seen == INTERCEPT else seen))

    def named(self, private: Sequence[PrivatePredictor]) -> str:
        """Return the name with labels."""
        name = self.name
        for number, level in self.at.items():
            name = name.replace(self.tokens[number], label_text(private[number].levels[level]))
        return name


def _numbers_of_cells(columns: Sequence[_Column], private: Sequence[PrivatePredictor]) -> FloatArray:
    """Return a 0/1 matrix that is 1 if the cell has the levels of the column, shape (cells, columns)."""
    sizes = [range(len(each.labels)) for each in private]
    cells = np.array(list(product(*sizes)), np.int64).reshape(prod(map(len, sizes)), len(private))
    Z = np.ones((len(cells), len(columns)))
    for c, column in enumerate(columns):
        for number, level in column.at.items():
            Z[:, c] *= private[number].level_at[cells[:, number]] == level
    return Z
