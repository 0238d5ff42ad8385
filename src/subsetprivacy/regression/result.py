"""The result of a regression."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, overload

import numpy as np
from attrs import field, frozen
from scipy.special import ndtr, ndtri, stdtr

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_level
from subsetprivacy._choices import (
    CoefficientInterval,
    Engine,
    PredictionKind,
    RegressionMethod,
    ResponseFamily,
    TermTest,
)
from subsetprivacy._types import ArrayLike, BoolArray, FloatArray, IntArray, Label
from subsetprivacy._words import whole
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.survey_sample import critical_value
from subsetprivacy.messages import Note
from subsetprivacy.messages.for_regression import FIT_BY_LIKELIHOOD, IN_MEMORY, ROBUST_INTERVALS
from subsetprivacy.privacy.given import alone_in_covariates, leakage_given
from subsetprivacy.privacy.given_result import CovariateLeakage
from subsetprivacy.regression.blocks import InMemoryBlocks
from subsetprivacy.regression.caveats import caveats
from subsetprivacy.regression.constrained import profile_interval
from subsetprivacy.regression.effects import adjusted_shares, marginal_effects, posterior_shares
from subsetprivacy.regression.fitting import MAX_COVARIANCE, Fit, can_be_corrected
from subsetprivacy.regression.model_tests import ModelTests
from subsetprivacy.regression.models import Model
from subsetprivacy.regression.prediction import MarginalEffects, Prediction, row_names, shares_with_errors
from subsetprivacy.regression.presenting import (
    facts_of,
    frame_columns,
    model_columns,
    parameter_labels,
    plot_of,
    summary_of,
)
from subsetprivacy.regression.price import average, prices
from subsetprivacy.regression.problem import CovariateColumns, ResponseProblem
from subsetprivacy.regression.term_tests import (
    compare_nested,
    proportionality_test_of,
    specification_test_of,
    terms_tests_of,
)
from subsetprivacy.results import Result, plain
from subsetprivacy.sampling import Sampling
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame

_SOME = 50_000  # people sampled to estimate what rows reveal
INTERVALS: tuple[CoefficientInterval, ...] = ("auto", "wald", "robust", "profile")


@frozen(eq=False, repr=False)
class FittedPeople:
    """The people behind a fit in memory, one row each, even if the fit itself groups them.

    Attributes
    ----------
    table
        The covariates of everyone, as given.
    answered
        Who gave an informative subset; None if everyone did. The remaining attributes cover these people only.
    X
        Their covariates as numbers, with the intercept.
    codes, weight
        Their subsets, and their weights if any.
    """

    table: Any
    answered: BoolArray | None
    X: FloatArray
    codes: IntArray
    weight: FloatArray | None = None


@frozen(slots=False, eq=False, repr=False)
class Regression(Result):
    """A fitted model of a private category given covariates, returned by `regress`.

    Attributes
    ----------
    name
        The response.
    problem
        The data of the fit: subsets, covariates as numbers, and options. Use the other attributes instead.
    fit
        The fitted parameters and their covariances, as the solver returned them.
    n_missing
        How many people were left out because they did not answer (the full set).
    weighted
        What the weights mean: ``"frequency"``, ``"sampling"``, or None without weights.
    clusters
        The number of each person's cluster; None without clusters.
    sampling
        How the people were drawn, if given.
    fitted_people
        The table of covariates and the subsets of the people; None if the table was streamed.
    chosen
        How the penalty was chosen, if it was.
    """

    why_not_restored: ClassVar[str] = "keep the data and fit again, or pickle the fit, which contains the data"

    name: str
    problem: ResponseProblem
    fit: Fit
    n_missing: float = 0.0
    weighted: Literal["frequency", "sampling"] | None = None
    clusters: IntArray | None = None
    sampling: Sampling | None = None
    fitted_people: FittedPeople | None = None
    chosen: Mapping[str, Any] = field(factory=dict)

    # What was fitted --------------------------------------------------------------------------

    @property
    def categories(self) -> Categories:
        """The categories of the response."""
        return self.problem.design.categories

    @property
    def family(self) -> ResponseFamily:
        """``"logit"`` or ``"ordinal"``."""
        return self.problem.options.family

    @property
    def method(self) -> RegressionMethod:
        """``"ml"`` or ``"corrected"``."""
        return self.fit.method

    @property
    def has_no_corrected_solution(self) -> bool:
        """Whether corrected scores were tried and have no solution, because a category is rare."""
        if self.method == "corrected":
            return not self.converged
        return self.problem.options.method is None and can_be_corrected(self.problem)

    @property
    def baseline(self) -> Label | None:
        """The category that the others are compared with; None for ordered categories."""
        return None if self.family == "ordinal" else self.categories.labels[self.problem.baseline]

    @property
    def columns(self) -> CovariateColumns:
        """The columns of covariates."""
        return self.problem.columns

    @cached_property
    def model(self) -> Model:
        """The model, which turns parameters and covariates into shares."""
        return self.problem.model

    @property
    def n(self) -> float:
        """The number of people with an informative subset, or the sum of their weights."""
        return self.problem.n

    @property
    def n_effective(self) -> float:
        """How many people, asked directly, would be as informative: n divided by the harmonic mean of the prices."""
        mean = average(self.price)
        return self.problem.n_effective if np.isnan(mean) else self.n / max(mean, 1.0)

    # Coefficients -----------------------------------------------------------------------------

    @cached_property
    def labels(self) -> tuple[tuple[Label, str], ...]:
        """The category and the term of every parameter, in order."""
        return parameter_labels(self)

    @cached_property
    def estimates(self) -> FloatArray:
        """All parameters. Those that the data do not bound are infinite, and undetermined ones are NaN."""
        signs = self.fit.infinite
        out = np.where(signs == 0, self.fit.theta, np.where(np.isnan(signs), np.nan, np.copysign(np.inf, signs)))
        out.setflags(write=False)
        return out

    @property
    def coef(self) -> FloatArray:
        """The coefficients: a row for each category except the baseline, or one row of slopes if they are ordered."""
        if self.family == "ordinal":
            return self.estimates[self.categories.p - 1 :]
        return self.estimates.reshape(self.categories.p - 1, -1)

    @property
    def cutpoints(self) -> FloatArray | None:
        """The cut points between ordered categories; None for the logit."""
        return self.estimates[: self.categories.p - 1] if self.family == "ordinal" else None

    @property
    def is_robust(self) -> bool:
        """Whether standard errors are robust (sandwich): with sampling weights, clusters or corrected scores."""
        return self.weighted == "sampling" or self.clusters is not None or self.method == "corrected"

    @property
    def degrees_of_freedom(self) -> float:
        """The degrees of freedom of t in intervals and p-values: from the sampling or the clusters, else infinite."""
        if self.sampling is not None:
            return self.sampling.degrees_of_freedom
        return np.inf if self.clusters is None else float(self.clusters.max())

    @property
    def design_effects(self) -> FloatArray | None:
        """The variance of each parameter relative to a simple random sample of the same size; None without sampling."""
        if self.fit.plain is None or self.fit.robust is None:
            return None
        effects = self.fit.robust.diagonal() / np.maximum(self.fit.plain, np.finfo(float).tiny)
        return np.where(self.fit.infinite == 0, effects, np.nan)

    @property
    def cov(self) -> FloatArray:
        """The covariance of all parameters: inverse observed information, or the sandwich (see `is_robust`)."""
        return self._cov("robust" if self.is_robust else "wald")

    @property
    def robust(self) -> FloatArray:
        """The sandwich covariance of all parameters."""
        return self._cov("robust")

    @property
    def se(self) -> FloatArray:
        """The standard errors of the coefficients, in the shape of `coef`."""
        se = self._se("auto")
        return se[self.categories.p - 1 :] if self.family == "ordinal" else se.reshape(self.coef.shape)

    def _cov(self, method: str) -> FloatArray:
        if method == "wald" and self.method == "corrected":
            raise ArgumentError("`method` must not be 'wald' for corrected scores; got 'wald'.", ROBUST_INTERVALS)
        matrix = self.fit.robust if method == "robust" else self.fit.observed
        size = len(self.fit.theta)
        if matrix is None:
            return np.full((size, size), np.nan)
        out = matrix.copy()
        loose = self.fit.infinite != 0
        out[loose] = np.nan
        out[:, loose] = np.nan
        return out

    def _se(self, method: CoefficientInterval) -> FloatArray:
        robust = method == "robust" or (method != "wald" and self.is_robust)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.sqrt(np.maximum(self._cov("robust" if robust else "wald").diagonal(), 0.0)))

    @cached_property
    def price(self) -> FloatArray:
        """The price of each parameter: its variance relative to asking everyone directly, under the fitted model.

        NaN for parameters that are not finite, for penalized fits, and if the design is not known.
        """
        options = self.problem.options
        finite = (self.fit.infinite == 0) & np.isfinite(self.fit.theta)
        if options.ridge > 0 or options.lasso > 0 or options.shrink or len(finite) > MAX_COVARIANCE:
            finite = np.zeros_like(finite)
        corrected = self.method == "corrected"
        cov = self.fit.robust if corrected else self.fit.observed
        out = prices(self.problem.blocks, self.model, self.fit.theta, finite, corrected=corrected, cov=cov, n=self.n)
        out.setflags(write=False)
        return out

    @property
    def _usable_cov(self) -> FloatArray | None:
        """The covariance for predictions, with 0 for infinite coefficients because the shares do not move there."""
        return self.fit.robust if self.is_robust else self.fit.observed

    @property
    def pvalues(self) -> FloatArray:
        """The p-value of each parameter for the hypothesis that it is 0, from its standard error."""
        return self._pvalues("auto")

    def _pvalues(self, method: CoefficientInterval) -> FloatArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            z = np.abs(self.estimates) / self._se(method)
        df = self.degrees_of_freedom
        return np.asarray(2 * (ndtr(-z) if np.isinf(df) else stdtr(df, -z)))

    def interval(self, level: float = 0.95, *, method: CoefficientInterval = "auto") -> FloatArray:
        """Return confidence intervals of all parameters, shape (parameters, 2), in the order of `labels`.

        Parameters
        ----------
        level
            The confidence level.
        method
            ``"wald"`` uses the estimate and its standard error from the observed information. ``"robust"`` uses the
            sandwich instead. ``"profile"`` contains all values that the likelihood does not reject. It is slower and
            better in small samples, and gives the finite end of an infinite coefficient. ``"auto"`` (default) is
            robust if `is_robust`, otherwise Wald.
        """
        check_level(level)
        check_choice(method, INTERVALS, "method")
        if method == "profile":
            return self._profile(level)
        z = critical_value(level, self.degrees_of_freedom)
        with np.errstate(invalid="ignore"):
            return np.asarray(self.estimates[:, None] + z * self._se(method)[:, None] * np.array([-1.0, 1.0]))

    def _profile(self, level: float) -> FloatArray:
        self.require_likelihood("profile intervals")
        objective = self.problem.objective()
        top = objective(self.fit.theta)[0]
        z = float(ndtri((1 + level) / 2))
        se = self._se("wald")
        out = np.full((len(se), 2), np.nan)
        first = self.categories.p - 1 if self.family == "ordinal" else 0
        scale = np.where(self.problem.spread > 0, self.problem.spread, 1.0)
        for at in range(len(se)):
            if at < first:  # a cut point has no separate coordinate, so its interval is Wald's
                out[at] = self.interval(level, method="wald")[at]
                continue
            step = z * se[at] if np.isfinite(se[at]) else 1 / scale[(at - first) % len(scale)]
            ends = profile_interval(objective, self.fit.theta, top, at, step, level)
            runs = self.fit.infinite[at]
            out[at] = (-np.inf if runs < 0 else ends[0], np.inf if runs > 0 else ends[1])
        return out

    def require_likelihood(self, what: str) -> None:
        """Raise unless the fit maximizes the unpenalized likelihood of a simple random sample."""
        if self.method == "corrected":
            raise ArgumentError(f"{what} need a maximum-likelihood fit; got method='corrected'.", FIT_BY_LIKELIHOOD)
        if self.is_robust:
            got = "clusters" if self.clusters is not None else "sampling weights"
            raise ArgumentError(f"{what} need a simple random sample; got {got}.", ROBUST_INTERVALS)
        if self.problem.options.ridge > 0 or self.problem.options.lasso > 0:
            raise ArgumentError(f"{what} need a fit without a penalty; got a penalized one.")

    # How well it fits -------------------------------------------------------------------------

    @property
    def loglik(self) -> float:
        """The log-likelihood of the subsets."""
        return self.fit.loglik

    @property
    def null_loglik(self) -> float:
        """The log-likelihood if everyone had the same shares."""
        return self.problem.null_loglik

    @property
    def gap(self) -> float:
        """An estimate of how much the total log-likelihood could still rise (Newton decrement)."""
        return self.fit.gap

    @property
    def converged(self) -> bool:
        """Whether the gap is below 1e-8."""
        return self.fit.converged

    @property
    def maxima(self) -> tuple[float, ...]:
        """The values of the likelihood's maxima found from different starts, largest first."""
        return self.fit.maxima

    @property
    def separated(self) -> tuple[tuple[Label, str], ...]:
        """The category and the term of every coefficient that the data do not bound."""
        loose = np.flatnonzero(self.fit.infinite != 0)
        return tuple(self.labels[k] for k in loose)

    @property
    def df(self) -> int:
        """The number of parameters."""
        return len(self.fit.theta)

    @property
    def aic(self) -> float:
        """Akaike's criterion; NaN for corrected scores, which do not maximize the likelihood."""
        return 2 * self.df - 2 * self.loglik if self.method == "ml" else float("nan")

    @property
    def bic(self) -> float:
        """The Bayesian criterion; NaN for corrected scores."""
        return float(np.log(self.n) * self.df - 2 * self.loglik) if self.method == "ml" else float("nan")

    @property
    def pseudo_r2(self) -> float:
        """McFadden's pseudo-R²: the share of the subsets' log-likelihood that the covariates explain."""
        return 1 - self.loglik / self.null_loglik if self.null_loglik else float("nan")

    # Tests ------------------------------------------------------------------------------------

    def test(self, terms: str | Sequence[str] | None = None, *, method: TermTest = "auto") -> ModelTests:
        """Test whether terms have any effect, that is, whether all their coefficients are 0.

        Parameters
        ----------
        terms
            A term, or several terms, each tested separately. By default every term except the intercept.
        method
            ``"lr"``: the likelihood ratio, with a second fit for each term. ``"wald"``, ``"robust"``: from the
            covariance. ``"auto"`` (default): robust if `is_robust`, otherwise the likelihood ratio.
        """
        return terms_tests_of(self, terms, method)

    def compare(self, smaller: "Regression") -> ModelTests:
        """Test a smaller model against this one by the likelihood ratio.

        Parameters
        ----------
        smaller
            A fit to the same people without some of the terms.
        """
        return compare_nested(self, smaller)

    @cached_property
    def specification(self) -> ModelTests:
        """The specification test. If the model is right, the likelihood and the corrected scores agree."""
        return specification_test_of(self)

    @cached_property
    def proportionality(self) -> ModelTests:
        """The score test that ordered categories share their slopes (proportional odds)."""
        return proportionality_test_of(self)

    # Predictions ------------------------------------------------------------------------------

    @cached_property
    def probabilities(self) -> FloatArray:
        """The fitted shares at each person's covariates, shape (n, p), without using the subset."""
        rows = self._require_rows()
        X = model_columns(rows.X, self)
        shares, _ = shares_with_errors(self.model, self.fit.theta, None, X, self._offset())
        shares.setflags(write=False)
        return shares

    def _offset(self) -> FloatArray | None:
        sample = self.problem.blocks
        if not isinstance(sample, InMemoryBlocks) or sample.offset is None:
            return None
        return np.ascontiguousarray(sample.offset.T)

    def _require_rows(self) -> FittedPeople:
        if self.fitted_people is None:
            raise ArgumentError("the people must be in memory for this; got a fit from a stream.", IN_MEMORY)
        return self.fitted_people

    def _matrix(self, table: Any) -> FloatArray:
        """Return the columns of X of a table."""
        return model_columns(self.columns.encoder.matrix(table), self)

    @overload
    def predict(
        self, new: Any = ..., kind: Literal["shares"] = ..., *, offset: ArrayLike | None = ...
    ) -> Prediction: ...
    @overload
    def predict(self, new: Any = ..., *, kind: Literal["category"], offset: ArrayLike | None = ...) -> list[Label]: ...
    def predict(
        self, new: Any = None, kind: PredictionKind = "shares", *, offset: ArrayLike | None = None
    ) -> Prediction | list[Label]:
        """Predict the shares of the categories at covariates, or the most likely category.

        Parameters
        ----------
        new
            A table with the covariates of the formula. By default the people who were fitted, with their offsets.
        kind
            ``"shares"`` (default): shares with standard errors. ``"category"``: the label with the largest share.
        offset
            The offset of each row of new data; by default 0.
        """
        check_choice(kind, ("shares", "category"), "kind")
        X = model_columns(self._require_rows().X, self) if new is None else self._matrix(new)
        shift = self._offset() if new is None else None
        if offset is not None:
            shift = np.broadcast_to(np.asarray(offset, np.float64), (len(X),))[None, :]
        cov = self._usable_cov if kind == "shares" else None
        shares, errors = shares_with_errors(self.model, self.fit.theta, cov, X, shift)
        if kind == "category":
            return [self.categories.labels[j] for j in shares.argmax(axis=1).tolist()]
        return Prediction(
            "row",
            row_names(range(len(X))),
            self.categories.labels,
            shares,
            errors,
            self.n,
            degrees_of_freedom=self.degrees_of_freedom,
        )

    def adjusted(self, variable: str, values: Sequence[Any] | None = None) -> Prediction:
        """Return the predicted shares if everyone had the same value of one variable and kept all others.

        Parameters
        ----------
        variable
            A covariate.
        values
            Its values; by default all levels, or the quartiles of a number.
        """
        return adjusted_shares(self, variable, values)

    def effects(self, variables: str | Sequence[str] | None = None) -> MarginalEffects:
        """Return how the shares change with each covariate, on average over the people who were fitted.

        Parameters
        ----------
        variables
            Covariates; by default all. For a number, the effect is the derivative. For a level, it is the change from
            the first level.
        """
        return marginal_effects(self, variables)

    # Privacy ----------------------------------------------------------------------------------

    def leakage(self) -> CovariateLeakage:
        """Return how much rows with covariates and subsets reveal, compared with each alone.

        Publishing rows with covariates promises less privacy than publishing subsets, because an attacker can combine
        the subset with the model.
        """
        rows = self._require_rows()
        return leakage_given(
            self.problem.design,
            self.probabilities,
            codes=rows.codes,
            weights=rows.weight,
            alone=alone_in_covariates(rows.X),
        )

    @cached_property
    def shares_above_95(self) -> tuple[float, float] | None:
        """The expected share of rows in which one value has a probability above 95%, as two numbers.

        The first number uses covariates and subset, the second the covariates alone. Both come from at most 50,000 of
        the people. None if the people are not in memory, the design is not known, or there is no solution.
        """
        if self.fitted_people is None or not self.problem.design.is_known or np.isnan(self.fit.theta).any():
            return None
        some = slice(None, None, max(len(self.fitted_people.X) // _SOME, 1))
        weight = None if self.fitted_people.weight is None else self.fitted_people.weight[some]
        views = leakage_given(self.problem.design, self.probabilities[some], weights=weight).expected
        return None if views is None else (views["both"].above_95, views["covariates"].above_95)

    def posterior(self) -> FloatArray:
        """Return the probability of each category for each person, given covariates and subset, shape (n, p).

        These are guesses about individuals. Keep them out of files and reports.

        Warns
        -----
        NotPrivateWarning
            Always.
        """
        return posterior_shares(self)

    # Output -----------------------------------------------------------------------------------

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What to know about the fit."""
        return caveats(self)

    def summary(self, *, level: float = 0.95, method: CoefficientInterval = "auto") -> Table:
        """Return a table to print or show in a notebook: the coefficients, then how well the model fits."""
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
        """Return a data frame with a row for each category and term: estimate, standard error, interval, p-value."""
        return frame(self._columns(level=level, method=method), engine)

    def plot(
        self, *, level: float = 0.95, method: CoefficientInterval = "auto", title: str | None = None
    ) -> draw.Figure:
        """Draw the coefficients with intervals, a panel per category, per standard deviation of numeric covariates."""
        return plot_of(self, level, method, title)

    def __repr__(self) -> str:
        terms = " + ".join(term for term in self.columns.terms if term != "Intercept") or "1"
        return (
            f"<Regression {self.name} ~ {terms}: {self.family}, {self.method}, {self.categories.p} categories, "
            f"n = {whole(self.n)}>"
        )
