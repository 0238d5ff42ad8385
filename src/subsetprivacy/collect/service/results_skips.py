"""Whether skipping depends on the question: then it may depend on the answer, and nothing repairs that."""

from collections.abc import Callable

import numpy as np
from attrs import evolve, frozen
from scipy.special import ndtri

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.collect.service.results_alarms import Alarm
from subsetprivacy.collect.service.results_counts import Put
from subsetprivacy.collect.service.results_resampling import Sampler
from subsetprivacy.collect.service.results_tests import (
    CheckedOnce,
    Test,
    are_small,
    pairs_test,
    pearson_test,
    settle,
    simulated,
)
from subsetprivacy.collect.survey.submission import SKIPPED
from subsetprivacy.design import Design
from subsetprivacy.honesty.laws import CHI_SQUARE, chi_square_pvalue
from subsetprivacy.report.wording import count_of, share

LEVEL = 0.95
_DENSE = 5  # skips per question on average, from which questions are compared one by one
_FEW = 10
_RANK = 1e-9
_SET = 5e-8  # seconds for one in a sample
_BLOCK, _MOST_CELLS = 200, 1 << 20


@frozen
class OptionSkips:
    """How often people skip when an option is among those asked about, and when it is not."""

    option: str
    asked_with: int
    skipped_with: int
    asked_without: int
    skipped_without: int


@frozen(eq=False)
class Skips(CheckedOnce):
    """How many skip, and whether that depends on what they are asked.

    Attributes
    ----------
    asked, skipped, rate, lower, upper
        People, and the share that skips with its 95% interval (Wilson's).
    test
        The test that skipping does not depend on the question; None where there is nothing to compare, and
        `problem` says why.
    options
        Of yes/no questions: the rates by option.
    """

    asked: int
    skipped: int
    rate: float | None = None
    lower: float | None = None
    upper: float | None = None
    test: Test | None = None
    options: tuple[OptionSkips, ...] = ()
    said: str = ""
    problem: str = ""

    def settled(self, alarm: Alarm) -> "Skips":
        """Return the check at the level of the survey, in words."""
        if not self.asked:
            return self
        test = settle(self.test, alarm)
        return evolve(self, test=test, said=_in_words(test, self.skipped, self.asked))


_SAME = {
    "bit": "Everybody is asked the same, so there are no questions to compare.",
    "local": "The set is drawn after the answer is marked, so there are no questions to compare.",
}


def skips(kind: str, design: Design, put: Put, seed: int) -> Skips:
    """Say how many skip, and test whether that depends on the question."""
    asked, skipped = put.asked, put.skipped
    if not asked:
        return Skips(0, 0, problem="Nothing is released yet.")
    lower, upper = _wilson(skipped, asked)
    options = _by_option(design, put) if kind == "yes_no" else ()
    test, problem = None, _SAME.get(kind, "")
    if not problem and skipped in (0, asked):
        problem = "There is nothing to compare."
    elif not problem:
        test = _questions_test(put, design, seed) if kind == "yes_no" else _groups_test(put, design, seed)
    return Skips(asked, skipped, skipped / asked, lower, upper, test, options, problem=problem)


def _wilson(k: int, n: int) -> tuple[float, float]:
    z = float(ndtri(0.5 + LEVEL / 2))
    middle = (k + z**2 / 2) / (n + z**2)
    half = z * float(np.sqrt(k * (n - k) / n + z**2 / 4)) / (n + z**2)
    return max(0.0, middle - half), min(1.0, middle + half)


def _by_option(design: Design, put: Put) -> tuple[OptionSkips, ...]:
    left = put.answers == SKIPPED
    out = []
    for j, label in enumerate(design.categories):
        inside = (put.shown >> j & 1).astype(np.bool_)
        amounts = [int(put.n[where].sum()) for where in (inside, inside & left, ~inside, ~inside & left)]
        out.append(OptionSkips(str(label), *amounts))
    return tuple(out)


# Yes/no questions -----------------------------------------------------------------------------


def _questions_test(put: Put, design: Design, seed: int) -> Test:
    sets, at = np.unique(put.shown, return_inverse=True)
    asked, skipped = np.zeros(len(sets)), np.zeros(len(sets))
    np.add.at(asked, at, put.n)
    np.add.at(skipped, at, put.n * (put.answers == SKIPPED))
    if skipped.sum() >= _DENSE * len(sets):
        return _table_test(asked, skipped, seed)
    return _options_test((sets[:, None] >> np.arange(design.p) & 1).astype(np.float64), asked, skipped, seed)


