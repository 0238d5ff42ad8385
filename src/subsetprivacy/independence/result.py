"""`IndependenceResult`: the result of tests of independence and homogeneity."""

import warnings
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, get_args

import numpy as np
from attrs import field, frozen

from subsetprivacy import draw
from subsetprivacy._checks import check_choice
from subsetprivacy._choices import IndependencePicture
from subsetprivacy._types import Label
from subsetprivacy._words import whole
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import ArgumentError, SubsetPrivacyWarning
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.independence.caveats import caveats
from subsetprivacy.independence.crossing import Crossing
from subsetprivacy.independence.null_distributions import NullDistribution
from subsetprivacy.independence.pairs import PairTests
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_tests import EACH_ESTIMATE
from subsetprivacy.pvalues import positive, pvalue_text
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import Table, number

_METHODS = {
    "lrt": "Likelihood ratio test",
    "lrt-mom": "Likelihood ratio test with moments",
    "pearson": "Pearson's test",
    "pearson-conditional": "Pearson's test given the questions",
    "bonferroni": "Bonferroni's test of all 2 x 2 tables",
}
_NULLS = {
    "exact": "all {}tables with the same margins",
    "permutation": "{}random tables with the same margins",
    "bootstrap": "{}tables simulated under the null hypothesis",
    "asymptotic": "the limit distribution",
}


def null_words(null: str, tables: int) -> str:
    """Return what a p-value is based on, with the number of tables.

    Examples
    --------
    >>> null_words("permutation", 999)
    '999 random tables with the same margins'
    """
    return _NULLS[null].format(f"{tables:,} " if tables else "")


