"""`independence_power`: the power of tests of independence, and the required sample size (`sec_2D`)."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np

from subsetprivacy._checks import check_alpha, check_choice, check_count, check_distribution, check_share, read_only
from subsetprivacy._choices import IndependenceMethod
from subsetprivacy._seeds import numpy_generator
from subsetprivacy._types import Distribution, FloatArray, Seed
from subsetprivacy.design import Design, Product, as_product, product
from subsetprivacy.errors import (
    ArgumentError,
    DistributionError,
)
from subsetprivacy.independence.testing import METHODS
from subsetprivacy.messages.for_plans import POWER_OF_80, PRODUCT_OF_TWO, SIMULATE_POWER
from subsetprivacy.planning.demand import read_people
from subsetprivacy.planning.dependence_limits import (
    ENLARGED,
    VALUES,
    JointAlternative,
    NoncentralChiSquare,
    limit_caveats,
)
from subsetprivacy.planning.dependence_result import IndependencePower, PowerOfTest
from subsetprivacy.planning.dependence_trials import Progress, SimulationEffort, simulated

NO_LAW = ("lrt-mom", "bonferroni")


def independence_power(
    design: Product | Mapping[str, Design] | Sequence[Design],
    W: Distribution | Sequence[Sequence[float]],
    n: int | None = None,
    *,
    method: IndependenceMethod = "lrt",
    alpha: float = 0.05,
    target: float | None = None,
    compare: bool = False,
    replications: int = 0,
    permutations: int = 199,
    seed: Seed | None = None,
    progress: Progress | None = None,
) -> IndependencePower:
    r"""Return the power of a test of independence, or the required number of people.

    Parameters
    ----------
    design
        The product design of two variables, a mapping of two names to
        designs, or a list of two designs.
    W
        The joint distribution: a table with a row per category of the first
        variable, the same table flattened, or a mapping of pairs of labels.
    n
        The number of people.
    method
        The test, as in `independence_test`.
    alpha
        The level of the test, at most 0.5.
    target
        The required power. The number of people is then computed; omit `n`.
    compare
        Include all five tests, and Pearson's test (PT) without privacy: ``"PT:X"`` uses the values and, with a secret
        bit, ``"PT:Y"`` uses the values with their bits. With `target`, each test gets its own number of people.
    replications
        The number of samples to simulate, or 0 to use the limit
        distribution. ``"lrt-mom"`` and ``"bonferroni"`` have no limit
        distribution and need about 200 samples.
    permutations
        The number of random tables for the p-value of each sample, or 0 for
        asymptotic p-values.
    seed
        A number or a NumPy generator. By default the simulation is not repeatable.
    progress
        A function that is called with the number of finished samples and the total.

    Raises
    ------
    ArgumentError
        If both or neither of `n` and `target` are given, if a test has no limit distribution and nothing is simulated,
        or if `target` is given and the variables are (nearly) independent under `W`.
    NotIdentifiableError
        If a design is not identifiable.
    DistributionError
        If `W` is not a joint distribution of the two variables.
    TooLargeError
        If there are too many pairs of subsets to list and nothing is simulated.

    Warns
    -----
    BudgetWarning
        If the simulation will take minutes.

    Notes
    -----
    Let P be the distribution of pairs of subsets under W, and :math:`P^0` the one under the product of its margins. The
    likelihood ratio has noncentrality :math:`2n\sum P_{ab}\ln(P_{ab}/P^0_{ab})`, and Pearson's statistics have
    :math:`n\sum (P_{ab}-P^0_{ab})^2/P^0_{ab}`. Given the questions, Pearson's statistic has fewer degrees of freedom
    and so more power. People with a full set add nothing.

    The limit distribution is for many people and weak dependence. It is rough if a joint share is within two standard
    errors of 0, where the likelihood ratio test mostly has more power than the limit, or if some pairs of subsets are
    expected from few people. The notes mention both. If the dependence is strong, the two noncentralities differ, and
    so does the price of ``"lrt"`` compared with Pearson's test of the values.

    Examples
    --------
    >>> import numpy as np
    >>> from subsetprivacy.design import uniform
    >>> designs = {"x": uniform(list("abcd")), "y": uniform(list("rstu"))}
    >>> W = (1 / 16 + 0.05 * np.eye(4)) / 1.2
    >>> found = independence_power(designs, W, 2000)
    >>> round(found.power, 3), found.df
    (0.876, 9)
    >>> wanted = independence_power(designs, W, target=0.8, compare=True)
    >>> wanted.n, wanted.comparison["PT:X"].n, round(wanted.test.price, 1)
    (1683, 188, 9.0)
    """
    both = _read_design(design)
    there = JointAlternative(both, _read_joint(W, both))
    check_choice(method, METHODS, "method")
    check_alpha(alpha)
    effort = _read_effort(replications, permutations, alpha, seed, progress)
    limits = _limits(there, method, effort)
    people = _read_size(n, target, limits.get(method), method, alpha)
    target = None if target is None else float(target)
    names = (*METHODS, VALUES, *([ENLARGED] if ENLARGED in limits else [])) if compare else (method,)
    tests = {name: _ready(name, limits, people, alpha, target) for name in names}
    done = simulated(there, tests, effort) if effort.replications else tests
    notes = limit_caveats(there, {test.name: test.n for test in done.values()}, simulated=bool(effort.replications))
    return IndependencePower(_names(both), done[method], done, target, effort.permutations, notes)


# Arguments ------------------------------------------------------------------------------------


def _read_design(design: Any) -> Product:
    """Return the product of two identifiable designs."""
    if isinstance(design, Mapping):
        design = product(design)
    elif isinstance(design, Sequence) and not isinstance(design, str) and len(design) == 2:
        design = product(dict(zip("xy", design, strict=True)))
    both = as_product(design)
    if both is None or len(both.factors) != 2:
        got = type(design).__name__ if both is None else f"one of {len(both.factors)}"
        raise ArgumentError(f"`design` must be the product of two designs; got {got}.", PRODUCT_OF_TWO)
    both.require_identifiable()
    return both


def _read_joint(W: Any, design: Product) -> FloatArray:
    """Return the joint distribution as a table."""
    shape = tuple(factor.p for factor in design.factors)
    if _is_named(W, design):  # a data frame, with rows and columns in any order
        W = {(x, y): share for y, column in W.to_dict().items() for x, share in column.items()}
    elif not isinstance(W, Mapping) and np.shape(W) == shape:
        W = np.ravel(W)
    elif len(np.shape(W)) == 2:
        raise DistributionError(
            f"`W` must have a row for each category of the first variable, shape {shape}; got {np.shape(W)}."
        )
    flat = check_distribution(W, design.categories.labels, "W")
    return read_only((flat / flat.sum()).reshape(shape))


def _is_named(W: Any, design: Product) -> bool:
    """Tell whether `W` is a pandas data frame whose rows and columns have names, not only numbers."""
    if not (hasattr(W, "index") and hasattr(W, "columns") and hasattr(W, "to_dict")):
        return False
    names = [list(W.index), list(W.columns)]
    if all(set(part) == set(factor.categories) for part, factor in zip(names, design.factors, strict=True)):
        return True  # categories may be numbers
    return names != [list(range(factor.p)) for factor in design.factors]


def _read_effort(
    replications: Any, permutations: Any, alpha: float, seed: Any, progress: Progress | None
) -> SimulationEffort:
    samples, tables = check_count(replications, "replications"), check_count(permutations, "permutations")
    fewest = ceil(1 / alpha - 1e-9) - 1
    if samples and 0 < tables < fewest:
        raise ArgumentError(
            f"`permutations` must be at least {fewest} for a p-value that can be as small as {alpha:g}; got {tables}."
        )
    return SimulationEffort(samples, tables, int(numpy_generator(seed).integers(1 << 62)), progress)


def _limits(there: JointAlternative, method: str, effort: SimulationEffort) -> dict[str, NoncentralChiSquare]:
    """Return the limit distributions, or raise if neither they nor a simulation give the power."""
    if method == "lrt-mom" and effort.replications and not effort.permutations:
        raise ArgumentError("`permutations` must be above 0 for lrt-mom, which has no limit distribution; got 0.")
    if method not in there.limits and not effort.replications:
        if method not in NO_LAW:
            there.reports  # noqa: B018  # raises if there are too many to list
        raise ArgumentError(
            f"`replications` must be above 0 for {method}, which has no limit distribution; got 0.", SIMULATE_POWER
        )
    return there.limits


def _read_size(n: Any, target: Any, limit: NoncentralChiSquare | None, method: str, alpha: float) -> int:
    if (n is None) == (target is None):
        both = "neither" if n is None else "both"
        raise ArgumentError(f"either `n` or `target` must be given; got {both}.", POWER_OF_80)
    if n is not None:
        return read_people(n, "n")
    if check_share(target, "target") <= alpha:
        raise ArgumentError(f"`target` must be above `alpha`, {alpha:g}; got {target:g}.", POWER_OF_80)
    if limit is None:
        raise ArgumentError(f"`n` must be given for {method}, which has no limit distribution to compute it from.")
    return limit.people(target, alpha)


def _ready(
    name: str, limits: Mapping[str, NoncentralChiSquare], people: int, alpha: float, target: float | None
) -> PowerOfTest:
    """Return a test with its number of people, which with a target is the number that it needs."""
    limit = limits.get(name)
    if target is None or limit is None:
        return PowerOfTest(name, people, alpha, limit)
    direct = limits[VALUES].people(target, alpha)
    return PowerOfTest(name, limit.people(target, alpha), alpha, limit, direct=direct)


def _names(design: Product) -> tuple[str, str]:
    first, second = design.by_name()
    return first, second