def _table_test(asked: FloatArray, skipped: FloatArray, seed: int) -> Test:
    """Test whether all sets are skipped equally often, by Pearson's statistic of the two-row table."""
    rate = skipped.sum() / asked.sum()
    spread = asked * rate * (1 - rate)

    def distance(gone: FloatArray) -> FloatArray:
        return np.asarray(((gone - asked * rate) ** 2 / spread).sum(axis=-1))

    statistic, df = float(distance(skipped)), len(asked) - 1
    if not are_small(asked * rate) and not are_small(asked * (1 - rate)):
        return Test("questions", statistic, df, chi_square_pvalue(statistic, df), CHI_SQUARE)
    return _redrawn("questions", asked, skipped, distance, seed)


def _options_test(held: FloatArray, asked: FloatArray, skipped: FloatArray, seed: int) -> Test:
    r"""Test whether skipping depends on any of the options asked about.

    Notes
    -----
    Given how many skip, those who do are a random sample of all. With a row of memberships :math:`\phi` per set,
    :math:`U = \sum_{skipped}(\phi - \bar\phi)` then has mean 0 and a known covariance V; the statistic is
    :math:`U^\top V^{+} U`.
    """
    n, k = asked.sum(), skipped.sum()
    mean = asked @ held / n
    V = k * (n - k) / max(n - 1, 1) * ((held.T * asked) @ held / n - np.outer(mean, mean))
    values, vectors = np.linalg.eigh(V)
    kept = values > _RANK * max(float(values.max()), 1e-300)
    scaled, df = vectors[:, kept] / np.sqrt(values[kept]), int(kept.sum())

    def distance(gone: FloatArray) -> FloatArray:
        return np.asarray(((((gone @ held) - k * mean) @ scaled) ** 2).sum(axis=-1))

    if not df:
        return Test("options", 0.0, 0, 1.0, CHI_SQUARE)
    if min(k, n - k) >= _DENSE * max(df, _FEW):
        statistic = float(distance(skipped))
        return Test("options", statistic, df, chi_square_pvalue(statistic, df), CHI_SQUARE)
    return _redrawn("options", asked, skipped, distance, seed)


def _redrawn(
    by: str, asked: FloatArray, skipped: FloatArray, distance: Callable[[FloatArray], FloatArray], seed: int
) -> Test:
    """Compare with samples in which as many people skip, any of them."""
    people, k = asked.astype(np.int64), int(skipped.sum())

    def draw(generator: np.random.Generator, number: int) -> FloatArray:
        gone = generator.multivariate_hypergeometric(people, k, number, method="count")
        return distance(gone.astype(np.float64))

    block = max(1, min(_BLOCK, _MOST_CELLS // len(asked)))
    return simulated(by, Sampler(float(distance(skipped)), draw, _SET * (100 + len(asked)), seed, block))


# Questions with groups ------------------------------------------------------------------------


def _groups_test(put: Put, design: Design, seed: int) -> Test:
    """Test whether the questions that were skipped follow the law by which questions are drawn."""
    n = put.n[put.answers == SKIPPED]
    groups = np.array(put.skipped_groups, np.int64)
    questions = design.listed_questions()
    if questions is None:
        return pairs_test(design, groups, n, seed)
    listed, at = np.unique(np.sort(questions[0], axis=1), axis=0, return_inverse=True)
    law = np.bincount(at.ravel(), questions[1], minlength=len(listed)) / questions[1].sum()
    observed = _placed(listed, groups, n)
    if len(listed) < 2:
        return Test("questions", 0.0, 0, 1.0, CHI_SQUARE)
    return pearson_test("questions", observed, law, seed)


def _placed(listed: IntArray, groups: IntArray, n: IntArray) -> IntArray:
    place = {tuple(row): k for k, row in enumerate(listed.tolist())}
    observed = np.zeros(len(listed), np.int64)
    for row, amount in zip(groups.tolist(), n.tolist(), strict=True):
        observed[place[tuple(sorted(row))]] += amount
    return observed


def _in_words(test: Test | None, skipped: int, asked: int) -> str:
    if not skipped:
        return "Nobody skipped."
    if skipped == asked:
        return "Everybody skipped."
    first = f"{count_of(skipped, 'person', 'people')} of {asked:,} skipped ({share(skipped / asked)})."
    if test is None:
        return f"{first} If those who skip differ from the others, the estimate is of the others alone."
    if test.is_alarm:
        return (
            f"{first} Skipping depends on the question. Then it may depend on the answer as well, and skipping "
            " that depends on both biases everything on this page."
        )
    return f"{first} No sign that skipping depends on the question. {test.remark}".strip()
