"""`PlanOption`: one design of a plan, with its cost and its leakage."""

from collections.abc import Mapping
from functools import cached_property
from math import inf, isfinite, log2
from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy._words import people, whole
from subsetprivacy.auditing import audit
from subsetprivacy.design import Design
from subsetprivacy.errors import TooLargeError
from subsetprivacy.estimation.likelihood import least_cost
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.planning.demand import Demand
from subsetprivacy.planning.least_favorable import least_favorable
from subsetprivacy.planning.variance import precision
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import Table, label_text, number

LEAKS = ("size_leakage", "mi_leakage", "prediction_leakage", "prediction_baseline", "largest_posterior")
NUMBERS = (
    *("people", "margin", "dummies", "people_even", "margin_even", "cost", "cost_even", "loss"),
    *("efficiency", "maximal_leakage", "smallest_set"),
)


@frozen(eq=False, repr=False)
class PlanOption(Result):
    """One design of a plan.

    Attributes
    ----------
    design
        The design.
    demand
        The requirements of the plan.
    w
        The distribution of the plan: the given or the least favorable one.
    position
        The position of the category whose share needs the most people at w.
    variance
        n times the variance of that share at w, divided by the squared share if the margin is relative.
    direct
        The same for asking directly, planned in the same way.
    compared
        The distribution at which designs are compared: the given or the uniform one.
    variances, variances_even
        n times the variance of every share at `compared`, and at the even distribution.
    estimator
        The estimator to which the numbers apply.
    notes
        The approximations in the numbers.
    """

    why_not_restored: ClassVar[str] = "keep the arguments of `plan`, and plan again"

    design: Design
    demand: Demand
    w: FloatArray
    position: int
    variance: float
    direct: float
    compared: FloatArray
    variances: FloatArray
    variances_even: FloatArray
    estimator: str = "mle"
    notes: tuple[Note, ...] = ()

    @property
    def name(self) -> str:
        """The name of the design in tables."""
        return self.design.label

    @property
    def category(self) -> Any:
        """The category whose share needs the most people."""
        return self.design.categories.labels[self.position]

    # Costs ------------------------------------------------------------------------------------

    @property
    def people(self) -> int:
        """The number of real people to ask, over all groups."""
        return self.demand.planned(self.variance)[0]

    @property
    def by_group(self) -> dict[str, int]:
        """The number of people to ask in each group or subgroup; empty if the plan has none."""
        return self.demand.planned(self.variance)[1]

    @property
    def margin(self) -> float:
        """The largest half-width of the intervals over the categories, or that of the requested category."""
        return self.demand.half_width(self.variance, float(self.w[self.position]))

    @property
    def dummies(self) -> int:
        """The number of dummy rows that are added."""
        return self.design.dummy_rows(self.people)

    @property
    def people_even(self) -> int:
        """The number of people needed at the even distribution."""
        return self.demand.planned(self._variance_even)[0]

    @property
    def margin_even(self) -> float:
        """The largest half-width at the even distribution."""
        return self.demand.half_width(self._variance_even, 1 / self.design.p)

    @property
    def _variance_even(self) -> float:
        return self.demand.largest(self.variances_even, self._even)

    @property
    def _even(self) -> FloatArray:
        return np.full(self.design.p, 1 / self.design.p)

    @property
    def cost(self) -> float:
        """How many times as many people it needs as asking directly, planned in the same way."""
        return self.variance / self.direct if self.direct else inf

    @property
    def cost_even(self) -> float:
        """How many times as many people it needs as asking directly, at the even distribution."""
        even = self._even
        return self._variance_even / self.demand.largest(even * (1 - even), even)

    @property
    def loss(self) -> float:
        """The squared error summed over the categories, relative to asking directly, at `compared`."""
        direct = 1 - float(self.compared @ self.compared)
        return float(self.variances.sum()) / direct if direct else inf

    @property
    def efficiency(self) -> float:
        """The least cost per row at the even distribution of designs that reveal as much, divided by its cost."""
        p, real = self.design.p, self.design.real_share
        # Dummy rows carry no information, so cells of a release are less informative than without them.
        S = self.design.S * (real + self.design.dummy_share)
        return least_cost(self.design, S) * (1 - 1 / p) * real / float(self.variances_even.sum())

    # Leaks ------------------------------------------------------------------------------------

    @property
    def maximal_leakage(self) -> float:
        """The maximal leakage in bits: the reports multiply the chance of a right guess by at most 2 to this power."""
        return log2(self.design.S)

    @property
    def smallest_set(self) -> int:
        """The smallest number of values that a report leaves possible."""
        return self.design.smallest_set

    @cached_property
    def leaks(self) -> dict[str, float]:
        """The numbers of `audit` at `compared`; NaN if the design is too large for an audit."""
        try:
            facts = audit(self.design, self.compared).to_dict()
        except TooLargeError:
            facts = {}
        known = {name: facts.get(name) for name in LEAKS}
        return {name: np.nan if value is None else float(value) for name, value in known.items()}

    # Output -----------------------------------------------------------------------------------

    def numbers(self) -> dict[str, Any]:
        """Return the numbers under stable names, NaN if there is none."""
        return {"design": self.name, **{name: getattr(self, name) for name in NUMBERS}, **self.leaks}

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names, for JSON. Numbers that are unknown or not finite are None."""
        facts = {**self.numbers(), "category": self.category, "by_group": self.by_group, "notes": self.notes}
        document: dict[str, Any] = plain(facts)
        return document

    def _columns(self) -> Mapping[str, Any]:
        return {name: [value] for name, value in self.numbers().items()}

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook: a row per number."""
        groups = [(f"people, {name}", f"{size}") for name, size in self.by_group.items()]
        rows = (
            ("people", whole(self.people)),
            *groups,
            ("half-width", f"±{number(self.margin)}"),
            ("hardest category", label_text(self.category)),
            ("times the people of asking directly", times(self.cost)),
            ("bits revealed at most", bits(self.maximal_leakage)),
            ("values left at least", f"{self.smallest_set}"),
            ("best guess right", number(self.leaks["prediction_leakage"], 3)),
            ("largest posterior", number(self.leaks["largest_posterior"], 3)),
        )
        return Table(f"{self.name} on {self.design.p} categories", ("", "value"), rows, self.notes)

    def __repr__(self) -> str:
        return f"<PlanOption {self.name}: {people(self.people)} for ±{self.margin:.4g}>"


