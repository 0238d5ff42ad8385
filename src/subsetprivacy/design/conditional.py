"""Designs given by mu: what is reported may depend on the value only through membership (`cond_design`)."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._checks import frozen as read_only
from subsetprivacy._types import FloatArray, IntArray, Label
from subsetprivacy.design.base import Design
from subsetprivacy.design.require import check_size
from subsetprivacy.design.weights import WEIGHT_TOLERANCE, read_weights
from subsetprivacy.errors import InvalidDesignError, NotIndependentError
from subsetprivacy.incidence import incidence
from subsetprivacy.messages.for_designs import USE_WARNER
from subsetprivacy.subsets import Categories, as_categories, sizes


@frozen(slots=False, eq=False, repr=False)
class Conditional(Design):
    """A list of subsets with their mu; make one with `conditional`."""

    codes: IntArray
    weights: FloatArray
    kind: str = "conditional"  # type: ignore[misc]  # nonprivate and fully_private differ by name only

    def support(self) -> tuple[IntArray, FloatArray]:
        """Return the codes with positive weight and their mu."""
        return self.codes, self.weights

    def content(self) -> dict[str, Any]:
        """Return the subsets' codes with their mu."""
        return {"subsets": [[int(a), repr(float(m))] for a, m in zip(self.codes, self.weights, strict=True)]}

    def as_independent(self) -> Design:
        """Return the independent design with nu_a = mu_a / 2, if mu_a equals mu of the complement everywhere."""
        from subsetprivacy.design.independent import Independent, check_questions

        if self.p < 4:
            raise NotIndependentError(f"an independent design must have at least 4 categories; got {self.p}.")
        full = self.categories.full
        proper = self.codes != full
        codes, mu = self.codes[proper], self.weights[proper]
        # In proportion: a tiny weight with no counterpart is lopsided as well.
        lopsided = np.flatnonzero(np.abs(self.mu(full - codes) - mu) > WEIGHT_TOLERANCE * mu)
        if lopsided.size:
            a = int(codes[lopsided[0]])
            raise NotIndependentError(
                "an independent design must give a subset and its complement the same mu; "
                f"got {self.mu(np.array([a]))[0]:.6g} for {self.categories.format(a)} and "
                f"{self.mu(np.array([full - a]))[0]:.6g} for {self.categories.format(full - a) or 'the empty set'}."
            )
        nu = np.where(self.codes == full, self.weights, self.weights / 2)
        check_questions(self.codes, nu, self.categories)
        return Independent(self.categories, self.codes, read_only(nu))


def conditional(categories: Iterable[Label], weights: Mapping[Any, float]) -> Conditional:
    r"""Make a design from the weights :math:`\mu_a` (`cond_design`).

    Parameters
    ----------
    categories
        Three to 48 distinct labels; their order is kept.
    weights
        ``{subset: mu}``; a subset is a tuple or frozenset of labels, or a code.

    Raises
    ------
    InvalidDesignError
        If a subset has fewer than two members, a weight is negative or not
        finite, or the weights of the subsets that hold some category do not
        sum to one.

    Notes
    -----
    :math:`P(A=a \mid X=j) = \mu_a 1\{j\in a\}` with
    :math:`\sum_{a \ni j}\mu_a = 1` for every j. The value must be known to
    whoever draws, so this is a publisher's design.

    Examples
    --------
    >>> pairs = {("a", "b"): 0.5, ("b", "c"): 0.5, ("a", "c"): 0.5}
    >>> conditional(["a", "b", "c"], pairs).Q
    array([[1. , 0.5, 0.5],
           [0.5, 1. , 0.5],
           [0.5, 0.5, 1. ]])
    """
    labels = check_size(as_categories(categories), 3, "conditional", USE_WARNER)
    codes, mu = read_weights(weights, labels, "mu")
    for a in codes[sizes(codes) < 2]:
        raise InvalidDesignError(
            f"a subset must have at least two members; got {labels.format(a) or 'the empty set'}, which hides nothing."
        )
    check_cover(codes, mu, labels)
    return Conditional(labels, read_only(codes), read_only(mu))


def check_cover(codes: IntArray, mu: FloatArray, categories: Categories) -> None:
    """Raise unless the weights of the subsets around each category sum to one."""
    totals = incidence(codes, categories.p).spread(mu)
    worst = int(np.abs(totals - 1).argmax())
    if abs(totals[worst] - 1) > WEIGHT_TOLERANCE:
        raise InvalidDesignError(
            "mu must sum to 1 over the subsets that hold a category; "
            f"got {totals[worst]:.6g} for {categories.labels[worst]!r}."
        )


def nonprivate(categories: Iterable[Label]) -> Conditional:
    """Make the design that reports the value itself; for comparison only, it is not subset-private.

    Examples
    --------
    >>> nonprivate(["a", "b"]).is_subset_private
    False
    """
    labels = check_size(as_categories(categories), 2, "nonprivate", None)
    codes = np.int64(1) << np.arange(labels.p, dtype=np.int64)
    return Conditional(labels, read_only(codes), read_only(np.ones(labels.p)), "nonprivate")


def fully_private(categories: Iterable[Label]) -> Conditional:
    """Make the design that always reports the full set; for comparison only, it says nothing about anybody.

    Examples
    --------
    >>> fully_private(["a", "b", "c"]).is_identifiable
    False
    """
    labels = check_size(as_categories(categories), 2, "fully private", None)
    return Conditional(labels, read_only(np.array([labels.full])), read_only(np.ones(1)), "fully_private")
