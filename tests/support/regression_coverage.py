"""How often intervals and tests of regressions keep their level. Run as a script it prints the tables.

python tests/support/regression_coverage.py [replications] [first letters of the tables to print]

The covariates are a normal x and a z of 0 and 1. Coefficients of the first category are 0, and those of the others rise
with x and alternate with z. Samples in which a coefficient has no end are counted apart: they have no intervals there.
"""

import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from attrs import frozen
from scipy.special import expit

import subsetprivacy as sp

PROCESSES = 2
DESIGNS = {
    "warner, p = 2": lambda: sp.warner(range(2)),
    "pairs, p = 3": lambda: sp.fixed_size(range(3), 2),
    "uniform, p = 4": lambda: sp.uniform(range(4)),
    "partition in 2 groups, p = 4": lambda: sp.partition(range(4)),
    "hadamard, p = 4": lambda: sp.hadamard(range(4)),
    "uniform, p = 5": lambda: sp.uniform(range(5)),
    "partition in 2 groups, p = 5": lambda: sp.partition(range(5)),
    "partition in 3 groups, p = 6": lambda: sp.partition(range(6), groups=3),
    "uniform, p = 8": lambda: sp.uniform(range(8)),
    "partition in 3 groups, p = 8": lambda: sp.partition(range(8), groups=3),
    "hadamard, p = 8": lambda: sp.hadamard(range(8)),
}
SIZES = (500, 2000)


def coefficients(p, *, z=0.5):
    """Return the true coefficients of all categories: intercept, x and z."""
    B = np.column_stack([np.zeros(p), np.linspace(0, 1.0, p), z * (np.arange(p) % 2)])
    return B - B[0]


def covariates(n, rng):
    """Return the columns x and z."""
    return np.column_stack([rng.standard_normal(n), rng.integers(0, 2, n)])


def sample(design, n, seed, *, z=0.5, bent=0.0):
    """Return subsets and covariates; `bent` adds a square of x to the odd categories."""
    rng = np.random.default_rng(seed)
    X = covariates(n, rng)
    U = coefficients(design.p, z=z) @ np.vstack([np.ones(n), X.T])
    U[1::2] += bent * X[:, 0] ** 2
    P = np.exp(U)
    P /= P.sum(axis=0)
    values = (P.cumsum(axis=0) > rng.random(n)).argmax(axis=0)
    return sp.privatize(values, design, seed=seed), X


def ordered_sample(design, n, seed, *, uneven=0.0):
    """Return subsets of ordered values and covariates; with `uneven` the slope of x differs between cut points."""
    rng = np.random.default_rng(seed)
    X = covariates(n, rng)
    p = design.p
    cuts = np.log(np.arange(1, p) / np.arange(p - 1, 0, -1))
    slopes = 0.7 + uneven * np.linspace(-0.5, 0.5, p - 1)
    below = expit(cuts[:, None] - slopes[:, None] * X[:, 0] - 0.5 * X[:, 1])
    below = np.maximum.accumulate(below, axis=0)
    values = (rng.random(n) > below).sum(axis=0)
    return sp.privatize(values, design, seed=seed), X


@frozen
class Coverage:
    """How often 95% intervals hold the truth, per coefficient; separated samples apart."""

    separated: int
    used: int
    likelihood: float  # the share of samples that the likelihood fitted
    wald: np.ndarray
    robust: np.ndarray
    shares: np.ndarray
    specification: float
    ratio: np.ndarray  # mean standard error over standard deviation


@frozen
class Level:
    """How often tests at 5% reject."""

    separated: int
    used: int
    rejected: dict


