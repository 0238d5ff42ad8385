"""Designs with something known mixed in: a bit of known law beside the value (`subsec_p23`)."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from subsetprivacy._checks import read_only
from subsetprivacy._types import AnyArray, BoolArray, Codes, FloatArray, IntArray, Label, RandomSource
from subsetprivacy.design.base import Design
from subsetprivacy.design.conditional import Conditional
from subsetprivacy.design.described import Formula
from subsetprivacy.design.independent import uniform
from subsetprivacy.design.keys import Keys, fraction
from subsetprivacy.errors import InvalidDesignError
from subsetprivacy.incidence import Listable, Mapped
from subsetprivacy.messages.for_designs import MORE_THAN_TWO, SAFE_Q, TRY_A_QUARTER
from subsetprivacy.subsets import Categories, as_categories
from subsetprivacy.variables import JointCategories

# The bits of a mask of pairs: (first, 0), (first, 1), (second, 0), (second, 1).
EQUAL = 0b1001
MOST_ODDS = 20.0
_BETWEEN_0_AND_1 = r"^(0\.[0-9]*[1-9][0-9]*|[1-9](\.[0-9]+)?[eE]-[0-9]+)$"


@frozen(slots=False, eq=False, repr=False)
class EnlargedDesign(Design):
    """A design on an enlarged variable Y, whose law given the value is known.

    The subset is one of values of Y. Column j of `lift` is the law of Y
    given X = j, so the rows are r_a = lift' 1_a, and the distribution of X is all
    that is estimated: what is known is held.
    """

    inner: Design
    lift: FloatArray

    def support(self) -> tuple[IntArray, FloatArray]:
        """Return the subsets of the enlarged variable and their mu."""
        return self.inner.support()

    def incidence(self, codes: IntArray) -> Listable:
        """Return the rows r_a = lift' 1_a."""
        return Mapped(self.inner.incidence(codes), self.lift)

    @cached_property
    def _rows(self) -> FloatArray:
        return self.support_incidence.inner(np.eye(self.p)).T

    # Codes: those of the enlarged variable ----------------------------------------------------

    @property
    def missing_code(self) -> int:
        """The code of the full set of the enlarged variable."""
        return self.inner.missing_code

    @property
    def code_bits(self) -> int:
        """The codes are below 2 to this power."""
        return self.inner.code_bits

    @property
    def code_space(self) -> str:
        """Masks of the enlarged variable: only the same design's counts can be added."""
        return f"{self.kind} {self._tag}"

    def holds(self, codes: Any, x: Any) -> BoolArray:
        """Tell for each code whether the value at position x is possible."""
        possible = [self.inner.holds(codes, np.int64(y)) & (self.lift[y] > 0)[x] for y in range(self.inner.p)]
        return np.logical_or.reduce(possible)

    def sizes(self, codes: IntArray) -> IntArray:
        """Return how many values each code leaves possible."""
        return self.holds(codes[..., None], np.arange(self.p)).sum(axis=-1)

    def members(self, code: int) -> tuple[Label, ...]:
        """Return the members of the subset of the enlarged variable."""
        return self.inner.members(code)

    def format(self, code: int) -> str:
        """Return the subset of the enlarged variable as text."""
        return self.inner.format(code)

    def complement(self, codes: Codes) -> Codes:
        """Return the code of "no" for each code of "yes"."""
        return self.inner.complement(codes)

    # Law, at the level of the value -----------------------------------------------------------

    @cached_property
    def S(self) -> float:
        """The sum over a of the largest P(a | j)."""
        return float(self.support()[1] @ self._rows.max(axis=1))

    @cached_property
    def noise(self) -> FloatArray:
        """Per category j, the sum of mu_a r_a(j) log2 r_a(j)."""
        r = self._rows
        return self.support()[1] @ np.where(r > 0, r * np.log2(np.where(r > 0, r, 1.0)), 0.0)

    @cached_property
    def epsilon(self) -> float:
        """The largest log ratio of P(a | j) over two values, of local differential privacy; infinite where one is 0."""
        r = self._rows
        return float(np.log(r.max(axis=1) / r.min(axis=1)).max()) if r.min() > 0 else float("inf")

    @property
    def enlarged(self) -> Design:
        """The design of the enlarged variable."""
        return self.inner

    @property
    def reveals_silently(self) -> bool:
        """False: whoever made one that can reveal the value has said `reveals=True`."""
        return False

    def enlarge(self, w: FloatArray) -> FloatArray:
        """Return the distribution of the enlarged variable, along the last axis."""
        return w @ self.lift.T

    # Questions --------------------------------------------------------------------------------

    @property
    def is_independent(self) -> bool:
        """Whether yes/no questions about the enlarged variable realise it."""
        return self.inner.is_independent

    def draw_questions(self, n: int, source: RandomSource) -> AnyArray:
        """Draw the sets asked about, subsets of the enlarged variable."""
        return self.inner.draw_questions(n, source)


