"""Moments under the uniform design as the number of categories grows (`subsec:high-dim-mom`, `thm_mom_dim`)."""

import numpy as np
from scipy import stats

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.draw import predicted
from subsetprivacy.reproduce.as_printed import mom_closed_form, ratio
from subsetprivacy.reproduce.checks import Check, says, stated, theory
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.reproduce.simulations import falling, mean_and_error, normal_checks, random_distribution

ABOUT = """How many people does a long list of categories need? For moments under uniform questions, the theorem says
that the sum of absolute errors (L1) vanishes if p² ln p / n does, and the sum of squares (L2²) if p/n does. We let n
grow with p in three ways, from 8 to 512 categories: n = p² (ln p)², for which the theorem guarantees L1; n = p² ln p,
for which its condition just fails; and n = p (ln p)², which is enough for L2² only. A random population is drawn for
each sample.

The variance of each share is known exactly, so both losses can be predicted: L2² is close to p/n, L1 to sqrt(2/pi)
p/√n. Lines are predictions, markers simulations. L1 also falls in the second case: p²/n → 0 is enough and the logarithm
is not needed (E L1 ≤ sqrt(p E L2²), by Cauchy and Schwarz). In the third case L2² falls and L1 rises.

A share is a shifted and scaled binomial number for any number of categories. Its distribution is therefore nearly
normal even with more categories than people, here 1000 and 500."""

CATEGORIES = (8, 16, 32, 64, 128, 256, 512)
WAYS = {"n = p² (ln p)²": (2, 2), "n = p² ln p": (2, 1), "n = p (ln p)²": (1, 2)}
MANY, FEW = 1000, 500  # categories and people
BERRY_ESSEEN = 0.4748  # Shevtsova 2011
NORMAL = "each coordinate is asymptotically normal under the uniform design, even when p > n"


def people(p: int, way: str) -> int:
    """Return how many people there are for p categories."""
    power, logs = WAYS[way]
    return round(p**power * np.log(p) ** logs)


def mean_indicators(rng: np.random.Generator, w: FloatArray, n: int) -> FloatArray:
    """Return the share of n people whose subset holds each category, under the uniform design.

    Given the value, every other category is in the subset with probability 1/2, except for subsets that are too small
    or too large. From 60 categories on these are negligible, and the counts are binomial.
    """
    p, holders = len(w), rng.multinomial(n, w)
    if p > 60:
        return (holders + rng.binomial(n - holders, 0.5)) / n
    inside = np.zeros(p, np.int64)
    for j in np.flatnonzero(holders):
        inside += _subsets(rng, p, int(j), int(holders[j]))
    return inside / n


def _subsets(rng: np.random.Generator, p: int, j: int, n: int) -> IntArray:
    """Return how many of n uniform subsets around j hold each category: random bits, redrawn unless 2 ≤ |a| ≤ p - 2."""
    total, left = np.zeros(p, np.int64), n
    while left:
        bits = (rng.integers(0, 1 << p, left)[:, None] >> np.arange(p) & 1).astype(np.int8)
        bits[:, j] = 1
        size = bits.sum(axis=1)
        kept = bits[(size >= 2) & (size <= p - 2)]
        total += kept.sum(axis=0, dtype=np.int64)
        left -= len(kept)
    return total


def deviations(w: FloatArray, n: int) -> FloatArray:
    """Return the exact standard deviation of each share by the closed form (`mom`)."""
    r = ratio(len(w))
    gamma = w + (1 - w) / r
    return np.asarray(r / (r - 1) * np.sqrt(gamma * (1 - gamma) / n))


def losses(rng: np.random.Generator, p: int, n: int) -> list[float]:
    """Return L1 and L2² of one sample, and their expectations: the first by normal theory, the second exact."""
    w = random_distribution(rng, p)
    gap, spread = mom_closed_form(mean_indicators(rng, w, n)) - w, deviations(w, n)
    expected = float(np.sqrt(2 / np.pi) * spread.sum()), float((spread**2).sum())
    return [float(np.abs(gap).sum()), float((gap**2).sum()), *expected]


def first_share(rng: np.random.Generator, p: int, n: int) -> list[float]:
    """Return the error of the first share in standard deviations."""
    w = random_distribution(rng, p)
    return [float((mom_closed_form(mean_indicators(rng, w, n)) - w)[0] / deviations(w, n)[0])]


