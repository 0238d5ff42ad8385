"""The meaning of a design's codes: bit masks of subsets, unless a kind of design overrides it."""

import json
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np

from subsetprivacy._types import BoolArray, IntArray, Label
from subsetprivacy.design.document_format import Serializable
from subsetprivacy.subsets import Categories, sizes


class Coded(Serializable):
    """The codes and the identity of a design."""

    categories: Categories
    kind: ClassVar[str]

    @property
    def p(self) -> int:
        """The number of categories."""
        return self.categories.p

    @property
    def missing_code(self) -> int:
        """The code of the full set, which also stands for a missing answer."""
        return self.categories.full

    @property
    def code_bits(self) -> int:
        """All codes are below 2 to this power."""
        return self.p

    @property
    def code_space(self) -> str:
        """The meaning of the codes. Counts of two designs can be added only if it is the same."""
        return "mask"

    def is_missing(self, codes: IntArray) -> BoolArray:
        """Tell which codes carry no information: the full set, whether drawn or for a missing answer."""
        return codes == self.missing_code

    def contains(self, codes: Any, x: Any) -> BoolArray:
        """Tell for each code whether the reported set contains the category at position x, element by element."""
        return (codes >> x & 1).astype(np.bool_)

    def possible(self, codes: Any, x: Any) -> BoolArray:
        """Tell for each code whether a person with the value at position x can report it, element by element.

        These are the members of the reported set, unless a kind of design can also report sets without the value.
        """
        return self.contains(codes, x)

    def sizes(self, codes: IntArray) -> IntArray:
        """Return how many values are possible after each code."""
        return sizes(codes)

    def members(self, code: int) -> tuple[Label, ...]:
        """Return the labels in a subset, in category order."""
        return self.categories.members(code)

    def format(self, code: int) -> str:
        """Return a subset as text, its labels joined by a bar."""
        return self.categories.format(code)

    def expose(self, codes: IntArray) -> IntArray:
        """Return the codes of the exposed design."""
        return codes

    # Identity and repr ------------------------------------------------------------------------

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return (self.kind, self.categories.identity, json.dumps(self.content(), sort_keys=True))

    @cached_property
    def _tag(self) -> str:
        """A short name for exactly this design. Unlike a fingerprint it works with labels that JSON cannot store."""
        return sha256(repr(self._key).encode()).hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Coded) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"<{self.kind} design on {self.p} categories: {self.categories.preview()}>"
