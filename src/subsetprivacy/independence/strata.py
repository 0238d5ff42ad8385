"""`conditional_independence_test`: whether two variables are independent given a third."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve

from subsetprivacy._choices import DegreesOfFreedom, IndependenceMethod, NullMethod
from subsetprivacy._types import Label, Seed
from subsetprivacy._words import counted
from subsetprivacy.data import JointCounts, SubsetCounts, SubsetData, SubsetTable, only_known, without_group
from subsetprivacy.errors import ArgumentError, NoDataError, NotIdentifiableError
from subsetprivacy.independence.crossing import Crossing, cross
from subsetprivacy.independence.latent import run_latent_test
from subsetprivacy.independence.result import IndependenceResult
from subsetprivacy.independence.testing import BUDGET, read_permutation_options, read_table, run_test
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
        If the third variable is known, a table for each of its values, as
        ``crosstab(a, b, by=z)`` returns. If it is private too, a table of
        three variables, with its name as `given`.
    method
        As in `independence_test`; only ``"lrt"`` for a private third variable.
    given
        The third variable, in a table of three.
    permutations
        The number of random tables, by default 999. Within each group, one
        column is permuted against the other. For a private third variable,
        the number of samples simulated from the fitted null hypothesis, by
        default 199.
    null, df, budget, seed, progress
        As in `independence_test`.
    starts
        The number of starts of the fit of the null hypothesis, for a private
        third variable; ignored otherwise.

    Raises
    ------
    ArgumentError
        If it is not clear which variable to condition on.
    NoDataError
        If no group has variation in both variables.

    Warns
    -----
    BudgetWarning
        If fewer tables or samples were drawn than requested.

    Notes
    -----
    For known groups, the statistics of the groups add up (for Bonferroni, the
    largest counts), and so do their degrees of freedom.

    If all three variables are private, the null hypothesis
    :math:`w_{xyz} = \pi_z f(x \mid z) g(y \mid z)` is a latent-class model. Its likelihood may have several maxima, so
    it is fitted from many starts, without a certificate for the best one.

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
        raise ArgumentError("`given` must be left out if the groups are known: they are the keys of the dict.")
    crossings, left_out = _groups(tables)
    first = next(iter(crossings.values()))
    where = f"each of {len(crossings)} groups" if len(crossings) > 1 else "the one group that can be tested"
    hypothesis = f"{first.first.name} and {first.second.name} are independent in {where}"
    settings = read_permutation_options(999 if permutations is None else permutations, budget, seed, progress)
    result = run_test(crossings, method, hypothesis, null, df, settings, grouped=True)
    return evolve(result, remarks=left_out)


def _groups(tables: Mapping[Label, Any]) -> tuple[dict[Label, Crossing], tuple[Note, ...]]:
    """Return the groups that can be tested, and notes on the people in the others."""
    crossings: dict[Label, Crossing] = {}
    alike: dict[Label, JointCounts] = {}
    read = {group: read_table(table) for group, table in tables.items()}
    for group, table in only_known(read).items():
        table.design.require_identifiable()
        try:
            crossing = cross(table)
        except (NoDataError, NotIdentifiableError):
            alike[group] = table
            continue
        if crossings and crossing.table.names != next(iter(crossings.values())).table.names:
            raise ArgumentError("`tables` must have the same two variables in every group.")
        crossings[group] = crossing
    if not crossings:
        raise NoDataError("both variables must vary in some group; got no such group.")
    return crossings, (*_left_out(alike), *without_group(read))


def _left_out(alike: Mapping[Label, JointCounts]) -> list[Note]:
    """Return a note on how many groups cannot be tested, and how many people they have."""
    if not alike:
        return []
    people = sum(table.n for table in alike.values())
    missing = sum(table.n_missing for table in alike.values())
    groups = counted(len(alike), "group")  # names may identify people
    text = (
        f"Left out, because a variable does not vary there: {groups}, with {counted(people, 'complete row')} and "
        f"{missing:.0f} that lack an answer."
    )
    return [Note(NoteKind.LEFT_OUT, text)]
