"""Capture the library's warnings as notes, so that readers of results see them."""

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
    """Captured warnings, as notes."""

    notes: list[Note] = field(factory=list)


@contextmanager
def capture_warnings() -> Iterator[CapturedWarnings]:
    """Capture the library's warnings, and pass on all others."""
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


def distinct(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return notes with different texts, each once, in order.

    Texts are compared because a warning repeats a note of the result and does not have its kind.
    """
    first: dict[str, Note] = {}
    for note in notes:
        first.setdefault(note.text, note)
    return tuple(first.values())


def attempt(work: Callable[..., T], *arguments: Any, **options: Any) -> T | None:
    """Return the result of a function, or None if the library refuses."""
    try:
        return work(*arguments, **options)
    except SubsetPrivacyError:
        return None
