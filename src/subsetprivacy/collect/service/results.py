"""`results`: everything the dashboard shows of a survey, from its released counters alone.

The same counters give the same results, byte for byte: whatever is resampled is seeded by the seal of the last
release. Between releases nothing changes.
"""

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from threading import Lock
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy.collect.service.results_alarms import Alarm
from subsetprivacy.collect.service.results_counts import (
    GroupRows,
    counts_of,
    group_rows,
    joint_counts,
    questions_put,
    seed_of,
)
from subsetprivacy.collect.service.results_document import results_document
from subsetprivacy.collect.service.results_pairs import MOST_PAIRS, PairResult, look_across, too_many
from subsetprivacy.collect.service.results_privacy import Candidates, candidates
from subsetprivacy.collect.service.results_shares import LEVEL
from subsetprivacy.collect.service.results_tests import alarm_for
from subsetprivacy.collect.service.results_variable import VariableResult, look_at
from subsetprivacy.collect.survey.describing import kept_rows
from subsetprivacy.collect.survey.tallies import Release, Released
from subsetprivacy.collect.survey.titles import titles_of
from subsetprivacy.errors import SubsetPrivacyError
from subsetprivacy.report.wording import error_text

__all__ = ["GroupResult", "Results", "results", "results_document"]

_ALONE = Lock()
_SELF_SELECTED = (
    "Self-selected: the link is open to everybody, so these are the shares among those who chose to answer, and "
    "nothing stops a person from answering on two devices."
)
_EMPTY = "Nothing is released yet: results come when the first batch is full and another after it."


@frozen(eq=False)
class GroupResult:
    """Variables whose answers are kept side by side.

    Attributes
    ----------
    variables
        Their ids; a variable that is kept by itself is a group of one.
    fingerprint_bits
        How much a row tells a person from others with the same values: of a question with groups it holds the chosen
        one alone.
    candidates
        How many rows fit the values of one person, in a group of several.
    pairs
        All pairs of its variables.
    """

    variables: tuple[str, ...]
    rows: int
    fingerprint_bits: float
    candidates: Candidates | None
    pairs: tuple[PairResult, ...]
    notes: tuple[str, ...] = ()


@frozen(eq=False)
class Results:
    """All that is said of a survey.

    Attributes
    ----------
    n
        How many people's answers are released.
    locked
        In code mode: codes that were opened and not yet used at the last release.
    self_selected
        Whether people selected themselves (open mode).
    level
        The confidence level of all intervals.
    alarm
        How many tests are made of the data, and below which p-value each is an alarm.
    fingerprint_bits
        How much all remembered questions of a person tell her from others, to whoever sees a whole submission.
    """

    id: str
    fingerprint: str
    title: str
    study: str
    mode: str
    version: int
    is_open: bool
    opened_day: str
    closed_day: str | None
    batch: int
    n: int
    locked: int
    releases: tuple[Release, ...]
    self_selected: bool
    level: float
    alarm: Alarm
    fingerprint_bits: float
    variables: tuple[VariableResult, ...]
    groups: tuple[GroupResult, ...]
    notes: tuple[str, ...] = ()

    @property
    def seal(self) -> str:
        """The seal of the last release; empty before the first."""
        return self.releases[-1].chain_sha256 if self.releases else ""

    def variable(self, name: str) -> VariableResult:
        """Return the results of the variable with this id."""
        return next(one for one in self.variables if one.id == name)

    @property
    def pairs(self) -> tuple[PairResult, ...]:
        """The pairs of all groups."""
        return tuple(pair for group in self.groups for pair in group.pairs)


def results(released: Released) -> Results:
    """Compute everything the dashboard shows of a survey.

    Parameters
    ----------
    released
        The survey and its released counters.

    Notes
    -----
    One at a time: the library's warnings become notes, and Python catches warnings for all threads at once.
    """
    with _ALONE:
        return _results(released)


def _results(released: Released) -> Results:
    manifest = released.manifest
    tables = [group_rows(released, k) for k in range(len(manifest.groups))]
    counts = {name: counts_of(rows, name, manifest.designs[name]) for rows in tables for name in rows.names}
    put = questions_put(released)
    titles = titles_of({held["id"]: held["label"] for held in manifest.variables})
    looks = [
        look_at(held, titles[held["id"]], counts[held["id"]], put[k], partial(seed_of, released, held["id"]))
        for k, held in enumerate(manifest.variables)
    ]
    alarm = alarm_for([test for one in looks for test in one.tests])
    variables = tuple(one.settled(alarm) for one in looks)
    every = sum(len(rows.names) * (len(rows.names) - 1) // 2 for rows in tables)
    return Results(
        **_facts(released),
        level=LEVEL,
        alarm=alarm,
        fingerprint_bits=sum(one.privacy.fingerprint_bits for one in variables),
        variables=variables,
        groups=tuple(_group(released, rows, variables, every) for rows in tables),
        notes=_notes(released, alarm),
    )


def _facts(released: Released) -> dict[str, Any]:
    """Return what is known of the survey and its releases."""
    names = ("id", "fingerprint", "title", "study", "mode", "batch")
    also = ("version", "is_open", "opened_day", "closed_day", "n", "releases")
    return {
        **{name: getattr(released.manifest, name) for name in names},
        **{name: getattr(released, name) for name in also},
        "locked": released.releases[-1].locked if released.releases else 0,
        "self_selected": released.manifest.mode == "open",
    }


def _notes(released: Released, alarm: Alarm) -> tuple[str, ...]:
    empty = "" if released.n else _EMPTY
    chosen = _SELF_SELECTED if released.manifest.mode == "open" else ""
    return tuple(filter(None, (empty, chosen, alarm.note)))


def _group(released: Released, rows: GroupRows, variables: Sequence[VariableResult], every: int) -> GroupResult:
    designs = {name: released.manifest.designs[name] for name in rows.names}
    mine = [one for one in variables if one.id in designs]
    bits = sum(kept_rows(design).bits for design in designs.values())
    if len(rows.names) == 1 or not released.n:
        return GroupResult(rows.names, len(rows.n), bits, None, ())
    shares = {
        one.id: np.full(len(one.options), 1 / len(one.options)) if one.shares is None else one.shares.w for one in mine
    }
    chosen = list(combinations(rows.names, 2))
    pairs = tuple(_pair(released, rows, names, every) for names in chosen[:MOST_PAIRS])
    left = len(chosen) - len(pairs)
    notes = (f"{left} further pairs are left out here; the export has them.",) if left else ()
    fitting = candidates(designs, shares, int(rows.n.sum()))
    return GroupResult(rows.names, len(rows.n), bits, fitting, pairs, notes)


def _pair(released: Released, rows: GroupRows, names: tuple[str, str], every: int) -> PairResult:
    designs = released.manifest.designs
    try:
        counts = joint_counts(rows, names, designs)
    except SubsetPrivacyError as error:
        one, two = (designs[name].categories for name in names)
        return too_many(names, one, two, error_text(error))
    return look_across(counts, min(every, MOST_PAIRS), seed_of(released, "pair", *names))
