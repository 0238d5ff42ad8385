"""The result of a log-linear model."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, overload

import numpy as np
from attrs import field, frozen
from scipy.special import ndtr, ndtri

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_level
from subsetprivacy._choices import Engine, TermTest
from subsetprivacy._types import FloatArray, Label, Seed
from subsetprivacy.contingency import presenting
from subsetprivacy.contingency.caveats import caveats
from subsetprivacy.contingency.fitting import TableFit, fit_table
from subsetprivacy.contingency.generators import Generators, bracketed, generators_of
from subsetprivacy.contingency.known_margins import Margins
from subsetprivacy.contingency.nested import compare_models, goodness_of_fit_of, terms_tests_of
from subsetprivacy.contingency.odds import OddsRatios, odds_ratios_of
from subsetprivacy.contingency.residuals import residuals_of
from subsetprivacy.contingency.shares import FittedShares, shares_of
from subsetprivacy.contingency.structure import Structure
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages import Note
from subsetprivacy.messages.for_contingency import WALD_TESTS
from subsetprivacy.regression.model_tests import ModelTests
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame
from subsetprivacy.variables import JointCategories

_ZERO = 1e-3  # people below which a fitted share is 0, where parameters are infinite


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

    why_not_restored: ClassVar[str] = "keep `fit.counts.to_dict()`, and fit the model to it again, or pickle the fit"

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
        """The category of each variable that the others are compared with."""
        parts = zip(self.names, self.categories.parts, self.structure.baselines, strict=True)
        return {name: part.labels[at] for name, part, at in parts}

    @property
    def n(self) -> float:
        """The number of people who reported all variables (Kish's effective number if weighted)."""
        return self.counts.n

    @property
    def n_missing(self) -> float:
        """How many rows lack an answer; they are left out."""
        return self.counts.n_missing

    @property
    def n_effective(self) -> float:
        """How many people would say as much if they were asked directly, on average over the parameters."""
        return self.n * self.fit.kept

    # Parameters -------------------------------------------------------------------------------

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the parameters, as in ``race[Black]:sex[Male]``."""
        return self.structure.labels

    @cached_property
    def estimates(self) -> FloatArray:
        """The parameters; infinite where a share is fitted as 0, not a number where the data leave them open."""
        signs = self.fit.infinite
        out = np.where(signs == 0, self.fit.theta, np.where(np.isnan(signs), np.nan, np.copysign(np.inf, signs)))
        out.setflags(write=False)
        return out

    @property
    def is_robust(self) -> bool:
        """Whether standard errors are those of the sandwich: with sampling weights."""
        return self.counts.squares is not None

    @cached_property
    def cov(self) -> FloatArray:
        """The covariance of the parameters; not a number where one is infinite."""
        size = len(self.fit.theta)
        out = np.full((size, size), np.nan) if self.fit.cov is None else self.fit.cov.copy()
        loose = self.fit.infinite != 0
        out[loose] = np.nan
        out[:, loose] = np.nan
        out.setflags(write=False)
        return out

    @cached_property
    def se(self) -> FloatArray:
        """The standard errors of the parameters."""
        return np.sqrt(np.maximum(self.cov.diagonal(), 0.0))

    @property
    def pvalues(self) -> FloatArray:
        """The p-value of each parameter being 0, by its standard error."""
        with np.errstate(invalid="ignore", divide="ignore"):
            z = np.abs(self.estimates) / self.se
        return np.asarray(2 * ndtr(-z))

    def interval(self, level: float = 0.95) -> FloatArray:
        """Return the intervals of the parameters, shape (parameters, 2): estimate and standard error.

        Parameters
        ----------
        level
            The confidence level.
        """
        z = float(ndtri((1 + check_level(level)) / 2))
        with np.errstate(invalid="ignore"):
            return np.asarray(self.estimates[:, None] + z * self.se[:, None] * np.array([-1.0, 1.0]))

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
        """The log-likelihood that is left to gain at most, by Newton's decrement, of all people together."""
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
        """The names of the parameters that are infinite, or that the data leave open."""
        return tuple(self.labels[k] for k in np.flatnonzero(self.fit.infinite != 0))

    @property
    def zeros(self) -> tuple[Label, ...]:
        """The combinations of categories whose share is fitted as 0."""
        if not self.separated and self.fit.cov is not None:
            return ()
        return tuple(self.categories.labels[k] for k in np.flatnonzero(self.counts.total * self.fit.w < _ZERO))

    def require_likelihood(self, what: str) -> None:
        """Raise unless people were drawn alike."""
        if self.is_robust:
            raise ArgumentError(f"{what} need people who were drawn alike; got sampling weights.", WALD_TESTS)

    def refitted(self, terms: Generators) -> "LogLinear":
        """Return the model with other terms, fitted to the same counts with the same known margins."""
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
        """Test whether terms are needed: against the model without each, and without all that contain it.

        Parameters
        ----------
        terms
            A term, ``"race:sex"``, or several that are tested one by one; by default every generator of two or more
            variables.
        method
            ``"lr"``: likelihood ratio. ``"wald"``: from the covariance. ``"auto"`` (default): the likelihood ratio,
            or with sampling weights Wald's test by the sandwich, which is also called ``"robust"``.
        bootstrap
            How many tables to simulate from the smaller model for the p-value; by default none, and the chi-square
            distribution is used.
        seed
            Of the simulated tables.
        """
        return terms_tests_of(self, terms, method, bootstrap, seed)

    def compare(self, smaller: "LogLinear", *, bootstrap: int = 0, seed: Seed | None = None) -> ModelTests:
        """Test a smaller model within this one by the likelihood ratio.

        Parameters
        ----------
        smaller
            A fit to the same counts with some of the terms left out, or with known margins.
        bootstrap, seed
            As in `test`.
        """
        return compare_models(self, smaller, bootstrap, seed)

    @cached_property
    def goodness_of_fit(self) -> ModelTests:
        """The likelihood ratio test of the model within the saturated one."""
        return goodness_of_fit_of(self)

    # Shares -----------------------------------------------------------------------------------

    @cached_property
    def w(self) -> FloatArray:
        """The fitted shares, a table with an axis for each variable."""
        out = self.fit.w.reshape(self.categories.shape)
        out.setflags(write=False)
        return out

    def shares(self, *names: str, given: str | Sequence[str] = ()) -> FittedShares:
        """Return the fitted shares of some variables together, with standard errors.

        Parameters
        ----------
        *names
            The variables, by default all.
        given
            Variables to condition on: then the shares of the others within each of their categories.
        """
        return shares_of(self, names, (given,) if isinstance(given, str) else tuple(given))

    def odds_ratios(self, one: str, two: str, *, given: Mapping[str, Label] | None = None) -> OddsRatios:
        """Return the conditional odds ratios of two variables, each category against the baseline.

        Parameters
        ----------
        one, two
            The variables.
        given
            The categories of other variables, where the odds ratios depend on them: those that share a term with
            both.
        """
        return odds_ratios_of(self, one, two, {} if given is None else given)

    @cached_property
    def residuals(self) -> FloatArray:
        """Where the model misses: the saturated shares less the fitted ones, in standard errors, in the shape of `w`.

        Not a number where a share is estimated as 0 or nothing is known.
        """
        return residuals_of(self)

    # Output -----------------------------------------------------------------------------------

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What to know of the fit."""
        return caveats(self)

    def summary(self, *, level: float = 0.95, method: Literal["wald"] = "wald") -> Table:
        """Return the table to print or to show in a notebook: parameters, and below them how well the model fits."""
        check_choice(method, ("wald",), "method")
        return presenting.summary_of(self, level)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON: nothing of any person."""
        return plain(presenting.facts_of(self))

    def _columns(self, *, level: float = 0.95, method: Literal["wald"] = "wald") -> dict[str, Any]:
        check_choice(method, ("wald",), "method")
        return presenting.frame_columns(self, level)

    @overload
    def to_frame(
        self, *, engine: Literal["pandas"] = ..., level: float = ..., method: Literal["wald"] = ...
    ) -> PandasFrame: ...
    @overload
    def to_frame(
        self, *, engine: Literal["polars"], level: float = ..., method: Literal["wald"] = ...
    ) -> PolarsFrame: ...
    @overload
    def to_frame(
        self, *, engine: Literal["pyarrow"], level: float = ..., method: Literal["wald"] = ...
    ) -> ArrowTable: ...
    def to_frame(self, *, engine: Engine = "pandas", level: float = 0.95, method: Literal["wald"] = "wald") -> Frame:
        """Return a data frame with a row for each parameter: estimate, standard error, interval, p-value."""
        return frame(self._columns(level=level, method=method), engine)

    def plot(self, *, level: float = 0.95, title: str | None = None) -> draw.Figure:
        """Draw the parameters of the interactions with their intervals; of a model without any, the main effects."""
        return presenting.plot_of(self, level, title)

    def __repr__(self) -> str:
        return f"<LogLinear {self.model}: {self.df} parameters, {self.structure.cells} cells, n = {self.n:.0f}>"
