"""One Newton step from moments has the limit distribution of the maximum, in large enough samples (`one_step`)."""

import numpy as np
from scipy import stats

from subsetprivacy._choices import MomentStart
from subsetprivacy._types import FloatArray
from subsetprivacy.design import uniform
from subsetprivacy.draw import line_panels
from subsetprivacy.errors import NotIdentifiableError
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.likelihood import expected_information, limit_covariance
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.reproduce.checks import MONTE_CARLO, Check, corrected, says, spread, stated, theory
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.reproduce.simulations import as_columns, law_check, mean_and_error, moment_limit

ABOUT = """Computing a maximum takes many steps. The theorem says that one Newton step from the moment estimate has the
same limit distribution. We draw samples of a hundred to a million people with uniform questions and five categories,
from a population in which all of them are frequent, and from race in the Adult data, where two of five have less than
one percent. The figure shows the mean squared error times n, divided by its limit, the trace of the limit covariance.
All lines must settle at 1. One step is taken from the paper's MoM and from this package's moments given the questions,
in the same samples as the maximum, and stays in the simplex.

With frequent categories, one step and the maximum can hardly be distinguished. With rare ones, convergence is slow: if
the start misses a share by as much as the share itself, one step is not enough. With ten thousand people the step from
MoM still ends well away from the maximum. The better start, or a million people, removes most of the difference. Their
distance, times the root of n, vanishes in both populations.

The formula in print has the wrong sign, so its step goes downhill, away from the maximum. Its loss is also known: the
loss of the maximum, plus four times what moments lose beyond it."""

SIZES = (10**2, 10**3, 10**4, 10**5, 10**6)
FREQUENT = (0.1, 0.15, 0.2, 0.25, 0.3)
STARTS: dict[str, MomentStart] = {"ONE, from MoM": "mom", "ONE, given the questions": "mom-conditional"}
LOSSES = ("MLE", *STARTS, "MoM", "with the printed sign")
NAMES = (*LOSSES, *(f"{name}, distance" for name in STARTS), *(f"{name}, form" for name in STARTS))
SAME = "the same asymptotic distribution as MLE"
CLOSE, FAR = 0.01, 0.05


def losses(rng: np.random.Generator, w: tuple[float, ...], n: int) -> list[float]:
    """Return one sample's numbers, as in NAMES, times n: losses, squared distances to the maximum, (ŵ - w)'I(ŵ - w).

    With the printed sign, a step goes as far in the opposite direction: to twice the start minus the end.
    """
    design, truth = uniform(range(len(w))), np.array(w)
    counts = simulate(design, truth, n, seed=rng)
    top, start = estimate(counts).w, estimate(counts, "mom").w
    try:
        ones = [estimate(counts, "one-step", start=how).w for how in STARTS.values()]
    except NotIdentifiableError:  # too few distinct subsets in a sample of a hundred
        ones = [np.full(len(w), np.nan)] * len(STARTS)
    ends = [top, *ones, start, 2 * start - ones[0]]
    information = expected_information(design, truth)
    results = [((end - truth) ** 2).sum() for end in ends]
    results += [((estimated - top) ** 2).sum() for estimated in ones]
    results += [(estimated - truth) @ information @ (estimated - truth) for estimated in ones]
    return [float(n * value) for value in results]


def perform(run: Run) -> ExperimentResult:
    """Simulate both populations at every n, and check the largest."""
    populations = {"frequent categories": FREQUENT, "race in Adult": tuple(run.adult.race.tolist())}
    settings = [(w, n) for w in populations.values() for n in SIZES]
    results = iter(run.replicate(losses, settings))
    by_name = {name: [next(results) for _ in SIZES] for name in populations}
    checks = [check for name, w in populations.items() for check in at_the_end(name, np.array(w), by_name[name])]
    checks.append(slow("race in Adult", run.adult.race, by_name["race in Adult"][SIZES.index(10**4)]))
    means = {
        name: np.array([[mean_and_error(column) for column in values.T] for values in each])
        for name, each in by_name.items()
    }
    rows = [(name, n, *means[name][i, :, :].ravel()) for name in populations for i, n in enumerate(SIZES)]
    table = as_columns(("population", "n", *(f"{name}{end}" for name in NAMES for end in ("", " error"))), rows)
    return ExperimentResult(checks, table, _picture(populations, means))


