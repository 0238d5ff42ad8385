"""The answers to the questions that were asked, as a table of cells."""

from functools import cached_property

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.errors import TooLargeError
from subsetprivacy.honesty.reading import one_at_a_time, require_people
from subsetprivacy.incidence import MAX_MATRIX
from subsetprivacy.messages.for_tests import DRAWS_SOLVE_NONE


@frozen(slots=False, eq=False)
class AnswerTable:
    r"""Every possible answer, with the number of people who gave it.

    With a row :math:`r_a` per cell the expected count is :math:`t_a\, r_a^\top w`. If the subset determines the
    question, the questions are strata: :math:`t_a` is the number of people who were asked that question, and nothing is
    assumed about how questions were drawn. Otherwise all subsets form one stratum with
    :math:`t_a = n\mu_a/(1-\mu_{[p]})`. In both cases :math:`\sum_a t_a r_a = n 1`.

    Attributes
    ----------
    design
        The design of the counts.
    codes
        The cells, grouped by question.
    observed
        People per cell.
    exposure
        The factors t.
    question
        The index of the question (0, 1, 2 …) of each cell.
    is_stratified
        Whether the subsets determine the questions.
    """

    design: Design
    codes: IntArray
    observed: FloatArray
    exposure: FloatArray
    question: IntArray
    is_stratified: bool

    @cached_property
    def n(self) -> float:
        """The number of people."""
        return float(self.observed.sum())

    @cached_property
    def asked(self) -> IntArray:
        """The number of people who were asked each question."""
        return np.bincount(self.question, weights=self.observed).astype(np.int64)

    @property
    def free_cells(self) -> int:
        """The degrees of freedom of the answers: the cells of each question minus one."""
        return len(self.codes) - len(self.asked)

    @cached_property
    def _slot(self) -> IntArray:
        """The position of each cell within its question."""
        return np.arange(len(self.codes)) - np.searchsorted(self.question, self.question)

    def redraw(self, expected: FloatArray, generator: np.random.Generator) -> FloatArray:
        """Draw new answers to the same questions from the expected counts."""
        probabilities = np.zeros((len(self.asked), int(self._slot.max()) + 1))
        probabilities[self.question, self._slot] = expected
        drawn = generator.multinomial(self.asked, probabilities / probabilities.sum(axis=1, keepdims=True))
        return drawn[self.question, self._slot].astype(np.float64)


def tabulate(counts: SubsetCounts) -> AnswerTable:
    """Return the table of answers of these counts.

    Raises
    ------
    ArgumentError
        If the people are weighted, since the tests need counts.
    TooLargeError, UnknownDesignError
        If the cells cannot be listed.
    """
    require_people(counts).require_data()
    if counts.categories.p > MAX_MATRIX:
        raise TooLargeError(
            f"the honesty check solves one equation per category and must have at most {MAX_MATRIX}; "
            f"got {counts.categories.p}.",
            one_at_a_time(counts.design) or DRAWS_SOLVE_NONE,
        )
    codes, question = _cells(counts)
    observed = np.zeros(len(codes))
    order = np.argsort(codes)
    observed[order[np.searchsorted(codes, counts.observed_codes, sorter=order)]] = counts.n_a
    if question is not None:
        asked = np.bincount(question, weights=observed).astype(np.float64)
        return AnswerTable(counts.design, codes, observed, asked[question], question, True)
    exposure = counts.total * counts.design.mu(codes) / (1 - counts.design.mu_full)
    return AnswerTable(counts.design, codes, observed, exposure, np.zeros(len(codes), np.int64), False)


def _cells(counts: SubsetCounts) -> tuple[IntArray, IntArray | None]:
    """Return all cells of the questions that were asked, by question, and the question of each cell."""
    design, seen = counts.design, counts.observed_codes
    asked = design.strata(seen)
    if asked is not None and design.options == 2 and not design.enumerable:
        codes = np.union1d(seen, design.complement(seen))
    else:
        if (alone := one_at_a_time(design)) and not design.enumerable:
            raise TooLargeError(
                "the answers to several variables together must be few enough to be listed; got too many combinations.",
                alone,
            )
        support = design.support()[0]  # raises if it cannot be listed
        codes = support[~design.is_missing(support)]
    question = design.strata(codes)
    if asked is None or question is None:
        return codes, None
    kept = np.isin(question, asked)
    _, number = np.unique(question[kept], return_inverse=True)
    order = np.argsort(number, kind="stable")
    return codes[kept][order], number[order]
