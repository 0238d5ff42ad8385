"""The work that is timed: each function measures us and one peer side by side, and checks that both are right."""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import peers
from attrs import frozen
from peers import Floats, Ints

import subsetprivacy as sp
from subsetprivacy.estimation.likelihood import certified_gap, mean_loglik

PEOPLE = 2000
ROWS = 10_000_000
PROBLEMS = {4: 10, 8: 10, 12: 5}  # random problems per number of categories
COPIES = 15  # our fits of a problem in each block


@frozen
class Timing:
    """Median seconds of ours and of the other, what was checked, and remarks for below the table."""

    ours: float
    other: float
    check: str
    remarks: tuple[str, ...] = ()


# Clocks -----------------------------------------------------------------------------------------


def clock(call: Callable[[], Any]) -> float:
    """Return the processor time of a call: on a shared machine a long call waits more often than a short one."""
    start = process_time()
    call()
    return process_time() - start


def alternate(rounds: int, *blocks: Callable[[], list[float]]) -> list[float]:
    """Run the blocks in turn, `rounds` times, so that a slow spell of the machine meets all; return the medians."""
    times: list[list[float]] = [[] for _ in blocks]
    for _ in range(rounds):
        for block, collected in zip(blocks, times, strict=True):
            collected.extend(block())
    return [median(collected) for collected in times]


# Problems ---------------------------------------------------------------------------------------


def normalized(rng: np.random.Generator, size: int) -> Floats:
    """Return the paper's random distribution: independent U(0, 1) numbers divided by their sum."""
    numbers = rng.random(size)
    return numbers / numbers.sum()


def random_design(p: int, rng: np.random.Generator) -> sp.Design:
    """Return the paper's random design: such a nu over all questions of 2 … p-2 members."""
    questions = sp.uniform(range(p)).support()[0]
    return sp.independent(range(p), dict(zip(questions.tolist(), normalized(rng, len(questions)), strict=True)))


def random_problems(p: int, kind: str, size: int, n: int = PEOPLE) -> list[sp.SubsetCounts]:
    rng = np.random.default_rng(p)
    designs = [sp.uniform(range(p)) if kind == "uniform" else random_design(p, rng) for _ in range(size)]
    return [sp.simulate(design, normalized(rng, p), n, seed=rng) for design in designs]


def fresh(counts: sp.SubsetCounts) -> sp.SubsetCounts:
    """Return the same counts with nothing remembered: rows and shares are made anew in the timed part."""
    return sp.SubsetCounts.trusted(counts.codes, counts.counts, counts.design)


def time_ours(problems: Sequence[sp.SubsetCounts], copies: int = COPIES) -> list[float]:
    copied = [fresh(counts) for counts in problems for _ in range(copies)]
    return [clock(partial(sp.estimate, counts)) for counts in copied]


