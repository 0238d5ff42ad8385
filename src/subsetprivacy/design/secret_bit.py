"""Designs that combine the value with a secret bit of known distribution (`subsec_p23`)."""

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
from subsetprivacy.design.document_format import Keys, fraction
from subsetprivacy.design.independent import uniform
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
    """A design on an enlarged variable Y, whose distribution given the value X is known.

    A report is a subset of the values of Y. Column j of `lift` is the
    distribution of Y given X = j, so the rows are r_a = lift' 1_a. Only the
    distribution of X is estimated; the known distribution stays fixed.
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
        """All codes are below 2 to this power."""
        return self.inner.code_bits

    @property
    def code_space(self) -> str:
        """Masks of the enlarged variable. Only counts of the same design can be added."""
        return f"{self.kind} {self._tag}"

    def contains(self, codes: Any, x: Any) -> BoolArray:
        """Tell for each code whether a member of the reported set can belong to the value at position x."""
        each = [self.inner.contains(codes, np.int64(y)) & (self.lift[y] > 0)[x] for y in range(self.inner.p)]
        return np.logical_or.reduce(each)

    def sizes(self, codes: IntArray) -> IntArray:
        """Return how many values are possible after each code."""
        return self.possible(codes[..., None], np.arange(self.p)).sum(axis=-1)

    def members(self, code: int) -> tuple[Label, ...]:
        """Return the members of the subset of the enlarged variable."""
        return self.inner.members(code)

    def format(self, code: int) -> str:
        """Return the subset of the enlarged variable as text."""
        return self.inner.format(code)

    def complement(self, codes: Codes) -> Codes:
        """Return the code of "no" for each code of "yes"."""
        return self.inner.complement(codes)

    # Distribution, at the level of the value --------------------------------------------------

    @cached_property
    def S(self) -> float:
        """The sum over a of the largest P(a | j)."""
        return float(self.support()[1] @ self._rows.max(axis=1))

    @cached_property
    def noise(self) -> FloatArray:
        """For each category j, the sum of mu_a r_a(j) log2 r_a(j)."""
        r = self._rows
        return self.support()[1] @ np.where(r > 0, r * np.log2(np.where(r > 0, r, 1.0)), 0.0)

    @cached_property
    def epsilon(self) -> float:
        """The epsilon of local differential privacy: the largest log ratio of P(a | j), infinite if one is 0."""
        r = self._rows
        return float(np.log(r.max(axis=1) / r.min(axis=1)).max()) if r.min() > 0 else float("inf")

    @property
    def enlarged(self) -> Design:
        """The design of the enlarged variable."""
        return self.inner

    @property
    def reveals_silently(self) -> bool:
        """False: making a design that can reveal the value requires `reveals=True`."""
        return False

    def enlarge(self, w: FloatArray) -> FloatArray:
        """Return the distribution of the enlarged variable, along the last axis."""
        return w @ self.lift.T

    # Questions --------------------------------------------------------------------------------

    @property
    def is_independent(self) -> bool:
        """Whether yes/no questions about the enlarged variable realize it."""
        return self.inner.is_independent

    def draw_questions(self, n: int, source: RandomSource) -> AnyArray:
        """Draw the sets to ask about, subsets of the enlarged variable."""
        return self.inner.draw_questions(n, source)


@frozen(slots=False, eq=False, repr=False)
class ArtificialBit(EnlargedDesign):
    """The value and a secret bit that is 1 with a known probability. Use `warner` or `small` to make one."""

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
    def maker(self) -> str:
        """`warner` makes Warner's question."""
        return "warner" if self.equal_only else self.kind

    @property
    def label(self) -> str:
        """Warner's question with its q, or the kind."""
        return f"{self.maker}, q = {self.q:g}" if self.equal_only else self.kind

    @property
    def drawing_note(self) -> str:
        """The respondent draws the bit."""
        return "the respondent draws the bit, which is never shown or sent"

    @property
    def answer_words(self) -> tuple[str, str]:
        """Same or different, if the question is about equality only."""
        return ("same", "different") if self.equal_only else super().answer_words

    def question_text(self, options: tuple[int, ...]) -> str:
        """Return a question about the answer and the bit together."""
        bit = f"Secretly draw a number: 1 with probability {self.q:g}, else 0. Tell no one."
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
        """Return the answer in words, if the question is about equality only."""
        if not self.equal_only:
            return super().report_text(code)
        return "the numbers are the same" if code == EQUAL else "the numbers are not the same"

    @property
    def browser_rule(self) -> dict[str, Any] | None:
        """The rule for Warner's question. None for uniform questions about both, which could reveal the value."""
        return {"rule": "bit", "q": self.q} if self.equal_only else None

    @property
    def equal_only(self) -> bool:
        """Whether the only question is if the two are equal, which is Warner's question in subset form."""
        return isinstance(self.inner, Conditional)

    @property
    def is_independent(self) -> bool:
        """True: both kinds of questions are drawn without the value."""
        return True

    @property
    def options(self) -> int:
        """2, yes and no."""
        return 2

    def strata(self, codes: IntArray) -> IntArray:
        """Return the question that each code answers."""
        return np.minimum(codes, self.complement(codes))

    def draw_questions(self, n: int, source: RandomSource) -> AnyArray:
        """Draw the sets to ask about: always the equal pairs if the question is about equality only."""
        if self.equal_only:
            return np.full(n, EQUAL)
        return self.inner.draw_questions(n, source)

    def content(self) -> dict[str, Any]:
        """Return the probability of the bit and the kind of question."""
        return {"q": repr(self.q), "asked": "equal" if self.equal_only else "uniform"}

    def __repr__(self) -> str:
        asked = "asked whether they are equal" if self.equal_only else "uniform questions about both"
        return f"<{self.categories.preview()} with a secret bit, P(1) = {self.q:g}, {asked}>"


