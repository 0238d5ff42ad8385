"""Designs given by mu: the report depends on the value only through membership (`cond_design`)."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from subsetprivacy._checks import read_only
from subsetprivacy._types import FloatArray, IntArray, Label
from subsetprivacy.design.base import Design
from subsetprivacy.design.described import Formula
from subsetprivacy.design.document_format import CODE, PAIR_OR_MORE, Keys, weighted
from subsetprivacy.design.require import check_size
from subsetprivacy.design.weights import WEIGHT_TOLERANCE, read_weights
from subsetprivacy.errors import InvalidDesignError, NotIndependentError
from subsetprivacy.incidence import incidence
from subsetprivacy.messages.for_designs import USE_WARNER
from subsetprivacy.subsets import Categories, as_categories, sizes


@frozen(slots=False, eq=False, repr=False)
class Conditional(Design):
    """A list of subsets with their mu. Use `conditional` to make one."""

    codes: IntArray
    weights: FloatArray
    kind: ClassVar[str] = "conditional"
    name: ClassVar[str] = "conditional"
    keys: ClassVar[Keys] = Keys(
        {"subsets": weighted("The reported sets, each with its mu.", PAIR_OR_MORE)}, ("subsets",), categories=(3, 48)
    )
    formula: ClassVar[Formula] = Formula(
        reports="the listed `subsets`",
        weight=r"\mu_a \text{ as listed}",
        symbols=((r"\mu_a", "the number next to the code $a$ in `subsets`"),),
    )

    @classmethod
    def example(cls) -> "Conditional":
        """Return pairs and triples of four categories."""
        weights = {"ab": 0.3, "cd": 0.2, "abc": 0.2, "abd": 0.2, "acd": 0.3, "bcd": 0.3}
        return conditional(["a", "b", "c", "d"], {tuple(subset): mu for subset, mu in weights.items()})

    @property
    def description(self) -> str:
        """A set from a list that contains the value."""
        return (
            "A set that contains the value, drawn from a list of sets with given weights. The draw needs the value, "
            "so it is made where the value is."
        )

    @property
    def list_length(self) -> int:
        """The number of subsets."""
        return len(self.codes)

    @property
    def browser_rule(self) -> dict[str, Any]:
        """The device draws among the listed subsets that contain the answer."""
        return {"rule": "given", "subsets": self.codes, "weights": self.weights}

    def support(self) -> tuple[IntArray, FloatArray]:
        """Return the codes with positive weight and their mu."""
        return self.codes, self.weights

    def content(self) -> dict[str, Any]:
        """Return the subsets' codes with their mu."""
        return {"subsets": [[int(a), repr(float(m))] for a, m in zip(self.codes, self.weights, strict=True)]}

    def as_independent(self) -> Design:
        """Return the independent design with nu_a = mu_a / 2, if every subset and its complement have the same mu."""
        from subsetprivacy.design.independent import Independent, check_questions

        if self.p < 4:
            raise NotIndependentError(f"an independent design must have at least 4 categories; got {self.p}.")
        full = self.categories.full
        proper = self.codes != full
        codes, mu = self.codes[proper], self.weights[proper]
        # A relative difference: a tiny weight without a counterpart is an error too.
        lopsided = np.flatnonzero(np.abs(self.mu(full - codes) - mu) > WEIGHT_TOLERANCE * mu)
        if lopsided.size:
            a = int(codes[lopsided[0]])
            raise NotIndependentError(
                "an independent design must give a subset and its complement the same mu; got "
                f"{self.mu(np.array([a]))[0]:.6g} for {self.categories.format(a)} and "
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
        Three to 48 distinct labels. Their order is kept.
    weights
        ``{subset: mu}``. A subset is a tuple or frozenset of labels, or a code.

    Raises
    ------
    InvalidDesignError
        If a subset has fewer than two members, a weight is negative or not
        finite, or the weights of the subsets that contain some category do
        not sum to one.

    Notes
    -----
    :math:`P(A=a \mid X=j) = \mu_a 1\{j\in a\}` with
    :math:`\sum_{a \ni j}\mu_a = 1` for every j. Drawing needs the value, so
    this is a design for publishers.

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
            f"a subset must have at least two members; got {repr(labels.format(a)) if a else 'the empty set'}, which "
            "hides nothing."
        )
    check_cover(codes, mu, labels)
    return Conditional(labels, read_only(codes), read_only(mu))


def check_cover(codes: IntArray, mu: FloatArray, categories: Categories) -> None:
    """Raise unless the weights of the subsets that contain each category sum to one."""
    totals = incidence(codes, categories.p).spread(mu)
    worst = int(np.abs(totals - 1).argmax())
    if abs(totals[worst] - 1) > WEIGHT_TOLERANCE:
        raise InvalidDesignError(
            f"mu must sum to 1 over the subsets that contain a category; got {totals[worst]:.6g} for "
            f"{categories.labels[worst]!r}."
        )


_NOT_NEEDED = Keys({"subsets": weighted("Written, but not needed for reading.", CODE)}, categories=(2, 48))


class NonPrivate(Conditional):
    """The design that reports the value itself. Use `nonprivate` to make one."""

    kind: ClassVar[str] = "nonprivate"
    name: ClassVar[str] = "not private"
    keys: ClassVar[Keys] = _NOT_NEEDED
    formula: ClassVar[Formula] = Formula(reports="the single categories, $\\lvert a\\rvert = 1$", weight=r"\mu_a = 1")

    @classmethod
    def example(cls) -> "NonPrivate":
        """Return three categories."""
        return nonprivate(["a", "b", "c"])

    @property
    def description(self) -> str:
        """Nothing is protected."""
        return "The value itself is stored. This protects no one."

    @property
    def can_be_asked(self) -> bool:
        """True: the value can be asked for."""
        return True


class FullyPrivate(Conditional):
    """The design that always reports the full set. Use `fully_private` to make one."""

    kind: ClassVar[str] = "fully_private"
    name: ClassVar[str] = "fully private"
    keys: ClassVar[Keys] = _NOT_NEEDED
    formula: ClassVar[Formula] = Formula(reports="the full set, $\\lvert a\\rvert = p$", weight=r"\mu_a = 1")

    @classmethod
    def example(cls) -> "FullyPrivate":
        """Return three categories."""
        return fully_private(["a", "b", "c"])

    @property
    def description(self) -> str:
        """Nothing is reported."""
        return "Only the fact that there was an answer is stored. Nothing can be estimated."


def nonprivate(categories: Iterable[Label]) -> NonPrivate:
    """Make the design that reports the value itself, for comparisons and for columns that are not private.

    Parameters
    ----------
    categories
        Two to 48 distinct labels. Their order is kept.

    Examples
    --------
    >>> nonprivate(["a", "b"]).is_subset_private
    False
    """
    labels = check_size(as_categories(categories), 2, "nonprivate", None)
    codes = np.int64(1) << np.arange(labels.p, dtype=np.int64)
    return NonPrivate(labels, read_only(codes), read_only(np.ones(labels.p)))


def fully_private(categories: Iterable[Label]) -> FullyPrivate:
    """Make the design that always reports the full set, for comparisons. Its reports carry no information.

    Parameters
    ----------
    categories
        Two to 48 distinct labels. Their order is kept.

    Examples
    --------
    >>> fully_private(["a", "b", "c"]).is_identifiable
    False
    """
    labels = check_size(as_categories(categories), 2, "fully private", None)
    return FullyPrivate(labels, read_only(np.array([labels.full])), read_only(np.ones(1)))
