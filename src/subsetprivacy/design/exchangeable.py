"""Designs that treat all categories alike: the weight of a subset depends only on its size."""

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from functools import cached_property
from math import comb
from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_count, read_only
from subsetprivacy._types import AnyArray, FloatArray, IntArray, Label, RandomSource
from subsetprivacy.design import draws
from subsetprivacy.design.base import Design
from subsetprivacy.design.described import Formula
from subsetprivacy.design.document_format import Keys, whole
from subsetprivacy.design.draws import pick, thresholds
from subsetprivacy.design.require import check_size, require_enumerable
from subsetprivacy.errors import InvalidDesignError
from subsetprivacy.incidence import MAX_DENSE_BITS
from subsetprivacy.messages.for_designs import USE_WARNER
from subsetprivacy.messages.for_general import NEAREST
from subsetprivacy.subsets import as_categories, sizes


class ExchangeableDesign(Design):
    r"""A design given by the probability :math:`t_k` of size k: :math:`\mu_a = t_k / \binom{p-1}{k-1}`."""

    @property
    @abstractmethod
    def by_size(self) -> dict[int, float]:
        """The probability of each possible size of the reported subset, in ascending order of size."""

    @cached_property
    def _mu_of_size(self) -> FloatArray:
        table = np.zeros(self.p + 1)
        for k, share in self.by_size.items():
            table[k] = share / comb(self.p - 1, k - 1)
        return table

    @property
    def report_count(self) -> int:
        """The number of subsets of the possible sizes."""
        return sum(comb(self.p, k) for k in self.by_size)

    @cached_property
    def enumerable(self) -> bool:
        """Whether the support is small enough to list."""
        return self.report_count <= 1 << MAX_DENSE_BITS

    @property
    def distribution_key(self) -> Hashable:
        """The probabilities of the sizes, which determine the distribution."""
        return tuple((k, round(share, 12)) for k, share in self.by_size.items())

    @cached_property
    def _support(self) -> tuple[IntArray, FloatArray]:
        require_enumerable(self, f"the support of a {self.kind} design")
        if self.p <= MAX_DENSE_BITS:
            masks = np.arange(1 << self.p, dtype=np.int64)
            codes = masks[self._mu_of_size[np.bitwise_count(masks)] > 0]
        else:
            codes = np.sort(np.concatenate([codes_of_size(self.p, k) for k in self.by_size]))
        return read_only(codes), read_only(self._mu_of_size[sizes(codes)])

    def support(self) -> tuple[IntArray, FloatArray]:
        """Return all subsets of the possible sizes and their mu."""
        return self._support

    def mu(self, codes: IntArray) -> FloatArray:
        """Return mu_a, which depends only on the size."""
        inside = (codes > 0) & (codes <= self.categories.full)
        return np.where(inside, self._mu_of_size[np.where(inside, sizes(codes), 0)], 0.0)

    @cached_property
    def pair_probability(self) -> float:
        """The probability that a second category is in the reported subset."""
        return float(sum(share * (k - 1) for k, share in self.by_size.items()) / (self.p - 1))

    @cached_property
    def S(self) -> float:
        """The sum of all mu_a, which is the mean of p divided by the size of A."""
        return float(sum(share * self.p / k for k, share in self.by_size.items()))

    @cached_property
    def smallest_set(self) -> int:
        """The smallest possible size."""
        return min(self.by_size)

    @cached_property
    def _null(self) -> IntArray | None:
        # Q = (1-q) I + q 11', regular unless only the full set is reported.
        return None if self.pair_probability < 1 else super()._null

    def guess_weights(self, belief: FloatArray) -> FloatArray:
        """Count, in closed form, the subsets whose most likely member is the r-th most likely category."""
        weights = np.zeros(self.p)
        for r, j in enumerate(np.argsort(-belief, kind="stable")):
            weights[j] = sum(self._mu_of_size[k] * comb(self.p - 1 - r, k - 1) for k in self.by_size)
        return weights

    def largest_posterior(self, belief: FloatArray) -> float:
        """Return the posterior of the most likely category in a smallest subset with the least likely others."""
        ordered = np.sort(belief)
        others = ordered[: self.smallest_set - 1].sum()
        return float(ordered[-1] / (ordered[-1] + others))

    @property
    def has_alike_triples(self) -> bool:
        """True: all categories are alike."""
        return True

    def most_telling(self, w: FloatArray) -> tuple[int, int]:
        """Return the smallest subset of the most likely category and the least likely others."""
        top = int(np.argmax(w))
        others = [int(j) for j in np.argsort(w, kind="stable") if j != top]
        return sum(1 << j for j in (top, *others[: self.smallest_set - 1])), top

    def reports_within(self, codes: IntArray) -> bool:
        """Tell whether one of the subsets is at least as large as the smallest report."""
        return self.smallest_set <= int(sizes(np.asarray(codes, np.int64)).max())

    def least_size(self, w: FloatArray) -> float:
        """Return the total weight of the least likely categories, as many as in the smallest report."""
        return float(np.sort(w)[: self.smallest_set].sum())

    def draw_any(self, n: int, source: RandomSource) -> IntArray:
        """Draw a size, then a subset of it."""
        if self.is_independent:
            return super().draw_any(n, source)
        size = np.array(list(self.by_size))[pick(self._any_thresholds, source.bits(n, 64))]
        out = np.empty(n, np.int64)
        for k in self.by_size:
            rows = np.flatnonzero(size == k)
            out[rows] = draws.subsets(len(rows), self.p, k, source.among(rows))
        return out

    @cached_property
    def _any_thresholds(self) -> AnyArray:
        # Over all reports, size k has the total weight t_k p/k of S.
        return thresholds(np.array([share / k for k, share in self.by_size.items()]))


