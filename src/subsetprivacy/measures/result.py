"""`Association`: measures of association from a joint estimate."""

from functools import cached_property
from typing import Any, ClassVar, Literal, overload

import numpy as np
from attrs import frozen

from subsetprivacy import draw
from subsetprivacy._checks import check_level
from subsetprivacy._choices import AssociationPicture, Engine, MeasureMethod
from subsetprivacy._types import FloatArray, Label
from subsetprivacy.estimation.margins import Margin, margin_of
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.measures import cramer, presenting
from subsetprivacy.measures.arguments import conditional_shares, given_first, odds, sides
from subsetprivacy.measures.comparing import compare
from subsetprivacy.measures.conditional import ConditionalShares
from subsetprivacy.measures.measure import Measure
from subsetprivacy.measures.precision import MAX_SHOWN, if_quick, require_matrix, wald_bounds, warned
from subsetprivacy.measures.scales import DifferenceScale, OddsRatioScale, RatioScale
from subsetprivacy.messages import Note
from subsetprivacy.messages.for_analyses import GIVEN_THE_OTHER, SWAP_ROWS_AND_COLUMNS
from subsetprivacy.results import Result
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame

Two = tuple[Label, Label]


@frozen(slots=False, eq=False, repr=False)
class Association(Result):
    """The association of two variables of a joint estimate.

    Attributes
    ----------
    pair
        The joint shares of the two variables, with the estimate they come from.

    Notes
    -----
    Standard errors use the delta method, with the covariance of the joint estimate and the gradient of the measure.
    They warn where the normal approximation is unreliable. By default, intervals of differences and ratios contain all
    values that the likelihood ratio test does not reject, and those of conditional shares all that the score test does
    not reject. Measured coverage is in `docs/measured-levels.md`.
    """

    why_not_restored: ClassVar[str] = (
        "save the counts with `association.fit.counts.to_dict()` and estimate again, or pickle the association"
    )

    pair: Margin

    @property
    def fit(self) -> Estimate:
        """The joint estimate."""
        return self.pair.fit

    @property
    def names(self) -> tuple[str, str]:
        """The row variable and the column variable."""
        return self.pair.names[0], self.pair.names[1]

    @cached_property
    def rows(self) -> Margin:
        """The margin of the first variable."""
        return margin_of(self.fit, self.names[:1])

    @cached_property
    def columns(self) -> Margin:
        """The margin of the second variable."""
        return margin_of(self.fit, self.names[1:])

    @property
    def n(self) -> float:
        """The number of people, without dummy rows (Kish's effective number if weighted)."""
        return self.fit.n * self.fit.counts.design.real_share

    @cached_property
    def table(self) -> FloatArray:
        """The estimated joint shares, a row per category of the first variable."""
        return self.pair.w.reshape(self.rows.categories.p, self.columns.categories.p)

    @property
    def counts(self) -> FloatArray:
        """The estimated number of people per pair of categories, n times the share."""
        return self.n * self.table

    @property
    def expected(self) -> FloatArray:
        """The expected number of people per pair of categories if the variables were independent with these margins."""
        return self.n * np.outer(self.rows.w, self.columns.w)

    @cached_property
    def _residuals(self) -> FloatArray:
        errors = cramer.residual_errors(self.pair)
        known = np.isfinite(errors) & (errors > 1e-12)
        difference = self.table - np.outer(self.rows.w, self.columns.w)
        return np.divide(difference, errors, out=np.full(errors.shape, np.nan), where=known)

    @property
    def residuals(self) -> FloatArray:
        r"""The differences from independence in standard errors, :math:`(W_{ij} - w_i w_j)/se`; warns as `se` does.

        The standard error is that of the estimated difference, not one computed under independence. The residual is NaN
        if the standard error is 0 or unknown.
        """
        self.fit._warn_of_caveats(None)
        return self._residuals

    # Questions --------------------------------------------------------------------------------

    def conditional(self, given: str | None = None) -> ConditionalShares:
        """Return the distribution of one variable within each category of the other.

        Parameters
        ----------
        given
            The conditioning variable, by default the first.
        """
        return ConditionalShares(margin_of(self.fit, given_first(self.names, given)))

    def difference(
        self,
        outcome: Label,
        between: Two | None = None,
        *,
        given: str | None = None,
        level: float = 0.95,
        method: MeasureMethod = "auto",
    ) -> Measure:
        r"""Return the difference in the share of an outcome between two groups.

        Parameters
        ----------
        outcome
            A category of the compared variable.
        between
            Two categories (a, b) of the variable `given`; optional if it has only two.
        given
            The variable that defines the groups, by default the first.
        level, method
            The confidence level, and the method of the interval. ``"profile"``: the values that the likelihood ratio
            test does not reject. ``"delta"``: the estimate and its standard error. ``"auto"``: the profile interval
            for likelihood estimates of up to 64 joint categories without weights, the delta interval otherwise.

        Notes
        -----
        :math:`P(\text{outcome} \mid a) - P(\text{outcome} \mid b)`.
        """
        return warned(self.fit, self._compare(DifferenceScale, "difference of", outcome, between, given, level, method))

    def risk_ratio(
        self,
        outcome: Label,
        between: Two | None = None,
        *,
        given: str | None = None,
        level: float = 0.95,
        method: MeasureMethod = "auto",
    ) -> Measure:
        r"""Return the ratio of the shares of an outcome in two groups.

        Parameters
        ----------
        outcome, between, given, level, method
            As for `difference`.

        Notes
        -----
        :math:`P(\text{outcome} \mid a) / P(\text{outcome} \mid b)`; the delta interval is computed on the log scale.
        """
        return warned(self.fit, self._compare(RatioScale, "ratio of", outcome, between, given, level, method))

    def _compare(
        self, kind: Any, word: str, outcome: Label, between: Any, given: str | None, level: float, method: MeasureMethod
    ) -> Measure:
        pair = margin_of(self.fit, given_first(self.names, given))
        first, second = pair.names
        groups, outcomes = sides(pair, ("between", "outcome"), GIVEN_THE_OTHER)
        a, b = groups.read_two_labels(between)
        outcomes.index(outcome)
        shares = conditional_shares(pair, (a, b), outcome)
        name = f"{word} P({second} = {outcome}) between {first} = {a} and {first} = {b}"
        return compare(self.fit, kind, shares, name, level, method)

    def odds_ratio(
        self,
        rows: Two | None = None,
        columns: Two | None = None,
        *,
        level: float = 0.95,
        method: MeasureMethod = "auto",
    ) -> Measure:
        r"""Return the odds ratio of two rows and two columns.

        Parameters
        ----------
        rows, columns
            Two categories of each variable, (a, b) and (c, d); optional if there are only two.
        level, method
            As for `difference`.

        Notes
        -----
        :math:`W_{ac} W_{bd}/(W_{ad} W_{bc})`. The delta interval is computed on the log scale, and the standard error
        is that of the ratio. If a cell is zero, the ratio is 0 or infinite, and only the profile interval is
        informative, on one side.
        """
        row_variable, column_variable = sides(self.pair, ("rows", "columns"), SWAP_ROWS_AND_COLUMNS)
        (a, b), (c, d) = row_variable.read_two_labels(rows), column_variable.read_two_labels(columns)
        name = f"odds ratio of {self.names[0]} = {a} against {b} and {self.names[1]} = {c} against {d}"
        return warned(self.fit, compare(self.fit, OddsRatioScale, odds(self.pair, (a, b), (c, d)), name, level, method))

    def cramers_v(self, *, level: float = 0.95, corrected: bool = False) -> Measure:
        r"""Return Cramér's V: 0 for independent variables, 1 if one determines the other.

        Parameters
        ----------
        level
            The confidence level.
        corrected
            Whether to subtract the bias of :math:`\phi^2` (Bergsma 2013), with a floor at 0.

        Notes
        -----
        :math:`V^2 = \phi^2/(\min(p,q)-1)`, :math:`\phi^2 = \sum_{ij}(W_{ij}-w_iw_j)^2/(w_iw_j)`. Sampling error
        makes V larger, especially with private answers. For two *independent* variables with four equally likely
        categories each, 1,000 people and uniform designs, V is 0.16 on average (0.05 if asked directly), and 0.04
        if corrected.

        The interval has the values of V under which an estimate as small, or as large, is not unlikely. It uses the
        noncentral chi-square distribution, which has this bias, so the estimate without correction may be close to its
        upper end or above it. It is the same for both. If it contains 0, the standard error is meaningless. To test
        independence, use `independence_test`. Measured coverage is in `docs/measured-levels.md`.
        """
        return warned(self.fit, cramer.cramers_v(self.pair, level, corrected))

    # Output -----------------------------------------------------------------------------------

    @cached_property
    def _se(self) -> FloatArray:
        require_matrix(self.fit)
        return self.pair._se.reshape(self.table.shape)

    @property
    def _shown_se(self) -> FloatArray:
        return if_quick(self.fit, lambda: self._se, self.table.shape)

    @property
    def se(self) -> FloatArray:
        """The standard errors of `table`; warns where the normal approximation is unreliable."""
        self.fit._warn_of_caveats(None)
        return self._se

    @cached_property
    def _shown_v(self) -> tuple[float, float]:
        """V, and V minus its bias, without warnings, for output that prints the caveats."""
        quick = self.fit.categories.p <= MAX_SHOWN
        less = cramer.cramers_v(self.pair, 0.95, True).value if quick else float("nan")
        return cramer.raw_v(self.pair), less

    def _bounds(self, level: float, errors: FloatArray) -> FloatArray:
        return wald_bounds(self.table, errors, level, self.fit.in_simplex)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The caveats: what was not computed, and caveats of the joint estimate."""
        return presenting.notes(self)

    def summary(self) -> Table:
        """Return the table of joint shares with standard errors in brackets, margins at the edges, and Cramér's V
        below.

        With more than 24 rows or columns, the table has the 24 largest joint shares. With more than 1024 joint
        categories, it has no standard errors and no corrected V; `se` and `cramers_v` compute them.
        """
        return presenting.cross_table(self)

    @overload
    def to_frame(self, level: float = ..., *, engine: Literal["pandas"] = ...) -> PandasFrame: ...
    @overload
    def to_frame(self, level: float = ..., *, engine: Literal["polars"]) -> PolarsFrame: ...
    @overload
    def to_frame(self, level: float = ..., *, engine: Literal["pyarrow"]) -> ArrowTable: ...
    def to_frame(self, level: float = 0.95, *, engine: Engine = "pandas") -> Frame:
        """Return a data frame with a row per pair of categories, and the level as a column.

        With more than 4096 joint categories, standard errors and residuals are NaN.
        """
        return frame(self._columns(check_level(level)), engine)

    def _columns(self, level: float = 0.95) -> dict[str, Any]:
        return presenting.cells(self, level)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Return the numbers for JSON, a list per row, with standard errors and intervals if `summary` has them."""
        return presenting.plain(self, check_level(level))

    def plot(
        self,
        kind: AssociationPicture = "shares",
        *,
        given: str | None = None,
        title: str | None = None,
        ax: draw.AxesOrNone = None,
    ) -> draw.Axes:
        """Plot a heat map.

        Parameters
        ----------
        kind
            ``"shares"``, ``"conditional"`` (see `given`) or ``"residuals"``.
        given
            For ``kind="conditional"``, the conditioning variable, whose rows sum to 100%; by default the first.
        title, ax
            The title, and the Matplotlib axes to draw on; by default a new figure.
        """
        return presenting.picture(self, kind, given, title, ax)

    def __repr__(self) -> str:
        sizes = " x ".join(str(k) for k in self.table.shape)
        return f"<Association of {self.names[0]} and {self.names[1]}: {sizes}, {self.fit.counts.n_text}>"
