"""Whether two variables are independent, or one is the same in several groups."""

from pathlib import Path
from typing import Any, get_args

import click

from subsetprivacy._choices import Form, IndependenceMethod, Missing, WeightsKind
from subsetprivacy.cli import options
from subsetprivacy.cli.audience import sets
from subsetprivacy.cli.count import counts_of
from subsetprivacy.cli.progress import Progress
from subsetprivacy.cli.show import echo_json, echo_table

METHODS: tuple[IndependenceMethod, ...] = get_args(IndependenceMethod)


@click.command(short_help="Test independence, or whether groups differ.")
@options.table
@click.argument("columns", nargs=-1, required=True, metavar="A[=DESIGN] [B[=DESIGN]]")
@click.option("--method", type=click.Choice(METHODS), default="lrt", show_default=True, help="The statistic.")
@click.option(
    "--permutations",
    type=click.IntRange(min=0),
    help="Random tables that the p-value rests on; 0 for the limit law. [default: 999; 199 given subsets]",
)
@click.option("--seed", type=click.IntRange(min=0), help="Of the random tables; to repeat a run.")
@click.option("--by", multiple=True, metavar="COLUMN", help="Test whether A differs between the groups of a column.")
@click.option("--given", metavar="C", help="A third column: test within its groups, or given its subsets.")
@click.option("--weights", metavar="COLUMN", help="A weight for each row; say --weights-kind as well.")
@click.option("--weights-kind", type=click.Choice(["sampling", "frequency"]), help="What the weights are.")
@options.form
@options.missing
@options.as_json
@sets(columns="A, B", column="A or B", designs="NAME=DESIGN", groups="the groups of --by")
def test(
    table: Path,
    columns: tuple[str, ...],
    method: IndependenceMethod,
    permutations: int | None,
    seed: int | None,
    by: tuple[str, ...],
    given: str | None,
    weights: str | None,
    weights_kind: WeightsKind | None,
    form: Form | None,
    missing: Missing,
    as_json: bool,
) -> None:
    """Test whether the columns A and B of TABLE are independent, from their subsets.

    A single column A is for two variables that were joined; or, with --by, for a column
    whose distribution may differ between groups that were published as they are.

    \b
    Examples:
      subsetprivacy test private.parquet race sex_income --permutations 999
      subsetprivacy test private.parquet race income --given region --json
      subsetprivacy test private.parquet race --by region
    """
    _check(columns, by, given)
    options.check_weights(weights, weights_kind)
    release, names = options.open_release(table, columns, None, form)
    settings: dict[str, Any] = {"weights": weights, "weights_kind": weights_kind, "missing": missing}
    run: dict[str, Any] = {"seed": seed} if permutations is None else {"seed": seed, "permutations": permutations}
    if by:
        found = _of_groups(release, names, by, settings, method=method, **run)
    else:
        _check_several(release, names)
        found = _of_columns(release, names, given, settings, method=method, **run)
    if as_json:
        echo_json(found.to_dict())
    else:
        echo_table(found.summary())


def _check(columns: tuple[str, ...], by: tuple[str, ...], given: str | None) -> None:
    """Raise if the columns do not make a test, as far as their names tell."""
    if len(columns) > 2:
        raise click.UsageError("give one or two columns; a third one is --given")
    names = options.column_names(columns)
    if len(set(names)) < len(names):
        raise click.UsageError(f"A and B must be two columns; got {names[0]} twice")
    if given is not None and given in names:
        raise click.UsageError("--given must be another column than those that are tested")
    if by and (given is not None or len(columns) == 2):
        raise click.UsageError("--by is for one column A: whether it differs between groups. Of A and B, say --given")


def _check_several(release: Any, names: tuple[str, ...]) -> None:
    """Raise if there is one variable alone, which can be independent of nothing."""
    if len(names) == 1 and not hasattr(release.designs[names[0]].categories, "parts"):
        others = [name for name in release.names if name != names[0]]
        hint = f": {', '.join(others)}" if others else ""
        raise click.UsageError(
            f"give a second column, B{hint}; or --by COLUMN, whether {names[0]} differs between groups"
        )


def _of_groups(release: Any, names: tuple[str, ...], by: tuple[str, ...], settings: dict[str, Any], **run: Any) -> Any:
    """Test whether a column has the same distribution in all groups."""
    from subsetprivacy.independence import homogeneity_test

    hidden = [name for name in by if name in release.names and name not in names]
    if hidden:
        raise click.UsageError(f"--by must name columns that were published as they are; give {hidden[0]} as B")
    counted = counts_of(release, names, {"by": options.groups(by, names), **settings})
    with Progress("tables") as progress:
        return homogeneity_test(counted, progress=progress, **run)


def _of_columns(release: Any, names: tuple[str, ...], given: str | None, settings: dict[str, Any], **run: Any) -> Any:
    """Test whether two variables are independent, or are so given a third."""
    from subsetprivacy.independence import conditional_independence_test, independence_test

    with Progress("tables") as progress:
        run["progress"] = progress
        if given is None:
            return independence_test(counts_of(release, names, settings), **run)
        if given in release.names:
            return conditional_independence_test(release.crosstab(*names, given, **settings), given=given, **run)
        return conditional_independence_test(release.crosstab(*names, by=given, **settings), **run)
