"""How many people answer by chance, where the design can tell."""

import numpy as np
from attrs import evolve, field, frozen
from scipy.special import ndtri

from subsetprivacy.collect.service.results_alarms import Alarm
from subsetprivacy.collect.service.results_honesty_samples import answer_samplers
from subsetprivacy.collect.service.results_tests import UNSHOWN, Checked, Test, settle
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import NotIdentifiableError, SubsetPrivacyError
from subsetprivacy.honesty import GoodnessOfFit, HonestyCheck, check_honesty
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.report.gathering import listening
from subsetprivacy.report.wording import capital, error_text, share, unlike

LEVEL = 0.95
LARGE = 50_000_000  # cells times the square of options, beyond which even one fit takes a second
_SUSPECT = 0.05
_POWER = 0.8
# What p-values rest on is said by the check itself, and the draws have a check of their own.
_TECHNICAL = (NoteKind.NULL_LAW, NoteKind.SMALL_COUNTS, NoteKind.BUDGET, NoteKind.NOT_TESTED)
_ANY_FITS = (
    "Answers given by chance cannot be told from honest ones here: whatever mix of answers comes, some shares explain "
    "it."
)
_SMALL = "Many answers are expected less than five times"


@frozen(eq=False)
class Honesty(Checked):
    """Whether some shares explain the answers, and how many answers are given by chance.

    Attributes
    ----------
    answers
        The test that some shares explain all answers.
    test, share, se, lower, upper, detectable
        The test that nobody answers by chance; the estimated share, which can be below 0 where there are none;
        its standard error, interval, and the share that raises an alarm in 80 of 100 such samples.
    problem
        Why there is no check.
    is_small
        Whether counts are too small for the chi-square law.
    """

    answers: Test | None = None
    test: Test | None = None
    share: float | None = None
    se: float | None = None
    lower: float | None = None
    upper: float | None = None
    detectable: float | None = None
    said: str = ""
    notes: tuple[Note, ...] = ()
    problem: str = ""
    is_small: bool = field(default=False, metadata=UNSHOWN)

    @property
    def tests(self) -> tuple[Test, ...]:
        """The tests that are made."""
        return tuple(test for test in (self.answers, self.test) if test is not None)

    def settled(self, alarm: Alarm) -> "Honesty":
        """Return the check at the level of the survey, in words."""
        answers = settle(self.answers, alarm)
        if answers is None:
            return self
        test = settle(self.test, alarm)
        least = None if self.se is None else float(ndtri(_POWER) - ndtri(alarm.level)) * self.se  # one side only
        check = evolve(self, answers=answers, test=test, detectable=least)
        return evolve(check, said=_in_words(check), notes=(*self.notes, *_laws(self, check)))


def honesty(counts: SubsetCounts, seed: int) -> Honesty:
    """Check the answers of one variable.

    The chi-square law is used first. Where counts are small and it is near an alarm, the alarm is made sure of by
    samples drawn from the fit.
    """
    if len(counts.observed_codes) * counts.categories.p**2 > LARGE:
        return Honesty(
            problem="There are too many different answers for this check here. The export has them all: "
            "check_honesty of the package takes a few seconds."
        )
    with listening():
        try:
            check = check_honesty(counts, level=LEVEL, method="chi-square")
        except NotIdentifiableError as error:
            return Honesty(problem=_ANY_FITS, notes=(Note(NoteKind.NOT_TESTED, capital(error.message)),))
        except SubsetPrivacyError as error:
            return Honesty(problem=capital(error_text(error)))
    answers, test = _tests(check, seed)
    notes = unlike(note for note in check.notes if note.kind not in _TECHNICAL)
    held = Honesty(answers, test, notes=notes, is_small=bool(check.answers.notes))
    if check.random is None:
        return held
    lower, upper = check.random_share_interval
    return evolve(held, share=check.random.share, se=check.random.se, lower=lower, upper=upper)


def _tests(check: HonestyCheck, seed: int) -> tuple[Test, Test | None]:
    """Return the two tests, with a way to draw samples where their laws are doubtful and it matters."""
    answers, test = _plain(check.answers), None if check.random is None else _plain(check.random.test)
    suspect = [one is not None and one.pvalue < _SUSPECT for one in (answers, test)]
    if not check.answers.notes or not any(suspect):  # counts are large, or nothing hangs on them
        return answers, test
    of_answers, of_chance = answer_samplers(check.counts, (seed, seed ^ 1))
    if suspect[0]:
        answers = evolve(answers, sampler=of_answers)
    return answers, evolve(test, sampler=of_chance) if test is not None and suspect[1] else test


def _plain(part: GoodnessOfFit) -> Test:
    return Test("answers", part.statistic, part.df, part.pvalue, part.law)


def _laws(look: Honesty, check: Honesty) -> tuple[Note, ...]:
    """Say what p-values rest on where counts are small, from the check before and after it was settled."""
    return (Note(NoteKind.NULL_LAW, f"{_SMALL}: {_law(look, check)}"),) if check.is_small else ()


def _law(look: Honesty, check: Honesty) -> str:
    drawn = " and ".join(f"{test.samples:,}" for test in check.tests if test.samples)
    both = zip(look.tests, check.tests, strict=True)
    if any(before.sampler is not None and not after.samples for before, after in both):
        return (
            "p-values are rough. The samples that would make sure of an alarm take too long here; check_honesty of the "
            "package draws them from the export."
        )
    if drawn:
        return f"a p-value near an alarm is from samples drawn from the fit ({drawn})."
    return "the p-value of whether any shares explain them is rough."


def _in_words(check: Honesty) -> str:
    if check.test is not None and check.test.is_alarm:
        return (
            f"About {share(check.share or 0.0)} of the answers seem to be given by chance. They pull the "
            "estimate towards even shares."
        )
    if check.is_alarm:
        return "No shares explain the answers: some people answer wrongly, or not by the design."
    if check.test is None:
        return "The answers fit the design. Answers given by chance cannot be told from honest ones here."
    least = check.detectable
    if least is None or not np.isfinite(least) or least >= 1:
        return "No sign of answers given by chance, but among so few people none could be found."
    return f"No sign of answers given by chance. A share of {share(least)} would be found in 80 of 100 such surveys."
