"""Without matplotlib every picture says what is missing, and how to get it."""

import sys

import numpy as np
import pytest

import subsetprivacy as sp
from subsetprivacy.errors import MissingDependencyError

COUNTS = sp.simulate(sp.uniform(range(6)), np.full(6, 1 / 6), 500, seed=1)
TABLE = sp.simulate(
    sp.product({"x": sp.uniform(range(4)), "y": sp.uniform(range(4))}), np.full(16, 1 / 16), 500, seed=1
)
PICTURES = {
    "estimate": lambda: sp.estimate(COUNTS).plot(),
    "audit": lambda: sp.audit(COUNTS).plot(),
    "plan": lambda: sp.plan(6).plot(),
    "honesty": lambda: sp.check_honesty(COUNTS).plot(),
    "independence": lambda: sp.independence_test(TABLE, permutations=19, seed=1).plot(),
    "residuals": lambda: sp.independence_test(TABLE, permutations=19, seed=1).plot("residuals"),
    "association": lambda: sp.association(TABLE).plot(),
    "conditional": lambda: sp.association(TABLE).conditional().plot(),
    "power": lambda: sp.independence_power(TABLE.design, np.eye(4) / 4, 100, compare=True).plot(),
    "frontier": lambda: sp.frontier(range(4), np.full(4, 0.25), points=2).plot(),
}


@pytest.mark.parametrize("name", PICTURES)
def test_the_extra_is_named(name, monkeypatch):
    for module in [module for module in sys.modules if module.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'subsetprivacy\[plot\]'"):
        PICTURES[name]()
