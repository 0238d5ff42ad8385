"""Limit distributions of the tests of independence under an alternative."""

from collections.abc import Mapping
from functools import cached_property
from math import ceil, inf
from typing import Any

import numpy as np
from attrs import frozen
from scipy.optimize import brentq
from scipy.special import chdtri, chndtr, kl_div

from subsetprivacy._types import FloatArray
from subsetprivacy._words import counted
from subsetprivacy.design import Design, Product
from subsetprivacy.errors import ArgumentError, TooLargeError
from subsetprivacy.estimation.likelihood import limit_covariance
from subsetprivacy.independence.caveats import FEW
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_plans import SIMULATE_POWER, STRONGER_DEPENDENCE
from subsetprivacy.planning.demand import MOST_PEOPLE

VALUES, ENLARGED = "PT:X", "PT:Y"
MOST_INVERTED = 400  # the most joint shares for which standard errors are computed
_NOTHING = 1e-13  # a smaller noncentrality per person is rounding
_RARE = 1e-9  # a pair of subsets with a smaller probability is treated as impossible


@frozen
class NoncentralChiSquare:
    """The noncentral chi-squared limit distribution of a statistic.

    Attributes
    ----------
    rate
        The noncentrality that one person adds.
    df
        The degrees of freedom.
    """

    rate: float
    df: int

    def power(self, n: Any, alpha: float) -> Any:
        """Return the probability of rejection with n people, for a number or an array."""
        return 1 - chndtr(chdtri(self.df, alpha), self.df, np.asarray(n) * self.rate)

    def size(self, target: float, alpha: float) -> float:
        """Return the number of people for which the power is `target`, before rounding; infinite without dependence."""
        if self.rate <= _NOTHING:
            return inf
        critical = float(chdtri(self.df, alpha))
        high = 1.0
        while 1 - chndtr(critical, self.df, high) < target:
            high *= 2
        noncentrality = brentq(lambda x: 1 - chndtr(critical, self.df, x) - target, 0.0, high, xtol=1e-12, rtol=1e-14)
        return float(noncentrality) / self.rate

    def people(self, target: float, alpha: float) -> int:
        """Return the smallest number of people for which the power is at least `target`.

        Raises
        ------
        ArgumentError
            If the number exceeds the limit.
        """
        size = self.size(target, alpha)
        if size > MOST_PEOPLE:
            raise ArgumentError(
                f"the variables must not be (nearly) independent under `W`; got a noncentrality of {self.rate:.3g} "
                f"per person, which {MOST_PEOPLE:,} people do not detect.",
                STRONGER_DEPENDENCE,
            )
        return max(ceil(size * (1 - 1e-12)), 1)


@frozen(slots=False, eq=False)
class JointAlternative:
    r"""A joint distribution of two variables with their designs.

    Attributes
    ----------
    design
        The product of two designs.
    W
        The joint distribution, p x q.

    Notes
    -----
    The designs are identifiable, so in the limit the margins that fit the subsets best are those of W, and under the
    null hypothesis :math:`P^0_{ab} = P_a P_b`. The probabilities of pairs are conditional on two informative subsets,
    and `answered` is the share of people with two informative subsets.
    """

    design: Product
    W: FloatArray

    @property
    def sides(self) -> tuple[Design, Design]:
        """The designs of the two variables."""
        return self.design.factors[0], self.design.factors[1]

    @property
    def answered(self) -> float:
        """The share of people with two informative subsets."""
        return 1 - self.design.mu_full

    @cached_property
    def independent(self) -> FloatArray:
        """The product of the margins of W."""
        return np.outer(self.W.sum(axis=1), self.W.sum(axis=0))

    @cached_property
    def reports(self) -> tuple[FloatArray, FloatArray]:
        """The distributions of pairs of informative subsets under W and under the product of its margins."""
        if not self.design.enumerable:
            raise TooLargeError(
                "the limit distributions need a list of all pairs of subsets; got too many.", SIMULATE_POWER
            )
        return self._subset_probabilities(self.W), self._subset_probabilities(self.independent)

    def _subset_probabilities(self, W: FloatArray) -> FloatArray:
        first, second = self.sides
        half = _weighted(second, W)  # (p, r): first value by subset of the second variable
        return np.asarray(_weighted(first, half.T).T)

    @cached_property
    def limits(self) -> dict[str, NoncentralChiSquare]:
        """The limit distribution of each test that has one, by the name of the test."""
        return {**self._of_subsets(), VALUES: _pearson(self.W), **self._enlarged()}

    def _of_subsets(self) -> dict[str, NoncentralChiSquare]:
        r"""Return the limit distributions of the tests of subsets.

        The questions are independent of the values, so the probability of a pair of questions cancels from
        :math:`(P_{ab}-P^0_{ab})^2/P^0_{ab}`, and Pearson's two statistics differ only in their degrees of freedom.
        """
        try:
            P, P0 = self.reports
        except TooLargeError:
            return {}
        first, second = self.sides
        possible = P0.size
        asked = _questions(first) * _questions(second)
        parameters = first.p + second.p - 2
        distance = self.answered * _distance(P, P0)
        return {
            "lrt": NoncentralChiSquare(2 * self.answered * float(kl_div(P, P0).sum()), (first.p - 1) * (second.p - 1)),
            "pearson": NoncentralChiSquare(distance, possible - 1 - parameters),
            "pearson-conditional": NoncentralChiSquare(distance, possible - asked - parameters),
        }

    def _enlarged(self) -> dict[str, NoncentralChiSquare]:
        enlarged = self.enlarged
        return {} if enlarged is None else {ENLARGED: _pearson(enlarged)}

    @cached_property
    def enlarged(self) -> FloatArray | None:
        """The joint distribution of the values with their secret bits; None if there are no bits."""
        if all(side.enlarged is side for side in self.sides):
            return None
        shape = [side.enlarged.p for side in self.sides]
        return self.design.enlarge(self.W.ravel()).reshape(shape)


