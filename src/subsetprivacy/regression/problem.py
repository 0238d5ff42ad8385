"""Prepare a regression: people in blocks, a model, a start and coordinates."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from attrs import frozen

from subsetprivacy._choices import RegressionMethod, ResponseFamily
from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy._words import counted, people
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, CategoryError, NoDataError, NotIdentifiableError
from subsetprivacy.messages.for_regression import (
    CENTER_THE_COLUMN,
    DROP_A_COLUMN,
    FEWER_COLUMNS,
    LEAVE_OUT_CONSTANT,
    SCALE_THE_COLUMN,
    UNCOVERED_RESPONSE,
)
from subsetprivacy.regression.blocks import Block, Blocks
from subsetprivacy.regression.coordinates import Coordinates
from subsetprivacy.regression.links import CumulativeLogit, MultinomialLogit
from subsetprivacy.regression.models import Model, SeparateSlopes, SharedSlopes
from subsetprivacy.regression.objective import Objective, PseudoPeople, Ridge
from subsetprivacy.regression.starting import (
    cumulative_coordinates,
    cumulative_start,
    information_kept,
    moments,
    multinomial_start,
    null_information,
    shares_of_all,
    slope_information_kept,
    whitened,
)

_DEPENDENT = 1e-9  # a column is dependent if the others leave less than this share of its variance
_SMALLEST = 1e-100  # the smallest number that can be squared; its inverse is the largest


class CovariateEncoder(Protocol):
    """Turns a table of covariates into columns of numbers."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        ...

    @property
    def terms(self) -> Mapping[str, tuple[int, ...]]:
        """The positions of the columns of each term."""
        ...

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns of the table that are used."""
        ...

    @property
    def levels(self) -> Mapping[str, tuple[Any, ...]]:
        """The levels of each categorical variable."""
        ...

    def frame(self, table: Any) -> Any:
        """Return a data frame of the variables."""
        ...

    def replace_variable(self, table: Any, name: str, value: Any) -> Any:
        """Return the frame with one variable set to one value, or to a value for each row."""
        ...

    def matrix(self, table: Any) -> FloatArray:
        """Return the matrix of a table's rows."""
        ...


@frozen(eq=False, repr=False)
class CovariateColumns:
    """The columns of X.

    Attributes
    ----------
    names
        Their names.
    terms
        The positions of the columns of each term, by its name.
    intercept
        The position of the intercept, or None.
    encoder
        The encoder that made them from a table.
    """

    names: tuple[str, ...]
    terms: Mapping[str, tuple[int, ...]]
    intercept: int | None
    encoder: CovariateEncoder

    @classmethod
    def of(cls, encoder: CovariateEncoder) -> "CovariateColumns":
        """Return the columns that an encoder makes."""
        at = encoder.terms.get("Intercept")
        return cls(encoder.columns, dict(encoder.terms), None if at is None else at[0], encoder)

    def without_intercept(self) -> "CovariateColumns":
        """Return the columns except the intercept."""
        if self.intercept is None:
            return self
        at = self.intercept
        names = tuple(name for k, name in enumerate(self.names) if k != at)
        terms = {
            term: tuple(k - (k > at) for k in positions if k != at)
            for term, positions in self.terms.items()
            if positions != (at,)
        }
        return CovariateColumns(names, terms, None, self.encoder)


@frozen(eq=False, repr=False)
class Options:
    """The options of a fit."""

    family: ResponseFamily = "logit"
    method: RegressionMethod | None = "ml"  # None: corrected, or ml where that has no solution
    baseline: Any = None
    shrink: bool = False
    ridge: float = 0.0
    lasso: float = 0.0
    starts: int | None = None  # None: chosen by the size of the sample


