"""Timing of estimators, the paper's and ours, on the same samples (`fig:time1`, `fig:time2`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetData
from subsetprivacy.errors import NotIdentifiableError
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.reproduce import as_printed
from subsetprivacy.reproduce.checks import Check, corrected, says, unchecked
from subsetprivacy.reproduce.experiment import Run
from subsetprivacy.reproduce.simulations import random_design, random_distribution
from subsetprivacy.subsets import bits

CVXPY, PRODUCT = "MLE (CVXPY)", "ONE, by a matrix product"
OURS, OUR_MOMENTS = "ours: MLE on counts", "ours: MoM on counts"
Method = Callable[[SubsetData, FloatArray, FloatArray], Any]
METHODS: dict[str, Method] = {
    "EM": lambda data, R, Q: as_printed.em(R),
    CVXPY: lambda data, R, Q: as_printed.cvxpy(R),
    "MoM": lambda data, R, Q: as_printed.mom(R, Q),
    "ONE": lambda data, R, Q: as_printed.one_step(R, Q, as_printed.hessian_by_person),
    PRODUCT: lambda data, R, Q: as_printed.one_step(R, Q),
    OURS: lambda data, R, Q: estimate(SubsetData(data.codes, data.design)),
    "ours: MoM given the questions": lambda data, R, Q: estimate(
        SubsetData(data.codes, data.design), "mom-conditional"
    ),
    OUR_MOMENTS: lambda data, R, Q: estimate(SubsetData(data.codes, data.design), "mom"),
}
PAPERS = ("EM", CVXPY, "MoM", "ONE")
HOW = "cvxpy is not installed: pip install 'subsetprivacy[conic]'"


def methods() -> dict[str, Method]:
    """Return the methods that can run here: without CVXPY, all except one."""
    return {name: method for name, method in METHODS.items() if name != CVXPY or find_spec("cvxpy")}


def time_methods(run: Run, p: int, n: int) -> dict[str, FloatArray]:
    """Return the seconds of each method in each of k samples, running one method on all samples, then the next."""
    rng = run.rng(f"p = {p}")
    samples = [_sample(rng, p, n) for _ in range(run.k)]
    times: dict[str, list[float]] = {name: [] for name in methods()}
    for name, i in run.alone([(name, i) for name in times for i in range(-1, run.k)]):
        seconds = _seconds(METHODS[name], *samples[max(i, 0)])
        if i >= 0:  # the first run does not count, because it includes imports and other setup
            times[name].append(seconds)
    return {name: np.array(values) for name, values in times.items()}


def _sample(rng: np.random.Generator, p: int, n: int) -> tuple[SubsetData, FloatArray, FloatArray]:
    """Return n people's subsets of a random problem, their rows and the matrix Q."""
    design = random_design(rng, p).require_identifiable()
    data = SubsetData(as_printed.people(rng, design, random_distribution(rng, p), n), design)
    return data, np.ascontiguousarray(bits(data.codes, p)), design.Q


def _seconds(method: Method, data: SubsetData, R: FloatArray, Q: FloatArray) -> float:
    start = perf_counter()
    with suppress(NotIdentifiableError):  # too few distinct subsets: the time to notice that counts
        method(data, R, Q)
    return perf_counter() - start


def total(times: FloatArray, samples: int) -> float:
    """Return the time of `samples` samples from the median, so that pauses of a busy machine do not count."""
    return float(np.median(times) * samples)


def order_checks(totals: Mapping[int, Mapping[str, float]]) -> list[Check]:
    """Check for each p that moments are the fastest of the paper's methods and CVXPY the slowest."""
    among = {p: {name: each[name] for name in PAPERS if name in each} for p, each in totals.items()}
    where = "p = " + ", ".join(map(str, totals))
    checks = [_ends(f"{where}: the fastest of the paper's methods", "the MoM is the fastest", among, "MoM", min)]
    claim, printed = f"{where}: the slowest of the paper's methods", "the MLE by CVXPY is the slowest"
    if all(CVXPY in each for each in among.values()):
        return [*checks, _ends(claim, printed, among, CVXPY, max)]
    return [*checks, unchecked(claim, printed, HOW)]


def _ends(claim: str, printed: str, among: dict[int, dict[str, float]], name: str, end: Callable[..., str]) -> Check:
    """Check that the method is first or last for every p, and report the distance of the next one."""
    first = [end(each, key=each.__getitem__) for each in among.values()]
    apart = [abs(np.log(each[other] / each[name])) for each in among.values() for other in each if other != name]
    return says(
        claim,
        printed,
        ", ".join(first) + f"; {np.exp(min(apart)):.1f} times or more between {name} and any other",
        set(first) == {name},
        f"{name} for every p",
    )


def recommendation(where: str, totals: dict[str, float]) -> Check:
    """Check that maximum likelihood on counts is cheap enough that moments are not needed."""
    ours, moments = totals[OURS], totals["MoM"]
    counted = totals[OUR_MOMENTS]
    slower = {name: totals[name] / ours for name in ("EM", CVXPY) if name in totals}
    return corrected(
        f"{where}: the maximum on counts, certified, against their MoM",
        "MoM is much faster than MLE. In practice, we recommend the use of MoM",
        f"{ours / moments:.1f} times their MoM, {ours / counted:.1f} times MoM on counts; "
        + ", ".join(f"{ratio:.0f} times faster than {name}" for name, ratio in slower.items()),
        min(slower.values()) > 1 and ours < 20 * moments and ours < 3 * counted,
        "faster than EM and CVXPY; less than 20 times their MoM and than 3 times MoM on counts",
        erratum="recommendation",
        how="a matter of how it is computed",
    )
