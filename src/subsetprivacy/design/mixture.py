"""Mixtures of designs, for counts that were collected under different designs."""

from collections.abc import Sequence
from functools import cached_property
from math import isclose, isfinite
from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from subsetprivacy._checks import read_only
from subsetprivacy._types import AnyArray, BoolArray, Codes, FloatArray, IntArray, Label, RandomSource
from subsetprivacy.design import identify
from subsetprivacy.design.base import Design
from subsetprivacy.design.described import Formula
from subsetprivacy.design.document_format import WEIGHT, Keys, parts
from subsetprivacy.design.draws import pick, thresholds
from subsetprivacy.design.exchangeable import FixedSize
from subsetprivacy.design.independent import Independent
from subsetprivacy.errors import InvalidDesignError, MismatchError
from subsetprivacy.incidence import Listable
from subsetprivacy.subsets import Categories


@frozen(slots=False, eq=False, repr=False)
class Mixture(Design):
    """Several designs on the same categories, each used for a known share of the people.

    Counts that were collected under different designs follow a mixture. Its
    mu is the average of theirs.
    """

    components: tuple[Design, ...]
    shares: tuple[float, ...]
    kind: ClassVar[str] = "mixture"
    name: ClassVar[str] = "mixture"
    keys: ClassVar[Keys] = Keys(
        {
            "components": parts(
                "The designs that were pooled.", "share", {"description": "The share of the people.", **WEIGHT}
            )
        },
        ("components",),
    )
    formula: ClassVar[Formula] = Formula(
        reports="the reports of all components, whose codes mean the same",
        weight=r"\mu_a = \sum_i s_i \mu_{i,a} \Big/ \sum_i s_i",
        probability=r"P(a \mid j) = \sum_i s_i P_i(a \mid j) \Big/ \sum_i s_i",
        codes="The codes of the components, which mean the same in all of them.",
        missing="as in the components",
        width=r"\text{the bits of a component}",
        symbols=(
            ("s_i", "the `share` of component $i$"),
            (r"P_i, \mu_i", "the probability and the weight under component $i$, 0 for what it cannot report"),
        ),
    )

    @classmethod
    def example(cls) -> "Mixture":
        """Return two waves with different designs."""
        first = Independent.example()
        return cls.of([first, FixedSize(first.categories, 3)], [0.25, 0.75])  # type: ignore[return-value]

    @property
    def description(self) -> str:
        """Several designs were used."""
        return "Different people were asked by different designs. The document lists them with their shares."

    @property
    def has_fixed_parts(self) -> bool:
        """True: how many people were asked by each design is known."""
        return True

    def with_categories(self, categories: Categories) -> Design:
        """Return the same mixture with other category labels."""
        return Mixture.of([part.with_categories(categories) for part in self.components], self.shares)

    @classmethod
    def of(cls, designs: Sequence[Design], shares: Sequence[float]) -> Design:
        """Return the flattened mixture, a single design if all are equal, or a coarse design if one is unknown."""
        if not all(isfinite(share) and share >= 0 for share in shares) or not sum(shares) > 0:
            raise InvalidDesignError("shares must be finite, not negative and not all 0.")
        merged: dict[Design, float] = {}
        for design, share in zip(designs, shares, strict=True):
            for part, within in _parts(design):
                if part.categories != designs[0].categories:
                    raise MismatchError("designs must have the same categories in the same order to be combined.")
                if part.code_space != designs[0].code_space:
                    raise MismatchError(
                        "designs must use the same codes for their subsets to be combined; got different codes."
                    )
                if share * within > 0:  # a design without answers identifies nothing
                    _pool(merged, part, share * within)
        unknown = next((part for part in merged if not part.is_known), None)
        if unknown is not None or len(merged) == 1:
            return unknown or next(iter(merged))
        # Shares that sum to 1 are kept exactly, so that a document is read back as it was written.
        total = sum(merged.values())
        scale = 1.0 if isclose(total, 1, rel_tol=1e-12) else total
        parts = sorted(merged, key=lambda part: str(part._key))  # a + b and b + a are the same design
        return cls(designs[0].categories, tuple(parts), tuple(merged[part] / scale for part in parts))

    @property
    def missing_code(self) -> int:
        """The code of the full set, the same for all components."""
        return self.components[0].missing_code

    @property
    def code_bits(self) -> int:
        """All codes are below 2 to this power."""
        return self.components[0].code_bits

    @property
    def code_space(self) -> str:
        """The meaning of the codes, the same for all components."""
        return self.components[0].code_space

    def is_missing(self, codes: IntArray) -> BoolArray:
        """Tell which codes carry no information."""
        return self.components[0].is_missing(codes)

    def contains(self, codes: Any, x: Any) -> BoolArray:
        """Tell for each code whether the subset has the category at position x."""
        return self.components[0].contains(codes, x)

    def possible(self, codes: Any, x: Any) -> BoolArray:
        """Tell for each code whether a person with the value at position x can report it."""
        return self.components[0].possible(codes, x)

    def sizes(self, codes: IntArray) -> IntArray:
        """Return how many values are possible after each code."""
        return self.components[0].sizes(codes)

    def members(self, code: int) -> tuple[Label, ...]:
        """Return the labels in a subset."""
        return self.components[0].members(code)

    def format(self, code: int) -> str:
        """Return a subset as text."""
        return self.components[0].format(code)

    def incidence(self, codes: IntArray) -> Listable:
        """Return the rows of the given codes, which are the same for all components."""
        return self.components[0].incidence(codes)

    def complement(self, codes: Codes) -> Codes:
        """Return the code of "no" for each code of "yes"."""
        return self.components[0].complement(codes)

    @property
    def enumerable(self) -> bool:
        """Whether every component can be listed."""
        return all(design.enumerable for design in self.components)

    @cached_property
    def _support(self) -> tuple[IntArray, FloatArray]:
        codes = np.unique(np.concatenate([design.support()[0] for design in self.components]))
        return read_only(codes), read_only(self._average(lambda design: design.mu(codes)))

    def support(self) -> tuple[IntArray, FloatArray]:
        """Return the union of the supports and the averaged mu."""
        return self._support

    def _average(self, quantity: Any) -> Any:
        return sum(share * quantity(design) for design, share in zip(self.components, self.shares, strict=True))

    def mu(self, codes: IntArray) -> FloatArray:
        """Return the averaged mu."""
        return np.asarray(self._average(lambda design: design.mu(codes)), np.float64)

    @cached_property
    def noise(self) -> FloatArray | None:
        """The average noise of rows that are not only 0 and 1."""
        if all(design.noise is None for design in self.components):
            return None
        return read_only(self._average(lambda design: 0.0 if design.noise is None else design.noise))

    @cached_property
    def epsilon(self) -> float:
        """The largest epsilon of the components, since the component of a report may be known."""
        return max(design.epsilon for design in self.components)

    def alike(self, w: FloatArray, belief: FloatArray) -> float:
        """Return the average probability that two people share a value."""
        return float(self._average(lambda design: design.alike(w, belief)))

    @cached_property
    def mu_full(self) -> float:
        """The average probability of the full set."""
        return float(self._average(lambda design: design.mu_full))

    @cached_property
    def informative_Q(self) -> FloatArray:
        """The average over the components, weighted by how often each gives an informative report."""
        average = self._average(
            # A component that reports only full sets has no such matrix.
            lambda design: 0.0 if design.mu_full == 1 else (1 - design.mu_full) * design.informative_Q
        )
        return read_only(average / (1 - self.mu_full))

    def allows(self, codes: IntArray) -> BoolArray:
        """Tell which codes at least one component can produce."""
        return np.logical_or.reduce([design.allows(codes) for design in self.components])

    @cached_property
    def Q(self) -> FloatArray:
        """The average matrix of pair probabilities."""
        return read_only(self._average(lambda design: design.Q))

    @cached_property
    def S(self) -> float:
        """The sum of all mu_a."""
        return float(self._average(lambda design: design.S))

    def guess_weights(self, belief: FloatArray) -> FloatArray:
        """Return the averaged weights of the best guesses."""
        return np.asarray(self._average(lambda design: design.guess_weights(belief)), np.float64)

    def largest_posterior(self, belief: FloatArray) -> float:
        """Return the largest posterior of any component."""
        return max(design.largest_posterior(belief) for design in self.components)

    def least_size(self, w: FloatArray) -> float:
        """Return the smallest size of any component."""
        return min(design.least_size(w) for design in self.components)

    @cached_property
    def smallest_set(self) -> int:
        """The size of the smallest subset that can be reported."""
        return min(design.smallest_set for design in self.components)

    @cached_property
    def _null(self) -> AnyArray | None:
        if any(design.is_identifiable for design in self.components):
            return None
        return identify.null_direction(self.support_incidence)

    @property
    def is_independent(self) -> bool:
        """Whether every component is independent."""
        return all(design.is_independent for design in self.components)

    def draw_questions(self, n: int, source: RandomSource) -> AnyArray:
        """Draw a component for each person with probability its share, then a question of that component."""
        which = pick(thresholds(np.array(self.shares)), source.bits(n, 64))
        out = np.empty(n, np.int64)
        for k, design in enumerate(self.components):
            rows = np.flatnonzero(which == k)
            out[rows] = design.draw_questions(len(rows), source.among(rows))
        return out

    def content(self) -> dict[str, Any]:
        """Return the components' documents with their shares."""
        parts = zip(self.components, self.shares, strict=True)
        return {"components": [{"share": repr(share), "kind": d.kind, **d.content()} for d, share in parts]}


def _parts(design: Design) -> list[tuple[Design, float]]:
    """Return the components of a design with their shares. A design that is not a mixture is its own component."""
    return list(zip(design.components, design.shares, strict=True)) if isinstance(design, Mixture) else [(design, 1.0)]


def _pool(merged: dict[Design, float], part: Design, share: float) -> None:
    """Add a component to those already merged, and pool it with one of the same kind if possible."""
    for other in merged:
        together = other.pooled(part)
        if together is not None:
            share += merged.pop(other)
            merged[together] = share
            return
    merged[part] = share
