"""The loss of five estimates of race as the sample grows (`fig:adult_race_l2_loss`)."""

from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.design import uniform
from subsetprivacy.draw import series
from subsetprivacy.reproduce.checks import Check, corrected, says, spread, stated, theory
from subsetprivacy.reproduce.experiment import Experiment, Outcome, Run
from subsetprivacy.reproduce.race_sample import NAMES, SAMPLE, estimates, limits

ABOUT = """What does privacy cost in precision? People are drawn from the Adult data, each reports a uniform random
subset that contains their race, and the distribution is estimated. The squared error times n should settle at a
constant; the constants of two methods are to one another as the people that they need. "Sample" has the values
themselves. "MoM:cond" is ours: moments given the questions that were asked.

A line of the figure is a method, with whiskers of two standard errors; dashes are the exact limits. Maximum likelihood
needs 3.3 times the people of the sample itself. It is below its limit where people are few, because rare categories
are then estimated as zero, which is not far off. One step from plain moments (ONE) has the same limit in theory and
reaches it near a million people: it starts too far away."""

SIZES = (100, 200, 500, 1000, 2000, 5000, 10_000)
MARGIN = 0.03
AWAY = 3.5  # standard errors, which chance passes in one run of a thousand or two
UNBIASED = (SAMPLE, "MoM", "MoM:cond")


def losses(rng: np.random.Generator, races: tuple[str, ...], w: tuple[float, ...], n: int) -> list[float]:
    """Return n times the squared error of every method in one sample."""
    truth = np.array(w)
    found = estimates(rng, uniform(races), truth, n)
    return [float(n * ((found[name] - truth) ** 2).sum()) for name in NAMES]


@frozen(eq=False)
class Means:
    """The scaled losses, an array (sizes, replications, methods), and their means by method."""

    losses: FloatArray

    def of(self, name: str) -> FloatArray:
        """Return the losses of a method, (sizes, replications)."""
        return self.losses[:, :, NAMES.index(name)]

    def mean(self, name: str) -> FloatArray:
        """Return the mean per size."""
        return np.asarray(np.nanmean(self.of(name), axis=1))

    def error(self, name: str) -> FloatArray:
        """Return the standard error of the mean per size."""
        return _errors(self.of(name))

    def slope(self, name: str) -> tuple[float, float]:
        """Return the slope of the log root mean squared error on log n, and its standard error."""
        x = np.log(SIZES) - np.mean(np.log(SIZES))
        weights = x / (x @ x)
        slope = weights @ (np.log(self.mean(name)) / 2) - 0.5  # the losses are times n already
        return float(slope), float(np.linalg.norm(weights * self.error(name) / (2 * self.mean(name))))


def _errors(values: FloatArray) -> FloatArray:
    return np.asarray(np.nanstd(values, axis=1, ddof=1) / np.sqrt(np.isfinite(values).sum(axis=1)))


def perform(run: Run) -> Outcome:
    """Simulate every size and compare rates, ratios and limits."""
    races, w = run.adult.races, run.adult.race
    settings = [(tuple(races), tuple(w.tolist()), n) for n in SIZES]
    means = Means(np.array(run.replicate(losses, settings)))
    laws = limits(uniform(races), w)
    traces = {name: float(np.trace(laws[name])) for name in NAMES}
    checks = [*rates(means), *last(means, laws, run.k), price(means, traces), *orderings(means)]
    table: dict[str, list[Any]] = {
        "method": [name for name in NAMES for _ in SIZES],
        "n": [n for _ in NAMES for n in SIZES],
        "mean": [float(mean) for name in NAMES for mean in means.mean(name)],
        "error": [float(error) for name in NAMES for error in means.error(name)],
        "limit": [traces[name] for name in NAMES for _ in SIZES],
    }
    axes = series(
        SIZES,
        {name: means.mean(name) for name in NAMES},
        errors={name: means.error(name) for name in NAMES},
        limits=traces,
        xlabel="people",
        ylabel="n times the squared error, mean",
        log="xy",
    )
    return Outcome(checks, table, axes.figure)


def rates(means: Means) -> list[Check]:
    """Return whether each method has the rate n^(-1/2)."""
    checks = []
    for name in NAMES:
        slope, error = means.slope(name)
        margin = 0.0 if name in UNBIASED else MARGIN
        why = "" if name in UNBIASED else f" and {MARGIN}, for the bias near the boundary"
        checks.append(
            says(
                f"{name}: slope of the log error on log n, n = {SIZES[0]} to {SIZES[-1]}",
                "-1/2, even for a relatively small sample",
                spread(slope, error),
                abs(slope + 0.5) <= AWAY * error + margin,
                f"-0.5 within {AWAY} standard errors{why}",
            )
        )
    return checks


def last(means: Means, laws: dict[str, FloatArray], k: int) -> list[Check]:
    """Return the mean loss at the largest n beside its exact limit; the error is that of the limit law.

    ONE is stated: its start, moments, is too far away for the limit to be reached here.
    """
    checks = []
    for name in NAMES:
        claim, mean = f"{name}: n times the squared error at n = {SIZES[-1]}", float(means.mean(name)[-1])
        limit, error = float(np.trace(laws[name])), float(np.sqrt(2 * (laws[name] ** 2).sum() / k))
        if name == "ONE":
            shown = spread(mean, float(means.error(name)[-1]))
            checks.append(stated(claim, shown, f"limit {limit:.4f}, not reached yet"))
        else:
            checks.append(theory(claim, limit, mean, error))
    undefined = int(np.isnan(means.losses).sum())
    checks.append(stated("samples in which one step is not defined", f"{undefined} of {means.losses[..., 0].size}"))
    return checks


def price(means: Means, traces: dict[str, float]) -> Check:
    """Return the loss of MLE over that of the sample, at the largest n."""
    exact = traces["MLE"] / traces[SAMPLE]
    above, below = float(means.mean("MLE")[-1]), float(means.mean(SAMPLE)[-1])
    ratio = above / below
    gap = means.of("MLE")[-1:] - ratio * means.of(SAMPLE)[-1:]  # the error of a ratio of paired means
    error = float(_errors(gap)[0]) / below
    return corrected(
        "loss of MLE over that of Sample, and so the people it takes",
        "about four times, so double the sample size",
        f"{exact:.2f} times in the limit; {spread(ratio, error, 2)} at n = {SIZES[-1]}",
        3.25 <= exact < 3.35 and abs(ratio - exact) <= AWAY * error,
        f"3.3 times, and as many times the people; simulated within {AWAY} standard errors of the limit",
        erratum="fig:adult_race_l2_loss",
    )


def orderings(means: Means) -> list[Check]:
    """Return which methods are better, by paired differences over all n."""
    apart = float(np.abs(means.of("EM") - means.of("MLE")).max())
    checks = [says("EM against MLE", "the same maximum", f"at most {apart:.1e} apart", apart < 1e-3, "0.001")]
    for worse, better in (("MoM", "MLE"), ("MoM", "ONE"), ("MoM", "MoM:cond"), ("MLE", SAMPLE)):
        gap = (means.of(worse) - means.of(better)).reshape(1, -1)
        mean, error = float(np.nanmean(gap)), float(_errors(gap)[0])
        checks.append(
            says(
                f"loss of {worse} minus that of {better}, over all n",
                "ours" if better == "MoM:cond" else "above",
                spread(mean, error),
                mean > 3 * error,
                "above 0 by 3 standard errors of the paired difference",
            )
        )
    return checks


EXPERIMENT = Experiment(
    "fig:adult_race_l2_loss", "Loss of the estimates of race as the sample grows", ABOUT, perform, quick=60, full=100
)
