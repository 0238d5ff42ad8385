"""What a report of one column reveals about a person, compared with what is known without it."""

from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.auditing import Audit, audit
from subsetprivacy.data import JointCounts, SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.errors import SubsetPrivacyError
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.finding.captured_warnings import attempt, capture_warnings
from subsetprivacy.honesty.data_check import problem_of
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.planning import repeat_risk
from subsetprivacy.privacy.attacker import Setting
from subsetprivacy.tables import label_text

MOST_SETS = 10
MOST_MEMBERS = 100  # categories of a report that are named


@frozen
class LeakageFindings:
    """One measure of what a report reveals.

    Attributes
    ----------
    leakage, lower, upper
        At the estimated shares, with its interval where there is one.
    baseline, nonprivate
        The same without any report, and if the value itself were reported.
    """

    leakage: float
    baseline: float
    nonprivate: float
    lower: float | None = None
    upper: float | None = None


@frozen
class TellingSet:
    """A report that leaves few categories.

    Attributes
    ----------
    categories
        What it leaves possible.
    chance
        The share of people whose report it is.
    posterior, category
        The largest posterior probability of a category, and that category.
    """

    categories: tuple[str, ...]
    chance: float
    posterior: float
    category: str


@frozen
class RepeatFindings:
    """What a second independent draw for the same person would leave.

    Attributes
    ----------
    expected, probability
        How many categories two reports leave on average, and the probability that they leave one.
    odds
        By how much two answers can multiply the odds, if no answer rules a category out. Otherwise None.
    """

    expected: float
    probability: float
    odds: float | None


@frozen(eq=False)
class PrivacyFindings:
    """What a report of one column reveals about a person.

    Attributes
    ----------
    at
        ``"estimate"``, or ``"even shares"`` where there is no estimate.
    information, guess, ruled_out
        Bits of mutual information, the chance that the best guess is right, and the share of people ruled out (None if
        every report leaves all categories possible).
    information_share
        The part of the information of the value itself that a report has.
    maximal_bits, maximal_factor
        The maximal leakage. Whatever is guessed, a report multiplies the chance to be right by at most this factor.
    smallest_set
        The fewest categories that a report leaves.
    subset_private
        Whether every report leaves at least two. None if the design is not known.
    largest_posterior, telling_report, told_category
        The largest posterior probability of a category given any report, with the report and the category.
    likeliest, largest_share
        The most frequent category, which is the best guess without a report, and its share.
    smallest_sets, smallest_sets_number
        The reports that leave the fewest categories, most revealing first, at most 10, and their number. None if there
        are too many to list.
    reveals
        The share of rows that leave a single value, for each variable of the column.
    epsilon
        Of local differential privacy. None if it is infinite.
    cost, cost_bound, asked_directly
        How many times as many people are needed as when asking directly, the least that any design of this maximal
        leakage needs at even shares, and how many people asked directly give the same precision. None if that is not
        known.
    cover_floor, dummy_share
        With dummy rows, the smallest share of the rows that a report could come from, and the share of dummies.
    repeat
        What a second draw would leave. None if it cannot be computed.
    """

    at: str
    information: LeakageFindings
    guess: LeakageFindings
    ruled_out: LeakageFindings | None
    information_share: float
    maximal_bits: float
    maximal_factor: float
    smallest_set: int
    subset_private: bool | None
    largest_posterior: float
    telling_report: str
    told_category: str
    likeliest: str
    largest_share: float
    smallest_sets: tuple[TellingSet, ...]
    smallest_sets_number: int | None
    reveals: dict[str, float]
    epsilon: float | None
    cost: float | None
    cost_bound: float | None
    asked_directly: float | None
    cover_floor: float | None = None
    dummy_share: float | None = None
    repeat: RepeatFindings | None = None
    notes: tuple[Note, ...] = ()


def audited(counts: SubsetCounts, fit: Estimate | None, level: float) -> Audit | Note:
    """Return the audit at the estimate or at even shares, or a note if there is none.

    For a column with several variables, it is about their combinations.
    """
    design = counts.design
    with capture_warnings():
        try:
            if fit is None:
                return audit(design, np.full(design.p, 1 / design.p), level=level)
            if isinstance(counts, JointCounts):
                return audit(counts, estimate(counts).w, level=level)
            if (fit.w < 0).any():  # shares by moments, which are not reliable here
                fit = estimate(counts)
            return Audit(Setting.of(design.exposed, fit.w), level, fit=fit, counts=counts, covered=design.covered)
        except SubsetPrivacyError as error:
            return problem_of(error, NoteKind.NOT_IDENTIFIABLE)


