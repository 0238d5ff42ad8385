"""Samples drawn under a hypothesis: a few at first, and more if an alarm depends on them."""

from collections.abc import Callable, Iterator

import numpy as np
from attrs import frozen

from subsetprivacy._seeds import numpy_generator
from subsetprivacy._types import FloatArray, Seed

FIRST = 199
_STEP = 4


@frozen(eq=False)
class NullSampler:
    r"""The statistic of the data, and a function that draws statistics under the hypothesis.

    Attributes
    ----------
    statistic
        One or several statistics of the data.
    draw
        Takes a generator and a number, and returns the statistics of that many samples, a row for each.
    cost
        The seconds per sample on a typical machine. It follows from the size of the problem, so every machine draws the
        same samples.
    seed
        The same number always gives the same samples.
    block
        The number of samples per batch.

    Notes
    -----
    With k of R samples as extreme, :math:`p = (1+k)/(1+R)`, which is never 0. Samples are drawn in steps, up to a
    number that is fixed in advance. Drawing stops once so many samples are as extreme that p cannot end below the
    level. Only small p-values lead to longer runs, so p is below x with probability at most x, as if the number were
    fixed.
    """

    statistic: float | FloatArray
    draw: Callable[[np.random.Generator, int], FloatArray]
    cost: float
    seed: Seed
    block: int = 200

    def most(self, wanted: int, seconds: float) -> int:
        """Return the maximum number of samples: the requested number, limited by time."""
        return max(FIRST, int(min(wanted, seconds / self.cost)))  # the time may be unlimited

    def pvalue(self, alpha: float = 1.0, most: int = FIRST) -> tuple[float, int]:
        """Return the p-value of one statistic, and the number of samples. The arguments are as in `pvalues`."""
        pvalue, drawn = self.pvalues(alpha, most)
        return float(pvalue), drawn

    def pvalues(self, alpha: float = 1.0, most: int = FIRST) -> tuple[FloatArray, int]:
        """Return the p-value of each statistic and the number of samples; stop once none can end below the level.

        Parameters
        ----------
        alpha
            The level that p-values are compared with; at 1, all samples are drawn.
        most
            The maximum number of samples.
        """
        generator = numpy_generator(self.seed)
        observed = np.asarray(self.statistic, np.float64)
        # Statistics that are equal up to rounding count as equally extreme.
        bar = observed - 1e-9 * (1 + np.abs(observed))
        enough = max(alpha * (1 + most), 2.0)  # if the level is out of reach, continue while no sample is as extreme
        extreme, drawn = np.zeros(observed.shape, np.int64), 0
        for number in _steps(most):
            for some in self._blocks(generator, number):
                extreme = extreme + (some >= bar).sum(axis=0)
            drawn += number
            if (1 + extreme >= enough).all():
                break
        return np.asarray((1 + extreme) / (1 + drawn)), drawn

    def _blocks(self, generator: np.random.Generator, number: int) -> Iterator[FloatArray]:
        for start in range(0, number, self.block):
            yield self.draw(generator, min(self.block, number - start))


def _steps(most: int) -> Iterator[int]:
    """Yield how many further samples are drawn at each step."""
    drawn = 0
    while drawn < most:
        target = min(most, FIRST if not drawn else _STEP * (1 + drawn) - 1)
        yield target - drawn
        drawn = target
