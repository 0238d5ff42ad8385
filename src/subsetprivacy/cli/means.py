"""`subsetprivacy means`: means of a column by private category."""

from pathlib import Path
from typing import Any, get_args

import click

from subsetprivacy._choices import (
    DifferencesInterval,
    Form,
    MeansInterval,
    MeansModel,
    Missing,
    PairsOf,
    WeightsKind,
)
from subsetprivacy.cli import options
from subsetprivacy.cli.results import PICTURES, Presented, check_output, outputs
from subsetprivacy.cli.sampling_options import SamplingOptions
from subsetprivacy.cli.sampling_options import drawn as drawn_options
from subsetprivacy.cli.shell_wording import sets
from subsetprivacy.cli.show import csv_text, echo_table

INTERVALS: tuple[MeansInterval, ...] = get_args(MeansInterval)
MODELS: tuple[MeansModel, ...] = get_args(MeansModel)
PAIRS: tuple[PairsOf, ...] = get_args(PairsOf)


@click.command(short_help="Estimate means of a column by private category.")
@options.table
@options.columns
@click.option("--of", "outcome", metavar="COLUMN", required=True, help="The column of numbers to average.")
@click.option(
    "--given",
    multiple=True,
    metavar="COLUMN",
    help="A column that predicts the private one, to lower the variance. May be repeated.",
)
@click.option(
    "--quantile",
    "quantiles",
    type=float,
    multiple=True,
    help="A quantile to estimate. May be repeated. [default: 0.25, 0.5, 0.75]",
)
@click.option(
    "--model",
    type=click.Choice(MODELS),
    help="Assume this distribution of the numbers in each category. [default: no assumption]",
)
@options.level
@click.option(
    "--interval",
    "method",
    type=click.Choice(INTERVALS),
    default="auto",
    show_default=True,
    help="How to compute intervals.",
)
@click.option("--test", "test", is_flag=True, help="Test that all means are equal instead of showing them.")
@click.option(
    "--differences", "between", type=click.Choice(PAIRS), help="Show the differences of all pairs instead of means."
)
@click.option("--simultaneous", is_flag=True, help="With --differences: make simultaneous intervals.")
@options.grouped
@drawn_options()
@options.design
@options.form
@options.missing
@outputs
@sets(data="TABLE", y="--of", column="--column", method="--interval", designs="--design", quantiles="--quantile")
def means(
    table: Path,
    columns: tuple[str, ...],
    outcome: str,
    given: tuple[str, ...],
    quantiles: tuple[float, ...],
    model: MeansModel | None,
    level: float,
    method: MeansInterval,
    test: bool,
    between: PairsOf | None,
    simultaneous: bool,
    by: tuple[str, ...],
    weights: str | None,
    weights_kind: WeightsKind | None,
    drawn: SamplingOptions,
    design: Path | None,
    form: Form | None,
    missing: Missing,
    output: Path | None,
    format: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Estimate the mean of a column of TABLE in each category of a private column.

    The column of --of must have been published unchanged. It contains numbers, or 0 and 1 for rates. Repeat --column
    to get the means of all combinations of categories. Add --by to get means within known groups.

    \b
    Examples:
      subsetprivacy means private.parquet --column race --of income
      subsetprivacy means private.parquet --column race --of income --by sex -o means.png
      subsetprivacy means private.parquet --column race --of income --test
      subsetprivacy means private.parquet --column race --of income \\
        --differences categories --simultaneous --json
    """
    from subsetprivacy.frames.group_means import group_means

    options.check_no_overlap(table, output)
    options.check_weights(weights, weights_kind)
    ending = check_output(output, format, as_json)
    _check(ending, method, test=test, between=between, simultaneous=simultaneous)
    release, names = options.open_release(table, columns, design, form)
    result = group_means(
        outcome,
        release,
        column=list(names),
        by=options.groups(by, names),
        given=list(given) or None,
        weights=None if drawn.given else weights,
        weights_kind=None if drawn.given else weights_kind,
        sampling=drawn.sampling(weights, weights_kind, release.file.names()) if drawn.given else None,
        quantiles=quantiles or (0.25, 0.5, 0.75),
        model=model,
        missing=missing,
    )
    presented = _presented(result, level, method, test=test, between=between, simultaneous=simultaneous)
    presented.give(output, ending, force=force, as_json=as_json)


def _check(ending: str, method: MeansInterval, *, test: bool, between: PairsOf | None, simultaneous: bool) -> None:
    """Raise if options exclude each other."""
    if test and between is not None:
        raise click.UsageError("--test and --differences each replace the means; give only one of them")
    if test and ending in PICTURES:
        raise click.UsageError("--test has no picture; write .csv or .json")
    if (test or between is not None) and method != "auto":
        raise click.UsageError("--interval is for means; leave it out with --test and --differences")
    if simultaneous and between is None:
        raise click.UsageError("--simultaneous is for differences; add --differences")


def _presented(
    fitted: Any, level: float, method: MeansInterval, *, test: bool, between: PairsOf | None, simultaneous: bool
) -> Presented:
    """Return the requested result in all output forms."""
    result: Any = fitted
    asked: dict[str, Any] = {"level": level, "method": method}
    if test:
        result, asked = fitted.test(), {}
    elif between is not None:
        how: DifferencesInterval = "simultaneous" if simultaneous else "wald"
        result, asked = fitted.differences(between), {"level": level, "method": how}
    return Presented(
        facts=lambda: result.to_dict(**asked),
        csv=lambda: _csv(result._columns(**asked)),
        picture=lambda: result.plot(**asked),
        echo=lambda: echo_table(result.summary(**asked)),
    )


def _csv(columns: dict[str, Any]) -> str:
    """Return a row for each group, difference or test."""
    rows = [
        tuple("" if cell is None or cell != cell else cell for cell in row)
        for row in zip(*columns.values(), strict=True)
    ]
    return csv_text(list(columns), rows)
