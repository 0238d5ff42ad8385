"""`product`: several variables, each with a design of its own (`prod_design`)."""

from collections.abc import Mapping
from typing import Any

from subsetprivacy.design.base import Design
from subsetprivacy.design.factors import Product
from subsetprivacy.design.require import require_design
from subsetprivacy.errors import InvalidDesignError, UnknownDesignError
from subsetprivacy.messages.for_designs import COVER_THE_WHOLE, PRODUCT_DESIGN
from subsetprivacy.variables import JointCategories


def product(designs: Mapping[Any, Design]) -> Product:
    r"""Combine the designs of several variables: each is drawn by itself (`prod_design`).

    Parameters
    ----------
    designs
        ``{name: design}``, in order. A joined design (`join`) brings its own
        names; its key is only for reading.

    Notes
    -----
    :math:`P(A = (a_1, \ldots, a_d) \mid X) = \prod_k \mu_{a_k} 1\{X_k \in a_k\}`. What one person gives over all
    variables adds up: the maximal leakage is the sum of theirs.

    Raises
    ------
    InvalidDesignError
        If a name comes twice or there are fewer than two variables.

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
        held = design.categories
        names = held.names if isinstance(held, JointCategories) else (name,)
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
            f"a dummy row must be one in every variable; got a covered design for {name!r} alone.",
            COVER_THE_WHOLE,
        )
    if design.product is not None:
        raise InvalidDesignError(f"`designs` must be of one variable each; got a product for {name!r}.")
