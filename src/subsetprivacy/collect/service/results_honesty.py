"""How many people answer by chance, where the design can tell."""

import numpy as np
from attrs import frozen

from subsetprivacy.collect.service.results_tests import ALARM, Test
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import SubsetPrivacyError
from subsetprivacy.honesty import GoodnessOfFit, HonestyCheck, check_honesty
from subsetprivacy.report.gathering import listening
from subsetprivacy.report.wording import sentence, share, unlike

LEVEL = 0.95
REPLICATIONS = 99
LARGE = 50_000_000  # cells times the square of options, beyond which even one fit takes a second
_QUICK = 1e6  # the same for a bootstrap
_SUSPECT = 0.05
_TECHNICAL = ("Answers:", "Draws:", "Rest:", "The draws are not tested")  # the draws have a check of their own
_ROUGH = "Many answers are expected less than five times: the p-value of whether any shares explain them is rough."
_SURE = f"Many answers are expected less than five times: p-values are from {REPLICATIONS} samples drawn from the fit."


@frozen(eq=False)
class Honesty:
    """Whether some shares explain the answers, and how many answers are given by chance.

    Attributes
    ----------
    answers
        The test that some shares explain all answers.
    test, share, se, lower, upper, detectable
        The test that nobody answers by chance; the estimated share, which can be below 0 where there are none;
        its standard error, interval, and the share that is found in 80 of 100 such samples.
    problem
        Why there is no check.
    """

    answers: Test | None = None
    test: Test | None = None
    share: float | None = None
    se: float | None = None
    lower: float | None = None
    upper: float | None = None
    detectable: float | None = None
    said: str = ""
    notes: tuple[str, ...] = ()
    problem: str = ""

    @property
    def is_alarm(self) -> bool:
        """Whether no shares explain the answers, or some are given by chance."""
        return any(test is not None and test.is_alarm for test in (self.answers, self.test))


def honesty(counts: SubsetCounts, seed: int) -> Honesty:
    """Check the answers of one variable.

    The chi-square law is used first. Where counts are small and it would raise an alarm, the alarm is made sure of
    by samples drawn from the fit.
    """
    work = len(counts.observed_codes) * counts.categories.p**2
    if work > LARGE:
        return Honesty(
            problem="There are too many different answers for this check here. The export has them all: "
            "check_honesty of the package takes a few seconds."
        )
    with listening():
        try:
            check = check_honesty(counts, level=LEVEL, method="chi-square")
            if work <= _QUICK and _is_suspect(check):
                check = check_honesty(counts, level=LEVEL, replications=REPLICATIONS, seed=seed)
        except SubsetPrivacyError as error:
            return Honesty(problem=_capital(sentence(str(error))))
    notes = [sentence(text) for text in check.notes if not text.startswith(_TECHNICAL)]
    if check.answers.notes:
        notes.append(_ROUGH if "bootstrap" not in check.answers.law else _SURE)
    return _found(check, tuple(unlike(notes)))


def _is_suspect(check: HonestyCheck) -> bool:
    parts = [check.answers, check.random.test if check.random else None]
    return any(part is not None and part.pvalue < _SUSPECT and bool(check.answers.notes) for part in parts)


def _found(check: HonestyCheck, notes: tuple[str, ...]) -> Honesty:
    answers, chance = _test(check.answers), check.random
    if chance is None:
        return Honesty(answers, said=_in_words(answers, None, 0.0, 1.0), notes=notes)
    lower, upper = check.random_share_interval
    test = _test(chance.test)
    return Honesty(
        answers,
        test,
        chance.share,
        chance.se,
        lower,
        upper,
        chance.detectable,
        _in_words(answers, test, chance.share, chance.detectable),
        notes,
    )


def _test(part: GoodnessOfFit) -> Test:
    return Test("answers", part.statistic, part.df, part.pvalue, part.law)


def _in_words(answers: Test, test: Test | None, found: float, least: float) -> str:
    if test is not None and test.is_alarm:
        return (
            f"About {share(found)} of the answers seem to be given by chance. They pull the estimate towards even "
            "shares."
        )
    if answers.is_alarm:
        return "No shares explain the answers: some people answer wrongly, or not by the design."
    if test is None:
        return f"The answers fit the design (alarm below p = {ALARM}); answers given by chance cannot be told."
    if not np.isfinite(least) or least >= 1:
        return "No sign of answers given by chance, but among so few people none could be found."
    return (
        f"No sign of answers given by chance (alarm below p = {ALARM}). A share of {share(least)} would be found in 80 "
        "of 100 such surveys."
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
