"""A two-way table of subsets, prepared for tests: its variables and its cells."""

import warnings
from functools import cached_property

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.data import JointCounts, SubsetCounts
from subsetprivacy.data.joint import memberships
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, NotIdentifiableError, SubsetPrivacyWarning, TooLargeError
from subsetprivacy.estimation.dispatch import MAX_JOINT
from subsetprivacy.estimation.likelihood import MANY
from subsetprivacy.estimation.mle import mle
from subsetprivacy.estimation.newton import TOLERANCE
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.estimation.simplex import project
from subsetprivacy.incidence import DenseRows, Kronecker, Listable, joint_incidence
from subsetprivacy.messages.for_tests import PICK_TWO

_MOST_RANKED = 512  # up to so many categories, the rank of the questions asked is computed
_WORTH, _GRID = 16, 1 << 20  # all pairs are cells unless they are many more than those that occur


@frozen(slots=False, eq=False)
class CrossedVariable:
    r"""One variable of the table, with its fit under independence.

    Attributes
    ----------
    name
        The variable.
    counts
        The subsets in complete rows.
    n
        The number of people.
    """

    name: str
    counts: SubsetCounts
    n: float

    @property
    def design(self) -> Design:
        """The variable's design."""
        return self.counts.design

    @property
    def codes(self) -> IntArray:
        """The subsets that occur."""
        return self.counts.observed_codes

    @cached_property
    def n_a(self) -> FloatArray:
        """People per subset; for a weighted sample, scaled to its effective number."""
        return self.n * self.counts.shares

    @cached_property
    def rows(self) -> FloatArray:
        """The rows r_a as a matrix."""
        return self.counts.incidence.inner(np.eye(self.design.p)).T

    @cached_property
    def fit(self) -> Estimate:
        """The maximum likelihood estimate, which under independence does not depend on the other variable."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SubsetPrivacyWarning)  # they are also notes of the estimate
            return mle(self.counts, tol=float(np.clip(5e-7 / self.n, self._finest, TOLERANCE)))

    @property
    def _finest(self) -> float:
        """The smallest useful gap, since the statistics are 2n times a mean log-likelihood with finite precision."""
        return 1e-13 if self.design.p <= MANY else 1e-10

    @cached_property
    def sizes(self) -> FloatArray:
        """The fitted L(a) of the subsets that occur."""
        return self.counts.incidence.inner(self.fit.w)

    @cached_property
    def moments(self) -> FloatArray:
        """The projected moment estimate, mixed with 1/n of the uniform distribution so that no subset is impossible."""
        gamma = self.counts.incidence.spread(self.counts.shares)
        w = project(self.design.solve_informative_Q(gamma))
        return (1 - 1 / self.n) * w + 1 / self.n / self.design.p

    @cached_property
    def probabilities(self) -> FloatArray:
        """The fitted probability of each subset that occurs, given that it is informative."""
        return self.design.mu(self.codes) * self.sizes / (1 - self.design.mu_full)

    @cached_property
    def questions(self) -> IntArray | None:
        """The question that each subset answers, if the subset determines it."""
        return self.design.strata(self.codes)

    def questions_at(self, at: IntArray) -> IntArray:
        """Return the question of the subsets at these positions; all equal if the subsets do not determine it."""
        return np.zeros(len(at), np.int64) if self.questions is None else self.questions[at]

    @cached_property
    def answer_probabilities(self) -> FloatArray:
        """The fitted probability of each subset, given the question if the subset determines it."""
        return self.probabilities if self.questions is None else self.sizes

    @cached_property
    def members(self) -> FloatArray:
        """Which categories each subset contains, as 0 and 1."""
        return memberships(self.design, self.codes)

    @cached_property
    def different_members(self) -> int:
        """The number of columns of `members` that give different 2 x 2 tables: not constant, and not complements."""
        columns = self.members.T
        from_zero = np.where(columns[:, :1] > 0, 1 - columns, columns)
        return len(np.unique(from_zero[from_zero.any(axis=1)], axis=0))

    @cached_property
    def _support(self) -> IntArray:
        """The possible informative subsets."""
        codes = self.design.support()[0]
        return codes[~self.design.is_missing(codes)]

    @property
    def possible(self) -> int:
        """The number of possible informative subsets."""
        return len(self._support)

    @cached_property
    def rank(self) -> int:
        """The number of parameters that the questions asked identify: p - 1 unless too few were asked."""
        p = self.design.p
        if self.questions is None or p > _MOST_RANKED:
            return p - 1
        codes = self._answered()
        gram = self.design.incidence(codes).gram(np.ones(len(codes)))
        centered = gram - gram.mean(axis=0)  # changes of w keep its sum
        return int(np.linalg.matrix_rank(centered - centered.mean(axis=1)[:, None]))

    def _answered(self) -> IntArray:
        """Return all answers to the questions that were asked."""
        if not self.design.enumerable:
            return np.union1d(self.codes, self.design.complement(self.codes))
        asked = self.design.strata(self._support)
        assert asked is not None
        assert self.questions is not None
        return self._support[np.isin(asked, self.questions)]

    def answers(self, question: IntArray) -> IntArray:
        """Return the number of answers to each of these questions."""
        every = self.design.strata(self._support)
        assert every is not None
        distinct, sizes = np.unique(every, return_counts=True)
        return sizes[np.searchsorted(distinct, question)]


@frozen(slots=False, eq=False)
class CellLayout:
    """The layout of a table, or of a batch of tables: a pair of subsets for each cell."""

    first: CrossedVariable
    second: CrossedVariable
    at_a: IntArray
    at_b: IntArray
    is_grid: bool

    @cached_property
    def incidence(self) -> Listable:
        """The rows r_a ⊗ r_b of the cells."""
        return self._pairs(self.first.rows, self.second.rows)

    @cached_property
    def membership(self) -> Listable:
        """The pairs of categories that each pair of subsets contains."""
        return self._pairs(self.first.members, self.second.members)

    def _pairs(self, first: FloatArray, second: FloatArray) -> Listable:
        if self.is_grid:
            return Kronecker(DenseRows(first), DenseRows(second))
        return joint_incidence([(DenseRows(first), self.at_a), (DenseRows(second), self.at_b)])

    def observed(self, n: FloatArray) -> "CellLayout":
        """Return the layout of the cells that occur in one table."""
        at = np.flatnonzero(n)
        return CellLayout(self.first, self.second, self.at_a[at], self.at_b[at], False)

    @cached_property
    def by_question(self) -> tuple[IntArray, IntArray, IntArray]:
        """The order that groups cells by pairs of questions, the start of each group, and the pair of each cell."""
        pairs = np.column_stack([self.first.questions_at(self.at_a), self.second.questions_at(self.at_b)])
        _, pair = np.unique(pairs, axis=0, return_inverse=True)
        order = np.argsort(pair, kind="stable")
        return order, np.searchsorted(pair[order], np.arange(int(pair.max()) + 1)), pair

    def people_asked(self, n: FloatArray) -> FloatArray:
        """Return, for each cell, the number of people who were asked that pair of questions."""
        order, begin, pair = self.by_question
        return np.add.reduceat(n[..., order], begin, axis=-1)[..., pair]


@frozen(slots=False, eq=False)
class Crossing:
    """A table of two variables, prepared for tests.

    Attributes
    ----------
    table
        The counts.
    first, second
        The variables.
    n
        The number of people in complete rows; Kish's effective number if weighted.
    """

    table: JointCounts
    first: CrossedVariable
    second: CrossedVariable
    n: float

    @cached_property
    def cells(self) -> tuple[IntArray, IntArray, FloatArray]:
        """For each pair of subsets that occurs, the positions of both and the number of people."""
        (_, at_a), (_, at_b) = self.table._cells
        return at_a, at_b, self.n * self.table.shares

    @property
    def shape(self) -> tuple[int, int]:
        """The number of subsets of each variable that occur."""
        return len(self.first.codes), len(self.second.codes)

    @property
    def on_grid(self) -> bool:
        """Whether all pairs are cells, so that a batch of tables is one array."""
        grid = self.shape[0] * self.shape[1]
        return grid <= min(max(_WORTH * len(self.cells[2]), 1 << 12), _GRID)

    @cached_property
    def layout(self) -> CellLayout:
        """The layout of the observed table and, on a grid, of all tables with these margins."""
        if not self.on_grid:
            return CellLayout(self.first, self.second, self.cells[0], self.cells[1], False)
        s, r = self.shape
        return CellLayout(self.first, self.second, np.repeat(np.arange(s), r), np.tile(np.arange(r), s), True)

    @cached_property
    def counts(self) -> FloatArray:
        """The observed numbers of people, in the order of `layout`."""
        at_a, at_b, n = self.cells
        if not self.on_grid:
            return n
        out = np.zeros(self.shape)
        out[at_a, at_b] = n
        return out.ravel()


def cross(table: JointCounts) -> Crossing:
    """Prepare a table for tests.

    Raises
    ------
    NotIdentifiableError
        If a design is not identifiable, or all people reported the same subset of a variable.
    NoDataError, ArgumentError, TooLargeError
        If no one answered, there are not two variables, or they have too many combinations.
    """
    if len(table.names) != 2:
        raise ArgumentError(
            f"`table` must have two variables; got {len(table.names)}: {', '.join(table.names)}.", PICK_TWO
        )
    if table.categories.p > MAX_JOINT:
        raise TooLargeError(
            f"a table must have at most {MAX_JOINT:,} combinations of categories; got {table.categories.p:,}."
        )
    table.require_data().design.require_identifiable()
    sides = [CrossedVariable(name, table.margin(name, complete=True), table.n) for name in table.names]
    for side in sides:
        if len(side.codes) < 2:
            raise NotIdentifiableError(
                f"people must have reported more than one subset of {side.name}; got the same one from all "
                f"{table.n:.0f} people."
            )
    return Crossing(table, sides[0], sides[1], table.n)
