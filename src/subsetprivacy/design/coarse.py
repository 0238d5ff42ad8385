"""The design of data whose real design is unknown."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

from attrs import field, frozen

from subsetprivacy._types import BoolArray, FloatArray, IntArray, Label
from subsetprivacy.design.base import Design
from subsetprivacy.design.described import Formula
from subsetprivacy.design.document_format import Keys
from subsetprivacy.design.require import check_size
from subsetprivacy.errors import UnknownDesignError
from subsetprivacy.messages.for_designs import GIVE_THE_DESIGN
from subsetprivacy.subsets import as_categories


@frozen(slots=False, eq=False, repr=False)
class Coarse(Design):
    """Subsets that someone else collected, with an unknown design.

    The likelihood is correct if the data are *coarsened at random*: which
    subset was reported, given that it contains the value, must not depend on
    the value. Moment methods and leakages need the design and raise an error.
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
        """Return four categories whose subsets were collected."""
        return coarse(["a", "b", "c", "d"])

    @property
    def description(self) -> str:
        """Only that the subsets contain the values is known."""
        return "It is not known how these sets came about, only that each contains the value."

    @property
    def is_known(self) -> bool:
        """False: only the subsets are known."""
        return False

    @property
    def assumption(self) -> str:
        """That the data are coarsened at random."""
        return self.note

    def support(self) -> tuple[IntArray, FloatArray]:
        """Raise an error: the weights are unknown."""
        raise UnknownDesignError(
            "the design of these data must be known for this; got subsets without one.", GIVE_THE_DESIGN
        )

    def content(self) -> dict[str, Any]:
        """Return an empty dict: nothing is known."""
        return {}

    @property
    def enumerable(self) -> bool:
        """False: the support is unknown."""
        return False

    def allows(self, codes: IntArray) -> BoolArray:
        """Any non-empty subset may have been reported."""
        return (codes > 0) & (codes <= self.categories.full)

    @property
    def epsilon(self) -> float:
        """Infinite: whatever the weights are, values outside the subset are ruled out."""
        return float("inf")

    @cached_property
    def mu_full(self) -> float:
        """Zero: a full set is read as missing."""
        return 0.0


def coarse(categories: Iterable[Label]) -> Coarse:
    """Make the design of data whose real design is unknown."""
    return Coarse(check_size(as_categories(categories), 2, "coarse", None))
