"""Fitted shares of some variables of a log-linear model, with standard errors by the delta method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from attrs import field, frozen
from scipy.special import expit, logit, ndtri

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_level, read_only, shown
from subsetprivacy._choices import Engine
from subsetprivacy._types import FloatArray, IntArray, Label
from subsetprivacy.data.describing import joined_columns, shortened
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_analyses import VARIABLES_OF_THE_TABLE
from subsetprivacy.results import Result, plain, unknown_as_nan
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text, number, percent

if TYPE_CHECKING:
    from subsetprivacy.contingency.result import LogLinear

_MOST_ROWS = 60
_ZERO = 1e-9
_MOVES = 1e-6  # relative change of a share with a parameter that the data do not determine


@frozen(slots=False, eq=False, repr=False)
class FittedShares(Result):
    """Fitted shares of a log-linear model; made by `LogLinear.shares`.

    Attributes
    ----------
    names, given
        The variables, and the conditioning variables.
    cells
        The categories of each share: first of the conditioning variables, then of the others.
    estimate, se
        The shares and their standard errors; NaN if there are none.
    n
        The number of people.
    model
        The model that was fitted.
    """

    names: tuple[str, ...]
    given: tuple[str, ...]
    cells: tuple[tuple[Label, ...], ...]
    estimate: FloatArray = field(converter=read_only)
    se: FloatArray = field(converter=read_only)
    n: float
    model: str
    notes: tuple[Note, ...] = ()

    def interval(self, level: float = 0.95) -> FloatArray:
        r"""Return a confidence interval for each share, shape (shares, 2).

        Parameters
        ----------
        level
            The confidence level.

        Notes
        -----
        Wald intervals on the scale of :math:`\ln(w/(1-w))`, so they stay between 0 and 1. A share fitted as 0 or 1 has
        no interval.
        """
        z = float(ndtri((1 + check_level(level)) / 2))
        w = np.asarray(self.estimate)
        inside = (w > _ZERO) & (w < 1 - _ZERO)
        safe = np.where(inside, w, 0.5)
        half = z * np.where(inside, self.se, np.nan) / (safe * (1 - safe))
        with np.errstate(invalid="ignore", over="ignore"):
            ends = expit(logit(safe)[:, None] + half[:, None] * np.array([-1.0, 1.0]))
        return np.where((half < 1e-7)[:, None], w[:, None], ends)  # a known margin

    @property
    def _variables(self) -> tuple[str, ...]:
        return (*self.given, *self.names)

    def _title(self) -> str:
        within = f" within {' x '.join(self.given)}" if self.given else ""
        return f"Shares of {' x '.join(self.names)}{within}, fitted by {self.model}"

    def summary(self, *, level: float = 0.95, method: Literal["logit"] = "logit") -> Table:
        """Return the table to print or to show in a notebook, with the first shares if there are very many."""
        check_choice(method, ("logit",), "method")
        ends = self.interval(level)
        rows = tuple(
            (*map(label_text, cell), number(w), number(se), number(low), number(high))
            for cell, w, se, (low, high) in list(zip(self.cells, self.estimate, self.se, ends, strict=True))[
                :_MOST_ROWS
            ]
        )
        head = (*self._variables, "share", "se", f"lower {percent(level)}", f"upper {percent(level)}")
        short = shortened(len(rows), len(self.cells), "shares")
        title = f"{self._title()}, n = {self.n:,.0f}"
        return Table(title, head, rows, (*short, *self.notes), text_columns=len(self._variables))

    def to_dict(self, *, level: float = 0.95) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        ends = self.interval(level)
        return plain(
            {
                "names": self.names,
                "given": self.given,
                "cells": self.cells,
                "estimate": self.estimate,
                "se": self.se,
                "lower": ends[:, 0],
                "upper": ends[:, 1],
                "level": level,
                "n": self.n,
                "model": self.model,
                "notes": self.notes,
            }
        )

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the shares that `to_dict` wrote."""
        numbers = {name: np.array(list(map(unknown_as_nan, facts[name]))) for name in ("estimate", "se")}
        return cls(
            tuple(facts["names"]),
            tuple(facts["given"]),
            tuple(tuple(cell) for cell in facts["cells"]),
            numbers["estimate"],
            numbers["se"],
            float(facts["n"]),
            facts["model"],
            tuple(map(Note.from_dict, facts["notes"])),
        )

    def _columns(self, *, level: float = 0.95, method: Literal["logit"] = "logit") -> dict[str, Any]:
        check_choice(method, ("logit",), "method")
        ends = self.interval(level)
        ours = {
            "estimate": self.estimate,
            "se": self.se,
            "lower": ends[:, 0],
            "upper": ends[:, 1],
            "level": np.full(len(ends), level),
        }
        return joined_columns({name: [cell[k] for cell in self.cells] for k, name in enumerate(self._variables)}, ours)

    @overload
    def to_frame(
        self, *, engine: Literal["pandas"] = ..., level: float = ..., method: Literal["logit"] = ...
    ) -> PandasFrame: ...
    @overload
    def to_frame(
        self, *, engine: Literal["polars"], level: float = ..., method: Literal["logit"] = ...
    ) -> PolarsFrame: ...
    @overload
    def to_frame(
        self, *, engine: Literal["pyarrow"], level: float = ..., method: Literal["logit"] = ...
    ) -> ArrowTable: ...
    def to_frame(self, *, engine: Engine = "pandas", level: float = 0.95, method: Literal["logit"] = "logit") -> Frame:
        """Return a data frame with a row per share and a column for each variable."""
        return frame(self._columns(level=level, method=method), engine)

    def plot(self, *, level: float = 0.95, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Plot the shares with their intervals.

        Parameters
        ----------
        level
            The confidence level.
        title, ax
            The title, and the Matplotlib axes to draw on; by default a new figure.
        """
        ends = self.interval(level)
        labels = [label_text(cell) for cell in self.cells]
        heading = f"{self._title()}, {percent(level)} intervals, n = {self.n:,.0f}"
        return draw.estimate(
            labels,
            self.estimate,
            ends[:, 0],
            ends[:, 1],
            level=level,
            label=self.model,
            xlabel=f"share within {' x '.join(self.given)}" if self.given else "share of the population",
            title=title or heading,
            ax=ax,
        )

    def __repr__(self) -> str:
        return f"<FittedShares of {' x '.join(self._variables)}: {len(self.cells)} shares, {self.model}>"


def axes_of(fit: LogLinear, names: tuple[str, ...]) -> list[int]:
    """Return the positions of variables, or raise."""
    for name in names:
        if name not in fit.names:
            raise ArgumentError(
                f"`names` must be variables of the model; got {shown(name)}.",
                VARIABLES_OF_THE_TABLE(names=", ".join(fit.names)),
            )
    if len(set(names)) < len(names):
        raise ArgumentError("`names` must be different variables; got one twice.")
    return [fit.names.index(name) for name in names]


def slopes_of(fit: LogLinear, where: IntArray, size: int) -> FloatArray:
    """Return the derivatives of sums of shares, shape (size, parameters); `where` maps each cell to its sum."""
    w, Z = fit.fit.w, fit.structure.rows
    slopes = (Z - (Z @ w)[:, None]) * w
    out = np.zeros((size, len(Z)))
    np.add.at(out, where, slopes.T)
    return out


def shares_of(fit: LogLinear, names: tuple[str, ...], given: tuple[str, ...]) -> FittedShares:
    """Return fitted shares of some variables, optionally within the categories of others."""
    wanted = names or tuple(name for name in fit.names if name not in given)
    axes = axes_of(fit, (*given, *wanted))
    joint = fit.categories
    shape = [joint.shape[k] for k in axes]
    at = joint.coordinates(np.arange(joint.p))
    size = int(np.prod(shape))
    where = np.ravel_multi_index([at[k] for k in axes], shape)
    w = np.bincount(where, fit.fit.w, minlength=size).astype(np.float64)
    slopes = None if fit.fit.cov is None else slopes_of(fit, where, size)
    inner = int(np.prod([joint.parts[fit.names.index(name)].p for name in wanted]))
    if given:
        total = np.repeat(w.reshape(-1, inner).sum(axis=1), inner)
        safe = np.maximum(total, 1e-300)
        if slopes is not None:
            sums = np.repeat(slopes.reshape(-1, inner, slopes.shape[1]).sum(axis=1), inner, axis=0)
            slopes = (slopes - (w / safe)[:, None] * sums) / safe[:, None]
        w = w / safe
    se = np.full(size, np.nan)
    if slopes is not None and fit.fit.cov is not None:
        se = np.sqrt(np.maximum(np.einsum("ks,st,kt->k", slopes, fit.fit.cov, slopes, optimize=True), 0.0))
        if fit.fit.open_directions is not None:
            se[(np.abs(slopes @ fit.fit.open_directions) > _MOVES).any(axis=1)] = np.nan
    cells = tuple(
        zip(*(_labels(joint.parts[k].labels, part) for k, part in zip(axes, _places(shape), strict=True)), strict=True)
    )
    return FittedShares(wanted, given, cells, w, se, fit.n, fit.model, _notes(w, fit))


def _places(shape: list[int]) -> tuple[IntArray, ...]:
    return tuple(np.unravel_index(np.arange(int(np.prod(shape))), shape))


def _labels(labels: tuple[Label, ...], at: IntArray) -> list[Label]:
    return [labels[k] for k in at.tolist()]


def _notes(w: FloatArray, fit: LogLinear) -> tuple[Note, ...]:
    notes = []
    zero = int((w * fit.counts.total < 1e-3).sum()) if fit.zeros else 0
    if zero:
        notes.append(Note(NoteKind.BOUNDARY, f"Fitted as 0, without an interval: {zero} of {len(w)} shares."))
    if fit.fit.undetermined:
        notes.append(Note(NoteKind.NOT_UNIQUE, "The reported subsets do not determine all shares."))
    if fit.fit.cov is None:
        notes.append(Note(NoteKind.NO_STANDARD_ERRORS, "The model has no standard errors."))
    return tuple(notes)
