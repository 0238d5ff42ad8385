"""The power of tests of independence of gender and income (`sec_gender_income`, `fig:adult_power`)."""

from typing import Any

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.data import JointCounts
from subsetprivacy.design import Product, nonprivate, product, uniform
from subsetprivacy.design.held import beside_bit
from subsetprivacy.draw import series
from subsetprivacy.independence import independence_test
from subsetprivacy.planning.dependence_law import Alternative, Limit
from subsetprivacy.reproduce.checks import Check, corrected, says, spread, stated
from subsetprivacy.reproduce.experiment import Experiment, Outcome, Run
from subsetprivacy.subsets import bits

ABOUT = """How many people does it take to find out that income depends on gender, if nobody tells either? Both are
binary, so each is joined with a fair artificial bit (X becomes Y, with four values), and a random pair of values that
contains Y is reported. Four tests of the pairs, with permutation p-values, are compared with Pearson's test of the
values (PT:X) and of the values with their bits (PT:Y), all at the level 5 %. A line of the figure is the share of
samples in which a test finds the dependence; dashes are at 80 %. "LRT, bits held" is ours: the bits are known to be
fair, and a test that knows it needs half the people.

A pair tells gender in a third of the rows and nothing otherwise; so for income, and both are told in a ninth. The
paper says that subsets take four times the people of Y; the same test takes nine times. This way of asking also
reveals what it was to protect in a third of the rows: the package offers better ones for two categories."""

SIZES = tuple(50 * 2**i for i in range(10))
TESTS = {"LRT:MLE": "lrt", "LRT:MoM": "lrt-mom", "Pearson": "pearson", "Bon": "bonferroni"}
HELD, VALUES, ENLARGED = "LRT, bits held", "PT:X", "PT:Y"
NAMES = (*TESTS, HELD, VALUES, ENLARGED)
BETWEEN = (1600, 3200)  # where the tests differ
LEVEL, TARGET, SLACK, FEW = 0.05, 0.8, 0.05, 5
AWAY = 3.5  # standard errors, which chance passes in one run of a thousand or two
SUBSETS = uniform(range(4))
PAIRS = product({"gender": SUBSETS, "income": SUBSETS})
HELD_PAIRS = product({"gender": beside_bit(["Female", "Male"], 0.5), "income": beside_bit(["low", "high"], 0.5)})


def rejections(rng: np.random.Generator, W: tuple[float, ...], n: int, permutations: int) -> list[float]:
    """Draw n people, their bits and their subsets, and return which tests reject."""
    values, enlarged, subsets = draw(rng, np.array(W), n)
    pvalues = [_test(subsets, PAIRS, method, permutations, rng) for method in TESTS.values()]
    pvalues += [_test(subsets, HELD_PAIRS, "lrt", permutations, rng), pearson(values), pearson(enlarged)]
    return [float(pvalue <= LEVEL) for pvalue in pvalues]


