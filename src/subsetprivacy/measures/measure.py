"""One number that says how two variables go together."""

from math import isfinite
from typing import Any, get_args

from attrs import field, frozen

from subsetprivacy._choices import MeasureMethod
from subsetprivacy.pvalues import positive, pvalue_text
from subsetprivacy.tables import number, percent

METHODS: tuple[MeasureMethod, ...] = get_args(MeasureMethod)
_WORDS = {0.0: "zero", 1.0: "one"}  # "p-value against 1" could read as its value


@frozen
class Measure:
    """A measure of association with its uncertainty.

    Attributes
    ----------
    name
        What is measured, in words.
    value, se
        The estimate and its standard error by the delta method.
    lower, upper, level
        The confidence interval and its level.
    method
        How the interval came about, ``"delta"`` or ``"profile"``.
    null
        The value without association: 0 for a difference and for V, 1 for ratios.
    pvalue
        The two-sided test of `null`: Wald's on the scale of the interval for ``"delta"``, the likelihood ratio for
        ``"profile"``. NaN where there is none.
    notes
        What to bear in mind.
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
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        no_test = self.pvalue != self.pvalue
        test = (
            "no test" if no_test else f"p-value against {_WORDS.get(self.null, self.null)} {pvalue_text(self.pvalue)}"
        )
        first = (
            f"{self.name}: {number(self.value)} (std. error {number(self.se)}, {percent(self.level)} {self.method} "
            f"interval {number(self.lower)} to {number(self.upper)}, {test})"
        )
        return "\n".join([first, *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON; what is infinite or not to be had is None."""
        numbers = {name: getattr(self, name) for name in ("value", "se", "lower", "upper", "level", "null", "pvalue")}
        return {
            "name": self.name,
            "method": self.method,
            **{name: float(value) if isfinite(value) else None for name, value in numbers.items()},
            "notes": list(self.notes),
        }
