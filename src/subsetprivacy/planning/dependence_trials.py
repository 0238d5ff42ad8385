"""Power of tests of independence by simulation."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, cast

import numpy as np
from attrs import evolve, frozen

from subsetprivacy._choices import IndependenceMethod
from subsetprivacy._types import FloatArray
from subsetprivacy.design import Product, nonprivate, product
from subsetprivacy.errors import BudgetWarning, NoDataError, NotIdentifiableError
from subsetprivacy.independence import independence_test
from subsetprivacy.independence.crossing import cross
from subsetprivacy.independence.null_distributions import cost
from subsetprivacy.independence.tables import drawing
from subsetprivacy.independence.testing import BUDGET, METHODS, read_table
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.messages.for_plans import FEWER_SAMPLES
from subsetprivacy.planning.dependence_limits import ENLARGED, VALUES, JointAlternative
from subsetprivacy.planning.dependence_result import PowerOfTest
from subsetprivacy.subsets import MAX_CATEGORIES

Progress = Callable[[int, int], None]
_ORDER = (*METHODS, VALUES, ENLARGED)


Trial: TypeAlias = tuple[Product, FloatArray, IndependenceMethod]


@frozen
class SimulationEffort:
    """The numbers of samples and permutations, the seed, and the progress function of a simulation."""

    replications: int
    permutations: int
    seed: int
    progress: Progress | None


def simulated(
    there: JointAlternative, tests: Mapping[str, PowerOfTest], effort: SimulationEffort
) -> dict[str, PowerOfTest]:
    """Return the tests with their numbers of rejections. Tests that cannot be simulated stay unchanged."""
    trials = {name: trial for name in tests if (trial := _trial(there, name, effort)) is not None}
    done = dict(tests)
    _warn_of_time([(trial, tests[name].n) for name, trial in trials.items()], effort)
    for number, (name, trial) in enumerate(trials.items()):
        rejected = 0
        for k, rejects in enumerate(_decisions(trial, tests[name], effort)):
            rejected += rejects
            if effort.progress is not None:
                effort.progress(number * effort.replications + k + 1, len(trials) * effort.replications)
        done[name] = evolve(tests[name], rejected=rejected, replications=effort.replications)
    return done


def _warn_of_time(trials: Sequence[tuple[Trial, int]], effort: SimulationEffort) -> None:
    """Warn if the simulation will take minutes."""
    seconds = 0.0
    for (design, W, method), n in trials:
        try:
            crossing = cross(read_table(simulate(design, W.ravel(), n, seed=effort.seed)))
        except (NoDataError, NotIdentifiableError):
            continue
        each = 5e-3 + effort.permutations * (cost(crossing, method) + drawing(crossing, effort.permutations))
        seconds += effort.replications * each
    if seconds > BUDGET:
        warnings.warn(
            BudgetWarning(
                f"Budget: {effort.replications} samples for each test take about {seconds:.0f} s.", FEWER_SAMPLES
            ),
            stacklevel=4,
        )


def _trial(there: JointAlternative, name: str, effort: SimulationEffort) -> Trial | None:
    """Return the design, the joint distribution and the method of a test; None if it cannot be simulated."""
    if name == "lrt-mom" and not effort.permutations:
        return None
    if name not in (VALUES, ENLARGED):
        return there.design, there.W, cast(IndependenceMethod, name)
    W = there.W if name == VALUES else there.enlarged
    assert W is not None
    if sum(W.shape) > MAX_CATEGORIES:  # each value needs a bit of the code
        return None
    first, second = (nonprivate(range(size)) for size in W.shape)
    return product({"x": first, "y": second}), W, "pearson"


def _decisions(trial: Trial, test: PowerOfTest, effort: SimulationEffort) -> Iterator[bool]:
    """Yield for each sample whether the test rejects. Tests with the same number of people use the same samples."""
    design, W, method = trial
    people, shuffles = (np.random.default_rng([effort.seed, k]) for k in (0, 1 + _ORDER.index(test.name)))
    for _ in range(effort.replications):
        table = simulate(design, W.ravel(), test.n, seed=people)
        try:
            result = independence_test(table, method, permutations=effort.permutations, budget=None, seed=shuffles)
        except (NoDataError, NotIdentifiableError):  # few people with equal or missing answers
            yield False
        else:
            yield result.pvalue <= test.alpha
