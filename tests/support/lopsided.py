"""Designs in which no two categories and no two subsets are alike: an index error cannot hide in them."""

import subsetprivacy as sp
from subsetprivacy.design import Mixture, coarse
from subsetprivacy.design.secret_bit import uniform_with_bit

ABCD = ("a", "b", "c", "d")
ABCDE = ("a", "b", "c", "d", "e")

# Weights in tenths, so that ten draws on an even grid realize every law exactly.
ASKED = sp.independent(ABCD, {("a", "b"): 0.5, ("a", "c"): 0.3, ("a", "d"): 0.2})
# Both sizes, the full and the empty set, and a question together with its complement.
ASKED5 = sp.independent(
    ABCDE, {("a", "b"): 0.3, ("c", "d", "e"): 0.1, ("b", "d"): 0.2, ("a", "b", "d"): 0.2, ABCDE: 0.1, (): 0.1}
)
# No yes/no question realizes this one: b|c has another weight than a|d.
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

# Codes of these mean something else than a mask, or rows are not only zeros and ones -------------------------------

SEVEN = tuple("abcdefg")
# One partition comes twice, the groups are of different sizes: no two groups are alike.
LISTED = [
    [tuple(group) for group in groups.split()]
    for groups in ("abc de fg", "ab cd efg", "ac bdf eg", "ag bf cde", "abc de fg")
]
GROUPS = sp.partition(SEVEN, 3, partitions=LISTED)
RECORDED = sp.partition(SEVEN, 3, partitions=LISTED, record=True)
TWO_GROUPS = sp.partition(
    ABCDE,
    partitions=[
        [tuple(one), tuple(two)]
        for one, two in (("ab", "cde"), ("ac", "bde"), ("ad", "bce"), ("bc", "ade"), ("abe", "cd"))
    ],
)
WARNER = sp.warner(["no", "yes"], 0.3)
BIT = uniform_with_bit(["no", "yes"], 0.4)
BIT3 = uniform_with_bit(["x", "y", "z"], 0.3)
TRIPLE = sp.product({"x": ASKED, "y": GIVEN3, "z": WARNER})
NUMBERED = sp.product({"group": RECORDED, "side": sp.hadamard(range(6), 15)})
# 400 people and 200 dummy rows for each of the two dummy categories.
COVERED = sp.covered(ASKED, 0.25).realized(400)

NEW = {
    "fixed size, p=3": sp.fixed_size(["x", "y", "z"], 2),
    "fixed size, p=6": sp.fixed_size(range(6), 4),
    "fixed size, half": sp.fixed_size(range(6), 3),
    "partition": sp.partition(SEVEN, 3),
    "partition, two groups": sp.partition(ABCDE, 2),
    "partition, listed": GROUPS,
    "partition, recorded": RECORDED,
    "partition, two listed groups": TWO_GROUPS,
    "hadamard, p=6": sp.hadamard(range(6), 15),
    "hadamard, p=7": sp.hadamard(SEVEN),
    "hadamard, p=60": sp.hadamard(60),
    "warner": WARNER,
    "bit": BIT,
    "bit, p=3": BIT3,
    "product": TRIPLE,
    "product of numbers": NUMBERED,
    "joined": sp.join({"sex": ["f", "m"], "view": ["no", "so", "yes"]}),
    "joined, revealing": sp.join({"sex": ["f", "m"], "smokes": [True, False]}, reveals=True),
    "joined by twos": sp.join({name: [0, 1] for name in "abcde"}, together=2),
    "covered": COVERED,
    "covered groups": sp.covered(RECORDED, 0.1).realized(70),
    "covered product": sp.covered(sp.product({"g": RECORDED, "h": sp.hadamard(range(6))}), 0.05).realized(1000),
    "dummies, p=2": sp.small(["no", "yes"], "dummies", reveals=True).realized(100),
    "dummies, p=3": sp.small(["x", "y", "z"], "dummies", floor=0.3, reveals=True).realized(101),
}