def draw(rng: np.random.Generator, W: FloatArray, n: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the tables of n people: of their values, of values with fair bits, and of subsets of those."""
    values = rng.multinomial(n, W)
    with_bits = rng.multinomial(values, np.full(4, 0.25)).reshape(2, 2, 2, 2).swapaxes(1, 2)
    codes, mu = SUBSETS.support()
    law = mu * bits(codes, 4).T  # (4, 6): of the subset, given the value with its bit
    pairs = rng.multinomial(with_bits.ravel(), np.kron(law, law)).sum(axis=0)
    return values.reshape(2, 2), with_bits.reshape(4, 4), pairs.reshape(len(codes), len(codes))


def _test(table: IntArray, design: Product, method: str, permutations: int, rng: np.random.Generator) -> float:
    counts = JointCounts.of_table(table, design)
    return independence_test(counts, method, permutations=permutations, budget=None, seed=rng).pvalue


def pearson(table: IntArray) -> float:
    """Return the p-value of Pearson's test by its limit law; values that nobody has are left out."""
    seen = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    expected = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / seen.sum()
    df = (seen.shape[0] - 1) * (seen.shape[1] - 1)
    return float(chdtrc(df, ((seen - expected) ** 2 / expected).sum())) if df else 1.0


def laws(W: FloatArray) -> dict[str, Limit]:
    """Return the limit law of every test that has one, and of the likelihood ratio of X and of Y."""
    enlarged = np.kron(W, np.full((2, 2), 0.25))
    values, four = nonprivate(range(2)), nonprivate(range(4))
    of_subsets = Alternative(PAIRS, enlarged).limits
    of_values = Alternative(product({"x": values, "y": values}), W).limits
    of_enlarged = Alternative(product({"x": four, "y": four}), enlarged).limits
    return {
        "LRT:MLE": of_subsets["lrt"],
        "Pearson": of_subsets["pearson"],
        HELD: Alternative(HELD_PAIRS, W).limits["lrt"],
        VALUES: of_values["pearson"],
        ENLARGED: of_enlarged["pearson"],
        "LRT of X": of_values["lrt"],
        "LRT of Y": of_enlarged["lrt"],
    }


def least_people(W: FloatArray) -> dict[str, float]:
    """Return from how many people on every pair of values or subsets is expected at least five times."""
    rows, columns = W.sum(axis=1), W.sum(axis=0)
    rarest = rows.min() * columns.min()
    of_subsets = FEW / (rarest / 9)  # a pair of subsets that tells both values: a third of each
    return {
        VALUES: FEW / rarest,
        ENLARGED: FEW / (rarest / 4),
        **dict.fromkeys(("LRT:MLE", "Pearson", HELD), of_subsets),
    }


def perform(run: Run) -> Outcome:
    """Simulate every size; compare with the limit laws and with one another."""
    counts = run.adult.sex_income
    W = counts / counts.sum()
    permutations = 99 if run.quick else 199
    found = np.array(run.replicate(rejections, [(tuple(W.ravel().tolist()), n, permutations) for n in SIZES]))
    exact = laws(W)
    checks = [*sizes(found, exact), *limit_checks(found, exact, W), *comparisons(found)]
    power = {name: found[:, :, i].mean(axis=1) for i, name in enumerate(NAMES)}
    nan = [float("nan")] * len(SIZES)
    limit = {name: [float(x) for x in exact[name].power(SIZES, LEVEL)] if name in exact else nan for name in NAMES}
    table: dict[str, list[Any]] = {
        "test": [name for name in NAMES for _ in SIZES],
        "n": [n for _ in NAMES for n in SIZES],
        "power": [float(value) for name in NAMES for value in power[name]],
        "replications": [run.k] * len(NAMES) * len(SIZES),
        "limit_law": [value for name in NAMES for value in limit[name]],
    }
    level = [(TARGET, f"{100 * TARGET:g} %")]
    axes = series(SIZES, power, levels=level, log="x", xlabel="people", ylabel="power: share of samples that reject")
    axes.set_ylim(0, 1.03)
    return Outcome(checks, table, axes.figure)


def size_at(power: FloatArray, k: int) -> tuple[float, float]:
    """Return the log of the n at which a simulated power is 80 %, and its standard error.

    Between the last size below and the next, power is interpolated on the normal scale, where it is nearly straight in
    the root of n. Not a number where the sizes do not enclose it.
    """
    short = np.flatnonzero(power < TARGET)
    if not len(short) or short[-1] == len(SIZES) - 1:
        return float("nan"), float("nan")
    kept, below = (power * k + 0.5) / (k + 1), int(short[-1])  # never 0 or 1
    ends, z = np.sqrt(SIZES[below : below + 2]), ndtri(kept[below : below + 2])
    share = (ndtri(TARGET) - z[0]) / (z[1] - z[0])
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    errors = np.sqrt(ndtr(z) * ndtr(-z) / k) / density * np.array([1 - share, share])
    step = ends[1] - ends[0]
    root = ends[0] + share * step
    return float(2 * np.log(root)), float(2 * step * np.hypot(*errors) / (z[1] - z[0]) / root)


def sizes(found: FloatArray, exact: dict[str, Limit]) -> list[Check]:
    """Return how many people the tests take for a power of 80 %, exactly and from the simulated curves."""
    people = {name: limit.people(TARGET, LEVEL) for name, limit in exact.items()}
    k = found.shape[1]
    at = {name: size_at(found[:, :, i].mean(axis=1), k) for i, name in enumerate(NAMES)}
    ratio, error = at["LRT:MLE"][0] - at[ENLARGED][0], float(np.hypot(at["LRT:MLE"][1], at[ENLARGED][1]))
    wanted = people["LRT:MLE"] / people[ENLARGED]
    return [
        corrected(
            "people that subsets take, over those of Y, by the same test (likelihood ratio, limit law)",
            "four times",
            f"{people['LRT:MLE'] / people['LRT of Y']:.2f} times: {people['LRT of X']} (X), {people['LRT of Y']} (Y), "
            f"{people['LRT:MLE']} (subsets)",
            abs(people["LRT:MLE"] / people["LRT of Y"] - 9) < 0.05,
            "9 within 0.05",
            erratum="fig:adult_power",
        ),
        corrected(
            "people that LRT:MLE takes, over those of PT:Y, simulated",
            "four times",
            f"{np.exp(ratio):.1f} times ({np.exp(ratio - 2 * error):.1f} to {np.exp(ratio + 2 * error):.1f})",
            abs(ratio - np.log(wanted)) <= AWAY * error,
            f"{wanted:.1f} by the limit laws of these two tests, within {AWAY} standard errors",
            erratum="fig:adult_power",
        ),
        stated("people for a power of 80 %, LRT that holds the bits, limit law", f"{people[HELD]}"),
        *(
            stated(
                f"people for a power of 80 %, {name}, simulated",
                f"{np.exp(log):.0f}",
                f"factor {np.exp(se):.2f} of error",
            )
            for name, (log, se) in at.items()
        ),
    ]


def limit_checks(found: FloatArray, exact: dict[str, Limit], W: FloatArray) -> list[Check]:
    """Return the simulated powers beside their limit laws, where those are to be trusted."""
    checks, k = [], found.shape[1]
    for name, least in least_people(W).items():
        trusted = np.array(SIZES) >= least
        n, power = np.array(SIZES)[trusted], found[trusted, :, NAMES.index(name)].mean(axis=1)
        law = np.asarray(exact[name].power(n, LEVEL))
        excess = np.abs(power - law) - 3 * np.sqrt(law * (1 - law) / k)
        at = int(np.abs(power - law).argmax())
        checks.append(
            says(
                f"{name}: simulated power from n = {n[0]} on",
                "its limit law",
                f"farthest at n = {n[at]}: {power[at]:.3f} for {law[at]:.3f}",
                bool(excess.max() <= SLACK),
                f"3 standard errors and {SLACK}, as limit laws are; where {FEW} people are expected in every cell",
            )
        )
    return checks


def comparisons(found: FloatArray) -> list[Check]:
    """Return whether all tests find the dependence in the end, and which are better."""
    ends = found[-1, :, : len(TESTS)].mean(axis=0)
    low = dict(zip(TESTS, ends, strict=True))
    checks = [
        says(
            f"all tests find the dependence, n = {SIZES[-1]}",
            "when the sample size is sufficiently large",
            ", ".join(f"{name} {power:.2f}" for name, power in low.items()),
            bool(ends.min() >= 0.9),
            "power at least 0.9",
        )
    ]
    between = found[[SIZES.index(n) for n in BETWEEN]]
    for better in ("LRT:MLE", "LRT:MoM"):
        for worse in ("Pearson", "Bon"):
            mean, error = _gap(between, better, worse)
            claim = f"power of {better} minus that of {worse}, n = {BETWEEN[0]} and {BETWEEN[1]}"
            checks.append(
                says(
                    claim,
                    "better",
                    spread(mean, error, 3),
                    mean > error,
                    "above 0 by a standard error of the paired difference",
                )
            )
    shown = spread(*_gap(between, "LRT:MLE", "LRT:MoM"), 3)
    return [*checks, stated(f"power of LRT:MLE minus that of LRT:MoM, n = {BETWEEN[0]} and {BETWEEN[1]}", shown)]


def _gap(found: FloatArray, one: str, two: str) -> tuple[float, float]:
    """Return the mean paired difference of two tests' decisions, and its standard error."""
    gap = (found[:, :, NAMES.index(one)] - found[:, :, NAMES.index(two)]).ravel()
    return float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(gap.size))


EXPERIMENT = Experiment(
    "fig:adult_power", "Power of tests of gender and income from subsets", ABOUT, perform, quick=60, full=100
)
