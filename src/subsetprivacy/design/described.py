"""Descriptions of a design for people, for reference pages and for programs that draw with it."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.design.codes import Coded
from subsetprivacy.design.document_format import Keys
from subsetprivacy.tables import label_text

MEMBERS_ALIKE = r"P(a \mid j) = \mu_a \text{ if } j \in a, \text{ else } 0"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWX"


@frozen
class Formula:
    r"""The exact probability of every report given the value, for readers who write their own programs.

    All kinds share these symbols: p is the number of categories, j the number of the value's category counted from 0,
    a a report, :math:`|a|` its number of members, :math:`a^c` its complement.

    Attributes
    ----------
    reports
        The possible reports, in Markdown. All others have probability 0.
    weight
        The weight :math:`\mu_a` of a report, in TeX. Empty if it is not known.
    probability
        The probability of a report given the value, in TeX.
    codes
        The code of a report, in Markdown.
    missing
        The code of a missing answer, in Markdown.
    width
        The number of bits of a code inside a product or with dummy categories, in TeX.
    symbols
        The other symbols, each with its meaning in Markdown.
    """

    reports: str
    weight: str
    probability: str = MEMBERS_ALIKE
    codes: str = "The bit mask of the subset: bit j is set when category j is a member."
    missing: str = "$2^p - 1$, the full set"
    width: str = "p"
    symbols: tuple[tuple[str, str], ...] = ()


class Described(Coded, ABC):
    """A design as described to people and other programs. Each kind overrides what differs."""

    name: ClassVar[str]
    formula: ClassVar[Formula]
    keys: ClassVar[Keys] = Keys()

    @classmethod
    @abstractmethod
    def example(cls) -> Self:
        """Return a small design of this kind, for the reference and for tests of all kinds."""

    @property
    @abstractmethod
    def description(self) -> str:
        """How its reports are drawn, in a few sentences."""

    @property
    def maker(self) -> str:
        """The name of the function that makes it: the kind, unless a document of this kind is made by several."""
        return self.kind

    @property
    def label(self) -> str:
        """Its name in tables of designs: its maker and its parameter."""
        return self.maker

    @property
    def drawing_note(self) -> str | None:
        """Who must draw, if it is neither the collector nor the publisher alone. A clause for notes."""
        return None

    # Questions in words -----------------------------------------------------------------------

    @property
    def answer_words(self) -> tuple[str, str]:
        """The words for the two answers to a yes/no question."""
        return "yes", "no"

    def question_text(self, options: tuple[int, ...]) -> str:
        """Return the text of a question, given by the codes of its answers."""
        if len(options) > 2:
            groups = zip(_LETTERS, options, strict=False)
            listed = "; ".join(f"{letter}: {self._members_text(code)}" for letter, code in groups)
            return f"Which of these groups holds your answer? {listed}"
        return f"Is your answer one of these: {self._members_text(options[0])}?"

    def _members_text(self, code: int) -> str:
        return ", ".join(str(label) for label in self.members(code))

    def report_text(self, code: int) -> str:
        """Return a report in words: the values that remain possible."""
        return ", ".join(label_text(label) for label in self.members(code))

    # Drawing elsewhere ------------------------------------------------------------------------

    @property
    def list_length(self) -> int:
        """How many questions or subsets another program needs to draw; 0 if a few numbers are enough."""
        return 0

    def listed_questions(self) -> tuple[IntArray, FloatArray] | None:
        """Return its questions, each a row with the codes of the answers, and their relative weights.

        None if questions are not drawn from a list.
        """
        return None

    @property
    def browser_rule(self) -> dict[str, Any] | None:
        """The rule by which a respondent's browser draws, as plain data; None if a browser cannot draw.

        ``{"rule": "uniform"}``, ``{"rule": "groups", "sizes": [...]}``, ``{"rule": "companions", "size": k}``,
        ``{"rule": "bit", "q": q}``, ``{"rule": "listed", "questions": rows, "weights": weights}`` or
        ``{"rule": "given", "subsets": codes, "weights": weights}``. Check `list_length` first, as the list may be long.
        """
        listed = self.listed_questions()
        return None if listed is None else {"rule": "listed", "questions": listed[0], "weights": listed[1]}
