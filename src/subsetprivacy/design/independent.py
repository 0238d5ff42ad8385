"""Designs given by nu: yes/no questions about sets that are drawn without the value (`ind_design`)."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from math import comb
from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from subsetprivacy._checks import read_only
from subsetprivacy._types import AnyArray, BoolArray, FloatArray, IntArray, Label, RandomSource
from subsetprivacy.design.base import Design
from subsetprivacy.design.described import Formula
from subsetprivacy.design.document_format import CODE, Keys, weighted
from subsetprivacy.design.draws import pick, thresholds
from subsetprivacy.design.exchangeable import ExchangeableDesign
from subsetprivacy.design.require import check_size
from subsetprivacy.design.weights import WEIGHT_TOLERANCE, read_weights
from subsetprivacy.errors import InvalidDesignError
from subsetprivacy.messages.for_designs import DIVIDE_THE_WEIGHTS, SMALL_DESIGNS
from subsetprivacy.subsets import Categories, as_categories, sizes


@frozen(slots=False, eq=False, repr=False)
class Independent(Design):
    """A list of questions with their nu. Use `independent` to make one."""

    questions: IntArray
    nu: FloatArray
    kind: ClassVar[str] = "independent"
    name: ClassVar[str] = "independent"
    keys: ClassVar[Keys] = Keys(
        {"questions": weighted("The sets asked about, each with its probability nu.", CODE)},
        ("questions",),
        categories=(4, 48),
    )
    formula: ClassVar[Formula] = Formula(
        reports="each of the listed `questions` and its complement, except the empty set",
        weight=r"\mu_a = \nu_a + \nu_{a^c}",
        symbols=((r"\nu_a", "the number next to the code $a$ in `questions`; 0 where $a$ is not listed"),),
    )

    @classmethod
    def example(cls) -> "Independent":
        """Return three questions about four categories."""
        return independent(["a", "b", "c", "d"], {("a", "b"): 0.5, ("a", "c"): 0.3, ("a", "d"): 0.2})

    @property
    def description(self) -> str:
        """A question from a list."""
        return (
            "A yes/no question about a random set of categories, drawn from a list with given probabilities. Yes "
            "stores the set, no stores the rest."
        )

    @property
    def list_length(self) -> int:
        """The number of questions."""
        return len(self.questions)

    def listed_questions(self) -> tuple[IntArray, FloatArray]:
        """Return the sets to ask about with their complements, and nu."""
        return np.column_stack([self.questions, self.complement(self.questions)]), self.nu

    @cached_property
    def _support(self) -> tuple[IntArray, FloatArray]:
        answers = np.concatenate([self.questions, self.categories.full - self.questions])
        codes, inverse = np.unique(answers, return_inverse=True)
        mu = np.bincount(inverse, weights=np.concatenate([self.nu, self.nu]))
        real = codes > 0  # no one answers with the empty set
        return read_only(codes[real]), read_only(mu[real])

    def support(self) -> tuple[IntArray, FloatArray]:
        """Return every possible answer and mu_a = nu_a + nu of its complement."""
        return self._support

    @property
    def is_independent(self) -> bool:
        """True."""
        return True

    @cached_property
    def _thresholds(self) -> AnyArray:
        return thresholds(self.nu)

    def draw_questions(self, n: int, source: RandomSource) -> AnyArray:
        """Draw the sets to ask about with probabilities nu."""
        return self.questions[pick(self._thresholds, source.bits(n, 64))]

    def content(self) -> dict[str, Any]:
        """Return the questions' codes with their nu."""
        return {"questions": [[int(a), repr(float(v))] for a, v in zip(self.questions, self.nu, strict=True)]}


def independent(categories: Iterable[Label], weights: Mapping[Any, float]) -> Independent:
    r"""Make a design of yes/no questions from their probabilities :math:`\nu_a` (`ind_design`).

    A set is drawn without the value. The respondent says whether it contains
    their value, and the set or its complement is stored.

    Parameters
    ----------
    categories
        Four to 48 distinct labels. Their order is kept.
    weights
        ``{subset: nu}``, summing to one. A subset is a tuple or frozenset of
        labels, or a code. Subsets of one label or of all but one are refused,
        because one of the two answers would reveal the value.

    Raises
    ------
    InvalidDesignError
        If a subset or the sum of the weights is not allowed.

    Notes
    -----
    :math:`\mu_a = \nu_a + \nu_{a^c}`.

    Examples
    --------
    >>> design = independent(["a", "b", "c", "d"], {("a", "b"): 0.5, ("a", "c"): 0.3, ("a", "d"): 0.2})
    >>> design.S
    2.0
    """
    labels = check_size(as_categories(categories), 4, "independent", SMALL_DESIGNS)
    codes, nu = read_weights(weights, labels, "nu")
    check_questions(codes, nu, labels)
    return Independent(labels, read_only(codes), read_only(nu))


