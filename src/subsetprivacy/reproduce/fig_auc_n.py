"""Which test finds a dependence, against the number of people (`fig:auc-n`)."""

import numpy as np

from subsetprivacy.reproduce.auc import HOW, Areas, claims, measure_areas, picture, tabulate
from subsetprivacy.reproduce.checks import Check, stated
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run

ABOUT = f"""How many people do tests of independence need to find a dependence if they only see a subset of each
variable? Here the number of people varies, with four categories for each variable and rho = 0.05.

{HOW}

Read from left to right, the figure shows the value of a better test: how many people Pearson's test needs to do as well
as the likelihood ratio with 1000. The short form has the paper's 200 replications, the long one 2000."""

P, RHO, PEOPLE, WORTH = 4, 0.05, (200, 500, 1000, 2000, 5000), 1000


def perform(run: Run) -> ExperimentResult:
    """Measure all areas along the numbers of people."""
    areas = measure_areas(run, [(P, n, RHO) for n in PEOPLE], PEOPLE)
    figure = picture({"": areas}, xlabel="people", log="x", width=7.2)
    checks = [*claims(areas, by="n", quick=run.quick), _worth(areas)]
    return ExperimentResult(checks, tabulate(areas, p=P, rho=RHO, varies="n"), figure)


def people_for(area: float, areas: Areas, test: str) -> float:
    """Return the number of people with which a test has this area, between those of the grid by the logarithm."""
    line = np.maximum.accumulate(areas.line(test))  # a step back by chance is none
    return float(np.exp(np.interp(area, line, np.log(areas.at))))


def _worth(areas: Areas) -> Check:
    """State how many people Pearson's test needs to do as well as the likelihood ratio with 1000."""
    here = areas.at.index(WORTH)
    area, error = areas.line("LRT:MLE")[here], areas.errors("LRT:MLE")[here]
    low, middle, high = (people_for(area + move * error, areas, "Pearson") for move in (-2, 0, 2))
    return stated(
        f"people with whom Pearson's test does as well as LRT:MLE with {WORTH}",
        f"about {middle:.0f}, {low:.0f} to {high:.0f} within two standard errors of the area of LRT:MLE",
        "between the numbers of people in the figure by their logarithm",
    )


EXPERIMENT = Experiment("fig:auc-n", "Four tests against the number of people", ABOUT, perform, quick=200, full=2000)