@frozen(slots=False, eq=False, repr=False)
class IndependenceResult(Result):
    """The result of a test of independence or homogeneity.

    Attributes
    ----------
    hypothesis
        The null hypothesis, in words.
    method
        The name of the statistic.
    statistic, df
        The statistic and its degrees of freedom.
    pvalue
        From tables with the same margins (random ones, or all if there are few), from a parametric bootstrap if rows
        cannot be permuted, or asymptotic if no table was drawn.
    pvalue_se
        The Monte Carlo standard error of `pvalue`: 0 if all tables were used, NaN for asymptotic p-values.
    asymptotic_pvalue
        The p-value from the limit distribution; NaN if there is none.
    law
        The statistics under the null hypothesis.
    n, n_missing
        The number of people in complete rows, and of rows left out because an answer is missing.
    tables
        The tested tables: one, or one for each group.
    null_estimates
        The estimates under the null hypothesis, by name; each has its shares as `w`.
    remarks, crossings, df_kind
        The basis of the notes: notes of the test, the tables with the fits of their margins, and the requested kind of
        degrees of freedom.
    pairs
        For ``"bonferroni"``, statistics and adjusted p-values of the 2 x 2 tables of all pairs of categories.
    """

    why_not_restored: ClassVar[str] = "save the counts `result.tables` and test again, or pickle the result"

    hypothesis: str
    method: str
    statistic: float
    df: float
    pvalue: float = field(converter=positive)
    asymptotic_pvalue: float = field(converter=positive)
    law: NullDistribution
    tables: Mapping[Label, SubsetCounts]
    null_estimates: Mapping[str, Any]
    remarks: tuple[Note, ...] = ()
    crossings: tuple[Crossing, ...] = ()
    df_kind: str = "corrected"
    pairs: PairTests | None = field(default=None)
    _alternative: Mapping[str, Estimate] | None = field(default=None)

    @property
    def null(self) -> str:
        """The source of the p-value: ``"exact"``, ``"permutation"``, ``"bootstrap"`` or ``"asymptotic"``."""
        return self.law.kind

    @property
    def permutations(self) -> int:
        """The number of tables behind the p-value."""
        return len(self.law.statistics)

    @property
    def pvalue_se(self) -> float:
        """The Monte Carlo standard error of the p-value."""
        return self.law.error(self.pvalue)

    @property
    def n(self) -> float:
        """The number of people in complete rows; Kish's effective number for a weighted sample."""
        return sum(table.n for table in self.tables.values())

    @property
    def n_missing(self) -> float:
        """The number of rows left out because an answer is missing."""
        return sum(table.n_missing for table in self.tables.values())

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """The caveats, computed on first use."""
        caveats_of_tables = caveats(self.crossings, self.method, self.statistic, self.df_kind)
        return (*self.law.notes, *caveats_of_tables, *self._joint_boundary(), *self.remarks)

    def _joint_boundary(self) -> list[Note]:
        """Return a note if a joint share is zero, which affects only the limit distribution of the likelihood ratio."""
        if self.method != "lrt" or not self.crossings:
            return []
        zeros = sum(len(fit.on_boundary) for fit in self.alternative_estimates.values())
        if not zeros:
            return []
        what = "shares are" if zeros > 1 else "share is"
        text = f"On the boundary: {zeros} joint {what} estimated as 0. The asymptotic test then rejects too rarely."
        return [Note(NoteKind.BOUNDARY, text)]

    @cached_property
    def alternative_estimates(self) -> Mapping[str, Estimate]:
        """The estimates without the null hypothesis, one for each of `tables`; computed on first use."""
        if self._alternative is not None:
            return self._alternative
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SubsetPrivacyWarning)  # they are also notes of the estimates
            return {str(name): estimate(table) for name, table in self.tables.items()}

    @property
    def joint(self) -> Estimate:
        """The estimate of the joint distribution of the two variables, or of group and variable."""
        if len(self.tables) == 1:
            return next(iter(self.alternative_estimates.values()))
        if len(self.crossings) != 1:
            raise ArgumentError(f"a joint estimate must be of one table; got {len(self.tables)}.", EACH_ESTIMATE)
        with warnings.catch_warnings():  # for groups: group by category
            warnings.simplefilter("ignore", SubsetPrivacyWarning)
            return estimate(self.crossings[0].table)

    @property
    def margins(self) -> Mapping[str, Any]:
        """The estimates under the null hypothesis, by variable."""
        return self.null_estimates

    def __repr__(self) -> str:
        return (
            f"<IndependenceResult by {self.method}: statistic {self.statistic:.3f}, df {self.df:g}, "
            f"p-value {pvalue_text(self.pvalue)} ({self.null})>"
        )

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook."""
        rows = [
            ("statistic", number(self.statistic)),
            ("degrees of freedom", "-" if self.df != self.df else f"{self.df:g}"),
            ("p-value", pvalue_text(self.pvalue)),
            ("  based on", null_words(self.null, self.permutations)),
            ("  Monte Carlo std. error", number(self.pvalue_se)),
            ("asymptotic p-value", "-" if np.isnan(self.asymptotic_pvalue) else pvalue_text(self.asymptotic_pvalue)),
            ("people", self._people),
            (f"{self._rows} left out (answer missing)", f"{self.n_missing:.0f}"),
        ]
        title = f"{_METHODS[self.method]}. Null hypothesis: {self.hypothesis}"
        return Table(title, ("", "value"), tuple(rows), self.notes)

    @property
    def _weighted(self) -> bool:
        return any(table.squares is not None for table in self.tables.values())

    @property
    def _rows(self) -> str:
        return "weight" if self._weighted else "rows"

    @property
    def _people(self) -> str:
        texts = [table.n_text for table in self.tables.values()]
        if len(texts) == 1:
            return texts[0].removeprefix("n = ")
        return f"weighted, effective n = {whole(self.n)}" if self._weighted else whole(self.n)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names, for JSON; missing ones are None."""
        facts = {**self._facts(), "notes": self.notes}
        return plain(facts if self.pairs is None else facts | {"pairs": self.pairs.to_dict()})

    def _facts(self) -> dict[str, Any]:
        return {
            "hypothesis": self.hypothesis,
            "method": self.method,
            "statistic": float(self.statistic),
            "df": float(self.df),
            "pvalue": self.pvalue,
            "pvalue_se": self.pvalue_se,
            "asymptotic_pvalue": self.asymptotic_pvalue,
            "null": self.null,
            "permutations": self.permutations,
            "n": self.n,
            "n_missing": self.n_missing,
        }

    def _columns(self) -> dict[str, Any]:
        return {name: [value] for name, value in self._facts().items()}

    def plot(
        self, kind: IndependencePicture = "null", *, title: str | None = None, ax: draw.AxesOrNone = None
    ) -> draw.Axes:
        """Plot the statistic with its null distribution, or the residuals of the joint shares.

        Parameters
        ----------
        kind
            ``"null"``: a histogram of the statistics under the null hypothesis, with the limit distribution.
            ``"residuals"``: a heat map of joint shares minus products of shares, in standard errors.
        title, ax
            The title, and the Matplotlib axes to draw on; by default a new figure.
        """
        if check_choice(kind, get_args(IndependencePicture), "kind") == "residuals":
            from subsetprivacy.measures import association

            return association(self.joint).plot("residuals", title=title, ax=ax)
        limit = self.df if self.method != "lrt-mom" and self.method != "bonferroni" and self.df > 0 else None
        return draw.null_distribution(
            self.law.statistics,
            self.statistic,
            weights=self.law.weights,
            df=limit,
            pvalue=self.pvalue,
            title=draw.Heading(f"Null hypothesis: {self.hypothesis}, n = {self.n:,.0f}") if title is None else title,
            ax=ax,
        )
