"""All that the dashboard says of one variable."""

from typing import Any

import numpy as np
from attrs import evolve, frozen

from subsetprivacy.collect.service.results_alarms import Alarm
from subsetprivacy.collect.service.results_counts import Put
from subsetprivacy.collect.service.results_draws import DrawsCheck, audit_draws
from subsetprivacy.collect.service.results_honesty import Honesty, honesty
from subsetprivacy.collect.service.results_leaning import Leaning, leaning
from subsetprivacy.collect.service.results_privacy import Privacy, privacy
from subsetprivacy.collect.service.results_shares import Needed, Shares, fit_shares, lifted, moment_shares, needed
from subsetprivacy.collect.service.results_skips import Skips, skips
from subsetprivacy.collect.service.results_tests import Checked, Test
from subsetprivacy.data import SubsetCounts
from subsetprivacy.messages import Note, NoteKind

_MOMENTS_FAIL = Note(
    NoteKind.MOMENTS,
    "The questions do not come as the design says, and moments rest on that: read the estimate by maximum likelihood.",
)


@frozen(eq=False)
class VariableResult(Checked):
    """What is said of one variable.

    Attributes
    ----------
    id, label, question, kind, design, options
        What was asked, in which way, by which kind of design, with which possible answers.
    title
        What people call it: the label, with the id where another variable has the same label.
    n, answered, skipped
        People asked, and how many of them answered.
    shares
        The estimate by maximum likelihood; None where there is none, and `problem` says why.
    moments, moments_hold
        The estimate by moments, and whether the audit of the draws leaves it standing.
    needed
        How many people make the intervals as short as wanted.
    privacy, draws, leaning, skips, honesty
        What an answer gives away, and the checks of the data.
    notes
        What to bear in mind.
    """

    id: str
    label: str
    question: str
    kind: str
    design: str
    options: tuple[str, ...]
    title: str
    n: int
    answered: int
    skipped: int
    shares: Shares | None
    moments: Shares | None
    moments_hold: bool
    needed: tuple[Needed, ...]
    privacy: Privacy
    draws: DrawsCheck
    leaning: Leaning
    skips: Skips
    honesty: Honesty
    notes: tuple[Note, ...] = ()
    problem: str = ""

    @property
    def tests(self) -> tuple[Test, ...]:
        """The tests of all checks."""
        return (*self.draws.tests, *self.leaning.tests, *self.skips.tests, *self.honesty.tests)

    def settled(self, alarm: Alarm) -> "VariableResult":
        """Return the results with all checks at the level of the survey, in words."""
        draws = self.draws.settled(alarm)
        return evolve(
            self,
            draws=draws,
            leaning=self.leaning.settled(alarm),
            skips=self.skips.settled(alarm),
            honesty=self.honesty.settled(alarm),
            moments_hold=not draws.is_alarm,
            notes=(*self.notes, _MOMENTS_FAIL) if draws.is_alarm else self.notes,
        )


def look_at(held: dict[str, Any], title: str, counts: SubsetCounts, put: Put, seeds: Any) -> VariableResult:
    """Estimate one variable and look at its data; what is an alarm is settled when all variables are looked at.

    Parameters
    ----------
    held
        What the manifest says of it.
    title
        What people call it.
    counts, put
        How often each subset came, and how its question was put and answered.
    seeds
        Gives the seed of a check by its name.
    """
    kind, design, people = str(held["kind"]), counts.design, int(counts.counts.sum())
    found = fit_shares(counts)
    wanted, notes = ((), ()) if found.fit is None else needed(design, found.fit, people)
    w = np.full(design.p, 1 / design.p) if found.fit is None else lifted(found.fit.w, float(found.fit.n))
    return VariableResult(
        **{name: str(held[name]) for name in ("id", "label", "question", "kind")},
        design=design.kind,
        options=tuple(map(str, held["options"])),
        title=title,
        n=people,
        answered=int(counts.n),
        skipped=int(counts.n_missing),
        shares=found.shares,
        moments=None if found.shares is None else moment_shares(counts),
        moments_hold=True,
        needed=wanted,
        privacy=privacy(design, counts, found.fit),
        draws=audit_draws(kind, design, put, seeds("draws")),
        leaning=leaning(kind, design, put, w, seeds("leaning")),
        skips=skips(kind, design, put, seeds("skips")),
        honesty=honesty(counts, seeds("honesty")),
        notes=notes,
        problem=found.problem,
    )
