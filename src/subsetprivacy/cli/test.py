"""Whether two variables are independent."""

from pathlib import Path
from typing import Any

import click

from subsetprivacy.cli import options
from subsetprivacy.cli.count import counts_of
from subsetprivacy.cli.progress import Progress
from subsetprivacy.cli.show import echo_json, echo_table

METHODS = ("lrt", "lrt-mom", "pearson", "pearson-conditional", "bonferroni")


@click.command(short_help="Test whether two columns are independent.")
@options.table
@click.argument("columns", nargs=-1, required=True, metavar="A[=DESIGN] [B[=DESIGN]]")
@click.option("--method", type=click.Choice(METHODS), default="lrt", show_default=True, help="The statistic.")
@click.option(
    "--permutations",
    type=click.IntRange(min=0),
    help="Random tables that the p-value rests on; 0 for the limit law. [default: 999; 199 given subsets]",
)
@click.option("--seed", type=click.IntRange(min=0), help="Of the random tables; to repeat a run.")
@click.option("--given", metavar="C", help="A third column: test within its groups, or given its subsets.")
@click.option("--weights", metavar="COLUMN", help="A weight for each row; say --weights-kind as well.")
@click.option("--weights-kind", type=click.Choice(["sampling", "frequency"]), help="What the weights are.")
@options.form
@options.missing
@options.as_json
def test(
    table: Path,
    columns: tuple[str, ...],
    method: str,
    permutations: int | None,
    seed: int | None,
    given: str | None,
    weights: str | None,
    weights_kind: str | None,
    form: str | None,
    missing: str,
    as_json: bool,
) -> None:
    """Test whether the columns A and B of TABLE are independent, from their subsets.

    A single column A is for two variables that were joined.

    \b
    Examples:
      subsetprivacy test private.parquet race sex_income --permutations 999
      subsetprivacy test private.parquet race income --given region --json
    """
    from subsetprivacy.independence import conditional_independence_test, independence_test

    if len(columns) > 2:
        raise click.UsageError("give one or two columns; a third one is --given")
    if given is not None and given in columns:
        raise click.UsageError("--given must be another column than those that are tested")
    release, names = options.open_release(table, columns, None, form)
    settings: dict[str, Any] = {"weights": weights, "weights_kind": weights_kind, "missing": missing}
    run: dict[str, Any] = {"seed": seed} if permutations is None else {"seed": seed, "permutations": permutations}
    with Progress("tables") as progress:
        run["progress"] = progress
        if given is None:
            found = independence_test(counts_of(release, names, settings), method, **run)
        elif given in release.names:
            table_of_three = release.crosstab(*names, given, **settings)
            found = conditional_independence_test(table_of_three, method, given=given, **run)
        else:
            groups = release.crosstab(*names, by=given, **settings)
            found = conditional_independence_test(groups, method, **run)
    if as_json:
        echo_json(found.to_dict())
    else:
        echo_table(found.summary())
