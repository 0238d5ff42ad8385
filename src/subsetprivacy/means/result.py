"""The result of `group_means`: numbers, means, variances and quantiles by private category."""

from collections.abc import Mapping
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Literal, Self, get_args, overload

import numpy as np
from attrs import field, frozen

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_level, read_only
from subsetprivacy._choices import Engine, EqualMeansMethod, MeansInterval, PairsOf
from subsetprivacy._types import AnyArray, BoolArray, FloatArray, IntArray, Label
from subsetprivacy._words import group_text, people, whole
from subsetprivacy.data.groups import is_unknown_group
from subsetprivacy.errors import ArgumentError, CategoryError, NoDataError
from subsetprivacy.means import inference, quantiles
from subsetprivacy.means.differences import MeanDifferences
from subsetprivacy.means.presenting import frame_columns, picture_of, summary_of
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_analyses import CORRECTED_MEANS, NAME_TWO_CELLS
from subsetprivacy.regression.model_tests import ModelTests
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text

INTERVALS: tuple[MeansInterval, ...] = get_args(MeansInterval)
TESTS: tuple[EqualMeansMethod, ...] = get_args(EqualMeansMethod)
PAIRS: tuple[PairsOf, ...] = get_args(PairsOf)
_NUMBERS = ("number", "share", "share_se", "mean", "variance", "variance_se", "quantile", "quantile_ends")


