"""Numbers and labels as people read them."""

import re
from collections.abc import Callable, Iterable
from math import ceil, floor, isfinite, log10
from typing import Any

import numpy as np

from subsetprivacy._types import FloatArray, Label
from subsetprivacy._words import plural
from subsetprivacy.tables import number, percent

_LONGEST = 60  # characters of a label
_LISTED = 8
_GAP = "\N{NO-BREAK SPACE}"  # between a number and its unit
_HINT = re.compile(r"\s*Hint:.*\Z", re.DOTALL)


def label_text(label: Label) -> str:
    """Return a label for people, that of joined variables as "Female, low"; a very long one is cut.

    Examples
    --------
    >>> label_text(("Female", "low")), label_text(7)
    ('Female, low', '7')
    """
    text = ", ".join(label_text(part) for part in label) if isinstance(label, tuple) else str(label)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def listed(labels: Iterable[Label], most: int = _LISTED) -> str:
    """Return labels in a row, the first of very many; commas inside a label call for semicolons between them."""
    texts = [label_text(label) for label in labels]
    mark = "; " if any("," in text for text in texts[:most]) else ", "
    shown = mark.join(texts[:most])
    return shown if len(texts) <= most else f"{shown}{mark}… ({whole(len(texts))} in all)"


def sentence(text: str, labels: Iterable[Label] = ()) -> str:
    """Return a note of the library for readers: labels as they are printed here, without advice to programmers."""
    for label in labels:
        if isinstance(label, tuple):
            text = text.replace(str(label), f"“{' and '.join(label_text(part) for part in label)}”")
    return re.sub(r"\blrt\b", "the likelihood ratio test", _HINT.sub("", text))


def whole(value: float) -> str:
    """Return a number of things, with a comma at the thousands."""
    return f"{value:,.0f}"


def share(value: float, digits: int = 1) -> str:
    """Return a share in percent; a dash where there is none."""
    return f"{number(100 * value, digits)}{_GAP}%" if isfinite(value) else "–"


def fine_share(value: float) -> str:
    """Return a probability in percent, with more digits the nearer it is to 0 or 100: "100 %" is said of 1 alone."""
    rest = min(value, 1 - value)
    if value in (0.0, 1.0):
        return f"{100 * value:.0f}{_GAP}%"
    if rest < 1e-6:
        return f"below 0.0001{_GAP}%" if value < 0.5 else f"above 99.9999{_GAP}%"
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


def at_level(level: float) -> str:
    """Return a confidence level: "95 %", in one piece."""
    return percent(level).replace(" ", _GAP)


def span(low: float, high: float, form: Callable[[float], str]) -> str:
    """Return an interval, the unit once: "0.40 to 0.42 bit"."""
    first, last = form(low), form(high)
    return f"{first.partition(_GAP)[0]} to {last}" if isfinite(low) and isfinite(high) else ""


def count_of(amount: float, one: str, many: str) -> str:
    """Return a number with the word that fits it."""
    return f"{whole(amount)} {plural(amount, one, many)}"


def unlike(texts: Iterable[Any]) -> list[str]:
    """Return different texts, each once, in order; empty ones left out."""
    return [text for text in dict.fromkeys(map(str, texts)) if text]