def perform(run: Run) -> ExperimentResult:
    """Simulate along the three ways, compare with the predictions, and check the distribution of one share."""
    settings = [(p, people(p, way)) for way in WAYS for p in CATEGORIES]
    results = run.replicate(losses, settings)
    each = len(CATEGORIES)
    by_way = {way: results[i * each : (i + 1) * each] for i, way in enumerate(WAYS)}
    wide, edge, narrow = by_way.values()
    checks = [
        *_predicted("L1", [people(p, "n = p² (ln p)²") for p in CATEGORIES], wide, 0, 2),
        *_predicted("L2²", [people(p, "n = p (ln p)²") for p in CATEGORIES], narrow, 1, 1),
        _direction("L1 on n = p² (ln p)²", "(p² ln p)/n → 0 guarantees L1 → 0", wide, 0, +1),
        _direction("L2² on n = p (ln p)²", "p/n → 0 guarantees L2 → 0", narrow, 1, +1),
        _direction("L1 on n = p (ln p)² rises", "", narrow, 0, -1),
        _direction("L1 on n = p² ln p: the logarithm is not needed", "", edge, 0, +1),
        *_many_categories(run),
    ]
    return ExperimentResult(checks, _table(settings, results), _picture(by_way))


def _predicted(name: str, n: list[int], results: list[FloatArray], column: int, power: int) -> list[Check]:
    """Compare the loss with its prediction at the largest p, and its rate along all p with the theorem's."""
    gap, error = mean_and_error(results[-1][:, column] - results[-1][:, column + 2])
    expected = float(results[-1][:, column + 2].mean())
    means, errors = np.array([mean_and_error(values[:, column]) for values in results]).T
    x = np.log(np.array(CATEGORIES) ** power / np.array(n))
    x, y, weights = x - x.mean(), np.log(means), errors / means
    slope, spread = float(x @ y / (x @ x)), float(np.sqrt(((x * weights) ** 2).sum()) / (x @ x))
    predicted = np.log([values[:, column + 2].mean() for values in results])
    exact, rate = float(x @ predicted / (x @ x)), "½" if column == 0 else "1"
    what = "p²/n" if power == 2 else "p/n"
    return [
        theory(f"{name} at p = {CATEGORIES[-1]}, n = {n[-1]}", expected, expected + gap, error, digits=5),
        theory(f"{name}: exponent of {what}, which tends to {rate}", exact, slope, spread, digits=3),
    ]


def _direction(claim: str, printed: str, results: list[FloatArray], column: int, sign: int) -> Check:
    means, errors = np.array([mean_and_error(values[:, column]) for values in results]).T
    word = "rise" if sign > 0 else "fall"
    return says(
        claim,
        printed,
        ", ".join(f"{mean:.3f}" for mean in means),
        falling(sign * means, errors),
        f"no {word} from p to p beyond 3 standard errors, from first to last 3 the other way",
        source="paper" if printed else "ours",
    )


def _many_categories(run: Run) -> list[Check]:
    """Check that a share is normal with more categories than people: by simulation, and exactly."""
    (sample,) = run.replicate(first_share, [(MANY, FEW)], k=max(run.k, 500))
    gamma = 1 / MANY + (1 - 1 / MANY) / ratio(MANY)
    number = np.arange(FEW + 1)
    normal = stats.norm.cdf((number - FEW * gamma) / np.sqrt(FEW * gamma * (1 - gamma)))
    law = stats.binom.cdf(number, FEW, gamma)
    distance = float(max(np.abs(law - normal).max(), np.abs(np.append(0, law[:-1]) - normal).max()))
    bound = BERRY_ESSEEN * (gamma**2 + (1 - gamma) ** 2) / np.sqrt(FEW * gamma * (1 - gamma))
    half = 0.5 / np.sqrt(2 * np.pi * FEW * gamma * (1 - gamma))
    return [
        *normal_checks(f"first share, p = {MANY}, n = {FEW}", sample[:, 0], NORMAL),
        stated(
            f"distance of its distribution from the normal one, exact, all shares 1/{MANY}",
            f"{distance:.4f}, of which half a step of the binomial distribution {half:.4f}",
            f"the Berry–Esseen bound for n = {FEW} and any p is {bound:.4f}",
        ),
    ]


def _table(settings: list[tuple[int, int]], results: list[FloatArray]) -> dict[str, list[float]]:
    table: dict[str, list[float]] = {"p": [p for p, _ in settings], "n": [n for _, n in settings]}
    for i, name in enumerate(("L1", "L2 squared")):
        pairs = [mean_and_error(values[:, i]) for values in results]
        table |= {name: [mean for mean, _ in pairs], f"{name} error": [error for _, error in pairs]}
        table[f"{name} predicted"] = [float(values[:, i + 2].mean()) for values in results]
    return table


def _picture(by_way: dict[str, list[FloatArray]]) -> object:
    panels = {
        f"mean {name}": {way: _means(results, column) for way, results in by_way.items()}
        for column, name in ((0, "L1 loss"), (1, "squared L2 loss"))
    }
    return predicted(CATEGORIES, panels, xlabel="number of categories p", log="xy")


def _means(results: list[FloatArray], column: int) -> tuple[list[float], list[float]]:
    """Return the simulated and the predicted means of one loss."""
    means = [values.mean(axis=0) for values in results]
    return [float(mean[column]) for mean in means], [float(mean[column + 2]) for mean in means]


EXPERIMENT = Experiment(
    "thm_mom_dim", "Moments with many categories: what n must be for p", ABOUT, perform, quick=60, full=1000
)