def codes_of_size(p: int, k: int) -> IntArray:
    """Return the masks of all k-subsets of p categories, ascending."""
    if k == 0:
        return np.zeros(1, np.int64)
    if k == p:
        return np.array([(1 << p) - 1], np.int64)
    with_last = codes_of_size(p - 1, k - 1) | np.int64(1 << (p - 1))
    return np.concatenate([codes_of_size(p - 1, k), with_last])


@frozen(slots=False, eq=False, repr=False)
class FixedSize(ExchangeableDesign):
    """Every subset of k members that contains the value, equally likely. Use `fixed_size` to make one."""

    k: int
    kind: ClassVar[str] = "fixed_size"
    name: ClassVar[str] = "fixed size"
    keys: ClassVar[Keys] = Keys(
        {"size": whole("The number of members of every subset.", 2, 47)}, ("size",), categories=(3, 48)
    )
    formula: ClassVar[Formula] = Formula(
        reports="every subset with $k$ members, $\\lvert a\\rvert = k$",
        weight=r"\mu_a = \frac{1}{\binom{p-1}{k-1}}",
        symbols=(("k", "the document's `size`"),),
    )

    @classmethod
    def example(cls) -> "FixedSize":
        """Return pairs of four categories."""
        return fixed_size(["a", "b", "c", "d"], 2)

    @property
    def description(self) -> str:
        """The value among others."""
        return (
            f"A set of {self.k} of the {self.p} categories: the value, and others picked at random to hide it. Every "
            "such set is equally likely."
        )

    @property
    def label(self) -> str:
        """The kind and the size."""
        return f"{self.kind}, {self.k}"

    @property
    def drawing_note(self) -> str:
        """The value is needed."""
        return "drawn where the value is: by a publisher, or by the respondent"

    @property
    def browser_rule(self) -> dict[str, Any]:
        """The device draws companions. If k is half of the categories, a question without the value is equivalent."""
        if self.is_independent:
            return {"rule": "groups", "sizes": [self.k, self.k]}
        return {"rule": "companions", "size": self.k}

    @property
    def by_size(self) -> dict[int, float]:
        """Always k."""
        return {self.k: 1.0}

    @property
    def is_independent(self) -> bool:
        """Whether k is half of the categories, so that the complement of a report is a report too."""
        return 2 * self.k == self.p and self.k >= 2

    def draw_questions(self, n: int, source: RandomSource) -> AnyArray:
        """Draw halves of the categories, if k is half of them."""
        return draws.subsets(n, self.p, self.k, source) if self.is_independent else super().draw_questions(n, source)

    def content(self) -> dict[str, Any]:
        """Return the size."""
        return {"size": self.k}


def fixed_size(categories: Iterable[Label], k: int) -> FixedSize:
    r"""Make the design that reports a random set of k categories that contains the value.

    It is for publishers, who know the value, and for respondents who draw the
    other members themselves. For three categories, this design with k = 2 is
    the safe choice.

    Parameters
    ----------
    categories
        Three to 48 distinct labels. Their order is kept.
    k
        The size, from 2 to one less than the number of categories. Small sets
        need fewer people and protect less: `S` is p/k.

    Raises
    ------
    InvalidDesignError
        If k is out of range.

    Notes
    -----
    :math:`\mu_a = 1/\binom{p-1}{k-1}`. At a uniform distribution it needs (p-1)/(p/k-1) times as many
    people as asking directly. With k = p-1 it is known as a negative survey.

    Examples
    --------
    >>> pair = fixed_size(["never", "once", "often"], 2)
    >>> pair.S, pair.pair_probability
    (1.5, 0.5)
    """
    labels = check_size(as_categories(categories), 3, "fixed size", USE_WARNER)
    size = check_count(k, "k")
    if not 2 <= size <= labels.p - 1:
        nearest = min(max(size, 2), labels.p - 1)
        allowed = "2" if labels.p == 3 else f"from 2 to {labels.p - 1}"
        raise InvalidDesignError(
            f"`k` must be {allowed} for {labels.p} categories; got {size}.", NEAREST(nearest=nearest)
        )
    return FixedSize(labels, size)