@frozen(slots=False, eq=False, repr=False)
class GroupMeans(Result):
    """Means, variances and quantiles of an outcome by private category, returned by `group_means`.

    Arrays have a number for each category, shape (p,). With known groups they have a row for each group, shape
    (groups, p). Known groups of fewer than 5 people have no estimates, because these would describe individuals.

    Quantiles, and the ends of their intervals, are outcomes of individuals. The outcome is not private, but do not
    publish quantiles of an outcome that identifies someone.

    Attributes
    ----------
    outcome
        The name of the outcome.
    variables, categories
        The names of the private variables, and their categories or combinations of categories.
    by, groups
        The columns that define the known groups, and the groups; empty, and (None,), without known groups.
    n, n_missing
        The number of people with an informative subset, without groups that are too small, and the number of people
        left out because their subset is the full set.
    number
        The estimated number of people; with sampling weights, the sum of their weights.
    share, share_se
        Their share of all people, or of their known group, and its standard errors.
    mean, cov
        The means, and the covariance matrix of all of them, known groups first.
    variance, variance_se
        The variance of the outcome within each category, and its standard errors.
    probabilities, quantile
        The probabilities, and the quantiles in a last dimension.
    is_rate
        Whether the outcome is 0 or 1 for everyone, so that means are rates.
    df
        The degrees of freedom of the covariance; infinite if people were drawn independently.
    model
        The assumed distribution of the outcome: None, or ``"normal"``.
    robust
        With a model, the sandwich covariance of the means. Otherwise None, because `cov` is the sandwich.
    corrected
        With a model, the means without this assumption.
    comparison
        With a model, the test that both agree.
    design_effect
        The variance of each mean relative to a simple random sample of the same size; None without `sampling`.
    notes
        The caveats.
    """

    outcome: str
    variables: tuple[str, ...]
    categories: tuple[Label, ...]
    by: tuple[str, ...]
    groups: tuple[Label, ...]
    n: float
    n_missing: float
    number: FloatArray = field(converter=read_only)
    share: FloatArray = field(converter=read_only)
    share_se: FloatArray = field(converter=read_only)
    mean: FloatArray = field(converter=read_only)
    cov: FloatArray = field(converter=read_only)
    variance: FloatArray = field(converter=read_only)
    variance_se: FloatArray = field(converter=read_only)
    probabilities: FloatArray = field(converter=read_only)
    quantile: FloatArray = field(converter=read_only)
    quantile_ends: FloatArray = field(converter=read_only)
    center: float
    sums: FloatArray = field(converter=read_only)
    sums_cov: FloatArray = field(converter=read_only)
    is_rate: bool = False
    df: float = float("inf")
    model: str | None = None
    robust: FloatArray | None = None
    corrected: "GroupMeans | None" = None
    comparison: ModelTests | None = None
    design_effect: FloatArray | None = None
    notes: tuple[Note, ...] = ()

    _LISTED: ClassVar[tuple[str, ...]] = ("outcome", "variables", "categories", "by", "groups", "n", "n_missing")

    # Numbers ----------------------------------------------------------------------------------

    @property
    def se(self) -> FloatArray:
        """The standard errors of the means."""
        return self._shaped(np.sqrt(np.maximum(self.cov.diagonal(), 0.0)))

    @property
    def sd(self) -> FloatArray:
        """The standard deviation of the outcome within each category; NaN if the variance is negative."""
        with np.errstate(invalid="ignore"):
            return np.sqrt(np.where(self.variance >= 0, self.variance, np.nan))

    @property
    def sd_se(self) -> FloatArray:
        """The standard errors of the standard deviations."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.variance_se / (2 * self.sd)

    @property
    def quantile_se(self) -> FloatArray:
        """The standard errors of the quantiles: the width of their 95% intervals, relative to a standard normal one."""
        return quantiles.errors_of(self.quantile_ends)

    @property
    def eta_squared(self) -> FloatArray | float:
        """The share of the outcome's variance that is between categories, for each known group.

        The average contribution of the means' errors is subtracted, and the result is at least 0. Rare categories
        without a mean are left out.
        """
        values = np.array([self._eta(g) for g in range(len(self.groups))])
        return values if self.by else float(values[0])

    def _eta(self, g: int) -> float:
        at = self._cells(g)
        at = at[np.isfinite(self.mean.ravel()[at])]
        weight, mean = self.number.ravel()[at], self.mean.ravel()[at]
        weight = weight / weight.sum()
        L = np.eye(len(at)) - weight
        between = float(weight @ (L @ mean) ** 2 - weight @ (L @ self.cov[np.ix_(at, at)] @ L.T).diagonal())
        within = float(weight @ np.maximum(self.variance.ravel()[at], 0.0))
        between = max(between, 0.0)
        return between / (between + within) if between + within > 0 else float("nan")

    def _shaped(self, values: AnyArray) -> Any:
        return np.asarray(values).reshape(self.mean.shape + np.shape(values)[1:])

    def _cells(self, g: int) -> IntArray:
        return np.arange(g * len(self.categories), (g + 1) * len(self.categories))

    # Intervals --------------------------------------------------------------------------------

    def interval(self, level: float = 0.95, *, method: MeansInterval = "auto") -> FloatArray:
        """Return confidence intervals of the means, with the two ends in a last dimension.

        Parameters
        ----------
        level
            The confidence level.
        method
            ``"fieller"`` contains all means that a test does not reject. It does not divide by the estimated number of
            people, and is cut at 0 and 1 for rates. ``"wald"`` uses the estimate and its standard error. ``"logit"``
            does the same for the log odds of rates. ``"robust"`` uses the sandwich, with a model. ``"auto"`` (default)
            is Fieller's, or Wald's with a model.
        """
        check_level(level)
        chosen = check_choice(method, INTERVALS, "method")
        if chosen == "auto":
            chosen = "fieller" if self.model is None else "wald"
        self._check_method(chosen)
        times = inference.critical(level, self.df)
        mean, se = self.mean.ravel(), self.se.ravel()
        if chosen == "fieller":
            ends = self.center + inference.fieller(self.sums[0], self.sums[1], self.sums_cov, times)
            ends = np.where(np.isfinite(mean)[:, None], ends, np.nan)
            return self._shaped(np.clip(ends, 0.0, 1.0) if self.is_rate else ends)
        if chosen == "robust":
            assert self.robust is not None
            se = np.sqrt(np.maximum(self.robust.diagonal(), 0.0))
        make = inference.logistic if chosen == "logit" else inference.wald
        return self._shaped(make(mean, se, times))

    def _check_method(self, method: MeansInterval) -> None:
        if method == "fieller" and self.model is not None:
            raise ArgumentError("`method` must be 'wald' or 'robust' with a model; got 'fieller'.", CORRECTED_MEANS)
        if method == "robust" and self.robust is None:
            raise ArgumentError("`method` must not be 'robust' without a model, whose errors are robust; got 'robust'.")
        if method == "logit" and not self.is_rate:
            raise ArgumentError(
                "`method` must not be 'logit' unless the outcome is 0 or 1 for everyone; got other numbers."
            )

    def quantile_interval(self, level: float = 0.95) -> FloatArray:
        """Return confidence intervals of the quantiles, with the two ends in a last dimension.

        They invert tests of the distribution function. An end that the data do not bound is NaN.
        """
        check_level(level)
        return quantiles.interval_at(self.quantile, self.quantile_ends, level)

    # Comparisons ------------------------------------------------------------------------------

    def difference(self, first: Label, second: Label) -> MeanDifferences:
        """Return the difference of two means, the first minus the second.

        Parameters
        ----------
        first, second
            Categories; with known groups, pairs of a group and a category.
        """
        return self._compared([(self._position(first), self._position(second))])

    def differences(self, between: PairsOf = "categories") -> MeanDifferences:
        """Return the differences between all pairs.

        Parameters
        ----------
        between
            ``"categories"``: pairs of categories, within each known group. ``"groups"``: pairs of known groups, within
            each category. People whose group is missing are left out.
        """
        check_choice(between, PAIRS, "between")
        compared = self._known()
        if between == "groups" and len(compared) < 2:
            raise ArgumentError("`between` must be 'categories' without known groups; got 'groups'.")
        cells = np.arange(self.mean.size).reshape(len(self.groups), -1)[compared]
        lines = cells if between == "categories" else cells.T
        pairs = [pair for line in lines.tolist() for pair in combinations(line, 2)]
        return self._compared(pairs, self._without_group)

    def _compared(self, pairs: list[tuple[int, int]], notes: tuple[Note, ...] = ()) -> MeanDifferences:
        first, second = np.array(pairs, np.int64).T
        L = np.zeros((len(pairs), self.mean.size))
        L[np.arange(len(pairs)), first] += 1.0
        L[np.arange(len(pairs)), second] -= 1.0
        mean, variance, amount = self.mean.ravel(), self.variance.ravel(), np.maximum(self.number.ravel(), 0.0)
        known = np.isfinite(mean)
        cov = L @ np.where(known[:, None] & known, self.cov, 0.0) @ L.T
        estimate = mean[first] - mean[second]
        cov[np.isnan(estimate)] = np.nan
        cov[:, np.isnan(estimate)] = np.nan
        with np.errstate(invalid="ignore", divide="ignore"):
            pooled = (amount[first] * variance[first] + amount[second] * variance[second]) / (
                amount[first] + amount[second]
            )
            effect = estimate / np.sqrt(pooled)
        names = self._names()
        return MeanDifferences(
            self.outcome,
            tuple(names[k] for k in first),
            tuple(names[k] for k in second),
            estimate,
            cov,
            effect,
            self.df,
            self.n,
            notes,
        )

    def test(self, *, method: EqualMeansMethod = "auto") -> ModelTests:
        """Test whether the means of all categories are equal, within each known group.

        People whose group is missing are left out.

        Parameters
        ----------
        method
            ``"score"`` uses sums that have mean 0 if the means are equal, and includes rare categories. ``"wald"`` uses
            the estimated means. ``"auto"`` (default) is the score test, or Wald's with a model.
        """
        chosen = check_choice(method, TESTS, "method")
        if chosen == "auto":
            chosen = "score" if self.model is None else "wald"
        if chosen == "score" and self.model is not None:
            raise ArgumentError("`method` must be 'wald' with a model; got 'score'.", CORRECTED_MEANS)
        compared = self._known()
        tests = [self._tested(g, chosen) for g in compared]
        names = [group_text(self.groups[g]) for g in compared] if self.by else ["all means are equal"]
        where = f" within each group by {' and '.join(self.by)}" if self.by else ""
        title = f"Equal means of {self.outcome} by {' and '.join(self.variables)}{where}"
        return ModelTests.of_forms(
            title, list(zip(names, tests, strict=True)), chosen, self._notes_of_test(chosen, compared), self.df
        )

    def _tested(self, g: int, method: str) -> tuple[float, int]:
        at = self._cells(g)
        if method == "score":
            both = np.concatenate([at, at + self.mean.size])
            if not self.sums[0, at].sum() > 0:
                return float("nan"), 0
            number, total = self.sums[0, at], self.sums[1, at]
            return inference.score_statistic(number, total, self.sums_cov[np.ix_(both, both)]), len(at) - 1
        at = at[np.isfinite(self.mean.ravel()[at])]
        if len(at) < 2:
            return float("nan"), 0
        return inference.wald_statistic(self.mean.ravel()[at], self.cov[np.ix_(at, at)])

    def _notes_of_test(self, method: str, compared: list[int]) -> tuple[Note, ...]:
        rare = int(np.isnan(self.mean.reshape(len(self.groups), -1)[compared]).sum())
        if method == "score" or not rare:
            return self._without_group
        return (*self._without_group, Note(NoteKind.LEFT_OUT, f"Categories without a mean are left out: {rare}."))

    def _known(self) -> list[int]:
        """Return the positions of the groups that are compared: all but a missing one."""
        compared = [g for g, group in enumerate(self.groups) if not (self.by and is_unknown_group(group))]
        if not compared:
            raise NoDataError("some people must have a known group; got none.")
        return compared

    @property
    def _without_group(self) -> tuple[Note, ...]:
        """A note on the people who are not compared because their group is missing."""
        lost = [g for g in range(len(self.groups)) if g not in self._known()]
        if not lost:
            return ()
        number = float(self.number[lost].sum())
        who = "few people" if np.isnan(number) else people(number)
        return (Note(NoteKind.LEFT_OUT, f"Left out, because their group is missing: {who}."),)

    # Cells ------------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        labels = [label_text(label) for label in self.categories]
        return [f"{group_text(group)}: {label}" for group in self.groups for label in labels] if self.by else labels

    def _position(self, cell: Any) -> int:
        keys: list[Any] = list(self.categories)
        if self.by:
            keys = [(group, label) for group in self.groups for label in self.categories]
        if cell not in keys:
            what = "pairs of a known group and a category" if self.by else f"categories {self._preview()}"
            raise CategoryError(f"a group of people must be one of the {what}; got another one.", NAME_TWO_CELLS)
        return keys.index(cell)

    def _preview(self) -> str:
        shown = ", ".join(label_text(label) for label in self.categories[:6])
        return shown + (", …" if len(self.categories) > 6 else "")

    @cached_property
    def rare(self) -> BoolArray:
        """Which categories have no mean: their share is within two standard errors of 0, or their group is small."""
        return np.asarray(np.isnan(self.mean))

    # Output -----------------------------------------------------------------------------------

    def _columns(self, level: float = 0.95, method: MeansInterval = "auto") -> dict[str, Any]:
        return frame_columns(self, level, method)

    @overload
    def to_frame(
        self, level: float = ..., *, method: MeansInterval = ..., engine: Literal["pandas"] = ...
    ) -> PandasFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: MeansInterval = ..., engine: Literal["polars"]
    ) -> PolarsFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: MeansInterval = ..., engine: Literal["pyarrow"]
    ) -> ArrowTable: ...
    def to_frame(self, level: float = 0.95, *, method: MeansInterval = "auto", engine: Engine = "pandas") -> Frame:
        """Return a data frame with a row for each category and known group."""
        return frame(self._columns(level, method), engine)

    def summary(self, level: float = 0.95, *, method: MeansInterval = "auto") -> Table:
        """Return a table to print or show in a notebook; `level` and `method` as in `interval`."""
        return summary_of(self, level, method)

    def to_dict(self, level: float = 0.95, *, method: MeansInterval = "auto") -> dict[str, Any]:
        """Return the numbers for JSON; `level` and `method` as in `interval`."""
        facts: dict[str, Any] = {name: getattr(self, name) for name in (*self._LISTED, *_NUMBERS)}
        facts |= {"se": self.se, "interval": self.interval(level, method=method), "level": level, "method": method}
        facts |= {name: getattr(self, name) for name in ("cov", "probabilities", "center", "sums", "sums_cov")}
        facts |= {name: getattr(self, name) for name in ("is_rate", "df", "model", "robust", "design_effect")}
        facts["corrected"] = None if self.corrected is None else self.corrected.to_dict(level)
        facts["comparison"] = None if self.comparison is None else self.comparison.to_dict()
        facts["notes"] = self.notes
        return plain(facts)

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        made: dict[str, Any] = {name: _labels(facts[name]) for name in ("variables", "categories", "by", "groups")}
        arrays = (*_NUMBERS, "cov", "probabilities", "sums", "sums_cov")
        made |= {name: np.array(facts[name], np.float64) for name in arrays}
        made |= {
            name: None if facts[name] is None else np.array(facts[name], np.float64)
            for name in ("robust", "design_effect")
        }
        return cls(
            **made,
            **{name: facts[name] for name in ("outcome", "n", "n_missing", "center", "is_rate", "model")},
            df=float("inf") if facts["df"] is None else facts["df"],
            corrected=None if facts["corrected"] is None else cls.from_dict(facts["corrected"]),
            comparison=None if facts["comparison"] is None else ModelTests.from_dict(facts["comparison"]),
            notes=tuple(map(Note.from_dict, facts["notes"])),
        )

    def plot(
        self,
        *,
        level: float = 0.95,
        method: MeansInterval = "auto",
        title: str | None = None,
        ax: draw.AxesOrNone = None,
    ) -> draw.Axes:
        """Draw the means with their intervals, the largest on top unless the categories have an order."""
        return picture_of(self, level, method, title, ax)

    def __repr__(self) -> str:
        by = f" and known {' and '.join(self.by)}" if self.by else ""
        what = f", {self.model} model" if self.model else ""
        return (
            f"<GroupMeans of {self.outcome} by {' and '.join(self.variables)}{by}: {len(self.categories)} categories, "
            f"n = {whole(self.n)}{what}>"
        )


def _labels(written: list[Any]) -> tuple[Any, ...]:
    """Return the labels that `plain` wrote, whose lists were combinations."""
    return tuple(tuple(label) if isinstance(label, list) else label for label in written)
