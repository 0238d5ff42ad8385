"""What the subsets of individuals reveal (`fig:adult_privacy`)."""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetData
from subsetprivacy.design import Design, nonprivate, uniform
from subsetprivacy.privacy.person import PersonLeakage, person_leakage
from subsetprivacy.reproduce.checks import Check, corrected, number, says, stated
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.subsets import bits

ABOUT = """Averages hide individuals, so the paper looks at four of them: cases 12 to 15 of the Adult data. Each row of
the figure is a person. The area of a ball is the share of its category in the population. The dark ball is the true
race, light blue balls are the other categories that the reported subset leaves possible, and pale gray balls are ruled
out. Size leakage is the sum of the gray balls. The subset of case 12 is the one in the paper. For case 14 the paper
says only that White is in the subset and that its leakage is 0.11. More than one subset has this leakage, and the
smallest is shown. The paper does not give the other subsets, so we chose them.

Anyone who sees a subset guesses its most frequent member. Case 12 is White, and the guess is right with or without the
subset. Case 14 is not White and hides behind White. The paper concludes that rare categories are protected much better.
That depends on the measure. The guess is always right for White and never right for the rarest category. The rarer a
value is, the smaller the share of its information that is revealed. But by size leakage, the uniform design leaves
everyone the same 60%."""

GIVEN: dict[int, tuple[str, ...]] = {
    12: ("Black", "White", "Asian-Pac-Islander"),
    13: ("Amer-Indian-Eskimo", "Black", "Other"),
    14: ("Asian-Pac-Islander", "White"),
    15: ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "White"),
}
ORIGIN = {12: "of the paper", 13: "ours", 14: "one that fits the paper", 15: "ours"}
LEAK = "0.11"


@frozen(eq=False)
class PerCategory:
    """What the subsets of a design reveal on average about people of each category.

    Attributes
    ----------
    size_kept, bits_kept
        The shares of the size leakage and of the bits of the value itself that a subset reveals.
    size
        The size leakage itself.
    guessed
        The probability that the best guess is right.
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


def perform(run: Run) -> ExperimentResult:
    """Look at the four people, then at all subsets."""
    races, w, cases = run.adult.races, run.adult.race, run.adult.cases
    design = uniform(races)
    subsets = {row: design.categories.code(GIVEN[row]) for row in cases}
    seen = person_leakage(SubsetData(list(subsets.values()), design), w, values=list(cases.values()))
    disclosed = person_leakage(
        SubsetData([design.categories.code([race]) for race in cases.values()], nonprivate(races)), w
    )
    assert seen.guess_correct is not None
    table = {
        "case": list(cases),
        "race": list(cases.values()),
        "subset": [design.format(code) for code in subsets.values()],
        "subset_is": [ORIGIN[row] for row in cases],
        "size_leakage_of_value": disclosed.size_leakage.tolist(),
        "size_leakage": seen.size_leakage.tolist(),
        "best_guess": [races[guess] for guess in seen.guess],
        "posterior": seen.guess_posterior.tolist(),
        "guess_right": [bool(right) for right in seen.guess_correct],
    }
    figure = seen.plot(truth=list(cases.values()), names=[f"case {row}" for row in cases]).figure
    checks = [*people(list(cases), design, w, disclosed, seen), *rarity(races, w, per_category(design, w))]
    return ExperimentResult(checks, table, figure)


def people(
    rows: list[int], design: Design, w: FloatArray, disclosed: PersonLeakage, seen: PersonLeakage
) -> list[Check]:
    """Return what the text claims about cases 12 and 14."""
    assert seen.guess_correct is not None
    a, b = rows.index(12), rows.index(14)
    guesses = [str(design.categories.labels[guess]) for guess in seen.guess]
    wrong = "an adversary will not coincidentally recover the true label"
    return [
        says("case 12: best guess", "white", guesses[a], guesses[a] == "White", "the same"),
        number("case 12: share of the best guess", "0.854", float(w[seen.guess[a]])),
        says("case 12: prediction leakage", "one", _leaked(seen, a), bool(seen.guess_correct[a]), "exactly"),
        stated(
            "case 12: size leakage",
            f"{disclosed.size_leakage[a]:.3f} of the value, {seen.size_leakage[a]:.3f} of the subset",
        ),
        number("case 14: size leakage of the value", "0.97", float(disclosed.size_leakage[b])),
        reading(design, w),
        says("case 14: best guess", "still white", guesses[b], guesses[b] == "White", "the same"),
        says("case 14: prediction leakage", wrong, _leaked(seen, b), not seen.guess_correct[b], "0 exactly"),
    ]


def reading(design: Design, w: FloatArray) -> Check:
    """Return whether any subset that case 14 may report with White in it has the leakage in print, and which do."""
    codes, _ = design.support()
    needed = design.categories.code(GIVEN[14])
    sizes = person_leakage(SubsetData(codes, design), w).size_leakage
    holding = [(int(code), size) for code, size in zip(codes, sizes, strict=True) if code & needed == needed]
    fits = [f"{design.format(code)} {size:.4f}" for code, size in holding if f"{size:.2f}" == LEAK]
    return says(
        "case 14: size leakage of a subset that includes white",
        LEAK,
        "; ".join(fits) or "none of " + ", ".join(f"{size:.4f}" for _, size in holding),
        bool(fits),
        f"a subset of the design with {' and '.join(GIVEN[14])} rounds to it; all that do are shown",
    )


def _leaked(seen: PersonLeakage, person: int) -> str:
    assert seen.guess_correct is not None
    right = bool(seen.guess_correct[person])
    return f"{int(right)}, the guess is {'right' if right else 'wrong'} (posterior {seen.guess_posterior[person]:.3f})"


def rarity(races: list[str], w: FloatArray, each: PerCategory) -> list[Check]:
    """Return whether rare categories are protected much better, by three measures."""
    order = np.argsort(w)  # the rarest first
    claim, printed = "rare categories are protected better", "rare categories much better than the frequent categories"
    rises = "rising with the share of the category"

    def line(values: FloatArray) -> str:
        return ", ".join(f"{races[j]} {values[j]:.3f}" for j in order)

    def rising(values: FloatArray) -> bool:
        return bool((np.diff(values[order]) > 0).all())

    by_guess, by_bits = f"{claim}, by the guess: how often it is right", f"{claim}, by the share of bits that is told"
    return [
        says(by_guess, printed, line(each.guessed), rising(each.guessed), rises),
        says(by_bits, "", line(each.bits_kept), rising(each.bits_kept), rises, source="ours"),
        corrected(
            f"{claim}, by size: share of the value's leakage that a subset has on average",
            printed,
            f"{each.size_kept.min():.4f} to {each.size_kept.max():.4f}; what remains: {line(each.size)}",
            bool(np.ptp(each.size_kept) < 1e-9 and each.size[order[0]] > each.size[order[-1]]),
            "the same for all categories, so that the rare keep the larger leakage",
            erratum="fig:adult_privacy",
            how="depends on the measure",
        ),
    ]


EXPERIMENT = Experiment("fig:adult_privacy", "What the subsets of four people reveal", ABOUT, perform, adult=True)
