"""`Measure`: a measure of association with its interval."""

from collections.abc import Mapping
from math import inf, isinf, isnan
from typing import Any, Self, get_args

from attrs import field, frozen

from subsetprivacy._choices import MeasureMethod
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages import Note
from subsetprivacy.pvalues import positive, pvalue_text
from subsetprivacy.results import Result, plain, unknown_as_nan
from subsetprivacy.tables import Table, number, percent

METHODS: tuple[MeasureMethod, ...] = get_args(MeasureMethod)
_WORDS = {0.0: "zero", 1.0: "one"}  # "p-value against 1" could be read as its value
_NUMBERS = ("estimate", "se", "lower", "upper", "level", "null", "pvalue")


@frozen(repr=False)
class Measure(Result):
    """A measure of association with its uncertainty.

    Attributes
    ----------
    name
        The name of the measure, in words.
    value, se
        The estimate and its standard error by the delta method. `estimate` is the same as `value`.
    lower, upper, level
        The confidence interval and its level.
    method
        The method of the interval: ``"profile"``, ``"delta"``, or for V ``"noncentral"``.
    null
        The value without association: 0 for a difference and for V, 1 for ratios.
    pvalue
        The p-value of the two-sided test of `null`: Wald's test on the scale of the interval for ``"delta"``, the
        likelihood ratio test for ``"profile"``. NaN if there is none.
    notes
        The caveats.
    """

    name: str
    value: float
    se: float
    lower: float
    upper: float
    level: float
    method: str
    null: float
    pvalue: float = field(converter=positive)
    notes: tuple[Note, ...] = ()

    @property
    def estimate(self) -> float:
        """The estimate, under the name that all results share."""
        return self.value

    def __str__(self) -> str:
        return "\n".join([f"{self.name}: {self._in_words}", *map(str, self.notes)])

    def __repr__(self) -> str:
        return f"<Measure {self.name}: {self._in_words}>"

    @property
    def _in_words(self) -> str:
        against = _WORDS.get(self.null, self.null)
        test = "no test" if isnan(self.pvalue) else f"p-value against {against} {pvalue_text(self.pvalue)}"
        return (
            f"{number(self.value)} (std. error {number(self.se)}, {percent(self.level)} {self.method} "
            f"interval {number(self.lower)} to {number(self.upper)}, {test})"
        )

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook: one row, with the measure in the title."""
        ends = (f"{end} {percent(self.level)}" for end in ("lower", "upper"))
        numbers = (number(value) for value in (self.value, self.se, self.lower, self.upper))
        tested = f"The p-value is from a two-sided test of {number(self.null, 0)}, which means no association."
        return Table(
            self.name,
            ("interval", "estimate", "std. error", *ends, "p-value"),
            ((self.method, *numbers, pvalue_text(self.pvalue)),),
            (*(() if isnan(self.pvalue) else (tested,)), *self.notes),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON; None for unknown numbers and for those listed as `infinite`."""
        facts = {"measure": self.name, **{name: getattr(self, name) for name in _NUMBERS}, "method": self.method}
        infinite = [name for name in _NUMBERS if isinf(facts[name])]
        return plain({**facts, "infinite": infinite, "notes": self.notes})

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the measure that `to_dict` wrote.

        Raises
        ------
        ArgumentError
            If an entry is missing.
        """
        missing = [name for name in ("measure", *_NUMBERS, "method", "infinite", "notes") if name not in facts]
        if missing:
            raise ArgumentError(f"`facts` must have the entries that `to_dict` writes; got none for {missing[0]}.")
        numbers = {name: unknown_as_nan(facts[name]) for name in _NUMBERS}
        # Only the lower end can be minus infinity, for a difference of moments without a finite standard error.
        numbers.update({name: -inf if name == "lower" else inf for name in facts["infinite"]})
        notes = tuple(Note.from_dict(note) for note in facts["notes"])
        value = numbers.pop("estimate")
        return cls(name=facts["measure"], value=value, method=facts["method"], notes=notes, **numbers)

    def _columns(self) -> dict[str, Any]:
        numbers = {name: [float(getattr(self, name))] for name in _NUMBERS}
        return {"measure": [self.name], **numbers, "method": [self.method]}