def warner(categories: Iterable[Label], q: float = 0.25, *, reveals: bool = False) -> ArtificialBit:
    r"""Make the safe design for two categories, which asks whether the answer's number equals a secret bit.

    The respondent secretly draws a bit that is 1 with probability q, and says
    whether it equals the number of their answer (0 for the first category,
    1 for the second). No answer reveals the value. The bit is never shown,
    sent or stored.

    Parameters
    ----------
    categories
        Two distinct labels.
    q
        The probability that the bit is 1. It must not be 1/2. A q further from 1/2 needs fewer people and protects
        less.
    reveals
        Must be True for a q so close to 0 or 1 that an answer multiplies the
        odds of a value by more than 20, which is close to asking directly.

    Raises
    ------
    InvalidDesignError
        If there are not exactly two categories, or q is out of range.

    Notes
    -----
    This is Warner's randomized response in subset form: the reported set of pairs (answer, bit) always contains the
    true pair. On the four pairs (answer, bit), its matrix has rank 2. It is identifiable because the distribution of
    the bit is known and fixed. With :math:`\lambda` = P("the same"), n var :math:`= \lambda(1-\lambda)/(2q-1)^2`, and
    epsilon is :math:`|\ln(q/(1-q))|`.

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
            f"`reveals` must be True for a bit that almost reveals the answer; got q = {share:g}, which multiplies the "
            f"odds by {odds:.3g}.",
            SAFE_Q(nearest=f"{nearest:g}"),
        )
    pairs = with_bit_categories(labels)
    inner = Conditional(pairs, read_only(np.array([0b1111 - EQUAL, EQUAL], np.int64)), read_only(np.ones(2)))
    return ArtificialBit(labels, inner, lift_of_bit(labels.p, share), share)


def uniform_with_bit(categories: Iterable[Label], q: float = 0.5) -> ArtificialBit:
    """Make the paper's design for few categories: uniform questions about the value and a known bit together.

    With two categories and a fair bit, a third of the rows reveal the value
    and the others carry no information. See `small`.
    """
    labels = as_categories(categories)
    share = read_q(q, fair=True)
    return ArtificialBit(labels, uniform(with_bit_categories(labels)), lift_of_bit(labels.p, share), share)


def with_bit_categories(labels: Categories) -> JointCategories:
    """Return the pairs of a value and a bit."""
    return JointCategories({"answer": labels, "bit": [0, 1]})


def lift_of_bit(p: int, q: float) -> FloatArray:
    """Return the distribution of the pair (value, bit) given the value."""
    return read_only(np.kron(np.eye(p), np.array([[1 - q], [q]])))


def read_q(q: Any, *, fair: bool) -> float:
    """Return the probability of the bit if it is strictly between 0 and 1, and not 1/2 unless `fair` allows it."""
    if isinstance(q, bool) or not isinstance(q, (int, float, np.floating)) or not 0 < float(q) < 1:
        shown = f"{float(q):g}" if isinstance(q, (int, float, np.floating)) else type(q).__name__
        raise InvalidDesignError(f"`q` must be between 0 and 1; got {shown}.", TRY_A_QUARTER)
    if not fair and abs(float(q) - 0.5) < 1e-3:
        raise InvalidDesignError(
            f"`q` must not be 1/2, because answers would then carry no information; got {q}.", TRY_A_QUARTER
        )
    return float(q)


def _two(labels: Categories) -> Categories:
    if labels.p != 2:
        raise InvalidDesignError(f"Warner's question must have two categories; got {labels.p}.", MORE_THAN_TWO)
    return labels
