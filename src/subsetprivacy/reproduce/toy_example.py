"""The obfuscated urn (`toy_example` and its sequel in `subsec_quantity`)."""

import numpy as np

from subsetprivacy.auditing import audit
from subsetprivacy.data import SubsetData
from subsetprivacy.design import Design, conditional, uniform
from subsetprivacy.draw import cases
from subsetprivacy.examples import URN
from subsetprivacy.privacy.person import person_leakage
from subsetprivacy.reproduce.checks import number, says, stated
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run

ABOUT = """An urn holds black, red, green and blue balls, 1, 10, 20 and 69 in a hundred. Someone draws a ball and says
only whether its color is in a random subset. The size of a subset is the share of the urn that it leaves possible: the
larger it is, the less the answer has revealed. Averaged over colors and subsets, this is the size coverage.

Each row of the figure is one answer. Balls in the reported subset are colored, the others are ruled out. The three
colors of the last row cannot come from a yes/no question about two colors. They need a design that reports three."""

SUBSETS = (("black", "red"), ("green", "blue"), ("red", "green", "blue"))


def perform(run: Run) -> ExperimentResult:
    """Compute every number exactly."""
    urn = uniform(list(URN))
    facts = audit(urn, URN).to_dict()
    red = audit(urn, [0, 1, 0, 0]).to_dict()
    sizes = [_size(subset) for subset in SUBSETS]
    checks = [
        number("size of {black, red}", "0.11", sizes[0]),
        number("size of {red, green, blue}", "0.99", sizes[2]),
        number("size coverage of the uniform design", "0.684", facts["size_coverage"], digits=6),
        says(
            "coverage if only red is possible", "one", f"{red['size_coverage']:g}", red["size_coverage"] == 1, "exact"
        ),
        stated("mutual information leakage of the uniform design", f"{facts['mi_leakage']:.6f} bit"),
        stated("prediction leakage of the uniform design", f"{facts['prediction_leakage']:.6f}"),
    ]
    table = {
        "quantity": [
            *("size of " + " ".join(subset) for subset in SUBSETS),
            "size coverage",
            "mi leakage",
            "prediction leakage",
        ],
        "value": [*sizes, facts["size_coverage"], facts["mi_leakage"], facts["prediction_leakage"]],
    }
    members = np.array([[colour in subset for colour in URN] for subset in SUBSETS])
    figure = cases(list(URN), list(URN.values()), members, names=["an answer", "another", "of three colors"]).figure
    return ExperimentResult(checks, table, figure)


def _size(subset: tuple[str, ...]) -> float:
    """Return the share of the urn in a subset, by way of a design that can report it."""
    if len(subset) == 2:
        design: Design = uniform(list(URN))
    else:
        design = conditional(list(URN), {tuple(name for name in URN if name != out): 1 / 3 for out in URN})
    seen = SubsetData([design.categories.code(subset)], design)
    return float(1 - person_leakage(seen, URN).size_leakage[0])


EXPERIMENT = Experiment("toy_example", "The urn: sizes of subsets and the average coverage", ABOUT, perform)
