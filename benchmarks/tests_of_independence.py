"""Tests of independence: 999 permuted tables, beside fewer people and beside EM for each of 999 shuffles."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from attrs import frozen
from peers import Floats, Ints, rows_of
from work import Timing, alternate, clock, fresh, normalized

import subsetprivacy as sp

PERMUTATIONS = 999
CATEGORIES = 4
PROBLEMS = 4
EM_CHANGE, EM_TIGHT = 1e-8, 1e-12  # of the mean log-likelihood in one step, relative to itself
GAP, UPDATES = 1e-8, 1000  # of the fit with 16 x 16 categories


# Problems ---------------------------------------------------------------------------------------


@frozen(eq=False)
class Columns:
    """Subsets of two independent variables, a row per person, and how often they occur together."""

    a: Ints
    b: Ints
    p: int
    table: sp.JointCounts


Shuffling = Callable[[Columns, int], float]  # to the mean log-likelihood of the columns, shuffled with this seed


def columns(p: int, n: int, seed: int) -> Columns:
    """Draw two columns under the uniform design, with the paper's random margins: the same for every n."""
    rng = np.random.default_rng(seed)
    laws = [normalized(rng, p) for _ in range(2)]
    design = sp.uniform(range(p))
    x, y = (sp.privatize(rng.choice(p, n, p=w), design, seed=int(rng.integers(2**32))) for w in laws)
    return Columns(x.codes, y.codes, p, sp.crosstab(x, y))


def problems(n: int) -> list[Columns]:
    return [columns(CATEGORIES, n, seed) for seed in range(PROBLEMS)]


def time_tests(given: Sequence[Columns], copies: int = 1) -> list[float]:
    """Time the whole test, the observed table and all permuted ones, from a counted table."""
    tables = [fresh(each.table) for each in given for _ in range(copies)]
    return [clock(partial(sp.independence_test, table, permutations=PERMUTATIONS, seed=1)) for table in tables]


# The others -------------------------------------------------------------------------------------


def pair_rows(a: Ints, b: Ints, p: int) -> Floats:
    """Return which pairs of categories each pair of subsets holds, (rows, p p)."""
    return (rows_of(a, p)[:, :, None] * rows_of(b, p)[:, None, :]).reshape(len(a), p * p)


def em_by_person(each: Columns, seed: int) -> float:
    """Shuffle, then EM as in the paper: the probability of every pair of categories for every person."""
    rows = pair_rows(each.a, np.random.default_rng(seed).permutation(each.b), each.p)
    w = np.full(rows.shape[1], 1 / rows.shape[1])
    before = -np.inf
    while True:
        given = rows * w
        sizes = given.sum(axis=1, keepdims=True)
        level = float(np.log(sizes).mean())
        if level - before <= EM_CHANGE * abs(level):
            return level
        before = level
        given /= sizes
        w = given.mean(axis=0)


def em_by_products(each: Columns, seed: int) -> float:
    """Shuffle, then the same EM without the matrix of probabilities: two products a step, still a row per person."""
    rows = pair_rows(each.a, np.random.default_rng(seed).permutation(each.b), each.p)
    return em(rows, np.full(len(rows), 1 / len(rows)))


def em_on_cells(each: Columns, seed: int, change: float = EM_CHANGE) -> float:
    """Shuffle, count the pairs, then EM on their shares: not the paper's way."""
    return _em_of_pairs(each.a, np.random.default_rng(seed).permutation(each.b), each.p, change)


def _em_of_pairs(a: Ints, b: Ints, p: int, change: float) -> float:
    tally = np.bincount((a << p) + b)
    seen = np.flatnonzero(tally)
    return em(pair_rows(seen >> p, seen & ((1 << p) - 1), p), tally[seen] / len(a), change)


def em(rows: Floats, shares: Floats, change: float = EM_CHANGE) -> float:
    """Return the mean log-likelihood where EM from the uniform distribution changes it by no more than `change`."""
    across = np.ascontiguousarray(rows.T)
    w = np.full(rows.shape[1], 1 / rows.shape[1])
    before = -np.inf
    while True:
        sizes = rows @ w
        level = float(shares @ np.log(sizes))
        if level - before <= change * abs(level):
            return level
        before = level
        w = w * (across @ (shares / sizes))


def em_of_margins(each: Columns) -> float:
    """Return the mean log-likelihood of the independent table, by EM for each variable."""
    counted = [np.unique(codes, return_counts=True) for codes in (each.a, each.b)]
    return sum(em(rows_of(codes, each.p), n / n.sum(), EM_TIGHT) for codes, n in counted)


# The rows of the table --------------------------------------------------------------------------


def many_people(few: int, many: int, rounds: int) -> Timing:
    """Time the test for many people and for few, on the same margins."""
    large, small = problems(many), problems(few)
    time_tests([*large, *small])  # warm
    ours, other = alternate(rounds, partial(time_tests, large, 3), partial(time_tests, small, 3))
    found = [sp.independence_test(each.table, permutations=PERMUTATIONS, seed=1) for each in (*large, *small)]
    apart = max(
        abs(2 * len(each.a) * (_em_of_pairs(each.a, each.b, each.p, EM_TIGHT) - em_of_margins(each)) - test.statistic)
        for each, test in zip((*large, *small), found, strict=True)
    )
    return Timing(
        ours,
        other,
        f"every test looked at {min(test.permutations for test in found)} tables; its statistic agrees to {apart:.0e} "
        f"with that of EM run to a relative change of {EM_TIGHT:.0e}",
        (f"{PROBLEMS} pairs of random margins; the tables are counted before, which is not timed",),
    )


