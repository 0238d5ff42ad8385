"""The distribution of one variable within each category of another."""

from functools import cached_property
from typing import Any, ClassVar, Literal, overload

import numpy as np
from attrs import frozen

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_level
from subsetprivacy._choices import ContrastMethod, Engine
from subsetprivacy._types import FloatArray
from subsetprivacy.estimation.contrast import METHODS, chosen_method
from subsetprivacy.estimation.intervals import SignedScore, search_end
from subsetprivacy.estimation.linear_profile import LinearProfile
from subsetprivacy.estimation.margins import Margin
from subsetprivacy.estimation.profile import ProfilePoint
from subsetprivacy.estimation.survey_sample import critical_value
from subsetprivacy.measures import presenting
from subsetprivacy.measures.precision import (
    if_possible,
    if_quick,
    not_computed,
    require_matrix,
    standard_error,
    wald_bounds,
)
from subsetprivacy.measures.shares import ZERO
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_analyses import ASK_FOR_ERRORS
from subsetprivacy.results import Result
from subsetprivacy.results import plain as dictionary
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text

_NAMES = 6  # the most names in a note


class ConditionalProfile:
    """The profile likelihood of one conditional share.

    P(j | i) = v means that the sum of the shares of row i, weighted by 1 - v in column j and by -v in the others, is 0.

    Parameters
    ----------
    pair
        The joint shares, with rows for the conditioning variable.
    cell
        Row and column.
    error
        An approximate standard error.
    """

    def __init__(self, pair: Margin, cell: tuple[int, int], error: float) -> None:
        self._pair, self._peak, (i, j) = pair, pair.fit._peak(), cell
        rows, columns = np.divmod(np.arange(pair.categories.p), pair.categories.parts[1].p)  # type: ignore[attr-defined]
        self._whole = (rows == i).astype(np.float64)
        self._part = self._whole * (columns == j)
        w = np.bincount(pair.where, self._peak.w, minlength=pair.categories.p)
        whole = float(self._whole @ w)
        # With very few people, another distribution without this row may be as likely: then nothing is known.
        self.top = float(self._part @ w) / whole if whole > ZERO else float("nan")
        self.error = error

    @property
    def start(self) -> float:
        """The score statistic at the peak: 0, unless an end of the range cuts the peak off."""
        end = round(self.top)
        point = self.at(end) if abs(self.top - end) <= ZERO else None
        return 0.0 if point is None else point.score

    def at(self, v: float) -> ProfilePoint | None:
        """Return the point of maximum likelihood with the share v; None if an observed subset becomes impossible."""
        return LinearProfile(self._peak, self._pair._lift(self._part - v * self._whole)).at(0.0)


