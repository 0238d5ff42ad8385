"""Without matplotlib every picture says what is missing, and how to get it."""

import sys

import numpy as np
import pytest
from every_case import every_case

import subsetprivacy as sp
from subsetprivacy import draw
from subsetprivacy.errors import MissingDependencyError

COUNTS = sp.simulate(sp.uniform(range(6)), np.full(6, 1 / 6), 500, seed=1)
TABLE = sp.simulate(
    sp.product({"x": sp.uniform(range(4)), "y": sp.uniform(range(4))}), np.full(16, 1 / 16), 500, seed=1
)
AXES = {"xlabel": "x", "ylabel": "y"}
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
    # of experiments, from plain arrays
    "series": lambda: draw.series([1, 2], {"a": [1, 2]}, **AXES),
    "line panels": lambda: draw.line_panels([1, 2], {"": {"a": [1, 2]}}, **AXES),
    "predicted": lambda: draw.predicted([1, 2], {"y": {"a": ([1, 2], [1, 2])}}, xlabel="x"),
    "paths": lambda: draw.paths([1, 2], {"a": [[1, 2]]}, guide=("b", [1, 2]), **AXES),
    "normality": lambda: draw.normality([1, 2], xlabel="x", density=np.exp, quantile=np.log),
    "histograms": lambda: draw.histograms({"a": [1, 2]}, xlabel="x", density=np.exp),
    "printed and obtained": lambda: draw.printed_and_obtained(["a", "b"], [1, 2], [1, 2], xlabel="x"),
    "durations": lambda: draw.durations(["a", "b"], [1, 2], ["k", "k"], xlabel="x"),
}


@every_case("name", PICTURES)
def test_the_extra_is_named(name, monkeypatch):
    for module in [module for module in sys.modules if module.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError):
        PICTURES[name]()
