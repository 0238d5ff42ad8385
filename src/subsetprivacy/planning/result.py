"""The result of a plan: a table of designs, and the one to take."""

from math import inf, isfinite
from typing import Any, Literal, overload

from attrs import frozen

from subsetprivacy import draw
from subsetprivacy._choices import Engine
from subsetprivacy._words import counted
from subsetprivacy.design import Design
from subsetprivacy.planning.options import Option
from subsetprivacy.planning.repeats import repeat_risk
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, number, percent


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
        The limits of the recommendation: the most bits, and the fewest values that every report leaves.
    is_default_limit
        Whether `limit` is the default.
    """

    options: tuple[Option, ...]
    best: Option
    cheaper: Option | None
    level: float
    at_given_w: bool
    limit: float
    smallest: int
    is_default_limit: bool = False

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
        limits = f"gives away at most {self._limit()} and always leaves {self.smallest} or more values possible"
        within = [o for o in self.options if o.maximal_leakage <= self.limit + 1e-9 and o.smallest_set >= self.smallest]
        what = "needs the fewest people" if self.solves_people else "has the smallest margin"
        if len(within) == 1:
            return f"it alone {limits}"
        if best.variance > min(o.variance for o in within):
            what = f"is within 5 % of the {'fewest people' if self.solves_people else 'best'} and has the largest sets"
        return f"it {limits}, and of the {counted(len(within), 'design that does', 'designs that do')} it {what}"

    def _limit(self) -> str:
        """Return the most bits in words, and what a default means."""
        if not self.is_default_limit:
            return f"{self.limit:g} bit"
        if self.recommended.p == 2:
            return (
                f"{self.limit:.3f} bit (the default for two categories: Warner's question with q = 1/4, which "
                "triples the odds at most)"
            )
        return f"{self.limit:g} bit (the default: a yes/no question)"

    def to_dict(self) -> dict[str, Any]:
        """Return the recommendation and every design's numbers under stable names, None where one is not finite."""
        return {
            "recommended": self.best.name,
            "reason": self.reason,
            "level": self.level,
            "direct": self.direct,
            "options": [{name: _plain(value) for name, value in o.to_dict().items()} for o in self.options],
        }

    @overload
    def to_frame(self, *, engine: Literal["pandas"] = ...) -> PandasFrame: ...
    @overload
    def to_frame(self, *, engine: Literal["polars"]) -> PolarsFrame: ...
    @overload
    def to_frame(self, *, engine: Literal["pyarrow"]) -> ArrowTable: ...
    def to_frame(self, *, engine: Engine = "pandas") -> Frame:
        """Return a data frame of pandas, polars or pyarrow: a row per design."""
        rows = [o.to_dict() for o in self.options]
        return frame({name: [row[name] for row in rows] for name in rows[0]}, engine)

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook."""
        asked = "people" if self.solves_people else "margin"
        planned = f"{asked}, {'given' if self.at_given_w else 'worst'} w"
        columns = ("design", planned, f"{asked}, even w", "loss", "bound met, even w", *_LEAK_COLUMNS)
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
            _bits(o.maximal_leakage),
            *leaks,
            f"{o.smallest_set}",
            number(o.leaks["largest_posterior"], 3),
        )

    def _title(self) -> str:
        p = self.recommended.p
        where = "the given distribution" if self.at_given_w else "whatever the distribution"
        what = f"±{100 * self.margin:.3g} points" if self.solves_people else counted(self.people, "person", "people")
        return f"Plan for {p} categories: {what} at {percent(self.level)}, {where}"

    def _heading(self) -> str:
        """Return the title of the picture."""
        where = "at the given distribution" if self.at_given_w else "whatever the distribution"
        if self.solves_people:
            return f"People needed for ±{100 * self.margin:.3g} points at {100 * self.level:.6g}%, {where}"
        people = counted(self.people, "person", "people", comma=True)
        return f"Half-width of {100 * self.level:.6g}% intervals from {people}, {where}"

    def _notes(self) -> list[str]:
        best = self.best
        lines = [f"* Recommended: {best.name}: {self.reason}."]
        if self.cheaper is not None:
            lines.append(self._alternative(self.cheaper))
        direct = counted(self.direct, "person", "people") if self.solves_people else f"±{self.direct:.4f}"
        dummies = f"; {counted(best.dummies, 'dummy row comes', 'dummy rows come')} on top." if best.dummies else "."
        lines.append(f"Asking directly: {direct}. People are those who answer{dummies}")
        lines.append(_if_asked_twice(best.design))
        even = 1 / best.design.p
        if self.margin > even:
            lines.append(f"An even share is {even:.2g}, less than the margin: rare categories will not be told from 0.")
        return [*lines, *self._remarks(), *self._legend()]

    def _remarks(self) -> list[str]:
        """Return each remark once, in the order of the table, with the designs it is about."""
        about: dict[str, list[str]] = {}
        for o in self.options:
            for remark in dict.fromkeys(o.remarks):
                about.setdefault(remark, []).append(o.name)
        every = len(self.options) if len(self.options) > 1 else inf
        return [
            f"{'All designs' if len(names) == every else '; '.join(names)}: {remark}."
            for remark, names in about.items()
        ]

    def _legend(self) -> list[str]:
        """Say what the columns mean."""
        where = "the given" if self.at_given_w else "the even"
        guess = self.best.leaks["prediction_baseline"]
        return [
            f"Costs: x, the people over those of asking directly; loss, the same for the squared error summed over the "
            f"categories, at {where} distribution; bound met, the share of the bound (p-1)/(S-1) on that cost that is "
            "met at the even one (1: nothing cheaper with this max. leak).",
            f"Leaks: max. leak, bits at most, whatever the distribution; at {where} one MI, bits on average; size, the "
            "population share of what a report rules out, on average; guess, how often the best guess is right "
            f"({guess:.2g} without data); posterior, the largest probability of a value given a report. "
            "Smallest: how many values a report leaves at least.",
        ]

    def _alternative(self, other: Option) -> str:
        best = self.best
        if self.solves_people:
            gain = (
                f"{counted(other.people, 'person', 'people')}, {100 * (1 - other.variance / best.variance):.0f} % fewer"
            )
        else:
            gain = f"±{other.margin:.4f}"
        least = f"{other.smallest_set} values or more"
        instead = "as well" if other.smallest_set == best.smallest_set else f"instead of {best.smallest_set}"
        return (
            f"Next cheaper: {other.name}, {gain}; it gives away up to {_bits(other.maximal_leakage)} bit "
            f"instead of {_bits(best.maximal_leakage)}, and leaves {least} {instead}."
        )

    def plot(self, *, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Draw the people needed, or the margin, of every design, next to its maximal leakage and smallest set.

        Parameters
        ----------
        title, ax
            A heading, and the Matplotlib axes to draw in; by default those of a new figure.
        """
        people = self.solves_people
        return draw.costs(
            [o.name for o in self.options],
            [float(o.people) if people else o.margin for o in self.options],
            [float(o.people_even) if people else o.margin_even for o in self.options],
            remarks=[f"{_bits(o.maximal_leakage)} bit, sets of {o.smallest_set} or more" for o in self.options],
            direct=self.direct,
            recommended=self.options.index(self.best),
            what="people needed" if people else "largest half-width",
            names=("given w" if self.at_given_w else "worst w", "even w"),
            title=draw.Heading(self._heading()) if title is None else title,
            ax=ax,
        )

    def __repr__(self) -> str:
        return f"<Plan: {self.best!r} of {counted(len(self.options), 'design')}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def _plain(value: Any) -> Any:
    """Return a value that JSON has: None for a number that is not known or not finite."""
    return None if isinstance(value, float) and not isfinite(value) else value


def _if_asked_twice(design: Design) -> str:
    again = repeat_risk(design)
    if isfinite(again.odds):
        return f"Ask each person once: two answers can multiply the odds of a value by up to {again.odds:.3g}."
    return (
        f"Ask each person once: a second draw would leave {_few(again.expected)} candidates on average, and "
        f"one alone with probability {again.probability:.2g}. {again.remark}".rstrip()
    )


def _times(factor: float) -> str:
    if not isfinite(factor):
        return "-"
    return f"{factor:.2f}x" if factor < 1000 else f"{factor:.0f}x"


def _bits(leak: float) -> str:
    """Return bits with three digits that say something: Warner's 0.585 is not 0.58."""
    return number(leak, 2 if leak > 0.9995 else 3)


def _few(count: float) -> str:
    return f"{count:.3g}" if count < 100 else f"{count:.0f}"


_LEAK_COLUMNS = ("max. leak", "MI", "size", "guess", "smallest", "posterior")
