"""How long four tests take, against the number of categories (`fig:ct-time`)."""

from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter

import numpy as np
from attrs import frozen

from subsetprivacy._choices import IndependenceMethod
from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.data import count_codes
from subsetprivacy.design import Product, product
from subsetprivacy.draw import line_panels
from subsetprivacy.independence.crossing import cross
from subsetprivacy.independence.testing import read_table
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.reproduce.auc import dependent, limit_pvalue
from subsetprivacy.reproduce.checks import Check, corrected, says, stated
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.reproduce.simulations import as_columns, random_design, random_distribution
from subsetprivacy.reproduce.timing import all_of, within
from subsetprivacy.subsets import bits

ABOUT = """How long does a test of independence take? For each number of categories, random margins and designs are
drawn as in the figures of AUC, then 2000 people. Every test starts from the list of their pairs of subsets and ends
with a p-value from the limit distribution. The figure shows the time of 100 tests.

Two lines compute the likelihood ratio by EM. The first goes over people, at the paper's cost of O(np) per iteration,
with the probability of every pair of categories for every person. The second goes over the distinct pairs of subsets,
which saves almost nothing when most pairs occur once. EM starts from the uniform distribution and stops when a step
gains less than 1e-8 of the log-likelihood. All other lines are this package, which counts the pairs first. Newton steps
then maximize the likelihood to a proven gap. The time relative to moments is stated below.

The time of 100 tests is a hundred times the median. All tests except EM are timed on all samples, and the fastest of
three trials counts. EM, which takes longest, is timed once, on the first fifth of the samples and on at least three.
Times depend on the machine. The checks compare times of the same samples. Where their ratios vary too much to tell, a
claim is not checked."""

N, CATEGORIES, TESTS = 2000, (4, 5, 6, 7, 8), 100
CHANGE, MOST = 1e-8, 100_000
FIFTH, FEWEST = 5, 3  # EM is timed on the first fifth of the samples, but on at least three
REPEATS = 3  # runs of tests that take milliseconds; the fastest counts, since other programs only slow it
METHODS: dict[str, IndependenceMethod] = {
    "LRT:MoM": "lrt-mom",
    "Bon": "bonferroni",
    "Pearson": "pearson",
    "LRT:MLE, ours": "lrt",
}
MUCH = 10  # times: what “much shorter” is taken to be
FASTER, AFFORDABLE = 2, 30  # times, on a busy machine: maxima on counts against EM, and against moments
BY_PEOPLE, BY_PAIRS = "LRT:MLE, EM over people", "LRT:MLE, EM over pairs"


@frozen(eq=False)
class SubsetColumns:
    """The subsets of n people, as codes: of both variables together, and as rows 1_a and 1_b."""

    design: Product
    codes: IntArray
    first: FloatArray
    second: FloatArray


def draw_columns(rng: np.random.Generator, p: int, n: int, rho: float = 0.0) -> SubsetColumns:
    """Draw margins and a product design, then n people in random order."""
    W = dependent(random_distribution(rng, p), random_distribution(rng, p), rho)
    both = product({"x": random_design(rng, p), "y": random_design(rng, p)})
    counts = simulate(both, W.ravel(), n, seed=rng)
    codes = rng.permutation(np.repeat(counts.codes, counts.counts))
    a, b = both.split(codes)
    return SubsetColumns(both, codes, bits(a, p), bits(b, p))


def our_pvalue(columns: SubsetColumns, method: IndependenceMethod) -> float:
    """Count the pairs and test."""
    return limit_pvalue(cross(read_table(count_codes(columns.codes, columns.design))), method)


def em_by_people(columns: SubsetColumns) -> float:
    """Return the likelihood ratio by EM as in the paper: all p q probabilities of every person in every step."""
    n, one, two = len(columns.codes), columns.first, columns.second
    pairs = (one[:, :, None] * two[:, None, :]).reshape(n, -1)
    return 2 * n * (em_level(pairs) - em_level(one) - em_level(two))


def em_by_pairs(columns: SubsetColumns) -> float:
    """Return the same with the distinct pairs of subsets and their shares instead of people."""
    n = len(columns.codes)
    _, at, times = np.unique(columns.codes, return_index=True, return_counts=True)
    one, two = columns.first[at], columns.second[at]
    pairs = (one[:, :, None] * two[:, None, :]).reshape(len(at), -1)
    return 2 * n * (em_level(pairs, times / n) - em_level(one, times / n) - em_level(two, times / n))


