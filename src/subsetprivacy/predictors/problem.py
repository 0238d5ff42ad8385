"""Prepare a regression on private predictors: people, columns and the model of the outcome."""

from functools import cached_property
from typing import Any, Literal

import numpy as np
from attrs import frozen

from subsetprivacy._choices import OutcomeFamily, RegressionMethod
from subsetprivacy._types import BoolArray, FloatArray, IntArray, Label
from subsetprivacy.design import Design
from subsetprivacy.predictors.atoms import Atoms
from subsetprivacy.predictors.families import Binomial, Multinomial, Normal, OutcomeDensity, Poisson
from subsetprivacy.predictors.indicators import Indicators, working_indicators
from subsetprivacy.predictors.layout import ModelLayout
from subsetprivacy.predictors.people import CellPeople
from subsetprivacy.regression.starting import information_kept, shares_of_all
from subsetprivacy.sampling import Sampling

POWERS: dict[str, tuple[int, ...]] = {"linear": (1, 2), "logit": (1,), "poisson": (1,)}  # in the working model


@frozen(slots=False, eq=False, repr=False)
class OutcomeProblem:
    """Everything that a fit needs.

    Attributes
    ----------
    people
        The people with informative subsets.
    family, method
        The family and the method.
    categories
        The categories of a private outcome, baseline first; otherwise None.
    answered
        Who of everyone these people are; None if all.
    weighted
        What the weights mean; None without weights.
    clusters, sampling
        The number of each person's cluster, or how everyone was drawn, or None.
    starts
        The number of starts of the likelihood; None chooses it by the size of the sample.
    table
        The observed columns of everyone, as given.
    """

    people: CellPeople
    family: OutcomeFamily
    method: RegressionMethod
    categories: tuple[Label, ...] | None = None
    answered: BoolArray | None = None
    weighted: Literal["frequency", "sampling"] | None = None
    clusters: IntArray | None = None
    sampling: Sampling | None = None
    starts: int | None = None
    table: Any = None

    @property
    def layout(self) -> ModelLayout:
        """The columns of the model."""
        return self.people.layout

    @property
    def design(self) -> Design:
        """The design of the cells."""
        return self.people.design

    @property
    def n(self) -> float:
        """The number of people with informative subsets, or their number according to frequency weights."""
        return float(len(self.people)) if self.weighted == "sampling" else self.people.n

    @cached_property
    def model(self) -> OutcomeDensity:
        """The model of the outcome."""
        if self.categories is not None and len(self.categories) > 2:
            return Multinomial(len(self.categories) - 1)
        models: dict[str, OutcomeDensity] = {"linear": Normal(), "logit": Binomial(), "poisson": Poisson()}
        return models[self.family]

    @cached_property
    def atoms(self) -> Atoms:
        """The columns of the model, by atoms."""
        return Atoms(self.people.cell_Z, self.layout.seen, self.people.V.shape[1])

    @cached_property
    def indicators(self) -> Indicators:
        """The unbiased indicators of people's cells."""
        return working_indicators(self.people, () if self.people.private_outcome else POWERS[self.family])

    @cached_property
    def _amounts(self) -> FloatArray:
        people = self.people
        return np.bincount(people.index, people.weight, minlength=len(people.distinct)).astype(np.float64)

    @cached_property
    def w(self) -> FloatArray:
        """The overall shares of the cells."""
        return shares_of_all(self.people.distinct, self._amounts, self.design)

    @cached_property
    def information_kept(self) -> float:
        """The share of a label's information that a subset keeps, on average."""
        return min(information_kept(self.people.distinct, self._amounts, self.design, self.w), 1.0)

    @cached_property
    def spread(self) -> FloatArray:
        """The standard deviation of each observed column; 1 if it is constant."""
        std = self.people.V.std(axis=0)
        return np.where(std > 0, std, 1.0)

    @property
    def degrees_of_freedom(self) -> float:
        """The degrees of freedom of the scores' covariance: from the sampling or the clusters, else infinite."""
        if self.sampling is not None:
            return self.sampling.degrees_of_freedom
        return np.inf if self.clusters is None else float(self.clusters.max())

    @property
    def is_robust(self) -> bool:
        """Whether standard errors are robust (sandwich)."""
        complex_sample = self.weighted == "sampling" or self.clusters is not None or self.sampling is not None
        return complex_sample or self.method == "corrected"
