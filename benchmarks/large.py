"""Many categories: a hundred thousand of them and ten million people, beside drawing and counting bare codes."""

import resource
from functools import partial
from time import perf_counter

import numpy as np
from work import Timing, alternate, clock

import subsetprivacy as sp

CATEGORIES, PEOPLE = 100_000, 10_000_000
_BLOCK = 1 << 16


def bare_codes(cells: int) -> np.ndarray:
    """Draw as many even codes below `cells`, a power of two, from the operating system, and count them."""
    import os

    codes = np.empty(PEOPLE, np.int64)
    for start in range(0, PEOPLE, _BLOCK):
        part = codes[start : start + _BLOCK]
        part[:] = np.frombuffer(os.urandom(4 * len(part)), "u4") & np.uint32(cells - 1)
    tally = np.zeros(cells, np.int64)
    for start in range(0, PEOPLE, 16 * _BLOCK):
        tally += np.bincount(codes[start : start + 16 * _BLOCK], minlength=cells)
    return tally


def _whole_path(values: np.ndarray, design: sp.Design) -> sp.Estimate:
    fit = sp.estimate(sp.privatize(values, design).counts(), "mom")
    assert np.isfinite(fit._se).all()
    return fit


def moments(rounds: int) -> Timing:
    """Privatise, count and estimate by moments with all standard errors, against drawing and counting codes alone."""
    design = sp.hadamard(CATEGORIES)
    w = 1 / np.arange(1, CATEGORIES + 1) ** 0.8
    w /= w.sum()
    values = np.random.default_rng(1).choice(CATEGORIES, PEOPLE, p=w)
    fit = _whole_path(values, design)  # warm: nobody's first import is timed
    ours, other = alternate(
        rounds,
        lambda: [clock(partial(_whole_path, values, design))],
        lambda: [clock(partial(bare_codes, 2 * design.size))],
    )
    worst = float(np.abs((fit.w - w) / fit._se).max())
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return Timing(
        ours,
        other,
        f"the largest of {CATEGORIES} errors is {worst:.1f} standard errors",
        (_likelihood(design, w), f"the peak of memory so far is {gigabytes:.2f} GB"),
    )


def _likelihood(design: sp.Design, w: np.ndarray) -> str:
    counts = sp.simulate(design, w, PEOPLE, seed=2)
    start = perf_counter()
    fit = sp.estimate(counts)
    return (
        f"maximum likelihood from those counts: {perf_counter() - start:.2f} s, {fit.iterations} steps, "
        f"certified gap {fit.gap:.1e}"
    )
