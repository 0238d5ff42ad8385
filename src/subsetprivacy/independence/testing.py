"""`independence_test`: whether two variables are independent, from their subsets (`sec_2D`)."""

from collections.abc import Callable, Mapping
from typing import Any, get_args

import numpy as np

from subsetprivacy._checks import check_choice, check_count, shown
from subsetprivacy._choices import DegreesOfFreedom, IndependenceMethod, NullMethod
from subsetprivacy._seeds import numpy_generator
from subsetprivacy._types import Label, Seed
from subsetprivacy.data import JointCounts, SubsetCounts, SubsetData, SubsetTable, as_counts, as_joint
from subsetprivacy.errors import ArgumentError
from subsetprivacy.independence.crossing import Crossing, cross
from subsetprivacy.independence.degrees import DF, asymptotic_pvalue, degrees
from subsetprivacy.independence.latent import run_latent_test
from subsetprivacy.independence.latent_null import STARTS
from subsetprivacy.independence.null_distributions import NULLS, PermutationOptions, null_distribution
from subsetprivacy.independence.pairs import pair_tests
from subsetprivacy.independence.result import IndependenceResult
from subsetprivacy.independence.statistics import STATISTICS
from subsetprivacy.messages import Advice
from subsetprivacy.messages.for_tests import CROSS_TWO_COLUMNS, TABLE_FOR_EACH_GROUP, TABLE_OF_NUMBERS
from subsetprivacy.variables import JointCategories

METHODS: tuple[IndependenceMethod, ...] = get_args(IndependenceMethod)
BUDGET = 60.0


