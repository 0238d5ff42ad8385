"""`conditional_independence_test`: whether two variables are independent within the groups of a third."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve

from subsetprivacy._choices import DegreesOfFreedom, IndependenceMethod, NullMethod
from subsetprivacy._types import Label, Seed
from subsetprivacy._words import counted
from subsetprivacy.data import JointCounts, SubsetCounts, SubsetData, SubsetTable, as_counts
from subsetprivacy.errors import ArgumentError, NoDataError, NotIdentifiableError
from subsetprivacy.independence.crossing import Crossing, cross
from subsetprivacy.independence.latent import run_latent_test
from subsetprivacy.independence.result import IndependenceResult
from subsetprivacy.independence.testing import BUDGET, conduct, read_permutation_options, read_table
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_tests import CROSS_BY_GROUP, NAME_THE_GIVEN


def conditional_independence_test(
    tables: Mapping[Any, SubsetCounts | SubsetData | SubsetTable] | SubsetCounts | SubsetData | SubsetTable,
    method: IndependenceMethod = "lrt",
    *,
    given: str | None = None,
    permutations: int | None = None,
    null: NullMethod | None = None,
    df: DegreesOfFreedom = "corrected",
    budget: float | None = BUDGET,
    starts: int = 20,
    seed: Seed | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> IndependenceResult:
    r"""Test whether two variables are independent given a third.

    Parameters
    ----------
    tables
        Where the third variable is known: a table for each of its values, as
        ``crosstab(a, b, by=z)`` returns them. Where only subsets of it are
        known too: a table of three variables, and its name as `given`.
    method
        As in `independence_test`; for a third variable of which only subsets
        are known ``"lrt"`` alone.
    given
        The third variable, in a table of three.
    permutations
        Random tables, by default 999: within each group one column is
        shuffled against the other. For a third variable of which only
        subsets are known, samples simulated from the fitted null hypothesis,
        by default 199.
    null, df, budget, seed, progress
        As in `independence_test`.
    starts
        How often the fit of the null hypothesis is begun again, where only
        subsets of the third variable are known; of no use otherwise.

    Raises
    ------
    ArgumentError
        If it is not clear which variable is given.
    NoDataError
        If there is no group in which both variables vary.

    Warns
    -----
    BudgetWarning
        If fewer tables or samples were drawn than asked for.

    Notes
    -----
    Known groups: the statistics of the groups add up (Bonferroni's: the
    largest counts), and so do their degrees of freedom.

    Subsets of all three: the null hypothesis
    :math:`w_{xyz} = \pi_z f(x \mid z) g(y \mid z)` is a latent-class model. Its likelihood may have several maxima,
    so it is fitted from many starts, and the best one is not certified.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> from subsetprivacy.mechanism.publish import privatize
    >>> from subsetprivacy.tabulating import crosstab
    >>> x = privatize(list("abcd") * 100, uniform(list("abcd")), seed=1)
    >>> y = privatize(list("rstu") * 100, uniform(list("rstu")), seed=2)
    >>> wave = ["first"] * 200 + ["second"] * 200
    >>> conditional_independence_test(crosstab(x, y, by=wave), seed=1).df
    18
    """
    if given is not None and not isinstance(tables, Mapping):
        options = {"method": method, "null": null, "df": df}
        settings = read_permutation_options(199 if permutations is None else permutations, budget, seed, progress)
        return run_latent_test(tables, given, options, settings, starts)
    if not isinstance(tables, Mapping) or not tables:
        names: tuple[str, ...] = getattr(tables, "names", ())
        raise ArgumentError(
            "`tables` must be a dict with a table for each group, or a table of three variables with `given`; got "
            f"{type(tables).__name__}.",
            NAME_THE_GIVEN(name=repr(names[-1])) if len(names) > 2 else CROSS_BY_GROUP,
        )
    if given is not None:
        raise ArgumentError("`given` must be left out where the groups are known: they are the keys of the dict.")
    crossings, left_out = _groups(tables)
    first = next(iter(crossings.values()))
    where = f"each of {len(crossings)} groups" if len(crossings) > 1 else "the one group that can be tested"
    hypothesis = f"{first.first.name} and {first.second.name} are independent in {where}"
    settings = read_permutation_options(999 if permutations is None else permutations, budget, seed, progress)
    result = conduct(crossings, method, hypothesis, null, df, settings, grouped=True)
    return evolve(result, remarks=left_out)


def _groups(tables: Mapping[Label, Any]) -> tuple[dict[Label, Crossing], tuple[Note, ...]]:
    """Return the groups that can be tested, and notes about the people of the others."""
    crossings: dict[Label, Crossing] = {}
    alike: dict[Label, JointCounts] = {}
    for group, given in tables.items():
        table = read_table(given)
        if group is None:
            continue
        table.design.require_identifiable()
        try:
            crossing = cross(table)
        except (NoDataError, NotIdentifiableError):
            alike[group] = table
            continue
        if crossings and crossing.table.names != next(iter(crossings.values())).table.names:
            raise ArgumentError("`tables` must be of the same two variables in every group.")
        crossings[group] = crossing
    if not crossings:
        raise NoDataError("there must be a group in which both variables vary; got none.")
    return crossings, (*_left_out(alike), *without_group(tables))


def _left_out(alike: Mapping[Label, JointCounts]) -> list[Note]:
    """Say how many groups cannot be tested, and how many people they are."""
    if not alike:
        return []
    people = sum(table.n for table in alike.values())
    missing = sum(table.n_missing for table in alike.values())
    groups = counted(len(alike), "group")  # whose names may be people's
    text = (
        f"Left out, because a variable does not vary there: {groups}, with {counted(people, 'complete row')} and "
        f"{missing:.0f} that lack an answer."
    )
    return [Note(NoteKind.LEFT_OUT, text)]


def without_group(groups: Mapping[Label, Any]) -> list[Note]:
    """Say how many people are left out because their group is missing."""
    if None not in groups:
        return []
    counts = as_counts(groups[None])
    if counts.squares is not None:
        rows = f"{counts.counts.sum():.0f} of the weight"
    else:
        rows = counted(counts.n + counts.n_missing, "row")
    return [Note(NoteKind.LEFT_OUT, f"Left out, because their group is missing: {rows}.")]
