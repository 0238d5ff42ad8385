"""Numbers and labels as people read them."""

from collections.abc import Callable, Iterable
from math import ceil, floor, isfinite, log10

import numpy as np

from subsetprivacy import tables
from subsetprivacy._types import FloatArray, Label
from subsetprivacy._words import plural
from subsetprivacy.errors import SubsetPrivacyError
from subsetprivacy.messages import Note
from subsetprivacy.messages.rendering import for_page, with_hint
from subsetprivacy.tables import number

_LONGEST = 60  # characters of a label
_LISTED = 8
_GAP = "\N{NO-BREAK SPACE}"  # between a number and its unit


def label_text(label: Label) -> str:
    """Return a label for people, that of joined variables as "Female & low"; a very long one is cut.

    Examples
    --------
    >>> label_text(("Female", "low")), label_text(7)
    ('Female & low', '7')
    """
    return _cut(tables.label_text(label))


def set_text(labels: Iterable[Label]) -> str:
    """Return the members of a set in a row; a very long one is cut.

    Examples
    --------
    >>> set_text(["never", "once"])
    'never, once'
    """
    return _cut(", ".join(map(label_text, labels)))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def listed(labels: Iterable[Label], most: int = _LISTED) -> str:
    """Return labels in a row, the first of very many; commas inside a label call for semicolons between them."""
    texts = [label_text(label) for label in labels]
    mark = "; " if any("," in text for text in texts[:most]) else ", "
    shown = mark.join(texts[:most])
    return shown if len(texts) <= most else f"{shown}{mark}… ({whole(len(texts))} in all)"


def note_text(note: Note) -> str:
    """Return a note for readers of a page, with the advice that is for them."""
    return with_hint(note.text, for_page(note.advice))


def error_text(error: SubsetPrivacyError) -> str:
    """Return an error for readers of a page, with the advice that is for them."""
    return with_hint(error.message, for_page(error.advice))


def capital(text: str) -> str:
    """Return a message, which begins small, as a sentence that stands alone."""
    return text[:1].upper() + text[1:]


def whole(value: float) -> str:
    """Return a number of things, with a comma at the thousands."""
    return f"{value:,.0f}"


def share(value: float, digits: int = 1) -> str:
    """Return a share in percent; a dash where there is none."""
    return f"{number(100 * value, digits)}%" if isfinite(value) else "–"


def fine_share(value: float) -> str:
    """Return a probability in percent, with more digits the nearer it is to 0 or 100: "100%" is said of 1 alone."""
    rest = min(value, 1 - value)
    if value in (0.0, 1.0):
        return f"{100 * value:.0f}%"
    if rest < 1e-6:
        return "below 0.0001%" if value < 0.5 else "above 99.9999%"
    return share(value, max(1, ceil(-log10(rest)) - 1))


def digits_for(errors: FloatArray) -> int:
    """Return how many decimals of a percentage the standard errors leave a meaning."""
    known = errors[np.isfinite(errors) & (errors > 0)]
    return 2 if not len(known) else int(np.clip(1 - floor(log10(100 * float(np.median(known)))), 1, 5))


def times(value: float) -> str:
    """Return a factor, with two or three figures."""
    return f"{value:.3g}" if value < 1000 else whole(value)


def bits(value: float) -> str:
    """Return an amount of information with its unit."""
    return f"{number(value, 2)}{_GAP}bit" if value else f"0{_GAP}bit"


def span(low: float, high: float, form: Callable[[float], str], between: str = "to") -> str:
    """Return an interval, the unit once: "0.40 to 0.42 bit", "8.1 to 9.3%"; empty where there is none."""
    if not (isfinite(low) and isfinite(high)):
        return ""
    return f"{form(low).partition(_GAP)[0].rstrip('%')} {between} {form(high)}"


def count_of(amount: float, one: str, many: str) -> str:
    """Return a number with the word that fits it."""
    return f"{whole(amount)} {plural(amount, one, many)}"


def unlike(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return notes that say different things, each once, in order.

    A warning says again what a note of the result says, and has no kind of its own: so texts are compared.
    """
    first: dict[str, Note] = {}
    for note in notes:
        first.setdefault(note.text, note)
    return tuple(first.values())
