"""Which test finds a dependence, against the number of categories (`fig:auc-p`)."""

from subsetprivacy.draw import side_by_side
from subsetprivacy.reproduce.auc import (
    APART,
    HOW,
    PAPER,
    TESTS,
    Areas,
    asides,
    goes,
    measure_areas,
    orderings,
    tabulate,
)
from subsetprivacy.reproduce.checks import MONTE_CARLO, Check, corrected, spread, stated
from subsetprivacy.reproduce.experiment import Experiment, Outcome, Run

ABOUT = f"""What happens to tests of independence when both variables have more categories? With p categories there are
2^p - 2p - 2 subsets each and the square of that of pairs: 36 for four categories, 56 644 for eight. The paper's list
says that there were 1000 people, the caption 2000; both are here, with rho = .05.

{HOW}

Pearson's test, which looks at every pair of subsets, soon is no better than guessing. The likelihood ratio loses
little: its (p - 1)² degrees of freedom grow slowly, and the share of people that rho puts on the diagonal, p rho / (1
+ p rho), grows too. With moments in the place of maxima it loses more the more categories there are. The short form,
with 30 replications, can only refute an ordering; the long one has 1000."""

RHO, PEOPLE, CATEGORIES = 0.05, (1000, 2000), (4, 5, 6, 7, 8)
LIKELIHOOD = ("LRT:MLE", "LRT:MoM")


def perform(run: Run) -> Outcome:
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
    figure = side_by_side(
        CATEGORIES,
        {f"{n} people": {test: areas.line(test) for test in TESTS} for n, areas in parts.items()},
        errors={f"{n} people": {test: areas.errors(test) for test in TESTS} for n, areas in parts.items()},
        levels=[(0.5, "guessing")],
        within=(0, 1),
        apart=APART,
        xlabel="categories of each variable",
        ylabel="area under the ROC curve",
        width=5.2,
    )
    table = {name: [cell for part in tables for cell in part[name]] for name in tables[0]}
    return Outcome(checks, table, figure)


def _claims(areas: Areas, n: int, quick: bool) -> list[Check]:
    """Return the checks for one number of people; the short form can only refute an ordering."""
    where = f", n = {n}"
    falls = [goes(areas, test, up=False, by="p", least=_apart(test, n, quick), where=where) for test in PAPER]
    return [*falls, *orderings(areas, quick=quick, where=where), _behind(areas, n, quick), *asides(areas, where)]


def _apart(test: str, n: int, quick: bool) -> float:
    """Return by how many standard errors the ends must differ: near 1 the likelihood ratio has little to lose."""
    if quick or (test in LIKELIHOOD and n > min(PEOPLE)):
        return -MONTE_CARLO
    return 0.0 if test in LIKELIHOOD else MONTE_CARLO


def _behind(areas: Areas, n: int, quick: bool) -> Check:
    """Check that moments fall behind maxima in the likelihood ratio; the short form is too short to tell."""
    lead, error = areas.lead(*LIKELIHOOD)
    mean, mean_error = areas.mean_lead(*LIKELIHOOD)
    obtained = (
        f"behind by {spread(mean, mean_error)} on average, {spread(lead[-1], error[-1], 3)} with eight categories"
    )
    if quick:
        return stated(f"LRT:MoM beside LRT:MLE, n = {n}", obtained, "checked in the long form")
    return corrected(
        f"LRT:MoM falls behind LRT:MLE, n = {n}",
        "“similar AUC scores”",
        obtained,
        mean > MONTE_CARLO * mean_error,
        "on average over p by more than three standard errors of the difference",
        erratum="fig:auc-p",
    )


EXPERIMENT = Experiment("fig:auc-p", "Four tests against the number of categories", ABOUT, perform, quick=30, full=1000)
