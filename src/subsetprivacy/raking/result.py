"""`Raked`: the result of `rake`."""

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from subsetprivacy._checks import read_only
from subsetprivacy._choices import CalibrationMethod
from subsetprivacy._types import BoolArray, FloatArray
from subsetprivacy._words import counted, people
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_data import FEWER_MARGINS, LOOSER_BOUNDS, WIDER_BOUNDS
from subsetprivacy.results import Result, plain
from subsetprivacy.sampling import Sampling
from subsetprivacy.tables import Table, number

_UNEVEN = 3.0  # from this ratio of weights, or its inverse, there is a note


@frozen(slots=False, eq=False, repr=False)
class Raked(Result):
    """Weights that agree with known margins; made by `rake`.

    Attributes
    ----------
    sampling
        The new weights, with the strata, clusters and replicates of the sample. Its covariances account for
        calibration, by residuals or by calibrated replicates.
    ratio
        The factor of each person's weight.
    method, bounds
        ``"raking"``, ``"linear"`` or ``"logit"``, and the bounds of ratios, if any.
    terms
        The margin and the label of each known number.
    before, after, target
        Its sum of weights before and after, and the known value; for a mean, the weighted mean.
    means
        Which of them are means.
    private
        The private columns among the margins.
    iterations, converged
        The number of iterations, and whether they converged.
    """

    why_not_restored: ClassVar[str] = "save the weights as a column of the data, or pickle the result"

    sampling: Sampling
    ratio: FloatArray = field(converter=read_only)
    method: CalibrationMethod
    bounds: tuple[float, float] | None
    terms: tuple[tuple[str, str], ...]
    before: FloatArray = field(converter=read_only)
    after: FloatArray = field(converter=read_only)
    target: FloatArray = field(converter=read_only)
    means: BoolArray = field(converter=read_only)
    private: tuple[str, ...]
    iterations: int
    converged: bool

    @property
    def n(self) -> int:
        """The number of people with a weight."""
        return int((self.sampling.weights > 0).sum())

    @property
    def weights(self) -> FloatArray:
        """The new weight of each person."""
        return self.sampling.weights

    @cached_property
    def ratios(self) -> tuple[float, float]:
        """The smallest and the largest ratio of new to old weights."""
        used = self.ratio[self.sampling.weights != 0]
        return (float(used.min()), float(used.max())) if len(used) else (np.nan, np.nan)

    @property
    def design_effect(self) -> float:
        """Kish's design effect of the new weights: the factor by which unequal weights alone increase variances."""
        return self.n / self.sampling.kish

    @property
    def notes(self) -> tuple[Note, ...]:
        """The caveats: whether the margins were reached, how unequal the weights are, and private margins."""
        low, high = self.ratios
        notes = []
        if not self.converged:
            advice = FEWER_MARGINS if self.bounds is None else LOOSER_BOUNDS
            notes.append(Note(NoteKind.NOT_CONVERGED, self._missed, advice))
        effect = number(self.design_effect, 2)
        text = f"Weights were multiplied by {number(low)} to {number(high)}; Kish's design effect is {effect}."
        notes.append(Note(NoteKind.WEIGHTED, text, WIDER_BOUNDS if self._is_uneven and self.bounds is None else None))
        if self.private:
            named = ", ".join(self.private)
            text = (
                f"The unbiased indicators of {named} now add up to the known totals. Shares of {named} estimated again "
                "from the new weights are not exactly the margin, and their intervals are meaningless. Use the known "
                "margin instead. Other estimates become only slightly more precise, as subsets reveal little."
            )
            notes.append(Note(NoteKind.MARGINS, text))
        return tuple(notes)

    @property
    def _missed(self) -> str:
        """By how much margins and means are missed, in words."""
        gap = np.abs(self.after - self.target)
        text = f"some margin is missed by {gap[~self.means].max() / self.target[0]:.2g} of the population"
        if self.means.any():
            text += f", a mean by {gap[self.means].max():.2g}"
        return f"Not converged: {text} after {self.iterations} steps."

    @property
    def _is_uneven(self) -> bool:
        low, high = self.ratios
        return high > _UNEVEN or low < 1 / _UNEVEN

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook: each known total or mean, before and after raking."""
        head = ("margin", "label", "before", "after", "known")
        rows = tuple(
            (margin, label, *map(_total, values))
            for (margin, label), *values in zip(self.terms, self.before, self.after, self.target, strict=True)
        )
        how = {"raking": "raking", "linear": "linear calibration", "logit": "calibration within bounds"}[self.method]
        title = f"Weights of {people(self.n)} by {how} to {counted(len(self.terms) - 1, 'known total')}"
        return Table(title, head, rows, self.notes, text_columns=2)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON; nothing about individuals except the smallest and the largest ratio."""
        return plain(
            {
                "n": self.n,
                "method": self.method,
                "bounds": self.bounds,
                "margins": [margin for margin, _ in self.terms],
                "labels": [label for _, label in self.terms],
                "before": self.before,
                "after": self.after,
                "target": self.target,
                "private": self.private,
                "ratios": self.ratios,
                "design_effect": self.design_effect,
                "iterations": self.iterations,
                "converged": self.converged,
                "notes": self.notes,
            }
        )

    def _columns(self) -> dict[str, Any]:
        return {
            "margin": [margin for margin, _ in self.terms],
            "label": [label for _, label in self.terms],
            "before": self.before,
            "after": self.after,
            "target": self.target,
        }

    def __repr__(self) -> str:
        end = "" if self.converged else ", not converged"
        return f"<Raked: weights of {people(self.n)}, {counted(len(self.terms) - 1, 'known total')}{end}>"


def _total(value: float) -> str:
    """Return a total or a mean as text: rounded to whole numbers from 1000 on, never in scientific notation."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"
