"""Residuals: which answers fit worst."""

from typing import Any, ClassVar

import numpy as np
from attrs import frozen
from scipy.special import ndtri

from subsetprivacy import draw
from subsetprivacy._checks import check_count, read_only
from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy._words import counted
from subsetprivacy.errors import NotIdentifiableError
from subsetprivacy.honesty.linear import LinearModel, UnconstrainedFit
from subsetprivacy.honesty.table import AnswerTable
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_tests import RESIDUAL_COUNTS
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import Table, number

_MATRIX = 1 << 24
_CERTAIN = 1e-9


@frozen(slots=False, eq=False, repr=False)
class Residuals(Result):
    """Observed and expected counts of every answer, and their standardized difference.

    Attributes
    ----------
    table
        The answers: `codes`, `observed`, the `question` of each.
    expected
        The expected counts of the free fit.
    standardized
        Differences divided by their standard errors, approximately standard normal if people are honest. NaN if an
        answer has no degree of freedom, or the table is too large.
    """

    why_not_restored: ClassVar[str] = "save the counts and check them again, or pickle the residuals"

    table: AnswerTable
    expected: FloatArray
    standardized: FloatArray

    @property
    def notes(self) -> tuple[Note, ...]:
        """Which answers have no standardized difference, and why."""
        missing = int(np.isnan(self.standardized).sum())
        if not missing:
            return ()
        if missing == len(self.standardized):
            text = "No residuals: no answer has a degree of freedom left, or the table is too large."
        else:
            text = f"No degree of freedom is left for {counted(missing, 'answer')}, so there is no residual."
        return (Note(NoteKind.NO_STANDARD_ERRORS, text),)

    def __repr__(self) -> str:
        known = self.standardized[np.isfinite(self.standardized)]
        largest = f", the largest {np.abs(known).max():.2f}" if len(known) else ""
        return f"<Residuals of {counted(len(self.table.codes), 'answer')}{largest}>"

    def worst(self, most: int) -> IntArray:
        """Return the positions of the answers that fit worst, one for each question, the worst first."""
        count = check_count(most, "most", least=1)
        size = np.nan_to_num(np.abs(self.standardized))
        # The two answers to a yes/no question deviate equally. The one that was given too often is shown.
        order = np.lexsort((-self.standardized, -size.round(6)))
        if self.table.is_stratified:
            order = order[np.sort(np.unique(self.table.question[order], return_index=True)[1])]
        return order[:count]

    def plot(self, most: int = 20, *, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Plot the answers that fit worst; see `HonestyCheck.plot`."""
        worst = self.worst(most)
        shown = worst[np.isfinite(self.standardized[worst])]
        if not len(shown):
            raise NotIdentifiableError("there must be a residual to plot; got none.", RESIDUAL_COUNTS)
        table, expected = self.table, self.expected[shown]
        pairs = table.is_stratified and table.design.options == 2  # both answers carry the same information
        tests = len(table.asked if pairs else table.codes)  # Bonferroni
        heading = draw.Heading(f"The {len(shown)} answers that fit worst, n = {table.n:,.0f}")
        return draw.residuals(
            [table.design.format(int(code)).replace("|", " | ") for code in table.codes[shown]],
            self.standardized[shown],
            remarks=[f"{n:.0f}, expected {e:.1f}" for n, e in zip(table.observed[shown], expected, strict=True)],
            limits=(float(ndtri(0.975)), float(ndtri(1 - 0.025 / tests))),
            title=heading if title is None else title,
            ax=ax,
        )

    def summary(self, most: int = 10) -> Table:
        """Return a table of the answers that fit worst, one for each question."""
        rows = [
            (
                self.table.design.format(int(self.table.codes[k])),
                f"{self.table.observed[k]:.0f}",
                number(self.expected[k], 1),
                number(self.standardized[k], 2),
            )
            for k in self.worst(most)
        ]
        return Table("Answers that fit worst", ("subset", "observed", "expected", "residual"), tuple(rows), self.notes)

    def _columns(self) -> dict[str, Any]:
        format_ = self.table.design.format
        return {
            "subset": [format_(code) for code in self.table.codes.tolist()],
            "observed": self.table.observed,
            "expected": self.expected,
            "residual": self.standardized,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and residuals of all answers, for JSON."""
        return plain({**self._columns(), "notes": self.notes})


def residuals(model: LinearModel, fit: UnconstrainedFit) -> Residuals:
    """Return the residuals of a free fit."""
    table = model.table
    expected = table.exposure * model.rows.inner(fit.free)
    if model.rows.rows * model.rows.p > _MATRIX:
        return Residuals(table, read_only(expected), read_only(np.full(len(expected), np.nan)))
    # The variance of an answer, minus the part that the fit explains.
    own = fit.expected * (1 - fit.expected / table.asked[table.question])
    M = model.rows.inner(np.eye(model.rows.p))
    taken = table.exposure**2 * (M * model.rows.inner(fit.covariance(table.n))).sum(axis=0)
    left = np.where(own - taken > _CERTAIN * own, own - taken, np.nan)
    return Residuals(table, read_only(expected), read_only((table.observed - expected) / np.sqrt(left)))
