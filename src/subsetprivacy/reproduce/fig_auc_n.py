"""Which test finds a dependence, against the number of people (`fig:auc-n`)."""

from subsetprivacy.draw import side_by_side
from subsetprivacy.reproduce.auc import APART, HOW, TESTS, claims, measure_areas, tabulate
from subsetprivacy.reproduce.experiment import Experiment, Outcome, Run

ABOUT = f"""How many people do tests of independence need to find a dependence, when all they see is a subset of each
variable? Here the number of people varies; there are four categories each, and rho = .05.

{HOW}

Reading the figure from left to right says what a better test is worth: the likelihood ratio with 1000 people does
about as well as Pearson's test with 2000. The short form has the paper's 200 replications, the long one 2000."""

P, RHO, PEOPLE = 4, 0.05, (200, 500, 1000, 2000, 5000)


def perform(run: Run) -> Outcome:
    """Measure all areas along the numbers of people."""
    areas = measure_areas(run, [(P, n, RHO) for n in PEOPLE], PEOPLE)
    figure = side_by_side(
        PEOPLE,
        {"": {test: areas.line(test) for test in TESTS}},
        errors={"": {test: areas.errors(test) for test in TESTS}},
        levels=[(0.5, "guessing")],
        within=(0, 1),
        apart=APART,
        xlabel="people",
        ylabel="area under the ROC curve",
        log="x",
        width=7.2,
    )
    return Outcome(claims(areas, by="n", quick=run.quick), tabulate(areas, p=P, rho=RHO, varies="n"), figure)


EXPERIMENT = Experiment("fig:auc-n", "Four tests against the number of people", ABOUT, perform, quick=200, full=2000)
