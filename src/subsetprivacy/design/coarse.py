"""The stand-in for a design that is not known."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

from attrs import field, frozen

from subsetprivacy._types import BoolArray, FloatArray, IntArray, Label
from subsetprivacy.design.base import Design
from subsetprivacy.design.described import Formula
from subsetprivacy.design.keys import Keys
from subsetprivacy.design.require import check_size
from subsetprivacy.errors import UnknownDesignError
from subsetprivacy.messages.for_designs import GIVE_THE_DESIGN
from subsetprivacy.subsets import as_categories


@frozen(slots=False, eq=False, repr=False)
class Coarse(Design):
    """Subsets that somebody else collected, with no known design.

    The likelihood is right if the data are *coarsened at random*: which
    subset was reported, given that it holds the value, must not depend on
    the value. Moment methods and leakage need the design and refuse.
    """

    kind: ClassVar[str] = "coarse"
    name: ClassVar[str] = "unknown"
    keys: ClassVar[Keys] = Keys(categories=(2, 48))
    formula: ClassVar[Formula] = Formula(
        reports="any subset but the empty one; which are possible is not known",
        weight="",
        probability=r"P(a \mid j) = P(a \mid i) \text{ for all members } i, j \text{ of } a",
        symbols=(("P", "not known; that it is the same for all members of a report is an assumption"),),
    )
    note: str = field(default="coarsening at random is assumed")

    @classmethod
    def example(cls) -> "Coarse":
        """Return four categories of which subsets were collected."""
        return coarse(["a", "b", "c", "d"])

    @property
    def description(self) -> str:
        """That nothing is known but that the subsets are true."""
        return "It is not known how these sets came about, only that each contains the value."

    @property
    def is_known(self) -> bool:
        """False: what is known are the subsets."""
        return False

    @property
    def assumption(self) -> str:
        """That the data are coarsened at random."""
        return self.note

    def support(self) -> tuple[IntArray, FloatArray]:
        """Refuse: the weights are unknown."""
        raise UnknownDesignError(
            "the design of these data must be known for this; got subsets without one.", GIVE_THE_DESIGN
        )

    def content(self) -> dict[str, Any]:
        """Return nothing: there is nothing known."""
        return {}

    @property
    def enumerable(self) -> bool:
        """False: nothing is known."""
        return False

    def allows(self, codes: IntArray) -> BoolArray:
        """Any non-empty subset may have been reported."""
        return (codes > 0) & (codes <= self.categories.full)

    @cached_property
    def mu_full(self) -> float:
        """Zero: a full set is read as missing."""
        return 0.0


def coarse(categories: Iterable[Label]) -> Coarse:
    """Make the stand-in for a design that is not known."""
    return Coarse(check_size(as_categories(categories), 2, "coarse", None))