@frozen(slots=False, eq=False, repr=False)
class ArtificialBit(EnlargedDesign):
    """The value beside a bit that is 1 with a known probability; make one with `warner` or `small`."""

    q: float
    kind: ClassVar[str] = "artificial_bit"
    name: ClassVar[str] = "randomized response"
    keys: ClassVar[Keys] = Keys(
        {
            "q": fraction("The probability that the secret bit is 1.", _BETWEEN_0_AND_1, 1),
            "asked": {
                "description": "Warner's question, or uniform questions about value and bit.",
                "enum": ["equal", "uniform"],
            },
        },
        ("q", "asked"),
        categories=(2, 24),
        document={
            "if": {"properties": {"asked": {"const": "equal"}}, "required": ["asked"]},
            "then": {"properties": {"categories": {"minItems": 2, "maxItems": 2}}},
        },
    )
    formula: ClassVar[Formula] = Formula(
        reports=(
            "sets of pairs of a category and a bit. The pair of category $j$ and bit $b$ has the number $2j + b$. "
            'If `asked` is `"equal"`: the two sets $\\{0, 3\\}$ (the numbers are the same, code 9) and $\\{1, 2\\}$ '
            '(they differ, code 6). If `asked` is `"uniform"`: all sets of pairs with '
            "$2 \\le \\lvert a\\rvert \\le 2p-2$"
        ),
        weight=(
            r"\mu_a = 1 \text{ if asked is “equal”}, \quad "
            r"\mu_a = \frac{1}{2^{2p-1} - 2p - 1} \text{ if asked is “uniform”}"
        ),
        probability=r"P(a \mid j) = \mu_a \bigl( (1-q)\, 1\{2j \in a\} + q\, 1\{2j+1 \in a\} \bigr)",
        codes="The bit mask over the $2p$ pairs: bit $2j + b$ stands for the pair of category $j$ and bit $b$.",
        missing="$2^{2p} - 1$, the full set of pairs",
        width="2p",
        symbols=(("q", "the document's `q`, the probability that the bit is 1"),),
    )

    @classmethod
    def example(cls) -> "ArtificialBit":
        """Return Warner's question."""
        return warner(["no", "yes"], 0.25)

    @property
    def description(self) -> str:
        """A question about the answer and a secret number."""
        return (
            f"The respondent secretly draws a number, 1 with probability {self.q:g} and else 0, and the question is "
            "about the answer and the number together. Only the pairs that are possible after it are stored."
        )

    @property
    def label(self) -> str:
        """Warner's question by its q; else the kind."""
        return f"warner, q = {self.q:g}" if self.equal_only else self.kind

    @property
    def drawing_note(self) -> str:
        """The respondent's bit."""
        return "the respondent draws the bit, which is never shown or sent"

    @property
    def answer_words(self) -> tuple[str, str]:
        """The same or different, where only equality is asked."""
        return ("same", "different") if self.equal_only else super().answer_words

    def question_text(self, options: tuple[int, ...]) -> str:
        """Return a question about the answer and the bit together."""
        bit = f"Secretly draw a number: 1 with probability {self.q:g}, else 0. Tell nobody."
        if not self.equal_only:
            members: Any = self.members(options[0])
            pairs = "; ".join(f"{label} with a {number}" for label, number in members)
            return f"{bit} Are your answer and the number one of these: {pairs}?"
        first, second = self.categories.labels
        return (
            f"{bit} Your answer has a number too: 0 for {first}, 1 for {second}. Are the two numbers the same or "
            "different?"
        )

    def report_text(self, code: int) -> str:
        """Return what was answered, where only equality is asked."""
        if not self.equal_only:
            return super().report_text(code)
        return "the numbers are the same" if code == EQUAL else "the numbers are not the same"

    @property
    def browser_rule(self) -> dict[str, Any] | None:
        """A bit for Warner's question; uniform questions about both could reveal the value."""
        return {"rule": "bit", "q": self.q} if self.equal_only else None

    @property
    def equal_only(self) -> bool:
        """Whether the one question is: are the two equal? Warner's question in subset form."""
        return isinstance(self.inner, Conditional)

    @property
    def is_independent(self) -> bool:
        """True: both kinds of question are asked without the value."""
        return True

    @property
    def options(self) -> int:
        """2, yes and no."""
        return 2

    def strata(self, codes: IntArray) -> IntArray:
        """Return the question each code answers."""
        return np.minimum(codes, self.complement(codes))

    def draw_questions(self, n: int, source: RandomSource) -> AnyArray:
        """Draw the sets asked about: always the pairs that are equal where only equality is asked."""
        if self.equal_only:
            return np.full(n, EQUAL)
        return self.inner.draw_questions(n, source)

    def content(self) -> dict[str, Any]:
        """Return the bit's probability and what is asked."""
        return {"q": repr(self.q), "asked": "equal" if self.equal_only else "uniform"}

    def __repr__(self) -> str:
        asked = "asked whether they are equal" if self.equal_only else "uniform questions about both"
        return f"<{self.categories.preview()} beside a bit with P(1) = {self.q:g}, {asked}>"


