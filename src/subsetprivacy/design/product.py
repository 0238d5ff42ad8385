"""`product`: independent draws for several variables of one person (`prod_design`)."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, reduce
from math import prod
from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from subsetprivacy._checks import read_only
from subsetprivacy._types import AnyArray, BoolArray, FloatArray, IntArray, Label, RandomSource
from subsetprivacy.design.base import Design, require_matrix
from subsetprivacy.design.described import Formula
from subsetprivacy.design.document_format import Keys, parts, whole
from subsetprivacy.design.exchangeable import FixedSize
from subsetprivacy.design.require import require_design
from subsetprivacy.design.secret_bit import ArtificialBit
from subsetprivacy.errors import InvalidDesignError, NotIdentifiableError, TooLargeError, UnknownDesignError
from subsetprivacy.incidence import MAX_DENSE_BITS, Kronecker, Listable, joint_incidence
from subsetprivacy.messages.for_designs import COVER_THE_WHOLE, FEWER_AT_A_TIME, FEWER_BITS, PRODUCT_DESIGN
from subsetprivacy.subsets import MAX_CATEGORIES, Categories
from subsetprivacy.variables import JointCategories


@frozen(slots=False, eq=False, repr=False)
class Product(Design):
    """Independent draws for several variables of one person. Use `product` to make one.

    A code concatenates the codes of the factors, with the first in the highest bits.
    """

    categories: JointCategories
    factors: tuple[Design, ...]
    kind: ClassVar[str] = "product"
    name: ClassVar[str] = "product"
    keys: ClassVar[Keys] = Keys(
        {
            "factors": parts(
                "The designs of the variables, in order.",
                "variables",
                whole("How many of the variables this factor is of.", 1),
            )
        },
        ("factors",),
        document={"required": ["variables"]},
    )
    formula: ClassVar[Formula] = Formula(
        reports="each combination $(a_1, \\ldots, a_d)$ of reports of the factors",
        weight=r"\mu_{(a_1, \ldots, a_d)} = \prod_{k=1}^d \mu_{k, a_k}",
        probability=r"P(a_1, \ldots, a_d \mid j_1, \ldots, j_d) = \prod_{k=1}^d P_k(a_k \mid j_k)",
        codes="The codes of the factors next to each other, the first in the highest bits.",
        missing="a row is missing where the code of some factor is that of a missing answer",
        width=r"\text{the sum of the bits of the factors}",
        symbols=(
            (r"P_k, \mu_k", "the probability and the weight under entry $k$ of `factors`"),
            (
                "j_k",
                "the number of the value of factor $k$. A combination of values has the number that counts the last "
                "variable fastest: with sizes $p_1, p_2, p_3$ the number of $(j_1, j_2, j_3)$ is "
                "$(j_1 p_2 + j_2) p_3 + j_3$",
            ),
        ),
    )

    @classmethod
    def example(cls) -> "Product":
        """Return two variables, of two and of three categories."""
        return cls.of({("x",): ArtificialBit.example(), ("y",): FixedSize(Categories(["l", "m", "n"]), 2)})

    @property
    def description(self) -> str:
        """The descriptions of the factors."""
        parts = " ".join(f"{name}: {factor.description}" for name, factor in self.by_name().items())
        return f"Each variable is drawn separately, with its own design. {parts}"

    @property
    def report_count(self) -> int | None:
        """The product of the numbers of reports of the factors."""
        ways = [factor.report_count for factor in self.factors]
        return None if None in ways else prod(way or 0 for way in ways)

    @property
    def product(self) -> "Product":
        """The design itself."""
        return self

    @property
    def can_be_asked(self) -> bool:
        """Whether every variable can be asked."""
        return all(factor.can_be_asked for factor in self.factors)

    def by_factor(self, codes: IntArray) -> list[tuple[Design, IntArray]]:
        """Return each factor with its codes."""
        return list(zip(self.factors, self.split(codes), strict=True))

    def answers_to(self, codes: IntArray) -> IntArray:
        """Return for each code all combinations of answers to its questions."""
        each = [factor.answers_to(part) for factor, part in self.by_factor(codes)]
        places = np.indices([part.shape[1] for part in each]).reshape(len(each), -1)
        return self.join([part[:, at] for part, at in zip(each, places, strict=True)])

    def draw_any(self, n: int, source: RandomSource) -> IntArray:
        """Draw a dummy report of every factor."""
        return self.join([factor.draw_any(n, source) for factor in self.factors])

    @classmethod
    def of(cls, named: Mapping[tuple[str, ...], Design]) -> "Product":
        """Return the product of factors, by the names of their variables, without checking them."""
        variables: dict[str, Any] = {}
        for names, factor in named.items():
            categories = factor.categories
            parts = categories.parts if isinstance(categories, JointCategories) else (categories,)
            variables.update(zip(names, parts, strict=True))
        return cls(JointCategories(variables), tuple(named.values()))

    # Codes ------------------------------------------------------------------------------------

    @cached_property
    def _shifts(self) -> tuple[int, ...]:
        widths = [factor.code_bits for factor in self.factors]
        return tuple(sum(widths[k + 1 :]) for k in range(len(widths)))

    @property
    def code_bits(self) -> int:
        """The sum of the factors' bits."""
        return sum(factor.code_bits for factor in self.factors)

    @property
    def code_space(self) -> str:
        """The meanings of the codes of all factors."""
        return " x ".join(f"{factor.code_bits} {factor.code_space}" for factor in self.factors)

    def require_code(self) -> "Product":
        """Return self if a single code can represent all factors.

        Raises
        ------
        TooLargeError
            If it cannot.
        """
        if self.code_bits > MAX_CATEGORIES:
            raise TooLargeError(
                f"a joint code must fit in {MAX_CATEGORIES} bits; these {len(self.factors)} variables need "
                f"{self.code_bits}.",
                FEWER_BITS(most=MAX_CATEGORIES) if len(self.factors) == 2 else FEWER_AT_A_TIME(),
            )
        return self

    def join(self, codes: Iterable[AnyArray]) -> IntArray:
        """Return one code for each row of the factors' codes."""
        self.require_code()
        parts = (np.asarray(part, np.int64) << shift for part, shift in zip(codes, self._shifts, strict=True))
        return reduce(np.bitwise_or, parts)

    def split(self, codes: Any) -> list[IntArray]:
        """Return the factors' codes."""
        self.require_code()
        whole = np.asarray(codes, np.int64)
        return [
            whole >> shift & ((1 << factor.code_bits) - 1)
            for factor, shift in zip(self.factors, self._shifts, strict=True)
        ]

    @property
    def missing_code(self) -> int:
        """The code of a row in which all answers are missing."""
        return int(self.join([np.array(factor.missing_code) for factor in self.factors]))

    def is_missing(self, codes: IntArray) -> BoolArray:
        """Tell which rows lack an answer to one of the variables."""
        parts = zip(self.factors, self.split(codes), strict=True)
        return np.logical_or.reduce([factor.is_missing(part) for factor, part in parts])

    def allows(self, codes: IntArray) -> BoolArray:
        """Tell which codes consist of codes that the factors can produce."""
        parts = zip(self.factors, self.split(codes), strict=True)
        return np.logical_and.reduce([factor.allows(part) for factor, part in parts])

    def contains(self, codes: Any, x: Any) -> BoolArray:
        """Tell for each code whether the subset of every factor contains its coordinate of x."""
        at = np.unravel_index(x, [factor.p for factor in self.factors])
        parts = zip(self.factors, self.split(codes), at, strict=True)
        return np.logical_and.reduce([factor.contains(part, k) for factor, part, k in parts])

    def possible(self, codes: Any, x: Any) -> BoolArray:
        """Tell for each code whether every factor can report its part for its coordinate of x."""
        at = np.unravel_index(x, [factor.p for factor in self.factors])
        parts = zip(self.factors, self.split(codes), at, strict=True)
        return np.logical_and.reduce([factor.possible(part, k) for factor, part, k in parts])

    def sizes(self, codes: IntArray) -> IntArray:
        """Return how many combinations are possible after each code."""
        parts = zip(self.factors, self.split(codes), strict=True)
        return np.multiply.reduce([factor.sizes(part) for factor, part in parts])

    def members(self, code: int) -> tuple[Label, ...]:
        """Return each factor's members."""
        parts = zip(self.factors, self.split(np.array(code)), strict=True)
        return tuple(factor.members(int(part)) for factor, part in parts)

    def format(self, code: int) -> str:
        """Return each factor's subset as text."""
        parts = zip(self.factors, self.split(np.array(code)), strict=True)
        return " & ".join(factor.format(int(part)) for factor, part in parts)

    # Distribution -----------------------------------------------------------------------------

    @property
    def enumerable(self) -> bool:
        """Whether the supports of the factors together are small enough to list."""
        if not all(factor.enumerable for factor in self.factors) or self.code_bits > MAX_CATEGORIES:
            return False
        return prod(len(factor.support()[0]) for factor in self.factors) <= 1 << MAX_DENSE_BITS

    @cached_property
    def _support(self) -> tuple[IntArray, FloatArray]:
        if not self.enumerable:
            raise TooLargeError(
                "the support of a product must be small enough to be listed; got too many combinations of subsets.",
                FEWER_AT_A_TIME,
            )
        codes, mu = zip(*(factor.support() for factor in self.factors), strict=True)
        joint = np.meshgrid(*codes, indexing="ij")
        return read_only(self.join([part.ravel() for part in joint])), read_only(reduce(np.multiply.outer, mu).ravel())

    def support(self) -> tuple[IntArray, FloatArray]:
        """Return all combinations of the factors' subsets and the products of their mu."""
        return self._support

    @cached_property
    def support_incidence(self) -> Listable:
        """The rows of the whole support: a Kronecker product."""
        return reduce(Kronecker, [factor.support_incidence for factor in self.factors])

    def incidence(self, codes: IntArray) -> Listable:
        """Return the rows of the given codes."""
        parts = []
        for factor, part in zip(self.factors, self.split(codes), strict=True):
            distinct, inverse = np.unique(part, return_inverse=True)
            parts.append((factor.incidence(distinct), inverse))
        return joint_incidence(parts)

    def mu(self, codes: IntArray) -> FloatArray:
        """Return the product of the factors' mu."""
        parts = zip(self.factors, self.split(codes), strict=True)
        return np.multiply.reduce([factor.mu(part) for factor, part in parts])

    @cached_property
    def Q(self) -> FloatArray:
        """The Kronecker product of the factors' matrices."""
        require_matrix(self.p)
        return read_only(reduce(np.kron, [factor.Q for factor in self.factors]))

    @cached_property
    def informative_Q(self) -> FloatArray:
        """The Kronecker product of the factors' matrices, given that no answer is missing."""
        require_matrix(self.p)
        return read_only(reduce(np.kron, [factor.informative_Q for factor in self.factors]))

    def apply_Q(self, w: FloatArray) -> FloatArray:
        """Return Q w, computed one factor after the other."""
        return self._by_factor(w, lambda factor, table: factor.apply_Q(table))

    def solve_informative_Q(self, gamma: FloatArray) -> FloatArray:
        """Return the w with Qw = gamma, given that no answer is missing, computed one factor after the other."""
        return self._by_factor(gamma, lambda factor, table: factor.solve_informative_Q(table))

    def enlarge(self, w: FloatArray) -> FloatArray:
        """Return the distribution of the variables whose subsets are reported, including known bits."""
        return self._by_factor(w, lambda factor, table: factor.enlarge(table))

    def _by_factor(self, w: FloatArray, change: Callable[[Design, FloatArray], FloatArray]) -> FloatArray:
        """Apply a linear map of each factor along its axis of the table w."""
        table = w.reshape([factor.p for factor in self.factors])
        for axis, factor in enumerate(self.factors):
            table = np.moveaxis(change(factor, np.moveaxis(table, axis, -1)), -1, axis)
        return table.ravel()

    @cached_property
    def S(self) -> float:
        """The product of the factors' S, so that maximal leakages add up."""
        return prod(factor.S for factor in self.factors)

    @cached_property
    def noise(self) -> FloatArray | None:
        """The sum of the noise of the factors, each at its coordinate."""
        if all(factor.noise is None for factor in self.factors):
            return None
        parts = [np.zeros(factor.p) if factor.noise is None else factor.noise for factor in self.factors]
        return read_only(reduce(np.add.outer, parts).ravel())

    @cached_property
    def epsilon(self) -> float:
        """The sum of the epsilons of the factors."""
        return sum(factor.epsilon for factor in self.factors)

    @cached_property
    def mu_full(self) -> float:
        """The probability that some variable's subset is full."""
        return 1 - prod(1 - factor.mu_full for factor in self.factors)

    @cached_property
    def smallest_set(self) -> int:
        """The number of combinations in the smallest reports."""
        return prod(factor.smallest_set for factor in self.factors)

    @property
    def is_subset_private(self) -> bool:
        """Whether the design of every variable is subset-private."""
        return all(factor.is_subset_private for factor in self.factors)

    @cached_property
    def _null(self) -> AnyArray | None:
        if all(factor.is_identifiable for factor in self.factors):
            return None
        return super()._null

    def require_identifiable(self) -> Design:
        """Return self if every factor is identifiable, which makes the joint distribution identifiable."""
        for names, factor in self.named().items():
            try:
                factor.require_identifiable()
            except NotIdentifiableError as error:
                raise NotIdentifiableError(f"{', '.join(names)}: {error.message}", error.advice) from None
        return self

    # Parts ------------------------------------------------------------------------------------

    def named(self) -> dict[tuple[str, ...], Design]:
        """Return the factors by the names of their variables."""
        names = iter(self.categories.names)
        return {tuple(next(names) for _ in range(_width(factor))): factor for factor in self.factors}

    def by_name(self) -> dict[str, Design]:
        """Return the factors by a single name: that of the variable, or several names joined by " x "."""
        return {" x ".join(names): factor for names, factor in self.named().items()}

    def select(self, names: Iterable[str]) -> Design:
        """Return the design of the named variables. The variables of a factor stay together.

        A single factor is returned as it is.
        """
        wanted = tuple(names)
        for name in wanted:
            self.categories.axis(name)  # refuses an unknown name
        kept = {variables: factor for variables, factor in self.named().items() if set(variables) & set(wanted)}
        if len(kept) == 1:
            return next(iter(kept.values()))
        return Product.of(kept)

    def select_codes(self, codes: IntArray, names: Iterable[str]) -> IntArray:
        """Return the codes under `select`."""
        wanted = set(names)
        parts = zip(self.named(), self.split(codes), strict=True)
        kept = [part for variables, part in parts if set(variables) & wanted]
        design = self.select(wanted)
        return design.join(kept) if isinstance(design, Product) else kept[0]

    def content(self) -> dict[str, Any]:
        """Return the kind, the content and the number of variables of each factor."""
        return {"factors": [{"variables": _width(f), "kind": f.kind, **f.content()} for f in self.factors]}

    def __repr__(self) -> str:
        return f"<product design of {self.categories.preview()}>"


