"""An experiment of the paper, how it is run, and its result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any
from zlib import crc32

import numpy as np
from attrs import Factory, frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.examples import Adult, adult
from subsetprivacy.reproduce.checks import DIFFERS, Check
from subsetprivacy.reproduce.workers import NoProgress, ProgressReporter, Task, replicate


@frozen(eq=False)
class ExperimentResult:
    """The result of an experiment.

    Attributes
    ----------
    checks
        The paper's claims with what was obtained.
    table
        All numbers behind them, a list per column, for the CSV file.
    figure
        A matplotlib figure.
    """

    checks: Sequence[Check]
    table: Mapping[str, Sequence[Any]]
    figure: Any

    @property
    def failed(self) -> bool:
        """Whether a claim differs without an erratum."""
        return any(check.verdict == DIFFERS for check in self.checks)


@frozen(eq=False)
class Run:
    """How to run an experiment: the number of replications, the seed and the processes.

    Attributes
    ----------
    label
        The label of the experiment. Its random numbers depend on the label and `seed`, not on `pool`.
    k
        The number of replications.
    quick
        Whether this is the short form, for the few experiments in which more than k differs.
    adult
        The Adult data.
    """

    label: str
    k: int
    quick: bool = False
    seed: int = 1
    adult: Adult = adult
    pool: Executor | None = None
    progress: ProgressReporter = Factory(NoProgress)

    def replicate(self, task: Task, settings: Sequence[tuple[Any, ...]], k: int | None = None) -> list[FloatArray]:
        """Run `task(rng, *setting)` k times for each setting, and return one array (k, floats) per setting.

        `task` must be at the top of a module, so that other processes can import it.
        """
        times = self.k if k is None else k
        return replicate(task, settings, times, key=self._key(task), pool=self.pool, progress=self.progress)

    def rng(self, name: str = "") -> np.random.Generator:
        """Return a generator for this experiment and name."""
        return np.random.default_rng([self.seed, crc32(f"{self.label}/rng/{name}".encode())])

    def alone(self, steps: Iterable[Any]) -> Iterator[Any]:
        """Yield steps in this process, with progress, for timing."""
        every = list(steps)
        self.progress.start(len(every))
        for step in every:
            yield step
            self.progress.advance(1)

    def _key(self, task: Task) -> tuple[int, int]:
        return self.seed, crc32(f"{self.label}/{task.__name__}".encode())


@frozen(eq=False)
class Experiment:
    """A table, figure, theorem or example of the paper, or one of ours.

    Attributes
    ----------
    label
        The paper's LaTeX label, or a name that begins with ``ours:``.
    title
        A line for lists.
    about
        An explanation for someone who has not read the paper: the question, the method, and how to read the figure.
        Paragraphs are separated by an empty line.
    perform
        Takes a `Run` and returns an `ExperimentResult`.
    quick, full
        The number of replications in the short form and as in the paper; 1 if nothing is repeated.
    adult
        Whether it uses the Adult data.
    """

    label: str
    title: str
    about: str
    perform: Callable[[Run], ExperimentResult]
    quick: int = 1
    full: int = 1
    adult: bool = False
