"""What every design can be asked."""

from abc import abstractmethod
from collections.abc import Hashable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from attrs import evolve, frozen

from subsetprivacy._types import AnyArray, BoolArray, Codes, FloatArray, IntArray, Label, RandomSource
from subsetprivacy.design import choose, identify
from subsetprivacy.design.composed import Composed
from subsetprivacy.design.weights import pick, thresholds
from subsetprivacy.errors import InvalidDesignError, NotIdentifiableError, NotIndependentError, TooLargeError
from subsetprivacy.incidence import MAX_MATRIX, Listable, incidence
from subsetprivacy.messages.for_designs import MORE_SUBSETS, VALUE_AT_HAND
from subsetprivacy.subsets import Categories


def require_matrix(p: int) -> None:
    """Raise if a matrix of all pairs of categories would not fit."""
    if p > MAX_MATRIX:
        raise TooLargeError(f"a matrix of all pairs must have at most {MAX_MATRIX} categories; got {p}.")


def solve_alike(a: float, b: float, v: FloatArray) -> FloatArray:
    """Return (aI + b11')^-1 v along the last axis."""
    return (v - b / (a + v.shape[-1] * b) * v.sum(axis=-1, keepdims=True)) / a


@frozen(slots=False, eq=False, repr=False)
class Design(Composed):
    r"""How subsets are drawn: a conditional design :math:`\mu` (`cond_design`).

    ``P(A = a | X = j) = mu_a r_a(j)``, where the row r_a is 1 on the members
    of a and 0 elsewhere. Where something known is mixed in (a bit, dummy
    categories) rows have other entries, and everything below holds as it is.
    """

    categories: Categories
    kind: ClassVar[str]

    # What a kind of design must say -----------------------------------------------------------

    @abstractmethod
    def support(self) -> tuple[IntArray, FloatArray]:
        """Return the codes with positive weight, ascending, and their mu.

        Raises
        ------
        TooLargeError
            If there are too many to list.
        """

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """Return what the JSON document holds besides the categories."""

    # What follows from it ---------------------------------------------------------------------

    @property
    def enumerable(self) -> bool:
        """Whether the support is small enough to be listed."""
        return True

    @property
    def is_subset_private(self) -> bool:
        """Whether every reported subset has at least two members (`subset_privacy`)."""
        return self.smallest_set >= 2

    @cached_property
    def smallest_set(self) -> int:
        """The size of the smallest subset that can be reported."""
        return int(self.sizes(self.support()[0]).min())

    @cached_property
    def support_incidence(self) -> Listable:
        """The rows r_a of the whole support."""
        return self.incidence(self.support()[0])

    @property
    def report_count(self) -> int | None:
        """How many different reports there can be; None where that is not known or too many to count."""
        return len(self.support()[0]) if self.enumerable else None

    @property
    def by_size(self) -> dict[int, float] | None:
        """The probability of each size of a report, where all subsets of a size are alike; else None."""
        return None

    def incidence(self, codes: IntArray) -> Listable:
        """Return the rows r_a of the given codes."""
        return incidence(codes, self.p)

    def mu(self, codes: IntArray) -> FloatArray:
        """Return mu_a for the given codes, 0 outside the support."""
        support, mu = self.support()
        at = np.minimum(np.searchsorted(support, codes), len(support) - 1)
        return np.where(support[at] == codes, mu[at], 0.0)

    def allows(self, codes: IntArray) -> BoolArray:
        """Tell which codes this design can produce; the full set, meaning "missing", always is allowed."""
        return (self.mu(codes) > 0) | (codes == self.missing_code)

    @cached_property
    def Q(self) -> FloatArray:
        """The matrix of pair probabilities, q_ij = sum of mu_a over the a that hold i and j (`gen_mom`)."""
        require_matrix(self.p)
        if self.pair_probability is None:
            Q = self.support_incidence.gram(self.support()[1])
        else:
            Q = np.full((self.p, self.p), self.pair_probability)
            np.fill_diagonal(Q, 1.0)
        Q.setflags(write=False)
        return Q

    def apply_Q(self, w: FloatArray) -> FloatArray:
        """Return Q w along the last axis; no matrix is made where all pairs are alike."""
        q = self.pair_probability
        if q is None:
            return w @ self.Q
        return (1 - q) * w + q * w.sum(axis=-1, keepdims=True)

    def pair_form(self, w: FloatArray, belief: FloatArray) -> float:
        """Return w'Q belief, the average size of a report in the eyes of that belief."""
        return float(self.apply_Q(w) @ belief)

    def solve_informative_Q(self, gamma: FloatArray) -> FloatArray:
        """Return the w with Qw = gamma along the last axis, Q given that the subset says something."""
        q = self.pair_probability
        if q is None or self.mu_full > 0:
            return np.linalg.solve(self.informative_Q, gamma[..., None])[..., 0]
        return solve_alike(1 - q, q, gamma)

    @cached_property
    def informative_Q(self) -> FloatArray:
        """The matrix Q of the design given that the subset says something."""
        return (self.Q - self.mu_full) / (1 - self.mu_full)

    @property
    def pair_probability(self) -> float | None:
        """The probability q that a second category shares the reported subset, where it is the same for all pairs."""
        return None

    @property
    def has_alike_triples(self) -> bool:
        """Whether any three categories share a report with the same probability, as far as the kind tells."""
        return False

    @property
    def closed_form(self) -> float | None:
        """The ratio r_p of the paper's closed form for moments (`mom`), for the designs that it is for; else None."""
        return None

    @cached_property
    def S(self) -> float:
        """The sum over a of the largest P(a | j); log2 S is the maximal leakage. A yes/no question has S = 2."""
        return float(self.support()[1].sum())

    @cached_property
    def mu_full(self) -> float:
        """The probability of the full set, which carries no information."""
        return float(self.mu(np.array([self.missing_code]))[0])

    @property
    def noise(self) -> FloatArray | None:
        """Per category j, the sum of mu_a r_a(j) log2 r_a(j), where rows are not only 0 and 1 (else None)."""
        return None

    # What it is made of -----------------------------------------------------------------------

    @property
    def enlarged(self) -> "Design":
        """The design of what reports are subsets of: the value, or the value next to something known."""
        return self

    @property
    def distribution_key(self) -> Hashable:
        """The same for designs on the same categories that give every report the same probability, where known."""
        return self

    def by_factor(self, codes: IntArray) -> list[tuple["Design", IntArray]]:
        """Return the design of each variable that is drawn by itself, with its codes."""
        return [(self, codes)]

    def with_categories(self, categories: Categories) -> "Design":
        """Return the same design on as many other categories."""
        return evolve(self, categories=categories)

    def planned(self) -> "Design":
        """Return the design before any data: without the numbers that a release fixes."""
        return self

    def people_in(self, rows: float) -> int:
        """Return how many people are behind this many rows that say something."""
        return round(rows / (1 - self.mu_full))

    # What an attacker can make of it ----------------------------------------------------------

    def alike(self, w: FloatArray, belief: FloatArray) -> float:
        """Return the share of people whose value is that of a random person: the size if the value were reported."""
        return float(self.enlarge(w) @ self.enlarge(belief))

    def enlarge(self, w: FloatArray) -> FloatArray:
        """Return the distribution of what a report is a subset of, along the last axis: that of the value itself."""
        return w

    def guess_weights(self, belief: FloatArray) -> FloatArray:
        """Return, per category j, the sum of mu_a r_a(j) over the subsets in which j is the best guess."""
        codes, mu = self.support()
        guess = self.best_guess(codes, belief)
        weights = mu if self.noise is None else mu * self._matrix(codes)[np.arange(len(codes)), guess]
        return np.bincount(guess, weights, minlength=self.p).astype(np.float64)

    def _matrix(self, codes: IntArray) -> FloatArray:
        """Return the rows r_a as a matrix, where they are not only 0 and 1."""
        return self.incidence(codes).inner(np.eye(self.p)).T

    def best_guess(self, codes: IntArray, belief: FloatArray) -> IntArray:
        """Return for each code the position of its most likely member, the first of them in a tie."""
        if self.noise is not None:
            return (self._matrix(codes) * belief).argmax(axis=1)
        guess = np.full(len(codes), -1, np.int64)
        left = np.arange(len(codes))
        for j in np.argsort(-belief, kind="stable"):
            inside = self.holds(codes[left], j)
            guess[left[inside]] = j
            left = left[~inside]
            if not left.size:
                break
        return guess

    def largest_posterior(self, belief: FloatArray) -> float:
        """Return the largest probability that any reportable subset leaves to one value."""
        size = self.support_incidence.inner(belief)
        possible = size > 0
        return float((self.support_incidence.peak(belief)[possible] / size[possible]).max())

    def least_size(self, w: FloatArray) -> float:
        """Return the smallest probability L(a) = r_a'w of a reportable subset."""
        return float(self.support_incidence.inner(w).min())

    @property
    def exposed(self) -> "Design":
        """The design that somebody sees who knows that a report is a real person's."""
        return self

    @cached_property
    def epsilon(self) -> float:
        """That of local differential privacy: infinite where values are ruled out, 0 if nothing is ever reported."""
        return 0.0 if self.smallest_set == self.p else float("inf")

    @property
    def rules_out(self) -> bool:
        """Whether some report rules a value out."""
        return self.epsilon == float("inf")

    @property
    def reveals_silently(self) -> bool:
        """Whether a report can be a single value though nobody had to allow that when the design was made."""
        return not self.is_subset_private

    def most_telling(self, w: FloatArray) -> tuple[int, int]:
        """Return the report that leaves the largest probability to one value, and the position of that value."""
        codes, rows = self.support()[0], self.support_incidence
        size = rows.inner(w)
        posterior = np.divide(rows.peak(w), size, out=np.zeros(len(codes)), where=size > 0)
        code = codes[int(posterior.argmax())]
        return int(code), int(self.best_guess(np.array([code]), w)[0])

    def reports_within(self, codes: IntArray) -> bool:
        """Tell whether a report can lie within one of the given subsets, up to 48 categories."""
        support = self.support()[0]
        return any(bool(((support & ~code) == 0).any()) for code in np.asarray(codes, np.int64))

    def pooled(self, other: "Design") -> "Design | None":
        """Return the design of this one's data and another's together, if that is a design of the same kind."""
        return self if self == other else None

    # Identifiability --------------------------------------------------------------------------

    @cached_property
    def _null(self) -> AnyArray | None:
        return identify.null_direction(self.support_incidence)

    @property
    def is_identifiable(self) -> bool:
        """Whether different distributions always give different laws of subsets (`pd`, `thm_identi`)."""
        return self._null is None

    def null_direction(self) -> dict[Label, float] | None:
        """Return a change of w, in category names, that no subset can see; None if identifiable."""
        return None if self._null is None else identify.as_named(self._null, self.categories)

    def require_identifiable(self) -> "Design":
        """Return self, or raise if the design is not identifiable.

        Raises
        ------
        NotIdentifiableError
            With a direction in which the data say nothing.
        """
        if self._null is not None:
            raise NotIdentifiableError(
                f"the design must be identifiable; got one where "
                f"{identify.describe_direction(self._null, self.categories)}.",
                MORE_SUBSETS,
            )
        return self

    # Questions --------------------------------------------------------------------------------

    @property
    def is_independent(self) -> bool:
        """Whether a yes/no question drawn without the value realises the design (`ind_design`)."""
        return False

    @property
    def options(self) -> int | None:
        """How many answers a question has: 2 for yes/no; None where no question can be asked without the value."""
        return 2 if self.is_independent else None

    def draw_options(self, n: int, source: RandomSource) -> IntArray:
        """Draw n questions, a row with the code of each answer: yes and no, or one for each group."""
        asked = self.draw_questions(n, source).astype(np.int64)
        return np.column_stack([asked, self.complement(asked)])

    def asks(self, options: IntArray) -> BoolArray:
        """Tell which rows of codes are the answers to a question of this design."""
        # The empty set is an answer that nobody gives, to a question about everything.
        known = (self.mu(options.ravel()) > 0) | ((options.ravel() == 0) & (self.mu_full > 0))
        return known.reshape(options.shape).all(axis=1)

    def question_law(self) -> tuple[IntArray, FloatArray] | None:
        """Return every question and its probability; None where no question is asked, or questions are not listed.

        A question is a row with the codes of its answers, in ascending order.

        Raises
        ------
        TooLargeError
            If there are too many to list.
        """
        if not self.is_independent:
            return None
        codes, mu = self.support()
        smaller, first = np.unique(np.minimum(codes, self.complement(codes)), return_index=True)
        return np.column_stack([smaller, self.complement(smaller)]), mu[first]

    def complement(self, codes: Codes) -> Codes:
        """Return the code of "no" for each code of "yes"."""
        return self.missing_code - codes

    def strata(self, codes: IntArray) -> IntArray | None:
        """Return a number for the question each code answers, or None where the code does not tell it."""
        return np.minimum(codes, self.complement(codes)) if self.is_independent else None

    def answers_to(self, codes: IntArray) -> IntArray:
        """Return for each code all answers to the question that it answers, a row each."""
        return np.column_stack([codes, self.complement(codes)])

    @property
    def can_be_asked(self) -> bool:
        """Whether some question realizes it; with three categories the respondent draws the subset."""
        if self.p == 3 or self.options is not None:
            return True
        try:
            self.as_independent()
        except (InvalidDesignError, NotIndependentError):
            return False
        return True

    def as_independent(self) -> "Design":
        """Return the same law as an independent design (nu from mu).

        Raises
        ------
        NotIndependentError
            If there is none, with the reason.
        """
        if self.is_independent:
            return self
        raise NotIndependentError(f"a {self.kind} design must be symmetric to be asked as yes/no questions.")

    def draw_questions(self, n: int, source: RandomSource) -> AnyArray:
        """Draw the sets asked about, without any value."""
        raise NotIndependentError(
            f"the design must be independent to be asked as yes/no questions; got a {self.kind} design.",
            VALUE_AT_HAND,
        )

    # Reports of nobody ------------------------------------------------------------------------

    def draw_any(self, n: int, source: RandomSource) -> IntArray:
        """Draw n reports of nobody, each with probability mu_a / S: what dummy rows are made of."""
        if self.is_independent and self.mu_full == 0:
            asked = self.draw_questions(n, source).astype(np.int64)
            return np.where(choose.below(n, 2, source) == 1, asked, self.complement(asked))
        return self.support()[0][pick(self._any_thresholds, source.bits(n, 64))]

    @cached_property
    def _any_thresholds(self) -> AnyArray:
        return thresholds(self.support()[1])