def _width(factor: Design) -> int:
    return len(factor.categories.names) if isinstance(factor.categories, JointCategories) else 1


def product(designs: Mapping[Any, Design]) -> Product:
    r"""Combine the designs of several variables, each of which is drawn separately (`prod_design`).

    Parameters
    ----------
    designs
        ``{name: design}``, in order. A joined design (`join`) keeps the names
        of its variables, and its key is ignored.

    Notes
    -----
    :math:`P(A = (a_1, \ldots, a_d) \mid X) = \prod_k \mu_{a_k} 1\{X_k \in a_k\}`. A person's answers to all
    variables add up: the maximal leakage is the sum over the variables.

    Raises
    ------
    InvalidDesignError
        If a name occurs twice or there are fewer than two variables.

    Examples
    --------
    >>> from subsetprivacy.design.independent import uniform
    >>> both = product({"race": uniform(list("abcd")), "income": uniform(["low", "mid", "high", "top"])})
    >>> both
    <product design of race (4) x income (4)>
    >>> both.S
    4.0
    """
    if not isinstance(designs, Mapping) or len(designs) < 2:
        size = len(designs) if isinstance(designs, Mapping) else type(designs).__name__
        raise InvalidDesignError(f"`designs` must map two or more names to designs; got {size}.", PRODUCT_DESIGN)
    named: dict[tuple[str, ...], Design] = {}
    for name, design in designs.items():
        require_design(design)
        _check_factor(design, name)
        categories = design.categories
        names = categories.names if isinstance(categories, JointCategories) else (name,)
        for inner in names:
            if any(inner in others for others in named):
                raise InvalidDesignError(f"`designs` must name each variable once; got {inner!r} twice.")
        named[names] = design
    return Product.of(named)


def _check_factor(design: Design, name: Any) -> None:
    if not design.is_known:
        raise UnknownDesignError(f"the design of {name!r} must be known to be part of a product.")
    if design.covered is not None:
        raise InvalidDesignError(
            f"dummy rows must cover all variables together; got a covered design for {name!r} alone.",
            COVER_THE_WHOLE,
        )
    if design.product is not None:
        raise InvalidDesignError(f"each of `designs` must have one variable; got a product for {name!r}.")
