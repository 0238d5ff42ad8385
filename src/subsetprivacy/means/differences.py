"""Differences of means, with separate or simultaneous intervals."""

from collections.abc import Mapping
from typing import Any, Literal, Self, get_args, overload

import numpy as np
from attrs import frozen
from scipy.special import ndtr, stdtr

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_level
from subsetprivacy._choices import DifferencesInterval, Engine
from subsetprivacy._types import FloatArray
from subsetprivacy._words import whole
from subsetprivacy.estimation.limit_quantiles import largest_error_quantile
from subsetprivacy.means.inference import critical, wald
from subsetprivacy.means.presenting import digits_for
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.pvalues import positive, pvalue_text
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, number, percent

METHODS: tuple[DifferencesInterval, ...] = get_args(DifferencesInterval)


@frozen(slots=False, eq=False, repr=False)
class MeanDifferences(Result):
    """Differences of means between groups, returned by `GroupMeans.difference` and `GroupMeans.differences`.

    Attributes
    ----------
    outcome
        The name of the outcome.
    first, second
        The names of the groups. A difference is the mean of the first minus the mean of the second.
    estimate, cov
        The differences and their covariance matrix; NaN if a group is too rare.
    effect
        The differences in standard deviations of the outcome within groups (Cohen's d).
    df
        The degrees of freedom of the covariance; infinite if people were drawn independently.
    n
        The number of people.
    """

    outcome: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    estimate: FloatArray
    cov: FloatArray
    effect: FloatArray
    df: float
    n: float
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return len(self.estimate)

    @property
    def se(self) -> FloatArray:
        """The standard errors."""
        return np.sqrt(np.maximum(self.cov.diagonal(), 0.0))

    @property
    def pvalues(self) -> FloatArray:
        """The two-sided p-value of each difference, not adjusted for multiple comparisons."""
        with np.errstate(invalid="ignore", divide="ignore"):
            z = -np.abs(self.estimate) / self.se
        tail = ndtr(z) if np.isinf(self.df) else stdtr(max(self.df, 1.0), z)
        return np.array([positive(2 * float(x)) if x == x else np.nan for x in tail])

    def interval(self, level: float = 0.95, *, method: DifferencesInterval = "wald") -> FloatArray:
        """Return confidence intervals, shape (differences, 2).

        Parameters
        ----------
        level
            The confidence level.
        method
            ``"wald"``: each interval has the level. ``"simultaneous"``: all intervals together have it.
        """
        check_level(level)
        times = critical(level, self.df)
        if check_choice(method, METHODS, "method") == "simultaneous":
            known = np.isfinite(self.estimate)
            if known.sum() > 1:
                wider = largest_error_quantile(self.cov[np.ix_(known, known)], level)
                times *= wider / critical(level, float("inf"))
        return wald(self.estimate, self.se, times)

    def _columns(self, level: float = 0.95, method: DifferencesInterval = "wald") -> dict[str, Any]:
        ends = self.interval(level, method=method)
        return {
            "first": list(self.first),
            "second": list(self.second),
            "estimate": self.estimate,
            "se": self.se,
            "lower": ends[:, 0],
            "upper": ends[:, 1],
            "level": np.full(len(ends), level),
            "pvalue": self.pvalues,
            "effect": self.effect,
        }

    @overload
    def to_frame(
        self, level: float = ..., *, method: DifferencesInterval = ..., engine: Literal["pandas"] = ...
    ) -> PandasFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: DifferencesInterval = ..., engine: Literal["polars"]
    ) -> PolarsFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: DifferencesInterval = ..., engine: Literal["pyarrow"]
    ) -> ArrowTable: ...
    def to_frame(
        self, level: float = 0.95, *, method: DifferencesInterval = "wald", engine: Engine = "pandas"
    ) -> Frame:
        """Return a data frame with a row for each difference."""
        return frame(self._columns(level, method), engine)

    def summary(self, level: float = 0.95, *, method: DifferencesInterval = "wald") -> Table:
        """Return a table to print or show in a notebook; `level` and `method` as in `interval`."""
        columns = self._columns(level, method)
        digits = digits_for(self.se)
        cells = zip(*(columns[name] for name in ("estimate", "se", "lower", "upper")), strict=True)
        rows = tuple(
            (f"{a} - {b}", *(number(x, digits) for x in values), "-" if p != p else pvalue_text(p), number(d, 2))
            for a, b, values, p, d in zip(self.first, self.second, cells, self.pvalues, self.effect, strict=True)
        )
        head = ("groups", "difference", "se", f"lower {percent(level)}", f"upper {percent(level)}", "p-value", "effect")
        title = f"Differences of the mean of {self.outcome}: n = {whole(self.n)}"
        return Table(title, head, rows, (*self._legend(method, level), *self.notes))

    def _legend(self, method: DifferencesInterval, level: float) -> list[Note]:
        legend = [Note(NoteKind.LEGEND, "Effect: the difference in standard deviations within groups.")]
        if method == "simultaneous":
            text = f"The intervals hold simultaneously with {percent(level)}. P-values are for single differences."
            legend.append(Note(NoteKind.SIMULTANEOUS, text))
        return legend

    def to_dict(self, level: float = 0.95, *, method: DifferencesInterval = "wald") -> dict[str, Any]:
        """Return the numbers for JSON; `level` and `method` as in `interval`."""
        facts = {name: values for name, values in self._columns(level, method).items() if name != "level"}
        return plain(
            {
                "outcome": self.outcome,
                "n": self.n,
                "df": self.df,
                **facts,
                "level": level,
                "method": method,
                "cov": self.cov,
                "notes": self.notes,
            }
        )

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        return cls(
            facts["outcome"],
            tuple(facts["first"]),
            tuple(facts["second"]),
            estimate=np.array(facts["estimate"], np.float64),
            cov=np.array(facts["cov"], np.float64),
            effect=np.array(facts["effect"], np.float64),
            df=float("inf") if facts["df"] is None else facts["df"],
            n=facts["n"],
            notes=tuple(map(Note.from_dict, facts["notes"])),
        )

    def plot(
        self,
        *,
        level: float = 0.95,
        method: DifferencesInterval = "wald",
        title: str | None = None,
        ax: draw.AxesOrNone = None,
    ) -> draw.Axes:
        """Draw the differences with their intervals and a line at zero."""
        ends = self.interval(level, method=method)
        names = [f"{a} \N{MINUS SIGN} {b}" for a, b in zip(self.first, self.second, strict=True)]
        heading = draw.Heading(
            f"Differences in the mean of {self.outcome}, {percent(level)} intervals, n = {self.n:,.0f}"
        )
        return draw.by_row(
            names,
            {"": (self.estimate, ends[:, 0], ends[:, 1])},
            xlabel=f"difference, {percent(level)} interval",
            zero=True,
            title=heading if title is None else title,
            ax=ax,
        )

    def __repr__(self) -> str:
        row = f"{self.first[0]} - {self.second[0]}: {number(float(self.estimate[0]))} (se {number(float(self.se[0]))})"
        more = f", and {len(self) - 1} more" if len(self) > 1 else ""
        return f"<MeanDifferences of {self.outcome}, {row}{more}>"
