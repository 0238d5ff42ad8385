"""`Design`, the base class of all designs."""

from abc import abstractmethod
from collections.abc import Hashable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from attrs import evolve, frozen

from subsetprivacy._types import AnyArray, BoolArray, Codes, FloatArray, IntArray, Label, RandomSource
from subsetprivacy.design import draws, identify
from subsetprivacy.design.composed import Composed
from subsetprivacy.design.draws import pick, thresholds
from subsetprivacy.errors import InvalidDesignError, NotIdentifiableError, NotIndependentError, TooLargeError
from subsetprivacy.incidence import MAX_MATRIX, Listable, incidence
from subsetprivacy.messages.for_designs import MORE_SUBSETS, VALUE_AT_HAND
from subsetprivacy.subsets import Categories


def require_matrix(p: int) -> None:
    """Raise if a matrix of all pairs of categories would be too large."""
    if p > MAX_MATRIX:
        raise TooLargeError(f"a matrix of all pairs must have at most {MAX_MATRIX} categories; got {p}.")


def solve_alike(a: float, b: float, v: FloatArray) -> FloatArray:
    """Return (aI + b11')^-1 v along the last axis."""
    return (v - b / (a + v.shape[-1] * b) * v.sum(axis=-1, keepdims=True)) / a


@frozen(slots=False, eq=False, repr=False)
class Design(Composed):
    r"""A rule for drawing subsets: a conditional design :math:`\mu` (`cond_design`).

    ``P(A = a | X = j) = mu_a r_a(j)``, where the row r_a is 1 on the members
    of a and 0 elsewhere. If the design adds something known (a bit, dummy
    categories), rows have other entries. All properties hold in that case too.
    """

    categories: Categories
    kind: ClassVar[str]

    # What each kind of design implements -------------------------------------------------------

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
        """Return the content of the JSON document apart from the categories."""

    # What follows from it ---------------------------------------------------------------------

    @property
    def enumerable(self) -> bool:
        """Whether the support is small enough to list."""
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
        """The number of possible reports; None if it is not known or too large to count."""
        return len(self.support()[0]) if self.enumerable else None

    @property
    def by_size(self) -> dict[int, float] | None:
        """The probability of each size of a report, if all subsets of a size are equally likely; else None."""
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
        """Tell which codes this design can produce. The full set, which means "missing", is always allowed."""
        return (self.mu(codes) > 0) | (codes == self.missing_code)

    @cached_property
    def Q(self) -> FloatArray:
        """The matrix of pair probabilities: q_ij is the sum of mu_a over subsets that contain i and j (`gen_mom`)."""
        require_matrix(self.p)
        if self.pair_probability is None:
            Q = self.support_incidence.gram(self.support()[1])
        else:
            Q = np.full((self.p, self.p), self.pair_probability)
            np.fill_diagonal(Q, 1.0)
        Q.setflags(write=False)
        return Q

    def apply_Q(self, w: FloatArray) -> FloatArray:
        """Return Q w along the last axis, without the matrix if all pairs have the same probability."""
        q = self.pair_probability
        if q is None:
            return w @ self.Q
        return (1 - q) * w + q * w.sum(axis=-1, keepdims=True)

    def pair_form(self, w: FloatArray, belief: FloatArray) -> float:
        """Return w'Q belief, the average size of a report as an attacker with that belief sees it."""
        return float(self.apply_Q(w) @ belief)

    def solve_informative_Q(self, gamma: FloatArray) -> FloatArray:
        """Return the w with Qw = gamma along the last axis, where Q is conditional on an informative subset."""
        q = self.pair_probability
        if q is None or self.mu_full > 0:
            return np.linalg.solve(self.informative_Q, gamma[..., None])[..., 0]
        return solve_alike(1 - q, q, gamma)

    @cached_property
    def informative_Q(self) -> FloatArray:
        """The matrix Q of the design, given that the subset is not the full set."""
        return (self.Q - self.mu_full) / (1 - self.mu_full)

    @property
    def pair_probability(self) -> float | None:
        """The probability q that a second category is in the reported subset, if it is the same for all pairs."""
        return None

    @property
    def has_alike_triples(self) -> bool:
        """Whether all triples of categories share a report with the same probability, if the kind implies it."""
        return False

    @property
    def closed_form(self) -> float | None:
        """The ratio r_p of the paper's closed form for moments (`mom`), where that form applies; else None."""
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
        """For each category j, the sum of mu_a r_a(j) log2 r_a(j), if rows are not only 0 and 1; else None."""
        return None

    # What it is made of -----------------------------------------------------------------------

    @property
    def enlarged(self) -> "Design":
        """The design of the variable whose subsets are reported: the value, or the value with something known."""
        return self

    @property
    def distribution_key(self) -> Hashable:
        """A key that is equal for designs on the same categories with the same distribution of reports, if known."""
        return self

    def by_factor(self, codes: IntArray) -> list[tuple["Design", IntArray]]:
        """Return the design of each variable that is drawn separately, with its codes."""
        return [(self, codes)]

    def with_categories(self, categories: Categories) -> "Design":
        """Return the same design with other category labels."""
        return evolve(self, categories=categories)

    def planned(self) -> "Design":
        """Return the design before any data, without the numbers that belong to a release."""
        return self

    def people_in(self, rows: float) -> int:
        """Return how many people this many informative rows stand for."""
        return round(rows / (1 - self.mu_full))

    # What an attacker can infer ---------------------------------------------------------------

    def alike(self, w: FloatArray, belief: FloatArray) -> float:
        """Return the probability that two people share a value: the average size if the value itself were reported."""
        return float(self.enlarge(w) @ self.enlarge(belief))

    def enlarge(self, w: FloatArray) -> FloatArray:
        """Return the distribution of the variable whose subsets are reported, along the last axis."""
        return w

    def guess_weights(self, belief: FloatArray) -> FloatArray:
        """Return, for each category j, the sum of mu_a r_a(j) over the subsets in which j is the best guess."""
        codes, mu = self.support()
        guess = self.best_guess(codes, belief)
        weights = mu if self.noise is None else mu * self._matrix(codes)[np.arange(len(codes)), guess]
        return np.bincount(guess, weights, minlength=self.p).astype(np.float64)

    def _matrix(self, codes: IntArray) -> FloatArray:
        """Return the rows r_a as a matrix, if they are not only 0 and 1."""
        return self.incidence(codes).inner(np.eye(self.p)).T

    def best_guess(self, codes: IntArray, belief: FloatArray) -> IntArray:
        """Return the position of the most likely member of each code, the first one in a tie."""
        if self.noise is not None:
            return (self._matrix(codes) * belief).argmax(axis=1)
        guess = np.full(len(codes), -1, np.int64)
        left = np.arange(len(codes))
        for j in np.argsort(-belief, kind="stable"):
            inside = self.contains(codes[left], j)
            guess[left[inside]] = j
            left = left[~inside]
            if not left.size:
                break
        return guess

    def largest_posterior(self, belief: FloatArray) -> float:
        """Return the largest probability of a single value, over all subsets that can be reported."""
        size = self.support_incidence.inner(belief)
        possible = size > 0
        return float((self.support_incidence.peak(belief)[possible] / size[possible]).max())

    def least_size(self, w: FloatArray) -> float:
        """Return the smallest probability L(a) = r_a'w of a reportable subset."""
        return float(self.support_incidence.inner(w).min())

    @property
    def exposed(self) -> "Design":
        """The design as seen by someone who knows that a report comes from a real person."""
        return self

    @cached_property
    def epsilon(self) -> float:
        """The epsilon of local differential privacy: infinite if reports rule out values, 0 if they say nothing."""
        return 0.0 if self.smallest_set == self.p else float("inf")

    @property
    def rules_out(self) -> bool:
        """Whether a report can rule out a value."""
        return self.epsilon == float("inf")

    @property
    def reveals_silently(self) -> bool:
        """Whether a report can be a single value although `reveals=True` was not required to make the design."""
        return not self.is_subset_private

    def most_telling(self, w: FloatArray) -> tuple[int, int]:
        """Return the report after which a single value is most likely, and the position of that value."""
        codes, rows = self.support()[0], self.support_incidence
        size = rows.inner(w)
        posterior = np.divide(rows.peak(w), size, out=np.zeros(len(codes)), where=size > 0)
        code = codes[int(posterior.argmax())]
        return int(code), int(self.best_guess(np.array([code]), w)[0])

    def reports_within(self, codes: IntArray) -> bool:
        """Tell whether a report can be contained in one of the given subsets, for up to 48 categories."""
        support = self.support()[0]
        return any(bool(((support & ~code) == 0).any()) for code in np.asarray(codes, np.int64))

    def pooled(self, other: "Design") -> "Design | None":
        """Return the design of the combined data of two designs, if it is of the same kind; else None."""
        return self if self == other else None

    # Identifiability --------------------------------------------------------------------------

    @cached_property
    def _null(self) -> AnyArray | None:
        return identify.null_direction(self.support_incidence)

    @property
    def is_identifiable(self) -> bool:
        """Whether different distributions of the value give different distributions of subsets (`pd`, `thm_identi`)."""
        return self._null is None

    def null_direction(self) -> dict[Label, float] | None:
        """Return a change of w, by category, that changes no subset's probability; None if identifiable."""
        return None if self._null is None else identify.as_named(self._null, self.categories)

    def require_identifiable(self) -> "Design":
        """Return self, or raise if the design is not identifiable.

        Raises
        ------
        NotIdentifiableError
            If it is not. The message names a change of the distribution that the data cannot detect.
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
        """Whether yes/no questions drawn without the value realize the design (`ind_design`)."""
        return False

    @property
    def options(self) -> int | None:
        """The number of answers to a question: 2 for yes/no; None if no question can be asked without the value."""
        return 2 if self.is_independent else None

    def draw_options(self, n: int, source: RandomSource) -> IntArray:
        """Draw n questions. Each row has the code of each answer: yes and no, or one per group."""
        asked = self.draw_questions(n, source).astype(np.int64)
        return np.column_stack([asked, self.complement(asked)])

    def asks(self, options: IntArray) -> BoolArray:
        """Tell which rows of codes are the answers to a question of this design."""
        # The empty set is an answer that no one gives, to a question about all categories.
        known = (self.mu(options.ravel()) > 0) | ((options.ravel() == 0) & (self.mu_full > 0))
        return known.reshape(options.shape).all(axis=1)

    def question_distribution(self) -> tuple[IntArray, FloatArray] | None:
        """Return every question and its probability; None if the design has no questions or does not list them.

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
        """Return a number for the question that each code answers, or None if the code does not determine it."""
        return np.minimum(codes, self.complement(codes)) if self.is_independent else None

    def answers_to(self, codes: IntArray) -> IntArray:
        """Return a row per code with all answers to the question that it answers."""
        return np.column_stack([codes, self.complement(codes)])

    @property
    def can_be_asked(self) -> bool:
        """Whether some question realizes the design. With three categories the respondent draws the subset."""
        if self.p == 3 or self.options is not None:
            return True
        try:
            self.as_independent()
        except (InvalidDesignError, NotIndependentError):
            return False
        return True

    def as_independent(self) -> "Design":
        """Return the independent design with the same distribution (nu from mu).

        Raises
        ------
        NotIndependentError
            If none exists. The message says why.
        """
        if self.is_independent:
            return self
        raise NotIndependentError(f"a {self.kind} design must be symmetric to be asked as yes/no questions.")

    def draw_questions(self, n: int, source: RandomSource) -> AnyArray:
        """Draw the sets to ask about, without any value."""
        raise NotIndependentError(
            f"the design must be independent to be asked as yes/no questions; got a {self.kind} design.",
            VALUE_AT_HAND,
        )

    # Dummy reports ----------------------------------------------------------------------------

    def draw_any(self, n: int, source: RandomSource) -> IntArray:
        """Draw n reports that belong to no one, each with probability mu_a / S. Dummy rows use them."""
        if self.is_independent and self.mu_full == 0:
            asked = self.draw_questions(n, source).astype(np.int64)
            return np.where(draws.below(n, 2, source) == 1, asked, self.complement(asked))
        return self.support()[0][pick(self._any_thresholds, source.bits(n, 64))]

    @cached_property
    def _any_thresholds(self) -> AnyArray:
        return thresholds(self.support()[1])