@frozen(eq=False, repr=False)
class ResponseProblem:
    """Everything that a fit needs.

    Attributes
    ----------
    blocks, columns, options
        The people, the columns of X, and the options.
    w
        The shares of the categories among all people.
    null_loglik
        The log-likelihood if everyone had these shares.
    mean, spread
        Mean and standard deviation of every column of X.
    gram
        The mean of xx'.
    null
        The information per person of the linear predictors at these shares.
    kept
        The share of a label's information that a subset keeps, without slopes: on average over the directions, or
        about the slopes of ordered categories.
    n
        The number of people, or the sum of their weights.
    """

    blocks: Blocks
    columns: CovariateColumns
    options: Options
    w: FloatArray
    null_loglik: float
    n: float
    mean: FloatArray
    spread: FloatArray
    gram: FloatArray
    null: FloatArray
    kept: float

    @property
    def design(self) -> Design:
        """The design of the response."""
        return self.blocks.design

    @property
    def n_effective(self) -> float:
        """How many people, asked directly, would be about as informative without slopes.

        It is an average over the directions, or over the slopes of ordered categories, and known before the fit.
        """
        return self.n * min(self.kept, 1.0)

    @property
    def model(self) -> Model:
        """The model."""
        if self.options.family == "ordinal":
            return SharedSlopes(CumulativeLogit(self.design.p), self.blocks.d)
        return SeparateSlopes(MultinomialLogit(self.design.p, self.baseline), self.blocks.d)

    @property
    def baseline(self) -> int:
        """The position of the category that others are compared with; by default the most frequent one."""
        label = self.options.baseline
        if label is None:
            return int(self.w.argmax())
        labels = self.design.categories.labels
        if label not in labels:
            known = ", ".join(map(str, labels[:12]))
            raise CategoryError(f"`baseline` must be one of the categories ({known}); got another label.")
        return labels.index(label)

    def objective(self, ridge: float | None = None) -> Objective:
        """Return the penalized log-likelihood."""
        amount = self.options.ridge if ridge is None else ridge
        shared = self.options.family == "ordinal"
        penalty = None
        if amount > 0:
            free = np.ones(self.blocks.d)
            if self.columns.intercept is not None:
                free[self.columns.intercept] = 0.0
            penalty = Ridge(amount, self.design.p, free, shared)
        pseudo = self.pseudo_people if self.options.shrink else None
        return Objective(self.blocks, self.model, self.n, penalty, pseudo)

    @property
    def pseudo_people(self) -> PseudoPeople:
        """As many people as there are slopes, with the shares of everyone."""
        more = self.blocks.d * (1 if self.options.family == "ordinal" else self.design.p - 1)
        floored = np.maximum(self.w, 1 / (self.n + 1))
        return PseudoPeople(floored / floored.sum(), more / self.n)

    def start(self) -> FloatArray:
        """Return where a fit starts: the overall shares, without slopes."""
        model = self.model
        if isinstance(model.link, CumulativeLogit):
            return cumulative_start(self.w, self.blocks.d)
        return multinomial_start(self.w, model.link, self.blocks.d, self.columns.intercept)

    def coordinates(self, objective: Objective) -> Coordinates:
        """Return coordinates in which the fit is well conditioned."""
        link = objective.model.link
        if isinstance(link, CumulativeLogit):
            return cumulative_coordinates(objective, self.start())
        gram = self.gram
        if objective.ridge is not None:
            # Per person: the other factor of the coordinates has that scale.
            each = self.n * float(np.trace(self.null)) / (self.design.p - 1)
            gram = gram + np.diag(objective.ridge.amount * objective.ridge.free / max(each, 1e-12))
        elif np.linalg.matrix_rank(gram, hermitian=True) < len(gram):
            gram = gram + np.diag(1e-6 * gram.diagonal())
        return whitened(gram, self.null, self.w, link.baseline)


def make_problem(
    blocks: Blocks, columns: CovariateColumns, options: Options, codes: IntArray, amounts: FloatArray, *, rows: float
) -> ResponseProblem:
    """Return the problem with everything known before the fit. Raise if it has no answer.

    Parameters
    ----------
    codes, amounts
        The distinct codes of informative subsets, and how many people reported each.
    rows
        The number of people, regardless of weights.
    """
    design = blocks.design
    require_response(design)
    if not len(codes) or not amounts.sum() > 0:
        raise NoDataError("`data` must contain at least one informative subset; got none.")
    if len(codes) == 1 and not (design.is_known and design.p == 1):
        raise NotIdentifiableError(
            "there must be more than one distinct subset to estimate from; got one, reported by everyone."
        )
    w = shares_of_all(codes, amounts, design)
    leveled = columns.intercept is not None or options.family == "ordinal"  # cut points are intercepts
    check_sizes(blocks, columns, leveled=leveled)
    n, mean, gram = moments(blocks)
    spread = np.sqrt(np.maximum(gram.diagonal() - mean**2, 0.0))
    penalized = options.ridge > 0 or options.lasso > 0
    check_columns(columns, mean, spread, gram, leveled=leveled, penalized=penalized)
    null_loglik = float(amounts @ np.log(design.incidence(codes).inner(w)))
    null = null_information(codes, amounts, design, w)
    ordered = options.family == "ordinal"
    kept = slope_information_kept(null, w) if ordered else information_kept(codes, amounts, design, w)
    problem = ResponseProblem(blocks, columns, options, w, null_loglik, n, mean, spread, gram, null, kept)
    size = problem.model.size
    if not (penalized or options.shrink) and rows < size:
        raise ArgumentError(
            f"`data` must have at least as many people as the model has parameters; got {people(rows)} for "
            f"{counted(size, 'parameter')}.",
            FEWER_COLUMNS,
        )
    return problem


