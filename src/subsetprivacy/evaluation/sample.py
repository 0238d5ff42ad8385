"""The test set of an evaluation: people, their weights, indicators and predictions."""

from functools import cached_property

import numpy as np
from attrs import frozen

from subsetprivacy._types import BoolArray, FloatArray, IntArray

_RARE = 4.0  # a share within so many standard errors of 0 is too noisy to divide by


def _dot(x: FloatArray, y: FloatArray) -> float:
    """Return the sum of products in one thread, because several threads cost more than they save here."""
    return float(np.einsum("i,i->", x, y))


@frozen(slots=False, eq=False)
class PersonWeights:
    """The weight of each person, for means and their standard errors.

    Attributes
    ----------
    each
        The weight of each row.
    are_frequencies
        Whether a weight is the number of people that a row represents. Otherwise they are sampling weights.
    """

    each: FloatArray
    are_frequencies: bool

    @cached_property
    def squares(self) -> FloatArray:
        """The squared weights for variances; frequencies themselves, because so many people vary independently."""
        return self.each if self.are_frequencies else self.each**2

    def count(self, rows: BoolArray) -> float:
        """Return how many people the given rows represent."""
        return float(self.each[rows].sum()) if self.are_frequencies else float(np.count_nonzero(self.each[rows]))

    @cached_property
    def people(self) -> float:
        """The number of people."""
        return self.count(np.ones(len(self.each), np.bool_))

    @cached_property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.each.sum())

    def mean(self, values: FloatArray) -> float:
        """Return the weighted mean."""
        return _dot(self.each, values) / self.total

    def se(self, influence: FloatArray) -> float:
        """Return the standard error of an estimate from the influence of each person, with mean 0."""
        if self.people < 2:
            return float("nan")
        spread = _dot(self.squares, influence**2) * self.people / (self.people - 1)
        return float(np.sqrt(spread)) / self.total

    def se_of_mean(self, values: FloatArray) -> float:
        """Return the standard error of a weighted mean."""
        return self.se(values - self.mean(values))


@frozen(slots=False, eq=False)
class ClassifierOutput:
    """A classifier's output for each person.

    Attributes
    ----------
    guess
        The position of the guessed category, shape (n,).
    proba
        The probability of each category, shape (n, p); without columns if there are only guesses.
    """

    guess: IntArray
    proba: FloatArray

    @classmethod
    def of_guesses(cls, guess: IntArray) -> "ClassifierOutput":
        """Return the output of a classifier without probabilities."""
        return cls(guess, np.empty((len(guess), 0)))

    @property
    def has_proba(self) -> bool:
        """Whether there are probabilities."""
        return self.proba.shape[1] > 0

    def among(self, kept: IntArray) -> "ClassifierOutput":
        """Return the predictions of some of the people."""
        if len(kept) == len(self.guess):
            return self
        return ClassifierOutput(self.guess[kept], self.proba[kept])


@frozen(slots=False, eq=False)
class EvaluationSample:
    """The people of a test set with an informative subset.

    Attributes
    ----------
    weights
        Their weights.
    D
        Their unbiased indicators, class-major, shape (p, n); without rows if the design is not known.
    """

    weights: PersonWeights
    D: FloatArray

    @property
    def has_indicators(self) -> bool:
        """Whether there are indicators."""
        return len(self.D) > 0

    @cached_property
    def shares(self) -> FloatArray:
        """The estimated share of each category."""
        return self.D @ self.weights.each / self.weights.total

    @cached_property
    def shares_se(self) -> FloatArray:
        """The standard errors of the shares."""
        return np.array([self.weights.se_of_mean(column) for column in self.D])

    @cached_property
    def rare(self) -> tuple[int, ...]:
        """The categories whose share is within four standard errors of 0."""
        return tuple(np.flatnonzero(~(self.shares > _RARE * self.shares_se)).tolist())

    @cached_property
    def everyone(self) -> tuple[int, ...]:
        """The categories whose share is within four standard errors of 1, so that there are no others to rank."""
        return tuple(np.flatnonzero(~(1 - self.shares > _RARE * self.shares_se)).tolist())
