"""What several draws for one person leave possible: the result."""

from math import exp, inf, isfinite
from typing import Any, Literal, overload

from attrs import field, frozen

from subsetprivacy._choices import Engine
from subsetprivacy._types import FloatArray
from subsetprivacy._words import counted, plural
from subsetprivacy.design import Design
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text, number
from subsetprivacy.variables import JointCategories

_LARGEST_LOG = 700.0  # beyond, a number is too large to be written


@frozen(eq=False, repr=False)
class RepeatRisk:
    """What several independent draws for one person leave possible.

    Attributes
    ----------
    design, times
        The design, and how often it was drawn.
    w
        The distribution that the averages are over.
    candidates
        Per category of the person, how many values are left on average, her own among them.
    alone
        Per category of the person, the probability that only her own is left.
    remark
        What is approximate about `alone`; empty where it is exact.
    parts
        Of a product design, the same for each variable by itself, under its name; empty otherwise.
    expected
        The number of values left, on average over the people.
    probability
        The share of people of whom only their own value is left.
    odds
        What the answers together can multiply the odds of one value against another by: all there is to say
        where no answer rules a value out (Warner's question), infinite where some answer does.
    """

    design: Design
    times: int
    w: FloatArray
    candidates: FloatArray
    alone: FloatArray
    remark: str = ""
    parts: dict[str, "RepeatRisk"] = field(factory=dict)

    @property
    def expected(self) -> float:
        """The number of values left, on average over the people."""
        return float(self.w @ self.candidates)

    @property
    def probability(self) -> float:
        """The share of people of whom only their own value is left."""
        return float(self.w @ self.alone)

    @property
    def odds(self) -> float:
        """What the answers can multiply the odds of a value by; infinite where they can rule others out."""
        together = self.times * self.design.exposed.epsilon
        return exp(together) if together < _LARGEST_LOG else inf

    @overload
    def to_frame(self, *, engine: Literal["pandas"] = ...) -> PandasFrame: ...
    @overload
    def to_frame(self, *, engine: Literal["polars"]) -> PolarsFrame: ...
    @overload
    def to_frame(self, *, engine: Literal["pyarrow"]) -> ArrowTable: ...
    def to_frame(self, *, engine: Engine = "pandas") -> Frame:
        """Return a data frame of pandas, polars or pyarrow: a row per category."""
        columns = {
            "category": list(self.design.categories),
            "candidates": self.candidates,
            "alone": self.alone,
        }
        return frame(columns, engine)

    @property
    def _rules_out(self) -> bool:
        """Whether some answer rules a value out."""
        return not isfinite(self.design.exposed.epsilon)

    def _said_of_odds(self) -> str:
        what = "combination" if self.parts else "value"
        most = f"up to {self.odds:.3g}" if isfinite(self.odds) else "more than 1e300"
        return f"{self._draws()} can multiply the odds of a {what} by {most}"

    def _draws(self) -> str:
        return counted(self.times, "draw")

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook: of several variables, a row for each of them."""
        if self.parts:
            shown: list[tuple[Any, float, float]] = [
                (name, part.expected, part.probability) for name, part in self.parts.items()
            ]
        else:
            shown = list(zip(self.design.categories, self.candidates, self.alone, strict=True))[:48]
        rows = tuple((label_text(label), number(left, 3), number(alone)) for label, left, alone in shown)
        total = ("all together" if self.parts else "all people", number(self.expected, 3), number(self.probability))
        title = f"{self._draws()} for the same person: {self.design.kind} design, {self.design.p} categories"
        columns = ("variable" if self.parts else "value", "candidates left", "only it is left")
        return Table(title, columns, (*rows, total), tuple(self._notes()))

    def _notes(self) -> list[str]:
        notes = ["Asking the same question again leaves what the first answer left: remember it, or ask once."]
        if not self._rules_out:
            notes.append(f"No answer rules a value out; {self._said_of_odds()}.")
        notes += [f"{name}: {part._said_of_odds()}." for name, part in self.parts.items() if not part._rules_out]
        if not self.parts and isinstance(self.design.categories, JointCategories):
            notes.append("Combinations are counted: one of the variables by itself can be known sooner.")
        return [*notes, self.remark] if self.remark else notes

    def __repr__(self) -> str:
        if not self._rules_out:
            return f"<{self._said_of_odds()}; none of {self.design.p} candidates is ruled out>"
        return (
            f"<{self._draws()} for one person {plural(self.times, 'leaves', 'leave')} {self.expected:.4g} of "
            f"{self.design.p} "
            f"candidates, one alone with probability {self.probability:.4g}>"
        )

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()
