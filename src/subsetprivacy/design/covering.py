"""`covered`: give every row of a release a floor (`sec:dummy`)."""

import numpy as np

from subsetprivacy.design.base import Design
from subsetprivacy.design.coverage import Covered
from subsetprivacy.design.require import require_design
from subsetprivacy.errors import InvalidDesignError
from subsetprivacy.messages.for_designs import FEWER_CATEGORIES, LOWER_FLOOR, WHOLE_LEAKAGE
from subsetprivacy.subsets import MAX_CATEGORIES

_WHOLE = 1e-9


def covered(design: Design, floor: float, *, reveals: bool = False) -> Covered:
    r"""Give every row of a release a floor: at least this share of the rows could have been sent by dummies.

    D = S dummy categories are added (2 for yes/no questions, m for m groups),
    each report holds one of them, and for n people there are
    :math:`D\lceil \alpha n/(1-D\alpha)\rceil` dummy rows that look like everybody's. Whatever the
    distribution, the size of every reported set is at least :math:`\alpha`.

    Parameters
    ----------
    design
        A design whose S is a whole number: yes/no questions, groups, products of them.
    floor
        The least size :math:`\alpha`, below 1/D.
    reveals
        Must be True for a design that reports single values: whoever knows
        that a row is a person's then knows the value.

    Raises
    ------
    InvalidDesignError
        If S is no whole number, or the floor is not below 1/D.

    Notes
    -----
    :math:`P(\hat A = a \cup d \mid X) = \mu_a/D` for members of a and for the dummy d, which sums to one only
    if S = D; unequal nu of a question and its complement do not matter, since
    reports follow :math:`\mu_a = \nu_a + \nu_{a^c}`. The enlarged model alone is not
    identifiable for p = 4; the dummies' realised share is held, and then it is.
    The floor protects against those who cannot tell a dummy row from a
    person's. Whoever knows that a row is a person's sees what the design
    without dummies shows; `audit` gives those numbers.

    Examples
    --------
    >>> from subsetprivacy.design.independent import uniform
    >>> safe = covered(uniform(list("abcd")), floor=0.1)
    >>> safe.D, safe.dummies_for(1000)
    (2, 125)
    """
    if require_design(design).kind in {"covered", "coarse", "fully_private"}:
        raise InvalidDesignError(f"`design` must be one that can be covered; got a {design.kind} one.")
    if design.noise is not None:
        raise InvalidDesignError(
            "`design` must report subsets of the value itself to be covered; got one with a secret bit in it."
        )
    if design.smallest_set < 2 and not reveals:
        raise InvalidDesignError(
            f"`reveals` must be set to cover a {design.kind} design, of which some rows reveal the value to anyone who "
            "knows that they are a person's; it is not."
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
