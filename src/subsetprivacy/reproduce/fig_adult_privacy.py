"""What single people's subsets give away (`fig:adult_privacy`)."""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetData
from subsetprivacy.design import Design, nonprivate, uniform
from subsetprivacy.mechanism.publish import privatize
from subsetprivacy.mechanism.randomness import SeededSource
from subsetprivacy.privacy.person import PersonLeakage, person_leakage
from subsetprivacy.reproduce.checks import Check, corrected, number, says, stated
from subsetprivacy.reproduce.experiment import Experiment, Outcome, Run
from subsetprivacy.subsets import bits

ABOUT = """Averages hide the single person, so the paper looks at four of them: cases 12 to 15 of the Adult data. A row
of the figure is a person; the area of a ball is the share of its category in the population. Dark is the true race,
light blue what the reported subset leaves possible beside it, pale grey what is ruled out. Size leakage is the sum of
the grey balls. The subset of case 12 is that of the paper. Of case 14's it says only that White is in it and that its
leakage is 0.11; more than one subset has that, and the smallest is shown. The others it does not tell: they are drawn.

Somebody who sees a subset guesses its most frequent member. Case 12 is White and the guess is right, subset or not;
case 14 is not and hides behind White. The paper concludes that rare categories are protected much better. That depends
on the measure: the guess is right for White always and for the rarest never, and of the bits that a value would tell
less is told the rarer it is; but of size leakage the uniform design leaves everybody the same 60 %."""

GIVEN = {12: ("Black", "White", "Asian-Pac-Islander")}
LEAK, MOST, RACE = "0.11", "White", "Asian-Pac-Islander"  # all that the paper tells of case 14


@frozen(eq=False)
class PerCategory:
    """What the subsets of a design give away on average about people of each category.

    Attributes
    ----------
    size_kept, bits_kept
        Of the size leakage and of the bits that the value itself would give away, the share that a subset does.
    size
        The size leakage itself.
    guessed
        The chance that the best guess is right.
    """

    size_kept: FloatArray
    bits_kept: FloatArray
    size: FloatArray
    guessed: FloatArray


def per_category(design: Design, w: FloatArray) -> PerCategory:
    """Average over all subsets that a person of each category may report."""
    codes, mu = design.support()
    seen = person_leakage(SubsetData(codes, design), w)
    law = mu * bits(codes, design.p).T  # (p, subsets): given the category
    size = law @ seen.size_leakage
    right = seen.guess == np.arange(design.p)[:, None]
    return PerCategory(size / (1 - w), law @ seen.mi_leakage / -np.log2(w), size, (law * right).sum(axis=1))


def perform(run: Run) -> Outcome:
    """Look at the four people, then at all subsets."""
    races, w, cases = run.adult.races, run.adult.race, run.adult.cases
    design = uniform(races)
    fits = fitting(design, w)
    origin = {row: _origin(row, fits) for row in cases}
    subsets = {row: _code(design, row, race, fits, run.rng(f"case {row}")) for row, race in cases.items()}
    seen = person_leakage(SubsetData(list(subsets.values()), design), w, values=list(cases.values()))
    told = person_leakage(SubsetData([design.categories.code([race]) for race in cases.values()], nonprivate(races)), w)
    assert seen.guess_correct is not None
    table = {
        "case": list(cases),
        "race": list(cases.values()),
        "subset": [design.format(code) for code in subsets.values()],
        "subset_is": list(origin.values()),
        "size_leakage_of_value": told.size_leakage.tolist(),
        "size_leakage": seen.size_leakage.tolist(),
        "best_guess": [races[guess] for guess in seen.guess],
        "posterior": seen.guess_posterior.tolist(),
        "guess_right": [bool(right) for right in seen.guess_correct],
    }
    figure = seen.plot(truth=list(cases.values()), names=[f"case {row}" for row in cases]).figure
    checks = [*people(list(cases), races, w, told, seen), *rarity(races, w, per_category(design, w))]
    return Outcome(checks, table, figure)


def _code(design: Design, row: int, race: str, rng: np.random.Generator) -> int:
    """Return the subset of a case: the paper's, or a draw where it tells none."""
    if row in GIVEN:
        return design.categories.code(GIVEN[row])
    return int(privatize([race], design, rng=SeededSource(rng)).codes[0])


def people(rows: list[int], races: list[str], w: FloatArray, told: PersonLeakage, seen: PersonLeakage) -> list[Check]:
    """Return what the text claims about cases 12 and 14."""
    assert seen.guess_correct is not None
    a, b = rows.index(12), rows.index(14)
    guesses = [races[guess] for guess in seen.guess]
    other = 1 - w[[races.index(race) for race in (*GIVEN[14], "Other")]].sum()
    return [
        says("case 12: best guess", "White", guesses[a], guesses[a] == "White", "the same"),
        number("case 12: share of the best guess", "0.854", float(w[seen.guess[a]])),
        says("case 12: prediction leakage", "1", _leaked(seen, a), bool(seen.guess_correct[a]), "exactly"),
        stated(
            "case 12: size leakage",
            f"{told.size_leakage[a]:.3f} of the value, {seen.size_leakage[a]:.3f} of the subset",
        ),
        number("case 14: size leakage of the value", "0.97", float(told.size_leakage[b])),
        number("case 14: size leakage of the subset", "0.11", float(seen.size_leakage[b])),
        stated("case 14: size leakage if Other were in the subset", f"{other:.4f}", "also 0.11: the text fits both"),
        says("case 14: best guess", "still White", guesses[b], guesses[b] == "White", "the same"),
        says("case 14: prediction leakage", "0", _leaked(seen, b), not seen.guess_correct[b], "exactly"),
    ]


def _leaked(seen: PersonLeakage, person: int) -> str:
    assert seen.guess_correct is not None
    right = bool(seen.guess_correct[person])
    return f"{int(right)}, the guess is {'right' if right else 'wrong'} (posterior {seen.guess_posterior[person]:.3f})"


def rarity(races: list[str], w: FloatArray, each: PerCategory) -> list[Check]:
    """Return what becomes of the conclusion that rare categories are protected much better, by three measures."""
    order = np.argsort(w)  # the rarest first
    claim, printed = "rare categories are protected much better", "yes"

    def line(values: FloatArray) -> str:
        return ", ".join(f"{races[j]} {values[j]:.3f}" for j in order)

    return [
        says(
            f"{claim}, by the guess: how often it is right",
            printed,
            line(each.guessed),
            bool((np.diff(each.guessed[order]) > 0).all()),
            "rising with the share of the category",
        ),
        says(
            f"{claim}, by bits: share of the value's that a subset tells on average",
            printed,
            line(each.bits_kept),
            bool((np.diff(each.bits_kept[order]) > 0).all()),
            "rising with the share of the category",
        ),
        corrected(
            f"{claim}, by size: share of the value's leakage that a subset has on average",
            printed,
            f"{each.size_kept.min():.4f} to {each.size_kept.max():.4f}; what remains: {line(each.size)}",
            bool(np.ptp(each.size_kept) < 1e-9 and each.size[order[0]] > each.size[order[-1]]),
            "the same for all categories, so that the rare keep the larger leakage",
            erratum="fig:adult_privacy",
        ),
    ]


EXPERIMENT = Experiment("fig:adult_privacy", "What the subsets of four people give away", ABOUT, perform)
