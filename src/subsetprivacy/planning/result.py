"""The result of a plan: a table of designs, and the one to take."""

from math import isfinite
from typing import Any

from attrs import frozen

from subsetprivacy import draw
from subsetprivacy.design import Design
from subsetprivacy.planning.options import Option
from subsetprivacy.planning.repeats import repeat_risk
from subsetprivacy.tables import Table, frame, number, percent


@frozen(eq=False, repr=False)
class Plan:
    """What every design would cost and give away, and which one to take.

    Attributes
    ----------
    options
        One `Option` per design.
    best
        The recommended option.
    cheaper
        The next cheaper option, which the limits rule out; None if there is none.
    level
        The confidence level.
    at_given_w
        Whether a distribution was given; else each design is planned for its least favourable one.
    limit, smallest
        The limits of the recommendation.
    """

    options: tuple[Option, ...]
    best: Option
    cheaper: Option | None
    level: float
    at_given_w: bool
    limit: float
    smallest: int

    @property
    def solves_people(self) -> bool:
        """Whether the margin was given and people are worked out, or the other way round."""
        return self.best.demand.margin is not None

    @property
    def direct(self) -> float:
        """What asking directly needs: people, or the half-width if people were given."""
        best = self.best
        return best.demand.people(best.direct) if self.solves_people else best.demand.half_width(best.direct)

    @property
    def recommended(self) -> Design:
        """The recommended design."""
        return self.best.design

    @property
    def people(self) -> int:
        """The people that the recommended design needs, or those given."""
        return self.best.people

    @property
    def margin(self) -> float:
        """The largest half-width over the categories with the recommended design."""
        return self.best.margin

    @property
    def reason(self) -> str:
        """Why the recommended design is recommended."""
        best = self.best
        limits = f"gives away at most {self.limit:g} bit and always leaves {self.smallest} or more values possible"
        within = [o for o in self.options if o.maximal_leakage <= self.limit + 1e-9 and o.smallest_set >= self.smallest]
        what = "needs the fewest people" if self.solves_people else "has the smallest margin"
        if len(within) == 1:
            return f"it alone {limits}"
        if best.variance > min(o.variance for o in within):
            what = f"is within 5 % of the {'fewest people' if self.solves_people else 'best'} and has the largest sets"
        return f"it {limits}, and of the {len(within)} designs that do it {what}"

    def to_dict(self) -> dict[str, Any]:
        """Return the recommendation and every design's numbers under stable names, None where one is not finite."""
        return {
            "recommended": self.best.name,
            "reason": self.reason,
            "level": self.level,
            "direct": self.direct,
            "options": [{name: _plain(value) for name, value in o.to_dict().items()} for o in self.options],
        }

    def to_frame(self, *, engine: str = "pandas") -> Any:
        """Return a data frame of pandas, polars or pyarrow: a row per design."""
        rows = [o.to_dict() for o in self.options]
        return frame({name: [row[name] for row in rows] for name in rows[0]}, engine)

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook."""
        asked = "people" if self.solves_people else "margin"
        planned = f"{asked}, {'given' if self.at_given_w else 'worst'} w"
        columns = ("design", planned, f"{asked}, even w", "loss", "efficiency", *_LEAK_COLUMNS)
        rows = tuple(self._row(o) for o in self.options)
        return Table(self._title(), columns, rows, tuple(self._notes()))

    def _row(self, o: Option) -> tuple[str, ...]:
        if self.solves_people:
            wanted = (f"{o.people} ({_times(o.cost)})", f"{o.people_even} ({_times(o.cost_even)})")
        else:
            wanted = (f"±{number(o.margin)} ({_times(o.cost)})", f"±{number(o.margin_even)} ({_times(o.cost_even)})")
        leaks = [number(o.leaks[name], 3) for name in ("mi_leakage", "size_leakage", "prediction_leakage")]
        mark = "* " if o is self.best else "  "
        return (
            mark + o.name,
            *wanted,
            _times(o.loss),
            number(o.efficiency, 3),
            number(o.maximal_leakage, 2),
            *leaks,
            f"{o.smallest_set}",
            number(o.leaks["largest_posterior"], 3),
        )

    def _title(self) -> str:
        p = self.recommended.p
        where = "the given distribution" if self.at_given_w else "whatever the distribution"
        what = f"±{100 * self.margin:.3g} points" if self.solves_people else f"{self.people} people"
        return f"Plan for {p} categories: {what} at {percent(self.level)}, {where}"

    def _notes(self) -> list[str]:
        best = self.best
        direct = f"{self.direct:.0f} people" if self.solves_people else f"±{self.direct:.4f}"
        leak_w = "the given" if self.at_given_w else "the even"
        lines = [f"* Recommended: {best.name}: {self.reason}."]
        if self.cheaper is not None:
            lines.append(self._alternative(self.cheaper))
        lines.append(
            f"Asking directly: {direct}; x is the cost against it. People are those who answer"
            + (f"; {best.dummies} dummy rows come on top." if best.dummies else ".")
        )
        lines.append(
            f"Loss (squared error, summed) and leaks are at {leak_w} distribution, where the best guess without data "
            f"is right with probability {best.leaks['prediction_baseline']:.2g}; max. leak holds for every one."
        )
        lines.append(_if_asked_twice(best.design))
        even = 1 / best.design.p
        if self.margin > even:
            lines.append(f"An even share is {even:.2g}, less than the margin: rare categories will not be told from 0.")
        remarked = {f"{o.name}: {remark}." for o in self.options for remark in o.remarks}
        return lines + sorted(remarked)

    def _alternative(self, other: Option) -> str:
        best = self.best
        if self.solves_people:
            gain = f"{other.people} people, {100 * (1 - other.variance / best.variance):.0f} % fewer"
        else:
            gain = f"±{other.margin:.4f}"
        return (
            f"Next cheaper: {other.name}, {gain}; it gives away up to {other.maximal_leakage:.2f} bit "
            f"instead of {best.maximal_leakage:.2f}, and leaves {other.smallest_set} values or more "
            f"instead of {best.smallest_set}."
        )

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the people needed, or the margin, of every design, beside its maximal leakage and smallest set."""
        people = self.solves_people
        return draw.costs(
            [o.name for o in self.options],
            [float(o.people) if people else o.margin for o in self.options],
            [float(o.people_even) if people else o.margin_even for o in self.options],
            remarks=[f"{o.maximal_leakage:.2f} bit, sets of {o.smallest_set} or more" for o in self.options],
            direct=self.direct,
            recommended=self.options.index(self.best),
            what="people needed" if people else "largest half-width",
            names=("given w" if self.at_given_w else "worst w", "even w"),
            title=self._title().partition(": ")[2],
            ax=ax,
        )

    def __repr__(self) -> str:
        return f"<Plan: {self.best!r} of {len(self.options)} designs>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def _plain(value: Any) -> Any:
    """Return a value that JSON has: None for a number that is not known or not finite."""
    return None if isinstance(value, float) and not isfinite(value) else value


def _if_asked_twice(design: Design) -> str:
    again = repeat_risk(design)
    if isfinite(again.odds):
        return f"Ask each person once: two answers can multiply the odds of a value by {again.odds:.3g}."
    return (
        f"Ask each person once: a second draw would leave {_few(again.expected)} candidates on average, and "
        f"one alone with probability {again.probability:.2g}. {again.remark}".rstrip()
    )


def _times(factor: float) -> str:
    return f"{factor:.2f}x" if factor < 1000 else f"{factor:.0f}x"


def _few(count: float) -> str:
    return f"{count:.3g}" if count < 100 else f"{count:.0f}"


_LEAK_COLUMNS = ("max. leak", "MI", "size", "guess", "smallest", "posterior")
