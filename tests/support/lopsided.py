"""Designs in which no two categories and no two subsets are alike: an index error cannot hide in them."""

import subsetprivacy as sp
from subsetprivacy.design import Mixture, coarse

ABCD = ("a", "b", "c", "d")
ABCDE = ("a", "b", "c", "d", "e")

# Weights in tenths, so that ten draws on an even grid realise every law exactly.
ASKED = sp.independent(ABCD, {("a", "b"): 0.5, ("a", "c"): 0.3, ("a", "d"): 0.2})
# Both sizes, the full and the empty set, and a question together with its complement.
ASKED5 = sp.independent(
    ABCDE, {("a", "b"): 0.3, ("c", "d", "e"): 0.1, ("b", "d"): 0.2, ("a", "b", "d"): 0.2, ABCDE: 0.1, (): 0.1}
)
# No yes/no question realises this one: b|c has another weight than a|d.
GIVEN = sp.conditional(
    ABCD,
    {
        ("a", "b", "c"): 0.4,
        ("a", "b", "d"): 0.2,
        ("a", "c", "d"): 0.1,
        ("a", "d"): 0.3,
        ("b", "c", "d"): 0.1,
        ("b", "c"): 0.2,
        ("b", "d"): 0.1,
        ("c", "d"): 0.2,
    },
)
GIVEN3 = sp.conditional(["x", "y", "z"], {("x", "y"): 0.3, ("x", "z"): 0.3, ("y", "z"): 0.3, ("x", "y", "z"): 0.4})

DESIGNS = {
    "uniform, p=4": sp.uniform(ABCD),
    "uniform, p=7": sp.uniform(range(7)),
    "independent": ASKED,
    "independent, p=5": ASKED5,
    "conditional": GIVEN,
    "conditional, p=3": GIVEN3,
    "nonprivate": sp.nonprivate(ABCD),
    "fully private": sp.fully_private(ABCD),
    "mixture, asked": Mixture.of([ASKED, sp.uniform(ABCD)], [3, 7]),
    "mixture, given": Mixture.of([ASKED, GIVEN, sp.fully_private(ABCD)], [0.1, 0.2, 0.4]),
}
UNKNOWN = coarse(ABCD)
