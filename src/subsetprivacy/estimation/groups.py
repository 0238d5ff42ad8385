"""`EstimateBatch`: the estimates of several groups or samples, by name."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar, Literal, overload

import numpy as np
from attrs import frozen

from subsetprivacy import draw
from subsetprivacy._choices import Engine, IntervalMethod
from subsetprivacy._types import AnyArray, FloatArray, IntArray
from subsetprivacy._words import counted, group_text
from subsetprivacy.errors import CategoryError
from subsetprivacy.estimation import presenting
from subsetprivacy.estimation.caveats import with_interval_advice
from subsetprivacy.estimation.difference import Difference
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.estimation.survey_sample import without_effects
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_estimates import ALL_ROWS, INTERVALS_OF_ONE_GROUP, LOOK_AT_NAMES
from subsetprivacy.results import Result, plain
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text, number, percent

_MOST_ADJUSTED = 60  # the most groups with likelihood intervals by default: a few seconds
_MOST_ROWS = 64


@frozen(slots=False, eq=False, repr=False)
class EstimateBatch(Result):
    """The estimates of several groups. Index it by name, or iterate over it.

    Attributes
    ----------
    estimates
        The estimates.
    names
        The names of the groups, in the same order: labels, or tuples of labels if several columns define the groups.
        Samples without names are numbered from 0.
    by
        The names of the columns that define the groups.
    """

    why_not_restored: ClassVar[str] = "save the counts with `groups.to_dict()` and estimate from them again"

    estimates: tuple[Estimate, ...]
    names: tuple[Any, ...]
    by: tuple[str, ...] = ("group",)

    def __len__(self) -> int:
        return len(self.estimates)

    def __getitem__(self, name: Any) -> Estimate:
        """Return the estimate of the named group."""
        return self.estimates[self._position(name)]

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.estimates)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def items(self) -> Iterator[tuple[Any, Estimate]]:
        """Return the names with their estimates."""
        return zip(self.names, self.estimates, strict=True)

    @cached_property
    def _places(self) -> dict[Any, int]:
        # Groups by a list of one column have names that are tuples of length one. The bare value works as well.
        alone = {name[0]: k for k, name in enumerate(self.names) if isinstance(name, tuple) and len(name) == 1}
        return {**alone, **{name: k for k, name in enumerate(self.names)}}

    def _position(self, name: Any) -> int:
        try:
            return self._places[name]
        except (KeyError, TypeError):
            raise CategoryError(
                f"`name` must be one of the {len(self)} groups by {' and '.join(self.by)}; got another one.",
                LOOK_AT_NAMES,
            ) from None

    def __repr__(self) -> str:
        return f"<EstimateBatch: {counted(len(self), 'estimate')} by {self.estimates[0].method}>"

    # Numbers --------------------------------------------------------------------------------------

    @property
    def categories(self) -> Categories:
        """The categories, in the order of the columns of `w`."""
        return self.estimates[0].categories

    @cached_property
    def _orders(self) -> list[IntArray]:
        """For each estimate, the positions of the categories of the first estimate; the orders may differ."""
        return [np.array([fit.categories.index(label) for label in self.categories]) for fit in self.estimates]

    @cached_property
    def w(self) -> FloatArray:
        """The estimates, a row per group."""
        return np.array([fit.w[at] for fit, at in zip(self.estimates, self._orders, strict=True)])

    @cached_property
    def se(self) -> FloatArray:
        """The standard errors, a row per group."""
        return np.array([fit._shown_se[at] for fit, at in zip(self.estimates, self._orders, strict=True)])

    @property
    def n(self) -> FloatArray:
        """The number of people with an informative subset in each group."""
        return np.array([fit.n for fit in self.estimates])

    @cached_property
    def loglik(self) -> FloatArray:
        """The log-likelihood of each estimate."""
        return np.array([fit.loglik for fit in self.estimates])

    @cached_property
    def gap(self) -> FloatArray:
        """The certified gap of each estimate."""
        return np.array([fit.gap for fit in self.estimates])

    @cached_property
    def converged(self) -> AnyArray:
        """Whether each estimate converged."""
        return np.array([fit.converged for fit in self.estimates])

    def interval(self, level: float = 0.95, *, method: IntervalMethod = "auto") -> FloatArray:
        """Return the confidence intervals, shape (groups, p, 2).

        Parameters
        ----------
        level
            The confidence level of each interval.
        method
            As in `Estimate.interval`; ``"auto"`` uses Wald intervals for more than 60 groups.
        """
        chosen = self._method(method)
        intervals = [fit._intervals(level, chosen, None, 999, None) for fit in self.estimates]
        return np.array([each.bounds[at] for each, at in zip(intervals, self._orders, strict=True)])

    def _method(self, method: IntervalMethod) -> IntervalMethod:
        return "wald" if method == "auto" and len(self) > _MOST_ADJUSTED else method

    # Comparisons ----------------------------------------------------------------------------------

    def difference(self, one: Any, two: Any) -> Difference:
        """Return the difference of each share between two groups, the first minus the second.

        Parameters
        ----------
        one, two
            The names of the groups.
        """
        return self[one].difference(self[two], names=(group_text(one), group_text(two)))

    # Output ---------------------------------------------------------------------------------------

    @property
    def notes(self) -> tuple[Note, ...]:
        """The caveats of the estimates, each kind once, with the number of groups affected."""
        about: dict[NoteKind, list[tuple[Any, Note]]] = {}
        for name, fit in self.items():
            for note in fit.notes:
                about.setdefault(note.kind, []).append((name, note))
        return tuple(_shared(noted, len(self)) for noted in about.values())

    def _columns(self, level: float = 0.95, method: IntervalMethod = "auto") -> dict[str, Any]:
        p = self.categories.p
        parts = [name if isinstance(name, tuple) and len(name) == len(self.by) else (name,) for name in self.names]
        groups = {
            self._free_name(column): [part[k] for part in parts for _ in range(p)] for k, column in enumerate(self.by)
        }
        bounds = self.interval(level, method=method).reshape(-1, 2)
        labels = list(self.categories.labels) * len(self)
        shares = presenting.shares(labels, self.w.ravel(), self.se.ravel(), bounds, level)
        return {**groups, **shares, "n": np.repeat(self.n, p)}

    def _free_name(self, column: str) -> str:
        """Return a name for a column of groups that no column of numbers has."""
        taken = {"category", "estimate", "se", "lower", "upper", "level", "n"}
        return f"{column} (group)" if column in taken else column

    @overload
    def to_frame(
        self, level: float = ..., *, method: IntervalMethod = ..., engine: Literal["pandas"] = ...
    ) -> PandasFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: IntervalMethod = ..., engine: Literal["polars"]
    ) -> PolarsFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: IntervalMethod = ..., engine: Literal["pyarrow"]
    ) -> ArrowTable: ...
    def to_frame(self, level: float = 0.95, *, method: IntervalMethod = "auto", engine: Engine = "pandas") -> Frame:
        """Return a data frame with a row per group and category, and the groups in separate columns.

        Parameters
        ----------
        level, method
            As in `interval`.
        engine
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``.
        """
        return frame(self._columns(level, method), engine)

    def to_dict(self, level: float = 0.95, *, method: IntervalMethod = "auto") -> dict[str, Any]:
        """Return the numbers as plain lists, for JSON: for each group, what `Estimate.to_dict` returns."""
        chosen = self._method(method)
        groups = [{"group": name, **fit.to_dict(level, method=chosen)} for name, fit in self.items()]
        return plain({"by": self.by, "groups": groups, "notes": self.notes})

    def summary(self, level: float = 0.95, *, method: IntervalMethod = "auto") -> Table:
        """Return the table to print or to show in a notebook: a row per group and category, for the first groups.

        Parameters
        ----------
        level, method
            As in `interval`.
        """
        p = self.categories.p
        shown = max(_MOST_ROWS // p, 1)
        part = self if len(self) <= shown else EstimateBatch(self.estimates[:shown], self.names[:shown], self.by)
        bounds = part.interval(level, method=self._method(method))
        rows = [
            (
                group_text(name) if j == 0 else "",
                label_text(label),
                *(number(x) for x in (part.w[g, j], part.se[g, j], *bounds[g, j])),
            )
            for g, name in enumerate(part.names)
            for j, label in enumerate(self.categories)
        ]
        head = (
            ", ".join(self.by),
            "category",
            "estimate",
            "std. error",
            f"lower {percent(level)}",
            f"upper {percent(level)}",
        )
        notes: list[Note] = []
        if part is not self:
            notes.append(Note(NoteKind.SHORTENED, f"The first {len(part)} of {len(self)} groups.", ALL_ROWS))
        if self._method(method) != method:
            text = f"Intervals by estimate and standard error, since there are more than {_MOST_ADJUSTED} groups."
            notes.append(Note(NoteKind.INTERVAL_METHOD, text, INTERVALS_OF_ONE_GROUP))
        estimator = presenting.method_words(self.estimates[0])
        title = f"Estimated shares by {' and '.join(self.by)}, {estimator}, {counted(len(self), 'group')}"
        # Likelihood intervals already follow the advice of the notes.
        caveats = self.notes if self._method(method) == "wald" else with_interval_advice(self.notes, None)
        return Table(title, head, tuple(rows), (*notes, *without_effects(caveats)), text_columns=2)

    def plot(
        self,
        *,
        level: float = 0.95,
        method: IntervalMethod = "auto",
        title: str | None = None,
    ) -> "draw.Figure":
        """Plot the shares by group: a panel per category, and a row per group, in order.

        Parameters
        ----------
        level, method
            As in `interval`.
        title
            The title. The default describes the plot.
        """
        bounds = self.interval(level, method=method)
        n = sum(estimate.n for estimate in self.estimates)
        return draw.by_group(
            [group_text(name) for name in self.names],
            [label_text(label) for label in self.categories],
            self.w,
            bounds[..., 0],
            bounds[..., 1],
            level=level,
            what="share of the group",
            title=title or f"Estimated shares by {' and '.join(self.by)}, {100 * level:.6g}% intervals, n = {n:,.0f}",
        )


def _shared(noted: list[tuple[Any, Note]], groups: int) -> Note:
    """Return one note for several of the same kind, with the groups affected."""
    name, note = noted[0]
    if len(noted) == 1:
        return Note(note.kind, f"{group_text(name)}: {note.text}", note.advice)
    named = ", ".join(group_text(name) for name, _ in noted[:3]) + (", …" if len(noted) > 3 else "")
    return Note(note.kind, f"{len(noted)} of {groups} groups ({named}). The first: {note.text}", note.advice)