def check_questions(codes: IntArray, nu: FloatArray, categories: Categories) -> None:
    """Raise unless both answers to every question hide the value, and nu sums to one."""
    for a in codes[np.isin(sizes(codes), (1, categories.p - 1))]:
        raise InvalidDesignError(
            f"a question must leave at least two candidates after either answer; got {categories.format(a)!r}, with "
            f"{int(a).bit_count()} of {categories.p} categories."
        )
    if abs(nu.sum() - 1) > WEIGHT_TOLERANCE:
        raise InvalidDesignError(f"nu must sum to 1; got {nu.sum():.6g}.", DIVIDE_THE_WEIGHTS)


@frozen(slots=False, eq=False, repr=False)
class Uniform(ExchangeableDesign):
    """Every admissible question with the same probability. Use `uniform` to make one."""

    kind: ClassVar[str] = "uniform"
    name: ClassVar[str] = "uniform"
    keys: ClassVar[Keys] = Keys(categories=(4, 48))
    formula: ClassVar[Formula] = Formula(
        reports=(
            "every subset with at least two members that leaves out at least two categories, "
            "$2 \\le \\lvert a\\rvert \\le p-2$; so neither a single category, nor all but one, nor the full set"
        ),
        weight=r"\mu_a = \frac{1}{2^{p-1} - p - 1}",
    )

    @classmethod
    def example(cls) -> "Uniform":
        """Return five categories, the fewest where two sizes are possible."""
        return uniform(["a", "b", "c", "d", "e"])

    @property
    def description(self) -> str:
        """A question about any admissible set."""
        return (
            "A yes/no question about a random set of categories. Every set with at least two categories in it and at "
            "least two not in it is equally likely to be asked about. Yes stores the set, no stores the rest."
        )

    @property
    def browser_rule(self) -> dict[str, Any]:
        """Fair bits for all categories, redrawn if the size is not admissible."""
        return {"rule": "uniform"}

    @property
    def closed_form(self) -> float:
        """The ratio r_p = 1/q (`mom`)."""
        return 1 / self.pair_probability

    @cached_property
    def by_size(self) -> dict[int, float]:
        """The sizes 2 … p-2, in proportion to the number of subsets that contain a given category."""
        # nu of the paper is 1 / (2^p - 2p - 2), and mu = nu_a + nu of the complement.
        return {k: comb(self.p - 1, k - 1) / self._questions for k in range(2, self.p - 1)}

    @property
    def _questions(self) -> int:
        return 2 ** (self.p - 1) - self.p - 1

    def _admissible(self, codes: AnyArray) -> BoolArray:
        # Sizes are small unsigned numbers: 0 and 1 wrap around above p - 4.
        return (np.bitwise_count(codes) - np.uint8(2)) <= self.p - 4

    @cached_property
    def pair_probability(self) -> float:
        """The probability 1/r_p that a second category is in the reported subset (`mom`)."""
        return (2 ** (self.p - 2) - self.p + 1) / self._questions

    @cached_property
    def S(self) -> float:
        """2, as for every yes/no question."""
        return 2.0

    @property
    def is_independent(self) -> bool:
        """True."""
        return True

    def draw_questions(self, n: int, source: RandomSource) -> AnyArray:
        """Draw sets by p fair bits, and redraw those whose size is not admissible."""
        width = next(w for w in (8, 16, 32, 64) if w >= self.p)
        full = np.dtype(f"u{width // 8}").type(self.categories.full)
        questions = source.bits(n, width) & full
        rejected = np.flatnonzero(~self._admissible(questions))
        while rejected.size:
            drawn = source.among(rejected).bits(rejected.size, width) & full
            questions[rejected] = drawn
            rejected = rejected[~self._admissible(drawn)]
        return questions

    def content(self) -> dict[str, Any]:
        """Return an empty dict: the categories determine the design."""
        return {}


def uniform(categories: Iterable[Label]) -> Uniform:
    """Make the design that asks about every admissible subset with the same probability.

    Parameters
    ----------
    categories
        Four to 48 distinct labels. Their order is kept.

    Notes
    -----
    The admissible subsets have 2 … p-2 members, each with
    nu = 1/(2^p - 2p - 2). They are listed only on request.

    Examples
    --------
    >>> design = uniform(["black", "red", "green", "blue"])
    >>> round(design.pair_probability, 4)
    0.3333
    """
    return Uniform(check_size(as_categories(categories), 4, "uniform", SMALL_DESIGNS))