def _weighted(design: Design, W: FloatArray) -> FloatArray:
    """Return W with its last axis, over values, replaced by one over the informative subsets."""
    codes, mu = design.support()
    kept = ~design.is_missing(codes)
    probabilities = design.support_incidence.inner(W) * mu
    return probabilities[..., kept] / (1 - design.mu_full)


def _questions(design: Design) -> int:
    """Return the number of questions that subsets identify, or 1 if they do not identify the question."""
    codes = design.support()[0]
    asked = design.strata(codes[~design.is_missing(codes)])
    return 1 if asked is None else len(np.unique(asked))


def _distance(P: FloatArray, P0: FloatArray) -> float:
    """Return Pearson's distance between two distributions, over the cells that can occur."""
    possible = P0 > 0
    return float(((P - P0)[possible] ** 2 / P0[possible]).sum())


def _pearson(W: FloatArray) -> NoncentralChiSquare:
    """Return the limit distribution of Pearson's test of the values themselves."""
    p, q = W.shape
    return NoncentralChiSquare(_distance(W, np.outer(W.sum(axis=1), W.sum(axis=0))), (p - 1) * (q - 1))


# Caveats --------------------------------------------------------------------------------------


def limit_caveats(there: JointAlternative, people: Mapping[str, int], *, simulated: bool) -> tuple[Note, ...]:
    """Return a note for each reason why a limit distribution is rough, given the number of people of each test."""
    if not there.design.enumerable:
        many = "There are too many pairs of subsets to list: the tests of subsets have no limit distribution here."
        return (Note(NoteKind.TOO_MANY_CELLS, many),)
    advice = None if simulated else SIMULATE_POWER
    texts = {NoteKind.BOUNDARY: _boundary(there, people), NoteKind.SMALL_COUNTS: _small_counts(there, people)}
    return tuple(Note(kind, text, advice) for kind, text in texts.items() if text)


def _boundary(there: JointAlternative, people: Mapping[str, int]) -> str:
    n = people.get("lrt")
    near = 0 if n is None else _near_zero(there, n)
    if n is None or not near:
        return ""
    return (
        f"Near the boundary: with {counted(n, 'person', 'people')} {near} of {there.W.size} joint shares are within "
        "two standard errors of 0. The limit distribution of lrt is then rough, and the power is mostly higher."
    )


def _small_counts(there: JointAlternative, people: Mapping[str, int]) -> str:
    sizes = [n for name, n in people.items() if name.startswith("pearson")]
    expected = min(sizes, default=0) * there.answered * there.reports[1]
    few = int((expected < FEW).sum())
    if not sizes or not few:
        return ""
    return (
        f"Small counts: with {counted(min(sizes), 'person', 'people')} {few} of {expected.size} pairs of subsets are "
        f"expected from fewer than {FEW}. The limit distributions of Pearson's tests of subsets are then rough."
    )


def _near_zero(there: JointAlternative, n: int) -> int:
    """Return how many joint shares are within two standard errors of 0."""
    if there.W.size > MOST_INVERTED:
        return int((there.W == 0).sum())
    V = limit_covariance(there.design, there.W.ravel(), floor=_RARE)
    return int((~(there.W.ravel() >= 2 * np.sqrt(V.diagonal() / n))).sum())
