"""`RepeatRisk`: the result of `repeat_risk`."""

from collections.abc import Mapping
from math import exp, inf, isfinite
from typing import Any, ClassVar

from attrs import field, frozen

from subsetprivacy._types import FloatArray
from subsetprivacy._words import counted, plural
from subsetprivacy.design import Design
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_plans import ASK_ONCE
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import Table, label_text, number
from subsetprivacy.variables import JointCategories

_LARGEST_LOG = 700.0  # larger numbers overflow


@frozen(eq=False, repr=False)
class RepeatRisk(Result):
    """The values that remain possible after several independent draws for one person.

    Attributes
    ----------
    design, times
        The design, and the number of draws.
    w
        The distribution for the averages.
    candidates
        For each category of the person, the average number of values that remain, including their own.
    alone
        For each category of the person, the probability that only their own value remains.
    approximations
        Notes on how `alone` is approximate; empty if it is exact.
    parts
        For a product design, the same for each variable alone, by name; empty otherwise.
    expected
        The number of values that remain, on average over the people.
    probability
        The share of people for whom only their own value remains.
    odds
        The most by which the answers together can multiply the odds of one value against another. This is the
        relevant number if no answer rules out a value (Warner's question). It is infinite if an answer can.
    """

    why_not_restored: ClassVar[str] = "keep the design, `design.to_json()`, and call `repeat_risk` again"

    design: Design
    times: int
    w: FloatArray
    candidates: FloatArray
    alone: FloatArray
    approximations: tuple[Note, ...] = ()
    parts: dict[str, "RepeatRisk"] = field(factory=dict)

    @property
    def expected(self) -> float:
        """The number of values that remain, on average over the people."""
        return float(self.w @ self.candidates)

    @property
    def probability(self) -> float:
        """The share of people for whom only their own value remains."""
        return float(self.w @ self.alone)

    @property
    def odds(self) -> float:
        """The most by which the answers can multiply the odds of a value; infinite if they can rule out others."""
        together = self.times * self.design.exposed.epsilon
        return exp(together) if together < _LARGEST_LOG else inf

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names, for JSON. Numbers that are unknown or not finite are None."""
        facts: dict[str, Any] = plain(
            {
                "design": self.design.maker,
                "times": self.times,
                "expected": self.expected,
                "probability": self.probability,
                "odds": self.odds,
                "categories": [label_text(label) for label in self.design.categories],
                "candidates": self.candidates,
                "alone": self.alone,
                "variables": {name: part.to_dict() for name, part in self.parts.items()},
                "notes": self.notes,
            }
        )
        return facts

    def _columns(self) -> Mapping[str, Any]:
        return {
            "category": [label_text(label) if isinstance(label, tuple) else label for label in self.design.categories],
            "candidates": self.candidates,
            "alone": self.alone,
        }

    @property
    def _rules_out(self) -> bool:
        """Whether an answer can rule out a value."""
        return not isfinite(self.design.exposed.epsilon)

    def _odds_text(self) -> str:
        what = "combination" if self.parts else "value"
        most = f"up to {self.odds:.3g}" if isfinite(self.odds) else "more than 1e300"
        return f"{self._draws()} can multiply the odds of a {what} by {most}"

    def _draws(self) -> str:
        return counted(self.times, "draw")

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook, with a row per variable if there are several."""
        if self.parts:
            shown: list[tuple[Any, float, float]] = [
                (name, part.expected, part.probability) for name, part in self.parts.items()
            ]
        else:
            shown = list(zip(self.design.categories, self.candidates, self.alone, strict=True))[:48]
        rows = tuple((label_text(label), number(left, 3), number(alone)) for label, left, alone in shown)
        total = ("all together" if self.parts else "all people", number(self.expected, 3), number(self.probability))
        title = f"{self._draws()} for the same person: {self.design.maker} design, {self.design.p} categories"
        columns = ("variable" if self.parts else "value", "candidates left", "P(only it is left)")
        return Table(title, columns, (*rows, total), self.notes)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The caveats."""
        repeated = "Only a new draw reveals more. Asking the same question again reveals nothing new."
        notes = [Note(NoteKind.REPEATED, repeated, ASK_ONCE)]
        if not self._rules_out:
            notes.append(Note(NoteKind.LEAKAGE, f"No answer rules out a value, but {self._odds_text()}."))
        for name, part in self.parts.items():
            if not part._rules_out:
                notes.append(Note(NoteKind.LEAKAGE, f"{name}: {part._odds_text()}."))
        if not self.parts and isinstance(self.design.categories, JointCategories):
            text = "These are numbers of combinations. A single variable can be revealed sooner."
            notes.append(Note(NoteKind.REVEALED, text))
        return (*notes, *self.approximations)

    def __repr__(self) -> str:
        if not self._rules_out:
            return f"<RepeatRisk: {self._odds_text()}; none of {self.design.p} candidates is ruled out>"
        return (
            f"<RepeatRisk: {self._draws()} for one person {plural(self.times, 'leaves', 'leave')} "
            f"{self.expected:.4g} of {self.design.p} candidates, one alone with probability {self.probability:.4g}>"
        )
