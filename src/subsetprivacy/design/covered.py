"""`covered`: dummy rows that set a floor for the share of rows that a report could come from (`sec:dummy`)."""

from collections.abc import Hashable, Iterable
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, ClassVar

import numpy as np
from attrs import evolve, frozen

from subsetprivacy._checks import read_only
from subsetprivacy._types import AnyArray, BoolArray, FloatArray, IntArray, Label
from subsetprivacy._words import counted, people
from subsetprivacy.design.base import Design
from subsetprivacy.design.described import Formula
from subsetprivacy.design.document_format import INNER, Keys, fraction, whole
from subsetprivacy.design.independent import Independent
from subsetprivacy.design.product import Product
from subsetprivacy.design.require import require_design
from subsetprivacy.errors import InvalidDesignError, MismatchError
from subsetprivacy.incidence import Affine, Cells, Listable
from subsetprivacy.messages.for_designs import (
    DESIGN_OF_THE_DATA,
    FEWER_CATEGORIES,
    LOWER_FLOOR,
    PRIVATIZE_EACH_GROUP,
    WHOLE_LEAKAGE,
)
from subsetprivacy.subsets import MAX_CATEGORIES, Categories

_NOT_COVERED = ("artificial_bit", "coarse", "covered", "fully_private")
_BELOW_A_HALF = r"^(0\.[0-4][0-9]*|[1-9](\.[0-9]+)?[eE]-[0-9]+)$"


