"""The confusion matrix: how often each category is guessed for each value."""

from collections.abc import Mapping
from typing import Any, Literal, Self, overload

import numpy as np
from attrs import frozen

from subsetprivacy import draw
from subsetprivacy._choices import Engine, EvaluationInterval
from subsetprivacy._types import FloatArray, Label
from subsetprivacy._words import whole
from subsetprivacy.evaluation import intervals
from subsetprivacy.evaluation.calibration import labels_of
from subsetprivacy.evaluation.sample import ClassifierOutput, EvaluationSample
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_estimates import ALL_ROWS
from subsetprivacy.results import Result, plain, unknown_as_nan
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text, number

_MOST_COLUMNS, _MOST_ROWS = 8, 30


@frozen(slots=False, eq=False, repr=False)
class ConfusionMatrix(Result):
    """The estimated share of people with each value and each guess; part of an `Evaluation`.

    Attributes
    ----------
    categories
        The categories.
    estimate, se
        The shares, a row per value and a column per guess, and their standard errors. All shares sum to 1. Unbiased
        estimates can be below 0.
    n
        The number of people.
    """

    categories: tuple[Label, ...]
    estimate: FloatArray
    se: FloatArray
    n: float

    @property
    def counts(self) -> FloatArray:
        """The estimated numbers of people: n times the shares."""
        return self.n * self.estimate

    @property
    def notes(self) -> tuple[Note, ...]:
        """Empty. The notes of the evaluation describe the data."""
        return ()

    def _columns(self, level: float = 0.95, method: EvaluationInterval = "wald") -> dict[str, Any]:
        p = len(self.categories)
        estimate, se = self.estimate.ravel(), self.se.ravel()
        lower, upper = intervals.bounds(estimate, se, level, method)
        return {
            "value": [label for label in self.categories for _ in range(p)],
            "guess": list(self.categories) * p,
            "estimate": estimate,
            "se": se,
            "lower": lower,
            "upper": upper,
            "level": np.full(p * p, level),
        }

    @overload
    def to_frame(
        self, level: float = ..., *, method: EvaluationInterval = ..., engine: Literal["pandas"] = ...
    ) -> PandasFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: EvaluationInterval = ..., engine: Literal["polars"]
    ) -> PolarsFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: EvaluationInterval = ..., engine: Literal["pyarrow"]
    ) -> ArrowTable: ...
    def to_frame(self, level: float = 0.95, *, method: EvaluationInterval = "wald", engine: Engine = "pandas") -> Frame:
        """Return a data frame with a row per value and guess."""
        return frame(self._columns(level, method), engine)

    def summary(self) -> Table:
        """Return a table to print, with standard errors in brackets. With many categories it has the largest shares."""
        title = f"Confusion matrix from subsets: shares of people, n = {whole(self.n)}"
        names = [label_text(label) for label in self.categories]
        if len(names) <= _MOST_COLUMNS:
            rows = tuple(
                (name, *(_cell(share, error) for share, error in zip(shares, errors, strict=True)))
                for name, shares, errors in zip(names, self.estimate, self.se, strict=True)
            )
            return Table(title, ("value \\ guess", *names), rows)
        largest = np.argsort(-self.estimate, axis=None, kind="stable")[:_MOST_ROWS]
        at = [np.unravel_index(k, self.estimate.shape) for k in largest]
        rows = tuple(
            (names[i], names[j], number(float(self.estimate[i, j])), number(float(self.se[i, j]))) for i, j in at
        )
        note = Note(NoteKind.SHORTENED, f"The {len(rows)} largest of {self.estimate.size} shares.", ALL_ROWS)
        return Table(title, ("value", "guess", "estimate", "se"), rows, (note,), text_columns=2)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        names = ("categories", "estimate", "se", "n")
        return plain({**{name: getattr(self, name) for name in names}, "notes": self.notes})

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        estimate, se = (
            np.array([[unknown_as_nan(x) for x in row] for row in facts[name]]) for name in ("estimate", "se")
        )
        return cls(labels_of(facts["categories"]), estimate, se, facts["n"])

    def plot(self, *, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Draw the shares of guesses among people with each value, a row per value. Shares below 0 are drawn as 0."""
        whole = self.estimate.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(whole > 4 * self._row_errors[:, None], self.estimate / whole, np.nan)
        names = [label_text(label) for label in self.categories]
        heading = draw.Heading(f"Estimated guesses for each true value, n = {self.n:,.0f}")
        return draw.heatmap(
            names,
            names,
            100 * np.clip(shares, 0.0, 1.0),
            row_name="true value",
            column_name="guess",
            label="share of the row, %",
            largest=100.0,
            title=heading if title is None else title,
            ax=ax,
        )

    @property
    def _row_errors(self) -> FloatArray:
        """The standard errors of the row sums, slightly too large because guesses exclude each other."""
        return np.asarray(np.sqrt((self.se**2).sum(axis=1)))

    def __repr__(self) -> str:
        return f"<ConfusionMatrix: {len(self.categories)} categories, n = {whole(self.n)}>"


def _cell(share: float, error: float) -> str:
    return f"{number(share)} ({number(error)})"


def confusion(sample: EvaluationSample, prediction: ClassifierOutput, categories: tuple[Label, ...]) -> ConfusionMatrix:
    """Return the means of D for each guessed category, and their standard errors."""
    p, weights = len(categories), sample.weights
    estimate, squares, crossed = (np.empty((p, p)) for _ in range(3))
    for j, D in enumerate(sample.D):
        estimate[j] = np.bincount(prediction.guess, weights.each * D, minlength=p) / weights.total
        squares[j] = np.bincount(prediction.guess, weights.squares * D**2, minlength=p)
        crossed[j] = np.bincount(prediction.guess, weights.squares * D, minlength=p)
    # The sum of squared weights times the squared influence, D 1{guess = k} minus its mean.
    spread = squares - 2 * estimate * crossed + estimate**2 * weights.squares.sum()
    factor = weights.people / (weights.people - 1) if weights.people > 1 else np.nan
    return ConfusionMatrix(
        categories, estimate, np.sqrt(np.maximum(spread, 0) * factor) / weights.total, weights.people
    )
