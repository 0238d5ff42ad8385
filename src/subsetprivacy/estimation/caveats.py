"""Caveats of an estimate: notes below its summary, and warnings with its standard errors."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from subsetprivacy._types import Label
from subsetprivacy.estimation.likelihood import MANY
from subsetprivacy.messages import Advice, Hint, Note, NoteKind
from subsetprivacy.messages.for_estimates import AUTO_INTERVAL, UNBIASED_MOMENTS
from subsetprivacy.tables import label_text

if TYPE_CHECKING:
    from subsetprivacy.estimation.result import Estimate

_NAMES = 6


def caveats(fit: "Estimate") -> tuple[Note, ...]:
    """Return the caveats about the standard errors, with advice to use a better interval if there is one."""
    better = AUTO_INTERVAL if fit.has_ratio else None
    if fit.on_boundary:
        text = f"On the boundary: the estimate for {_listed(fit.on_boundary)} is 0."
        if fit.categories.p > MANY and 3 * len(fit.on_boundary) > fit.categories.p:
            text += (
                " Standard errors are then approximate. So many zeros mean that there are too few people for so many "
                "categories. Large shares are underestimated, some of the non-zero estimates are far too large, and "
                "intervals may miss the true shares."
            )
            return (Note(NoteKind.TOO_FEW_PEOPLE, text, UNBIASED_MOMENTS),)
        text += " Standard errors are then approximate, usually too large."
        return (Note(NoteKind.BOUNDARY, text, better),)
    if fit.smallest_size < 5 / fit.n:
        text = (
            f"Small counts: some subset has a fitted probability of {fit.smallest_size:.2g}, below 5/n = "
            f"{5 / fit.n:.2g}. The normal approximation is unreliable."
        )
        return (Note(NoteKind.SMALL_COUNTS, text, better),)
    return ()


def with_interval_advice(notes: Iterable[Note], advice: Advice | Hint | None) -> tuple[Note, ...]:
    """Return notes with the advice to use a better interval replaced by other advice."""
    return tuple(
        note.with_advice(advice) if note.advice and note.advice.advice is AUTO_INTERVAL else note for note in notes
    )


def _listed(labels: tuple[Label, ...]) -> str:
    names = ", ".join(label_text(label) for label in labels[:_NAMES])
    return names if len(labels) <= _NAMES else f"{names}, … ({len(labels)} in all)"