def require_response(design: Design) -> None:
    """Raise if a response of this design cannot be regressed on covariates."""
    if design.covered is not None:
        raise ArgumentError(
            "`designs` must not add dummy rows; got a covered design, whose dummy rows have no covariates.",
            UNCOVERED_RESPONSE,
        )
    if design.p < 2:
        raise ArgumentError(f"the response must have at least two categories; got {design.p}.")
    if design.is_known:
        design.require_identifiable()


@frozen(eq=False, repr=False)
class ColumnRange:
    """The kernel of each column's range: its largest number, and the largest with the opposite sign."""

    def __call__(self, block: Block) -> tuple[FloatArray, ...]:
        """Return the range of the block."""
        return block.X.max(axis=0), (-block.X).max(axis=0)


def check_sizes(blocks: Blocks, columns: CovariateColumns, *, leveled: bool) -> None:
    """Raise if a column is constant, or too small or too large for computation.

    `leveled` tells whether the model has an intercept or cut points besides the columns.
    """
    others = [k for k in range(blocks.d) if k != columns.intercept]
    if not others:
        return
    high, low = blocks.most(ColumnRange())
    low = -low
    size = np.maximum(np.abs(high), np.abs(low))
    constant = [columns.names[k] for k in others if high[k] == low[k] and (leveled or not size[k])]
    if constant:
        raise ArgumentError(
            f"columns of covariates must vary; got the same number for everyone in {', '.join(constant)}.",
            LEAVE_OUT_CONSTANT,
        )
    extreme = [columns.names[k] for k in others if not _SMALLEST < size[k] < 1 / _SMALLEST]
    if extreme:
        raise ArgumentError(
            f"columns of covariates must have a size that can be squared, between {_SMALLEST:g} and "
            f"{1 / _SMALLEST:g}; got {', '.join(extreme)}.",
            SCALE_THE_COLUMN,
        )


def check_columns(
    columns: CovariateColumns, mean: FloatArray, spread: FloatArray, gram: FloatArray, *, leveled: bool, penalized: bool
) -> None:
    """Raise if a column is too far from 0 for computation, or a combination of others."""
    scale = np.sqrt(gram.diagonal())
    others = [k for k in range(len(mean)) if k != columns.intercept and leveled]
    far = [columns.names[k] for k in others if spread[k] <= 1e-7 * scale[k]]
    if far:
        raise ArgumentError(
            f"a column must vary by more than a millionth of its mean; got {', '.join(far)}.", CENTER_THE_COLUMN
        )
    if penalized:
        return
    dependent = _dependent(columns, mean, gram, leveled=leveled)
    if dependent:
        raise ArgumentError(
            "columns of covariates must not be combinations of each other; got one that depends on those before it: "
            f"{', '.join(dependent)}.",
            DROP_A_COLUMN,
        )


def _dependent(columns: CovariateColumns, mean: FloatArray, gram: FloatArray, *, leveled: bool) -> list[str]:
    """Return the columns that are determined by those before them."""
    kept = [k for k in range(len(mean)) if k != columns.intercept]
    S = (gram - np.outer(mean, mean) if leveled else gram)[np.ix_(kept, kept)]
    return [columns.names[kept[k]] for k in dependent_columns(S)]


def dependent_columns(S: FloatArray) -> list[int]:
    """Return the positions of columns determined by those before them, from their products S, by elimination."""
    scale = np.sqrt(S.diagonal())
    S = S / np.outer(scale, scale)
    dependent = []
    for k in range(len(S)):
        if S[k, k] < _DEPENDENT:
            dependent.append(k)
            continue
        S[k + 1 :, k + 1 :] -= np.outer(S[k + 1 :, k], S[k, k + 1 :]) / S[k, k]
    return dependent
