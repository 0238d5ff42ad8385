"""What three designs reveal about race, by three measures (`fig:adult_privacy_leak`)."""

from collections.abc import Callable, Iterable
from math import floor
from typing import Any

from subsetprivacy._types import Label
from subsetprivacy.auditing import audit
from subsetprivacy.design import Design, fully_private, nonprivate, uniform
from subsetprivacy.draw import leakage
from subsetprivacy.reproduce.checks import Check, corrected, number, says, stated
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run

ABOUT = """How much does a report reveal? Three designs are compared on the race of the Adult data: they report the
value itself, a uniform random subset that contains it, or nothing. Size leakage is the share of people that the report
rules out. Mutual information is the number of bits that it reveals about the value. Prediction leakage is the
probability that the best guess is right. All numbers are exact.

Compare prediction leakage with the dashed line: anyone who has seen no report guesses White and is right in 85 cases
out of a hundred. The paper prints "one bit" for the mutual information. A yes/no answer can reveal at most one bit, and
about this race it reveals 0.41. Two numbers in print are truncated, not rounded."""

DESIGNS: dict[str, Callable[[Iterable[Label]], Design]] = {
    "value published": nonprivate,
    "uniform subsets": uniform,
    "nothing published": fully_private,
}
METRICS = {"size": "size", "mi": "mutual information", "prediction": "prediction"}
UNITS = {"size": "share of people ruled out", "mi": "bits", "prediction": "chance of a right guess"}


def perform(run: Run) -> ExperimentResult:
    """Audit the three designs."""
    facts = [audit(design(run.adult.races), run.adult.race).to_dict() for design in DESIGNS.values()]
    # An audit has no size leakage where nothing is ruled out.
    leakages = {metric: [float(fact.get(f"{metric}_leakage", 0)) for fact in facts] for metric in METRICS}
    names = list(DESIGNS)
    table: dict[str, list[Any]] = {
        "design": [name for name in names for _ in METRICS],
        "metric": [metric for _ in names for metric in METRICS.values()],
        "leakage": [leakages[metric][i] for i in range(len(names)) for metric in METRICS],
    }
    figure = leakage(
        names,
        {title: leakages[metric] for metric, title in METRICS.items()},
        baselines={METRICS["prediction"]: float(facts[0]["prediction_baseline"])},
        units={METRICS[metric]: unit for metric, unit in UNITS.items()},
    )
    return ExperimentResult(claims(leakages), table, figure)


def claims(leakages: dict[str, list[float]]) -> list[Check]:
    """Return the claims of the text about the nine numbers: per metric, the value, uniform, nothing."""
    within = [
        says(
            f"{METRICS[metric]} leakage of uniform subsets",
            "within the range of no privacy and full privacy",
            f"{value:.4f} > {subsets:.4f} > {nothing:.4f}",
            value > subsets > nothing,
            "strictly between",
        )
        for metric, (value, subsets, nothing) in leakages.items()
    ]
    return [*within, *_size(*leakages["size"]), *_mutual(*leakages["mi"]), *_guess(*leakages["prediction"])]


def _size(value: float, subsets: float, nothing: float) -> list[Check]:
    return [
        _cut_off("size leakage of the value", "0.25", value),
        _cut_off("size leakage of uniform subsets", "0.15", subsets),
        _exact("size leakage of nothing", "zero", 0, nothing),
    ]


def _mutual(value: float, subsets: float, nothing: float) -> list[Check]:
    half = says(
        "mutual information of uniform subsets, of that of the value",
        "half the maximum leakage",
        f"{subsets / value:.3f} ({subsets:.4f} of {value:.4f} bit)",
        0.45 <= subsets / value < 0.55,
        "0.5 to one digit",
    )
    bit = corrected(
        "mutual information of uniform subsets",
        "one bit",
        f"{subsets:.4f} bit",
        0.4085 <= subsets < 0.4095,
        "0.409 bit to three digits; one bit is the most that a yes/no answer can tell",
        erratum="fig:adult_privacy_leak",
    )
    return [half, bit, _exact("mutual information of nothing", "zero", 0, nothing)]


def _guess(value: float, subsets: float, nothing: float) -> list[Check]:
    return [
        _exact("prediction leakage of the value", "1", 1, value),
        number("prediction leakage of uniform subsets", "0.9", subsets),
        number("prediction leakage of nothing", "0.85", nothing),
        stated(
            "prediction leakage of uniform subsets above that of nothing",
            f"{subsets - nothing:.4f}",
            "the paper too says that 0.9 is to be compared with 0.85",
        ),
    ]


def _exact(claim: str, printed: str, whole: int, obtained: float) -> Check:
    """Judge a number that is a whole one, not rounded to it."""
    return says(claim, printed, f"{obtained:.4f}", abs(obtained - whole) < 1e-12, "exactly")


def _cut_off(claim: str, printed: str, obtained: float) -> Check:
    """Judge a number that was cut off after the second digit in print where it should have been rounded."""
    cut, rounded = floor(100 * obtained) / 100, round(obtained, 2)
    return corrected(
        claim,
        printed,
        f"{obtained:.4f}",
        cut == float(printed) and rounded == round(cut + 0.01, 2),
        f"{printed} if cut off after two digits, {rounded:.2f} if rounded",
        erratum="fig:adult_privacy_leak",
        how="cut off in print",
    )


EXPERIMENT = Experiment(
    "fig:adult_privacy_leak", "Leakage of three designs by three measures", ABOUT, perform, adult=True
)
