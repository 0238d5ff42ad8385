"""Calibration curves: the share of people with a category, given its predicted probability."""

from collections.abc import Mapping
from typing import Any, Literal, Self, get_args, overload

import numpy as np
from attrs import frozen

from subsetprivacy import draw
from subsetprivacy._choices import CalibrationBins, Engine, EvaluationInterval
from subsetprivacy._types import FloatArray, IntArray, Label
from subsetprivacy._words import whole
from subsetprivacy.evaluation import intervals
from subsetprivacy.evaluation.sample import ClassifierOutput, EvaluationSample, PersonWeights
from subsetprivacy.messages import Note
from subsetprivacy.results import Result, plain, unknown_as_nan
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text, number, percent

STRATEGIES: tuple[CalibrationBins, ...] = get_args(CalibrationBins)
_MOST_DRAWN = 6  # categories in one picture


@frozen(slots=False, eq=False, repr=False)
class CalibrationCurve(Result):
    """The share of people with each category, by predicted probability; part of an `Evaluation`.

    Attributes
    ----------
    categories
        The categories.
    category
        The position of the category of each bin.
    predicted
        The mean predicted probability of each bin.
    estimate, se
        The estimated share of the bin's people with the category, and its standard error.
    people
        The number of people in each bin.
    """

    categories: tuple[Label, ...]
    category: IntArray
    predicted: FloatArray
    estimate: FloatArray
    se: FloatArray
    people: FloatArray

    @property
    def notes(self) -> tuple[Note, ...]:
        """Always empty. The notes of the evaluation describe the data."""
        return ()

    def _columns(self, level: float = 0.95, method: EvaluationInterval = "wald") -> dict[str, Any]:
        lower, upper = intervals.bounds(self.estimate, self.se, level, method)
        return {
            "category": [self.categories[j] for j in self.category],
            "predicted": self.predicted,
            "estimate": self.estimate,
            "se": self.se,
            "lower": lower,
            "upper": upper,
            "level": np.full(len(lower), level),
            "people": self.people,
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
        """Return a data frame with a row per category and bin."""
        return frame(self._columns(level, method), engine)

    def summary(self, level: float = 0.95, *, method: EvaluationInterval = "wald") -> Table:
        """Return a table to print or show in a notebook, with a row per category and bin."""
        columns = self._columns(level, method)
        names = ("predicted", "estimate", "se", "lower", "upper")
        cells = zip(columns["category"], *(columns[name] for name in names), columns["people"], strict=True)
        rows = tuple(
            (label_text(label), *(number(value) for value in values), whole(people)) for label, *values, people in cells
        )
        head = (
            "category",
            "predicted",
            "observed",
            "se",
            f"lower {percent(level)}",
            f"upper {percent(level)}",
            "people",
        )
        return Table("Calibration from subsets", head, rows, (intervals.note_of(method),))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        names = ("categories", "category", "predicted", "estimate", "se", "people")
        return plain({**{name: getattr(self, name) for name in names}, "notes": self.notes})

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        arrays = {
            name: np.array([unknown_as_nan(x) for x in facts[name]])
            for name in ("predicted", "estimate", "se", "people")
        }
        return cls(labels_of(facts["categories"]), np.array(facts["category"], np.int64), **arrays)

    def plot(
        self,
        category: Label | None = None,
        *,
        level: float = 0.95,
        method: EvaluationInterval = "wald",
        title: str | None = None,
        ax: draw.AxesOrNone = None,
    ) -> draw.Axes:
        """Draw the estimated share against the predicted probability. On the diagonal both agree.

        Parameters
        ----------
        category
            The category to draw; by default up to six of the most frequent ones.
        level, method
            As in `Evaluation.interval`.
        title, ax
            The title, and the Matplotlib axes to draw on; by default a new figure.
        """
        chosen = self._drawn(category)
        lower, upper = intervals.bounds(self.estimate, self.se, level, method)
        lines = {}
        for j in chosen:
            at = self.category == j
            lines[label_text(self.categories[j])] = tuple(x[at] for x in (self.predicted, self.estimate, lower, upper))
        name = next(iter(lines)) if len(lines) == 1 else "each category"
        heading = draw.Heading(f"Calibration for {name}, {percent(level)} intervals")
        return draw.calibration(lines, title=heading if title is None else title, ax=ax)

    def _drawn(self, category: Label | None) -> list[int]:
        """Return the positions of the categories in a picture, in category order."""
        if category is not None:
            return [position_of(self.categories, category)]
        present = np.unique(self.category)
        share = np.array(
            [self.people[self.category == j] @ np.nan_to_num(self.estimate[self.category == j]) for j in present]
        )
        largest = np.argsort(-share, kind="stable")[:_MOST_DRAWN]
        return sorted(present[largest].tolist())

    def __repr__(self) -> str:
        return f"<CalibrationCurve: {len(self.categories)} categories, {len(self.category)} bins>"


def calibration(
    sample: EvaluationSample,
    prediction: ClassifierOutput,
    categories: tuple[Label, ...],
    bins: int,
    strategy: CalibrationBins,
) -> CalibrationCurve:
    """Return the curve of every category, with bins as in scikit-learn's `calibration_curve`."""
    rows = []
    for j, (D, scores) in enumerate(zip(sample.D, prediction.proba.T, strict=True)):
        at = np.searchsorted(_edges(scores, bins, strategy)[1:-1], scores)
        made = _bins(D, scores, sample.weights, at, bins)
        rows.append(np.vstack([np.full(made.shape[1], j), made]))
    category, predicted, estimate, se, people = np.hstack(rows)
    return CalibrationCurve(categories, category.astype(np.int64), predicted, estimate, se, people)


def _edges(scores: FloatArray, bins: int, strategy: CalibrationBins) -> FloatArray:
    steps = np.linspace(0, 1, bins + 1)
    return np.percentile(scores, 100 * steps) if strategy == "quantile" else steps


def _bins(D: FloatArray, scores: FloatArray, weights: PersonWeights, at: IntArray, bins: int) -> FloatArray:
    """Return the mean score, the estimated share, its standard error and the number of people of each nonempty bin."""

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(at, values, minlength=bins).astype(np.float64, copy=False)

    whole = total(weights.each)
    kept = whole > 0
    people = whole if weights.are_frequencies else total((weights.each > 0).astype(np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        predicted, estimate = total(weights.each * scores) / whole, total(weights.each * D) / whole
        spread = total(weights.squares * (D - estimate[at]) ** 2) * people / (people - 1)
        return np.vstack([predicted, estimate, np.sqrt(spread) / whole, people])[:, kept]


def labels_of(written: list[Any]) -> tuple[Label, ...]:
    """Return the labels that `plain` wrote, whose lists were combinations of several variables."""
    return tuple(tuple(label) if isinstance(label, list) else label for label in written)


def position_of(categories: tuple[Label, ...], label: Label) -> int:
    """Return the position of a category."""
    return Categories(categories).index(label)