def option(design: Design, demand: Demand, w: FloatArray | None) -> PlanOption:
    """Plan for one design, at w or at its least favorable distribution."""
    design.require_identifiable()
    even = np.full(design.p, 1 / design.p)
    at_even = precision(design, even)
    drawn = design.drawing_note
    notes = [] if drawn is None else [Note(NoteKind.ASSUMPTION, drawn)]
    if w is None:
        worst = least_favorable(design, demand.category)
        notes += _approximations(worst.estimator, worst.bound / worst.variance - 1, 0.0)
        numbers = (worst.w, worst.category, worst.variance, 0.25, even, at_even.variances)
        return PlanOption(design, demand, *numbers, at_even.variances, worst.estimator, tuple(notes))
    at_w = precision(design, w)
    notes += _approximations(at_w.estimator, 0.0, at_w.error)
    variance, direct = (demand.largest(variances, w) for variances in (at_w.variances, w * (1 - w)))
    numbers = (w, demand.hardest(at_w.variances, w), variance, direct, w, at_w.variances)
    return PlanOption(design, demand, *numbers, at_even.variances, at_w.estimator, tuple(notes))


def _approximations(estimator: str, missed: float, error: float) -> list[Note]:
    """Return the notes about approximations."""
    notes = []
    if missed > 0.01:
        more = f"some distribution may need up to {100 * missed:.0f}% more people"
        notes.append(Note(NoteKind.ASSUMPTION, more))
    if error:
        notes.append(Note(NoteKind.SIMULATED, f"simulated, within {200 * error:.1f}%"))
    if estimator == "mom":
        notes.append(Note(NoteKind.MOMENTS, "for the moment estimator; maximum likelihood needs no more"))
    return notes


def times(factor: float) -> str:
    """Return a factor as text."""
    if not isfinite(factor):
        return "-"
    return f"{factor:.2f}" if factor < 1000 else f"{factor:.0f}"


def bits(leak: float) -> str:
    """Return bits as text with three significant digits: Warner's 0.585 is not 0.58."""
    return number(leak, 2 if leak > 0.9995 else 3)