@frozen(slots=False, eq=False, repr=False)
class Covered(Design):
    r"""A design with D dummy categories, one of which is in every report. Use `covered` to make one.

    A code consists of the base design's code and, above its bits, one bit for
    the dummy category. Once data are drawn, `people` and `dummies` (rows per
    dummy category) are known, and every estimate fixes the realized share.
    These numbers do not include rows of missing values.
    """

    base: Design
    floor: float
    people: int | None = None
    dummies: int | None = None
    kind: ClassVar[str] = "covered"
    name: ClassVar[str] = "covered by dummy rows"
    keys: ClassVar[Keys] = Keys(
        {
            "base": {
                "description": "The covered design.",
                **INNER,
                "not": {"properties": {"kind": {"enum": list(_NOT_COVERED)}}, "required": ["kind"]},
            },
            "floor": fraction("The smallest share of the rows that every report could come from.", _BELOW_A_HALF, 0.5),
            "people": whole("Once drawn: the number of people.", 0),
            "dummies": whole("Once drawn: the rows per dummy category.", 0),
        },
        ("base", "floor"),
        conditions={"dependentRequired": {"people": ["dummies"], "dummies": ["people"]}},
    )
    formula: ClassVar[Formula] = Formula(
        reports="each report $a$ of the `base` with each of the $D$ dummy categories $d$",
        weight=r"\mu_{a,d} = \frac{\mu_a}{D}",
        probability=(r"P(a, d \mid j) = \frac{1}{D} \Bigl( (1 - D\alpha)\, P(a \mid j) + \alpha\, \mu_a \Bigr)"),
        codes="The code of the base and, above its bits, the bit of the dummy category, the first category lowest.",
        missing="the base's code of a missing answer, and above it the bits of all $D$ dummy categories",
        width=r"\text{the bits of the base} + D",
        symbols=(
            (r"\mu_a", "the weight of the report under the `base`"),
            (r"P(a \mid j)", "the probability of the report under the `base`"),
            ("D", "the number $\\sum_a \\mu_a$ over the reports of the base, which is whole"),
            (
                r"\alpha",
                "the share of rows per dummy category: `dummies` / (`people` + $D \\cdot$ `dummies`), or `floor` where "
                "these numbers are absent or `people` is 0",
            ),
        ),
    )

    @classmethod
    def example(cls) -> "Covered":
        """Return questions about four categories with dummy rows for 600 people."""
        base = Independent.example()
        return Covered(base.categories, base, 0.125).realized(600)

    @property
    def description(self) -> str:
        """The description of the base design, and of the dummy rows."""
        rows = f" {100 * (1 - self.real_share):.3g}% of the rows are dummies." if self.people else ""
        return (
            f"{self.base.description} Dummy rows that belong to no one are added, so a row alone does not show whether "
            f"it belongs to a person.{rows}"
        )

    @property
    def label(self) -> str:
        """The label of the base design, and the floor."""
        return f"{self.base.label}, floor {self.floor:g}"

    @property
    def report_count(self) -> int | None:
        """Each report of the base design with each dummy category."""
        inner = self.base.report_count
        return None if inner is None else inner * self.D

    @property
    def covered(self) -> "Covered":
        """The design itself."""
        return self

    @property
    def has_fixed_parts(self) -> bool:
        """True: the number of dummy rows is known."""
        return True

    @property
    def distribution_key(self) -> Hashable:
        """The key of the base design, and the floor."""
        return ("covered", self.floor, self.base.distribution_key)

    @property
    def reveals_silently(self) -> bool:
        """False: `covered` accepts a base that reveals values only if `reveals` is set."""
        return False

    @property
    def can_be_asked(self) -> bool:
        """Whether the base design can be asked. Dummy rows are added afterwards."""
        return self.base.can_be_asked

    def with_categories(self, categories: Categories) -> "Covered":
        """Return the same design with other category labels."""
        return evolve(self, categories=categories, base=self.base.with_categories(categories))

    def people_in(self, rows: float) -> int:
        """Return the number of people of the release, or all rows if it is not known."""
        return round(rows) if self.people is None else self.people

    @cached_property
    def D(self) -> int:
        """The number of dummy categories, which is S of the base design."""
        return round(self.base.S)

    @property
    def share(self) -> float:
        """The share of rows per dummy category: the realized share once data are drawn, else the floor."""
        if not self.people or self.dummies is None:
            return self.floor
        return self.dummies / (self.people + self.D * self.dummies)

    @property
    def real_share(self) -> float:
        """The share of rows that belong to people."""
        return 1 - self.D * self.share

    @property
    def dummy_share(self) -> float:
        """The share of rows per dummy category."""
        return self.share

    @property
    def dummy_categories(self) -> int:
        """The number D of dummy categories."""
        return self.D

    def dummy_rows(self, people: int) -> int:
        """Return how many dummy rows this many people need, over all dummy categories."""
        return self.D * self.dummies_for(people)

    def dummies_for(self, people: int) -> int:
        r"""Return how many dummy rows each dummy category needs: :math:`\lceil \alpha n/(1-D\alpha) \rceil`."""
        return ceil(self._exact_floor * people / (1 - self.D * self._exact_floor))

    @property
    def _exact_floor(self) -> Fraction:
        return Fraction(repr(self.floor))  # the decimal as written, so that rounding adds no row

    def realized(self, people: int) -> "Covered":
        """Return the design of data about this many people, with the number of their dummy rows."""
        return evolve(self, people=people, dummies=self.dummies_for(people))

    def pooled(self, other: Design) -> Design | None:
        """Return the design of the combined data of two designs that differ only in their numbers; else None."""
        if not isinstance(other, Covered) or self.planned() != other.planned():
            return None
        if self.people is None or other.people is None or self.dummies is None or other.dummies is None:
            return None
        return evolve(self, people=self.people + other.people, dummies=self.dummies + other.dummies)

    def planned(self) -> "Covered":
        """Return the design before any data."""
        return evolve(self, people=None, dummies=None)

    def require_rows(self, rows: float) -> None:
        """Raise unless these are all rows of the release, including the dummy rows.

        Raises
        ------
        MismatchError
            If rows were left out or added, so that the share of dummy rows is not known.
        """
        if self.people is None or self.dummies is None:
            raise MismatchError(
                "a covered design must contain its number of dummy rows for estimation; got one that does not.",
                DESIGN_OF_THE_DATA,
            )
        expected = self.people + self.D * self.dummies
        if rows != expected:
            raise MismatchError(
                f"all {expected} rows of a covered release must be counted together; got {rows:g}.",
                PRIVATIZE_EACH_GROUP,
            )

    @property
    def exposed(self) -> Design:
        """The base design, as seen by someone who knows that a row belongs to a real person."""
        return self.base

    def expose(self, codes: IntArray) -> IntArray:
        """Return the base design's codes."""
        return self.split(codes)[0]

    def rows_text(self, n: float) -> str:
        """Return the numbers of people and of dummy rows."""
        if self.people is None or self.dummies is None:
            return f"n = {counted(n, 'row')}"
        return f"n = {counted(self.people, 'person', 'people')} and {counted(self.D * self.dummies, 'dummy row')}"

    def select(self, names: Iterable[str]) -> "Covered":
        """Return the covered design of some variables of a product. On their own they have a higher floor."""
        if not isinstance(self.base, Product):
            raise InvalidDesignError("`names` must be variables of a product; got a covered design of one variable.")
        base = self.base.select(names)
        times = self.D // round(base.S)
        dummies = None if self.dummies is None else times * self.dummies
        return Covered(base.categories, base, float(times * self._exact_floor), self.people, dummies)

    def select_codes(self, codes: IntArray, names: Iterable[str]) -> IntArray:
        """Return the codes under `select`: the codes of the kept factors, and one of the fewer dummy categories."""
        wanted = tuple(names)
        part = self.select(wanted)
        assert isinstance(self.base, Product)
        base, dummy = self.split(codes)
        kept = self.base.select_codes(base, wanted)
        number = np.bitwise_count((dummy & -dummy) - 1).astype(np.int64)  # of the lowest dummy category
        return np.where(self.is_missing(codes), part.missing_code, part.join(kept, number % part.D))

    # Codes ------------------------------------------------------------------------------------

    @property
    def code_bits(self) -> int:
        """The base design's bits and one per dummy category."""
        return self.base.code_bits + self.D

    @property
    def code_space(self) -> str:
        """The base design and the floor. Rows depend on the share, so only releases of the same plan can be added."""
        return f"{self.base._tag} covered to {self.floor!r}"

    @property
    def missing_code(self) -> int:
        """The base design's full set with every dummy category."""
        return self.base.missing_code | ((1 << self.D) - 1) << self.base.code_bits

    def split(self, codes: Any) -> tuple[IntArray, IntArray]:
        """Return the base design's codes and the bits of the dummy categories."""
        whole = np.asarray(codes, np.int64)
        return whole & ((1 << self.base.code_bits) - 1), whole >> self.base.code_bits

    def join(self, base: AnyArray, dummy: Any) -> IntArray:
        """Return the codes of base codes with the dummy categories of the given numbers."""
        return np.asarray(base, np.int64) | np.int64(1) << (self.base.code_bits + dummy)

    def contains(self, codes: Any, x: Any) -> BoolArray:
        """Tell for each code whether the base design's subset contains the category at position x."""
        return self.base.contains(self.split(codes)[0], x)

    def possible(self, codes: Any, x: Any) -> BoolArray:
        """Tell for each code whether a real person with the value at position x can report it."""
        return self.base.possible(self.split(codes)[0], x)

    def sizes(self, codes: IntArray) -> IntArray:
        """Return how many values are possible for a real person after each code."""
        return self.base.sizes(self.split(codes)[0])

    def members(self, code: int) -> tuple[Label, ...]:
        """Return the labels in a subset, and its dummy category."""
        base, dummy = self.split(np.array(code))
        return (*self.base.members(int(base)), *self._named(int(dummy)))

    def _named(self, dummy: int) -> list[str]:
        return [name for d, name in enumerate(self.dummy_names) if dummy >> d & 1]

    @property
    def dummy_names(self) -> tuple[str, ...]:
        """The names of the dummy categories."""
        return tuple(f"dummy {d + 1}" for d in range(self.D))

    def format(self, code: int) -> str:
        """Return a subset as text, with its dummy category."""
        base, dummy = self.split(np.array(code))
        return "|".join([self.base.format(int(base)), *self._named(int(dummy))])

    # Distribution -----------------------------------------------------------------------------

    @property
    def enumerable(self) -> bool:
        """Whether the base design can be listed."""
        return self.base.enumerable

    @cached_property
    def _support(self) -> tuple[IntArray, FloatArray]:
        codes, mu = self.base.support()
        every = np.concatenate([self.join(codes, np.int64(d)) for d in range(self.D)])
        return read_only(every), read_only(np.tile(mu / self.D, self.D))

    def support(self) -> tuple[IntArray, FloatArray]:
        """Return every subset with every dummy category, and mu over D."""
        return self._support

    def mu(self, codes: IntArray) -> FloatArray:
        """Return mu of the base design over D, or 0 unless the code has exactly one dummy category."""
        base, dummy = self.split(codes)
        return np.where(np.bitwise_count(dummy) == 1, self.base.mu(base) / self.D, 0.0)

    def incidence(self, codes: IntArray) -> Listable:
        r"""Return the rows :math:`(1-D\alpha)1_a + \alpha 1`: a released row is a person or a dummy."""
        base, _ = self.split(codes)
        distinct, inverse = np.unique(base, return_inverse=True)
        rows = Affine(self.base.incidence(distinct), self.real_share, self.share)
        return rows if np.array_equal(distinct, base) else Cells(rows, inverse)

    @cached_property
    def Q(self) -> FloatArray:
        """Q of the base design, scaled, plus a constant. It needs no list of subsets beyond that of the base."""
        c, alpha = self.real_share, self.share
        return read_only(c**2 * self.base.Q + 2 * c * alpha + alpha**2 * self.D)

    @property
    def _null(self) -> AnyArray | None:
        return self.base._null  # a constant and a factor change no rank

    def least_size(self, w: FloatArray) -> float:
        """Return the least size of the base design, scaled, plus the share of a dummy category."""
        return self.real_share * self.base.least_size(w) + self.share

    @cached_property
    def S(self) -> float:
        """S of the base design, for someone who knows that a row belongs to a real person."""
        return self.base.S

    @cached_property
    def smallest_set(self) -> int:
        """The smallest set of the base design."""
        return self.base.smallest_set

    def content(self) -> dict[str, Any]:
        """Return the base design, the floor, and the numbers of rows if they are known."""
        numbers = {} if self.people is None else {"people": self.people, "dummies": self.dummies}
        return {"floor": repr(self.floor), "base": {"kind": self.base.kind, **self.base.content()}, **numbers}

    def __repr__(self) -> str:
        rows = ""
        if self.people is not None:
            rows = f", {people(self.people)} and {self.D} x {counted(self.dummies or 0, 'dummy row')}"
        return f"<{self.base!r} with a floor of {self.floor:g} by {self.D} dummy categories{rows}>"


