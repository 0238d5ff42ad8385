"""What the answers give away about one person: by variable, and for variables that are kept side by side."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.auditing import Audit
from subsetprivacy.collect.survey.describing import fingerprint_bits
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.privacy.attacker import Setting
from subsetprivacy.report.gathering import listening
from subsetprivacy.report.wording import label_text

LEVEL = 0.95


@frozen
class Leak:
    """One measure of what an answer gives away, between nothing and the value itself.

    Attributes
    ----------
    leakage, lower, upper
        At the estimate, with its 95% interval where there is one.
    baseline, nonprivate
        The same without any answer, and if the value itself were sent.
    """

    leakage: float
    baseline: float
    nonprivate: float
    lower: float | None = None
    upper: float | None = None


@frozen(eq=False)
class Privacy:
    """What an answer to one variable gives away.

    Attributes
    ----------
    at
        "estimate", or "even shares" where there is none.
    information, guess, ruled_out
        Bits of mutual information; the chance that the best guess is right; the share of people ruled out, None
        where every answer leaves all options possible.
    maximal_bits, maximal_factor
        The maximal leakage: whatever is guessed, the chance to be right is multiplied by at most this factor.
    smallest_set, options
        The fewest options that an answer leaves, of how many.
    largest_posterior, telling_answer, told_option
        The largest probability that any answer leaves to one option; which answer, and which option.
    epsilon
        Of local differential privacy; None where it is infinite.
    cost
        How many times the people of asking directly; None where that is not known.
    fingerprint_bits
        How much the remembered question tells this person from others.
    """

    at: str
    information: Leak
    guess: Leak
    ruled_out: Leak | None
    maximal_bits: float
    maximal_factor: float
    smallest_set: int
    options: int
    largest_posterior: float
    telling_answer: str
    told_option: str
    epsilon: float | None
    cost: float | None
    fingerprint_bits: float
    notes: tuple[Note, ...] = ()


def privacy(design: Design, counts: SubsetCounts, fit: Estimate | None) -> Privacy:
    """Return the privacy panel of one variable, at the estimate or at even shares."""
    w = np.full(design.p, 1 / design.p) if fit is None else fit.w
    with listening():
        audit = Audit(Setting.of(design, w), LEVEL, fit=fit, counts=counts)
        facts = audit.to_dict()
    answer, option = _most_telling(design, w)
    notes = []
    if facts["largest_posterior"] == 1 and facts["smallest_set"] > 1:
        text = "The largest posterior is 100% because some option is estimated as 0, not because it is named."
        notes.append(Note(NoteKind.BOUNDARY, text))
    if "mi_simulation_error" in facts:
        text = "Information was simulated, since the design has too many subsets to list."
        notes.append(Note(NoteKind.SIMULATED, text))
    return Privacy(
        "even shares" if fit is None else "estimate",
        _leak(facts, "mi"),
        _leak(facts, "prediction"),
        _leak(facts, "size") if facts["epsilon"] is None else None,
        facts["maximal_leakage"],
        design.S,
        facts["smallest_set"],
        design.p,
        facts["largest_posterior"],
        answer,
        option,
        facts["epsilon"],
        facts["cost"],
        fingerprint_bits(design),
        tuple(notes),
    )


def _leak(facts: dict[str, Any], name: str) -> Leak:
    ends = (facts.get(f"{name}_leakage_{end}") for end in ("lower", "upper"))
    return Leak(*(facts[f"{name}_{what}"] for what in ("leakage", "baseline", "nonprivate")), *ends)


def _most_telling(design: Design, w: FloatArray) -> tuple[str, str]:
    """Return the answer that leaves the largest probability to one option, in words, and that option."""
    code, position = design.most_telling(w)
    return design.report_text(code), label_text(design.categories.labels[position])


# Rows of several variables --------------------------------------------------------------------


@frozen
class Candidates:
    """How many released rows could be a person's whose values of all variables of a group are known.

    Attributes
    ----------
    expected
        On average over the people, if the variables were independent.
    least
        For the person whose values fit the fewest rows.
    """

    expected: float
    least: float


def candidates(designs: Mapping[str, Design], shares: Mapping[str, FloatArray], n: int) -> Candidates:
    """Return how many rows fit a person's values; answers that rule nothing out leave all rows possible."""
    expected = least = float(n)
    for name, design in designs.items():
        if isfinite(design.epsilon):
            continue
        fitting = design.apply_Q(shares[name])  # P(the row of somebody holds value j)
        expected *= float(shares[name] @ fitting)
        least *= float(fitting.min())
    return Candidates(expected, least)
