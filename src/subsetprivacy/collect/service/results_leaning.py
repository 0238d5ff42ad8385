"""Whether people lean to yes, or to a place on the screen, whatever they are asked."""

import numpy as np
from attrs import evolve, frozen
from scipy.special import ndtr, ndtri

from subsetprivacy._types import FloatArray
from subsetprivacy.collect.service.results_alarms import Alarm
from subsetprivacy.collect.service.results_counts import Put
from subsetprivacy.collect.service.results_tests import CheckedOnce, Test, pearson_test, settle
from subsetprivacy.design import Design
from subsetprivacy.report.wording import share

LEVEL = 0.95
SOME = 0.05  # the share of yes-sayers whose detection is stated
_POWER = 0.8


@frozen(eq=False)
class Leaning(CheckedOnce):
    r"""How many more people say yes (or take a place) whatever is asked than say no.

    Attributes
    ----------
    n
        The answers that were looked at.
    share, se, lower, upper
        Of yes/no questions the estimated share of people who say yes whatever is asked, less the share who say no;
        its standard error and 95% interval. None where there are no such questions.
    detectable
        The share that raises an alarm in 80 of 100 such samples.
    power
        In how many such samples a share of 5% does.
    positions
        Of questions with groups: how often each place was chosen, from the first.
    test
        The test that there is no leaning; None where the design does not allow one, and `problem` says why.

    Notes
    -----
    Whether a set or its complement is asked about is a fair draw, so that an answer that leaves the set A is
    "yes, to A" as often as "no, to the rest". With the weights :math:`f = 1 - L(A)`, which make it most precise, the
    sum R of f over the yes less that over the no has mean 0 and variance :math:`\sum f^2` for honest people,
    whatever the estimate of L; every person who always says yes adds 1/2 on average, because
    :math:`L(a) + L(a^c) = 1`. The share is 2R/n.
    """

    n: int
    share: float | None = None
    se: float | None = None
    lower: float | None = None
    upper: float | None = None
    detectable: float | None = None
    power: float | None = None
    positions: tuple[int, ...] = ()
    test: Test | None = None
    said: str = ""
    problem: str = ""

    def settled(self, alarm: Alarm) -> "Leaning":
        """Return the check at the level of the survey, in words."""
        test = settle(self.test, alarm)
        if test is None:
            return self
        if self.share is None or self.se is None:
            return evolve(self, test=test, said=_place_in_words(test, self.positions))
        least = (_bar(alarm.level) + float(ndtri(_POWER))) * self.se
        return evolve(
            self,
            test=test,
            detectable=least,
            power=power_for(SOME, self.se, alarm.level),
            said=_yes_in_words(test, self.share, least),
        )


_NO_QUESTION = {
    "bit": "Everybody answers the same question, so people who always say “the same” look like honest ones.",
    "local": "People mark their answer on their own device: there is no yes to lean to.",
}


def leaning(kind: str, design: Design, put: Put, w: FloatArray, seed: int) -> Leaning:
    """Test whether people lean to yes or to a place.

    Parameters
    ----------
    kind, design, put
        The kind of question, its design, and how it was put and answered.
    w
        The estimated shares of the options; even ones where there is no estimate.
    seed
        For the law of few answers.
    """
    answered = put.asked - put.skipped
    if kind in _NO_QUESTION:
        return Leaning(answered, problem=_NO_QUESTION[kind])
    if not answered:
        return Leaning(0, problem="Nobody has answered yet.")
    return _to_yes(design, put, w) if kind == "yes_no" else _to_a_place(design, put, seed)


def _to_yes(design: Design, put: Put, w: FloatArray) -> Leaning:
    yes, no = put.answers == 0, put.answers == 1
    n = float(put.n[yes | no].sum())
    size = design.incidence(put.shown).inner(w)
    total = float(put.n[yes] @ (1 - size[yes]) - put.n[no] @ size[no])
    variance = float(put.n[yes] @ (1 - size[yes]) ** 2 + put.n[no] @ size[no] ** 2)
    estimate, se = 2 * total / n, 2 * float(np.sqrt(variance)) / n
    half = float(ndtri(0.5 + LEVEL / 2)) * se
    z = estimate / se
    test = Test("sides", z, None, 2 * float(ndtr(-abs(z))), "normal")
    return Leaning(round(n), estimate, se, max(estimate - half, -1.0), min(estimate + half, 1.0), test=test)


def _bar(level: float) -> float:
    """Return how many standard errors from 0, either way, a test at this level rejects."""
    return float(-ndtri(level / 2))


def power_for(leaning: float, se: float, level: float) -> float:
    """Return the probability that the test at a level finds a leaning of this size."""
    bar, shift = _bar(level), leaning / se
    return float(ndtr(shift - bar) + ndtr(-shift - bar))


def _yes_in_words(test: Test, estimate: float, least: float) -> str:
    if test.is_alarm:
        side = "yes" if estimate > 0 else "no"
        return (
            f"About {share(abs(estimate))} of the people seem to say {side} whatever they are asked. "
            "Such answers pull the estimate towards even shares."
        )
    unseen = (
        "Among so few people none could be found."
        if least >= 1
        else f"A share of {share(least)} would be found in 80 of 100 such surveys, a smaller one less often."
    )
    return f"No leaning to yes or no was found. {unseen}"


def _to_a_place(design: Design, put: Put, seed: int) -> Leaning:
    m = design.options
    assert m is not None
    chosen = put.answers >= 0
    counts = np.bincount(put.answers[chosen], weights=put.n[chosen], minlength=m).astype(np.int64)
    test = pearson_test("positions", counts, np.full(m, 1 / m), seed)
    return Leaning(int(counts.sum()), positions=tuple(counts.tolist()), test=test)


def _place_in_words(test: Test, positions: tuple[int, ...]) -> str:
    if test.is_alarm:
        return (
            f"Place {positions.index(max(positions)) + 1} is chosen too often: groups stand in a random order, "
            "so each should come equally often. Such answers pull the estimate towards even shares."
        )
    return f"No place on the screen is chosen too often. {test.remark}".strip()
