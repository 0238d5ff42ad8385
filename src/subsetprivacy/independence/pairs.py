"""`PairTests`: the 2 x 2 tables of all pairs of categories (`tab:bonferroni_table`)."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from attrs import field, frozen

from subsetprivacy import draw
from subsetprivacy._checks import read_only
from subsetprivacy._types import FloatArray, Label
from subsetprivacy.independence.crossing import Crossing
from subsetprivacy.independence.degrees import asymptotic_pvalue
from subsetprivacy.independence.null_distributions import NullDistribution
from subsetprivacy.independence.statistics import pair_statistics
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.pvalues import pvalue_text
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import Table, label_text


@frozen(slots=False, eq=False, repr=False)
class PairTests(Result):
    """The 2 x 2 tables of Bonferroni's test, which show associated pairs of categories (`tab:bonferroni_table`).

    Attributes
    ----------
    names
        The two variables.
    rows, columns
        Their categories.
    statistics
        Pearson's statistic of every pair.
    pvalues
        Adjusted for the number of pairs: the probability of such a statistic for any of them.
    """

    names: tuple[str, str]
    rows: tuple[Label, ...]
    columns: tuple[Label, ...]
    statistics: FloatArray = field(converter=read_only)
    pvalues: FloatArray = field(converter=read_only)

    @property
    def notes(self) -> tuple[Note, ...]:
        """A note on the adjustment of the p-values."""
        text = (
            f"P-values are adjusted for {self.statistics.size} pairs: the probability of such a statistic in any pair."
        )
        return (Note(NoteKind.ADJUSTED, text),)

    def __repr__(self) -> str:
        i, j = np.unravel_index(int(self.pvalues.argmin()), self.pvalues.shape)
        pair = f"{label_text(self.rows[i])} and {label_text(self.columns[j])}"
        return (
            f"<PairTests of {self.names[0]} and {self.names[1]}, {len(self.rows)} x {len(self.columns)}, least p-value "
            f"{pvalue_text(self.pvalues[i, j])} for {pair}>"
        )

    def summary(self) -> Table:
        """Return the adjusted p-values as a table to print."""
        rows = tuple(
            (label_text(label), *(pvalue_text(value) for value in line))
            for label, line in zip(self.rows, self.pvalues, strict=True)
        )
        first, second = self.names
        head = (f"{first} \\ {second}", *(label_text(label) for label in self.columns))
        return Table("Adjusted p-values of pairs of categories", head, rows, self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        return plain(
            {
                "variables": self.names,
                "rows": [label_text(label) for label in self.rows],
                "columns": [label_text(label) for label in self.columns],
                "statistics": self.statistics,
                "pvalues": self.pvalues,
                "notes": self.notes,
            }
        )

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the tests that `to_dict` wrote, with labels as text."""
        first, second = facts["variables"]
        tables = (np.array(facts[name], np.float64) for name in ("statistics", "pvalues"))
        return cls((first, second), tuple(facts["rows"]), tuple(facts["columns"]), *tables)

    def _columns(self) -> dict[str, Any]:
        return {
            "row": [label_text(label) for label in self.rows for _ in self.columns],
            "column": [label_text(label) for _ in self.rows for label in self.columns],
            "statistic": self.statistics.ravel(),
            "pvalue": self.pvalues.ravel(),
        }

    def plot(self, *, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Plot Pearson's statistic of every pair as a heat map.

        Parameters
        ----------
        title, ax
            The title, and the Matplotlib axes to draw on; by default a new figure.
        """
        first, second = self.names
        heading = draw.Heading(f"Evidence that categories of {first} and {second} depend on each other")
        return draw.heatmap(
            [label_text(label) for label in self.rows],
            [label_text(label) for label in self.columns],
            self.statistics,
            row_name=first,
            column_name=second,
            label="Pearson's statistic of the pair",
            title=heading if title is None else title,
            ax=ax,
        )


def pair_tests(part: Crossing, law: NullDistribution) -> PairTests:
    """Return the 2 x 2 tables of a crossing, with p-values from the distribution of the largest statistic."""
    statistics = pair_statistics(part.layout, part.counts[None, :])[0]
    if len(law.statistics):
        pvalues = law.pvalue(statistics)
    else:
        number = part.first.different_members * part.second.different_members
        limits = [asymptotic_pvalue("bonferroni", float(value), 1, number) for value in statistics.flat]
        pvalues = np.reshape(limits, statistics.shape)
    labels = [_members(side.design) for side in (part.first, part.second)]
    return PairTests((part.first.name, part.second.name), labels[0], labels[1], statistics, pvalues)


def _members(design: Any) -> tuple[Label, ...]:
    return tuple(getattr(design, "inner", design).categories)
