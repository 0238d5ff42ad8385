"""`independence_test`: whether two variables are independent, given subsets of both (`sec_2D`)."""

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
        The result of `crosstab`, or data, a table or counts of a product
        design of two variables. Variables that share one code (`join`), and
        releases with dummy rows, are tested by ``"lrt"`` with a parametric
        bootstrap.
    method
        ``"lrt"``: the likelihood ratio test (default, usually the most powerful).
        ``"lrt-mom"``: the same with moments, the paper's fast version.
        ``"pearson"``: Pearson's test of all pairs of subsets.
        ``"pearson-conditional"``: the same, given the questions asked.
        ``"bonferroni"``: the largest statistic of the 2 x 2 tables of all
        pairs of categories.
    permutations
        The number of random tables with the same margins, for the p-value.
        If there are at most 10,000 such tables, all of them are used
        instead. 0 for the asymptotic p-value.
    null
        ``"permutation"`` (default); ``"bootstrap"``: people simulated from
        the fitted independent table, the default for weighted samples;
        ``"asymptotic"``.
    df
        ``"corrected"``, or ``"paper"`` for the degrees of freedom as printed.
        They affect only the asymptotic p-value.
    budget
        The approximate time limit for random tables, in seconds. If it is not
        enough, fewer tables or none are drawn, with a warning. None for no
        limit. With 10^9 people or more, no tables can be drawn.
    seed
        A number or a NumPy generator. By default the random tables are not
        repeatable.
    progress
        Called with the number of tables done and their total.

    Raises
    ------
    NotIdentifiableError
        If a design is not identifiable, or everyone reported the same subset of a variable.
    NoDataError
        If no row is complete.
    ArgumentError, TooLargeError
        If there are not two variables, an option is invalid, or there are too many combinations.

    Warns
    -----
    BudgetWarning
        If fewer tables were drawn than requested.

    Notes
    -----
    If X and Y are independent, so are the subsets A and B, and one column can
    be permuted against the other. The permutation p-value therefore keeps its
    level for any margins and any sample size. Asymptotic p-values do not:
    near the boundary of the simplex, where shares are small, the likelihood
    ratio test rejects too rarely.

    Examples
    --------
    >>> from subsetprivacy.design import product, uniform
    >>> from subsetprivacy.mechanism.simulate import simulate
    >>> both = product({"x": uniform(list("abcd")), "y": uniform(list("rstu"))})
    >>> W = 0.9 / 16 + 0.1 / 4 * np.eye(4)
    >>> result = independence_test(simulate(both, W.ravel(), 5000, seed=1), seed=1)
    >>> result.df, result.permutations, result.pvalue
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
    return run_test({both: crossing}, method, hypothesis, null, df, settings)


_INSTEAD: tuple[tuple[Any, Advice], ...] = (  # raises if it is not a table
    (Mapping, TABLE_FOR_EACH_GROUP),
    ((list, tuple), CROSS_TWO_COLUMNS),
    (object, TABLE_OF_NUMBERS),
)


def read_counts(table: Any) -> SubsetCounts:
    """Return data, a table of columns or counts as counts, or raise with advice."""
    if isinstance(table, (SubsetCounts, SubsetData, SubsetTable)):
        return as_joint(as_counts(table))
    advice = next(advice for kinds, advice in _INSTEAD if isinstance(table, kinds))
    raise ArgumentError(f"`table` must be what sp.crosstab returns; got {type(table).__name__}.", advice)


def read_table(table: Any) -> JointCounts:
    """Return data of two variables as joint counts."""
    counts = read_counts(table)
    if isinstance(counts, JointCounts):
        return counts
    raise ArgumentError(
        f"`table` must have several variables, each with a design; got one variable ({counts.design.maker} design).",
        CROSS_TWO_COLUMNS,
    )


def read_permutation_options(permutations: int, budget: Any, seed: Any, progress: Any) -> PermutationOptions:
    """Return the options of permutation tests, or raise if one is invalid."""
    check_count(permutations, "permutations")
    if budget is not None and (
        isinstance(budget, bool) or not (isinstance(budget, (int, float, np.number)) and 0 < budget < np.inf)
    ):
        raise ArgumentError(f"`budget` must be a number of seconds above 0, or None for no limit; got {shown(budget)}.")
    return PermutationOptions(permutations, None if budget is None else float(budget), numpy_generator(seed), progress)


def run_test(
    crossings: Mapping[Label, Crossing],
    method: IndependenceMethod,
    hypothesis: str,
    null: NullMethod | None,
    df: DegreesOfFreedom,
    settings: PermutationOptions,
    *,
    grouped: bool = False,
) -> IndependenceResult:
    """Test independence in all groups; statistics and degrees of freedom add up."""
    check_choice(method, METHODS, "method")
    check_choice(df, DF, "df")
    if df == "paper" and method == "pearson-conditional":
        raise ArgumentError("`df` must be 'corrected' for pearson-conditional; the paper does not have this test.")
    parts = tuple(crossings.values())
    weighted = any(part.table.squares is not None for part in parts)
    kind = check_choice(null or ("bootstrap" if weighted else "permutation"), NULLS, "null")
    if weighted and kind == "permutation":
        raise ArgumentError(
            "`null` must be 'bootstrap' for weighted rows, which cannot be permuted; got 'permutation'."
        )
    if method == "lrt-mom" and kind == "asymptotic":
        raise ArgumentError(
            "`null` must be 'permutation' or 'bootstrap' for lrt-mom, which has no limit distribution; got "
            "'asymptotic'."
        )
    if method == "lrt-mom" and not settings.permutations:
        raise ArgumentError("`permutations` must be at least 1 for lrt-mom, which has no limit distribution; got 0.")
    each = [float(STATISTICS[method](part.layout, part.counts[None, :])[0]) for part in parts]
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
    """Return 0 for a statistic that is negative by rounding."""
    return 0.0 if -1e-9 * max(n, 1.0) < statistic < 0 else statistic


def _null_estimates(crossings: Mapping[Label, Crossing], grouped: bool) -> dict[str, Any]:
    return {
        f"{group}: {side.name}" if grouped else side.name: side.fit
        for group, part in crossings.items()
        for side in (part.first, part.second)
    }