def at_the_end(name: str, w: FloatArray, results: list[FloatArray]) -> list[Check]:
    """Check the largest samples: the loss, the distance to the maximum, the limit distribution and the sign."""
    limit, last = float(np.trace(limit_covariance(uniform(range(len(w))), w))), results[-1]
    checks = []
    for i, start in enumerate(STARTS):
        where = f"{name}, {start}"
        checks += [
            theory(f"{where}: n times the loss, n = {SIZES[-1]}", limit, *mean_and_error(last[:, 1 + i]), digits=3),
            together(where, limit, results, len(LOSSES) + i),
            law_check(
                f"{where}: n(ŵ − w)'I(ŵ − w) is chi-squared with {len(w) - 1} df",
                last[:, len(LOSSES) + len(STARTS) + i],
                stats.chi2(len(w) - 1).cdf,
                SAME,
            ),
            _loss(where, limit, results[SIZES.index(10**4)], 1 + i),
        ]
    return [*checks, wrong_sign(name, w, *(last[:, LOSSES.index(line)] for line in LOSSES[-2:]))]


def together(where: str, limit: float, results: list[FloatArray], column: int) -> Check:
    """Check that the distance to the maximum vanishes faster than the root of n."""
    means = np.array([mean_and_error(values[:, column]) for values in results])
    upper = means[-1] @ [1, MONTE_CARLO]
    return says(
        f"{where}: n times the squared distance to the maximum",
        SAME,
        ", ".join(f"{mean:.2g}" for mean in means[:, 0]) + f", for n = {SIZES[0]} to {SIZES[-1]}",
        bool(upper < CLOSE * limit and upper < means[-2, 0] < means[-3, 0]),
        f"at the end less than {CLOSE * limit:.2g}, {CLOSE:g} of the loss, by 3 standard errors; falling from 10⁴ on",
    )


def slow(name: str, w: FloatArray, values: FloatArray) -> Check:
    """Check that with rare categories and ten thousand people the start matters."""
    limit = float(np.trace(limit_covariance(uniform(range(len(w))), w)))
    far, near = values[:, len(LOSSES) : len(LOSSES) + len(STARTS)].mean(axis=0) / limit
    return says(
        f"{name}: squared distance to the maximum over the loss, n = 10⁴, from MoM and given the questions",
        "",
        f"{far:.3f}, {near:.3f}",
        bool(far > FAR > near),
        f"more and less than {FAR:g}",
        source="ours",
    )


def _loss(where: str, limit: float, values: FloatArray, column: int) -> Check:
    gap, error = mean_and_error(values[:, column] - values[:, 0])
    return stated(
        f"{where}: n times the loss at n = 10⁴, and what it is above that of the maximum in the same samples",
        f"{np.nanmean(values[:, column]):.3f} (limit {limit:.3f}), {spread(gap, error)}",
    )


def wrong_sign(name: str, w: FloatArray, moments: FloatArray, printed: FloatArray) -> Check:
    """Check that a step with the printed sign loses more than its start, as both limit distributions imply.

    In the limit the error of moments is that of the maximum plus an uncorrelated part. The step removes that part, and
    with the other sign doubles it.
    """
    design = uniform(range(len(w)))
    right = 3 * float(np.trace(moment_limit(design, w)) - np.trace(limit_covariance(design, w)))
    mean, error = mean_and_error(printed - moments)
    return corrected(
        f"{name}: n times the loss with the sign in print less that of MoM, n = {SIZES[-1]}",
        "θ + (∇²l)⁻¹∇l",
        spread(mean, error, 3),
        abs(mean - right) <= MONTE_CARLO * error < mean,
        f"{right:.3f} ± {MONTE_CARLO * error:.3f}, and above 0 by as much: the step must be subtracted",
        erratum="one_step",
    )


def _picture(populations: dict[str, tuple[float, ...]], means: dict[str, FloatArray]) -> object:
    shown = ("MLE", *STARTS)
    limits = {
        name: float(np.trace(limit_covariance(uniform(range(len(w))), np.array(w)))) for name, w in populations.items()
    }
    lines, bars = (
        {name: {line: means[name][:, i, at] / limits[name] for i, line in enumerate(shown)} for name in populations}
        for at in (0, 1)
    )
    return line_panels(
        SIZES,
        lines,
        errors=bars,
        levels=[(1.0, "limit")],
        apart=0.02,
        xlabel="people n",
        ylabel="mean squared error over its limit",
        log="x",
    )


EXPERIMENT = Experiment(
    "one_step",
    "One Newton step against the maximum, to a million people",
    ABOUT,
    perform,
    adult=True,
    quick=150,
    full=1000,
)
