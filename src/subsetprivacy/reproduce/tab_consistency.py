"""The scaled loss of four estimators and its limits (`tab:consistency`)."""

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.draw import beside
from subsetprivacy.errors import NotIdentifiableError
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.likelihood import limit_covariance
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.reproduce.checks import number, stated
from subsetprivacy.reproduce.experiment import Experiment, Outcome, Run
from subsetprivacy.reproduce.limits import moment_limit
from subsetprivacy.reproduce.problems import random_design, random_distribution

ABOUT = """Is the error of an estimate from subsets what the theory says? A population and a design are drawn at
random, then n people, then each method estimates the population. The squared error times n should tend to a constant
that depends on the method alone: the trace of its limit covariance, averaged over populations and designs (the rows
LIM, for which the paper draws from the limit law as we do).

EM and MLE are the same maximum by two algorithms. ONE is one Newton step from MoM. The brackets in print are called
standard deviations and are standard errors of the mean. A number holds if it is within three standard errors, those of
both sides together; of 36 such numbers one may be outside by chance."""

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
    """Return n times the squared error of each method in one sample, and a draw from each limit law."""
    w, design = random_distribution(rng, p), random_design(rng, p)
    counts = simulate(design, w, n, seed=rng)

    def loss(method: str, **options: str) -> float:
        try:
            return float(n * ((estimate(counts, method, **options).w - w) ** 2).sum())
        except NotIdentifiableError:  # one step has no Hessian to invert in one sample of a thousand
            return float("nan")

    return [
        loss("em"),
        loss("mle"),
        loss("one-step", start="mom"),
        _limit_draw(rng, limit_covariance(design, w)),
        loss("mom"),
        _limit_draw(rng, moment_limit(design, w)),
    ]


def _limit_draw(rng: np.random.Generator, covariance: FloatArray) -> float:
    return float(np.linalg.eigvalsh(covariance) @ rng.chisquare(1, len(covariance)))


def perform(run: Run) -> Outcome:
    """Simulate every setting and compare all 36 numbers."""
    found = run.replicate(losses, SETTINGS)
    checks, rows = [], []
    for i, (p, n) in enumerate(SETTINGS):
        for column, (method, cells) in enumerate(PRINTED.items()):
            mean, error = cells[i].split()
            values = found[i][:, column]
            ours, own = float(np.nanmean(values)), float(np.nanstd(values) / np.sqrt(np.isfinite(values).sum()))
            checks.append(
                number(f"{method}, p = {p}, n = {n}", mean, ours, printed_error=float(error), error=own, digits=2)
            )
            rows.append((method, p, n, float(mean), float(error), ours, own))
    undefined = sum(int(np.isnan(values).sum()) for values in found)
    checks.append(stated("samples in which one step is not defined", f"{undefined} of {len(SETTINGS) * run.k}"))
    names = ("method", "p", "n", "printed", "printed_error", "obtained", "error")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    labels = [f"{method}, p = {p}, n = {n}" for method, p, n, *_ in rows]
    axes = beside(
        labels,
        table["printed"],
        table["obtained"],
        printed_errors=table["printed_error"],
        errors=table["error"],
        xlabel="n times the squared error, mean and two standard errors",
    )
    return Outcome(checks, table, axes.figure)


EXPERIMENT = Experiment(
    "tab:consistency", "Scaled loss of four estimators, and its limits", ABOUT, perform, quick=250, full=1000
)
