"""`Plan`: the result of `plan`, a table of designs with a recommendation."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from attrs import frozen

from subsetprivacy import draw
from subsetprivacy._words import counted, whole
from subsetprivacy.design import Design
from subsetprivacy.messages import Note
from subsetprivacy.planning import plan_notes
from subsetprivacy.planning.options import PlanOption, bits, times
from subsetprivacy.planning.plan_notes import PlanLimits
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import Table, label_text, number, percent


@frozen(eq=False, repr=False)
class Plan(Result):
    """The cost and the leakage of every design, and a recommendation.

    Attributes
    ----------
    options
        One `PlanOption` per design.
    best
        The recommended option.
    cheaper
        The next cheaper option, which the limits rule out, or None.
    level
        The confidence level.
    at_given_w
        Whether a distribution was given. Otherwise each design is planned for its least favorable one.
    limits
        The limits of the recommendation.
    """

    why_not_restored: ClassVar[str] = "keep the arguments of `plan`, and plan again"

    options: tuple[PlanOption, ...]
    best: PlanOption
    cheaper: PlanOption | None
    level: float
    at_given_w: bool
    limits: PlanLimits

    @property
    def solves_people(self) -> bool:
        """Whether the number of people was computed from a margin, rather than the margin from the number of people."""
        return self.best.demand.n is None

    @property
    def direct(self) -> float:
        """The number of people for asking directly, or its half-width if the number of people was given."""
        best = self.best
        return best.demand.planned(best.direct)[0] if self.solves_people else best.demand.half_width(best.direct, 1.0)

    @property
    def recommended(self) -> Design:
        """The recommended design."""
        return self.best.design

    @property
    def people(self) -> int:
        """The number of people for the recommended design, or the given number, over all groups."""
        return self.best.people

    @property
    def by_group(self) -> dict[str, int]:
        """The number of people in each group or subgroup with the recommended design; empty if there are none."""
        return self.best.by_group

    @property
    def margin(self) -> float:
        """The largest half-width over the categories with the recommended design, or that of the requested category."""
        return self.best.margin

    @property
    def reason(self) -> str:
        """The reason for the recommendation."""
        return plan_notes.reason(self.options, self.best, self.limits)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """The recommendation, its assumptions, and the meaning of the columns."""
        return plan_notes.notes(self.options, self.best, self.cheaper, self.limits, at_given_w=self.at_given_w)

    # Output -----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the recommendation and the numbers of every design under stable names, None if not finite."""
        demand = self.best.demand
        labels = self.recommended.categories.labels
        facts: dict[str, Any] = plain(
            {
                "recommended": self.best.name,
                "reason": self.reason,
                "people": self.people,
                "by_group": self.by_group,
                "margin": self.margin,
                "relative": demand.relative,
                "category": None if demand.category is None else labels[demand.category],
                "level": self.level,
                "direct": self.direct,
                "options": [o.to_dict() for o in self.options],
                "notes": self.notes,
            }
        )
        return facts

    def _columns(self) -> Mapping[str, Any]:
        rows = [o.numbers() for o in self.options]
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        for group in self.by_group:
            columns[f"people {group}"] = [o.by_group[group] for o in self.options]
        return columns

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook: a row per design."""
        asked = "people" if self.solves_people else "margin"
        columns = ("design", asked, "times direct", "even shares", "max. leak", "smallest set", "best guess")
        return Table(self._title(), columns, tuple(map(self._row, self.options)), self.notes)

    def _row(self, o: PlanOption) -> tuple[str, ...]:
        if self.solves_people:
            planned, even = whole(o.people), whole(o.people_even)
        else:
            planned, even = f"±{number(o.margin)}", f"±{number(o.margin_even)}"
        mark = "* " if o is self.best else "  "
        guess = number(o.leaks["prediction_leakage"], 3)
        return (mark + o.name, planned, times(o.cost), even, bits(o.maximal_leakage), f"{o.smallest_set}", guess)

    def _title(self) -> str:
        where = "the given distribution" if self.at_given_w else "whatever the distribution"
        return f"Plan for {self._subject()}: {self._requirement()} at {percent(self.level)}, {where}"

    def _heading(self) -> str:
        """Return the title of the picture."""
        where = "at the given distribution" if self.at_given_w else "whatever the distribution"
        category = self._one_category()
        if self.solves_people:
            of = f" ({category})" if category else ""
            return f"People needed for {self._requirement()}{of} at {percent(self.level)}, {where}"
        people = counted(self.people, "person", "people")
        of = f" of the share of {category}" if category else ""
        return f"Half-width of {percent(self.level)} intervals{of} from {people}, {where}"

    def _subject(self) -> str:
        category, number_of = self._one_category(), counted(self.recommended.p, "category", "categories")
        return f"{category}, one of {number_of}" if category else number_of

    def _one_category(self) -> str:
        """Return the requested category, empty if the plan is for all."""
        position = self.best.demand.category
        return "" if position is None else label_text(self.recommended.categories.labels[position])

    def _requirement(self) -> str:
        """Return the requirement in words."""
        demand = self.best.demand
        aim = counted(self.people, "person", "people")
        if demand.relative is not None:
            aim = f"±{percent(demand.relative)} of the share"
        elif demand.margin is not None:
            aim = f"±{100 * demand.margin:.3g} points"
        parts = demand.parts
        if not parts.shares:
            return aim
        number_of = len(parts.shares)
        if parts.compared:
            return f"{aim} for differences between {number_of} groups"
        subgroups = counted(number_of, "subgroup")
        return f"{aim} in each of {subgroups}" if self.solves_people else f"{aim} for the shares in {subgroups}"

    def plot(self, *, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Draw the number of people or the margin of every design, with its maximal leakage and smallest set.

        Parameters
        ----------
        title, ax
            The title, and the Matplotlib axes to draw on; by default a new figure.
        """
        people = self.solves_people
        return draw.costs(
            [o.name for o in self.options],
            [float(o.people) if people else o.margin for o in self.options],
            [float(o.people_even) if people else o.margin_even for o in self.options],
            remarks=[self._remark(o) for o in self.options],
            direct=self.direct,
            recommended=self.options.index(self.best),
            what="people needed" if people else "half-width" if self._one_category() else "largest half-width",
            names=("given shares" if self.at_given_w else "least favorable shares", "even shares"),
            title=draw.Heading(self._heading()) if title is None else title,
            ax=ax,
        )

    def _remark(self, o: PlanOption) -> str:
        """Return the text at the end of a design's row in the picture."""
        planned = f"{o.people:,}" if self.solves_people else f"±{number(o.margin)}"
        return f"{planned}; {bits(o.maximal_leakage)} bit, sets of {o.smallest_set} or more"

    def __repr__(self) -> str:
        best = self.best
        needed = f"{counted(best.people, 'person', 'people')} for ±{best.margin:.4g}"
        return f"<Plan: {best.name}, {needed}, of {counted(len(self.options), 'design')}>"
