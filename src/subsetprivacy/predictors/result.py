"""The result of a regression on private predictors."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, overload

import numpy as np
from attrs import frozen
from scipy.special import ndtr, ndtri, stdtr

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_level
from subsetprivacy._choices import CoefficientInterval, Engine, OutcomeFamily, RegressionMethod, TermTest
from subsetprivacy._types import ArrayLike, FloatArray, Label
from subsetprivacy._words import whole
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.survey_sample import critical_value
from subsetprivacy.messages import Note
from subsetprivacy.messages.for_regression import LIKELIHOOD_OF_PREDICTORS, ROBUST_INTERVALS
from subsetprivacy.predictors.caveats import caveats
from subsetprivacy.predictors.effects import adjusted_means, marginal_effects, predict_rows
from subsetprivacy.predictors.fitting import OutcomeFit, design_effects, mixture_objective, prices
from subsetprivacy.predictors.layout import ModelLayout
from subsetprivacy.predictors.presenting import facts_of, frame_columns, plot_of, summary_of
from subsetprivacy.predictors.problem import OutcomeProblem
from subsetprivacy.predictors.testing import compare_nested, comparison_of, terms_tests
from subsetprivacy.regression.constrained import profile_interval
from subsetprivacy.regression.model_tests import ModelTests
from subsetprivacy.regression.prediction import MarginalEffects, Prediction
from subsetprivacy.regression.price import average
from subsetprivacy.regression.result import INTERVALS
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text


@frozen(slots=False, eq=False, repr=False)
class OutcomeRegression(Result):
    """A fitted model of an outcome given private predictors, returned by `regress`.

    Attributes
    ----------
    name
        The outcome.
    problem
        The people, the columns of the model and the options.
    fit
        The numbers of the fit.
    n_missing
        How many people were left out because the answer in a private column is missing (a full set).
    modeled
        The level modeled, such as ``"yes"``, if the outcome is not private and has two levels. Otherwise None.
    more
        The caller's notes, such as which level of the outcome is modeled.
    """

    why_not_restored: ClassVar[str] = "keep the data and fit again, or pickle the fit, which contains the data"

    name: str
    problem: OutcomeProblem
    fit: OutcomeFit
    n_missing: float = 0.0
    modeled: Label | None = None
    more: tuple[Note, ...] = ()

    # What was fitted --------------------------------------------------------------------------

    @property
    def layout(self) -> ModelLayout:
        """The columns of the model."""
        return self.problem.layout

    @property
    def family(self) -> OutcomeFamily:
        """``"linear"``, ``"logit"`` or ``"poisson"``."""
        return self.problem.family

    @property
    def method(self) -> RegressionMethod:
        """``"corrected"`` or ``"ml"``."""
        return self.problem.method

    @property
    def baselines(self) -> dict[str, Label]:
        """The category of each private predictor that the others are compared with."""
        return dict(self.layout.baselines)

    @property
    def categories(self) -> tuple[Label, ...] | None:
        """The categories of a private outcome, baseline first; None if the outcome is not private."""
        return self.problem.categories

    @property
    def response(self) -> str:
        """The name of the outcome, with the modeled level if any, as in ``income = high``."""
        return self.name if self.modeled is None else f"{self.name} = {label_text(self.modeled)}"

    @property
    def n(self) -> float:
        """The number of people with informative subsets, or their number according to frequency weights."""
        return self.problem.n

    @property
    def n_effective(self) -> float:
        """How many people, asked directly, would be as informative: n divided by the harmonic mean of the prices."""
        mean = average(self.price)
        return self.n * (self.problem.information_kept if np.isnan(mean) else 1 / max(mean, 1.0))

    # Coefficients -----------------------------------------------------------------------------

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """The name of every coefficient, in order; for a private outcome, its category and name."""
        if self.categories is None:
            return self.layout.names
        return tuple((label, name) for label in self.categories[1:] for name in self.layout.names)

    @cached_property
    def estimates(self) -> FloatArray:
        """All coefficients, row by row. Those that the data do not bound are infinite; undetermined ones are NaN.

        NaN are also those that too few people determine (see `rare`).
        """
        signs = np.where(self.fit.rare & (self.fit.infinite == 0), np.nan, self.fit.infinite)
        out = np.where(signs == 0, self.fit.theta, np.where(np.isnan(signs), np.nan, np.copysign(np.inf, signs)))
        out.setflags(write=False)
        return out

    def _shaped(self, values: FloatArray) -> FloatArray:
        return values if self.categories is None else values.reshape(-1, len(self.layout.names))

    @property
    def coef(self) -> FloatArray:
        """The coefficients in the order of the terms; for a private outcome, a row per category except the baseline."""
        return self._shaped(self.estimates)

    @property
    def scale(self) -> float | None:
        """The standard deviation of the errors of a linear model; None for other families."""
        return self.fit.scale

    @property
    def cov(self) -> FloatArray:
        """The covariance of all coefficients: the sandwich, or the inverse observed information of a likelihood."""
        return self._cov("robust" if self.problem.is_robust else "wald")

    @property
    def robust(self) -> FloatArray:
        """The sandwich covariance of all coefficients."""
        return self._cov("robust")

    @property
    def se(self) -> FloatArray:
        """The standard errors of the coefficients, in the shape of `coef`."""
        return self._shaped(self._se("auto"))

    @cached_property
    def price(self) -> FloatArray:
        """The price of each coefficient: its variance relative to asking everyone directly, in the order of `labels`.

        A fit to the values is assumed to follow the model. NaN for coefficients that are not given.
        """
        known = np.isfinite(self.estimates) & self.problem.design.is_known
        out = np.where(known, prices(self.problem, self.fit), np.nan)
        out.setflags(write=False)
        return out

    def _cov(self, method: str) -> FloatArray:
        known = self.fit.robust if method == "robust" else self.fit.observed
        size = len(self.fit.theta)
        if known is None:
            return np.full((size, size), np.nan)
        out = known.copy()
        loose = (self.fit.infinite != 0) | self.fit.rare
        out[loose] = np.nan
        out[:, loose] = np.nan
        return out

    def _se(self, method: CoefficientInterval) -> FloatArray:
        robust = method == "robust" or (method != "wald" and self.problem.is_robust)
        return np.sqrt(np.maximum(self._cov("robust" if robust else "wald").diagonal(), 0.0))

    @property
    def _usable_cov(self) -> FloatArray | None:
        """The covariance for predictions, or None."""
        return self.fit.robust if self.problem.is_robust else self.fit.observed

    @property
    def degrees_of_freedom(self) -> float:
        """The degrees of freedom of t in intervals and p-values: from the sampling or the clusters, else infinite."""
        return self.problem.degrees_of_freedom

    @cached_property
    def design_effects(self) -> FloatArray | None:
        """The variance of each coefficient relative to a simple random sample; None without sampling."""
        effects = design_effects(self.problem, self.fit)
        return None if effects is None else np.where(self.fit.rare, np.nan, effects)

    @property
    def pvalues(self) -> FloatArray:
        """The p-value of each coefficient for the hypothesis that it is 0, in the order of `labels`."""
        return self._pvalues("auto")

    def _pvalues(self, method: CoefficientInterval) -> FloatArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            z = np.abs(self.estimates) / self._se(method)
        df = self.degrees_of_freedom
        return np.asarray(2 * (ndtr(-z) if np.isinf(df) else stdtr(df, -z)))

    def interval(self, level: float = 0.95, *, method: CoefficientInterval = "auto") -> FloatArray:
        """Return confidence intervals of all coefficients, shape (coefficients, 2), in the order of `labels`.

        Parameters
        ----------
        level
            The confidence level.
        method
            ``"robust"`` uses the sandwich. ``"wald"`` uses the observed information of a likelihood. ``"profile"``
            contains all values that the likelihood does not reject. ``"auto"`` (default) is robust for corrected
            scores, sampling weights and clusters, otherwise Wald.
        """
        check_level(level)
        check_choice(method, INTERVALS, "method")
        if method == "wald" and self.method == "corrected":
            raise ArgumentError(
                "Wald intervals need a maximum-likelihood fit; got corrected scores.", LIKELIHOOD_OF_PREDICTORS
            )
        if method == "profile":
            return self._profile(level)
        z = critical_value(level, self.degrees_of_freedom)
        with np.errstate(invalid="ignore"):
            return np.asarray(self.estimates[:, None] + z * self._se(method)[:, None] * np.array([-1.0, 1.0]))

    def _profile(self, level: float) -> FloatArray:
        self.require_likelihood("profile intervals")
        objective = mixture_objective(self.problem)
        top, se = objective(self.fit.parameters)[0], self._se("wald")
        z = float(ndtri((1 + level) / 2))
        out = np.empty((len(se), 2))
        for at, runs in enumerate(self.fit.infinite):
            if runs == 0 and self.fit.rare[at]:
                out[at] = np.nan
                continue
            step = z * se[at] if np.isfinite(se[at]) else 1.0
            ends = profile_interval(objective, self.fit.parameters, top, at, step, level)
            out[at] = (-np.inf if runs < 0 else ends[0], np.inf if runs > 0 else ends[1])
        return out

    def require_likelihood(self, what: str) -> None:
        """Raise unless the fit maximizes the likelihood of a simple random sample."""
        if self.method == "corrected":
            raise ArgumentError(
                f"{what} need a maximum-likelihood fit; got corrected scores.", LIKELIHOOD_OF_PREDICTORS
            )
        if self.problem.is_robust:
            got = "sampling weights" if self.problem.clusters is None else "clusters"
            raise ArgumentError(f"{what} need a simple random sample; got {got}.", ROBUST_INTERVALS)

    # How well it fits -------------------------------------------------------------------------

    @property
    def loglik(self) -> float | None:
        """The log-likelihood of outcomes and subsets; None for corrected scores."""
        return self.fit.loglik

    @property
    def df(self) -> int:
        """The number of coefficients."""
        return len(self.fit.theta)

    @property
    def aic(self) -> float | None:
        """Akaike's criterion, counting all parameters of the likelihood; None for corrected scores."""
        return None if self.loglik is None else 2 * len(self.fit.parameters) - 2 * self.loglik

    @property
    def gap(self) -> float:
        """An estimate of how much the total log-likelihood could still rise."""
        return self.fit.gap

    @property
    def converged(self) -> bool:
        """Whether there is a solution and the gap is below 1e-8."""
        return self.fit.converged

    @property
    def maxima(self) -> tuple[float, ...]:
        """The values of the likelihood's maxima found from different starts, largest first."""
        return self.fit.maxima

    @property
    def separated(self) -> tuple[Any, ...]:
        """The name of every coefficient that the data do not bound."""
        return tuple(self.labels[k] for k in np.flatnonzero(self.fit.infinite != 0))

    @property
    def rare(self) -> tuple[Any, ...]:
        """The name of every coefficient that is not given because too few people determine it."""
        return tuple(self.labels[k] for k in np.flatnonzero(self.fit.rare & (self.fit.infinite == 0)))

    # Tests ------------------------------------------------------------------------------------

    def test(self, terms: str | Sequence[str] | None = None, *, method: TermTest = "auto") -> ModelTests:
        """Test whether terms have any effect, that is, whether all their coefficients are 0.

        Parameters
        ----------
        terms
            A term, such as ``"race"``, or several terms, each tested separately. By default all except the intercept.
        method
            ``"robust"``, ``"wald"``: from the covariance. ``"lr"``: the likelihood ratio, for ``method="ml"``.
            ``"auto"`` (default): the likelihood ratio if available, otherwise robust.
        """
        return terms_tests(self, terms, method)

    def compare(self, smaller: "OutcomeRegression") -> ModelTests:
        """Test a smaller model against this one by the likelihood ratio.

        Parameters
        ----------
        smaller
            A fit by ``method="ml"`` to the same people without some of the terms.
        """
        return compare_nested(self, smaller)

    @cached_property
    def specification(self) -> ModelTests:
        """The test that corrected scores and the likelihood agree, as they do if the likelihood's models are right."""
        return comparison_of(self)

    # Predictions ------------------------------------------------------------------------------

    def predict(self, new: Any, *, offset: ArrayLike | None = None) -> Prediction:
        """Predict the mean outcome of new rows, or the shares of a private outcome.

        Parameters
        ----------
        new
            A table with the observed columns of the model and a column of labels for each private predictor. For a
            fit to arrays, a pair: the observed columns, shape (m, d), and the labels by private predictor.
        offset
            The offset of each row; by default 0.
        """
        if isinstance(new, tuple):
            V: FloatArray = np.asarray(new[0], np.float64)
            labels = new[1]
        else:
            encoder = self.layout.encoder
            if encoder is None:
                raise ArgumentError("`new` must be observed columns and labels for a fit to arrays; got a table.")
            V = encoder.matrix(new)
            labels = {name: encoder.labels(new, name) for name in self.layout.private}
        shift = None if offset is None else np.broadcast_to(np.asarray(offset, np.float64), (len(V),))
        return predict_rows(self, V, self.layout.positions(labels), shift)

    def adjusted(self, variable: str, values: Sequence[Any] | None = None) -> Prediction:
        """Return the mean predicted outcome if everyone had the same value of one variable.

        Standard errors treat people as a sample, so they include the variation of the other columns.

        Parameters
        ----------
        variable
            A private predictor, or an observed variable of the formula.
        values
            Its values; by default all categories or levels, or the quartiles of a number.
        """
        return adjusted_means(self, variable, values)

    def effects(self, variables: str | Sequence[str] | None = None) -> MarginalEffects:
        """Return how the mean outcome changes with each variable, on average over the fitted people.

        Parameters
        ----------
        variables
            Private predictors and observed variables; by default all. For a number, the effect is the derivative. For a
            level, it is the change from the first level, a private category from its baseline.
        """
        return marginal_effects(self, variables)

    # Output -----------------------------------------------------------------------------------

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What to know about the fit."""
        return (*self.more, *caveats(self))

    def summary(self, *, level: float = 0.95, method: CoefficientInterval = "auto") -> Table:
        """Return a table to print or show in a notebook: the coefficients, then notes about the fit."""
        return summary_of(self, level, method)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers for JSON, without any data about individuals."""
        return plain(facts_of(self))

    def _columns(self, *, level: float = 0.95, method: CoefficientInterval = "auto") -> dict[str, Any]:
        return frame_columns(self, level, method)

    @overload
    def to_frame(
        self, *, engine: Literal["pandas"] = ..., level: float = ..., method: CoefficientInterval = ...
    ) -> PandasFrame: ...
    @overload
    def to_frame(
        self, *, engine: Literal["polars"], level: float = ..., method: CoefficientInterval = ...
    ) -> PolarsFrame: ...
    @overload
    def to_frame(
        self, *, engine: Literal["pyarrow"], level: float = ..., method: CoefficientInterval = ...
    ) -> ArrowTable: ...
    def to_frame(
        self, *, engine: Engine = "pandas", level: float = 0.95, method: CoefficientInterval = "auto"
    ) -> Frame:
        """Return a data frame with a row for each coefficient: estimate, standard error, interval, p-value."""
        return frame(self._columns(level=level, method=method), engine)

    def plot(
        self, *, level: float = 0.95, method: CoefficientInterval = "auto", title: str | None = None
    ) -> draw.Figure:
        """Draw the coefficients with intervals, per standard deviation of numeric covariates."""
        return plot_of(self, level, method, title)

    def __repr__(self) -> str:
        kept = [term for term in self.layout.terms if term != "Intercept"] or ["1"]
        terms = " + ".join(kept if self.layout.intercept is not None else ["0", *kept])
        private = ", ".join(self.layout.private)
        return (
            f"<OutcomeRegression {self.name} ~ {terms}: {self.family}, {self.method}, private {private}, n = "
            f"{whole(self.n)}>"
        )
