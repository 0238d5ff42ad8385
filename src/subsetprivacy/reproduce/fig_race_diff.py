"""The errors of all estimates in one sample of 500 people (`fig:race_diff`)."""

from typing import Any

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.design import uniform
from subsetprivacy.draw import difference
from subsetprivacy.estimation.limit_quantiles import quadratic_form_quantile as quantile
from subsetprivacy.reproduce.checks import Check, says, stated
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.reproduce.race_sample import NAMES, estimates, limits

ABOUT = """What does one estimate look like? Five hundred people are drawn from the Adult data, each reports a random
subset that contains their race, and every method estimates the shares of the five categories. The figure shows the
error of each estimate, in percentage points. "Sample" uses the values themselves. EM and MLE are maximum likelihood by
two algorithms. MoM matches moments, and ONE goes one step from there toward the maximum. MoM:cond, moments given the
questions asked, is ours.

The paper shows its own sample and prints no numbers. In one sample we can only check whether it is an ordinary one: for
the sample and for maximum likelihood, the squared error times n must be below the value that its limit distribution
exceeds once in a thousand samples. The other errors are stated. Moments may give a negative share, and shares that do
not sum to one.

People are drawn with replacement, so the distribution of the data is the population. "MLE" is the maximum that the
package finds and certifies, not CVXPY's. Both are the same. ONE is the package's version, which keeps the step in the
simplex."""

N = 500
LEVEL = 0.999
JUDGED = ("Sample", "EM", "MLE")


def perform(run: Run) -> ExperimentResult:
    """Draw one sample and compare every error with its limit distribution."""
    w, design = run.adult.race, uniform(run.adult.races)
    fits = estimates(run.rng("one sample"), design, w, N)
    laws = limits(design, w)
    checks = [one(name, N * float(((fits[name] - w) ** 2).sum()), laws[name]) for name in NAMES]
    apart = float(np.abs(fits["EM"] - fits["MLE"]).max())
    same = apart < 1e-3
    checks.append(
        says("EM against MLE", "", f"{apart:.1e} apart at most", same, "0.1 percentage points", source="theory")
    )
    negative = [name for name in NAMES if fits[name].min() < 0]
    checks.append(stated("methods with a negative share", ", ".join(negative) or "none"))
    table: dict[str, list[Any]] = {
        "race": [race for race in run.adult.races for _ in NAMES],
        "method": [name for _ in run.adult.races for name in NAMES],
        "population": [float(share) for share in w for _ in NAMES],
        "estimate": [float(fits[name][j]) for j in range(len(w)) for name in NAMES],
        "difference": [float(fits[name][j] - w[j]) for j in range(len(w)) for name in NAMES],
    }
    return ExperimentResult(checks, table, difference(run.adult.races, fits, w).figure)


def one(name: str, loss: float, law: FloatArray) -> Check:
    """Return a scaled loss, judged by its limit distribution where that is near for so few people.

    One step from moments exceeds the quantile of its own distribution too often at this size; moments are wide anyway.
    """
    claim, mean = f"{name}: n times the squared error", float(np.trace(law))
    if name not in JUDGED:
        return stated(claim, f"{loss:.3f}", f"mean in the limit {mean:.3f}")
    most = quantile(np.linalg.eigvalsh(law), LEVEL)
    tolerance = f"at most {most:.2f}, the {100 * LEVEL:g}% quantile of the limit distribution; its mean is {mean:.3f}"
    return says(claim, "", f"{loss:.3f}", loss <= most, tolerance, source="theory")


EXPERIMENT = Experiment("fig:race_diff", "Errors of all estimates in one sample, n = 500", ABOUT, perform, adult=True)
