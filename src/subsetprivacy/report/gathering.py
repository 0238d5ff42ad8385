"""What the page says about each column, as numbers; caveats and warnings of the library as notes."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from attrs import field, frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.auditing import Audit, audit
from subsetprivacy.data import JointCounts, SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.errors import (
    BoundaryWarning,
    BudgetWarning,
    ConvergenceWarning,
    NotPrivateWarning,
    NotUniqueWarning,
    SmallCountWarning,
    SubsetPrivacyError,
    SubsetPrivacyWarning,
)
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.likelihood import MANY
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.planning import RepeatRisk, repeat_risk
from subsetprivacy.report.wording import error_text, unlike

MOST_SHOWN, SHOWN = 24, 20  # categories up to which all are shown, and how many of more


class Source(Protocol):
    """What the page needs of a release: designs and counts, never a row."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def designs(self) -> Mapping[str, Design]:
        """The design of each column."""

    @property
    def rows(self) -> int:
        """The number of rows."""

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that are published as they are."""

    def alone(self) -> int | None:
        """Return how many rows are alone in the columns that are kept."""

    def count(self, column: str) -> Any:
        """Return the counts of one column."""

    def crosstab(self, *columns: str) -> Any:
        """Return the joint counts of several columns."""


@frozen(eq=False)
class Column:
    """What is said of one column.

    Attributes
    ----------
    name, design, counts
        The column.
    fit, bounds, by_ratio
        The estimate, its intervals, and whether they rest on the likelihood ratio; None where there is no estimate.
    audit, repeat
        What the column gives away, and what a second draw would.
    notes
        The caveats.
    problem
        Why there is no estimate; empty where there is one.
    """

    name: str
    design: Design
    counts: SubsetCounts
    fit: Estimate | None = None
    bounds: FloatArray | None = None
    by_ratio: bool = False
    audit: Audit | None = None
    repeat: RepeatRisk | None = None
    notes: tuple[Note, ...] = ()
    problem: str = ""

    @cached_property
    def shown(self) -> IntArray:
        """The positions of the categories that are shown: all in their order, or the largest of many, falling."""
        if self.fit is None:
            return np.arange(0)
        p = len(self.fit.w)
        return np.arange(p) if p <= MOST_SHOWN else np.argsort(-self.fit.w, kind="stable")[:SHOWN]

    @property
    def is_cut(self) -> bool:
        """Whether there are more categories than are shown."""
        return self.fit is not None and len(self.shown) < len(self.fit.w)

    @property
    def people(self) -> float:
        """The people whose subset says something, without dummy rows."""
        return self.counts.n * self.design.real_share


@frozen(eq=False)
class Heard:
    """The warnings that were heard: what the library says once to a programmer, the page says to its readers."""

    notes: list[Note] = field(factory=list)


@contextmanager
def listening() -> Iterator[Heard]:
    """Collect the library's warnings; those of others pass."""
    heard = Heard()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield heard
    for one in caught:
        if isinstance(one.message, SubsetPrivacyWarning):
            heard.notes.append(_note_of(one.message))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


_KINDS: Mapping[type[SubsetPrivacyWarning], NoteKind] = {
    BoundaryWarning: NoteKind.BOUNDARY,
    SmallCountWarning: NoteKind.SMALL_COUNTS,
    NotUniqueWarning: NoteKind.NOT_UNIQUE,
    ConvergenceWarning: NoteKind.NOT_CONVERGED,
    BudgetWarning: NoteKind.BUDGET,
    NotPrivateWarning: NoteKind.NOT_PRIVATE,
}


def _note_of(warning: SubsetPrivacyWarning) -> Note:
    return Note(_KINDS.get(type(warning), NoteKind.ASSUMPTION), warning.message, warning.advice)


def look_at(name: str, counts: SubsetCounts, level: float) -> Column:
    """Estimate and audit one column; what cannot be done is said in `problem`."""
    design = counts.design
    with listening() as heard:
        try:
            fit = fitted(counts)
            told = fit.to_dict(level)
        except SubsetPrivacyError as error:
            return Column(name, design, counts, problem=error_text(error))
        # Of a column that holds several variables under one code: what the combinations give away.
        given = attempt(lambda: estimate(counts).w) if isinstance(counts, JointCounts) else None
        report = attempt(audit, counts, given, level=level)
        repeat = attempt(repeat_risk, design, None if report is None else report.setting.w)
    notes = unlike((*fit.notes, *heard.notes))
    bounds = np.column_stack([told["lower"], told["upper"]])
    return Column(name, design, counts, fit, bounds, "adjusted" in told["interval"], report, repeat, notes)


def fitted(counts: SubsetCounts) -> Estimate:
    """Return the maximum likelihood estimate, or that by moments where the categories are too many for it."""
    fit = estimate(counts)
    p = fit.categories.p
    if p > MANY and (3 * len(fit.on_boundary) > p or not np.isfinite(fit._shown_se).any()):
        return attempt(estimate, counts, method="mom") or fit
    return fit


def attempt(work: Any, *arguments: Any, **options: Any) -> Any:
    """Return what the work gives, or None where the library refuses it."""
    try:
        return work(*arguments, **options)
    except SubsetPrivacyError:
        return None
