"""The limit distribution of the moment estimator, under several designs (`gen_mom`)."""

import numpy as np
from scipy import stats

from subsetprivacy._types import FloatArray
from subsetprivacy.design import Design, conditional, uniform
from subsetprivacy.draw import quantiles
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.mechanism.simulate import subset_probabilities as subset_law
from subsetprivacy.reproduce import as_printed
from subsetprivacy.reproduce.checks import MONTE_CARLO, Check, corrected, says, theory
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.reproduce.simulations import (
    as_columns,
    covariance_check,
    law_check,
    mean_and_error,
    moment_limit,
    random_design,
    whitener,
)
from subsetprivacy.subsets import bits

ABOUT = """How often is each category in the reported subset? These frequencies are a known matrix Q times the shares,
so solving p equations gives the moment estimate. It is linear in the data. Its mean is therefore exactly the truth, and
in large samples its error is normal with covariance Q⁻¹CQ⁻¹/n, where C is the covariance of the indicators of a subset.
The theorem only requires that Q can be inverted. We use four designs: uniform questions with four and with five
categories, random questions with five, and five categories in a ring of which two or three neighbors are reported,
including the value. No yes/no question does the last. Each sample has two thousand people.

The squared error in units of its covariance then follows the chi-squared distribution. Each panel shows its ordered
values against the quantiles of that distribution. On the dashed diagonal they agree. With five categories it has five
degrees of freedom, not four, because the estimates do not sum to one: their sum varies with the size of the reported
subsets. If all subsets have the same size, as with four categories, the sum is one and there is one degree of freedom
less."""

N = 2000
SHARES = (0.1, 0.15, 0.2, 0.25, 0.3)
LIMIT = "√n(ŵ − w) → N(0, Q⁻¹CQ⁻¹)"


def neighbours() -> Design:
    """Return the design of five categories in a ring: two neighbors with weight 0.3, three with 0.7."""
    pairs = {(i, (i + 1) % 5): 0.3 / 2 for i in range(5)}
    threes = {(i, (i + 1) % 5, (i + 2) % 5): 0.7 / 3 for i in range(5)}
    return conditional(range(5), pairs | threes)


def designs(rng: np.random.Generator) -> dict[str, Design]:
    """Return the designs by name; one of them is random."""
    return {
        "uniform, p = 4": uniform(range(4)),
        "uniform, p = 5": uniform(range(5)),
        "random questions, p = 5": random_design(rng, 5),
        "neighbors, p = 5": neighbours(),
    }


def population(p: int) -> FloatArray:
    """Return the first p of SHARES, normalized."""
    w = np.array(SHARES[:p])
    return np.asarray(w / w.sum())


def statistics(rng: np.random.Generator, design: Design, n: int) -> list[float]:
    """Return the share of 95% intervals that hold the truth, and the square root of n times the errors."""
    w = population(design.p)
    fit = estimate(simulate(design, w, n, seed=rng), "mom")
    bounds = fit.interval(0.95)
    covered = (bounds[:, 0] <= w) & (w <= bounds[:, 1])
    return [float(covered.mean()), *(np.sqrt(n) * (fit.w - w)).tolist()]


def expected(design: Design, w: FloatArray) -> FloatArray:
    """Return the expectation of the estimate: the mean of one person's, over all subsets and their distribution."""
    codes, law = subset_law(design, w)
    single = [as_printed.mom(row[None], design.Q) for row in bits(codes, design.p)]
    return np.asarray(law @ np.array(single))


def perform(run: Run) -> ExperimentResult:
    """Simulate every design, check its limit distribution, and draw the quantiles."""
    every = designs(run.rng("questions"))
    results = dict(zip(every, run.replicate(statistics, [(design, N) for design in every.values()]), strict=True))
    checks = [unbiased(every)]
    forms: dict[str, FloatArray] = {}
    pairs: dict[str, tuple[FloatArray, FloatArray]] = {}
    for name, design in every.items():
        T = whitener(moment_limit(design, population(design.p)))
        forms[name] = ((results[name][:, 1:] @ T) ** 2).sum(axis=1)
        checks += limit_checks(name, results[name], T)
        pairs[name] = forms[name], stats.chi2.ppf((np.arange(run.k) + 0.5) / run.k, T.shape[1])
    checks.append(sums({name: values[:, 1:] for name, values in results.items()}, every))
    rows = [(name, form, *row[:1]) for name in every for form, row in zip(forms[name], results[name], strict=True)]
    table = as_columns(("design", "squared error", "coverage"), rows)
    label = "quantile of the chi-squared distribution"
    return ExperimentResult(
        checks, table, quantiles(pairs, xlabel=label, ylabel="squared error, in units of its covariance")
    )


def limit_checks(name: str, results: FloatArray, T: FloatArray) -> list[Check]:
    """Compare scaled errors with the limit distribution: whitened by T, and the intervals."""
    d = T.shape[1]
    whitened = results[:, 1:] @ T
    form = (whitened**2).sum(axis=1)
    return [
        law_check(f"{name}: the squared error is chi-squared with {d} df", form, stats.chi2(d).cdf, LIMIT),
        covariance_check(f"{name}: covariance of the errors", whitened, LIMIT),
        theory(f"{name}: coverage of 95% intervals", 0.95, *mean_and_error(results[:, 0])),
    ]


def unbiased(every: dict[str, Design]) -> Check:
    """Check the expectation of the estimate under all designs."""
    away = max(float(np.abs(expected(d, population(d.p)) - population(d.p)).max()) for d in every.values())
    return says(
        "expectation of the estimate less the truth, exact, all designs",
        "γ = E 1_A = Qw",
        f"{away:.1e} at most",
        away < 1e-12,
        "less than 1e-12",
    )


def sums(errors: dict[str, FloatArray], every: dict[str, Design]) -> Check:
    """Compare the spread of the sum of the estimates with the limit distribution: 0 if all subsets have one size."""
    shown, true = [], True
    for name, design in every.items():
        total = errors[name].sum(axis=1)
        limit = float(np.sqrt(max(moment_limit(design, population(design.p)).sum(), 0.0)))
        deviation = float(total.std(ddof=1))
        allowed = MONTE_CARLO * limit / np.sqrt(2 * len(total))
        true &= abs(deviation - limit) <= allowed + 1e-6
        shown.append(f"{name} {deviation:.3f} ({limit:.3f})")
    return corrected(
        "standard deviation of √n Σŵ, and in brackets by the limit distribution",
        "Σŵ = 1",
        ", ".join(shown),
        true,
        "that of the limit distribution, which is 0 with four categories alone, within 3 standard errors",
        erratum="`mom` and `gen_mom`",
        how="true for p = 4 only",
    )


EXPERIMENT = Experiment(
    "gen_mom", "The limit distribution of moments, under four designs", ABOUT, perform, quick=400, full=2000
)
