"""`subsetprivacy test`: test whether two variables are independent, or groups differ."""

from pathlib import Path
from typing import Any, get_args

import click

from subsetprivacy._choices import Alternative, Form, IndependenceMethod, Missing, WeightsKind
from subsetprivacy.cli import options
from subsetprivacy.cli.count import counts_of
from subsetprivacy.cli.labels import named_as, read_numbers
from subsetprivacy.cli.progress import ProgressLine
from subsetprivacy.cli.shell_wording import sets
from subsetprivacy.cli.show import echo_json, echo_table

_SCORES = (("scores", "--scores"), ("group_scores", "--group-scores"))
METHODS: tuple[IndependenceMethod, ...] = get_args(IndependenceMethod)
ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)


@click.command(short_help="Test independence, or whether groups differ.")
@options.table
@click.argument("columns", nargs=-1, required=True, metavar="A[=DESIGN] [B[=DESIGN]]")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    help="The test statistic, not for --trend. [default: lrt, the likelihood ratio]",
)
@click.option(
    "--permutations",
    type=click.IntRange(min=0),
    help="How many random tables to draw for the p-value. 0 uses the asymptotic distribution. [default: 999, or 199 "
    "given subsets]",
)
@click.option("--seed", type=click.IntRange(min=0), help="The seed of the random tables, to repeat a run.")
@click.option("--by", multiple=True, metavar="COLUMN", help="Test whether A differs between the groups in this column.")
@click.option("--given", metavar="C", help="A third column to condition on: its groups, or its subsets.")
@click.option(
    "--trend",
    is_flag=True,
    help="Test whether A, whose categories are ordered, rises or falls over the groups of --by; or B over A.",
)
@click.option(
    "--scores",
    metavar="1,2,3",
    help="For --trend: a number for each category of A (with --by) or of B, in order or as LABEL=1,LABEL=2.",
)
@click.option(
    "--group-scores",
    metavar="1,2,3",
    help="For --trend: a number for each group of --by, or for each category of A.",
)
@click.option(
    "--alternative",
    type=click.Choice(ALTERNATIVES),
    help="For --trend: whether it falls (less), rises (greater), or either. [default: two-sided]",
)
@options.weighted
@options.form
@options.missing
@options.as_json
@sets(data="A", columns="A, B", column="A or B", designs="NAME=DESIGN", groups="the groups of --by")
def test(
    table: Path,
    columns: tuple[str, ...],
    method: IndependenceMethod | None,
    permutations: int | None,
    seed: int | None,
    by: tuple[str, ...],
    given: str | None,
    trend: bool,
    scores: str | None,
    group_scores: str | None,
    alternative: Alternative | None,
    weights: str | None,
    weights_kind: WeightsKind | None,
    form: Form | None,
    missing: Missing,
    as_json: bool,
) -> None:
    """Test whether the columns A and B of TABLE are independent, from their subsets.

    Give a single column A if it joins two variables, or together with --by, to test whether its distribution differs
    between groups that were published unchanged.

    With --trend, test whether an ordered column rises or falls over ordered groups. Groups that are numbers serve as
    their own scores. Three or more words such as low, middle and high need --group-scores, or a column whose type
    declares their order.

    \b
    Examples:
      subsetprivacy test private.parquet race sex_income --permutations 999
      subsetprivacy test private.parquet race income --given region --json
      subsetprivacy test private.parquet race --by region
      subsetprivacy test private.parquet answer --by year --trend
      subsetprivacy test private.parquet answer --by pay --trend \\
        --group-scores low=1,middle=2,high=3
    """
    _check(columns, by, given)
    options.check_weights(weights, weights_kind)
    of_trend = {"scores": scores, "group_scores": group_scores, "alternative": alternative}
    _check_trend(trend, by, given, method, of_trend)
    read = {name: read_numbers(text, option) for name, option in _SCORES if (text := of_trend[name]) is not None}
    release, names = options.open_release(table, columns, None, form)
    settings: dict[str, Any] = {"weights": weights, "weights_kind": weights_kind, "missing": missing}
    run: dict[str, Any] = {"seed": seed} if permutations is None else {"seed": seed, "permutations": permutations}
    if not by:
        _check_several(release, names)
    if trend:
        result = _of_trend(release, names, by, settings, read, alternative=alternative or "two-sided", **run)
    elif by:
        result = _of_groups(release, names, by, settings, method=method or "lrt", **run)
    else:
        result = _of_columns(release, names, given, settings, method=method or "lrt", **run)
    if as_json:
        echo_json(result.to_dict())
    else:
        echo_table(result.summary())