_WHOLE = 1e-9


def covered(design: Design, floor: float, *, reveals: bool = False) -> Covered:
    r"""Add dummy rows to a design, so that every report could come from at least a given share of the rows.

    The design gets D = S dummy categories (2 for yes/no questions, m for m
    groups), and each report contains one of them. For n people there are
    :math:`D\lceil \alpha n/(1-D\alpha)\rceil` dummy rows that look like the rows of people. For every
    distribution, the size of every reported set is at least :math:`\alpha`.

    Parameters
    ----------
    design
        A design whose S is a whole number: yes/no questions, groups, or a product of these.
    floor
        The least size :math:`\alpha`, below 1/D.
    reveals
        Must be True for a design that reports single values: anyone who knows
        that a row belongs to a person then knows the value.

    Raises
    ------
    InvalidDesignError
        If S is not a whole number, or the floor is not below 1/D.

    Notes
    -----
    :math:`P(\hat A = a \cup d \mid X) = \mu_a/D` for members of a and for the dummy d, which sums to one only
    if S = D. A question and its complement may have unequal nu, because
    reports follow :math:`\mu_a = \nu_a + \nu_{a^c}`. The enlarged model alone is not
    identifiable for p = 4. It becomes identifiable because the realized share
    of dummy rows is known and fixed. The floor protects against anyone who
    cannot distinguish a dummy row from a person's row. Anyone who knows that a
    row belongs to a person learns as much as without dummy rows; `audit` gives
    those numbers.

    Examples
    --------
    >>> from subsetprivacy.design.independent import uniform
    >>> safe = covered(uniform(list("abcd")), floor=0.1)
    >>> safe.D, safe.dummies_for(1000)
    (2, 125)
    """
    if require_design(design).kind in {"covered", "coarse", "fully_private"}:
        raise InvalidDesignError(f"`design` must be a design that can be covered; got a {design.maker} design.")
    if design.noise is not None:
        raise InvalidDesignError(
            "`design` must report subsets of the value itself to be covered; got one with a secret bit."
        )
    if design.smallest_set < 2 and not reveals:
        raise InvalidDesignError(
            f"`reveals` must be True to cover a {design.kind} design, because some rows reveal the value to anyone who "
            "knows that they belong to a person; got False."
        )
    S = design.S
    if abs(S - round(S)) > _WHOLE or round(S) < 2:
        raise InvalidDesignError(
            f"`design` must have a whole number S of 2 or more to be covered; got S = {S:.6g}.",
            WHOLE_LEAKAGE,
        )
    D = round(S)
    if isinstance(floor, bool) or not isinstance(floor, (int, float, np.floating)) or not 0 < floor < 1 / D:
        shown = f"{floor:g}" if isinstance(floor, (int, float)) else type(floor).__name__
        raise InvalidDesignError(
            f"`floor` must be positive and below 1/{D} = {1 / D:.6g} for a design with S = {D}; got {shown}.",
            LOWER_FLOOR(most=f"{1 / D:.6g}", even=f"{1 / (2 * D):.4g}"),
        )
    if design.code_bits + D > MAX_CATEGORIES:
        raise InvalidDesignError(
            f"a covered design must have codes of at most {MAX_CATEGORIES} bits; got {design.code_bits} and {D} for "
            "dummy categories.",
            FEWER_CATEGORIES,
        )
    return Covered(design.categories, design, float(floor))
