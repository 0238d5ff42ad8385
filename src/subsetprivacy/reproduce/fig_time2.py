"""How the time of each estimator grows with the number of categories (`fig:time2`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.draw import series
from subsetprivacy.reproduce import as_printed
from subsetprivacy.reproduce.checks import Check, corrected, says, stated
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.reproduce.simulations import falling, mean_and_error, random_design, random_distribution
from subsetprivacy.reproduce.timing import (
    METHODS,
    PRODUCT,
    Times,
    all_of,
    order_checks,
    recommendation,
    time_methods,
    total,
    within,
)
from subsetprivacy.subsets import bits

ABOUT = """The same timing as in `fig:time1`, for 4 to 12 categories, 2000 people and totals of a hundred samples: the
paper's estimators with a row per person, and this package's from counts.

MoM solves p equations. EM updates n rows of p numbers, and needs more updates with more categories. Their number is
counted too, in separate samples. ONE (the clipped step of the paper's formula, as in `fig:time1`) needs a Hessian, n
times p² numbers. Added up person by person, in Python, its time is of the order of EM's, as the paper reports. As one
matrix product it is several times faster than either. The paper's finding is therefore about an implementation, not
about the estimator. Counts have no more rows than there are distinct subsets, and the certified maximum from them takes
a few Newton steps.

The exponents, fitted to the five points, show how time grows with p. With so few categories they are small, because of
the fixed cost of a call and of averaging the n rows before MoM's p equations are solved."""

CATEGORIES, N, SHOWN = (4, 6, 8, 10, 12), 2000, 100


def updates(rng: np.random.Generator, p: int, n: int) -> list[float]:
    """Return how many updates EM takes."""
    design = random_design(rng, p)
    codes = as_printed.people(rng, design, random_distribution(rng, p), n)
    return [float(as_printed.em(np.ascontiguousarray(bits(codes, p)))[1])]


def perform(run: Run) -> ExperimentResult:
    """Time every method for each p, and count the updates of EM."""
    times = {p: time_methods(run, p, N) for p in CATEGORIES}
    steps = run.replicate(updates, [(p, N) for p in CATEGORIES], k=max(run.k, 40))
    every = {name: np.sum([each[name] for each in times.values()], axis=0) for name in times[4]}
    means, errors = np.array([mean_and_error(values[:, 0]) for values in steps]).T
    checks = [
        *order_checks(times),
        *growth(times),
        *(_similar(p, times[p]) for p in CATEGORIES if p >= 8),
        _more_updates(means, errors),
        recommendation("all p together", every),
        product_check(times),
        stated("samples timed for each p; totals are 100 times their median", str(run.k)),
    ]
    table: dict[str, list[Any]] = {"p": list(CATEGORIES)}
    lines = {name: [total(times[p][name], SHOWN) for p in CATEGORIES] for name in METHODS if name in every}
    table |= lines | {"updates of EM": means.tolist(), "updates error": errors.tolist()}
    axes = series(
        CATEGORIES,
        lines,
        xlabel="number of categories p",
        ylabel=f"seconds for {SHOWN} samples of {N} people",
        log="y",
    )
    return ExperimentResult(checks, table, axes.figure)


def _similar(p: int, times: Times) -> Check:
    ratios = times["EM"] / times["ONE"]
    return says(
        f"p = {p}: time of EM over that of ONE, its Hessian added up person by person",
        "the one-step estimator behaves similarly with EM when p ≥ 8",
        f"{np.median(ratios):.2f}",
        within(ratios, 0.1, 10),
        "a factor of 10 either way: only the order of magnitude is checked",
    )


def growth(times: Mapping[int, Times]) -> list[Check]:
    """Fit the exponent of p of each method's time, sample by sample, and check that of moments."""
    x = np.log(list(times))
    x = x - x.mean()
    names = list(next(iter(times.values())))
    slopes = {name: x @ np.log([each[name] for each in times.values()]) / (x @ x) for name in names}
    mine = slopes.pop("MoM")
    return [
        says(
            "MoM: exponent of p, the mean of n rows in its time",
            "time complexity no more than O(p³)",
            f"{np.median(mine):.2f}",
            within(mine, -np.inf, 3),
            "at most 3",
        ),
        stated(
            "exponent of p of the others", ", ".join(f"{name} {np.median(slope):.2f}" for name, slope in slopes.items())
        ),
    ]


def product_check(times: Mapping[int, Times]) -> Check:
    """Check that one step is faster than EM once its Hessian is a matrix product."""
    late = {p: each for p, each in times.items() if p >= 8}
    ratios = [[each[name] / each[PRODUCT] for name in ("EM", "ONE")] for each in late.values()]
    return corrected(
        f"p = {', '.join(map(str, late))}: times of EM and of ONE by person over that of ONE by a matrix product",
        "the one-step estimator behaves similarly with EM when p ≥ 8",
        ", ".join(f"{np.median(em):.0f} and {np.median(one_step):.0f}" for em, one_step in ratios),
        all_of(within(part, least=4) for pair in ratios for part in pair),
        "both take more than four times as long, for each p",
        erratum="fig:time2",
        how="of an implementation",
    )


def _more_updates(means: FloatArray, errors: FloatArray) -> Check:
    return says(
        "updates of EM until it rests, p = 4 to 12",
        "the number of iterations to converge will increase with p",
        ", ".join(f"{mean:.0f} ({error:.0f})" for mean, error in zip(means, errors, strict=True)),
        falling(-means, errors),
        "no fall beyond 3 standard errors, and from first to last a rise of at least 3",
    )


EXPERIMENT = Experiment("fig:time2", "Time of each estimator as categories grow", ABOUT, perform, quick=5, full=100)