def em_level(rows: FloatArray, shares: FloatArray | None = None, change: float = CHANGE) -> float:
    """Return the mean log-likelihood at which EM stops, with the probability of every category given every row."""
    weights = np.full(len(rows), 1 / len(rows)) if shares is None else shares
    w = np.full(rows.shape[1], 1 / rows.shape[1])
    before = -np.inf
    for _ in range(MOST):
        given = rows * w
        sizes = given.sum(axis=1, keepdims=True)
        level = float(weights @ np.log(sizes[:, 0]))
        if level - before <= change * abs(level):
            break
        before = level
        given /= sizes
        w = weights @ given
    return level


def perform(run: Run) -> ExperimentResult:
    """Time every test on the same samples."""
    ways: dict[str, Callable[[SubsetColumns], float]] = {BY_PEOPLE: em_by_people, BY_PAIRS: em_by_pairs}
    ways |= {name: partial(our_pvalue, method=method) for name, method in METHODS.items()}
    seconds: dict[str, list[list[float]]] = {name: [[] for _ in CATEGORIES] for name in ways}
    few = max(run.k // FIFTH, FEWEST)
    for i, r in run.alone([(i, r) for i in range(len(CATEGORIES)) for r in range(run.k)]):
        columns = draw_columns(run.rng(f"{CATEGORIES[i]}/{r}"), CATEGORIES[i], N)
        if r == 0:
            our_pvalue(columns, "lrt")  # what is computed once for all is not timed
        for name, way in ways.items():
            if r < few or name in METHODS:
                seconds[name][i].append(min(_clock(way, columns) for _ in range(REPEATS if name in METHODS else 1)))
    totals = {name: np.array([TESTS * np.median(part) for part in parts]) for name, parts in seconds.items()}
    figure = line_panels(
        CATEGORIES,
        {"": totals},
        xlabel="categories of each variable",
        ylabel=f"seconds for {TESTS} tests, {N} people",
        log="y",
        width=7.2,
    )
    rows = [(p, N, name, float(totals[name][i])) for name in ways for i, p in enumerate(CATEGORIES)]
    table = as_columns(("p", "n", "test", "seconds"), rows)
    return ExperimentResult(claims({name: [*map(np.array, parts)] for name, parts in seconds.items()}), table, figure)


def _clock(way: Callable[[SubsetColumns], float], columns: SubsetColumns) -> float:
    start = perf_counter()
    way(columns)
    return perf_counter() - start


def claims(seconds: Mapping[str, list[FloatArray]]) -> list[Check]:
    """Compare the times of the same samples along the numbers of categories."""

    def over(slow: str, quick: str) -> list[FloatArray]:
        both = zip(seconds[slow], seconds[quick], strict=True)
        return [one[: len(two)] / two[: len(one)] for one, two in both]  # EM is timed on fewer samples

    moments, newton = "LRT:MoM", "LRT:MLE, ours"
    by_people, of_newton = over(BY_PEOPLE, newton), over(newton, moments)
    each = np.array([np.median(part) for part in seconds[newton]])
    return [
        says(
            "LRT:MoM takes much less time than LRT:MLE by EM",
            "“the former's computation time is much shorter”",
            _times(over(BY_PEOPLE, moments)),
            all_of(within(part, least=MUCH) for part in over(BY_PEOPLE, moments)),
            f"by a factor of {MUCH} or more for every p",
        ),
        stated("the same, EM over distinct pairs of subsets", _times(over(BY_PAIRS, moments))),
        corrected(
            "LRT:MLE is affordable too: on counts it is quicker than by EM",
            "“we recommend the use of LRT:MoM in practice”",
            f"EM over people {_times(by_people)} ours; ours {_times(of_newton)} LRT:MoM",
            all_of(
                [
                    *(within(part, least=FASTER) for part in by_people),
                    *(within(part, most=AFFORDABLE) for part in of_newton),
                ]
            ),
            f"for every p by a factor of {FASTER} or more, and below {AFFORDABLE} times LRT:MoM",
            erratum="recommendation",
            how="not needed for the time",
        ),
        stated("LRT:MLE, ours", f"{1e3 * each[0]:.2g} to {1e3 * each[-1]:.2g} ms a test"),
    ]


def _times(ratios: list[FloatArray]) -> str:
    first, last = np.median(ratios[0]), np.median(ratios[-1])
    return f"{first:.3g} (p = {CATEGORIES[0]}) to {last:.3g} (p = {CATEGORIES[-1]}) times"


EXPERIMENT = Experiment("fig:ct-time", "Time of four tests", ABOUT, perform, quick=5, full=100)
