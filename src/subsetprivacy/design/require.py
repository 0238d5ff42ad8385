"""Conditions that several kinds of design share."""

from typing import TYPE_CHECKING, Any

from subsetprivacy.design.base import Design
from subsetprivacy.errors import ArgumentError, InvalidDesignError, TooLargeError
from subsetprivacy.incidence import MAX_DENSE_BITS
from subsetprivacy.messages import Advice
from subsetprivacy.messages.for_designs import HADAMARD_FOR_MANY, MAKE_A_DESIGN, NO_LIST_NEEDED
from subsetprivacy.subsets import MAX_CATEGORIES, Categories

if TYPE_CHECKING:
    from subsetprivacy.design.product import Product


def check_size(categories: Categories, least: int, kind: str, advice: Advice | None) -> Categories:
    """Return the categories if the kind of design allows their number."""
    article = "an" if kind[0] in "aeio" else "a"  # a uniform design
    if categories.p < least:
        raise InvalidDesignError(
            f"{article} {kind} design must have at least {least} categories; got {categories.p}.", advice
        )
    if categories.p > MAX_CATEGORIES:
        raise InvalidDesignError(
            f"{article} {kind} design must have at most {MAX_CATEGORIES} categories; got {categories.p}.",
            HADAMARD_FOR_MANY,
        )
    return categories


def require_design(design: Any) -> Design:
    """Return the argument if it is a design.

    Raises
    ------
    ArgumentError
        If it is not.
    """
    if not isinstance(design, Design):
        raise ArgumentError(f"`design` must be a design; got {type(design).__name__}.", MAKE_A_DESIGN)
    return design


def as_product(design: Any) -> "Product | None":
    """Return the argument if it is a product design; None for any other object."""
    return design.product if isinstance(design, Design) else None


def require_enumerable(design: Design, what: str) -> Design:
    """Return the design if its support can be listed, else raise an error that says what needs the list."""
    if not design.is_known:
        design.support()  # refuses, with the reason
    if not design.enumerable:
        raise TooLargeError(
            f"{what} lists all subsets and must have at most {MAX_DENSE_BITS} categories; got {design.p}.",
            NO_LIST_NEEDED,
        )
    return design