def quiet(function, *arguments, **options):
    """Call without the warnings of the package."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.errors.SubsetPrivacyWarning)
        return function(*arguments, **options)


def _inside(ends, truth):
    return (ends[:, 0] <= truth) & (truth <= ends[:, 1])


def _one_coverage(task):
    name, n, seed, method = task
    design = DESIGNS[name]()
    data, X = sample(design, n, seed)
    fit = quiet(sp.regress, data, X, baseline=0, method=method)
    if fit.separated or not fit.converged:
        return None
    assert method == fit.method or method is None
    B = coefficients(design.p)
    truth = B[1:].ravel()
    at = np.array([[0.5, 1.0]])
    U = np.exp(B @ np.array([1.0, *at[0]]))
    shares = fit.predict(at).interval()[0]
    wald = fit.interval(method="wald") if method == "ml" else np.full((len(truth), 2), np.nan)
    pvalue = float(fit.specification.pvalue[0])
    return (
        fit.method == "ml",
        _inside(wald, truth),
        _inside(fit.interval() if method is None else fit.interval(method="robust"), truth),
        _inside(shares, U / U.sum()),
        pvalue,
        fit.estimates,
        fit._se("auto"),
    )


def coverage(name, n, replications, *, seed=1, method="ml", run=map):
    """Return the coverage of the intervals of one design and size."""
    tasks = [(name, n, seed * 1_000_000 + k, method) for k in range(replications)]
    found = [one for one in run(_one_coverage, tasks) if one is not None]
    likelihood, wald, robust, shares, pvalue, estimates, se = (np.array(each) for each in zip(*found, strict=True))
    return Coverage(
        replications - len(found),
        len(found),
        float(likelihood.mean()),
        wald.mean(axis=0),
        robust.mean(axis=0),
        shares.mean(axis=0),
        float((pvalue <= 0.05).mean()) if np.isfinite(pvalue).all() else float("nan"),
        se.mean(axis=0) / estimates.std(axis=0),
    )


def _one_level(task):
    name, n, seed = task
    data, X = sample(DESIGNS[name](), n, seed, z=0.0)
    fit = quiet(sp.regress, data, X, baseline=0, method="ml")
    tests = {method: float(fit.test("x2", method=method).pvalue[0]) for method in ("lr", "wald", "robust")}
    default = quiet(sp.regress, data, X, baseline=0)
    tests["default"] = float(default.test("x2").pvalue[0])
    return bool(fit.separated), tests


def level(name, n, replications, *, seed=2, run=map):
    """Return how often the tests of z reject at 5% although it has no effect.

    The likelihood ratio has an answer in separated samples too, so they count for it.
    """
    tasks = [(name, n, seed * 1_000_000 + k) for k in range(replications)]
    found = list(run(_one_level, tasks))
    finite = [tests for separated, tests in found if not separated]
    rejected = {method: float(np.mean([t[method] <= 0.05 for t in finite])) for method in ("lr", "wald", "robust")}
    rejected["lr, all samples"] = float(np.mean([t["lr"] <= 0.05 for _, t in found]))
    tested = [t["default"] for _, t in found if np.isfinite(t["default"])]
    rejected["default"] = float(np.mean(np.array(tested) <= 0.05))
    return Level(replications - len(finite), len(finite), rejected)


def _one_power(task):
    name, n, seed, bent = task
    data, X = sample(DESIGNS[name](), n, seed, bent=bent)
    fit = quiet(sp.regress, data, X, baseline=0, method="ml")
    return float(fit.specification.pvalue[0])


def power(name, n, replications, *, bent, seed=3, run=map):
    """Return how often the specification test at 5% finds that a square was left out."""
    tasks = [(name, n, seed * 1_000_000 + k, bent) for k in range(replications)]
    found = np.array(list(run(_one_power, tasks)))
    tested = found[np.isfinite(found)]
    return Level(int(len(found) - len(tested)), len(tested), {"specification": float((tested <= 0.05).mean())})


def _one_ordinal(task):
    name, n, seed, uneven = task
    design = DESIGNS[name]()
    data, X = ordered_sample(design, n, seed, uneven=uneven)
    fit = quiet(sp.regress, data, X, family="ordinal", method="ml")
    if fit.separated or not fit.converged:
        return None
    p = design.p
    truth = np.concatenate([np.log(np.arange(1, p) / np.arange(p - 1, 0, -1)), [0.7, 0.5]])
    return (
        _inside(fit.interval(method="wald"), truth),
        _inside(fit.interval(method="robust"), truth),
        float(fit.proportionality.pvalue[0]),
    )


def ordinal(name, n, replications, *, uneven=0.0, seed=4, run=map):
    """Return coverage and how often the test of proportional odds rejects at 5%."""
    tasks = [(name, n, seed * 1_000_000 + k, uneven) for k in range(replications)]
    found = [one for one in run(_one_ordinal, tasks) if one is not None]
    wald, robust, pvalue = (np.array(each) for each in zip(*found, strict=True))
    tested = pvalue[np.isfinite(pvalue)]
    return {
        "used": len(found),
        "separated": replications - len(found),
        "wald": wald.mean(axis=0),
        "robust": robust.mean(axis=0),
        "tested": len(tested),
        "proportionality": float((tested <= 0.05).mean()) if len(tested) else float("nan"),
    }


def percent(values):
    """Return percentages with one digit: one, or the smallest and the largest."""
    values = 100 * np.atleast_1d(values)
    if len(values) == 1 or np.isnan(values).any():
        return "" if np.isnan(values).any() else f"{values[0]:.1f}"
    return f"{values.min():.1f} to {values.max():.1f} ({values.mean():.1f})"


def print_coverage(replications, run, method="ml"):
    """Print the coverage of coefficients and predicted shares."""
    print(f"\nCoverage of 95% intervals, method={method!r}: smallest to largest coefficient (mean)\n")
    print(
        "| design | people | separated | Wald | robust | shares | se over sd | specification rejects |"
        + "\n"
        + "|---" * 8
        + "|"
    )
    for name in DESIGNS:
        for n in SIZES:
            found = coverage(name, n, replications, method=method, run=run)
            low, high = found.ratio.min(), found.ratio.max()
            print(
                f"| {name} | {n} | {found.separated} | {percent(found.wald)} | {percent(found.robust)} "
                f"| {percent(found.shares)} | {low:.2f} to {high:.2f} | {percent(found.specification)} |",
                flush=True,
            )


def print_default(replications, run):
    """Print the coverage of the default method."""
    print("\nCoverage of 95% intervals of the default method: smallest to largest coefficient (mean)\n")
    print(
        "| design | people | by likelihood, % | separated | default | shares | se over sd |" + "\n" + "|---" * 7 + "|"
    )
    for name in DESIGNS:
        for n in SIZES:
            found = coverage(name, n, replications, method=None, run=run)
            low, high = found.ratio.min(), found.ratio.max()
            print(
                f"| {name} | {n} | {100 * found.likelihood:.0f} | {found.separated} | {percent(found.robust)} "
                f"| {percent(found.shares)} | {low:.2f} to {high:.2f} |",
                flush=True,
            )


def print_level(replications, run):
    """Print the levels of the tests of a term."""
    print("\nTests of a term without effect, rejected at 5%\n")
    print(
        "| design | people | separated | likelihood ratio | Wald | robust | likelihood ratio, all samples | default |"
        + "\n"
        + "|---" * 8
        + "|"
    )
    for name in DESIGNS:
        for n in SIZES:
            found = level(name, n, replications, run=run)
            shown = " | ".join(
                percent(found.rejected[each]) for each in ("lr", "wald", "robust", "lr, all samples", "default")
            )
            print(f"| {name} | {n} | {found.separated} | {shown} |", flush=True)


def print_power(replications, run):
    """Print how often the specification test finds a square that was left out."""
    print("\nPower of the specification test at 5%: a square of x left out\n")
    print("| design | people | not tested | square of 0.3 | square of 0.6 |\n" + "|---" * 5 + "|")
    for name in DESIGNS:
        for n in SIZES:
            small, large = (power(name, n, replications, bent=bent, run=run) for bent in (0.3, 0.6))
            shown = " | ".join(percent(each.rejected["specification"]) for each in (small, large))
            print(f"| {name} | {n} | {small.separated}, {large.separated} | {shown} |", flush=True)


def print_ordinal(replications, run):
    """Print coverage of proportional odds, level and power of their test."""
    print("\nProportional odds: coverage of 95% intervals, and the test of proportionality at 5%\n")
    print(
        "| design | people | separated | Wald | robust | rejected, proportional | rejected, slopes 0.2 to 1.2 |"
        + "\n"
        + "|---" * 7
        + "|"
    )
    for name in DESIGNS:
        if name.endswith("p = 2"):
            continue
        for n in SIZES:
            even = ordinal(name, n, replications, run=run)
            uneven = ordinal(name, n, replications, uneven=1.0, run=run)
            print(
                f"| {name} | {n} | {even['separated']} | {percent(even['wald'])} | {percent(even['robust'])} "
                f"| {percent(even['proportionality'])} | {percent(uneven['proportionality'])} |",
                flush=True,
            )


TABLES = {
    "coverage": print_coverage,
    "level": print_level,
    "power": print_power,
    "ordinal": print_ordinal,
    "default": print_default,
}


def main(replications=1000, wanted=""):
    """Print the tables whose names start with the letters given."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with ProcessPoolExecutor(PROCESSES) as pool:
        for name, print_table in TABLES.items():
            if not wanted or any(name.startswith(letters) for letters in wanted.split(",")):
                print_table(replications, lambda f, tasks: pool.map(f, tasks, chunksize=25))


if __name__ == "__main__":
    main(*(int(each) if each.isdigit() else each for each in sys.argv[1:]))