@frozen(slots=False, eq=False, repr=False)
class ConditionalShares(Result):
    r"""The shares of one variable within each category of another, P(of | given).

    Attributes
    ----------
    given, of
        The conditioning variable, and the variable of interest.
    pair
        The joint shares of the two, `given` first.

    Notes
    -----
    :math:`P(j \mid i) = W_{ij}/w_i`, with the gradient :math:`(e_{ij} - P(j \mid i) e_{i\cdot})/w_i` for the standard
    error.
    """

    why_not_restored: ClassVar[str] = (
        "save the counts with `conditional.pair.fit.counts.to_dict()` and estimate again, or pickle the shares"
    )

    pair: Margin

    @property
    def given(self) -> str:
        """The conditioning variable, with a row for each category."""
        return self.pair.names[0]

    @property
    def of(self) -> str:
        """The variable of interest, with a column for each category."""
        return self.pair.names[1]

    @property
    def rows(self) -> Categories:
        """The categories of `given`."""
        return self.pair.categories.parts[0]  # type: ignore[attr-defined]

    @property
    def columns(self) -> Categories:
        """The categories of `of`."""
        return self.pair.categories.parts[1]  # type: ignore[attr-defined]

    @cached_property
    def _weights(self) -> FloatArray:
        return self.pair.w.reshape(self.rows.p, self.columns.p).sum(axis=1)

    @cached_property
    def table(self) -> FloatArray:
        """The shares. Each row sums to one, or is NaN if the estimated share of its category is 0."""
        W, weights = self.pair.w.reshape(self.rows.p, self.columns.p), self._weights[:, None]
        some = np.broadcast_to(weights > ZERO, W.shape)
        table = np.divide(W, weights, out=np.full(W.shape, np.nan), where=some)
        table.setflags(write=False)
        return table

    @cached_property
    def _se(self) -> FloatArray:
        require_matrix(self.pair.fit)
        errors = np.full(self.table.shape, np.nan)
        for i in np.flatnonzero(self._weights > ZERO):
            for j in range(self.columns.p):
                gradient = np.zeros(self.table.shape)
                gradient[i] = -self.table[i, j] / self._weights[i]
                gradient[i, j] += 1 / self._weights[i]
                errors[i, j] = standard_error(self.pair.fit, gradient.ravel()[self.pair.where])
        errors.setflags(write=False)
        return errors

    @property
    def _shown_se(self) -> FloatArray:
        return if_quick(self.pair.fit, lambda: self._se, self.table.shape)

    @property
    def se(self) -> FloatArray:
        """The standard errors by the delta method; warns where the normal approximation is unreliable."""
        self.pair.fit._warn_of_caveats(None)
        return self._se

    def interval(self, level: float = 0.95, *, method: ContrastMethod = "auto") -> FloatArray:
        """Return a confidence interval for each share, shape (rows, columns, 2).

        Parameters
        ----------
        level
            The confidence level.
        method
            ``"score"``: the shares that the score test does not reject; reliable near 0 and 1. ``"profile"``: those
            that the likelihood ratio test does not reject. ``"wald"``: estimate and standard error, cut to [0, 1] if
            the estimator always returns a distribution. ``"auto"``: the score test for likelihood estimates of up to
            64 joint categories, if it takes only seconds, and Wald's otherwise.
        """
        check_level(level)
        if self._method(method) == "wald":
            self.pair.fit._warn_of_caveats(None)
        return self._bounds(level, self._se, method)

    def _method(self, method: ContrastMethod) -> str:
        return chosen_method(self.pair, check_choice(method, METHODS, "method"), self.table.size)

    def _bounds(self, level: float, errors: FloatArray, method: ContrastMethod = "auto") -> FloatArray:
        chosen = self._method(method)
        if chosen == "wald":
            return wald_bounds(self.table, errors, level, self.pair.in_simplex)
        z = critical_value(level, self.pair.fit.degrees_of_freedom)
        bounds = np.full((*self.table.shape, 2), np.nan)
        for i, j in np.ndindex(self.table.shape):
            if self._weights[i] > ZERO:
                share = ConditionalProfile(self.pair, (i, j), float(errors[i, j]))
                if np.isnan(share.top):
                    bounds[i, j] = 0.0, 1.0
                    continue
                test = SignedScore(z, score=chosen == "score", start=share.start)
                bounds[i, j] = [search_end(share, end, test, z) for end in (0.0, 1.0)]
        return bounds

    @property
    def notes(self) -> tuple[Note, ...]:
        """The caveats: empty groups, what was not computed, and caveats of the joint estimate."""
        empty = [label_text(label) for label, weight in zip(self.rows, self._weights, strict=True) if weight <= ZERO]
        more = f", … ({len(empty)} in all)" if len(empty) > _NAMES else ""
        text = f"No shares given categories estimated as empty: {self.given} = {', '.join(empty[:_NAMES])}{more}."
        no_one = (Note(NoteKind.NO_ESTIMATE, text),) if empty else ()
        absent = not_computed(self.pair.fit, "standard errors", ASK_FOR_ERRORS)
        return (*no_one, *absent, *presenting.caveats(self.pair.fit))

    @property
    def _heading(self) -> str:
        return f"{self.of} given {self.given}: {presenting.described(self.pair.fit)}"

    def summary(self) -> Table:
        """Return the shares with their standard errors in brackets, a row per category of `given`.

        With more than 24 rows or columns, the table has a row for each of the 24 most frequent pairs. With more than
        1024 joint categories, it has no standard errors; `se` and `to_frame` have them for up to 4096.
        """
        if presenting.is_large(self.table):
            lines, note = presenting.listed(self.pair, self.table, self._shown_se)
            columns = (self.given, self.of, f"share of {self.given}")
            return Table(self._heading, columns, lines, (note, *self.notes))
        cells = presenting.with_errors(self.table, self._shown_se)
        rows = tuple((label_text(label), *line) for label, line in zip(self.rows, cells, strict=True))
        head = (f"{self.given} \\ {self.of}", *(label_text(label) for label in self.columns))
        return Table(self._heading, head, rows, self.notes)

    @overload
    def to_frame(self, level: float = ..., *, engine: Literal["pandas"] = ...) -> PandasFrame: ...
    @overload
    def to_frame(self, level: float = ..., *, engine: Literal["polars"]) -> PolarsFrame: ...
    @overload
    def to_frame(self, level: float = ..., *, engine: Literal["pyarrow"]) -> ArrowTable: ...
    def to_frame(self, level: float = 0.95, *, engine: Engine = "pandas") -> Frame:
        """Return a data frame with a row per pair of categories, and the level as a column.

        With more than 4096 joint categories, standard errors are NaN.
        """
        return frame(self._columns(check_level(level)), engine)

    def _columns(self, level: float = 0.95) -> dict[str, Any]:
        errors = if_possible(lambda: self._se, self.table.shape)
        return presenting.long_columns(self.pair, self.table, errors, self._bounds(level, errors), level)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Return the numbers for JSON, a list per row, with standard errors and intervals if `summary` has them."""
        lower, upper = np.moveaxis(self._bounds(check_level(level), self._shown_se), -1, 0)
        return dictionary(
            {
                "given": self.given,
                "of": self.of,
                "rows": list(self.rows),
                "columns": list(self.columns),
                "estimate": self.table,
                "se": self._shown_se,
                "lower": lower,
                "upper": upper,
                "level": level,
                "n": self.pair.fit.n * self.pair.fit.counts.design.real_share,
                "method": self.pair.fit.method,
                "notes": self.notes,
            }
        )

    def plot(self, *, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Plot a heat map of the shares in percent, a row per category of `given`."""
        return draw.heatmap(
            [label_text(label) for label in self.rows],
            [label_text(label) for label in self.columns],
            100 * self.table,
            row_name=self.given,
            column_name=self.of,
            label="share of the row, %",
            title=title or draw.Heading(f"Estimated shares of {self.of} given {self.given}, {self.pair.fit.n_text}"),
            ax=ax,
        )

    def __repr__(self) -> str:
        return f"<ConditionalShares of {self.of} given {self.given}: {self.rows.p} x {self.columns.p} shares>"
