"""The maximum of the likelihood comes ever closer along one growing sample (`thm_consistency_mle`)."""

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import uniform
from subsetprivacy.draw import paths
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.likelihood import limit_covariance
from subsetprivacy.estimation.limit_quantiles import quadratic_form_quantile as quantile
from subsetprivacy.mechanism.simulate import subset_probabilities as subset_law
from subsetprivacy.reproduce.checks import Check, says, stated, theory
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run

ABOUT = """The theorem says that, almost surely, the estimate tends to the truth as one and the same sample grows. No
simulation can show "almost surely", but it can follow samples. Each thin line is one survey that grows from a hundred
people to a million, keeping all earlier people. It shows the error of the estimate (Euclidean distance to the truth) at
each size. There are five categories, uniform questions and two populations: one with all categories, and one in which
two are empty. There the theorem holds as well, although normality (`thm_normality_mle`) does not.

The dashed line falls as one over the root of n. Errors fluctuate around it and keep falling. Convergence on a path
means that the largest error from n on vanishes. This is checked, together with the exponent and the limit distribution
at the end."""

SIZES = np.unique(np.rint(np.logspace(2, 6, 17)).astype(int))
POPULATIONS = {
    "five categories": (0.1, 0.15, 0.2, 0.25, 0.3),
    "two of them empty": (0.0, 0.0, 0.2, 0.3, 0.5),
}
MISS = 1e-3  # chance that the last error of some path is beyond its bound


def errors(rng: np.random.Generator, w: tuple[float, ...]) -> list[float]:
    """Return the distance of the estimate to w after each of SIZES people of one growing sample."""
    design, truth = uniform(range(len(w))), np.array(w)
    codes, law = subset_law(design, truth)
    counts, results = np.zeros(len(codes), np.int64), []
    for more in np.diff(SIZES, prepend=0):
        counts = counts + rng.multinomial(more, law)
        fit = estimate(SubsetCounts(codes, counts, design))
        results.append(float(np.linalg.norm(fit.w - truth)))
    return results


def largest_from(results: FloatArray) -> FloatArray:
    """Return for each path and size the largest error from that size on."""
    return np.maximum.accumulate(results[:, ::-1], axis=1)[:, ::-1]


def exponents(results: FloatArray) -> FloatArray:
    """Return for each path the slope of the log error on log n, from a thousand people on."""
    late = SIZES >= 1000
    x = np.log(SIZES[late]) - np.log(SIZES[late]).mean()
    return np.asarray(np.log(results[:, late]) @ x / (x @ x))


def perform(run: Run) -> ExperimentResult:
    """Follow k growing samples of each population."""
    results = dict(zip(POPULATIONS, run.replicate(errors, [(w,) for w in POPULATIONS.values()]), strict=True))
    checks = [check for name, values in results.items() for check in _consistent(name, values)]
    name, w = next(iter(POPULATIONS.items()))
    checks.append(_end(name, results[name], np.array(w)))
    table: dict[str, list[float] | list[str]] = {
        "population": [name for name, values in results.items() for _ in range(values.size)],
        "path": [float(i) for values in results.values() for i in range(len(values)) for _ in SIZES],
        "n": [float(n) for values in results.values() for _ in range(len(values)) for n in SIZES],
        "error": np.concatenate([values.ravel() for values in results.values()]).tolist(),
    }
    first = float(np.median(results[name][:, 0]))
    guide = ("slope −1/2", 1.5 * first * np.sqrt(SIZES[0] / SIZES))
    axes = paths(SIZES, results, guide=guide, xlabel="people so far, n", ylabel="distance of the estimate to the truth")
    return ExperimentResult(checks, table, axes.figure)


def _consistent(name: str, results: FloatArray) -> list[Check]:
    decades = largest_from(results)[:, np.searchsorted(SIZES, [10**2, 10**3, 10**4, 10**5, 10**6])]
    worst, slopes = decades.max(axis=0), exponents(results)
    error = float(slopes.std(ddof=1) / np.sqrt(len(slopes)))
    return [
        says(
            f"{name}: the largest error from n on vanishes, worst of {len(results)} paths",
            "ŵ → w a.s. as n → ∞",
            "from n = 10², …, 10⁶: " + ", ".join(f"{value:.4f}" for value in worst),
            bool((worst[1:] < 0.7 * worst[:-1]).all() and (decades[:, -2] < decades[:, 0] / 4).all()),
            "less than 0.7 of it with ten times the people; on every path less than a quarter from 10⁵ on",
        ),
        theory(f"{name}: mean exponent of n", -0.5, float(slopes.mean()), error, digits=3),
        stated(f"{name}: median error with 100 and with 10⁶ people", f"{_ends(results)}"),
    ]


def _ends(results: FloatArray) -> str:
    first, last = np.median(results[:, [0, -1]], axis=0)
    return f"{first:.4f}, {last:.5f}"


def _end(name: str, results: FloatArray, w: FloatArray) -> Check:
    """Compare the last error of all paths with a quantile of the limit distribution of the squared distance."""
    limit = limit_covariance(uniform(range(len(w))), w)
    level = 1 - MISS / len(results)
    bound = float(np.sqrt(quantile(np.linalg.eigvalsh(limit), level) / SIZES[-1]))
    worst = float(results[:, -1].max())
    return says(
        f"{name}: largest of {len(results)} errors with 10⁶ people",
        "",
        f"{worst:.5f}",
        worst <= bound,
        f"at most {bound:.5f}, which the limit distribution exceeds on one of the paths once in a thousand runs",
        source="theory",
    )


EXPERIMENT = Experiment(
    "thm_consistency_mle", "Consistency: samples that grow to a million", ABOUT, perform, quick=30, full=200
)
