"""The distribution of the maximum near the edge of the simplex (`fig:high_2`)."""

import numpy as np
from scipy import stats

from subsetprivacy._types import FloatArray
from subsetprivacy.design import Design, uniform
from subsetprivacy.draw import histograms
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.likelihood import limit_covariance
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.reproduce.checks import Check, corrected, says, spread, theory
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.reproduce.fig_high_1 import people
from subsetprivacy.reproduce.simulations import (
    LEVEL,
    mean_and_error,
    moment_limit,
    normal_checks,
    random_design,
    random_distribution,
    share_error,
)

ABOUT = """With twelve categories and (12 ln 12)² = 889 people, some shares are no larger than their own standard
deviation. A maximum of the likelihood is never negative, so such a share is often estimated as exactly zero, and a
distribution with a spike at one point is not normal. Moments may become negative and stay normal. Each panel shows the
error of the first share, divided by the standard deviation of the limit distribution. For this figure the paper gives
neither the number of categories, nor the number of people, nor the divisor. We chose twelve, the largest number of
`fig:high_1`.

Left: population and questions are drawn again for each sample, as the text says. The spikes are at different places and
blend, so this histogram looks normal, although the paper says that its own does not. The zeros have to be counted.
Middle, ours: one population, with shares in proportion to 1, 3, 5 … 23 as twelve random numbers would be, and uniform
questions. Its smallest share piles up at zero. Right: MoM in the samples of the middle panel.

The cause is the edge, not the number of categories: with a hundred times as many people, most of the zeros are gone."""

P = 12
MORE = 100
LUMP = 0.01
ODD = np.arange(1, 2 * P, 2) / P**2
NAMES = ("EM", "MLE at zero", "MoM", "share in deviations", "MLE at zero, more people", "MoM, mean square of all")


def coordinate(rng: np.random.Generator, design: Design, w: FloatArray, n: int) -> list[float]:
    """Return one sample's numbers, as in NAMES; errors are in standard deviations of the limit distribution."""
    likelihood, moments = limit_covariance(design, w)[0, 0], moment_limit(design, w).diagonal()
    counts = simulate(design, w, n, seed=rng)
    more = simulate(design, w, MORE * n, seed=rng)
    scale = np.sqrt(likelihood / n)
    by_moments = (estimate(counts, "mom").w - w) / np.sqrt(moments / n)
    return [
        float((estimate(counts, "em", tol=1e-7).w[0] - w[0]) / scale),
        float(estimate(counts).w[0] < 1e-9),
        float(by_moments[0]),
        float(w[0] / scale),
        float(estimate(more).w[0] < 1e-9),
        float((by_moments**2).mean()),
    ]


def anew(rng: np.random.Generator, p: int) -> list[float]:
    """Return `coordinate` for a random population and random questions."""
    return coordinate(rng, random_design(rng, p), random_distribution(rng, p), people(p))


def fixed(rng: np.random.Generator, w: tuple[float, ...]) -> list[float]:
    """Return `coordinate` for a given population and uniform questions."""
    return coordinate(rng, uniform(range(len(w))), np.array(w), people(len(w)))


def perform(run: Run) -> ExperimentResult:
    """Draw both kinds of samples; count zeros, test normality where it must fail and where it must hold."""
    (random,) = run.replicate(anew, [(P,)])
    (fixed_design,) = run.replicate(fixed, [(tuple(ODD.tolist()),)])
    checks = [
        zeros("first share, random populations", random, "the asymptotic normality no longer holds for the MLE"),
        blended(random),
        zeros("smallest share, one population", fixed_design),
        not_normal("smallest share, one population", fixed_design[:, 0]),
        *_moments("random populations", random),
        *_moments("one population", fixed_design),
        _cause(random, fixed_design),
    ]
    kinds = ["random"] * len(random) + ["one"] * len(fixed_design)
    table = {"population": kinds} | dict(zip(NAMES, np.concatenate([random, fixed_design]).T.tolist(), strict=True))
    samples = {
        "EM, random populations": random[:, 0],
        "EM, one population": fixed_design[:, 0],
        "MoM, one population": fixed_design[:, 2],
    }
    return ExperimentResult(checks, table, histograms(samples, density=stats.norm.pdf, xlabel="normalized error"))


def zeros(what: str, results: FloatArray, printed: str = "") -> Check:
    """Check that exact zeros are more frequent than one in a hundred."""
    share = float(results[:, 1].mean())
    return says(
        f"{what}: estimates that are exactly zero",
        printed,
        spread(share, float(share_error(share, len(results))), 3),
        share > LUMP,
        f"more than {LUMP:g} of samples: a normal distribution puts no weight on a point",
        source="paper" if printed else "ours",
    )


def blended(results: FloatArray) -> Check:
    """Check that the histogram over random populations does not show what the zeros do."""
    sample, share = results[:, 0], float(results[:, 1].mean())
    shape, order = float(stats.normaltest(sample).pvalue), float(stats.shapiro(sample).pvalue)
    return corrected(
        "the histogram, random populations",
        "histogram … which is not Gaussian",
        f"skewness {stats.skew(sample):.2f}, standard deviation {sample.std(ddof=1):.2f}; p-values {shape:.2f} "
        f"(D'Agostino), {order:.2f} (Shapiro); {share:.3f} are zeros",
        min(shape, order) > LEVEL and share > LUMP,
        f"normal shape not rejected at level {LEVEL:g}; yet more than {LUMP:g} of the estimates are exactly zero",
        erratum="fig:high_2",
        how="not to be seen in the histogram",
    )


def _moments(what: str, results: FloatArray) -> list[Check]:
    """Check that the spread of moments is 1 in all categories, and the distribution of the first one."""
    size = theory(f"MoM, {what}: mean squared error, all shares", 1.0, *mean_and_error(results[:, 5]), digits=3)
    return [size, normal_checks(f"MoM, {what}", results[:, 2])[2]]


def not_normal(what: str, sample: FloatArray) -> Check:
    """Check that the standard normal distribution is out of the question."""
    pvalue = float(stats.kstest(sample, stats.norm.cdf).pvalue)
    return says(
        f"{what}: the error is not normal",
        "",
        f"Kolmogorov p-value {pvalue:.1e}, skewness {stats.skew(sample):.2f}",
        pvalue < 1e-9,
        "the standard normal distribution is rejected at level 1e-9",
        source="ours",
    )


def _cause(random: FloatArray, fixed_design: FloatArray) -> Check:
    before, after = (float(random[:, i].mean()) for i in (1, 4))
    return says(
        f"zeros with {MORE} times the people: random populations, one population",
        "",
        f"{before:.3f} → {after:.3f}, {fixed_design[:, 1].mean():.3f} → {fixed_design[:, 4].mean():.3f}",
        bool(random[:, 4].sum() < random[:, 1].sum() and fixed_design[:, 4].mean() < fixed_design[:, 1].mean() / 4),
        "fewer, and in the one population less than a quarter",
        source="ours",
    )


EXPERIMENT = Experiment(
    "fig:high_2", "The maximum is not normal near the edge of the simplex", ABOUT, perform, quick=120, full=1000
)
