"""An example of every result type, for the tests that walk all of them. A type without an example fails a test."""

from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa

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


@example
def margin() -> Any:
    return sp.estimate(pairs()).margin("x")


@example
def contrast() -> Any:
    return sp.estimate(colors()).contrast({"red": 1, "black": -1}, null=0.05, alternative="greater")


@example
def difference() -> Any:
    # The second sample is small and lacks a color, so that there are notes.
    other = colors(n=100, w=(0.0, 0.02, 0.3, 0.68), seed=2)
    return sp.estimate(colors()).difference(sp.estimate(other), names=("2025", "2024"))


@example
def comparison() -> Any:
    waves = {2023: colors(seed=1), 2024: colors(seed=2), 2025: colors(w=(0.2, 0.2, 0.3, 0.3), seed=3)}
    return sp.compare({year: sp.estimate(counts) for year, counts in waves.items()})


@example
def estimate_batch() -> Any:
    return sp.estimate_many({"f": colors(seed=1), "m": colors(n=60, w=(0.0, 0.0, 0.3, 0.7), seed=2)})


@example
def fit_test() -> Any:
    return sp.fit_test(colors(), [0.25, 0.25, 0.25, 0.25], replications=99, seed=1)


@example
def association() -> Any:
    return sp.association(pairs())


@example
def conditional() -> Any:
    return sp.association(pairs()).conditional(given="y")


@example
def measure() -> Any:
    # Of independent variables: V is near 0, so that the measure has notes.
    design = sp.product({"x": sp.uniform(COLORS), "y": sp.warner(["no", "yes"])})
    return sp.association(sp.simulate(design, [1 / 8] * 8, 500, seed=1)).cramers_v()


@example
def release() -> Any:
    design = sp.uniform(COLORS)
    data = sp.privatize(["red", "blue", "blue"] * 20, design, seed=1)
    table = pa.table({"color": data.codes, "year": [2024] * 60})
    return sp.write_release(table, Path(mkdtemp()) / "colors.csv", {"color": design}, keep=["year"])
