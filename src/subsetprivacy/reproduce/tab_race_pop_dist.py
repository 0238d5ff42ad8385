"""The distribution of race in the Adult data (`tab:race_pop_dist`)."""

from subsetprivacy.draw import printed_and_obtained
from subsetprivacy.reproduce.checks import number, stated
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run

ABOUT = """The Adult data are 32,561 people of a 1994 survey of the US Census Bureau, published by UCI. The paper
protects their race and asks how well its distribution can still be estimated. All estimates are compared with this
distribution.

One category has 85 in a hundred, and two have less than one. The rare ones are hard to estimate, and they need the
protection most. The package includes the counts. With --adult and a copy of adult.data, it counts them again."""

PRINTED = {
    "Amer-Indian-Eskimo": "0.009551",
    "Asian-Pac-Islander": "0.031909",
    "Black": "0.095943",
    "Other": "0.008323",
    "White": "0.854274",
}


def perform(run: Run) -> ExperimentResult:
    """Divide the counts."""
    people, shares = run.adult.race_counts, dict(zip(run.adult.races, run.adult.race.tolist(), strict=True))
    checks = [
        number("people", "32561", float(people.sum()), digits=0),
        number("categories", "5", float(len(shares)), digits=0),
        *(number(f"share of {race}", printed, shares[race], digits=6) for race, printed in PRINTED.items()),
        stated("people in the rarest category", f"{people.min()}"),
    ]
    printed = [float(PRINTED[race]) for race in shares]
    table = {
        "label": list(range(len(shares))),
        "race": list(shares),
        "people": people.tolist(),
        "printed": printed,
        "obtained": list(shares.values()),
    }
    axes = printed_and_obtained(list(shares), printed, list(shares.values()), xlabel="share of the population")
    axes.set_xlim(-0.02, 1)
    return ExperimentResult(checks, table, axes.figure)


EXPERIMENT = Experiment("tab:race_pop_dist", "The distribution of race in the Adult data", ABOUT, perform, adult=True)
