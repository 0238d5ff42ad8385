"""The errors of all estimates in one sample of 500 people (`fig:race_diff`)."""

from typing import Any

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.design import uniform
from subsetprivacy.draw import difference
from subsetprivacy.estimation.quadratic_form import quantile
from subsetprivacy.reproduce.checks import Check, says, stated
from subsetprivacy.reproduce.experiment import Experiment, Outcome, Run
from subsetprivacy.reproduce.race_sample import NAMES, estimates, limits

ABOUT = """What does one estimate look like? Five hundred people are drawn from the Adult data, each reports a random
subset that contains their race, and every method estimates the shares of the five categories. The figure shows by how
much each is off, in percentage points. "Sample" has seen the values themselves. EM and MLE are maximum likelihood by
two algorithms, MoM matches moments, ONE goes one step from there towards the maximum; MoM:cond, moments given the
questions that were asked, is ours.

The paper shows its own sample and prints no number, so what is checked is whether our sample is an ordinary one: the
squared error of each method times n must be below what its limit law exceeds once in a thousand samples. Moments may
give a negative share, and shares that do not sum to one."""

N = 500
LEVEL = 0.999


def perform(run: Run) -> Outcome:
    """Draw one sample and compare every error with its limit law."""
    w, design = run.adult.race, uniform(run.adult.races)
    fits = estimates(run.rng("one sample"), design, w, N)
    laws = limits(design, w)
    checks = [ordinary(name, N * float(((fits[name] - w) ** 2).sum()), laws) for name in NAMES]
    apart = float(np.abs(fits["EM"] - fits["MLE"]).max())
    checks.append(
        says("EM against MLE", "the same maximum", f"{apart:.1e} apart at most", apart < 1e-3, "0.1 percentage points")
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
    return Outcome(checks, table, difference(run.adult.races, fits, w).figure)


def ordinary(name: str, loss: float, laws: dict[str, FloatArray]) -> Check:
    """Return whether a scaled loss is one that its limit law lets expect.

    One step is judged by the law of the moments that it starts from: with so few people it exceeds the quantile of its
    own law ten times too often.
    """
    law = "MoM" if name == "ONE" else name
    most = quantile(np.linalg.eigvalsh(laws[law]), LEVEL)
    return says(
        f"{name}: n times the squared error",
        "a picture only",
        f"{loss:.3f}, mean in the limit {np.trace(laws[name]):.3f}",
        loss <= most,
        f"at most {most:.2f}, the {100 * LEVEL:g} % quantile of the limit law{' of its start' if law != name else ''}",
    )


EXPERIMENT = Experiment("fig:race_diff", "Errors of all estimates in one sample, n = 500", ABOUT, perform)
