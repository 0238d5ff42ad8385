"""The result of an evaluation: measures with standard errors and intervals."""

from collections.abc import Mapping
from typing import Any, Literal, Self, get_args, overload

import numpy as np
from attrs import frozen

from subsetprivacy import draw
from subsetprivacy._checks import check_choice
from subsetprivacy._choices import Engine, EvaluationInterval, EvaluationMeasure, EvaluationPicture
from subsetprivacy._types import BoolArray, FloatArray, Label
from subsetprivacy._words import whole
from subsetprivacy.errors import ArgumentError
from subsetprivacy.evaluation import intervals
from subsetprivacy.evaluation.calibration import CalibrationCurve, labels_of, position_of
from subsetprivacy.evaluation.confusion import ConfusionMatrix
from subsetprivacy.evaluation.measures import BY_CATEGORY, LOSSES
from subsetprivacy.messages import Note
from subsetprivacy.messages.for_analyses import GIVE_PROBA
from subsetprivacy.results import Result, plain, unknown_as_nan
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text, number, percent

PICTURES: tuple[EvaluationPicture, ...] = get_args(EvaluationPicture)
WORDS: dict[EvaluationMeasure, str] = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "brier": "Brier score",
    "log_loss": "log loss",
    "subset_log_loss": "subset log loss",
    "recall": "recall",
    "precision": "precision",
    "f1": "F1",
    "auc": "AUC",
}


