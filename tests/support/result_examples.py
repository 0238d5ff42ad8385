"""An example of every result type, for the tests that walk all of them. A type without an example fails a test."""

from collections.abc import Callable
from typing import Any

import subsetprivacy as sp

EXAMPLES: dict[str, Callable[[], Any]] = {}


def example(function: Callable[[], Any]) -> Callable[[], Any]:
    """Take a function named after a result type, `subset_counts`, for an example of that type, `SubsetCounts`."""
    EXAMPLES["".join(word.capitalize() for word in function.__name__.split("_"))] = function
    return function


COLORS = ("black", "red", "green", "blue")
SHARES = (0.1, 0.2, 0.3, 0.4)


def colors(n: int = 2000, w: tuple[float, ...] = SHARES, seed: int = 1) -> sp.SubsetCounts:
    """Return counts of a sample of colors."""
    return sp.simulate(sp.uniform(COLORS), w, n, seed=seed)


def pairs(n: int = 2000, seed: int = 1) -> sp.JointCounts:
    """Return counts of two variables that go together."""
    design = sp.product({"x": sp.uniform(COLORS), "y": sp.uniform(["p", "q", "r", "s"])})
    w = [0.13 if i == j else 0.04 for i in range(4) for j in range(4)]
    return sp.simulate(design, w, n, seed=seed)


@example
def estimate() -> Any:
    return sp.estimate(colors())


# Planning


@example
def plan() -> Any:
    return sp.plan(COLORS, margin=0.05, w=SHARES, groups=2)


@example
def plan_option() -> Any:
    return sp.plan(5, margin=0.05, category=3).best


@example
def power() -> Any:
    return sp.power(sp.uniform(COLORS), SHARES, (0.2, 0.1, 0.3, 0.4), n1=1000, category="red")


@example
def independence_power() -> Any:
    designs = {"x": sp.uniform(COLORS), "y": sp.uniform(["p", "q", "r", "s"])}
    W = [[0.13 if i == j else 0.04 for j in range(4)] for i in range(4)]
    return sp.independence_power(designs, W, target=0.8, compare=True)


@example
def power_of_test() -> Any:
    return independence_power().test


@example
def repeat_risk() -> Any:
    return sp.repeat_risk(sp.uniform(COLORS), SHARES)


@example
def optimum() -> Any:
    return sp.optimal(COLORS, w=SHARES, budget={"mi": 0.9})


@example
def frontier() -> Any:
    return sp.frontier(COLORS, SHARES, points=3, kind="conditional")
