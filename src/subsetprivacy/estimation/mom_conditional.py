"""Moments given the questions that were asked: the recommended moment estimator."""

from functools import partial

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.errors import NotIdentifiableError, NotIndependentError
from subsetprivacy.estimation.mom import mean_indicator, moment_estimate
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.estimation.uncertainty import FromMatrix
from subsetprivacy.incidence import Incidence
from subsetprivacy.messages.for_estimates import ANY_DESIGN_OR_DATA, MORE_PEOPLE_OR_MOM

_SURE = 1e-9  # below this probability, another answer counts as impossible


def mom_conditional(counts: SubsetCounts) -> Estimate:
    r"""Estimate w by moments given the questions that were asked.

    Notes
    -----
    With :math:`\hat Q = \sum_a \frac{n_a + n_{a^c}}{n} 1_a 1_a^\top` solve :math:`\hat Q\hat w = \hat\gamma`. Given
    the questions, it is exactly unbiased. It does not need nu, and it is valid even if
    the draws were biased, as long as they did not depend on the value. Given the
    questions, its variance comes from the answers alone. For p = 4, it is the maximum
    likelihood estimate whenever it lies in the simplex.
    For recorded partitions, the sum is over all groups instead of the two sides
    of a question; for several variables, over all combinations of answers.
    """
    if _questions(counts.design, counts.observed_codes) is None:
        raise NotIndependentError(
            f"`method` 'mom-conditional' must have data that tell the question; got a {counts.design.maker} design.",
            ANY_DESIGN_OR_DATA,
        )
    gamma = mean_indicator(counts)
    Q = asked_Q(counts, gamma)
    if np.linalg.cond(Q) > 1e12:
        raise NotIdentifiableError(
            f"the questions asked must identify the distribution; the {counts.incidence.rows} subsets in this sample "
            "do not.",
            MORE_PEOPLE_OR_MOM,
        )
    covariance = partial(_given_groups if _groups(counts.design) else _given_questions, Q)
    w = np.linalg.solve(Q, gamma)
    return moment_estimate(w, counts, "mom-conditional", FromMatrix(covariance), varies=_answers_vary(counts, w))


def _answers_vary(counts: SubsetCounts, w: FloatArray) -> bool:
    """Return whether some question has an uncertain answer; if none has, the variance given the questions is 0."""
    rows = _asked_groups(counts).rows if _groups(counts.design) else counts.incidence
    L = np.clip(rows.inner(w), 0.0, 1.0)
    return bool((L * (1 - L) > _SURE).any())


def _groups(design: Design) -> bool:
    """Return whether a question has more answers than yes and no."""
    return design.product is not None or (design.options or 0) > 2


def _questions(design: Design, codes: IntArray) -> IntArray | None:
    """Return the question that each code answers, a column per variable; None if a code does not determine it."""
    asked = [factor.strata(part) for factor, part in design.by_factor(codes)]
    return None if any(part is None for part in asked) else np.column_stack(asked)  # type: ignore[arg-type]


def asked_Q(counts: SubsetCounts, gamma: FloatArray) -> FloatArray:
    """Return Q-hat, the mean over people of the outer squares of all answers to the question each was asked.

    For yes/no questions these are the row r_a and 1 - r_a.
    """
    if _groups(counts.design):
        asked = _asked_groups(counts)
        return asked.rows.gram(np.repeat(asked.shares, asked.answers))
    inc, f = counts.incidence, counts.shares
    centered = gamma - 0.5  # two halves add up to one
    Q = inc.gram(f + f)
    Q -= centered
    Q -= centered[:, None]
    return Q


@frozen
class _AskedQuestions:
    """The questions that people were asked, with the rows of all their answers.

    Attributes
    ----------
    rows
        The rows of the answers.
    answers
        The number of answers to each question.
    shares
        The share of people who were asked each question.
    at
        The question that each observed code answers.
    """

    rows: Incidence
    answers: int
    shares: FloatArray
    at: IntArray


def _asked_groups(counts: SubsetCounts) -> _AskedQuestions:
    codes = counts.observed_codes
    questions = _questions(counts.design, codes)
    assert questions is not None
    _, first, at = np.unique(questions, axis=0, return_index=True, return_inverse=True)
    answers = counts.design.answers_to(codes[first])
    shares = np.bincount(at, counts.shares).astype(np.float64)
    return _AskedQuestions(counts.design.incidence(answers.ravel()), answers.shape[1], shares, at)


def deviations(counts: SubsetCounts, w: FloatArray) -> FloatArray:
    """Return the effect of each report on the estimate, minus the effect of the question: (subsets, p)."""
    inverse = np.linalg.inv(asked_Q(counts, mean_indicator(counts)))
    rows = counts.incidence.inner(np.eye(counts.categories.p)).T
    if _groups(counts.design):
        asked = _asked_groups(counts)
        answers = asked.rows.inner(np.eye(asked.rows.p)).T * asked.rows.inner(w)[:, None]
        expected = answers.reshape(-1, asked.answers, asked.rows.p).sum(axis=1)[asked.at]
    else:  # yes and no: the row with probability L, and 1 minus the row
        L = counts.incidence.inner(w)[:, None]
        expected = rows * L + (1 - rows) * (1 - L)
    return np.asarray((rows - expected) @ inverse)


def _given_groups(Q: FloatArray, fit: Estimate) -> FloatArray:
    """Return the variance of the answers, given the questions, seen through the inverse of Q-hat."""
    counts, inverse = fit.counts, np.linalg.inv(Q)
    asked = _asked_groups(counts)
    L = np.clip(asked.rows.inner(fit.w), 0.0, 1.0)
    matrix = asked.rows.inner(np.eye(asked.rows.p)).T
    means = (matrix * L[:, None]).reshape(-1, asked.answers, asked.rows.p).sum(axis=1)
    if counts.squares is None:
        # For each question: the mean outer square of the reported row, minus the outer square of the mean.
        M = asked.rows.gram(np.repeat(asked.shares, asked.answers) * L) - (means.T * asked.shares) @ means
        return inverse @ (M / counts.n) @ inverse
    # The squared deviation of each answer, with the squared weights, estimates the variance.
    deviation = counts.incidence.inner(np.eye(asked.rows.p)).T - means[asked.at]
    M = (deviation.T * counts.squares[counts.informative]) @ deviation / counts.total**2
    return inverse @ M @ inverse


def _given_questions(Q: FloatArray, fit: Estimate) -> FloatArray:
    """Return the variance of the answers, given the questions, seen through the inverse of Q-hat."""
    counts = fit.counts
    inverse = np.linalg.inv(Q)
    L = np.clip(counts.incidence.inner(fit.w), 0.0, 1.0)
    if counts.squares is None:
        # r_A changes by e = 2·r_a - 1 between no and yes, with variance L(1-L) for each person asked.
        y = counts.shares * L * (1 - L) / counts.n
    else:
        # The residual of an answer a is (1-L)e; its square, with the squared weights, estimates the variance.
        y = counts.squares[counts.informative] * (1 - L) ** 2 / counts.total**2
    cross = 2 * counts.incidence.spread(y)
    M = 4 * counts.incidence.gram(y) - cross[:, None] - cross[None, :] + y.sum()
    return inverse @ M @ inverse
