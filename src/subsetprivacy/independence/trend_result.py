"""`TrendResult`: the result of a trend test."""

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args, overload

import numpy as np
from attrs import field, frozen
from scipy.special import ndtri

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_level, read_only
from subsetprivacy._choices import Alternative, ContrastMethod, Engine
from subsetprivacy._types import FloatArray, Label
from subsetprivacy._words import counted
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import ArgumentError, SubsetPrivacyWarning
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.independence.null_distributions import NullDistribution
from subsetprivacy.independence.result import null_words
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_estimates import ALL_ROWS
from subsetprivacy.messages.for_tests import WALD_MEANS
from subsetprivacy.pvalues import p_equals, positive, pvalue_text
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text, number, percent

_SHOWN = 8  # the most scores listed
_MOST_SEARCHED = 60  # the most groups with score intervals by default: a few seconds
_MOST_ROWS = 64


@frozen(slots=False, eq=False, repr=False)
class TrendResult(Result):
    """A trend test, and the mean score of each group; made by `trend_test`.

    Attributes
    ----------
    hypothesis
        The null hypothesis, in words.
    zscore
        The statistic divided by its standard deviation under permutations; positive if scores increase over the groups.
    alternative
        ``"two-sided"``, ``"greater"`` or ``"less"``.
    pvalue
        From tables with the same margins (random ones, or all if there are few), or asymptotic if none was drawn.
    asymptotic_pvalue
        The p-value from the normal distribution.
    law
        The statistics of the tables; large values support the alternative.
    tables
        The counts of each group, or one table of two variables.
    groups, group_scores
        The groups, or the categories of the first variable, and their scores.
    categories, scores
        The categories and their scores.
    remarks
        Notes of the test.
    variables
        The names of the two variables of a table; None for groups.
    """

    why_not_restored: ClassVar[str] = "save the counts `result.tables` and test again, or pickle the result"

    hypothesis: str
    zscore: float
    alternative: Alternative
    pvalue: float = field(converter=positive)
    asymptotic_pvalue: float = field(converter=positive)
    law: NullDistribution
    tables: Mapping[Label, SubsetCounts]
    groups: tuple[Label, ...]
    group_scores: FloatArray = field(converter=read_only)
    categories: tuple[Label, ...]
    scores: FloatArray = field(converter=read_only)
    remarks: tuple[Note, ...] = ()
    variables: tuple[str, str] | None = None

    @property
    def null(self) -> str:
        """The source of the p-value: ``"exact"``, ``"permutation"`` or ``"asymptotic"``."""
        return self.law.kind

    @property
    def permutations(self) -> int:
        """The number of tables behind the p-value."""
        return len(self.law.statistics)

    @property
    def pvalue_se(self) -> float:
        """The Monte Carlo standard error of the p-value: 0 if all tables were used, NaN without tables."""
        return self.law.error(self.pvalue)

    @property
    def n(self) -> float:
        """The number of people; Kish's effective number for a weighted sample."""
        return sum(table.n for table in self.tables.values())

    @property
    def n_missing(self) -> float:
        """The number of rows left out because an answer is missing."""
        return sum(table.n_missing for table in self.tables.values())

    @property
    def _is_table(self) -> bool:
        return self.variables is not None

    @cached_property
    def estimates(self) -> Mapping[Label, Estimate]:
        """The estimate of each of `tables`, computed on first use."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SubsetPrivacyWarning)  # `notes` has the relevant caveats
            return {name: estimate(table) for name, table in self.tables.items()}

    # Mean scores ------------------------------------------------------------------------------------------------------

    def _means(self, level: float, method: ContrastMethod) -> FloatArray:
        """Return estimate, standard error, lower and upper end of the mean score of each group."""
        check_level(level)
        check_choice(method, get_args(ContrastMethod), "method")
        if self._is_table:
            return self._conditional_means(level, method)
        if method == "auto" and len(self.groups) > _MOST_SEARCHED:
            method = "wald"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SubsetPrivacyWarning)
            contrasts = [fit.contrast(self.scores, level=level, method=method) for fit in self.estimates.values()]
        return np.array([(contrast.value, contrast.se, contrast.lower, contrast.upper) for contrast in contrasts])

    def _conditional_means(self, level: float, method: ContrastMethod) -> FloatArray:
        r"""Return the mean score given each category of the first variable, by the delta method.

        The mean is :math:`m_j = \sum_k c_k w_{jk}/w_{j+}`, its derivative in :math:`w_{jk}` is
        :math:`(c_k - m_j)/w_{j+}`.
        """
        if method not in ("auto", "wald"):
            raise ArgumentError(f"`method` must be 'wald' for a table of two variables; got {method!r}.", WALD_MEANS)
        (fit,) = self.estimates.values()
        W = np.maximum(fit.table(), 0.0)
        z, out = float(ndtri(0.5 + level / 2)), np.full((len(W), 4), np.nan)
        for j, row in enumerate(W):
            if row.sum() <= 0:
                continue
            mean = float(row @ self.scores / row.sum())
            slope = np.zeros_like(W)
            slope[j] = (self.scores - mean) / row.sum()
            se = float(np.sqrt(max(fit.uncertainty.along(fit, slope.ravel()), 0.0)))
            ends = np.clip([mean - z * se, mean + z * se], self.scores.min(), self.scores.max())
            out[j] = mean, se, *ends
        return out

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """The scores, and the caveats."""
        scored = list(zip(self.categories, self.scores.tolist(), strict=True))
        listed = ", ".join(f"{label_text(label)} {score:g}" for label, score in scored[:_SHOWN])
        more = ", …" if len(self.categories) > _SHOWN else ""
        notes = [Note(NoteKind.SCORES, f"Scores of the categories: {listed}{more}."), *self.law.notes, *self.remarks]
        zeros = sum(bool(fit.on_boundary) for fit in self.estimates.values())
        if zeros:
            where = "" if self._is_table else f" in {counted(zeros, 'group')}"
            text = f"On the boundary: a share is estimated as 0{where}. Standard errors of mean scores are approximate."
            notes.append(Note(NoteKind.BOUNDARY, text))
        return tuple(notes)

    # Output -----------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return (
            f"<TrendResult: z {self.zscore:.3f}, p-value {pvalue_text(self.pvalue)} ({self.alternative}, {self.null}), "
            f"{counted(len(self.groups), 'group')}>"
        )

    def summary(self, level: float = 0.95, *, method: ContrastMethod = "auto") -> Table:
        """Return the table to print or to show in a notebook: the mean score of each group, with the test below.

        Parameters
        ----------
        level
            The confidence level of each interval.
        method
            ``"score"``, ``"profile"`` or ``"wald"``, as in `Estimate.contrast`; only ``"wald"`` for a table of two
            variables. ``"auto"`` is ``"wald"`` for more than 60 groups.
        """
        means = self._means(level, method)
        rows = [
            (label_text(group), f"{score:g}", *map(number, row))
            for group, score, row in zip(self.groups, self.group_scores, means.tolist(), strict=True)
        ]
        text = f"The first {_MOST_ROWS} of {len(rows)} groups."
        cut = (Note(NoteKind.SHORTENED, text, ALL_ROWS),) if len(rows) > _MOST_ROWS else ()
        ends = (f"lower {percent(level)}", f"upper {percent(level)}")
        head = (self.variables[0] if self.variables else "group", "group score", "mean score", "std. error", *ends)
        return Table(
            f"Test of trend: {self._finding}", head, tuple(rows[:_MOST_ROWS]), (*cut, self._test_note(), *self.notes)
        )

    @property
    def _finding(self) -> str:
        return f"z = {self.zscore:.2f}, {p_equals(self.pvalue)}, {self._people}"

    @property
    def _people(self) -> str:
        weighted = any(table.squares is not None for table in self.tables.values())
        return f"weighted, effective n = {self.n:,.0f}" if weighted else f"n = {self.n:,.0f}"

    def _test_note(self) -> Note:
        error = "" if np.isnan(self.pvalue_se) else f", Monte Carlo std. error {number(self.pvalue_se)}"
        text = (
            f"Null hypothesis: {self.hypothesis}. The p-value ({self.alternative}) comes from "
            f"{null_words(self.null, self.permutations)}{error}. The asymptotic p-value is "
            f"{pvalue_text(self.asymptotic_pvalue)}."
        )
        return Note(NoteKind.NULL_LAW, text)

    def _table(self, level: float, method: ContrastMethod) -> dict[str, Any]:
        means = self._means(level, method)
        return {
            "group": [label_text(group) if isinstance(group, tuple) else group for group in self.groups],
            **dict(zip(("estimate", "se", "lower", "upper"), means.T, strict=True)),
            "level": [level] * len(means),
        }

    def _columns(self) -> dict[str, Any]:
        return self._table(0.95, "auto")

    @overload
    def to_frame(
        self, level: float = ..., *, method: ContrastMethod = ..., engine: Literal["pandas"] = ...
    ) -> PandasFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: ContrastMethod = ..., engine: Literal["polars"]
    ) -> PolarsFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: ContrastMethod = ..., engine: Literal["pyarrow"]
    ) -> ArrowTable: ...
    def to_frame(self, level: float = 0.95, *, method: ContrastMethod = "auto", engine: Engine = "pandas") -> Frame:
        """Return a data frame with the mean score of each group: `group, estimate, se, lower, upper, level`.

        Parameters
        ----------
        level, method
            As in `summary`.
        engine
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``.
        """
        return frame(self._table(level, method), engine)

    def to_dict(self, level: float = 0.95, *, method: ContrastMethod = "auto") -> dict[str, Any]:
        """Return the numbers under stable names, for JSON; missing ones are None."""
        means = self._means(level, method)
        return plain(
            {
                "hypothesis": self.hypothesis,
                "alternative": self.alternative,
                "zscore": self.zscore,
                "pvalue": self.pvalue,
                "pvalue_se": self.pvalue_se,
                "asymptotic_pvalue": self.asymptotic_pvalue,
                "null": self.null,
                "permutations": self.permutations,
                "n": self.n,
                "n_missing": self.n_missing,
                "categories": _for_json(self.categories),
                "scores": self.scores,
                "groups": _for_json(self.groups),
                "group_scores": self.group_scores,
                **dict(zip(("estimate", "se", "lower", "upper"), means.T, strict=True)),
                "level": level,
                "notes": self.notes,
            }
        )

    def plot(
        self,
        level: float = 0.95,
        *,
        method: ContrastMethod = "auto",
        title: str | None = None,
        ax: draw.AxesOrNone = None,
    ) -> draw.Axes:
        """Plot the mean score of each group with its interval, by group score.

        Parameters
        ----------
        level, method
            As in `summary`.
        title, ax
            The title, and the Matplotlib axes to draw on; by default a new figure.
        """
        means = self._means(level, method)
        least, most = int(self.scores.argmin()), int(self.scores.argmax())
        what = f"Mean score of {self.variables[1]} by {self.variables[0]}" if self.variables else "Mean score by group"
        finding = self._finding.replace("-", "\N{MINUS SIGN}")
        heading = draw.Heading(f"{what}, {percent(level)} intervals. Trend: {finding}")
        return draw.means(
            [label_text(group) for group in self.groups],
            self.group_scores,
            means[:, 0],
            means[:, 2],
            means[:, 3],
            ylabel=f"mean score ({label_text(self.categories[least])} {self.scores[least]:g} to "
            f"{label_text(self.categories[most])} {self.scores[most]:g})",
            title=heading if title is None else title,
            ax=ax,
        )


def _for_json(labels: Sequence[Label]) -> list[Any]:
    return [label if isinstance(label, (str, int, float)) else label_text(label) for label in labels]
