"""How p-values are computed: from the chi-square distribution, or from samples if counts are small."""

from typing import Any, get_args

import numpy as np
from attrs import field, frozen
from scipy.special import chdtrc

from subsetprivacy._checks import check_choice, check_count
from subsetprivacy._choices import FitMethod
from subsetprivacy._seeds import numpy_generator
from subsetprivacy._types import FloatArray
from subsetprivacy.errors import ArgumentError, warn_of
from subsetprivacy.honesty.resampling import NullSampler
from subsetprivacy.messages import Note, NoteKind, unique
from subsetprivacy.messages.for_tests import BOOTSTRAP_FIT, FEWER_REPLICATIONS, LONG_BOOTSTRAP

METHODS: tuple[FitMethod, ...] = get_args(FitMethod)
CHI_SQUARE = "chi-square"
HALF = "half chi-square"
LEAST_REPLICATIONS = 19  # with fewer, no p-value can be 5%
MOST_REPLICATIONS = 1_000_000
_SECONDS = 15.0  # on a typical machine, the limit for a bootstrap that was not requested


@frozen(slots=False, eq=False)
class PValueMethod:
    """How p-values are computed: method, number of replications and random generator."""

    method: str
    replications: int
    generator: np.random.Generator
    caveats: list[Note] = field(factory=list)

    @classmethod
    def of(cls, method: FitMethod, replications: int, seed: Any) -> "PValueMethod":
        """Check the arguments that all tests share."""
        check_choice(method, METHODS, "method")
        number = check_count(replications, "replications", least=LEAST_REPLICATIONS)
        if number > MOST_REPLICATIONS:
            raise ArgumentError(f"`replications` must be at most {MOST_REPLICATIONS}; got more.", FEWER_REPLICATIONS)
        return cls(method, number, numpy_generator(seed))

    def choose(self, expected: FloatArray, cost: float) -> tuple[bool, tuple[Note, ...]]:
        """Return whether to bootstrap, with a note if the counts are small.

        Parameters
        ----------
        expected
            The expected counts of the table.
        cost
            The seconds of one replication on a typical machine.
        """
        small = _small(expected)
        if self.method == "bootstrap":
            return True, ()
        if not small:
            return False, ()
        if self.method == "chi-square":
            text = f"{small}: the requested chi-square distribution is unreliable."
            return False, (Note(NoteKind.SMALL_COUNTS, text, BOOTSTRAP_FIT),)
        if cost * self.replications > _SECONDS:
            text = f"{small} in a large table: the p-value is from the chi-square distribution and unreliable."
            note = Note(NoteKind.SMALL_COUNTS, text, LONG_BOOTSTRAP)
            self.caveats.append(note)
            return False, (note,)
        text = f"{small}: the p-value is from {self.replications} samples drawn from the fit."
        return True, (Note(NoteKind.SMALL_COUNTS, text),)

    def warn(self) -> None:
        """Warn the caller's caller of chi-square distributions that were used although they are unreliable."""
        for note in unique(self.caveats):
            warn_of(note, stacklevel=3)

    @property
    def bootstrap(self) -> str:
        """The name of the distribution of resampled statistics."""
        return f"bootstrap ({self.replications})"

    def resample(self, sampler: NullSampler) -> FloatArray:
        """Return the p-values of the statistics of a sampler, from the requested number of samples."""
        return sampler.pvalues(most=self.replications)[0]


def are_small(expected: FloatArray) -> bool:
    """Return whether expected counts are too small for chi-square (Cochran's rule): one below 1, or a fifth below 5."""
    return bool(expected.min() < 1 or (expected < 5).mean() > 0.2)


def _small(expected: FloatArray) -> str:
    """Return a phrase if expected counts are small."""
    if not are_small(expected):
        return ""
    below = float((expected < 5).mean())
    return f"Small expected counts (the least is {expected.min():.2g}, {below:.0%} are below 5)"


def chi_square_pvalue(statistic: float, df: int) -> float:
    """Return the upper tail of the chi-square distribution."""
    return float(chdtrc(df, statistic))


def half_pvalue(statistic: float) -> float:
    """Return the upper tail of an equal mixture of 0 and the chi-square distribution with 1 degree of freedom.

    It applies if the parameter cannot be below its value under the hypothesis, such as a share of 0.
    """
    return float(chdtrc(1, statistic)) / 2 if statistic > 0 else 1.0
