"""Predicted shares and marginal effects, with standard errors by the delta method."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
from attrs import field, frozen

from subsetprivacy import draw
from subsetprivacy._checks import check_level, read_only
from subsetprivacy._choices import Engine, PredictedQuantity
from subsetprivacy._types import FloatArray, IntArray, Label
from subsetprivacy._words import counted, whole
from subsetprivacy.estimation.survey_sample import critical_value
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.regression.blocks import BLOCK
from subsetprivacy.regression.models import Model
from subsetprivacy.results import Result, plain, unknown_as_nan
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text, number, percent

_SHOWN = 20  # rows of a summary
_QUANTITIES = {"share": "shares", "mean": "means", "count": "mean counts"}
_RANGES = {"share": (0.0, 1.0), "mean": (-np.inf, np.inf), "count": (0.0, np.inf)}


def shares_with_errors(
    model: Model, theta: FloatArray, cov: FloatArray | None, X: FloatArray, offset: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the shares of each row and their standard errors, shapes (n, p)."""
    n, p = len(X), model.link.p
    shares, errors = np.empty((n, p)), np.full((n, p), np.nan)
    step = max(BLOCK // 8, 1)
    for start in range(0, n, step):
        part = slice(start, start + step)
        U = model.predictors(theta, X[part], None if offset is None else offset[:, part])
        shares[part] = model.link.shares(U).T
        if cov is not None:
            errors[part] = _errors(model, cov, model.link.slopes(U), X[part])
    return shares, errors


def _errors(model: Model, cov: FloatArray, slopes: FloatArray, X: FloatArray) -> FloatArray:
    out = np.empty((len(X), len(slopes)))
    for j, slope in enumerate(slopes):
        G = model.scores(slope, X)
        out[:, j] = np.sqrt(np.maximum(np.einsum("sm,sm->m", cov @ G, G), 0.0))
    return out


def average_shares(
    model: Model,
    theta: FloatArray,
    X: FloatArray,
    weight: FloatArray | None,
    offset: FloatArray | None = None,
    *,
    times: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the mean of the shares over rows, shape (p,), and its gradient in the parameters, shape (p, size).

    With `times`, the shares of each row are multiplied by a number before averaging.
    """
    p = model.link.p
    mean, gradient, amount = np.zeros(p), np.zeros((p, model.size)), 0.0
    for start in range(0, len(X), BLOCK):
        part = slice(start, start + BLOCK)
        rows = X[part]
        w = np.ones(len(rows)) if weight is None else weight[part]
        amount += float(w.sum())
        w = w if times is None else w * times[part]
        U = model.predictors(theta, rows, None if offset is None else offset[:, part])
        mean += model.link.shares(U) @ w
        gradient += np.array([model.gradient(slope * w, rows) for slope in model.link.slopes(U)])
    return mean / amount, gradient / amount


def errors_of(gradient: FloatArray, cov: FloatArray | None) -> FloatArray:
    """Return the standard errors of linear functions of the parameters, one per row of the gradient."""
    if cov is None:
        return np.full(len(gradient), np.nan)
    return np.sqrt(np.maximum(np.einsum("js,st,jt->j", gradient, cov, gradient), 0.0))


class SharesByRow(Result):
    """The common base of predictions and effects: a number, its error and interval for each row and category."""

    __slots__ = ()

    rows: tuple[str, ...]
    categories: tuple[Label, ...]
    estimate: FloatArray
    se: FloatArray
    notes: tuple[Note, ...]
    degrees_of_freedom: float

    quantity: PredictedQuantity

    _HEAD: ClassVar[str]

    def _title(self) -> str:
        raise NotImplementedError

    def interval(self, level: float = 0.95) -> FloatArray:
        """Return normal intervals within the possible range, shape (rows, categories, 2)."""
        z = critical_value(check_level(level), self.degrees_of_freedom)
        ends = self.estimate[..., None] + z * self.se[..., None] * np.array([-1.0, 1.0])
        return np.clip(ends, *_RANGES[self.quantity])

    def summary(self, *, level: float = 0.95, method: str = "delta") -> Table:
        """Return a table to print or show in a notebook. Long tables show the first rows only."""
        lower, upper = np.moveaxis(self.interval(level), -1, 0)
        head = (self._HEAD, "category", "estimate", "se", f"lower {percent(level)}", f"upper {percent(level)}")
        shown = self.rows[:_SHOWN]
        rows = tuple(
            (row, label_text(label), *map(number, (self.estimate[i, j], self.se[i, j], lower[i, j], upper[i, j])))
            for i, row in enumerate(shown)
            for j, label in enumerate(self.categories)
        )
        more: tuple[Note, ...] = ()
        if len(shown) < len(self.rows):
            more = (Note(NoteKind.SHORTENED, f"The first {len(shown)} of {len(self.rows)} rows."),)
        return Table(self._title(), head, rows, more + self.notes, text_columns=2)

    def _columns(self, *, level: float = 0.95) -> dict[str, Any]:
        p = len(self.categories)
        ends = self.interval(level).reshape(-1, 2)
        return {
            self._HEAD: [row for row in self.rows for _ in range(p)],
            "category": [label for _ in self.rows for label in self.categories],
            "estimate": self.estimate.ravel(),
            "se": self.se.ravel(),
            "lower": ends[:, 0],
            "upper": ends[:, 1],
            "level": np.full(len(ends), level),
        }

    @overload
    def to_frame(self, *, engine: Literal["pandas"] = ..., level: float = ..., method: str = ...) -> PandasFrame: ...
    @overload
    def to_frame(self, *, engine: Literal["polars"], level: float = ..., method: str = ...) -> PolarsFrame: ...
    @overload
    def to_frame(self, *, engine: Literal["pyarrow"], level: float = ..., method: str = ...) -> ArrowTable: ...
    def to_frame(self, *, engine: Engine = "pandas", level: float = 0.95, method: str = "delta") -> Frame:
        """Return a data frame with a row for each row and category."""
        return frame(self._columns(level=level), engine)


@frozen(slots=False, eq=False, repr=False)
class Prediction(SharesByRow):
    """Predicted shares or means, returned by the methods `predict` and `adjusted` of regressions.

    Attributes
    ----------
    what
        What the rows are: ``"row"`` of new data, or the variable whose values are compared.
    rows
        A name for each row: its number, or the value of the variable.
    categories
        The categories, or the name of the outcome if it is not private.
    estimate, se
        The shares or means and their standard errors, shapes (rows, categories).
    n
        The number of people with an informative subset that the model was fitted to.
    degrees_of_freedom
        The degrees of freedom of t in intervals. Infinite unless the sampling was given.
    quantity
        What is predicted: a ``"share"``, a ``"mean"``, or the mean of a ``"count"``.
    """

    what: str
    rows: tuple[str, ...]
    categories: tuple[Label, ...]
    estimate: FloatArray = field(converter=read_only)
    se: FloatArray = field(converter=read_only)
    n: float
    notes: tuple[Note, ...] = ()
    degrees_of_freedom: float = np.inf
    quantity: PredictedQuantity = "share"

    _HEAD: ClassVar[str] = "at"

    def _title(self) -> str:
        of = f" of {label_text(self.categories[0])}" if len(self.categories) == 1 else ""
        what = f"Predicted {_QUANTITIES[self.quantity]}{of}"
        if self.what == "row":
            return f"{what} at {len(self.rows)} rows of covariates, from n = {self.n:,.0f}"
        return f"{what} by {self.what}, all else as in the sample, n = {self.n:,.0f}"

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        names = ("what", "rows", "categories", "estimate", "se", "n", "degrees_of_freedom", "notes", "quantity")
        return plain({name: getattr(self, name) for name in names})

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the prediction that `to_dict` wrote."""
        common = (*_common(facts), facts["n"], _notes(facts), _degrees(facts), facts["quantity"])
        return cls(facts["what"], tuple(facts["rows"]), *common)

    def plot(self, *, level: float = 0.95, title: str | None = None) -> draw.Figure:
        """Draw the numbers with their intervals, one panel per category."""
        return _drawn(self, level, _QUANTITIES[self.quantity].removesuffix("s"), title)

    def __repr__(self) -> str:
        by = "" if self.what == "row" else f" by {self.what}"
        what = _QUANTITIES[self.quantity]
        if self.quantity == "share":
            what = f"shares of {counted(len(self.categories), 'category', 'categories')}"
        return f"<Prediction: {what} at {len(self.rows)} rows{by}>"


@frozen(slots=False, eq=False, repr=False)
class MarginalEffects(SharesByRow):
    """The average change of shares or means with each covariate, returned by the method `effects`.

    Attributes
    ----------
    rows
        The changes: a variable by one unit (its derivative), or from one value to another.
    categories
        The categories, or the name of the outcome if it is not private.
    estimate, se
        The changes and their standard errors, shapes (rows, categories). Changes of all shares add up to 0.
    n
        The number of people with an informative subset that the model was fitted to.
    degrees_of_freedom
        The degrees of freedom of t in intervals. Infinite unless the sampling was given.
    quantity
        What changes: a ``"share"``, a ``"mean"``, or the mean of a ``"count"``.
    """

    rows: tuple[str, ...]
    categories: tuple[Label, ...]
    estimate: FloatArray = field(converter=read_only)
    se: FloatArray = field(converter=read_only)
    n: float
    notes: tuple[Note, ...] = ()
    degrees_of_freedom: float = np.inf
    quantity: PredictedQuantity = "share"

    _HEAD: ClassVar[str] = "change"

    def _title(self) -> str:
        of = f" of {label_text(self.categories[0])}" if len(self.categories) == 1 else ""
        return f"Average marginal effects on the {_QUANTITIES[self.quantity]}{of}, n = {self.n:,.0f}"

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        names = ("rows", "categories", "estimate", "se", "n", "degrees_of_freedom", "notes", "quantity")
        return plain({name: getattr(self, name) for name in names})

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the effects that `to_dict` wrote."""
        common = (*_common(facts), facts["n"], _notes(facts), _degrees(facts), facts["quantity"])
        return cls(tuple(facts["rows"]), *common)

    def interval(self, level: float = 0.95) -> FloatArray:
        """Return the intervals, shape (rows, categories, 2)."""
        z = critical_value(check_level(level), self.degrees_of_freedom)
        return np.asarray(self.estimate[..., None] + z * self.se[..., None] * np.array([-1.0, 1.0]))

    def plot(self, *, level: float = 0.95, title: str | None = None) -> draw.Figure:
        """Draw the changes with their intervals, one panel per category."""
        several = len(self.categories) > 1  # shares of categories, which the title names
        return _drawn(
            self, level, "change" if several else f"change in the {_QUANTITIES[self.quantity].removesuffix('s')}", title
        )

    def __repr__(self) -> str:
        return f"<MarginalEffects: {len(self.rows)} changes, {len(self.categories)} categories, n = {whole(self.n)}>"


def _drawn(shares: Any, level: float, what: str, title: str | None) -> draw.Figure:
    lower, upper = np.moveaxis(shares.interval(level), -1, 0)
    labels = [label_text(label) for label in shares.categories]
    heading = shares._title() if title is None else title
    if len(labels) == 1:
        axis = f"{what} of {labels[0]}, {percent(level)} interval"
        order = _order(shares)
        ends = (shares.estimate[order, 0], lower[order, 0], upper[order, 0])
        rows = [shares.rows[i] for i in order]
        figure: Any = draw.by_row(rows, {labels[0]: ends}, xlabel=axis, zero="change" in what).figure
        figure.suptitle(heading, fontsize="large")  # over the names of the rows, too, since it is long
        return figure
    return draw.by_group(
        list(shares.rows),
        labels,
        shares.estimate,
        lower,
        upper,
        level=level,
        what=what,
        points="change" in what,
        title=heading,
    )


def _order(shares: Any) -> IntArray:
    """Return the order of the rows of a picture: means by category with the largest on top, as in `GroupMeans`."""
    if not isinstance(shares, Prediction) or shares.what == "row" or draw.have_an_order(shares.rows):
        return np.arange(len(shares.rows))
    return np.argsort(-np.nan_to_num(shares.estimate[:, 0], nan=-np.inf), kind="stable")


def _common(facts: Mapping[str, Any]) -> tuple[tuple[Label, ...], FloatArray, FloatArray]:
    labels = tuple(tuple(label) if isinstance(label, list) else label for label in facts["categories"])
    arrays = (np.array([list(map(unknown_as_nan, row)) for row in facts[name]]) for name in ("estimate", "se"))
    estimate, se = (array.reshape(-1, len(labels)) for array in arrays)
    return labels, estimate, se


def _degrees(facts: Mapping[str, Any]) -> float:
    return np.inf if facts["degrees_of_freedom"] is None else float(facts["degrees_of_freedom"])


def _notes(facts: Mapping[str, Any]) -> tuple[Note, ...]:
    return tuple(map(Note.from_dict, facts["notes"]))


def row_names(rows: Sequence[Any]) -> tuple[str, ...]:
    """Return names of rows as text."""
    return tuple(label_text(row) for row in rows)
