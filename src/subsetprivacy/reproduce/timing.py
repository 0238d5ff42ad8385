"""Timing of estimators, the paper's and ours, on the same samples (`fig:time1`, `fig:time2`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np
from scipy.stats import binom

from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetData
from subsetprivacy.errors import NotIdentifiableError
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.messages.installing import how_to_install
from subsetprivacy.reproduce import as_printed
from subsetprivacy.reproduce.checks import Check, corrected, says, unchecked
from subsetprivacy.reproduce.experiment import Run
from subsetprivacy.reproduce.simulations import random_design, random_distribution
from subsetprivacy.subsets import bits

CVXPY, PRODUCT = "MLE (CVXPY)", "ONE, by a matrix product"
OURS, OUR_MOMENTS = "ours: MLE on counts", "ours: MoM on counts"
Times = Mapping[str, FloatArray]
"""The seconds of each method, sample by sample."""
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
_RUNS = 2
HOW = f"cvxpy is not installed: {how_to_install('conic')}"


def methods() -> dict[str, Method]:
    """Return the methods that can run here: without CVXPY, all except one."""
    return {name: method for name, method in METHODS.items() if name != CVXPY or find_spec("cvxpy")}


def time_methods(run: Run, p: int, n: int) -> Times:
    """Return the seconds of each method in each of k samples.

    All methods run on a sample before the next one, so that a pause of a busy machine falls on the methods alike, and
    their ratio is known for every sample. Each runs twice in a row, and the shorter time counts: the first run finds
    the processor's cache full of what another method left.
    """
    rng = run.rng(f"p = {p}")
    samples = [_sample(rng, p, n) for _ in range(run.k)]
    times: dict[str, list[float]] = {name: [] for name in methods()}
    for i, name in run.alone([(i, name) for i in range(-1, run.k) for name in times]):
        seconds = min(_seconds(METHODS[name], *samples[max(i, 0)]) for _ in range(_RUNS))
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


def within(ratios: FloatArray, least: float = 0.0, most: float = np.inf) -> bool | None:
    """Tell whether the median of ratios is between two bounds; None if they vary too much to tell.

    By an interval between two of the ratios themselves, which contains the median with a probability of 99%. Of fewer
    than eight it is from the smallest to the largest.
    """
    ordered = np.sort(ratios)
    at = max(int(binom.ppf(0.005, len(ordered), 0.5)) - 1, 0)
    low, high = ordered[at], ordered[-1 - at]
    if least < low and high < most:
        return True
    return False if high <= least or low >= most else None


def all_of(verdicts: Iterable[bool | None]) -> bool | None:
    """Return False if one is False, else None if one is not known, else True."""
    every = list(verdicts)
    return False if False in every else None if None in every else True


def order_checks(times: Mapping[int, Times]) -> list[Check]:
    """Check for each p that moments are the fastest of the paper's methods and CVXPY the slowest."""
    where = "p = " + ", ".join(map(str, times))
    claim, printed = f"{where}: the slowest of the paper's methods", "the MLE by CVXPY is the slowest"
    return [
        _is_first(f"{where}: the fastest of the paper's methods", "the MoM is the fastest", times, "MoM", 1),
        _is_first(claim, printed, times, CVXPY, -1)
        if all(CVXPY in each for each in times.values())
        else unchecked(claim, printed, HOW),
    ]


def _is_first(claim: str, printed: str, times: Mapping[int, Times], name: str, sign: int) -> Check:
    """Check that the method is the fastest (sign 1) or slowest (-1) for every p, and report how far the next one is."""
    ratios = [
        (each[other] / each[name]) ** sign
        for each in times.values()
        for other in PAPERS
        if other in each and other != name
    ]
    nearest = min(float(np.median(part)) for part in ratios)
    return says(
        claim,
        printed,
        f"{name}; {nearest:.1f} times or more between {name} and any other",
        all_of(within(part, least=1) for part in ratios),
        f"{name} for every p",
    )


def recommendation(where: str, times: Times) -> Check:
    """Check that maximum likelihood on counts is cheap enough that moments are not needed."""
    ours = times[OURS]
    moments, counted = ours / times["MoM"], ours / times[OUR_MOMENTS]
    slower = {name: times[name] / ours for name in ("EM", CVXPY) if name in times}
    return corrected(
        f"{where}: the maximum on counts, certified, against their MoM",
        "MoM is much faster than MLE. In practice, we recommend the use of MoM",
        f"{np.median(moments):.1f} times their MoM, {np.median(counted):.1f} times MoM on counts; "
        + ", ".join(f"{np.median(ratio):.0f} times faster than {name}" for name, ratio in slower.items()),
        all_of(
            [*(within(ratio, least=1) for ratio in slower.values()), within(moments, most=20), within(counted, most=3)]
        ),
        "faster than EM and CVXPY; less than 20 times their MoM and than 3 times MoM on counts",
        erratum="recommendation",
        how="a matter of how it is computed",
    )
