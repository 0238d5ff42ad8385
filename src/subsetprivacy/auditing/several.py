"""What one person gives away over several variables."""

from collections.abc import Mapping
from math import prod
from typing import Any

from attrs import frozen

from subsetprivacy.auditing.report import Audit
from subsetprivacy.design import Product
from subsetprivacy.errors import ArgumentError
from subsetprivacy.privacy.attacker import Setting
from subsetprivacy.tables import Table, frame, number


@frozen(eq=False, repr=False)
class TableAudit:
    """What each variable of a product gives away, and what that adds up to.

    Attributes
    ----------
    design
        The product design.
    parts
        An audit for each factor, by the names of its variables.
    """

    design: Product
    parts: dict[tuple[str, ...], Audit]

    def to_dict(self) -> dict[str, Any]:
        """Return the totals and each factor's numbers under stable names."""
        each = {" x ".join(names): part.to_dict() for names, part in self.parts.items()}
        return {"design": "product", **self.totals(), "variables": each}

    def totals(self) -> dict[str, float]:
        """Return what one person gives over all variables.

        Mutual information and the chance that all guesses are right are
        those of independent variables; of dependent ones the information is
        at most this. Maximal leakages add up exactly, whatever the dependence.
        """
        numbers = [part.to_dict() for part in self.parts.values()]
        return {
            "mi_leakage": sum(part["mi_leakage"] for part in numbers),
            "maximal_leakage": sum(part["maximal_leakage"] for part in numbers),
            "prediction_leakage": prod(part["prediction_leakage"] for part in numbers),
            "prediction_baseline": prod(part["prediction_baseline"] for part in numbers),
            "smallest_set": prod(part["smallest_set"] for part in numbers),
            "combinations": self.design.p,
            "largest_posterior": prod(part["largest_posterior"] for part in numbers),
        }

    def _rows(self) -> list[tuple[str, float, float, float, float, int, float]]:
        named = [(" x ".join(names), part.to_dict()) for names, part in self.parts.items()]
        keys = ("mi_leakage", "maximal_leakage", "prediction_leakage", "prediction_baseline", "smallest_set")
        rows = [(name, *(facts[key] for key in keys), facts["largest_posterior"]) for name, facts in named]
        total = self.totals()
        return [*rows, ("together", *(total[key] for key in keys), total["largest_posterior"])]

    def summary(self) -> Table:
        """Return the table: a row per factor, then what they add up to."""
        columns = (
            "variable",
            "mutual information (bits)",
            "maximal leakage (bits)",
            "best guess right",
            "without data",
            "smallest set",
            "largest posterior",
        )
        rows = tuple(
            (name, *(number(x) for x in rest[:4]), str(rest[4]), number(rest[5])) for name, *rest in self._rows()
        )
        reveals = [
            f"Revealed exactly: {name}, in {100 * share:.1f} % of the rows."
            for part in self.parts.values()
            for name, share in part.reveals.items()
            if share > 0
        ]
        notes = (
            "Together: maximal leakage adds up exactly. Mutual information adds up if the variables are independent; "
            "otherwise it is at most the sum.",
            "The best guess is of all variables at once, as if they were independent.",
            *reveals,
        )
        return Table(f"Privacy audit of {len(self.parts)} answers of one person", columns, rows, notes)

    def to_frame(self, *, engine: str = "pandas") -> Any:
        """Return the table as a data frame."""
        names = ("variable", *(f"{m}_leakage" for m in ("mi", "maximal", "prediction")), "prediction_baseline")
        columns = (*names, "smallest_set", "largest_posterior")
        return frame(dict(zip(columns, zip(*self._rows(), strict=True), strict=True)), engine)

    def __repr__(self) -> str:
        total = self.totals()
        return f"<TableAudit of {self.design.categories.preview()}: {total['maximal_leakage']:.3g} bit at most>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def audit_table(design: Product, w: Mapping[Any, Any], prior: Any) -> TableAudit:
    """Audit each factor at its own distribution.

    Raises
    ------
    ArgumentError
        If a factor has no distribution.
    """
    if prior is not None:
        raise ArgumentError("`prior` must be given to the audit of one variable at a time; got one for a table.")
    parts = {}
    for names, factor in design.named().items():
        key = names if names in w else names[0]
        if key not in w:
            raise ArgumentError(f"`w` must give a distribution for each variable; got none for {', '.join(names)}.")
        parts[names] = Audit(Setting.of(factor.exposed, w[key], None), 0.95)
    return TableAudit(design, parts)
