"""Which test finds a dependence, against the number of categories (`fig:auc-p`)."""

from subsetprivacy.reproduce.auc import (
    ALIKE,
    HOW,
    PAPER,
    Areas,
    asides,
    goes,
    measure_areas,
    orderings,
    picture,
    tabulate,
    trend,
)
from subsetprivacy.reproduce.checks import MONTE_CARLO, Check, corrected, spread, stated
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run

ABOUT = f"""What happens to tests of independence when both variables have more categories? With p categories each
variable has 2^p - 2p - 2 subsets. The number of pairs is the square of that: 36 for four categories, 56,644 for eight.
The paper's list says 1000 people, its caption 2000. Both are shown here, with rho = 0.05.

{HOW}

Pearson's test, which compares every pair of subsets, is soon no better than guessing. The likelihood ratio loses
little: its (p - 1)² degrees of freedom grow slowly, and the share of people that rho puts on the diagonal, p rho / (1 +
p rho), grows too. With moments instead of maxima it loses more as the number of categories grows. The short form, with
30 replications, can only refute a trend or an ordering, not show it. The long one has 1200."""

RHO, PEOPLE, CATEGORIES = 0.05, (1000, 2000), (4, 5, 6, 7, 8)
LIKELIHOOD = ("LRT:MLE", "LRT:MoM")


def perform(run: Run) -> ExperimentResult:
    """Measure all areas along the numbers of categories, for both numbers of people."""
    settings = [(p, n, RHO) for n in PEOPLE for p in CATEGORIES]
    every = measure_areas(run, settings, [p for p, _, _ in settings])
    size = len(CATEGORIES)
    parts = {
        n: Areas(CATEGORIES, every.values[at : at + size], every.covariances[at : at + size])
        for n, at in zip(PEOPLE, range(0, len(settings), size), strict=True)
    }
    checks = [check for n, areas in parts.items() for check in _claims(areas, n, run.quick)]
    tables = [tabulate(areas, n=n, rho=RHO, varies="p") for n, areas in parts.items()]
    by_people = {f"{n} people": areas for n, areas in parts.items()}
    figure = picture(by_people, xlabel="categories of each variable", width=5.2)
    table = {name: [cell for part in tables for cell in part[name]] for name in tables[0]}
    return ExperimentResult(checks, table, figure)


def _claims(areas: Areas, n: int, quick: bool) -> list[Check]:
    """Return the checks for one number of people; the short form can only refute an ordering."""
    where = f", n = {n}"
    falls = [goes(areas, test, up=False, by="p", least=_apart(test, n, quick), where=where) for test in PAPER]
    return [*falls, *orderings(areas, quick=quick, where=where), _behind(areas, n, quick), *asides(areas, where)]


def _apart(test: str, n: int, quick: bool) -> float:
    """Return by how many standard errors the line must fall: LRT:MLE with 2000 people is near 1 for every p."""
    if quick:
        return -MONTE_CARLO
    return 0.0 if (test, n) == ("LRT:MLE", 2000) else MONTE_CARLO


def _behind(areas: Areas, n: int, quick: bool) -> Check:
    """Check that moments fall behind maxima, and more with more categories; the short form is too short to tell."""
    lead, error = areas.lead(*LIKELIHOOD)
    mean, mean_error = areas.mean_lead(*LIKELIHOOD)
    more, more_error = trend(lead, error)
    obtained = (
        f"behind by {spread(mean, mean_error)} on average, {spread(more, more_error)} more with every category; "
        f"{spread(lead[-1], error[-1], 3)} with {areas.at[-1]:g}"
    )
    if quick:
        return stated(f"LRT:MoM compared with LRT:MLE, n = {n}", obtained, "checked in the long form")
    return corrected(
        f"LRT:MoM falls behind LRT:MLE, and the more so the more categories there are, n = {n}",
        ALIKE,
        obtained,
        mean > MONTE_CARLO * mean_error and more > 0,
        "on average over p by more than three standard errors of the difference; the least-squares line of it rises",
        erratum="fig:auc-p",
        how="true of few categories only",
    )


EXPERIMENT = Experiment("fig:auc-p", "Four tests against the number of categories", ABOUT, perform, quick=30, full=1200)
