"""The library's warnings as notes: what is said once to a programmer is kept for the readers of results."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from attrs import field, frozen

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
from subsetprivacy.messages import Note, NoteKind

T = TypeVar("T")
_KINDS: Mapping[type[SubsetPrivacyWarning], NoteKind] = {
    BoundaryWarning: NoteKind.BOUNDARY,
    SmallCountWarning: NoteKind.SMALL_COUNTS,
    NotUniqueWarning: NoteKind.NOT_UNIQUE,
    ConvergenceWarning: NoteKind.NOT_CONVERGED,
    BudgetWarning: NoteKind.BUDGET,
    NotPrivateWarning: NoteKind.NOT_PRIVATE,
}


@frozen(eq=False)
class CapturedWarnings:
    """The warnings that were heard, as notes."""

    notes: list[Note] = field(factory=list)


@contextmanager
def capture_warnings() -> Iterator[CapturedWarnings]:
    """Collect the library's warnings; those of others pass."""
    captured = CapturedWarnings()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield captured
    for warning in caught:
        if isinstance(warning.message, SubsetPrivacyWarning):
            kind = _KINDS.get(type(warning.message), NoteKind.ASSUMPTION)
            captured.notes.append(Note(kind, warning.message.message, warning.message.advice))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def unlike(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return notes that say different things, each once, in order.

    A warning says again what a note of the result says, and has no kind of its own: so texts are compared.
    """
    first: dict[str, Note] = {}
    for note in notes:
        first.setdefault(note.text, note)
    return tuple(first.values())


def attempt(work: Callable[..., T], *arguments: Any, **options: Any) -> T | None:
    """Return what the work gives, or None where the library refuses it."""
    try:
        return work(*arguments, **options)
    except SubsetPrivacyError:
        return None
