"""The scaled loss of four estimators and its limits (`tab:consistency`)."""

from typing import Unpack

import numpy as np

from subsetprivacy._choices import Estimator
from subsetprivacy._types import FloatArray
from subsetprivacy.draw import printed_and_obtained
from subsetprivacy.errors import NotIdentifiableError
from subsetprivacy.estimation.dispatch import EstimateOptions, estimate
from subsetprivacy.estimation.likelihood import limit_covariance
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.reproduce.checks import MONTE_CARLO, Check, number, says, spread, stated, theory
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.reproduce.simulations import (
    as_columns,
    mean_and_error,
    moment_limit,
    random_design,
    random_distribution,
)

ABOUT = """Is the error of an estimate from subsets what the theory says? A population and a design are drawn at random,
then n people, and each method estimates the population. The squared error times n should tend to a constant: the trace
of the method's limit covariance, averaged over populations and designs (the rows LIM, for which both the paper and we
draw from the limit distribution).

EM and MLE are the same maximum by two algorithms. Ours is Newton's method, certified; the paper's MLE is CVXPY's. ONE
is one Newton step from MoM, kept in the simplex. The brackets in print are called standard deviations but are standard
errors of the mean. A number holds if it is within three standard errors, combined for both sides. With another seed,
one of the 36 may be outside by chance."""

SETTINGS = [(p, n) for p in (4, 8) for n in (100, 500, 1000)]
PRINTED = {  # mean and standard error, per method in the order of SETTINGS
    "EM": ("2.24 .07", "2.51 .09", "2.35 .09", "5.04 .09", "5.57 .1", "5.57 .1"),
    "MLE": ("2.24 .07", "2.51 .09", "2.35 .09", "5.05 .09", "5.58 .1", "5.59 .1"),
    "ONE": ("2.52 .1", "2.61 .1", "2.38 .09", "4.99 .09", "5.63 .1", "5.64 .1"),
    "MLE:LIM": ("2.5 .09", "2.56 .09", "2.5 .09", "5.68 .1", "5.67 .1", "5.68 .1"),
    "MoM": ("2.79 .16", "2.88 .13", "2.66 .1", "6.81 .12", "6.78 .12", "6.68 .11"),
    "MoM:LIM": ("2.71 .09", "2.78 .1", "2.71 .09", "6.74 .11", "6.74 .11", "6.74 .11"),
}


def losses(rng: np.random.Generator, p: int, n: int) -> list[float]:
    """Return n times each method's squared error in one sample, a draw from each limit, and their means."""
    w, design = random_distribution(rng, p), random_design(rng, p)
    counts = simulate(design, w, n, seed=rng)

    def loss(method: Estimator, **options: Unpack[EstimateOptions]) -> float:
        try:
            return float(n * ((estimate(counts, method, **options).w - w) ** 2).sum())
        except NotIdentifiableError:  # one step has no Hessian to invert in one sample of a thousand
            return float("nan")

    mle, mom = limit_covariance(design, w), moment_limit(design, w)
    values = [loss("em"), loss("mle"), loss("one-step", start="mom"), _limit_draw(rng, mle), loss("mom")]
    return [*values, _limit_draw(rng, mom), float(np.trace(mle)), float(np.trace(mom))]


def _limit_draw(rng: np.random.Generator, covariance: FloatArray) -> float:
    return float(np.linalg.eigvalsh(covariance) @ rng.chisquare(1, len(covariance)))


def perform(run: Run) -> ExperimentResult:
    """Simulate every setting, compare all 36 numbers, and check what the text says about them."""
    results = run.replicate(losses, SETTINGS)
    rows = []
    for i, (p, n) in enumerate(SETTINGS):
        for column, (method, cells) in enumerate(PRINTED.items()):
            mean, error = cells[i].split()
            rows.append((method, p, n, mean, float(error), *mean_and_error(results[i][:, column])))
    checks = [
        number(f"{method}, p = {p}, n = {n}", printed, ours, printed_error=error, error=own, digits=2)
        for method, p, n, printed, error, ours, own in rows
    ]
    checks += [
        check for (p, n), values in zip(SETTINGS, results, strict=True) if n == 1000 for check in text(p, values)
    ]
    undefined = sum(int(np.isnan(values).sum()) for values in results)
    checks.append(stated("samples in which one step is not defined", f"{undefined} of {len(SETTINGS) * run.k}"))
    names = ("method", "p", "n", "printed", "printed_error", "obtained", "error")
    table = as_columns(names, rows)
    axes = printed_and_obtained(
        [f"{method}, p = {p}, n = {n}" for method, p, n, *_ in rows],
        [float(printed) for printed in table["printed"]],
        table["obtained"],
        printed_errors=table["printed_error"],
        errors=table["error"],
        xlabel="n times the squared error, mean and two standard errors",
    )
    return ExperimentResult(checks, table, axes.figure)


def text(p: int, values: FloatArray) -> list[Check]:
    """Check what the text says about the table, with the same samples of 1000 people."""
    em, mle, one_step, _, mom, _, mle_limit, mom_limit = values.T
    gap, error = mean_and_error(mom_limit - mle_limit)
    (away, own), (beyond, beyond_error) = mean_and_error(mle - mle_limit), mean_and_error(mom - mom_limit)
    ratios = [float(np.nanmean(other) / np.nanmean(mle)) for other in (em, one_step)]
    return [
        says(
            f"p = {p}: MoM against the others",
            "the MoM has a larger asymptotic variance than other estimators",
            f"limits apart by {spread(gap, error, 3)}",
            gap > MONTE_CARLO * error,
            "three standard errors of the difference, over the same problems",
        ),
        says(
            f"p = {p}, n = 1000: EM and ONE against MLE",
            "the EM, MLE, and ONE exhibit similarly",
            f"losses of EM {ratios[0]:.4f} and of ONE {ratios[1]:.3f} times that of MLE",
            abs(ratios[0] - 1) < 0.01 and abs(ratios[1] - 1) < 0.1,
            "EM within 1%, ONE within 10%",
        ),
        says(
            f"MLE, p = {p}, n = 1000: loss and its limit in the same problems",
            "the empirical results are aligned with our theoretical derivation",
            f"{np.nanmean(mle):.3f} against {mle_limit.mean():.3f}, apart by {spread(away, own, 3)}",
            abs(away) <= MONTE_CARLO * own + 0.05 * mle_limit.mean(),
            "three standard errors of the difference, and 5% since 1000 people are not infinitely many",
        ),
        theory(
            f"MoM, p = {p}, n = 1000: loss and its limit in the same problems",
            float(mom_limit.mean()),
            float(mom_limit.mean()) + beyond,
            beyond_error,
            digits=3,
        ),
    ]


EXPERIMENT = Experiment(
    "tab:consistency", "Scaled loss of four estimators, and its limits", ABOUT, perform, quick=250, full=1000
)