def independence_test(
    table: SubsetCounts | SubsetData | SubsetTable,
    method: IndependenceMethod = "lrt",
    *,
    permutations: int = 999,
    null: NullMethod | None = None,
    df: DegreesOfFreedom = "corrected",
    budget: float | None = BUDGET,
    seed: Seed | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> IndependenceResult:
    r"""Test whether two variables are independent, given subsets of both.

    Parameters
    ----------
    table
        What `crosstab` returns; or data, a table or counts of a product
        design of two variables. Variables that share one code (`join`), or a
        release with dummy rows, are tested by ``"lrt"`` with simulated people.
    method
        ``"lrt"``: the likelihood ratio (default, the most powerful).
        ``"lrt-mom"``: the same with moments, the paper's fast one.
        ``"pearson"``: observed and expected counts of all pairs of subsets.
        ``"pearson-conditional"``: the same given which questions were asked.
        ``"bonferroni"``: the largest of the 2 x 2 tables of all pairs of
        categories.
    permutations
        How many random tables with the same margins the p-value rests on.
        Where there are at most 10,000 such tables, all are looked at
        instead. 0 for the asymptotic p-value.
    null
        ``"permutation"`` (default); ``"bootstrap"``: people simulated from
        the fitted independent table, for weighted samples the default;
        ``"asymptotic"``.
    df
        ``"corrected"``, or ``"paper"`` for the degrees of freedom as printed.
        They matter to the asymptotic p-value only.
    budget
        About how many seconds may be spent on random tables. Where more
        would be needed, fewer are drawn, or none; a warning says so. None
        for no limit. Of 10^9 people or more no tables can be drawn.
    seed
        A number or a NumPy generator; by default a fresh one.
    progress
        Called with the number of tables done and the number of all.

    Raises
    ------
    NotIdentifiableError
        If a design is not identifiable, or all people reported one subset of a variable.
    NoDataError
        If no row is complete.
    ArgumentError, TooLargeError
        If there are not two variables, an option does not fit, or there are too many combinations.

    Warns
    -----
    BudgetWarning
        If fewer tables were drawn than asked for.

    Notes
    -----
    If X and Y are independent, so are the subsets A and B, and shuffling one
    column against the other changes nothing: the permutation p-value holds
    its level whatever the margins, at any sample size. Limit laws do not:
    near the boundary of the simplex, where shares are small, the likelihood
    ratio rejects too rarely.

    Examples
    --------
    >>> from subsetprivacy.design import product, uniform
    >>> from subsetprivacy.mechanism.simulate import simulate
    >>> both = product({"x": uniform(list("abcd")), "y": uniform(list("rstu"))})
    >>> W = 0.9 / 16 + 0.1 / 4 * np.eye(4)
    >>> found = independence_test(simulate(both, W.ravel(), 5000, seed=1), seed=1)
    >>> found.df, found.permutations, found.pvalue
    (9, 999, 0.001)
    """
    counts = read_counts(table)
    settings = read_permutation_options(permutations, budget, seed, progress)
    if not isinstance(counts, JointCounts) and isinstance(counts.categories, JointCategories):
        options = {"method": method, "null": null, "df": df}
        return run_latent_test(counts, None, options, settings, STARTS)
    crossing = cross(read_table(counts))
    hypothesis = f"{crossing.first.name} and {crossing.second.name} are independent"
    both = f"{crossing.first.name} x {crossing.second.name}"
    return conduct({both: crossing}, method, hypothesis, null, df, settings)


_INSTEAD: tuple[tuple[Any, Advice], ...] = (  # of what is no table
    (Mapping, TABLE_FOR_EACH_GROUP),
    ((list, tuple), CROSS_TWO_COLUMNS),
    (object, TABLE_OF_NUMBERS),
)


def read_counts(table: Any) -> SubsetCounts:
    """Return data, a table of columns or counts as counts, or raise with what to do instead."""
    if isinstance(table, (SubsetCounts, SubsetData, SubsetTable)):
        return as_joint(as_counts(table))
    advice = next(advice for kinds, advice in _INSTEAD if isinstance(table, kinds))
    raise ArgumentError(f"`table` must be what sp.crosstab returns; got {type(table).__name__}.", advice)


def read_table(table: Any) -> JointCounts:
    """Return whatever holds two variables as joint counts."""
    counts = read_counts(table)
    if isinstance(counts, JointCounts):
        return counts
    raise ArgumentError(
        f"`table` must be of several variables with a design each; got one variable ({counts.design.kind} design).",
        CROSS_TWO_COLUMNS,
    )


def read_permutation_options(permutations: int, budget: Any, seed: Any, progress: Any) -> PermutationOptions:
    """Return how much is to be computed, or raise."""
    check_count(permutations, "permutations")
    if budget is not None and (
        isinstance(budget, bool) or not (isinstance(budget, (int, float, np.number)) and 0 < budget < np.inf)
    ):
        raise ArgumentError(f"`budget` must be a number of seconds above 0, or None for no limit; got {shown(budget)}.")
    return PermutationOptions(permutations, None if budget is None else float(budget), numpy_generator(seed), progress)


def conduct(
    crossings: Mapping[Label, Crossing],
    method: IndependenceMethod,
    hypothesis: str,
    null: NullMethod | None,
    df: DegreesOfFreedom,
    settings: PermutationOptions,
    *,
    grouped: bool = False,
) -> IndependenceResult:
    """Test that all these tables are independent, group by group: statistics and degrees of freedom add up."""
    check_choice(method, METHODS, "method")
    check_choice(df, DF, "df")
    if df == "paper" and method == "pearson-conditional":
        raise ArgumentError("`df` must be 'corrected' for pearson-conditional; the paper does not have this test.")
    parts = tuple(crossings.values())
    weighted = any(part.table.squares is not None for part in parts)
    kind = check_choice(null or ("bootstrap" if weighted else "permutation"), NULLS, "null")
    if weighted and kind == "permutation":
        raise ArgumentError(
            "`null` must be 'bootstrap' for weighted rows, which cannot change places; got permutation."
        )
    if method == "lrt-mom" and kind == "asymptotic":
        raise ArgumentError("`null` must be another for lrt-mom, which has no limit law; got 'asymptotic'.")
    if method == "lrt-mom" and not settings.permutations:
        raise ArgumentError("`permutations` must be at least 1 for lrt-mom, which has no limit law; got 0.")
    each = [float(STATISTICS[method](part.sheet, part.counts[None, :])[0]) for part in parts]
    statistic = _no_rounding(max(each) if method == "bonferroni" else sum(each), sum(part.n for part in parts))
    freedom = 1 if method == "bonferroni" else sum(degrees(part, method, df) for part in parts)
    pairs = sum(part.first.different_members * part.second.different_members for part in parts)
    limit = asymptotic_pvalue(method, statistic, freedom, pairs)
    law = null_distribution(parts, method, kind, settings)
    return IndependenceResult(
        hypothesis,
        method,
        statistic,
        freedom,
        law.pvalue(statistic) if len(law.statistics) else limit,
        limit,
        law,
        {group: part.table for group, part in crossings.items()},
        _null_estimates(crossings, grouped),
        crossings=parts,
        df_kind=df,
        pairs=pair_tests(parts[0], law) if method == "bonferroni" and len(parts) == 1 else None,
    )


def _no_rounding(statistic: float, n: float) -> float:
    """Return 0 for a statistic that is below it by rounding."""
    return 0.0 if -1e-9 * max(n, 1.0) < statistic < 0 else statistic


def _null_estimates(crossings: Mapping[Label, Crossing], grouped: bool) -> dict[str, Any]:
    return {
        f"{group}: {side.name}" if grouped else side.name: side.fit
        for group, part in crossings.items()
        for side in (part.first, part.second)
    }
