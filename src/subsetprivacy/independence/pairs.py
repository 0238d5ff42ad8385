"""The 2 x 2 tables of all pairs of categories, one by one (`tab:bonferroni_table`)."""

from typing import Any, Literal, overload

import numpy as np
from attrs import field, frozen

from subsetprivacy._checks import frozen as read_only
from subsetprivacy._choices import Engine
from subsetprivacy._types import FloatArray, Label
from subsetprivacy.independence.crossing import Crossing
from subsetprivacy.independence.degrees import asymptotic_pvalue
from subsetprivacy.independence.nulls import NullLaw
from subsetprivacy.independence.statistics import pair_statistics
from subsetprivacy.pvalues import pvalue_text
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text


@frozen(slots=False, eq=False, repr=False)
class PairTests:
    """The 2 x 2 tables behind Bonferroni's test: which pairs of categories go together (`tab:bonferroni_table`).

    Attributes
    ----------
    names
        The two variables.
    rows, columns
        Their categories.
    statistics
        Pearson's statistic of every pair.
    pvalues
        Adjusted for the number of pairs: the chance of such a statistic for any of them.
    """

    names: tuple[str, str]
    rows: tuple[Label, ...]
    columns: tuple[Label, ...]
    statistics: FloatArray = field(converter=read_only)
    pvalues: FloatArray = field(converter=read_only)

    def summary(self) -> Table:
        """Return the adjusted p-values as a table to print."""
        rows = tuple(
            (label_text(label), *(pvalue_text(value) for value in line))
            for label, line in zip(self.rows, self.pvalues, strict=True)
        )
        one, two = self.names
        return Table("Adjusted p-values", (f"{one} \\ {two}", *(label_text(label) for label in self.columns)), rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        return {
            "variables": list(self.names),
            "rows": [label_text(label) for label in self.rows],
            "columns": [label_text(label) for label in self.columns],
            "statistics": self.statistics.tolist(),
            "pvalues": self.pvalues.tolist(),
        }

    @overload
    def to_frame(self, *, engine: Literal["pandas"] = ...) -> PandasFrame: ...
    @overload
    def to_frame(self, *, engine: Literal["polars"]) -> PolarsFrame: ...
    @overload
    def to_frame(self, *, engine: Literal["pyarrow"]) -> ArrowTable: ...
    def to_frame(self, *, engine: Engine = "pandas") -> Frame:
        """Return a data frame: a row per pair of categories."""
        one, two = self.names
        columns = {
            one: [label_text(label) for label in self.rows for _ in self.columns],
            two: [label_text(label) for _ in self.rows for label in self.columns],
            "statistic": self.statistics.ravel(),
            "pvalue": self.pvalues.ravel(),
        }
        return frame(columns, engine, index=False)

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def pair_tests(part: Crossing, law: NullLaw) -> PairTests:
    """Return the 2 x 2 tables of a crossing, with p-values from the law of the largest statistic."""
    statistics = pair_statistics(part.sheet, part.counts[None, :])[0]
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
