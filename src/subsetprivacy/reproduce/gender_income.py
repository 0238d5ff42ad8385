"""Gender and income with artificial bits: people, their subsets, tests and limit distributions (`sec_gender_income`).

For `fig:adult_power`.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri

from subsetprivacy._choices import IndependenceMethod
from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.data import JointCounts
from subsetprivacy.design import Product, nonprivate, product, uniform
from subsetprivacy.design.secret_bit import uniform_with_bit
from subsetprivacy.independence import independence_test
from subsetprivacy.planning.dependence_limits import JointAlternative, NoncentralChiSquare
from subsetprivacy.subsets import bits

LEVEL = 0.05
TESTS: dict[str, IndependenceMethod] = {
    "LRT:MLE": "lrt",
    "LRT:MoM": "lrt-mom",
    "Pearson": "pearson",
    "Bon": "bonferroni",
}
HELD, VALUES, ENLARGED = "LRT, fair bits", "PT:X", "PT:Y"
NAMES = (*TESTS, HELD, VALUES, ENLARGED)
SUBSETS = uniform(range(4))
PAIRS = product({"gender": SUBSETS, "income": SUBSETS})
HELD_PAIRS = product(
    {"gender": uniform_with_bit(["Female", "Male"], 0.5), "income": uniform_with_bit(["low", "high"], 0.5)}
)


def draw(rng: np.random.Generator, W: FloatArray, n: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return three tables of n people: of their values, of values with fair bits, and of subsets of those."""
    values = rng.multinomial(n, W)
    with_bits = rng.multinomial(values, np.full(4, 0.25)).reshape(2, 2, 2, 2).swapaxes(1, 2)
    codes, mu = SUBSETS.support()
    probabilities = mu * bits(codes, 4).T  # (4, 6): the distribution of the subset, given the value with its bit
    pairs = rng.multinomial(with_bits.ravel(), np.kron(probabilities, probabilities)).sum(axis=0)
    return values.reshape(2, 2), with_bits.reshape(4, 4), pairs.reshape(len(codes), len(codes))


def rejections(rng: np.random.Generator, W: tuple[float, ...], n: int, permutations: int) -> list[float]:
    """Draw n people, their bits and their subsets, and return which tests reject."""
    values, enlarged, subsets = draw(rng, np.array(W), n)
    pvalues = [_test(subsets, PAIRS, method, permutations, rng) for method in TESTS.values()]
    pvalues += [_test(subsets, HELD_PAIRS, "lrt", permutations, rng), pearson(values), pearson(enlarged)]
    return [float(pvalue <= LEVEL) for pvalue in pvalues]


def false_rejections(rng: np.random.Generator, W: tuple[float, ...], n: int, permutations: int) -> list[float]:
    """Do the same, with separate random numbers, for people whose gender and income are independent."""
    return rejections(rng, W, n, permutations)


def ratio_rejections(rng: np.random.Generator, W: tuple[float, ...], n: int, permutations: int) -> list[float]:
    """Return which of the two likelihood ratio tests of subsets reject, with maxima and with moments.

    Both use the same permutations, so that these cause no difference between them.
    """
    subsets, start = draw(rng, np.array(W), n)[2], int(rng.integers(2**62))
    both = [(TESTS[name], np.random.default_rng(start)) for name in ("LRT:MLE", "LRT:MoM")]
    return [float(_test(subsets, PAIRS, method, permutations, own) <= LEVEL) for method, own in both]


def open_rejections(rng: np.random.Generator, W: tuple[float, ...], n: int) -> list[float]:
    """Return which of Pearson's tests reject, of the values and of the values with their bits."""
    values, enlarged, _ = draw(rng, np.array(W), n)
    return [float(pearson(table) <= LEVEL) for table in (values, enlarged)]


def _test(
    table: IntArray, design: Product, method: IndependenceMethod, permutations: int, rng: np.random.Generator
) -> float:
    counts = JointCounts.of_table(table, design)
    return independence_test(counts, method, permutations=permutations, budget=None, seed=rng).pvalue


def pearson(table: IntArray) -> float:
    """Return the asymptotic p-value of Pearson's test, without values that no one has."""
    seen = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    expected = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / seen.sum()
    df = (seen.shape[0] - 1) * (seen.shape[1] - 1)
    return float(chdtrc(df, ((seen - expected) ** 2 / expected).sum())) if df else 1.0


def laws(W: FloatArray) -> dict[str, NoncentralChiSquare]:
    """Return the limit distribution of every test that has one, and of the likelihood ratio of X and of Y."""
    enlarged = np.kron(W, np.full((2, 2), 0.25))
    values, four = nonprivate(range(2)), nonprivate(range(4))
    of_subsets = JointAlternative(PAIRS, enlarged).limits
    of_values = JointAlternative(product({"x": values, "y": values}), W).limits
    of_enlarged = JointAlternative(product({"x": four, "y": four}), enlarged).limits
    return {
        "LRT:MLE": of_subsets["lrt"],
        "Pearson": of_subsets["pearson"],
        HELD: JointAlternative(HELD_PAIRS, W).limits["lrt"],
        VALUES: of_values["pearson"],
        ENLARGED: of_enlarged["pearson"],
        "LRT of X": of_values["lrt"],
        "LRT of Y": of_enlarged["lrt"],
    }


def rarest(W: FloatArray) -> dict[str, float]:
    """Return the probability of the rarest pair of values, or of subsets, if gender and income are independent."""
    least = float(W.sum(axis=1).min() * W.sum(axis=0).min())
    of_subsets = least / 9  # a pair of subsets that reveals both values: a third of each
    return {VALUES: least, ENLARGED: least / 4, **dict.fromkeys(("LRT:MLE", "Pearson", HELD), of_subsets)}


def independent(W: FloatArray) -> FloatArray:
    """Return the table with the same margins and no dependence."""
    return np.outer(W.sum(axis=1), W.sum(axis=0))


def size_at(sizes: Sequence[int], power: FloatArray, k: int, target: float) -> tuple[float, float]:
    """Return the log of the n at which the power, simulated in k samples per size, reaches the target, and its error.

    Between two sizes, power is interpolated on the normal scale, where it is nearly linear in the root of n. NaN if
    the sizes do not enclose the target.
    """
    short = np.flatnonzero(power < target)
    if not len(short) or short[-1] == len(sizes) - 1:
        return float("nan"), float("nan")
    kept, below = (power * k + 0.5) / (k + 1), int(short[-1])  # never 0 or 1
    ends, z = np.sqrt(sizes[below : below + 2]), ndtri(kept[below : below + 2])
    share = (ndtri(target) - z[0]) / (z[1] - z[0])
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    errors = np.sqrt(ndtr(z) * ndtr(-z) / k) / density * np.array([1 - share, share])
    step = ends[1] - ends[0]
    root = ends[0] + share * step
    return float(2 * np.log(root)), float(2 * step * np.hypot(*errors) / (z[1] - z[0]) / root)
