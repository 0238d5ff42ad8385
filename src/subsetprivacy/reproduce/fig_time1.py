"""How long each estimator takes with four categories (`fig:time1`)."""

from typing import Any

import numpy as np

from subsetprivacy.draw import durations
from subsetprivacy.reproduce.checks import Check, says, stated, unchecked
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.reproduce.timing import (
    CVXPY,
    HOW,
    PAPERS,
    Times,
    order_checks,
    recommendation,
    time_methods,
    total,
    within,
)

ABOUT = """The paper recommends moments because they are fast. How fast is each estimator, for 2000 people, four
categories and a thousand samples? Populations and questions are random. The paper's four estimators are timed as in the
paper, with a row per person. EM updates until no share moves by more than 1e-6. MLE is CVXPY with a term per person.
MoM solves four equations. ONE adds up its Hessian person by person and clips the start and end of its step to the
simplex. (Elsewhere ONE is this package's version, which stays in the simplex by its own quadratic model.) Below them
are the same step with the Hessian as one matrix product, and this package's maximum and moments from the people's
subsets. Their time includes checking and counting the subsets. No time includes standard errors.

What depends on the design alone (the matrix Q, whether it is identifiable) is computed before the clock starts. Each
method runs twice on a sample, and the shorter time counts. Seconds depend on the machine. Ratios depend on it less, and
may differ tenfold from those in print. A total is the median time of a sample times a thousand, so that pauses of a
busy machine do not count. Claims compare times of the same sample. Where these ratios vary too much to tell, a claim is
not checked. The short form uses fewer samples."""

P, N, SHOWN = 4, 2000, 1000


def perform(run: Run) -> ExperimentResult:
    """Time every method and compare the ratios in print."""
    times = time_methods(run, P, N)
    totals = {name: total(values, SHOWN) for name, values in times.items()}
    checks = [
        *order_checks({P: times}),
        _ratio("EM", "100", times),
        _ratio(CVXPY, "1000", times),
        recommendation(f"p = {P}", times),
        stated("samples timed; totals are 1000 times their median", str(run.k)),
    ]
    table: dict[str, list[Any]] = {"method": list(totals), "seconds": list(totals.values())}
    table["mean seconds of one sample"] = [float(values.mean()) for values in times.values()]
    kinds = ["as in the paper" if name in PAPERS else "vectorized" for name in totals]
    kinds = ["this package" if name.startswith("ours") else kind for name, kind in zip(totals, kinds, strict=True)]
    axes = durations(
        list(totals), list(totals.values()), kinds, xlabel=f"seconds for {SHOWN} samples of {N} people, {P} categories"
    )
    return ExperimentResult(checks, table, axes.figure)


def _ratio(name: str, printed: str, times: Times) -> Check:
    claim = f"time of {name} over that of MoM"
    words = f"MoM is about {printed} times faster"
    if name not in times:
        return unchecked(claim, words, HOW)
    ratios, target = times[name] / times["MoM"], float(printed)
    return says(
        claim,
        words,
        f"{np.median(ratios):.0f}",
        within(ratios, target / 10, 10 * target),
        "a factor of 10 either way: on another machine only the order of magnitude can be checked",
    )


EXPERIMENT = Experiment("fig:time1", "Time of each estimator, four categories", ABOUT, perform, quick=25, full=1000)