def against_em_by_person(n: int, rounds: int) -> Timing:
    """Time the test against shuffling rows and fitting each shuffle by EM with a row per person."""
    given = problems(n)
    ours, other, lean = _against(given, rounds, (em_by_person, 3), (em_by_products, 3))
    remark = (
        f"EM, from the uniform distribution to a relative change of {EM_CHANGE:.0e} in log-likelihood, was timed on 3 "
        f"shuffles of each of {PROBLEMS} pairs of columns and scaled up to {PERMUTATIONS}; without the n × pq matrix "
        f"of probabilities, as two products a step, it takes {lean / ours:.0f} times our time"
    )
    return Timing(ours, other, _compare(given, em_by_person, 3), (remark,))


def against_em_on_cells(n: int, rounds: int) -> Timing:
    """Time the test against shuffling rows, counting pairs and fitting the counts by EM."""
    given = problems(n)
    ours, other, tight = _against(given, rounds, (em_on_cells, 30), (partial(em_on_cells, change=EM_TIGHT), 10))
    remark = (
        f"not the paper's way: at most 36 cells instead of {n} rows; the same EM, timed on 30 shuffles of each of "
        f"{PROBLEMS} pairs of columns and scaled up to {PERMUTATIONS}; run to a relative change of {EM_TIGHT:.0e}, "
        f"nearer to the accuracy of ours, it takes {tight / ours:.0f} times our time"
    )
    return Timing(ours, other, _compare(given, em_on_cells, 30), (remark,))


def _against(given: Sequence[Columns], rounds: int, *others: tuple[Shuffling, int]) -> list[float]:
    """Return the mean time over the problems, of ours and of all shuffles by each other, timed on a few of them."""

    def shuffles(fit: Shuffling, size: int) -> list[float]:
        return [PERMUTATIONS * float(np.mean([clock(partial(fit, each, k)) for each in given for k in range(size)]))]

    time_tests(given)  # warm
    return alternate(
        rounds,
        lambda: [float(np.mean(time_tests(given, 3)))],
        *(partial(shuffles, fit, size) for fit, size in others),
    )


def _compare(given: Sequence[Columns], fit: Shuffling, size: int) -> str:
    """Say how far the statistics of the same shuffles are apart, and their mean from that of our permuted tables."""
    below, off, variance = [], 0.0, 0.0
    for each in given:
        null = em_of_margins(each)
        theirs = [2 * len(each.a) * (fit(each, seed) - null) for seed in range(size)]
        below += [_statistic(each, seed) - statistic for seed, statistic in enumerate(theirs)]
        law = sp.independence_test(each.table, permutations=PERMUTATIONS, seed=1).law.statistics
        off += float(np.mean(theirs) - law.mean())
        variance += float(law.var()) * (1 / size + 1 / len(law))
    return (
        f"the statistics of {len(below)} shuffles by EM are {min(below):.4f} to {max(below):.4f} below ours of the "
        f"same shuffles; their mean is {abs(off) / variance**0.5:.1f} std. errors off that of our permuted tables"
    )


def _statistic(each: Columns, seed: int) -> float:
    """Return our statistic of the columns, shuffled as the others do."""
    design = sp.uniform(range(each.p))
    shuffled = np.random.default_rng(seed).permutation(each.b)
    table = sp.crosstab(sp.SubsetData(each.a, design), sp.SubsetData(shuffled, design))
    return sp.independence_test(table, null="asymptotic").statistic


def many_categories(p: int, n: int, rounds: int) -> Timing:
    """Time the fit of a joint table of many categories to a certified gap, against accelerated EM."""
    table = columns(p, n, p).table
    ours_fit, other_fit = _certified(table), _accelerated(table)
    ours, other, test = alternate(
        min(rounds, 2),  # EM takes long
        lambda: [clock(partial(_certified, fresh(table))) for _ in range(3)],
        lambda: [clock(partial(_accelerated, fresh(table)))],
        lambda: [clock(partial(sp.independence_test, fresh(table), null="asymptotic"))],
    )
    apart = (ours_fit.loglik - other_fit.loglik) / n
    check = (
        f"certified gap {ours_fit.gap:.0e} after {ours_fit.iterations} steps (ours), {other_fit.gap:.0e} after "
        f"{other_fit.iterations} updates (EM), whose log-likelihood per person is {apart:.0e} below ours"
    )
    remark = (
        f"{len(table.n_a)} distinct rows; EM is this library's own, with the same products with the rows (SQUAREM), "
        f"stopped at a gap of {GAP:.0e} or after {UPDATES} updates; the whole likelihood ratio test without permuted "
        f"tables takes {test:.2f} s"
    )
    return Timing(ours, other, check, (remark,))


def _certified(table: sp.SubsetCounts) -> sp.Estimate:
    return sp.estimate(table, tol=GAP)


def _accelerated(table: sp.SubsetCounts) -> sp.Estimate:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged is said in the notes
        return sp.estimate(table, "em", tol=GAP, max_iter=UPDATES, accelerate=True)
