"""The settings of findings, and the seeds of all random numbers."""

from collections.abc import Callable
from functools import cached_property
from hashlib import sha256
from typing import Any

from attrs import frozen

from subsetprivacy._checks import check_alpha, check_count, check_level, check_number
from subsetprivacy._seeds import seed_number

LEVEL = 0.95
BUDGET = 10.0  # seconds of a standard machine for all random samples and tables
PERMUTATIONS = 999
_FOR_CHECKS = 0.6  # of the budget; the rest is for the tests of pairs


@frozen(slots=False, eq=False)
class FindingsSettings:
    """The settings of findings.

    Attributes
    ----------
    level
        The confidence level of all intervals.
    chance
        The maximum probability that honest people raise any alarm.
    permutations
        The maximum number of random tables for each test of two columns.
    budget
        The time limit for all random samples and tables, in seconds on a typical machine. None for no limit. It is
        converted into numbers of samples beforehand, so that every machine draws the same.
    fixed_by
        Returns a text that determines all random numbers. It is called only when needed, because it may count
        everything.
    """

    level: float
    chance: float
    permutations: int
    budget: float | None
    fixed_by: Callable[[], str]

    @classmethod
    def checked(
        cls, level: Any, chance: Any, permutations: Any, budget: Any, fixed_by: Callable[[], str]
    ) -> "FindingsSettings":
        """Return settings after checking their ranges.

        Raises
        ------
        ArgumentError
            If a number is out of range.
        """
        return cls(
            check_level(level),
            check_alpha(chance, "chance"),
            check_count(permutations, "permutations"),
            None if budget is None else check_number(budget, "budget", least=0.0),
            fixed_by,
        )

    @cached_property
    def seal(self) -> str:
        """The text that determines all random numbers."""
        return self.fixed_by()

    @property
    def check_seconds(self) -> float:
        """How long the samples of all checks may take."""
        return float("inf") if self.budget is None else _FOR_CHECKS * self.budget

    def pair_seconds(self, pairs: int) -> float | None:
        """Return how long the tables of one of these tests may take. For few tests it is a fifth of the total."""
        if self.budget is None:
            return None
        every = (1 - _FOR_CHECKS) * self.budget
        return min(every / 5, every / max(pairs, 1))

    def seed_of(self, *what: str) -> int:
        """Return the seed for this purpose."""
        return int.from_bytes(sha256("\0".join(("subsetprivacy results v1", self.seal, *what)).encode()).digest()[:4])


def seal_of(seed: Any) -> str | None:
    """Return the seal of a given seed. A text stays as it is. None for no seed."""
    if isinstance(seed, str):
        return seed
    number = seed_number(seed)
    return None if number is None else f"seed {number}"
