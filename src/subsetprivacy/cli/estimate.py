"""The distribution of the values, from their subsets."""

from pathlib import Path
from typing import Any, get_args

import click

from subsetprivacy._choices import Estimator, Form, IntervalMethod, Missing, WeightsKind
from subsetprivacy.cli import options
from subsetprivacy.cli.count import counts_of
from subsetprivacy.cli.files import STANDARD_OUTPUT, ending_of, target
from subsetprivacy.cli.show import csv_text, draw_to_files, echo_groups, echo_json, json_text, say, write_text

METHODS: tuple[Estimator, ...] = get_args(Estimator)
INTERVALS: tuple[IntervalMethod, ...] = get_args(IntervalMethod)
PICTURES = (".png", ".svg", ".pdf")
ENDINGS = (".csv", ".csv.gz", ".csv.zst", ".json", *PICTURES)
FORMATS = tuple(ending[1:] for ending in ENDINGS)


@click.command(short_help="Estimate a distribution from subsets.")
@options.table
@options.columns
@click.option("--method", type=click.Choice(METHODS), default="mle", show_default=True, help="The estimator.")
@options.level
@click.option("--interval", type=click.Choice(INTERVALS), default="auto", show_default=True, help="The intervals.")
@options.grouped
@options.design
@options.form
@options.missing
@options.output(
    "Write here instead of printing: .csv, .csv.gz, .csv.zst, .json, or a picture, .png, .svg, .pdf; - for standard "
    "output."
)
@options.output_format(FORMATS)
@options.force
@options.as_json
def estimate(
    table: Path,
    columns: tuple[str, ...],
    method: Estimator,
    level: float,
    interval: str,
    by: tuple[str, ...],
    weights: str | None,
    weights_kind: WeightsKind | None,
    design: Path | None,
    form: Form | None,
    missing: Missing,
    output: Path | None,
    format: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Estimate the distribution of a column of TABLE from its subsets.

    Several columns give their joint distribution, --by an estimate for each group.

    \b
    Examples:
      subsetprivacy estimate private.parquet --column race
      subsetprivacy estimate private.parquet --column race --column sex_income --json
      subsetprivacy estimate private.csv --column race=race.design.json -o race.png
    """
    options.check_apart(table, output)
    options.check_weights(weights, weights_kind)
    options.check_one_result(output, format, as_json)
    ending = _check_output(output, format, by)
    release, names = options.open_release(table, columns, design, form)
    settings = {"by": options.groups(by, names), "weights": weights, "weights_kind": weights_kind, "missing": missing}
    counted = counts_of(release, names, settings)
    fits = _fits(counted, method, bool(by))
    shown = {"level": level, "method": interval}
    if as_json:
        echo_json(_plain(fits, by, shown))
    if output is not None:
        with target(output, ending) as path:
            _write(fits, by, shown, path, ending, force)
        if output != STANDARD_OUTPUT:
            say(f"Wrote {output}.", err=as_json)
    elif not as_json:
        echo_groups([(group, fit.summary(**shown)) for group, fit in fits.items()], by)


def _fits(counted: Any, method: Estimator, grouped: bool) -> dict[Any, Any]:
    """Return the estimate of each group, or the one there is."""
    from subsetprivacy.estimation.dispatch import estimate as run
    from subsetprivacy.estimation.dispatch import estimate_many

    if not grouped:
        return {None: run(counted, method)}
    batch = estimate_many(counted, method)
    return dict(zip(batch.names, batch, strict=True))


def _check_output(output: Path | None, format: str | None, by: tuple[str, ...]) -> str:
    """Return what the name of the output ends in; raise, before anything is computed, if there is no such output."""
    if output is None:
        return ""
    ending = ending_of(output, ENDINGS, format)
    if ending in PICTURES:
        if by:
            raise click.UsageError("a picture is of one estimate; leave --by out, or write .csv or .json")
        draw_to_files("the picture needs")
    return ending


def _plain(fits: dict[Any, Any], by: tuple[str, ...], shown: dict[str, Any]) -> Any:
    """Return the numbers of the one estimate, or a list with an object for each group."""
    found = [(group, fit.to_dict(**shown)) for group, fit in fits.items()]
    return [{"group": group, **facts} for group, facts in found] if by else found[0][1]


def _csv(fits: dict[Any, Any], by: tuple[str, ...], shown: dict[str, Any]) -> str:
    """Return a row for each category, and group; a column for each of several variables."""
    lines, variables = [], ("category",)
    for group, fit in fits.items():
        variables = getattr(fit.categories, "names", variables)
        facts = fit.to_dict(**shown)
        held = () if not by else group if isinstance(group, tuple) else (group,)
        for label, *numbers in zip(*(facts[key] for key in _KEYS), strict=True):
            parts = label if len(variables) > 1 else (label,)
            lines.append((*held, *parts, *numbers, shown["level"]))
    return csv_text([*by, *variables, *_KEYS[1:], "level"], lines)


_KEYS = ("categories", "estimate", "se", "lower", "upper")


def _write(
    fits: dict[Any, Any], by: tuple[str, ...], shown: dict[str, Any], output: Path, ending: str, force: bool
) -> None:
    from subsetprivacy.frames.files import replacing

    if ending in PICTURES:
        picture = next(iter(fits.values())).plot(**shown)
        with replacing(output, overwrite=force) as draft:
            getattr(picture, "figure", picture).savefig(draft, dpi=150, format=ending[1:])
        return
    text = json_text(_plain(fits, by, shown)) + "\n" if ending == ".json" else _csv(fits, by, shown)
    write_text(text, output, force=force)