def time_peer(fit: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[float]:
    return [clock(partial(fit, *each)) for each in arguments]


def observed(counts: sp.SubsetCounts) -> tuple[Ints, Ints, int]:
    """Return what a peer is given: observed codes, their counts, the number of categories."""
    return counts.observed_codes, counts.counts[counts.informative], counts.design.p


def people(counts: sp.SubsetCounts) -> tuple[Ints, Ints, int]:
    """Return the same as a row per person, each counted once."""
    codes, n_a, p = observed(counts)
    return np.repeat(codes, n_a), np.ones(n_a.sum(), np.int64), p


def compare(problems: Sequence[sp.SubsetCounts], solutions: Sequence[Floats]) -> str:
    """Say how far the peer's solutions are from ours, and the certified gap of both."""
    ours = [sp.estimate(counts) for counts in problems]
    ways = [(c.incidence, c.shares) for c in problems]
    gaps = [certified_gap(*way, w) for way, w in zip(ways, solutions, strict=True)]
    logs = [
        abs(mean_loglik(*way, w) - mean_loglik(*way, fit.w)) for way, w, fit in zip(ways, solutions, ours, strict=True)
    ]
    w_apart = max(np.abs(fit.w - w).max() for fit, w in zip(ours, solutions, strict=True))
    return (
        f"results agree to {max(logs):.0e} in log-likelihood per person, {w_apart:.0e} in w; certified gap at most "
        f"{max(fit.gap for fit in ours):.0e} (ours), {max(gaps):.0e} (other; median {median(gaps):.0e})"
    )


# Maximum likelihood -----------------------------------------------------------------------------


def against_cvxpy(p: int, kind: str, rounds: int) -> Timing:
    problems = random_problems(p, kind, PROBLEMS[p])
    given = [observed(counts) for counts in problems]
    defaults = partial(peers.cvxpy_fit, tolerance=None)
    compiled = [(peers.cvxpy_compiled(c.codes, p), c.counts) for c in problems]
    solutions = [peers.cvxpy_fit(*each) for each in given]
    time_ours(problems, 1)
    other, ours, loose, again = alternate(
        rounds,
        partial(time_peer, peers.cvxpy_fit, given),
        partial(time_ours, problems),
        partial(time_peer, defaults, given),
        lambda: [clock(partial(fit, counts)) for fit, counts in compiled],
    )
    looser = max(certified_gap(c.incidence, c.shares, defaults(*each)) for c, each in zip(problems, given, strict=True))
    remark = (
        f"with Clarabel's default tolerances {loose / ours:.0f} times our time, with a certified gap up to "
        f"{looser:.0e}; compiled once for the design, with the counts as a parameter, {again / ours:.0f} times"
    )
    return Timing(ours, other, compare(problems, solutions), (remark,))


def against_cvxpy_by_person(p: int, rounds: int) -> Timing:
    return _side_by_side(random_problems(p, "random", 4), peers.cvxpy_fit, people, rounds)


def against_em(p: int, rounds: int) -> Timing:
    return _side_by_side(random_problems(p, "random", PROBLEMS[p]), peers.em, observed, rounds)


def _side_by_side(
    problems: Sequence[sp.SubsetCounts], fit: Callable[..., Floats], seen: Callable[..., Any], rounds: int
) -> Timing:
    given = [seen(counts) for counts in problems]
    solutions = [fit(*each) for each in given]
    time_ours(problems, 1)
    other, ours = alternate(rounds, partial(time_peer, fit, given), partial(time_ours, problems))
    return Timing(ours, other, compare(problems, solutions))


def against_mixsqp(p: int, n: int, rounds: int) -> Timing:
    kind = "random" if p <= 12 else "uniform"
    problems = random_problems(p, kind, 1, n)
    before = time_ours(problems, 10 * rounds)
    other, solution, versions = peers.mixsqp(*observed(problems[0]), seconds=0.7 * rounds)
    ours = median(before + time_ours(problems, 10 * rounds))
    remark = (
        f"{versions} (a tuned BLAS would help it); its start-up, reading and row matrix are not timed, our rows are"
    )
    return Timing(ours, other, compare(problems, [solution]), (remark,))


def batch_against_em_by_person(size: int, rounds: int) -> Timing:
    rng = np.random.default_rng(8)
    design = random_design(8, rng)
    samples = [sp.simulate(design, normalized(rng, 8), 1000, seed=rng) for _ in range(size)]
    batch = sp.CountsBatch(samples[0].codes, np.array([c.counts for c in samples]), design)
    given = [people(counts) for counts in samples[:30]]
    solutions = [peers.em_by_person(*each) for each in given]
    fits = sp.estimate_many(batch)
    other, ours, lean = alternate(
        rounds,
        lambda: [size * float(np.mean(time_peer(peers.em_by_person, given)))],
        lambda: [clock(partial(sp.estimate_many, batch))],
        lambda: [size * float(np.mean(time_peer(peers.em, given)))],
    )
    remark = (
        f"EM was timed on {len(given)} of the {size} samples and scaled up; without the n × p matrix of probabilities, "
        f"as two products a step, it takes {lean / ours:.0f} times our time; all of ours converged: "
        f"{bool(fits.converged.all())}, with a certified gap of at most {fits.gap.max():.0e}"
    )
    return Timing(ours, other, compare(samples[:30], solutions), (remark,))


# Drawing and counting ---------------------------------------------------------------------------


def drawing(peer: Callable[[int], Any], rounds: int) -> Timing:
    design = sp.uniform(range(16))
    values = np.random.default_rng(16).integers(0, 16, ROWS)
    codes = sp.privatize(values, design).codes
    peer(ROWS)
    other, ours = alternate(
        2 * rounds, lambda: [clock(partial(peer, ROWS))], lambda: [clock(partial(sp.privatize, values, design))]
    )
    return Timing(ours, other, _check_draws(values, codes))


def _check_draws(values: Ints, codes: Ints) -> str:
    sizes = np.bitwise_count(codes)
    inside = bool((codes >> values & 1).all())
    admissible = bool((sizes >= 2).all() and (sizes <= 14).all())
    # Under the uniform design the mean of |A| is 1 + 15/r_16, its standard deviation less than 2.
    off = abs(sizes.mean() - 1 - 15 * sp.uniform(range(16)).pair_probability) * np.sqrt(len(codes)) / 2
    return f"every subset holds its value: {inside}; 2 to 14 members: {admissible}; mean size {off:.1f} std. errors off"


def counting(rounds: int) -> Timing:
    design = sp.uniform(range(16))
    values = np.random.default_rng(16).integers(0, 16, ROWS)
    data = sp.privatize(values, design, seed=16)
    counts = data.counts()
    other, ours = alternate(
        5 * rounds, lambda: [clock(data.codes.sum) for _ in range(3)], lambda: [clock(data.counts) for _ in range(3)]
    )
    codes, tally = np.unique(data.codes, return_counts=True)
    equal = np.array_equal(codes, counts.codes) and np.array_equal(tally, counts.counts)
    return Timing(ours, other, f"results agree exactly with np.unique: {equal}")