def privacy_findings(audit: Audit, counts: SubsetCounts, fit: Estimate | None) -> PrivacyFindings | Note:
    """Return what a report reveals, or a note if that is unknown."""
    with capture_warnings():
        try:
            facts = audit.facts()
            repeat = _repeat(counts.design, audit.setting.w)
        except SubsetPrivacyError as error:
            return problem_of(error, NoteKind.NOT_IDENTIFIABLE)
    design, w = audit.design, audit.setting.w
    with capture_warnings():
        telling, category = _most_telling(design, w)
        sets, number = _smallest_sets(design, w)
    top = int(np.argmax(w))
    epsilon, cost, bound = (_known(facts[key]) for key in ("epsilon", "cost", "cost_bound"))
    return PrivacyFindings(
        at="even shares" if fit is None else "estimate",
        information=_leakage(facts, "mi"),
        guess=_leakage(facts, "prediction"),
        # If every category stays possible, no one is ruled out: that measure also covers the secret number.
        ruled_out=_leakage(facts, "size") if epsilon is None else None,
        information_share=facts["mi_leakage"] / max(facts["mi_nonprivate"], 1e-12),
        maximal_bits=facts["maximal_leakage"],
        maximal_factor=float(design.S),
        smallest_set=facts["smallest_set"],
        subset_private=facts["subset_private"] if design.is_known else None,
        largest_posterior=facts["largest_posterior"],
        telling_report=telling,
        told_category=category,
        likeliest=_label(design, top),
        largest_share=float(w[top]),
        smallest_sets=sets,
        smallest_sets_number=number,
        reveals=facts["reveals"],
        epsilon=epsilon,
        cost=cost,
        cost_bound=bound,
        asked_directly=None if cost is None else float(counts.n) * counts.design.real_share / cost,
        cover_floor=facts.get("floor"),
        dummy_share=facts.get("dummy_share"),
        repeat=repeat,
        notes=_notes(facts),
    )


def _leakage(facts: dict[str, Any], name: str) -> LeakageFindings:
    ends = (facts.get(f"{name}_leakage_{end}") for end in ("lower", "upper"))
    return LeakageFindings(*(facts[f"{name}_{what}"] for what in ("leakage", "baseline", "nonprivate")), *ends)


def _known(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def _label(design: Design, place: int) -> str:
    return label_text(design.categories.labels[place])


def _repeat(design: Design, w: FloatArray) -> RepeatFindings | None:
    risk = attempt(repeat_risk, design, w)
    return None if risk is None else RepeatFindings(risk.expected, risk.probability, _known(risk.odds))


def _notes(facts: dict[str, Any]) -> tuple[Note, ...]:
    notes = []
    if facts["largest_posterior"] == 1 and facts["smallest_set"] > 1:
        text = (
            "The largest posterior is 100% because some category is estimated as 0, not because a report can be a "
            "single value."
        )
        notes.append(Note(NoteKind.BOUNDARY, text))
    if "mi_simulation_error" in facts:
        text = "The information was simulated, since the design has too many subsets to list."
        notes.append(Note(NoteKind.SIMULATED, text))
    return tuple(notes)


# Single reports ---------------------------------------------------------------------------------


def _most_telling(design: Design, w: FloatArray) -> tuple[str, str]:
    """Return the report after which a single category is most likely, and that category."""
    most = attempt(design.most_telling, w)
    if most is None:
        return "", _label(design, int(np.argmax(w)))
    code, category = most
    is_short = int(design.sizes(np.array([code]))[0]) <= MOST_MEMBERS
    return design.report_text(code) if is_short else "", _label(design, category)


def _smallest_sets(design: Design, w: FloatArray) -> tuple[tuple[TellingSet, ...], int | None]:
    """Return the reports that leave the fewest categories, most revealing first, and their number."""
    if not design.enumerable or design.p > MOST_MEMBERS or np.isfinite(design.epsilon):
        return (), None
    codes, mu = design.support()
    smallest = np.flatnonzero(design.sizes(codes) == design.smallest_set)
    rows = design.incidence(codes[smallest])
    size = rows.inner(w)
    posterior = np.divide(rows.peak(w), size, out=np.zeros(len(smallest)), where=size > 0)
    order = np.lexsort((-size.round(9), -posterior.round(9)))[:MOST_SETS]
    guesses = design.best_guess(codes[smallest[order]], w)
    return tuple(
        TellingSet(
            tuple(label_text(label) for label in design.members(int(codes[smallest[k]]))),
            float(mu[smallest[k]] * size[k]),
            float(posterior[k]),
            _label(design, int(guess)),
        )
        for k, guess in zip(order, guesses, strict=True)
    ), len(smallest)
