"""`LogLinear`: the result of `loglinear`."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, overload

import numpy as np
from attrs import field, frozen
from scipy.special import ndtr

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_level
from subsetprivacy._choices import Engine, ParameterInterval, TermTest
from subsetprivacy._types import FloatArray, Label, Seed
from subsetprivacy._words import whole
from subsetprivacy.contingency import presenting
from subsetprivacy.contingency.caveats import caveats
from subsetprivacy.contingency.fitting import TableFit, fit_table
from subsetprivacy.contingency.generators import Generators, bracketed, generators_of
from subsetprivacy.contingency.known_margins import Margins
from subsetprivacy.contingency.nested import compare_models, goodness_of_fit_of, residuals_of, terms_tests_of
from subsetprivacy.contingency.odds import OddsRatios, odds_ratios_of
from subsetprivacy.contingency.profile import INTERVALS, interval_of, is_quick
from subsetprivacy.contingency.shares import FittedShares, shares_of
from subsetprivacy.contingency.structure import Structure
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages import Note
from subsetprivacy.messages.for_analyses import WALD_TESTS
from subsetprivacy.regression.model_tests import ModelTests
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame
from subsetprivacy.variables import JointCategories

_ZERO = 1e-3  # with infinite parameters, a fitted share of fewer people counts as 0


@frozen(slots=False, eq=False, repr=False)
class LogLinear(Result):
    """A log-linear model of several private columns; made by `loglinear`.

    Attributes
    ----------
    counts
        The joint counts of the variables of the model.
    generators
        The variables that may depend on each other, as tuples of names.
    structure
        The model matrix.
    margins
        The known margins, by the positions of their variables.
    fit
        The numbers of the fit.
    """

    why_not_restored: ClassVar[str] = "save `fit.counts.to_dict()` and fit the model to it again, or pickle the fit"

    counts: SubsetCounts
    generators: Generators
    structure: Structure
    margins: Margins = field(factory=dict)
    fit: TableFit = field(kw_only=True)

    # What was fitted --------------------------------------------------------------------------

    @property
    def categories(self) -> JointCategories:
        """The variables and their categories."""
        return self.structure.categories

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return self.categories.names

    @property
    def model(self) -> str:
        """The model in brackets."""
        return bracketed(self.generators)

    @cached_property
    def terms(self) -> Generators:
        """All terms of the model, as tuples of names: main effects, then interactions."""
        return tuple(tuple(self.names[k] for k in term) for term in self.structure.terms)

    @property
    def baseline(self) -> dict[str, Label]:
        """The baseline category of each variable."""
        parts = zip(self.names, self.categories.parts, self.structure.baselines, strict=True)
        return {name: part.labels[at] for name, part, at in parts}

    @property
    def n(self) -> float:
        """The number of people who reported all variables (Kish's effective number if weighted)."""
        return self.counts.n

    @property
    def n_missing(self) -> float:
        """The number of rows with a missing answer, which are left out."""
        return self.counts.n_missing

    @property
    def price(self) -> FloatArray:
        """For each parameter, its variance relative to that among as many people asked directly, at the same fit.

        So many times as many people are needed for the same standard error. NaN for infinite parameters.
        """
        return self.fit.price

    @property
    def n_effective(self) -> float:
        """The number of people, asked directly, with the same information: the mean of n / price."""
        return self.n * self.fit.information_kept

    # Parameters -------------------------------------------------------------------------------

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the parameters, as in ``race[Black]:sex[Male]``."""
        return self.structure.labels

    @cached_property
    def estimates(self) -> FloatArray:
        """The parameters; infinite if a share is fitted as 0, NaN if the data do not determine them."""
        signs = self.fit.infinite
        out = np.where(signs == 0, self.fit.theta, np.where(np.isnan(signs), np.nan, np.copysign(np.inf, signs)))
        out.setflags(write=False)
        return out

    @property
    def is_robust(self) -> bool:
        """Whether standard errors use the sandwich, because of sampling weights."""
        return self.counts.squares is not None

    @cached_property
    def cov(self) -> FloatArray:
        """The covariance of the parameters; NaN for infinite ones."""
        size = len(self.fit.theta)
        out = np.full((size, size), np.nan) if self.fit.cov is None else self.fit.cov.copy()
        loose = self.fit.infinite != 0
        out[loose] = np.nan
        out[:, loose] = np.nan
        out.setflags(write=False)
        return out

    @cached_property
    def _profiles(self) -> dict[tuple[float, bytes], FloatArray]:
        """The profile intervals that were computed, which all outputs share."""
        return {}

    @cached_property
    def se(self) -> FloatArray:
        """The standard errors of the parameters."""
        return np.sqrt(np.maximum(self.cov.diagonal(), 0.0))

    @property
    def pvalues(self) -> FloatArray:
        """The p-values of Wald tests that each parameter is 0."""
        with np.errstate(invalid="ignore", divide="ignore"):
            z = np.abs(self.estimates) / self.se
        return np.asarray(2 * ndtr(-z))

    def interval(self, level: float = 0.95, *, method: ParameterInterval = "auto") -> FloatArray:
        """Return confidence intervals of the parameters, shape (parameters, 2).

        Parameters
        ----------
        level
            The confidence level.
        method
            ``"profile"``: the values that the likelihood ratio test does not reject. An infinite parameter has one
            finite end. ``"wald"``: estimate and standard error. ``"auto"``: the profile if it takes about a second and
            there are no sampling weights, Wald's otherwise. Parameters that known margins determine always have Wald's.
        """
        chosen = self._interval_method(method, len(self.labels))
        return interval_of(self, np.eye(len(self.labels)), self.estimates, self.se, check_level(level), chosen)

    def _interval_method(self, method: ParameterInterval, intervals: int) -> str:
        """Return the method of so many intervals."""
        if check_choice(method, INTERVALS, "method") == "profile":
            self.require_likelihood("profile intervals")
        return ("profile" if is_quick(self, intervals) else "wald") if method == "auto" else method

    # How well it fits -------------------------------------------------------------------------

    @property
    def loglik(self) -> float:
        """The log-likelihood of the subsets."""
        return self.fit.loglik

    @property
    def df(self) -> int:
        """The number of free parameters."""
        return self.fit.df

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return 2 * self.df - 2 * self.loglik

    @property
    def bic(self) -> float:
        """The Bayesian criterion."""
        return float(np.log(self.n) * self.df - 2 * self.loglik)

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
        """The maxima of the likelihood that were found from different starts, largest first."""
        return self.fit.maxima

    @property
    def separated(self) -> tuple[str, ...]:
        """The names of the parameters that are infinite or not determined by the data."""
        return tuple(self.labels[k] for k in np.flatnonzero(self.fit.infinite != 0))

    @property
    def zeros(self) -> tuple[Label, ...]:
        """The combinations of categories whose share is fitted as 0."""
        if not self.separated and self.fit.cov is not None:
            return ()
        return tuple(self.categories.labels[k] for k in np.flatnonzero(self.counts.total * self.fit.w < _ZERO))

    def require_likelihood(self, what: str) -> None:
        """Raise if there are sampling weights."""
        if self.is_robust:
            raise ArgumentError(f"{what} need people without weights; got sampling weights.", WALD_TESTS)

    def refitted(self, terms: Generators) -> "LogLinear":
        """Return a model with other terms, fitted to the same counts with the same known margins."""
        at = tuple(tuple(self.names.index(name) for name in term) for term in terms)
        structure = Structure(self.categories, at, self.structure.baselines)
        fit = fit_table(self.counts, structure, self.margins, near=self.fit.w)
        return LogLinear(self.counts, generators_of(terms, self.names), structure, self.margins, fit=fit)

    # Tests ------------------------------------------------------------------------------------

    def test(
        self,
        terms: str | Sequence[str] | None = None,
        *,
        method: TermTest = "auto",
        bootstrap: int = 0,
        seed: Seed | None = None,
    ) -> ModelTests:
        """Test each term against the model without it and without all terms that contain it.

        Parameters
        ----------
        terms
            A term such as ``"race:sex"``, or several terms to test one by one; by default every generator of two or
            more variables.
        method
            ``"lr"``: likelihood ratio test. ``"wald"``: Wald's test. ``"auto"`` (default): the likelihood ratio test
            or, with sampling weights, Wald's test with the sandwich, which is also called ``"robust"``.
        bootstrap
            The number of tables to simulate from the smaller model for the p-value; by default none, with the
            chi-square distribution instead.
        seed
            The seed of the simulated tables.
        """
        return terms_tests_of(self, terms, method, bootstrap, seed)

    def compare(self, smaller: "LogLinear", *, bootstrap: int = 0, seed: Seed | None = None) -> ModelTests:
        """Test a smaller model within this one by the likelihood ratio test.

        Parameters
        ----------
        smaller
            A fit to the same counts with fewer terms, or with known margins.
        bootstrap, seed
            As in `test`.
        """
        return compare_models(self, smaller, bootstrap, seed)

    @cached_property
    def goodness_of_fit(self) -> ModelTests:
        """The likelihood ratio test of the model against the saturated model."""
        return goodness_of_fit_of(self)

    # Shares -----------------------------------------------------------------------------------

    @cached_property
    def w(self) -> FloatArray:
        """The fitted shares as a table with an axis for each variable."""
        out = self.fit.w.reshape(self.categories.shape)
        out.setflags(write=False)
        return out

    def shares(self, *names: str, given: str | Sequence[str] = ()) -> FittedShares:
        """Return the fitted joint shares of some variables, with standard errors.

        Parameters
        ----------
        *names
            The variables, by default all.
        given
            Variables to condition on; the shares of the others are then within each of their categories.
        """
        return shares_of(self, names, (given,) if isinstance(given, str) else tuple(given))

    def odds_ratios(self, one: str, two: str, *, given: Mapping[str, Label] | None = None) -> OddsRatios:
        """Return the conditional odds ratios of two variables, each category against the baseline.

        Parameters
        ----------
        one, two
            The variables.
        given
            Categories of the other variables that the odds ratios depend on: those that share a term with both.
        """
        return odds_ratios_of(self, one, two, {} if given is None else given)

    @cached_property
    def residuals(self) -> FloatArray:
        """The saturated shares minus the fitted ones, in standard errors, in the shape of `w`.

        NaN if a share is estimated as 0 or the standard error is unknown.
        """
        return residuals_of(self)

    # Output -----------------------------------------------------------------------------------

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """The caveats and key numbers of the fit."""
        return caveats(self)

    def summary(self, *, level: float = 0.95, method: ParameterInterval = "auto") -> Table:
        """Return the table to print or to show in a notebook: parameters, with goodness of fit below."""
        return presenting.summary_of(self, level, method)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON; nothing about individuals."""
        return plain(presenting.facts_of(self))

    def _columns(self, *, level: float = 0.95, method: ParameterInterval = "auto") -> dict[str, Any]:
        return presenting.frame_columns(self, level, method)

    @overload
    def to_frame(
        self, *, engine: Literal["pandas"] = ..., level: float = ..., method: ParameterInterval = ...
    ) -> PandasFrame: ...
    @overload
    def to_frame(
        self, *, engine: Literal["polars"], level: float = ..., method: ParameterInterval = ...
    ) -> PolarsFrame: ...
    @overload
    def to_frame(
        self, *, engine: Literal["pyarrow"], level: float = ..., method: ParameterInterval = ...
    ) -> ArrowTable: ...
    def to_frame(self, *, engine: Engine = "pandas", level: float = 0.95, method: ParameterInterval = "auto") -> Frame:
        """Return a data frame with a row for each parameter: estimate, standard error, interval, p-value."""
        return frame(self._columns(level=level, method=method), engine)

    def plot(self, *, level: float = 0.95, method: ParameterInterval = "auto", title: str | None = None) -> draw.Figure:
        """Plot the parameters of the interactions with intervals, or the main effects if there are no interactions."""
        return presenting.plot_of(self, level, method, title)

    def __repr__(self) -> str:
        return f"<LogLinear {self.model}: {self.df} parameters, {self.structure.cells} cells, n = {whole(self.n)}>"
