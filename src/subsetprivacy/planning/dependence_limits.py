"""The limit laws of the tests of independence at an alternative: what a person adds to the noncentrality."""

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
MOST_INVERTED = 400  # joint shares whose standard errors are worth the time
_NOTHING = 1e-13  # a noncentrality per person that is rounding
_RARE = 1e-9  # of a pair of subsets: as good as impossible


@frozen
class NoncentralChiSquare:
    """A noncentral chi-squared law, the limit of a statistic.

    Attributes
    ----------
    rate
        The noncentrality that one person adds.
    df
        The degrees of freedom.
    """

    rate: float
    df: int

    def power(self, n: Any, level: float) -> Any:
        """Return the probability to reject with n people: a number, or one for each entry of an array."""
        return 1 - chndtr(chdtri(self.df, level), self.df, np.asarray(n) * self.rate)

    def size(self, target: float, level: float) -> float:
        """Return the number of people, not rounded, with whom the power is `target`; infinite without dependence."""
        if self.rate <= _NOTHING:
            return inf
        critical = float(chdtri(self.df, level))
        high = 1.0
        while 1 - chndtr(critical, self.df, high) < target:
            high *= 2
        noncentrality = brentq(lambda x: 1 - chndtr(critical, self.df, x) - target, 0.0, high, xtol=1e-12, rtol=1e-14)
        return float(noncentrality) / self.rate

    def people(self, target: float, level: float) -> int:
        """Return the fewest people with whom the power is at least `target`.

        Raises
        ------
        ArgumentError
            If they would be more than there can be.
        """
        size = self.size(target, level)
        if size > MOST_PEOPLE:
            raise ArgumentError(
                f"there must be a dependence that at most {MOST_PEOPLE} people show; got a noncentrality of "
                f"{self.rate:.3g} per person.",
                STRONGER_DEPENDENCE,
            )
        return max(ceil(size * (1 - 1e-12)), 1)


@frozen(slots=False, eq=False)
class JointAlternative:
    r"""A joint distribution, seen through the designs of two variables.

    Attributes
    ----------
    design
        The product of two designs.
    W
        The joint distribution, p x q.

    Notes
    -----
    The designs are identifiable, so the margins that fit the subsets of one variable best are, in the limit, those of
    W, whatever the other variable is: under the null hypothesis :math:`P^0_{ab} = P_a P_b`. All pairs of subsets are
    given that both say something; `answered` is the share of people of whom that holds.
    """

    design: Product
    W: FloatArray

    @property
    def sides(self) -> tuple[Design, Design]:
        """The designs of the two variables."""
        return self.design.factors[0], self.design.factors[1]

    @property
    def answered(self) -> float:
        """The share of people of whom both subsets say something."""
        return 1 - self.design.mu_full

    @cached_property
    def independent(self) -> FloatArray:
        """The product of the margins of W."""
        return np.outer(self.W.sum(axis=1), self.W.sum(axis=0))

    @cached_property
    def reports(self) -> tuple[FloatArray, FloatArray]:
        """The laws of the pairs of informative subsets under W and under the product of its margins."""
        if not self.design.enumerable:
            raise TooLargeError("the limit laws list all pairs of subsets; got too many.", SIMULATE_POWER)
        return self._law(self.W), self._law(self.independent)

    def _law(self, W: FloatArray) -> FloatArray:
        first, second = self.sides
        half = _weighted(second, W)  # (p, r): given the first value, with the second variable's subset
        return np.asarray(_weighted(first, half.T).T)

    @cached_property
    def limits(self) -> dict[str, NoncentralChiSquare]:
        """The limit law of each test that has one, by the test's name."""
        return {**self._of_subsets(), VALUES: _pearson(self.W), **self._enlarged()}

    def _of_subsets(self) -> dict[str, NoncentralChiSquare]:
        r"""Return the limit laws of the tests of subsets.

        Which questions were asked says nothing about the values: the probability of a pair of questions cancels from
        :math:`(P_{ab}-P^0_{ab})^2/P^0_{ab}`, and Pearson's two statistics differ in their degrees of freedom alone.
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
        """The joint law of the variables that the subsets are of, known bits included; None where none is mixed in."""
        if all(side.enlarged is side for side in self.sides):
            return None
        shape = [side.enlarged.p for side in self.sides]
        return self.design.enlarge(self.W.ravel()).reshape(shape)


def _weighted(design: Design, W: FloatArray) -> FloatArray:
    """Return the last axis of W, over values, as one over the informative subsets."""
    codes, mu = design.support()
    kept = ~design.is_missing(codes)
    law = design.support_incidence.inner(W) * mu
    return law[..., kept] / (1 - design.mu_full)


def _questions(design: Design) -> int:
    """Return how many questions there are, as far as subsets tell which was asked: else they are all one."""
    codes = design.support()[0]
    asked = design.strata(codes[~design.is_missing(codes)])
    return 1 if asked is None else len(np.unique(asked))


def _distance(P: FloatArray, P0: FloatArray) -> float:
    """Return Pearson's distance of one law from another, over the cells that can occur."""
    possible = P0 > 0
    return float(((P - P0)[possible] ** 2 / P0[possible]).sum())


def _pearson(W: FloatArray) -> NoncentralChiSquare:
    """Return the limit law of Pearson's test of the values themselves."""
    p, q = W.shape
    return NoncentralChiSquare(_distance(W, np.outer(W.sum(axis=1), W.sum(axis=0))), (p - 1) * (q - 1))


# Doubt ----------------------------------------------------------------------------------------


def limit_caveats(there: JointAlternative, people: Mapping[str, int], *, simulated: bool) -> tuple[Note, ...]:
    """Return a note for each thing that makes a limit law rough, given the people each test gets."""
    if not there.design.enumerable:
        many = "There are too many pairs of subsets to list: the tests of subsets have no limit law here."
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
        "two standard errors of 0; the limit law of lrt is rough, its power mostly higher."
    )


def _small_counts(there: JointAlternative, people: Mapping[str, int]) -> str:
    sizes = [n for name, n in people.items() if name.startswith("pearson")]
    expected = min(sizes, default=0) * there.answered * there.reports[1]
    few = int((expected < FEW).sum())
    if not sizes or not few:
        return ""
    return (
        f"Small counts: with {counted(min(sizes), 'person', 'people')} {few} of {expected.size} pairs of subsets are "
        f"expected from fewer than {FEW}; the limit laws of Pearson's tests of subsets are rough."
    )


def _near_zero(there: JointAlternative, n: int) -> int:
    """Return how many joint shares are within two standard errors of 0."""
    if there.W.size > MOST_INVERTED:
        return int((there.W == 0).sum())
    V = limit_covariance(there.design, there.W.ravel(), floor=_RARE)
    return int((~(there.W.ravel() >= 2 * np.sqrt(V.diagonal() / n))).sum())
