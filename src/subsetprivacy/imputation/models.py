"""Imputation models: the probabilities of each person's categories in each of the m sets."""

from typing import Any, Protocol

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy._words import people
from subsetprivacy.data import count_codes
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, DistributionError, MismatchError, NoDataError
from subsetprivacy.estimation.probabilities import read_probabilities
from subsetprivacy.imputation.augmentation import normal_draws, posterior_shares
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_analyses import (
    DRAW_PARAMETERS,
    FINITE_FIT,
    ONE_FIT,
    RICHER_MODEL,
    ROW_PER_PERSON,
    SAME_PEOPLE,
)
from subsetprivacy.pvalues import p_equals
from subsetprivacy.regression.links import CumulativeLogit
from subsetprivacy.regression.models import Model
from subsetprivacy.regression.result import Regression

_TRIES = 1000  # largest number of draws of cut points until they are in order
_REJECTED = 0.01  # smaller p-values of the specification test are reported


class ImputationModel(Protocol):
    """Probabilities of the values before using the subset."""

    @property
    def description(self) -> str:
        """What the values are drawn from, in words."""
        ...

    @property
    def notes(self) -> tuple[Note, ...]:
        """What to know about it."""
        ...

    def probabilities(self, k: int, part: slice) -> FloatArray:
        """Return the probabilities of some people in set k, shape (people, p) or (1, p)."""
        ...


@frozen(eq=False, repr=False)
class SharesModel:
    """The same shares for everyone, drawn for each set; shape (m, p)."""

    W: FloatArray
    description: str = "the estimated shares, the same for everyone"
    notes: tuple[Note, ...] = ()

    def probabilities(self, k: int, part: slice) -> FloatArray:
        """Return the shares of set k."""
        return self.W[k : k + 1]


@frozen(eq=False, repr=False)
class RegressionModel:
    """A regression on covariates, with parameters drawn for each set; shape (m, parameters)."""

    model: Model
    thetas: FloatArray
    X: FloatArray
    offset: FloatArray | None
    description: str
    notes: tuple[Note, ...] = ()

    def probabilities(self, k: int, part: slice) -> FloatArray:
        """Return the fitted shares of some people at the parameters of set k."""
        offset = None if self.offset is None else self.offset[:, part]
        U = self.model.predictors(self.thetas[k], self.X[part], offset)
        return np.asarray(self.model.link.shares(U).T)


@frozen(eq=False, repr=False)
class GivenModel:
    """Given probabilities, shape (1, n, p) or (m, n, p)."""

    P: FloatArray
    description: str = "given probabilities of each person's values"

    @property
    def notes(self) -> tuple[Note, ...]:
        """A caveat if all sets share the probabilities, so that only the values are drawn."""
        if len(self.P) > 1:
            return ()
        text = (
            "The probabilities are the same in all sets, as if they were known: pooled standard errors are too small."
        )
        return (Note(NoteKind.IMPROPER, text, DRAW_PARAMETERS),)

    def probabilities(self, k: int, part: slice) -> FloatArray:
        """Return the probabilities of some people in set k."""
        return self.P[k % len(self.P), part]


def shares_model(codes: IntArray, design: Design, m: int, prior: float, rng: np.random.Generator) -> SharesModel:
    """Return the model with one distribution for everyone."""
    counts = count_codes(codes, design)
    if not counts.n > 0:
        raise NoDataError("`data` must contain at least one informative subset; got none.")
    return SharesModel(posterior_shares(counts, m, prior, rng))


def regression_model(
    fit: Regression, codes: IntArray, design: Design, m: int, rng: np.random.Generator
) -> RegressionModel:
    """Return the model of a regression fitted to the same people.

    Raises
    ------
    MismatchError
        If it was fitted to other people, or to another design.
    ArgumentError
        If its parameters have no covariance.
    """
    if fit.problem.design != design:
        raise MismatchError("`given` must be a regression of the same variable; its design differs.", ONE_FIT)
    if fit.weighted == "frequency":
        raise ArgumentError(
            "`given` must have a row for each person; got rows that represent several people.", ROW_PER_PERSON
        )
    rows = fit._require_rows()
    answered = np.ones(len(codes), bool) if rows.answered is None else rows.answered
    if len(answered) != len(codes) or not np.array_equal(codes[answered], rows.codes):
        fitted = people(len(rows.codes if rows.answered is None else rows.answered))
        raise MismatchError(
            f"`given` must be fitted to the people of `data`, in their order; got a fit to {fitted} for {len(codes)}.",
            SAME_PEOPLE,
        )
    X, offset = fit._matrix(rows.table) if rows.answered is not None else _own_columns(fit), fit._offset()
    if offset is not None and not answered.all():
        raise ArgumentError("`given` must have no offset if some people did not answer; got one.")
    names = [term for term in fit.columns.terms if term != "Intercept"]
    text = f"a {fit.family} regression of {fit.name} on {', '.join(names) or 'nothing'} ({fit.method})"
    return RegressionModel(fit.model, _parameters(fit, m, rng), X, offset, text, _rejected(fit))


def _rejected(fit: Regression) -> tuple[Note, ...]:
    """Return that the specification test rejects the model, where it does."""
    p = float(fit.specification.pvalue[0])
    if not p < _REJECTED:
        return ()
    text = f"The model that values are drawn from is rejected (specification test: {p_equals(p)})."
    return (Note(NoteKind.SPECIFICATION, f"{text} What is pooled from these sets may be biased.", RICHER_MODEL),)


def _own_columns(fit: Regression) -> FloatArray:
    from subsetprivacy.regression.presenting import model_columns

    return model_columns(fit._require_rows().X, fit)


def _parameters(fit: Regression, m: int, rng: np.random.Generator) -> FloatArray:
    """Return m draws of the parameters from their approximate posterior, normal around the estimate."""
    cov = fit.cov
    if not np.isfinite(fit.estimates).all() or not np.isfinite(cov).all():
        what = "infinite coefficients" if fit.separated else "no standard errors"
        raise ArgumentError(f"`given` must have finite coefficients with a covariance; got {what}.", FINITE_FIT)
    if not isinstance(fit.model.link, CumulativeLogit):
        return normal_draws(fit.estimates, cov, m, rng)
    cuts = fit.categories.p - 1
    kept: list[FloatArray] = []
    for _ in range(_TRIES):  # cut points are in order: the normal distribution is cut off where they are not
        draws = normal_draws(fit.estimates, cov, m, rng)
        kept.extend(draws[(np.diff(draws[:, :cuts], axis=1) > 0).all(axis=1)])
        if len(kept) >= m:
            return np.array(kept[:m])
    raise ArgumentError("`given` must have cut points that are apart; got some that nearly coincide.", FINITE_FIT)


def given_model(given: Any, design: Design, n: int, m: int) -> GivenModel:
    """Return the model of given probabilities.

    Raises
    ------
    MismatchError, DistributionError
        If they are not probabilities of these people, one set or m sets of them.
    """
    if np.ndim(given) != 3:
        return GivenModel(read_probabilities(given, design.categories, n, "given")[None])
    if len(given) != m:
        raise MismatchError(f"`given` must have probabilities for each of the {m} sets; got {len(given)}.")
    return GivenModel(np.stack([read_probabilities(each, design.categories, n, "given") for each in given]))


def check_possible(total: FloatArray, first: int) -> None:
    """Raise if the model rules out every value of a person's subset."""
    bad = ~(total > 0)
    if bad.any():
        raise DistributionError(
            f"`given` must allow every person a value of their subset; got {people(int(bad.sum()))} without one, first "
            f"in row {first + int(bad.argmax())}."
        )
