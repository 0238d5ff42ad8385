"""The limit distribution of the maximum of the likelihood, inside the simplex and on its edge (`thm_normality_mle`)."""

import numpy as np
from scipy import stats

from subsetprivacy._types import FloatArray
from subsetprivacy.design import uniform
from subsetprivacy.draw import normality
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.likelihood import expected_information, limit_covariance
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.reproduce.checks import MONTE_CARLO, Check, corrected, stated, theory
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.reproduce.simulations import LEVEL, covariance_check, law_check, mean_and_error, whitener

ABOUT = """In large samples the error of the maximum should be normal with covariance BI⁻¹B'/n, where I is the Fisher
information. Standard errors and intervals rest on this. Then n(ŵ − w)'I(ŵ − w) follows the chi-squared distribution
with p − 1 degrees of freedom. With five categories, uniform questions and five thousand people per sample, the figure
compares this number over many samples with that distribution. The covariance and the coverage of 95% intervals are
checked as well.

The theorem assumes that no two shares are zero together. That is not enough. With one empty category the assumption is
met, but the estimate of that share cannot be negative. It is exactly zero in every second sample, and the number above
mixes the chi-squared distributions with p − 1 and p − 2 degrees of freedom. All shares must be positive. How large they
must be depends on n: the result for a share of one limit standard deviation is stated too."""

N = 5000
INSIDE = (0.1, 0.15, 0.2, 0.25, 0.3)
EDGE = (0.0, 0.1, 0.2, 0.3, 0.4)
PRINTED = "√n(ŵ − w) → N(0, BI⁻¹B')"


def statistics(rng: np.random.Generator, w: tuple[float, ...], n: int) -> list[float]:
    """Return n(ŵ − w)'I(ŵ − w), the share of 95% intervals that hold the truth, whether the first does, √n(ŵ − w)."""
    design, truth = uniform(range(len(w))), np.array(w)
    fit = estimate(simulate(design, truth, n, seed=rng))
    gap, bounds = fit.w - truth, fit.interval(0.95, method="wald")
    form = n * gap @ expected_information(design, truth) @ gap
    covered = (bounds[:, 0] <= truth) & (truth <= bounds[:, 1])
    return [float(form), float(covered.mean()), float(covered[0]), *(np.sqrt(n) * gap).tolist()]


def near(n: int) -> tuple[float, ...]:
    """Return the population on the edge with its empty category raised to one standard deviation of its estimate."""
    w = np.array(EDGE)
    w[0] = 1e-3
    for _ in range(50):
        w[0] = np.sqrt(limit_covariance(uniform(range(len(w))), w / w.sum())[0, 0] / n)
    return tuple((w / w.sum()).tolist())


def perform(run: Run) -> ExperimentResult:
    """Simulate inside, on the edge and near it."""
    inside, edge, close = run.replicate(statistics, [(INSIDE, N), (EDGE, N), (near(N), N)])
    checks = [*_inside(inside), *_edge(edge), _near(close)]
    names = ("statistic", "coverage", "first covered", *(f"scaled error {j + 1}" for j in range(len(INSIDE))))
    places = ["inside"] * len(inside) + ["edge"] * len(edge) + ["near"] * len(close)
    columns = np.concatenate([inside, edge, close]).T.tolist()
    law = stats.chi2(len(INSIDE) - 1)
    figure = normality(
        inside[:, 0],
        xlabel="n(ŵ − w)'I(ŵ − w), all shares positive",
        density=law.pdf,
        quantile=law.ppf,
        law="chi-squared (4 df)",
    )
    return ExperimentResult(checks, {"population": places} | dict(zip(names, columns, strict=True)), figure)


def _inside(results: FloatArray) -> list[Check]:
    d = len(INSIDE) - 1
    T = whitener(limit_covariance(uniform(range(d + 1)), np.array(INSIDE)))
    coverage, error = mean_and_error(results[:, 1])
    return [
        theory("mean of n(ŵ − w)'I(ŵ − w)", d, *mean_and_error(results[:, 0]), digits=3),
        law_check(f"it follows the chi-squared distribution with {d} df", results[:, 0], stats.chi2(d).cdf, PRINTED),
        covariance_check("empirical covariance against BI⁻¹B'", results[:, 3:] @ T, PRINTED),
        theory("coverage of 95% intervals", 0.95, coverage, error),
    ]


def _edge(results: FloatArray) -> list[Check]:
    """Check the distribution with one empty category: the theorem's assumptions are met but its conclusion fails."""
    d, k = len(EDGE) - 1, len(results)
    zero = float((results[:, 3] < 1e-6).mean())
    allowed = MONTE_CARLO * 0.5 / np.sqrt(k)
    mean, error = mean_and_error(results[:, 0])

    def mixture(x: FloatArray) -> FloatArray:
        return np.asarray((stats.chi2.cdf(x, d) + stats.chi2.cdf(x, d - 1)) / 2)

    normal, mixed = (float(stats.kstest(results[:, 0], law).pvalue) for law in (stats.chi2(d).cdf, mixture))
    return [
        corrected(
            "one empty category: its estimate is exactly zero",
            "normal under min (w_i + w_j) > c",
            f"{zero:.3f} of samples",
            abs(zero - 0.5) <= allowed,
            f"½ ± {allowed:.3f}; a normal distribution has no such point",
            erratum="thm_normality_mle",
        ),
        corrected(
            "one empty category: the distribution of n(ŵ − w)'I(ŵ − w)",
            PRINTED,
            f"mean {mean:.3f} ({error:.3f}), Kolmogorov p-value {mixed:.3f}",
            mixed > LEVEL and abs(mean - (d - 0.5)) <= MONTE_CARLO * error,
            f"mixture of {d} and {d - 1} df not rejected at {LEVEL:g}; mean {d - 0.5} ± {MONTE_CARLO * error:.3f}",
            erratum="thm_normality_mle",
        ),
        stated(
            f"one empty category: p-value of the distribution that the theorem gives, chi-squared with {d} df",
            f"{normal:.1e}",
        ),
    ]


def _near(results: FloatArray) -> Check:
    coverage, error = mean_and_error(results[:, 2])
    zero = float((results[:, 3] <= -np.sqrt(N) * near(N)[0] + 1e-6).mean())
    return stated(
        "one share of a single standard deviation",
        f"estimated as zero in {zero:.3f} of samples; its 95% interval holds it in {coverage:.3f} ({error:.3f})",
        "positive, and the limit distribution is not there yet: it needs shares of a few standard deviations",
    )


EXPERIMENT = Experiment(
    "thm_normality_mle",
    "The limit distribution of the maximum, inside and on the edge",
    ABOUT,
    perform,
    quick=600,
    full=2000,
)
