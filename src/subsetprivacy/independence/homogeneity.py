"""`homogeneity_test`: whether several groups or waves have the same distribution."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve, frozen
from scipy.special import chdtrc

from subsetprivacy._checks import check_choice, read_only, shown
from subsetprivacy._choices import DegreesOfFreedom, IndependenceMethod, NullMethod
from subsetprivacy._types import FloatArray, Label, Seed
from subsetprivacy.data import JointCounts, SubsetCounts, SubsetData, SubsetTable, as_counts, only_known, without_group
from subsetprivacy.design import Product, nonprivate
from subsetprivacy.errors import ArgumentError, MismatchError, NoDataError
from subsetprivacy.estimation.mle import maximize
from subsetprivacy.incidence import Stacked
from subsetprivacy.independence.caveats import FEW
from subsetprivacy.independence.crossing import cross
from subsetprivacy.independence.degrees import DF
from subsetprivacy.independence.group_permutations import GroupTable, are_exchangeable
from subsetprivacy.independence.null_distributions import (
    ASYMPTOTIC,
    NULLS,
    NullDistribution,
    PermutationOptions,
    affordable,
)
from subsetprivacy.independence.result import IndependenceResult
from subsetprivacy.independence.tables import LARGEST
from subsetprivacy.independence.testing import BUDGET, METHODS, read_permutation_options, run_test
from subsetprivacy.mechanism.simulate import informative_probabilities, simulate_informative
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_tests import COUNT_BY_GROUP, NAME_THE_OPTION, UNPACK_GROUPS, WEIGHT_ALL_GROUPS
from subsetprivacy.subsets import MAX_CATEGORIES, Categories

_FEW_GROUPS = 20
DIFFER = "the designs differ"
WEIGHTED_GROUPS = "Weighted: each group is scaled to its effective number of people (Kish)."


@frozen(slots=False, eq=False)
class PooledShares:
    """The pooled estimate of all groups, each under its own design.

    Attributes
    ----------
    categories
        The categories.
    w
        Their shares.
    """

    categories: Categories
    w: FloatArray


def homogeneity_test(
    *groups: Mapping[Any, SubsetCounts | SubsetData | SubsetTable] | SubsetCounts | SubsetData | SubsetTable,
    method: IndependenceMethod = "lrt",
    permutations: int = 999,
    null: NullMethod | None = None,
    df: DegreesOfFreedom = "corrected",
    budget: float | None = BUDGET,
    seed: Seed | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> IndependenceResult:
    r"""Test whether a variable has the same distribution in several groups.

    Parameters
    ----------
    *groups
        Data or counts of two or more groups, or a dict of them, as
        ``count(data, by=group)`` returns. The categories must be the same;
        the designs may differ.
    method, permutations, null, df, budget, seed, progress
        As in `independence_test`. If the designs differ, people cannot be
        permuted between groups: the method is ``"lrt"``, and people are
        simulated from the pooled estimate. The method is also ``"lrt"``, with
        permutations, if several variables are compared at once, or if there
        are too many groups and categories for one code.

    Raises
    ------
    MismatchError
        If the categories differ.
    ArgumentError
        If there are fewer than two groups.
    NoDataError, NotIdentifiableError
        If a group has no informative subset, or a design is not identifiable.

    Warns
    -----
    BudgetWarning
        If fewer tables or samples were drawn than requested.

    Notes
    -----
    Under one design, this is the test of independence of the variable and the
    group, which is not private. Under the hypothesis, people can be permuted
    between groups, so the p-value from all tables of group by subset with the
    same margins, or from random ones, is valid for any number of people. In
    general the statistic is
    :math:`2\{\sum_g l_g(\hat w_g) - \sum_g l_g(\hat w)\}` with the pooled :math:`\hat w`, and
    (G-1)(p-1) degrees of freedom.

    Examples
    --------
    >>> from subsetprivacy.design import fixed_size, uniform
    >>> from subsetprivacy.mechanism.simulate import simulate
    >>> wave1 = simulate(uniform(list("abcd")), [0.1, 0.2, 0.3, 0.4], 2000, seed=1)
    >>> wave2 = simulate(fixed_size(list("abcd"), 2), [0.1, 0.2, 0.3, 0.4], 2000, seed=2)
    >>> homogeneity_test(wave1, wave2, seed=1).df
    3
    """
    named, unknown = read_groups(groups)
    settings = read_permutation_options(permutations, budget, seed, progress)
    hypothesis = f"the same distribution in {len(named)} groups"
    together, reason = _as_table(named)
    if together is None:
        if check_choice(df, DF, "df") == "paper":
            raise ArgumentError(f"`df` must be 'corrected', since {reason}; got 'paper'.")
        result = _comparing(named, method, hypothesis, null, settings, reason)
        return evolve(result, remarks=(*result.remarks, *unknown))
    crossing = cross(together)
    result = run_test({"group x variable": crossing}, method, hypothesis, null, df, settings)
    return evolve(
        result,
        tables=named,
        null_estimates={"pooled": crossing.second.fit},
        remarks=unknown,
    )


def read_groups(groups: tuple[Any, ...]) -> tuple[dict[Label, SubsetCounts], tuple[Note, ...]]:
    """Return the counts of each known group by name, and notes on other people; raise if they are not compatible."""
    if len(groups) > 1 and isinstance(groups[-1], str):
        _read(groups[-1])
    if len(groups) == 1 and isinstance(groups[0], Mapping):
        read = {group: as_counts(data) for group, data in groups[0].items()}
    else:
        read = {f"group {k + 1}": _read(data) for k, data in enumerate(groups)}
    named, unknown = only_known(read), tuple(without_group(read))
    if len(named) < 2:
        raise ArgumentError(f"`groups` must be two or more; got {len(named)}.", COUNT_BY_GROUP)
    first = next(iter(named.values()))
    for number, (group, counts) in enumerate(named.items(), 1):
        # With many groups, the names may identify people, so messages use numbers.
        who = shown(group) if len(named) <= _FEW_GROUPS else f"number {number}"
        if counts.categories != first.categories:
            raise MismatchError(f"groups must have the same categories in the same order; {who} has others.")
        if (counts.squares is None) != (first.squares is None):
            raise MismatchError("groups must be all weighted or all unweighted.", WEIGHT_ALL_GROUPS)
        if counts.design.covered is not None:
            raise ArgumentError(
                "`groups` must not contain dummy rows: the tests do not account for their fixed number."
            )
        if not counts.total > 0:
            raise NoDataError(f"every group must have an informative subset; {who} has none.")
        counts.design.require_identifiable()
    return named, unknown


def _read(data: Any) -> SubsetCounts:
    """Return the counts of a single group."""
    if isinstance(data, (SubsetCounts, SubsetData, SubsetTable)):
        return as_counts(data)
    advice = UNPACK_GROUPS if isinstance(data, (list, tuple)) else COUNT_BY_GROUP
    if isinstance(data, str):
        advice = NAME_THE_OPTION
    raise ArgumentError(f"a group must be SubsetData or SubsetCounts; got {type(data).__name__}.", advice)


def _as_table(named: Mapping[Label, SubsetCounts]) -> tuple[JointCounts | None, str]:
    """Return the table of group by subset, or None and the reason."""
    samples = list(named.values())
    design = samples[0].design
    if any(counts.design != design for counts in samples):
        return None, DIFFER
    if design.product is not None:
        return None, "the groups are compared in several variables at once"
    if len(samples) + design.code_bits > MAX_CATEGORIES:
        return None, f"group and subset do not fit in one code of {MAX_CATEGORIES} bits"
    names = [str(group) for group in named]
    labels = names if len(set(names)) == len(names) else [f"{k + 1}" for k in range(len(names))]
    joint = Product.of({("group",): nonprivate(labels), ("variable",): design})
    codes = [joint.join([np.full(len(counts.codes), 1 << k), counts.codes]) for k, counts in enumerate(samples)]
    if samples[0].squares is None:
        return JointCounts(np.concatenate(codes), np.concatenate([counts.counts for counts in samples]), joint), ""
    # Weights are comparable only within a group: each group counts as its effective number of people.
    scales = [counts.n / counts.total for counts in samples]
    people = [scale * counts.counts for scale, counts in zip(scales, samples, strict=True)]
    squares = [scale**2 * np.asarray(counts.squares) for scale, counts in zip(scales, samples, strict=True)]
    return JointCounts(np.concatenate(codes), np.concatenate(people), joint, np.concatenate(squares)), ""


def _comparing(
    named: Mapping[Label, SubsetCounts],
    method: IndependenceMethod,
    hypothesis: str,
    null: NullMethod | None,
    settings: PermutationOptions,
    reason: str,
) -> IndependenceResult:
    """Compare the fits of the groups with the pooled fit; people are permuted between groups, or simulated."""
    if check_choice(method, METHODS, "method") != "lrt":
        raise ArgumentError(f"`method` must be 'lrt', since {reason}; got {method!r}.")
    samples = list(named.values())
    exchangeable = are_exchangeable(samples)
    kind = check_choice(null or ("permutation" if exchangeable else "bootstrap"), NULLS, "null")
    if kind == "permutation" and not exchangeable:
        raise ArgumentError(f"`null` must be 'bootstrap', since {_why_not(samples, reason)}; got 'permutation'.")
    p = samples[0].categories.p
    sizes = np.array([counts.n for counts in samples])
    statistic, pooled = _statistic(samples, sizes)
    freedom = (len(samples) - 1) * (p - 1)
    limit = float(chdtrc(freedom, statistic))
    remarks = _caveats(samples, pooled)
    if kind == "asymptotic" or not settings.permutations:
        law = ASYMPTOTIC
    elif kind == "permutation":
        law = GroupTable.of(samples, pooled).null_distribution(settings)
    else:
        law = _simulated(samples, sizes, pooled, settings)
        asked = "as asked for" if exchangeable else _why_not(samples, reason)
        remarks.append(Note(NoteKind.NULL_LAW, f"People are simulated from the pooled estimate: {asked}."))
    return IndependenceResult(
        hypothesis,
        method,
        statistic,
        freedom,
        law.pvalue(statistic) if len(law.statistics) else limit,
        limit,
        law,
        named,
        {"pooled": PooledShares(samples[0].categories, read_only(pooled))},
        tuple(remarks),
    )


def _why_not(samples: Sequence[SubsetCounts], reason: str) -> str:
    """Return why people cannot be permuted between groups."""
    if any(counts.squares is not None for counts in samples):
        return "weighted rows cannot be permuted"
    return reason if reason == DIFFER else f"tables of {LARGEST:,} people or more cannot be drawn at random"


def _caveats(samples: Sequence[SubsetCounts], w: FloatArray) -> list[Note]:
    """Return notes on why the asymptotic p-value is unreliable."""
    notes: list[Note] = []
    if samples[0].squares is not None:
        notes.append(Note(NoteKind.WEIGHTED, WEIGHTED_GROUPS))
    if not all(counts.design.enumerable for counts in samples):
        return notes
    expected = [counts.n * informative_probabilities(counts.design, w)[1] for counts in samples]
    few, possible = sum(int((each < FEW).sum()) for each in expected), sum(len(each) for each in expected)
    if few:
        text = (
            f"Small counts: {few} of {possible} subsets are expected from fewer than {FEW} people. The asymptotic "
            "p-value is unreliable."
        )
        notes.append(Note(NoteKind.SMALL_COUNTS, text))
    if w.min() < 1e-9:
        text = "On the boundary: a share of 0 is estimated for all groups. The asymptotic p-value is approximate."
        notes.append(Note(NoteKind.BOUNDARY, text))
    return notes


def _statistic(samples: Sequence[SubsetCounts], sizes: FloatArray) -> tuple[float, FloatArray]:
    """Return twice the gain in log-likelihood of separate fits over the pooled fit, and the pooled fit."""
    tol = float(np.clip(5e-7 / sizes.sum(), 1e-12, 1e-9))
    rows = Stacked([counts.incidence for counts in samples])
    shares = np.concatenate([size * counts.shares for size, counts in zip(sizes, samples, strict=True)]) / sizes.sum()
    pooled = maximize(rows, shares, tol).w
    own = [maximize(counts.incidence, counts.shares, tol).w for counts in samples]
    gains = [
        size * float(counts.shares @ np.log(counts.incidence.inner(w) / counts.incidence.inner(pooled)))
        for size, counts, w in zip(sizes, samples, own, strict=True)
    ]
    return float(max(2 * sum(gains), 0.0)), pooled


def _simulated(
    samples: Sequence[SubsetCounts], sizes: FloatArray, w: FloatArray, settings: PermutationOptions
) -> NullDistribution:
    """Return the statistics of people simulated from w, in each group under its own design."""
    p, cells = len(w), sum(len(counts.n_a) for counts in samples)
    size, notes = affordable(1e-3 + 40 * (cells * p**2 + p**3) / 1e9, settings)
    people = [max(round(n), 1) for n in sizes.tolist()]
    statistics = np.empty(size)
    for k in range(size):
        drawn = [
            simulate_informative(counts.design, w, n, settings.generator)
            for counts, n in zip(samples, people, strict=True)
        ]
        statistics[k] = _statistic(drawn, np.array(people, np.float64))[0]
        if settings.progress is not None:
            settings.progress(k + 1, size)
    return NullDistribution("bootstrap" if size else "asymptotic", statistics, None, notes)