@frozen(slots=False, eq=False, repr=False)
class Evaluation(Result):
    """Measures of a classifier, estimated from subsets; returned by `evaluate`.

    Attributes
    ----------
    categories
        The categories.
    measures
        The name of each measure. Measures of categories occur once per category, in category order.
    positions
        The position of the category of each measure, or None for overall measures.
    estimates, errors
        The estimates and their standard errors. NaN if a category is too rare; the notes name it.
    n, n_missing
        The number of people with an informative subset, and the number left out because their subset is the full set.
    shares, shares_se
        The estimated share of each category and its standard errors; empty if the design is not known.
    confusion
        The confusion matrix; None if the design is not known.
    calibration
        The calibration curves; None without probabilities, or if the design is not known.
    notes
        The caveats.
    """

    categories: tuple[Label, ...]
    measures: tuple[EvaluationMeasure, ...]
    positions: tuple[int | None, ...]
    estimates: FloatArray
    errors: FloatArray
    n: float
    n_missing: int
    shares: FloatArray
    shares_se: FloatArray
    confusion: ConfusionMatrix | None
    calibration: CalibrationCurve | None
    notes: tuple[Note, ...] = ()

    # Single measures --------------------------------------------------------------------------

    def estimate(self, measure: EvaluationMeasure, category: Label | None = None) -> float | FloatArray:
        """Return a measure: a number, or one per category if no category is given.

        Parameters
        ----------
        measure
            Its name, as in `measures`.
        category
            A category, for recall, precision, F1 and AUC.

        Raises
        ------
        ArgumentError
            If the measure was not computed, or is not a measure of categories.
        """
        return self._picked(self.estimates, measure, category)

    def se(self, measure: EvaluationMeasure, category: Label | None = None) -> float | FloatArray:
        """Return the standard error of a measure; arguments as in `estimate`."""
        return self._picked(self.errors, measure, category)

    def interval(
        self,
        measure: EvaluationMeasure,
        category: Label | None = None,
        *,
        level: float = 0.95,
        method: EvaluationInterval = "wald",
    ) -> FloatArray:
        """Return the confidence interval of a measure: two numbers, or two per category.

        Parameters
        ----------
        measure, category
            As in `estimate`.
        level
            The confidence level.
        method
            ``"wald"``: estimate and standard error. ``"logit"``: the same for the log odds, so that the interval is
            between 0 and 1; NaN if the estimate is not. Losses always have Wald's interval.
        """
        return np.stack([self._picked(ends, measure, category) for ends in self._bounds(level, method)], axis=-1)

    def _picked(self, numbers: FloatArray, measure: EvaluationMeasure, category: Label | None) -> Any:
        at = [k for k, name in enumerate(self.measures) if name == measure]
        if not at:
            raise ArgumentError(f"`measure` must be one of {', '.join(dict.fromkeys(self.measures))}; got {measure!r}.")
        if measure not in BY_CATEGORY:
            if category is not None:
                raise ArgumentError(f"`category` must be left out for {WORDS[measure]}, an overall measure.")
            return float(numbers[at[0]])
        return numbers[at] if category is None else float(numbers[at[position_of(self.categories, category)]])

    @property
    def accuracy(self) -> float:
        """The estimated share of people whose guess is correct."""
        return self._picked(self.estimates, "accuracy", None)

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of all categories; NaN if one is too rare."""
        return self._picked(self.estimates, "balanced_accuracy", None)

    @property
    def brier(self) -> float:
        """The mean squared distance between probabilities and value, summed over categories, from 0 to 2."""
        return self._picked(self.estimates, "brier", None)

    @property
    def log_loss(self) -> float:
        """The mean negative logarithm of the probability of the value."""
        return self._picked(self.estimates, "log_loss", None)

    @property
    def subset_log_loss(self) -> float:
        """The mean negative logarithm of the probability of the subset. Use it to choose among classifiers."""
        return self._picked(self.estimates, "subset_log_loss", None)

    @property
    def recall(self) -> FloatArray:
        """The share of people with each category for whom it is guessed."""
        return self._picked(self.estimates, "recall", None)

    @property
    def precision(self) -> FloatArray:
        """Among people for whom a category is guessed, the share who have it."""
        return self._picked(self.estimates, "precision", None)

    @property
    def f1(self) -> FloatArray:
        """The harmonic mean of recall and precision of each category."""
        return self._picked(self.estimates, "f1", None)

    @property
    def auc(self) -> FloatArray:
        """The area under the ROC curve of each category against all others."""
        return self._picked(self.estimates, "auc", None)

    # Output -----------------------------------------------------------------------------------

    @property
    def _are_shares(self) -> BoolArray:
        return np.array([name not in LOSSES for name in self.measures])

    def _bounds(self, level: float, method: EvaluationInterval) -> tuple[FloatArray, FloatArray]:
        return intervals.bounds(self.estimates, self.errors, level, method, self._are_shares)

    def _columns(self, level: float = 0.95, method: EvaluationInterval = "wald") -> dict[str, Any]:
        lower, upper = self._bounds(level, method)
        return {
            "measure": list(self.measures),
            "category": [None if j is None else self.categories[j] for j in self.positions],
            "estimate": self.estimates,
            "se": self.errors,
            "lower": lower,
            "upper": upper,
            "level": np.full(len(lower), level),
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
        """Return a data frame with a row per measure, and per category for measures of categories."""
        return frame(self._columns(level, method), engine)

    def summary(self, level: float = 0.95, *, method: EvaluationInterval = "wald") -> Table:
        """Return a table to print or show in a notebook; `level` and `method` as in `interval`."""
        ends = zip(*self._bounds(level, method), strict=True)
        cells = zip(self.measures, self.positions, self.estimates, self.errors, ends, strict=True)
        rows = tuple(
            (WORDS[name], self._category_text(j), *(number(value) for value in (estimate, se, *both)))
            for name, j, estimate, se, both in cells
        )
        head = ("measure", "category", "estimate", "se", f"lower {percent(level)}", f"upper {percent(level)}")
        title = f"Classifier, evaluated on subsets: n = {whole(self.n)}"
        return Table(title, head, rows, (intervals.note_of(method), *self.notes), text_columns=2)

    def _category_text(self, j: int | None) -> str:
        return "" if j is None else label_text(self.categories[j])

    def to_dict(self, level: float = 0.95, *, method: EvaluationInterval = "wald") -> dict[str, Any]:
        """Return the numbers for JSON; `level` and `method` as in `interval`."""
        columns = self._columns(level, method)
        names = [name for name in columns if name != "level"]
        return plain(
            {
                "categories": self.categories,
                "n": self.n,
                "n_missing": self.n_missing,
                "measures": [
                    dict(zip(names, row, strict=True)) for row in zip(*(columns[name] for name in names), strict=True)
                ],
                "level": level,
                "method": method,
                "shares": self.shares,
                "shares_se": self.shares_se,
                "confusion": None if self.confusion is None else self.confusion.to_dict(),
                "calibration": None if self.calibration is None else self.calibration.to_dict(),
                "notes": self.notes,
            }
        )

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        rows, labels = facts["measures"], list(labels_of(facts["categories"]))
        named = labels_of([row["category"] for row in rows])
        confusion, calibration = facts["confusion"], facts["calibration"]
        return cls(
            categories=tuple(labels),
            measures=tuple(row["measure"] for row in rows),
            positions=tuple(None if label is None else labels.index(label) for label in named),
            estimates=np.array([unknown_as_nan(row["estimate"]) for row in rows]),
            errors=np.array([unknown_as_nan(row["se"]) for row in rows]),
            n=facts["n"],
            n_missing=facts["n_missing"],
            shares=np.array([unknown_as_nan(x) for x in facts["shares"]]),
            shares_se=np.array([unknown_as_nan(x) for x in facts["shares_se"]]),
            confusion=None if confusion is None else ConfusionMatrix.from_dict(confusion),
            calibration=None if calibration is None else CalibrationCurve.from_dict(calibration),
            notes=tuple(map(Note.from_dict, facts["notes"])),
        )

    def plot(
        self,
        kind: EvaluationPicture = "measures",
        *,
        level: float = 0.95,
        method: EvaluationInterval = "wald",
        title: str | None = None,
        ax: draw.AxesOrNone = None,
    ) -> draw.Axes:
        """Draw the measures, the calibration curve or the confusion matrix.

        Parameters
        ----------
        kind
            ``"measures"``: measures between 0 and 1, with intervals. ``"calibration"``: estimated shares against
            predicted probabilities. ``"confusion"``: the guesses among people with each value.
        level, method
            As in `interval`.
        title, ax
            The title, and the Matplotlib axes to draw on; by default a new figure.

        Raises
        ------
        ArgumentError
            If the evaluation has nothing of this kind.
        """
        check_choice(kind, PICTURES, "kind")
        if kind == "calibration" and self.calibration is not None:
            return self.calibration.plot(level=level, method=method, title=title, ax=ax)
        if kind == "confusion" and self.confusion is not None:
            return self.confusion.plot(title=title, ax=ax)
        at = np.flatnonzero(self._are_shares & np.isfinite(self.estimates))
        if kind != "measures" or not len(at):
            raise ArgumentError(
                f"a picture of kind {kind!r} must have something to show; got no such numbers.", GIVE_PROBA
            )
        lower, upper = self._bounds(level, method)
        names = [f"{WORDS[self.measures[k]]} {self._category_text(self.positions[k])}".strip() for k in at]
        heading = draw.Heading(f"Estimated quality of the classifier, {percent(level)} intervals, n = {self.n:,.0f}")
        return draw.estimate(
            names,
            self.estimates[at],
            lower[at],
            upper[at],
            level=level,
            percentages=False,  # an area under a curve is not a percentage
            xlabel="estimate",
            title=heading if title is None else title,
            ax=ax,
        )

    def __repr__(self) -> str:
        first = self.measures[0]
        return (
            f"<Evaluation: {WORDS[first]} {self._category_text(self.positions[0])}".rstrip()
            + f" {number(self.estimates[0])} (se {number(self.errors[0])}), n = {whole(self.n)}, "
            f"{len(self.measures)} measures>"
        )
