"""Which test finds a dependence, against how strong it is (`fig:auc-rho`)."""

from subsetprivacy.reproduce.auc import HOW, claims, measure_areas, picture, tabulate
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run

ABOUT = f"""How well do tests of independence distinguish dependent variables from independent ones if they only see a
subset of each? Here the strength of the dependence, rho, varies, with four categories for each variable and 1000
people.

{HOW}

The likelihood ratio looks for the few kinds of dependence that the values can have. Pearson's test spreads its power
over all pairs of subsets. A fifth line is ours: Pearson's test given the questions asked. The short form has the
paper's 200 replications, with a standard error of 0.02 to 0.03. The long one has 2000."""

P, N, STRENGTHS = 4, 1000, (0.01, 0.02, 0.03, 0.05, 0.08, 0.12)


def perform(run: Run) -> ExperimentResult:
    """Measure all areas along the strengths of dependence."""
    areas = measure_areas(run, [(P, N, rho) for rho in STRENGTHS], STRENGTHS)
    figure = picture({"": areas}, xlabel="strength of dependence, rho", log="x", width=7.2)
    return ExperimentResult(claims(areas, by="rho", quick=run.quick), tabulate(areas, p=P, n=N, varies="rho"), figure)


EXPERIMENT = Experiment(
    "fig:auc-rho", "Four tests against the strength of dependence", ABOUT, perform, quick=200, full=2000
)
