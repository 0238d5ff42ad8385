"""Samples drawn under a hypothesis: a few at first, and many where an alarm hangs on them."""

from collections.abc import Callable, Iterator

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray

FIRST = 199
_STEP = 4


@frozen(eq=False)
class Sampler:
    r"""The statistic of the data, and a way to draw its like under the hypothesis.

    Attributes
    ----------
    statistic
        That of the data.
    draw
        Takes a generator and a number, and returns the statistics of so many samples.
    cost
        The seconds that one sample takes on a plain machine: of what is known beforehand, so that the same samples
        are drawn on every machine.
    seed
        The same one always gives the same samples.
    block
        How many are drawn at once.

    Notes
    -----
    With k of R samples as extreme, :math:`p = (1+k)/(1+R)`. Samples are drawn in steps, up to a number that is fixed
    beforehand, and no further once there are so many as extreme that p cannot end below the level. The more are
    drawn, the smaller the p-values with which it goes on: p is below x at most with probability x, as if the number
    were fixed.
    """

    statistic: float
    draw: Callable[[np.random.Generator, int], FloatArray]
    cost: float
    seed: int
    block: int = 200

    def most(self, wanted: int, seconds: float) -> int:
        """Return how many samples to draw at most: those that are wanted, as far as there is time."""
        return max(FIRST, min(wanted, int(seconds / self.cost)))

    def pvalue(self, level: float = 1.0, most: int = FIRST) -> tuple[float, int]:
        """Return the p-value and the number of samples, which are drawn while it may end below the level.

        Parameters
        ----------
        level
            What the p-value is compared with.
        most
            How many samples to draw at most.
        """
        generator = np.random.default_rng(self.seed)
        # What is equal but for rounding is as extreme.
        bar = self.statistic - 1e-9 * (1 + abs(self.statistic))
        enough = max(level * (1 + most), 2.0)  # where the level is out of reach: while none is as extreme
        extreme = drawn = 0
        for number in _steps(most):
            extreme += sum(int((some >= bar).sum()) for some in self._blocks(generator, number))
            drawn += number
            if 1 + extreme >= enough:
                break
        return (1 + extreme) / (1 + drawn), drawn

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
