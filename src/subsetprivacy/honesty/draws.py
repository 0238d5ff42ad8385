"""Whether the questions were drawn as the design says."""

import numpy as np
from attrs import frozen

from subsetprivacy._choices import FitMethod
from subsetprivacy._types import FloatArray, IntArray, Seed
from subsetprivacy.data import SubsetCounts, SubsetData
from subsetprivacy.errors import NotIdentifiableError, TooLargeError
from subsetprivacy.honesty.laws import CHI_SQUARE, Calibration, chi_square_pvalue, resampled_pvalue
from subsetprivacy.honesty.result import GoodnessOfFit
from subsetprivacy.honesty.several import one_at_a_time, read_counts
from subsetprivacy.honesty.table import require_people
from subsetprivacy.messages.for_tests import DRAWS_OF_ONE_VARIABLE, RECORD_THE_QUESTION


def check_draws(
    data: SubsetData | SubsetCounts, *, method: FitMethod = "auto", replications: int = 499, seed: Seed | None = None
) -> GoodnessOfFit:
    r"""Test whether the questions were drawn with the stated probabilities.

    A broken random generator, an interviewer who prefers some questions, people who ask for another
    question or skip some more than others: all show here, whatever the answers were.

    Parameters
    ----------
    data
        `SubsetData` or `SubsetCounts` of a design whose subsets tell the question (yes/no questions,
        recorded partitions).
    method
        ``"chi-square"``, ``"bootstrap"`` (samples drawn with the stated probabilities), or ``"auto"``:
        chi-square unless expected counts are small.
    replications, seed
        The number of bootstrap samples; a number or a NumPy generator for them.

    Raises
    ------
    NotIdentifiableError
        If the subset does not tell the question, or there is only one.
    TooLargeError
        If there are too many questions to list (`uniform` with more than 22 categories).

    Warns
    -----
    SmallCountWarning
        If the chi-square law is doubtful and a bootstrap would take too long.

    Notes
    -----
    Pearson's statistic of the numbers of people asked each question against
    :math:`n\,(\nu_a + \nu_{a^c})` (`ind_design`), with one degree of freedom less than there are questions.

    Examples
    --------
    >>> from subsetprivacy.data import SubsetCounts
    >>> from subsetprivacy.design import uniform
    >>> steered = SubsetCounts([3, 12, 5, 10, 6, 9], [30, 50, 25, 30, 20, 25], uniform(list("abcd")))
    >>> check = check_draws(steered)
    >>> round(check.statistic, 2), check.df, round(check.pvalue, 3)
    (10.83, 2, 0.004)
    """
    counts = require_people(read_counts(data, DRAWS_OF_ONE_VARIABLE)).require_data()
    calibration = Calibration.of(method, replications, seed)
    part = draws_part(counts, calibration)
    calibration.warn()
    return part


def draws_part(counts: SubsetCounts, calibration: Calibration) -> GoodnessOfFit:
    """Return the test of the draws."""
    questions = _questions(counts)
    expected = questions.n * questions.law
    statistic, df = questions.distance(questions.asked), len(expected) - 1
    resample, notes = calibration.choose(expected, questions.work)
    if resample:
        drawn = calibration.resample(lambda generator: (questions.distance(questions.redraw(generator)),))
        pvalue, law = resampled_pvalue(drawn[:, 0], statistic), calibration.bootstrap
    else:
        pvalue, law = chi_square_pvalue(statistic, df), CHI_SQUARE
    return GoodnessOfFit("draws", statistic, df, pvalue, law, float(expected.min()), notes)


@frozen(slots=False, eq=False)
class _Questions:
    """How many people were asked each question, and with what probability they should have been."""

    asked: IntArray
    law: FloatArray

    @property
    def n(self) -> int:
        return int(self.asked.sum())

    @property
    def _is_long(self) -> bool:
        """Whether drawing people one by one is cheaper than drawing all the counts."""
        return len(self.law) > 4 * self.n

    @property
    def work(self) -> float:
        """The operations of one replication."""
        return 1e5 + 100.0 * (4 * self.n if self._is_long else len(self.law))

    def distance(self, asked: IntArray) -> float:
        """Return Pearson's statistic, by differences: squares of counts of billions do not fit in 64 bits."""
        expected = self.n * self.law
        return float(((asked - expected) ** 2 / expected).sum())

    def redraw(self, generator: np.random.Generator) -> IntArray:
        """Draw as many questions by the stated law."""
        if not self._is_long:
            return generator.multinomial(self.n, self.law)
        people = np.searchsorted(np.cumsum(self.law)[:-1], generator.random(self.n), side="right")
        return np.bincount(people, minlength=len(self.law))


def _questions(counts: SubsetCounts) -> _Questions:
    """Return the numbers of people asked each question of the design.

    Raises
    ------
    NotIdentifiableError, TooLargeError
        If the questions are not told by the subsets, or cannot be listed.
    """
    design = counts.design
    answered = design.strata(counts.observed_codes)
    if answered is None:
        raise NotIdentifiableError(
            f"a subset must tell which question it answers for the draws to be tested; those of a {design.kind} design "
            "do not.",
            one_at_a_time(design, DRAWS_OF_ONE_VARIABLE) or RECORD_THE_QUESTION,
        )
    if not design.enumerable:
        raise TooLargeError(
            f"draws are tested over all questions; a {design.kind} design on {design.p} categories has too many."
        )
    codes, mu = design.support()
    told = ~design.is_missing(codes)
    names, first = np.unique(np.asarray(design.strata(codes[told])), return_index=True)
    if len(names) < 2:
        raise NotIdentifiableError("there must be two questions or more for draws to be tested; got one.")
    law = mu[told][first]  # the two answers to a question have the same mu: the probability that it is asked
    asked = np.bincount(np.searchsorted(names, answered), weights=counts.n_a, minlength=len(names))
    return _Questions(asked.astype(np.int64), law / law.sum())