def warner(categories: Iterable[Label], q: float = 0.25, *, reveals: bool = False) -> ArtificialBit:
    r"""Make the safe design for two categories: only whether the answer's number is that of a secret bit is asked.

    The respondent draws a bit that is 1 with probability q, tells nobody, and
    says whether the number of her answer (0 for the first category, 1 for the
    second) equals it. No answer reveals the value; the bit is never shown,
    sent or stored.

    Parameters
    ----------
    categories
        Two distinct labels.
    q
        The probability that the bit is 1; not 1/2. Far from 1/2 it costs fewer
        people and hides less.
    reveals
        Must be True for a q so near 0 or 1 that an answer multiplies the odds
        of a value by more than 20: that is next to asking directly.

    Raises
    ------
    InvalidDesignError
        If there are not two categories or q is out of its range.

    Notes
    -----
    Warner's randomized response, in subset form: the reported set of pairs
    (answer, bit) is always true. On the four pairs it has rank 2, and it is
    identified because the bit's law is held. With :math:`\lambda` = P("the same") it costs
    n var :math:`= \lambda(1-\lambda)/(2q-1)^2`; its epsilon is :math:`|\ln(q/(1-q))|`.

    Examples
    --------
    >>> design = warner(["no", "yes"], q=0.25)
    >>> round(design.epsilon, 3), round(design.S, 3), design.smallest_set
    (1.099, 1.5, 2)
    """
    labels = _two(as_categories(categories))
    share = read_q(q, fair=False)
    odds = max(share, 1 - share) / min(share, 1 - share)
    if odds > MOST_ODDS and not reveals:
        least = 1 / (1 + MOST_ODDS)
        nearest = np.ceil(least * 1e4) / 1e4 if share < 0.5 else np.floor((1 - least) * 1e4) / 1e4
        raise InvalidDesignError(
            f"`reveals` must be set for a bit that all but reveals the answer; got q = {share:g}, which multiplies "
            f"the odds by {odds:.3g}.",
            SAFE_Q(nearest=f"{nearest:g}"),
        )
    pairs = with_bit_categories(labels)
    inner = Conditional(pairs, read_only(np.array([0b1111 - EQUAL, EQUAL], np.int64)), read_only(np.ones(2)))
    return ArtificialBit(labels, inner, lift_of_bit(labels.p, share), share)


def uniform_with_bit(categories: Iterable[Label], q: float = 0.5) -> ArtificialBit:
    """Make the paper's route for few categories: uniform questions about the value and a bit of known law together.

    With two categories and a fair bit X is revealed in a third of the rows
    and the others say nothing; see `small`.
    """
    labels = as_categories(categories)
    share = read_q(q, fair=True)
    return ArtificialBit(labels, uniform(with_bit_categories(labels)), lift_of_bit(labels.p, share), share)


def with_bit_categories(labels: Categories) -> JointCategories:
    """Return the pairs of a value and a bit."""
    return JointCategories({"answer": labels, "bit": [0, 1]})


def lift_of_bit(p: int, q: float) -> FloatArray:
    """Return the law of the pair (value, bit) given the value."""
    return read_only(np.kron(np.eye(p), np.array([[1 - q], [q]])))


def read_q(q: Any, *, fair: bool) -> float:
    """Return the bit's probability if it is one, strictly between 0 and 1, and not 1/2 unless that is allowed."""
    if isinstance(q, bool) or not isinstance(q, (int, float, np.floating)) or not 0 < float(q) < 1:
        shown = f"{float(q):g}" if isinstance(q, (int, float, np.floating)) else type(q).__name__
        raise InvalidDesignError(f"`q` must be between 0 and 1; got {shown}.", TRY_A_QUARTER)
    if not fair and abs(float(q) - 0.5) < 1e-3:
        raise InvalidDesignError(f"`q` must not be 1/2, where the answers say nothing; got {q}.", TRY_A_QUARTER)
    return float(q)


def _two(labels: Categories) -> Categories:
    if labels.p != 2:
        raise InvalidDesignError(f"Warner's question must have two categories; got {labels.p}.", MORE_THAN_TWO)
    return labels
