"""Two classifiers compared on the same people."""

from collections.abc import Mapping
from typing import Any, Literal, Self, overload

import numpy as np
from attrs import frozen
from scipy.special import ndtr, ndtri

from subsetprivacy import draw
from subsetprivacy._checks import check_level
from subsetprivacy._choices import Engine, EvaluationMeasure
from subsetprivacy._types import FloatArray, Label
from subsetprivacy._words import whole
from subsetprivacy.errors import ArgumentError
from subsetprivacy.evaluation.measures import LOSSES
from subsetprivacy.evaluation.result import WORDS, Evaluation
from subsetprivacy.messages import Note, NoteKind, unique
from subsetprivacy.pvalues import positive, pvalue_text
from subsetprivacy.results import Result, plain, unknown_as_nan
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text, number, percent

_ROUNDING = 1e-12  # smaller differences are rounding errors


@frozen(slots=False, eq=False, repr=False)
class EvaluationComparison(Result):
    """The difference between two classifiers on the same people, returned by `evaluate` with `compare`.

    Attributes
    ----------
    one, two
        The two evaluations, which use the same unbiased indicators.
    names
        The names of the two classifiers.
    differences, errors
        Each measure of the first minus that of the second, in the order of ``one.measures``, and the standard errors.
        These use paired differences, so they are smaller than for two separate samples.
    """

    one: Evaluation
    two: Evaluation
    names: tuple[str, str]
    differences: FloatArray
    errors: FloatArray

    @property
    def categories(self) -> tuple[Label, ...]:
        """The categories."""
        return self.one.categories

    @property
    def measures(self) -> tuple[EvaluationMeasure, ...]:
        """The name of each measure."""
        return self.one.measures

    @property
    def n(self) -> float:
        """The number of people."""
        return self.one.n

    @property
    def pvalues(self) -> FloatArray:
        """The two-sided p-value of each difference, not adjusted for multiple comparisons."""
        size = np.abs(self.differences)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(size < _ROUNDING, 0.0, size / self.errors)
        return np.array([positive(2 * ndtr(-x)) for x in z])

    def difference(self, measure: EvaluationMeasure, category: Label | None = None) -> float | FloatArray:
        """Return the difference of a measure: a number, or one per category if no category is given.

        Parameters
        ----------
        measure, category
            As in `Evaluation.estimate`.
        """
        return self._picked(self.differences, measure, category)

    def se(self, measure: EvaluationMeasure, category: Label | None = None) -> float | FloatArray:
        """Return the standard error of a difference; arguments as in `difference`."""
        return self._picked(self.errors, measure, category)

    def interval(self, measure: EvaluationMeasure, category: Label | None = None, *, level: float = 0.95) -> FloatArray:
        """Return the confidence interval of a difference: two numbers, or two per category.

        Parameters
        ----------
        measure, category
            As in `difference`.
        level
            The confidence level.
        """
        return np.stack([self._picked(ends, measure, category) for ends in self._bounds(level)], axis=-1)

    def _picked(self, numbers: FloatArray, measure: EvaluationMeasure, category: Label | None) -> Any:
        return self.one._picked(numbers, measure, category)

    # Output -----------------------------------------------------------------------------------

    @property
    def notes(self) -> tuple[Note, ...]:
        """How to read the signs, and the caveats of both evaluations."""
        legend = f"Differences are {self.names[0]} minus {self.names[1]}. Smaller losses are better."
        both = zip(self.names, (self.one, self.two), strict=True)
        shared = {(note.kind, note.text) for note in self.one.notes} & {
            (note.kind, note.text) for note in self.two.notes
        }
        caveats = [
            note if (note.kind, note.text) in shared else Note(note.kind, f"{name}: {note.text}", note.advice)
            for name, evaluation in both
            for note in evaluation.notes
        ]
        return unique([Note(NoteKind.LEGEND, legend), *caveats])

    def _bounds(self, level: float) -> tuple[FloatArray, FloatArray]:
        half = float(ndtri(0.5 + check_level(level) / 2)) * self.errors
        return self.differences - half, self.differences + half

    def _columns(self, level: float = 0.95, method: Literal["wald"] = "wald") -> dict[str, Any]:
        _check_method(method)
        lower, upper = self._bounds(level)
        own = self.one._columns()
        return {
            "measure": own["measure"],
            "category": own["category"],
            "first": self.one.estimates,
            "second": self.two.estimates,
            "estimate": self.differences,
            "se": self.errors,
            "lower": lower,
            "upper": upper,
            "level": np.full(len(lower), level),
            "pvalue": self.pvalues,
        }

    @overload
    def to_frame(
        self, level: float = ..., *, method: Literal["wald"] = ..., engine: Literal["pandas"] = ...
    ) -> PandasFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: Literal["wald"] = ..., engine: Literal["polars"]
    ) -> PolarsFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: Literal["wald"] = ..., engine: Literal["pyarrow"]
    ) -> ArrowTable: ...
    def to_frame(self, level: float = 0.95, *, method: Literal["wald"] = "wald", engine: Engine = "pandas") -> Frame:
        """Return a data frame with a row per measure, and per category for measures of categories."""
        return frame(self._columns(level, method), engine)

    def summary(self, level: float = 0.95, *, method: Literal["wald"] = "wald") -> Table:
        """Return a table to print or show in a notebook."""
        columns = self._columns(level, method)
        names = ("first", "second", "estimate", "se", "lower", "upper")
        rows = tuple(
            (WORDS[measure], "" if label is None else label_text(label), *map(number, values), pvalue_text(pvalue))
            for measure, label, *values, pvalue in zip(
                columns["measure"], columns["category"], *(columns[k] for k in names), columns["pvalue"], strict=True
            )
        )
        ends = (f"lower {percent(level)}", f"upper {percent(level)}")
        head = ("measure", "category", *self.names, "difference", "se", *ends, "p-value")
        title = f"Two classifiers on the same people: n = {whole(self.n)}"
        return Table(title, head, rows, self.notes, text_columns=2)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Return the numbers for JSON."""
        columns = self._columns(level)
        names = [name for name in columns if name != "level"]
        return plain(
            {
                "names": self.names,
                "differences": [
                    dict(zip(names, row, strict=True)) for row in zip(*(columns[k] for k in names), strict=True)
                ],
                "level": level,
                "one": self.one.to_dict(),
                "two": self.two.to_dict(),
                "notes": self.notes,
            }
        )

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        evaluations = [Evaluation.from_dict(facts[name]) for name in ("one", "two")]
        differences, errors = (
            np.array([unknown_as_nan(row[name]) for row in facts["differences"]]) for name in ("estimate", "se")
        )
        first, second = facts["names"]
        return cls(evaluations[0], evaluations[1], (first, second), differences, errors)

    def plot(self, *, level: float = 0.95, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Draw the differences of all measures between 0 and 1, with their intervals."""
        shares = np.array([name not in LOSSES for name in self.measures])
        at = np.flatnonzero(shares & np.isfinite(self.differences))
        if not len(at):
            raise ArgumentError("a picture must have a measure from 0 to 1; got losses only.")
        lower, upper = self._bounds(level)
        words = [f"{WORDS[self.measures[k]]} {self.one._category_text(self.one.positions[k])}".strip() for k in at]
        heading = draw.Heading(
            f"Quality of {self.names[0]} minus {self.names[1]}, {percent(level)} intervals, n = {self.n:,.0f}"
        )
        return draw.differences(
            words,
            self.differences[at],
            lower[at],
            upper[at],
            level=level,
            title=heading if title is None else title,
            ax=ax,
        )

    def __repr__(self) -> str:
        return (
            f"<EvaluationComparison: {WORDS[self.measures[0]]} {number(self.differences[0])} "
            f"(se {number(self.errors[0])}), n = {whole(self.n)}>"
        )


def _check_method(method: str) -> None:
    if method != "wald":
        raise ArgumentError("`method` must be 'wald', the only one for differences.")
