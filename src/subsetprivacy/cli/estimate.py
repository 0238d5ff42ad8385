"""`subsetprivacy estimate`: the distribution of the values, from their subsets."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import click

from subsetprivacy._choices import Estimator, Form, IntervalMethod, Missing, WeightsKind
from subsetprivacy.cli import options
from subsetprivacy.cli.count import counts_of
from subsetprivacy.cli.labels import merge, read_merges, with_merged
from subsetprivacy.cli.results import PICTURES, Presented, check_output, outputs
from subsetprivacy.cli.sampling_options import SamplingOptions, groups_of, rows_of
from subsetprivacy.cli.sampling_options import drawn as drawn_options
from subsetprivacy.cli.show import csv_text, echo_groups, echo_table

METHODS: tuple[Estimator, ...] = get_args(Estimator)
INTERVALS: tuple[IntervalMethod, ...] = get_args(IntervalMethod)


@click.command(short_help="Estimate a distribution from subsets.")
@options.table
@options.columns
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="mle",
    show_default=True,
    help="The estimator. mle is maximum likelihood, mom moments.",
)
@merge
@options.level
@click.option(
    "--interval",
    type=click.Choice(INTERVALS),
    default="auto",
    show_default=True,
    help="How to compute intervals. auto is adjusted, or wald where adjusted is slow or not needed.",
)
@click.option(
    "--simultaneous",
    is_flag=True,
    help="Make simultaneous intervals, which together contain all true shares at the confidence level.",
)
@options.grouped
@drawn_options()
@options.design
@options.form
@options.missing
@outputs
def estimate(
    table: Path,
    columns: tuple[str, ...],
    method: Estimator,
    merges: tuple[str, ...],
    level: float,
    interval: IntervalMethod,
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
    """Estimate the distribution of a column of TABLE from its subsets.

    With several columns it estimates their joint distribution, and with --by one distribution per group. To test
    differences between groups, use "subsetprivacy compare". If rows come from a complex sample, describe it with
    --strata, --clusters or --replicates, and the standard errors take it into account. If the people of TABLE are the
    whole population, --fpc 1 leaves the error of the random subsets only.

    \b
    Examples:
      subsetprivacy estimate private.parquet --column race
      subsetprivacy estimate private.parquet --column race --column sex_income --json
      subsetprivacy estimate private.csv --column race=race.design.json -o race.png
      subsetprivacy estimate private.parquet --column race --by region -o regions.png
      subsetprivacy estimate private.parquet --column race --weights w --weights-kind sampling \\
        --strata region --clusters school
      subsetprivacy estimate private.parquet --column race --fpc 1
      subsetprivacy estimate private.parquet --column race --simultaneous \\
        --merge "Other=Other,Amer-Indian-Eskimo"
    """
    options.check_no_overlap(table, output)
    options.check_weights(weights, weights_kind)
    ending = check_output(output, format, as_json)
    groups = read_merges(merges)
    _check(ending, interval, grouped=bool(by), merged=bool(groups), simultaneous=simultaneous)
    release, names = options.open_release(table, columns, design, form)
    settings = {"by": options.groups(by, names), "weights": weights, "weights_kind": weights_kind, "missing": missing}
    single = drawn.single(weights, weights_kind, release.file.names())
    if drawn.given and single is None:
        fitted = _of_rows(release, names, drawn, settings, by, method)
    else:
        counted = counts_of(release, names, settings)
        fitted = _estimated(counted, method, single, grouped=bool(by))
    shown: dict[str, Any] = {"level": level, "method": interval}
    together = {"simultaneous": True} if simultaneous else {}
    presented = (
        _of_groups(fitted, by, groups, shown, together) if by else _of_one(fitted, groups, {**shown, **together})
    )
    presented.give(output, ending, force=force, as_json=as_json)


def _check(ending: str, interval: IntervalMethod, *, grouped: bool, merged: bool, simultaneous: bool) -> None:
    """Raise if options exclude each other."""
    if merged and interval == "bootstrap":
        raise click.UsageError(
            "--interval bootstrap does not work with --merge; leave it out, or choose another interval"
        )
    if grouped and ending in PICTURES and (merged or simultaneous):
        raise click.UsageError(
            "a picture of groups cannot show --merge or --simultaneous; leave them out, or write .csv or .json"
        )


def _estimated(counted: Any, method: Estimator, sampling: Any, *, grouped: bool) -> Any:
    """Return the estimate for all rows, or one per group."""
    from subsetprivacy.estimation.dispatch import estimate as run
    from subsetprivacy.estimation.dispatch import estimate_many

    return estimate_many(counted, method, sampling=sampling) if grouped else run(counted, method, sampling=sampling)


def _of_rows(
    release: Any,
    names: tuple[str, ...],
    drawn: SamplingOptions,
    settings: dict[str, Any],
    by: tuple[str, ...],
    method: Estimator,
) -> Any:
    """Return the estimate for all rows, or one per group, under strata, clusters or replicates."""
    from subsetprivacy.estimation.dispatch import estimate as run
    from subsetprivacy.estimation.groups import EstimateBatch

    data, sampling = rows_of(release, names, drawn, settings["weights"], settings["weights_kind"], settings["missing"])
    if not by:
        return run(data, method, sampling=sampling)
    parts = groups_of(release, by, len(data))
    fits = tuple(run(data, method, sampling=sampling.within(inside)) for inside in parts.values())
    return EstimateBatch(fits, tuple(parts), by)


def _of_one(fit: Any, groups: dict[str, list[str]], shown: dict[str, Any]) -> Presented:
    """Return the estimate for all rows, in all output forms."""
    (fit,) = with_merged({None: fit}, groups).values()
    return Presented(
        facts=lambda: fit.to_dict(**shown),
        csv=lambda: _csv([((), fit.to_dict(**shown))], (), fit.categories),
        picture=lambda: fit.plot(**shown),
        echo=lambda: echo_table(fit.summary(**shown)),
    )


def _of_groups(
    batch: Any,
    by: tuple[str, ...],
    groups: dict[str, list[str]],
    shown: dict[str, Any],
    together: dict[str, Any],
) -> Presented:
    """Return the estimates of groups in all output forms: one table, or a separate table per group."""
    fits = with_merged(dict(batch.items()), groups)
    one_table = not groups and not together

    def facts() -> list[dict[str, Any]]:
        if one_table:
            return batch.to_dict(**shown)["groups"]
        return [{"group": group, **fit.to_dict(**shown, **together)} for group, fit in fits.items()]

    def echo() -> None:
        if one_table:
            echo_table(batch.summary(**shown))
        else:
            echo_groups([(group, fit.summary(**shown, **together)) for group, fit in fits.items()], by)

    def csv() -> str:
        names = [group if isinstance(group, tuple) else (group,) for group in fits]
        return _csv(list(zip(names, facts(), strict=True)), by, next(iter(fits.values())).categories)

    return Presented(facts=facts, csv=csv, picture=lambda: batch.plot(**shown), echo=echo)


def _csv(results: Sequence[tuple[tuple[Any, ...], dict[str, Any]]], by: tuple[str, ...], categories: Any) -> str:
    """Return CSV with a row per category and group, and a column per variable."""
    variables = category_columns(categories)
    lines = [
        (*group, *category_cells(label, variables), *numbers, facts["level"])
        for group, facts in results
        for label, *numbers in zip(*(facts[key] for key in _KEYS), strict=True)
    ]
    return csv_text([*by, *variables, *_KEYS[1:], "level"], lines)


_KEYS = ("categories", "estimate", "se", "lower", "upper")


def category_columns(categories: Any) -> tuple[str, ...]:
    """Return the CSV columns that contain the category: one per variable."""
    return tuple(getattr(categories, "names", ("category",)))


def category_cells(label: Any, variables: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the cells of a category in those columns."""
    from subsetprivacy.tables import label_text

    if len(variables) > 1:
        return tuple(label)
    return (label_text(tuple(label)) if isinstance(label, (list, tuple)) else label,)
