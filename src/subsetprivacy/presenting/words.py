"""The words of pages, by language, and numbers as people read them.

Each sentence of a page has a key and is written once per language, in `languages`, and nowhere else.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from math import ceil, floor, isfinite, log10
from typing import Any, get_args

import numpy as np
from attrs import frozen

from subsetprivacy import tables
from subsetprivacy._checks import check_choice
from subsetprivacy._choices import Language
from subsetprivacy._types import FloatArray, Label
from subsetprivacy.errors import SubsetPrivacyError
from subsetprivacy.messages import Note
from subsetprivacy.messages.rendering import for_page, with_hint
from subsetprivacy.presenting.html import Html, el
from subsetprivacy.pvalues import pvalue_text

LANGUAGES: tuple[Language, ...] = get_args(Language)
GAP = "\N{NO-BREAK SPACE}"  # between a number and its unit
_MARK = "\N{LEFT-TO-RIGHT MARK}"  # keeps a sign on the left of its number in right-to-left text
_ISOLATE, _END_ISOLATE = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"
_LONGEST = 60  # characters of a label
_LISTED = 8
_UNIT = re.compile(r"[^0-9]+$")


@frozen(eq=False)
class Words:
    """One language.

    Attributes
    ----------
    language, direction
        Its code, and "ltr" or "rtl".
    texts
        The sentences by key.
    """

    language: str
    direction: str
    texts: Mapping[str, str]

    # Sentences --------------------------------------------------------------------------------

    def __call__(self, key: str, /, **values: Any) -> str:
        """Return a sentence with its values in place."""
        if self.direction == "rtl" and not key.startswith(
            "number."
        ):  # a name in Latin letters must not reorder the characters around it
            values = {name: f"{_ISOLATE}{value}{_END_ISOLATE}" for name, value in values.items()}
        return self.texts[key].format_map(values)

    def has(self, key: str) -> bool:
        """Tell whether the language has a sentence for this key."""
        return key in self.texts

    def count(self, key: str, amount: float, /, **values: Any) -> str:
        """Return the singular or plural sentence. ``{n}`` in it is the number."""
        form = "one" if amount == 1 else "many"
        return self(f"{key}.{form}", n=self.whole(amount), **values)

    def note(self, note: Note) -> Html:
        """Return a note for readers of a page, with the advice for them.

        In other languages it is the sentence for its kind, or the English text, marked as such, if there is none.
        """
        text = with_hint(note.text, for_page(note.advice))
        if self.language == "en":
            return el("span", text)
        key = f"note.{note.kind.value}"
        return el("span", self(key)) if self.has(key) else el("span", text, lang="en", dir="ltr")

    # Numbers ----------------------------------------------------------------------------------

    def _local(self, text: str) -> str:
        """Return a number with the decimal mark and the thousands of the language."""
        marks = {".": self.texts["number.decimal"], ",": self.texts["number.thousands"]}
        return "".join(marks.get(sign, sign) for sign in text)

    def _marked(self, text: str) -> str:
        """Return a number whose sign stays on its left."""
        return f"{_MARK}{text}" if self.direction == "rtl" and text[0] in "+-<" else text

    def whole(self, value: float) -> str:
        """Return a number of things."""
        return self._local(f"{value:,.0f}")

    def number(self, value: float, digits: int = 2) -> str:
        """Return a number with this many decimals, or a dash if there is none."""
        if not isfinite(value):
            return "–"
        text = f"{value:,.{digits}f}"
        return self._marked(self._local(text.lstrip("-") if float(text.replace(",", "")) == 0 else text))

    def signed(self, value: float, digits: int = 2) -> str:
        """Return a number with its sign, also a plus, or a dash if there is none."""
        text = self.number(value, digits)
        return self._marked(f"+{text}") if value > 0 and isfinite(value) else text

    def percent(self, value: float, digits: int = 1) -> str:
        """Return a share in percent, or a dash if there is none."""
        return self("number.percent", n=self.number(100 * value, digits)) if isfinite(value) else "–"

    def level(self, level: float) -> str:
        """Return a confidence level."""
        return self("number.percent", n=self._local(f"{100 * level:.6g}"))

    def fine_percent(self, value: float) -> str:
        """Return a probability in percent, with more digits near 0 and 100. Only 1 becomes "100%"."""
        rest = min(value, 1 - value)
        if value in (0.0, 1.0):
            return self.percent(value, 0)
        if rest < 1e-6:
            limit = self.percent(1e-6 if value < 0.5 else 1 - 1e-6, 4)
            return self("number.below" if value < 0.5 else "number.above", n=limit)
        return self.percent(value, max(1, ceil(-log10(rest)) - 1))

    def times(self, value: float) -> str:
        """Return a factor with two or three digits."""
        return self._local(f"{value:.3g}") if value < 1000 else self.whole(value)

    def bits(self, value: float) -> str:
        """Return an amount of information with its unit."""
        return self("number.bits", n=self.number(value, 2) if value else "0")

    def bare_pvalue(self, value: float) -> str:
        """Return "0.0120" or "< 0.0001"."""
        return self._marked(self._local(pvalue_text(value)).replace(" ", GAP))

    def pvalue(self, value: float) -> str:
        """Return "p = 0.0120" or "p < 0.0001"."""
        text = self.bare_pvalue(value)
        return f"p{GAP}{text}" if "<" in text else f"p{GAP}={GAP}{text}"

    def small(self, value: float) -> str:
        """Return a small number such as the level of a test, with two digits and no exponent."""
        return self._local(np.format_float_positional(value, precision=2, fractional=False, trim="-"))

    def span(self, low: float, high: float, form: Callable[[float], str]) -> str:
        """Return an interval with one unit: "8.1 to 9.3%", "0.40 to 0.42 bits". Empty if there is none."""
        if not (isfinite(low) and isfinite(high)):
            return ""
        least, most = form(low), form(high)
        unit = _UNIT.search(most)
        if unit and least.endswith(unit[0]):
            least = least[: -len(unit[0])]
        return self("number.span", low=least, high=most)

    def with_span(self, value: float, low: float | None, high: float | None, form: Callable[[float], str]) -> str:
        """Return a number and its interval in parentheses, if there is one."""
        ends = "" if low is None or high is None else self.span(low, high, form)
        return f"{form(value)} ({ends})" if ends else form(value)

    # Labels -----------------------------------------------------------------------------------

    def listed(self, labels: Iterable[Label], most: int = _LISTED) -> str:
        """Return a list of labels, cut if it is very long. If a label contains a comma, semicolons separate them."""
        texts = [label_text(label) for label in labels]
        comma, semicolon = self.texts["list.comma"], self.texts["list.semicolon"]
        mark = semicolon if any("," in text for text in texts[:most]) else comma
        shown = mark.join(texts[:most])
        return shown if len(texts) <= most else self("list.more", listed=f"{shown}{mark}", n=self.whole(len(texts)))


@cache
def words_of(language: Any = "en") -> Words:
    """Return the words of a language.

    Raises
    ------
    ArgumentError
        If there is no such language.
    """
    check_choice(language, LANGUAGES, "language")
    resource = files("subsetprivacy.presenting").joinpath("languages", f"{language}.json")
    texts = json.loads(resource.read_text(encoding="utf-8"))
    return Words(language, texts.pop("direction"), texts)


def label_text(label: Label) -> str:
    """Return a label as text. Labels of joined variables read "Female & low". Very long ones are cut.

    Examples
    --------
    >>> label_text(("Female", "low")), label_text(7)
    ('Female & low', '7')
    """
    text = tables.label_text(label)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def error_text(error: SubsetPrivacyError) -> str:
    """Return an error for readers of a page, with the advice for them."""
    return with_hint(error.message, for_page(error.advice))


def digits_for(errors: FloatArray) -> int:
    """Return how many decimals of a percentage are meaningful given the standard errors."""
    known = errors[np.isfinite(errors) & (errors > 0)]
    return 2 if not len(known) else int(np.clip(1 - floor(log10(100 * float(np.median(known)))), 0, 5))
