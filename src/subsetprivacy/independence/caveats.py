"""The caveats of a test: notes below its summary."""

from collections.abc import Sequence

import numpy as np

from subsetprivacy._types import Label
from subsetprivacy._words import counted
from subsetprivacy.errors import TooLargeError
from subsetprivacy.independence.crossing import CrossedVariable, Crossing
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.tables import label_text

FEW = 5


def caveats(parts: Sequence[Crossing], method: str, statistic: float, df: str) -> tuple[Note, ...]:
    """Return notes on why the asymptotic p-value is unreliable, and on special cases of the test."""
    if not parts:
        return ()
    notes = [*_counts(parts), *_boundary(parts)]
    if any(part.table.squares is not None for part in parts):
        text = (
            "Weighted: shares are scaled to the effective number of people (Kish). If the weights depend on the "
            "variables, the test rejects too rarely."
        )
        notes.append(Note(NoteKind.WEIGHTED, text))
    if method == "lrt-mom":
        text = "Moments do not maximize the likelihood, so the statistic can be negative and has no limit distribution."
        notes.append(Note(NoteKind.NULL_LAW, text))
        if statistic < 0:
            text = "The statistic is negative here: the independent table fits better than the moments."
            notes.append(Note(NoteKind.NULL_LAW, text))
    if df == "paper" and method == "pearson":
        text = "Degrees of freedom as printed in the paper, s r. They make the asymptotic p-value too large."
        notes.append(Note(NoteKind.DEGREES_OF_FREEDOM, text))
    return tuple(notes)


def _counts(parts: Sequence[Crossing]) -> list[Note]:
    try:
        possible = sum(part.first.possible * part.second.possible for part in parts)
    except TooLargeError:
        text = "There are too many pairs of subsets to list. Pearson's statistics have no known limit distribution."
        return [Note(NoteKind.TOO_MANY_CELLS, text)]
    enough = sum(int((part.cells[2] >= FEW).sum()) for part in parts)
    seen = sum(len(part.cells[2]) for part in parts)
    people = sum(part.n for part in parts)
    if possible > 10 * people:
        text = (
            f"There are {possible:.3g} pairs of subsets for {counted(people, 'person', 'people')}: Pearson's "
            "chi-square approximation does not hold."
        )
        return [Note(NoteKind.TOO_MANY_CELLS, text)]
    notes = []
    if enough < possible:
        text = (
            f"Small counts: {possible - enough} of {possible} pairs of subsets were reported by fewer than {FEW} "
            "people. The asymptotic p-value is unreliable."
        )
        notes.append(Note(NoteKind.SMALL_COUNTS, text))
    if seen < possible:
        text = f"Unobserved: {possible - seen} of the {possible} possible pairs of subsets."
        notes.append(Note(NoteKind.UNOBSERVED, text))
    return notes


def _boundary(parts: Sequence[Crossing]) -> list[Note]:
    sides = [side for part in parts for side in (part.first, part.second)]
    zero = [f"{side.name}: {_listed(side.fit.on_boundary)}" for side in sides if side.fit.on_boundary]
    if zero:
        named = list(dict.fromkeys(zero))
        listed = "; ".join(named[:4]) + ("; …" if len(named) > 4 else "")
        text = f"On the boundary: a share of 0 is estimated for {listed}. The asymptotic p-value is approximate."
        return [Note(NoteKind.BOUNDARY, text)]
    near = dict.fromkeys(side.name for side in sides if _near_zero(side))
    if near:
        text = (
            f"Near the boundary: the smallest share of {', '.join(near)} is below two standard errors. The asymptotic "
            "p-value is approximate."
        )
        return [Note(NoteKind.NEAR_ZERO, text)]
    return []


def _listed(labels: Sequence[Label]) -> str:
    return ", ".join(label_text(label) for label in labels[:4]) + (", …" if len(labels) > 4 else "")


def _near_zero(side: CrossedVariable) -> bool:
    least = int(np.argmin(side.fit.w))
    return bool(side.fit.w[least] < 2 * side.fit._shown_se[least])
