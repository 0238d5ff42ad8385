"""Which law a statistic is compared with: chi-square, or samples drawn from the fit where counts are small."""

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
from attrs import field, frozen
from scipy.special import chdtrc

from subsetprivacy._checks import check_choice, check_count
from subsetprivacy._choices import FitMethod
from subsetprivacy._seeds import numpy_generator
from subsetprivacy._types import FloatArray
from subsetprivacy.errors import ArgumentError, warn_of
from subsetprivacy.messages import Note, NoteKind, unique
from subsetprivacy.messages.for_tests import BOOTSTRAP_FIT, FEWER_REPLICATIONS, LONG_BOOTSTRAP

METHODS: tuple[FitMethod, ...] = get_args(FitMethod)
CHI_SQUARE = "chi-square"
HALF = "half chi-square"
LEAST_REPLICATIONS = 19  # with fewer no p-value can be 5%
MOST_REPLICATIONS = 1_000_000
_WORK = 2e10  # operations that an unasked bootstrap may cost: about a quarter of a minute


@frozen(slots=False, eq=False)
class Calibration:
    """How p-values are found: by name, number of replications and source of randomness."""

    method: str
    replications: int
    generator: np.random.Generator
    doubts: list[Note] = field(factory=list)

    @classmethod
    def of(cls, method: FitMethod, replications: int, seed: Any) -> "Calibration":
        """Check the arguments that every test here takes."""
        check_choice(method, METHODS, "method")
        number = check_count(replications, "replications", least=LEAST_REPLICATIONS)
        if number > MOST_REPLICATIONS:
            raise ArgumentError(f"`replications` must be at most {MOST_REPLICATIONS}; got more.", FEWER_REPLICATIONS)
        return cls(method, number, numpy_generator(seed))

    def choose(self, expected: FloatArray, work: float) -> tuple[bool, tuple[Note, ...]]:
        """Tell whether to bootstrap, with a note where the counts are small.

        Parameters
        ----------
        expected
            The expected counts of the table.
        work
            The operations of one replication.
        """
        small = _small(expected)
        if self.method == "bootstrap":
            return True, ()
        if not small:
            return False, ()
        if self.method == "chi-square":
            text = f"{small}: the chi-square law that was asked for is doubtful."
            return False, (Note(NoteKind.SMALL_COUNTS, text, BOOTSTRAP_FIT),)
        if work * self.replications > _WORK:
            text = f"{small} in a large table: the p-value is that of the chi-square law, which is doubtful here."
            note = Note(NoteKind.SMALL_COUNTS, text, LONG_BOOTSTRAP)
            self.doubts.append(note)
            return False, (note,)
        text = f"{small}: the p-value is from {self.replications} samples drawn from the fit."
        return True, (Note(NoteKind.SMALL_COUNTS, text),)

    def warn(self) -> None:
        """Warn the caller's caller of laws that were used although they are doubtful."""
        for note in unique(self.doubts):
            warn_of(note, stacklevel=3)

    @property
    def bootstrap(self) -> str:
        """The name of the law of resampled statistics."""
        return f"bootstrap ({self.replications})"

    def resample(self, draw: Callable[[np.random.Generator], tuple[float, ...]]) -> FloatArray:
        """Return the statistics of the replications, a row each."""
        return np.array([draw(self.generator) for _ in range(self.replications)])


def _small(expected: FloatArray) -> str:
    """Say that expected counts are small by Cochran's rule: one below 1, or a fifth of them below 5."""
    below = float((expected < 5).mean())
    if expected.min() >= 1 and below <= 0.2:
        return ""
    return f"Small expected counts (the least is {expected.min():.2g}, {below:.0%} are below 5)"


def chi_square_pvalue(statistic: float, df: int) -> float:
    """Return the upper tail of the chi-square law."""
    return float(chdtrc(df, statistic))


def half_pvalue(statistic: float) -> float:
    """Return the upper tail of the law that is 0 half of the time and chi-square with 1 degree of freedom else.

    It is the law where the parameter cannot be below its value under the hypothesis, as a share of nobody.
    """
    return float(chdtrc(1, statistic)) / 2 if statistic > 0 else 1.0


def resampled_pvalue(drawn: FloatArray, statistic: float) -> float:
    """Return the share of samples at least as extreme, the observed one among them."""
    # What is equal but for rounding is as extreme.
    return float((1 + (drawn >= statistic - 1e-9 * (1 + abs(statistic))).sum()) / (1 + len(drawn)))
