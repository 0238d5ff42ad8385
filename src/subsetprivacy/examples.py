"""Two example populations: the paper's urn and the Adult data of the US Census Bureau.

The Adult numbers are counts of the 32,561 rows of the training file of the
UCI "Adult" data (Kohavi and Becker 1996), which the paper analyzes
(`tab:race_pop_dist`, `tab:cont_full`).
"""

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_count
from subsetprivacy._seeds import numpy_generator
from subsetprivacy._types import FloatArray, IntArray, Seed

URN = {"black": 0.01, "red": 0.1, "green": 0.2, "blue": 0.69}
"""The distribution of the obfuscated urn (`toy_example`)."""


def draw_urn(people: int, *, seed: Seed | None = None) -> list[str]:
    """Draw the colors of balls from the urn, with replacement.

    Parameters
    ----------
    people
        The number of balls.
    seed
        A number, or a NumPy Generator or SeedSequence, to repeat a run. By default the draw is not repeatable.

    Examples
    --------
    >>> draw_urn(5, seed=1)
    ['blue', 'blue', 'green', 'blue', 'blue']
    """
    n = check_count(people, "people", least=1)
    return [str(color) for color in numpy_generator(seed).choice(list(URN), size=n, p=list(URN.values()))]


SEX_INCOME = (("Female", "low"), ("Female", "high"), ("Male", "low"), ("Male", "high"))
_ADULT = {
    "Amer-Indian-Eskimo": (107, 12, 168, 24),
    "Asian-Pac-Islander": (303, 43, 460, 233),
    "Black": (1465, 90, 1272, 297),
    "Other": (103, 6, 143, 19),
    "White": (7614, 1028, 13085, 6089),
}
ADULT_CASES = {12: "White", 13: "Black", 14: "Asian-Pac-Islander", 15: "Amer-Indian-Eskimo"}
"""The race in rows 12 to 15, counted from 0, which `fig:adult_privacy` shows."""


@frozen
class Adult:
    """Race, sex and income of the Adult data, as counts.

    Attributes
    ----------
    cells
        People per race, in the order of `races`, and per pair of `SEX_INCOME`.
    case_races
        The race in rows 12 to 15.
    """

    cells: tuple[tuple[int, ...], ...] = tuple(_ADULT.values())
    case_races: tuple[str, ...] = tuple(ADULT_CASES.values())

    @property
    def races(self) -> list[str]:
        """The categories of race, in the paper's order."""
        return list(_ADULT)

    @property
    def cases(self) -> dict[int, str]:
        """The race in rows 12 to 15, counted from 0, which `fig:adult_privacy` shows."""
        return dict(zip(ADULT_CASES, self.case_races, strict=True))

    @property
    def race_counts(self) -> IntArray:
        """People per race."""
        return np.array([sum(cells) for cells in self.cells])

    @property
    def race(self) -> FloatArray:
        """The distribution of race (`tab:race_pop_dist`)."""
        return self.race_counts / self.race_counts.sum()

    @property
    def sex_income(self) -> IntArray:
        """People by sex (Female, Male) and income (low, high) (`tab:cont_full`)."""
        return np.array(self.cells).sum(axis=0).reshape(2, 2)

    def rows(self) -> dict[str, list[str]]:
        """Return the three columns with a row per person, rebuilt from the counts and in their order."""
        columns: dict[str, list[str]] = {"race": [], "sex": [], "income": []}
        for race, cells in zip(self.races, self.cells, strict=True):
            for (sex, income), people in zip(SEX_INCOME, cells, strict=True):
                columns["race"] += [race] * people
                columns["sex"] += [sex] * people
                columns["income"] += [income] * people
        return columns


adult: Adult = Adult()
"""The Adult data."""
