"""The findings of one column. Each part is computed when it is first used."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from subsetprivacy.auditing import Audit
from subsetprivacy.data import GroupedCounts, QuestionCounts, SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.errors import SubsetPrivacyError
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.finding.captured_warnings import capture_warnings, distinct
from subsetprivacy.finding.privacy import PrivacyFindings, audited, privacy_findings
from subsetprivacy.finding.settings import FindingsSettings
from subsetprivacy.finding.shares import (
    DifferenceFindings,
    GroupFindings,
    PeopleNeeded,
    ShareFindings,
    difference_findings,
    fitted,
    group_findings,
    moment_findings,
    people_needed,
    share_findings,
)
from subsetprivacy.honesty.all_checks import VariableChecks
from subsetprivacy.honesty.data_check import problem_of
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.tables import label_text

_MOMENTS_FAIL = Note(
    NoteKind.MOMENTS,
    "The questions were not drawn as the design states, but moment estimates assume that they were. Use the maximum "
    "likelihood estimate.",
)


@frozen(slots=False, eq=False, repr=False)
class VariableFindings:
    """The findings of one column: shares, differences, privacy, checks.

    Attributes
    ----------
    name, title
        The column, and its title for readers.
    counts, questions
        How often each subset was reported, and how the questions were asked, if that is known.
    settings
        The settings of all computations.
    """

    DOCUMENT: ClassVar[tuple[str, ...]] = (
        "name",
        "title",
        "design_kind",
        "design_fingerprint",
        "categories",
        "people",
        "answered",
        "missing",
        "dummies",
        "is_weighted",
        "shares",
        "moments",
        "moments_hold",
        "needed",
        "difference",
        "groups",
        "privacy",
        "checks",
        "alarms",
        "notes",
        "problem",
    )

    name: str
    title: str
    counts: SubsetCounts
    settings: FindingsSettings
    questions: QuestionCounts | None = None
    earlier: Callable[[], tuple[str, Estimate | None] | None] = field(default=lambda: None)
    grouped: Callable[[], GroupedCounts[SubsetCounts] | None] = field(default=lambda: None)
    checked: Callable[[], VariableChecks | None] = field(default=lambda: None)

    def __repr__(self) -> str:
        return f"<VariableFindings of {self.name!r}: {self.answered:.0f} people, {len(self.categories)} categories>"

    # Who answered -----------------------------------------------------------------------------

    @property
    def design(self) -> Design:
        """The design."""
        return self.counts.design

    @property
    def design_kind(self) -> str:
        """The kind of design."""
        return self.design.kind

    @cached_property
    def design_fingerprint(self) -> str:
        """The fingerprint of the design; empty if its labels cannot be written as JSON."""
        try:
            return self.design.fingerprint
        except (TypeError, ValueError):  # labels that JSON does not have
            return ""

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories of the shares, as text."""
        categories = self.design.categories if self.fit is None else self.fit.categories
        return tuple(map(label_text, categories.labels))

    @property
    def people(self) -> float:
        """All people, including those who did not answer; with sampling weights, the sum of the weights."""
        return self.answered + self.missing

    @property
    def answered(self) -> float:
        """The people with an informative subset, without dummy rows."""
        return float(self.counts.n) * self.design.real_share

    @property
    def missing(self) -> float:
        """The rows with the full set, because the answer is missing or the full set was drawn."""
        return float(self.counts.n_missing)

    @property
    def dummies(self) -> float:
        """The dummy rows, which belong to no one."""
        return float(self.counts.n) - self.answered

    @property
    def is_weighted(self) -> bool:
        """Whether rows have sampling weights; then people are effective numbers."""
        return self.counts.squares is not None

    # Shares -----------------------------------------------------------------------------------

    @cached_property
    def _fitted(self) -> tuple[Estimate | None, tuple[Note, ...], Note | None]:
        with capture_warnings() as captured:
            try:
                fit = fitted(self.counts)
            except SubsetPrivacyError as error:
                return None, (), problem_of(error, NoteKind.NO_ESTIMATE)
        return fit, tuple(captured.notes), None

    @property
    def fit(self) -> Estimate | None:
        """The estimate; None if there is none, and `problem` says why."""
        return self._fitted[0]

    @property
    def problem(self) -> Note | None:
        """Why there is no estimate; None if there is one."""
        return self._fitted[2]

    @cached_property
    def shares(self) -> ShareFindings | None:
        """The estimated shares with intervals."""
        fit, captured, _ = self._fitted
        return None if fit is None else share_findings(fit, self.settings.level, captured=captured)

    @property
    def is_unique(self) -> bool:
        """Whether no other shares fit as well, so that one of them can be called the largest."""
        return self.fit is not None and NoteKind.NOT_UNIQUE not in {note.kind for note in self.fit.notes}

    @cached_property
    def moments(self) -> ShareFindings | None:
        """The estimate by moments, for comparison."""
        return None if self.fit is None else moment_findings(self.counts, self.settings.level)

    @cached_property
    def moments_hold(self) -> bool:
        """Whether the check of the draws does not contradict the estimate by moments."""
        return self.checks is None or not self.checks.draws.is_alarm

    @cached_property
    def _needed(self) -> tuple[tuple[PeopleNeeded, ...], tuple[Note, ...]]:
        if self.fit is None or not self.fit.n:
            return (), ()
        with capture_warnings():
            return people_needed(self.design, self.fit, self.people, self.settings.level)

    @property
    def needed(self) -> tuple[PeopleNeeded, ...]:
        """How many people are needed for intervals of the wanted width."""
        return self._needed[0]

    @cached_property
    def difference(self) -> DifferenceFindings | None:
        """The differences of the shares from an earlier wave; None if there is none."""
        before = self.earlier()
        if before is None:
            return None
        name, then = before
        if self.fit is None or then is None:
            text = "There is no estimate of both waves to compare."
            return DifferenceFindings(name, self.answered, 0.0, problem=Note(NoteKind.NO_ESTIMATE, text))
        return difference_findings(self.fit, then, name, self.settings.level)

    @cached_property
    def groups(self) -> GroupFindings | None:
        """The shares by group; None if no groups were requested."""
        grouped = self.grouped()
        return None if grouped is None else group_findings(grouped, self.settings.level)

    # Privacy and checks -------------------------------------------------------------------------

    @cached_property
    def audit(self) -> Audit | Note:
        """The audit of the column, or why there is none."""
        return audited(self.counts, self.fit, self.settings.level)

    @cached_property
    def _privacy(self) -> PrivacyFindings | Note:
        return self.audit if isinstance(self.audit, Note) else privacy_findings(self.audit, self.counts, self.fit)

    @property
    def privacy(self) -> PrivacyFindings | None:
        """What a report reveals about a person. None if that is unknown."""
        return None if isinstance(self._privacy, Note) else self._privacy

    @cached_property
    def checks(self) -> VariableChecks | None:
        """The checks of the data, at the alarm level of all columns together. None for sampling weights."""
        return self.checked()

    @property
    def alarms(self) -> int:
        """How many checks raise an alarm."""
        return 0 if self.checks is None else sum(check.is_alarm for _, check in self.checks.items())

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Caveats of the column as a whole."""
        refused = [self._privacy] if isinstance(self._privacy, Note) else []
        moments = [] if self.moments_hold else [_MOMENTS_FAIL]
        return distinct([*self._needed[1], *refused, *moments, *self._other_people()])

    def _other_people(self) -> list[Note]:
        """Return a note if the numbers of questions and reports show that they are not from the same people."""
        if self.questions is None or self.is_weighted or abs(self.questions.asked - self.people) < 1:
            return []
        text = (
            f"The questions are those of {self.questions.asked:,} people and the reports those of {self.people:,.0f}. "
            "The checks of draws, leaning and skips do not cover all of them."
        )
        return [Note(NoteKind.LEFT_OUT, text)]

    def columns(self) -> dict[str, Any]:
        """Return the rows of this column in a data frame: a row per category."""
        p, shares = len(self.categories), self.shares
        known = (
            (np.full(p, np.nan),) * 4 if shares is None else (shares.estimate, shares.se, shares.lower, shares.upper)
        )
        estimate, se, lower, upper = known
        return {
            "variable": [self.name] * p,
            "category": list(self.categories),
            "estimate": estimate,
            "se": se,
            "lower": lower,
            "upper": upper,
            "level": np.full(p, self.settings.level),
        }
