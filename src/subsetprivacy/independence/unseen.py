"""Tests whose null hypothesis is not fitted margin by margin: a third variable seen through subsets, joined ones."""

from typing import Any

from attrs import evolve

from subsetprivacy._checks import check_count, shown
from subsetprivacy.data import SubsetCounts, as_counts
from subsetprivacy.errors import ArgumentError
from subsetprivacy.independence.latent import LEAST_REPLICATIONS, latent_test
from subsetprivacy.independence.null_distributions import PermutationOptions, affordable
from subsetprivacy.independence.result import IndependenceResult
from subsetprivacy.messages.for_tests import CROSS_BY_COLUMN, PICK_SOME
from subsetprivacy.variables import JointCategories


def unseen_test(
    table: Any,
    given: str | None,
    options: dict[str, Any],
    settings: PermutationOptions,
    starts: int,
) -> IndependenceResult:
    """Test independence of two variables, given a third or not, by the likelihood ratio and simulated samples.

    Parameters
    ----------
    table
        Counts of exactly the variables that matter.
    given
        The third variable, or None.
    options
        The options of the other tests, of which only these values make sense here.
    settings
        How many samples to simulate, with which random numbers.
    starts
        How often the fit of the null hypothesis is begun again.
    """
    counts = as_counts(table)
    first, second = _others(counts, given)
    wanted = {"method": ("lrt",), "null": (None, "bootstrap"), "df": ("corrected",)}
    why = "where the third variable is seen through subsets" if given else "for variables that share one code"
    for name, allowed in wanted.items():
        if not isinstance(options[name], str | None) or options[name] not in allowed:
            raise ArgumentError(f"`{name}` must be {allowed[-1]!r} {why}; got {shown(options[name])}.")
    check_count(settings.permutations, "permutations", least=LEAST_REPLICATIONS)
    size, notes = affordable(
        _cost(counts), settings, fewest=LEAST_REPLICATIONS, always=True, what="samples", stacklevel=4
    )
    result = latent_test(
        counts,
        first,
        second,
        given,
        replications=size,
        starts=starts,
        seed=settings.generator,
        progress=settings.progress,
    )
    return evolve(result, remarks=(*notes, *result.remarks))


def _cost(counts: SubsetCounts) -> float:
    """Return about how many seconds the fits of one simulated sample take, on a plain machine."""
    design = counts.design
    cells = len(design.support()[0]) if design.enumerable else counts.n
    return 1e-3 + 1e-7 * min(cells, 16 * counts.n) * counts.categories.p


def _others(counts: SubsetCounts, given: str | None) -> tuple[str, str]:
    """Return the two variables that are tested."""
    joint = counts.categories
    names = joint.names if isinstance(joint, JointCategories) else ()
    if given is not None and (not isinstance(given, str) or given not in names):
        raise ArgumentError(
            f"`given` must be one of the variables {', '.join(names) or '(there is one)'}; got {shown(given)}.",
            None if isinstance(given, str) else CROSS_BY_COLUMN,
        )
    left = [name for name in names if name != given]
    if len(left) != 2:
        wanted = "three variables" if given else "two variables"
        raise ArgumentError(f"`table` must be of {wanted}; got {len(names)}: {', '.join(names)}.", PICK_SOME)
    return left[0], left[1]