def _check(columns: tuple[str, ...], by: tuple[str, ...], given: str | None) -> None:
    """Raise if the named columns do not define a test."""
    if len(columns) > 2:
        raise click.UsageError("give one or two columns, and a third with --given")
    names = options.column_names(columns)
    if len(set(names)) < len(names):
        raise click.UsageError(f"A and B must be two columns; got {names[0]} twice")
    if given is not None and given in names:
        raise click.UsageError("--given must be a column other than the tested ones")
    if by and (given is not None or len(columns) == 2):
        raise click.UsageError(
            "--by is for one column A, to test whether it differs between groups. With A and B, use --given"
        )


def _check_trend(
    trend: bool, by: tuple[str, ...], given: str | None, method: str | None, of_trend: dict[str, Any]
) -> None:
    """Raise if options belong to another test."""
    if not trend:
        for name, value in of_trend.items():
            if value is not None:
                raise click.UsageError(f"--{name.replace('_', '-')} is for --trend")
    elif given is not None or method is not None:
        raise click.UsageError(f"{'--method' if given is None else '--given'} is not for --trend; leave it out")
    elif len(by) > 1:
        raise click.UsageError("--trend needs the groups of a single column; give --by once")


def _check_several(release: Any, names: tuple[str, ...]) -> None:
    """Raise if there is only one variable."""
    if len(names) == 1 and not hasattr(release.designs[names[0]].categories, "parts"):
        others = [name for name in release.names if name != names[0]]
        hint = f": {', '.join(others)}" if others else ""
        raise click.UsageError(
            f"give a second column{hint}; or --by COLUMN, to test whether {names[0]} differs between groups"
        )


def _of_groups(release: Any, names: tuple[str, ...], by: tuple[str, ...], settings: dict[str, Any], **run: Any) -> Any:
    """Test whether a column has the same distribution in all groups."""
    from subsetprivacy.independence import homogeneity_test

    counted = _counts_by(release, names, by, settings)
    with ProgressLine("tables") as progress:
        return homogeneity_test(counted, progress=progress, **run)


def _counts_by(release: Any, names: tuple[str, ...], by: tuple[str, ...], settings: dict[str, Any]) -> Any:
    """Count a column in groups; raise if the groups are a column of subsets."""
    hidden = [name for name in by if name in release.names and name not in names]
    if hidden:
        raise click.UsageError(f"--by must name columns that were published unchanged; give {hidden[0]} as B")
    return counts_of(release, names, {"by": options.groups(by, names), **settings})


def _as_numbers(counted: Any) -> Any:
    """Return groups as numbers, in order, if all are numbers; a CSV file has only text."""
    from subsetprivacy.data import only_known
    from subsetprivacy.subsets import number_of

    numbers = {name: number_of(name) for name in only_known(counted)}
    named = {name: int(x) if x.is_integer() else x for name, x in numbers.items() if x is not None}
    if len(set(named.values())) < len(numbers):
        return counted
    unknown = {name: counts for name, counts in counted.items() if name not in named}
    return {named[name]: counted[name] for name in sorted(named, key=named.__getitem__)} | unknown


def _of_trend(
    release: Any,
    names: tuple[str, ...],
    by: tuple[str, ...],
    settings: dict[str, Any],
    scores: dict[str, Any],
    **run: Any,
) -> Any:
    """Test whether a column rises or falls over groups, or over another column."""
    from subsetprivacy.data import only_known
    from subsetprivacy.independence import trend_test

    if by:
        counted = _as_numbers(_counts_by(release, names, by, settings))
        labels = {"scores": release.designs[names[0]].categories, "group_scores": tuple(only_known(counted))}
    else:
        counted = counts_of(release, names, settings)
        first, *_, second = counted.categories.parts
        labels = {"scores": second, "group_scores": first}
    run |= {name: named_as(labels[name], given) for name, given in scores.items()}
    with ProgressLine("tables") as progress:
        return trend_test(counted, progress=progress, **run)


def _of_columns(release: Any, names: tuple[str, ...], given: str | None, settings: dict[str, Any], **run: Any) -> Any:
    """Test whether two variables are independent, or independent given a third."""
    from subsetprivacy.independence import conditional_independence_test, independence_test

    with ProgressLine("tables") as progress:
        run["progress"] = progress
        if given is None:
            return independence_test(counts_of(release, names, settings), **run)
        if given in release.names:
            return conditional_independence_test(release.crosstab(*names, given, **settings), given=given, **run)
        return conditional_independence_test(release.crosstab(*names, by=given, **settings), **run)
