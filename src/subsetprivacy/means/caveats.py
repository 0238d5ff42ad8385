"""Notes and caveats of means by private category."""

import numpy as np
from attrs import evolve

from subsetprivacy._types import BoolArray, FloatArray
from subsetprivacy._words import counted, people, whole
from subsetprivacy.estimation.indicator import RARE
from subsetprivacy.means.result import GroupMeans
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_analyses import CORRECTED_MEANS, MERGE_SMALL_GROUPS, MORE_PEOPLE_OR_MERGE
from subsetprivacy.pvalues import p_equals

_NEAR = 4.0  # standard errors between a share and 0 from which standard errors are reliable
_FEW = 50
_DOUBTFUL = 0.05
_MOST_NAMED = 6


def with_notes(made: GroupMeans, notes: tuple[Note, ...]) -> GroupMeans:
    """Return means with their caveats."""
    all_notes = [*notes, *_rare(made), *_near(made), *_few(made), *_spread(made), *_outside(made), *_model(made)]
    return evolve(made, notes=tuple(all_notes))


def small_groups(made: GroupMeans, sizes: FloatArray) -> list[Note]:
    """Return a note about known groups that are too small for estimates, given the size of each."""
    if not len(sizes):
        return []
    who = f"{counted(len(sizes), 'group')} with {people(int(sizes.sum()))}" if made.by else people(int(sizes.sum()))
    text = (
        f"Too small, with fewer than 5 people who answered: {who}. No estimates are given, because they would describe "
    )
    return [Note(NoteKind.SMALL_COUNTS, text + "individuals.", MERGE_SMALL_GROUPS)]


def warned_notes(made: GroupMeans) -> list[Note]:
    """Return the caveats that are also warnings."""
    return _rare(made)


def _rare(made: GroupMeans) -> list[Note]:
    rare = made.rare & np.isfinite(made.number)
    if not rare.any():
        return []
    text = (
        f"Too rare in this sample, with a share within {RARE:.0f} standard errors of 0: {_named(made, rare)}. Their "
        "means, variances and quantiles are not given."
    )
    return [Note(NoteKind.SMALL_COUNTS, text, MORE_PEOPLE_OR_MERGE)]


def _near(made: GroupMeans) -> list[Note]:
    with np.errstate(invalid="ignore"):
        near = ~made.rare & (made.share < _NEAR * made.share_se)
    if not near.any():
        return []
    text = (
        f"Rare, with a share within {_NEAR:.0f} standard errors of 0: {_named(made, near)}. Their standard errors are "
        "rough."
    )
    return [Note(NoteKind.NEAR_ZERO, text, MORE_PEOPLE_OR_MERGE)]


def _few(made: GroupMeans) -> list[Note]:
    if made.n >= _FEW or not made.n:
        return []
    return [Note(NoteKind.SMALL_COUNTS, f"Only {whole(made.n)} people: standard errors and intervals are rough.")]


def _spread(made: GroupMeans) -> list[Note]:
    with np.errstate(invalid="ignore"):
        negative = made.variance < 0
    if not negative.any():
        return []
    text = (
        f"The estimated variance is negative, as unbiased estimates can be in small samples: {_named(made, negative)}."
    )
    return [Note(NoteKind.MOMENTS, text)]


def _outside(made: GroupMeans) -> list[Note]:
    with np.errstate(invalid="ignore"):
        outside = made.is_rate & ((made.mean < 0) | (made.mean > 1))
    if not outside.any():
        return []
    text = f"Below 0 or above 1, as unbiased estimates can be in small samples: {_named(made, outside)}."
    return [Note(NoteKind.MOMENTS, text)]


def _model(made: GroupMeans) -> list[Note]:
    if made.comparison is None:
        return []
    worst = float(np.nanmin(made.comparison.pvalue)) if np.isfinite(made.comparison.pvalue).any() else float("nan")
    text = "The means assume that the outcome is normal in each category. "
    if worst != worst:
        return [Note(NoteKind.ASSUMPTION, text + "They could not be compared with means without this assumption.")]
    text += f"Means without this assumption {'differ' if worst < _DOUBTFUL else 'agree'} ({p_equals(worst)})."
    kind = NoteKind.SPECIFICATION if worst < _DOUBTFUL else NoteKind.ASSUMPTION
    return [Note(kind, text, CORRECTED_MEANS if worst < _DOUBTFUL else None)]


def _named(made: GroupMeans, which: BoolArray) -> str:
    names = made._names()
    at = np.flatnonzero(which.ravel())
    return ", ".join(names[k] for k in at[:_MOST_NAMED]) + (", …" if len(at) > _MOST_NAMED else "")
