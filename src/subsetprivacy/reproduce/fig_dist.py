"""The distribution of a moment estimate is normal (`fig:dist`)."""

import numpy as np
from scipy import stats

from subsetprivacy.design import uniform
from subsetprivacy.draw import normality
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.likelihood import limit_covariance
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.reproduce.fig_high_1 import METHODS
from subsetprivacy.reproduce.simulations import moment_limit, normal_checks

ABOUT = """An estimate from a thousand people varies from sample to sample. Does it follow a normal distribution with a
known standard deviation, as the theory says? With four equally frequent categories and uniform questions, we draw a
thousand samples of a thousand people. From each we keep the error of the first share, divided by the standard deviation
of its limit distribution, which is computed exactly.

The left panel shows the histogram of the moment estimate and the standard normal density. The right panel shows the
ordered errors against the normal quantiles. On the dashed diagonal they agree. The steps are real, because a number of
people out of a thousand is a whole number. The paper adds that other estimators look similar. Maximum likelihood and
one Newton step are checked as well."""

P, N = 4, 1000
PRINTED = {
    "MoM": "to visualize the normality, we present a typical distribution",
    "MLE": "similar results can be obtained from other estimators",
    "ONE": "similar results can be obtained from other estimators",
}
DESIGN, W = uniform(range(P)), np.full(P, 1 / P)


def errors(rng: np.random.Generator, n: int, deviations: tuple[float, ...]) -> list[float]:
    """Return the error of the first share by each method, in standard deviations."""
    counts = simulate(DESIGN, W, n, seed=rng)
    fits = [estimate(counts, METHODS[name][0], **METHODS[name][1]) for name in PRINTED]
    gaps = [fit.w[0] - W[0] for fit in fits]
    return [float(gap / deviation) for gap, deviation in zip(gaps, deviations, strict=True)]


def limit_deviations(n: int) -> tuple[float, ...]:
    """Return the standard deviation of the first share by the limit distribution of each method."""
    moments, likelihood = moment_limit(DESIGN, W), limit_covariance(DESIGN, W)
    return tuple(float(np.sqrt((moments if name == "MoM" else likelihood)[0, 0] / n)) for name in PRINTED)


def perform(run: Run) -> ExperimentResult:
    """Draw the samples, check mean, spread and shape, and draw the paper's two plots."""
    (results,) = run.replicate(errors, [(N, limit_deviations(N))])
    columns = dict(zip(PRINTED, results.T, strict=True))
    checks = [check for name, sample in columns.items() for check in normal_checks(name, sample, PRINTED[name])]
    figure = normality(
        columns["MoM"],
        xlabel="error of the first share by MoM, in standard deviations of its limit",
        density=stats.norm.pdf,
        quantile=stats.norm.ppf,
    )
    return ExperimentResult(checks, {name: sample.tolist() for name, sample in columns.items()}, figure)


EXPERIMENT = Experiment(
    "fig:dist", "The distribution of an estimated share: histogram and Q-Q plot", ABOUT, perform, quick=1000, full=1000
)
