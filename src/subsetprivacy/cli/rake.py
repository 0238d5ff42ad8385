"""`subsetprivacy rake`: weights that agree with known margins."""

import json
from pathlib import Path
from typing import Any, get_args

import click

from subsetprivacy._choices import CalibrationMethod, Form, Missing, WeightsKind
from subsetprivacy.cli import options
from subsetprivacy.cli.files import STANDARD_OUTPUT, ending_of, target
from subsetprivacy.cli.labels import by_text
from subsetprivacy.cli.sampling_options import SamplingOptions
from subsetprivacy.cli.sampling_options import drawn as drawn_options
from subsetprivacy.cli.shell_wording import sets
from subsetprivacy.cli.show import csv_text, echo_json, echo_table, say, write_text

ENDINGS = (".csv", ".csv.gz", ".csv.zst")
METHODS: tuple[CalibrationMethod, ...] = get_args(CalibrationMethod)


@click.command(short_help="Compute weights that agree with known margins.")
@options.table
@click.argument("margins", type=options.document)
@click.option(
    "--method", type=click.Choice(METHODS), default="raking", show_default=True, help="How to change the weights."
)
@click.option("--bounds", metavar="LOW,HIGH", help="The smallest and the largest ratio of a new to an old weight.")
@click.option("--population", type=float, help="The size of the population, if margins are shares.")
@options.weighted
@drawn_options()
@options.any_columns
@options.form
@options.missing
@options.output("Write the new weight of each row to this file: .csv, .csv.gz, .csv.zst. - is standard output.")
@options.output_format([ending[1:] for ending in ENDINGS])
@options.force
@options.as_json
@sets(data="TABLE", margins="MARGINS")
def rake(
    table: Path,
    margins: Path,
    method: CalibrationMethod,
    bounds: str | None,
    population: float | None,
    weights: str | None,
    weights_kind: WeightsKind | None,
    drawn: SamplingOptions,
    columns: tuple[str, ...],
    form: Form | None,
    missing: Missing,
    output: Path | None,
    format: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Compute weights for the rows of TABLE that agree with known MARGINS.

    MARGINS is a JSON file: {"sex": {"f": 0.52, "m": 0.48}, "race": {"White": 800, "Black": 200}}. A margin gives
    shares or totals. For a column of numbers, give the mean as a number. For a column of subsets, the margin is
    matched through unbiased indicators. The new weights are in the order of the rows.

    \b
    Examples:
      subsetprivacy rake private.parquet margins.json
      subsetprivacy rake private.parquet margins.json --weights w --weights-kind sampling -o weights.csv
      subsetprivacy rake private.parquet margins.json --method logit --bounds 0.3,3 --json
    """
    from subsetprivacy.raking import rake as run

    for given in (table, margins):
        options.check_no_overlap(given, output)
    options.check_weights(weights, weights_kind)
    options.check_one_result(output, format, as_json)
    ending = "" if output is None else ending_of(output, ENDINGS, format)
    known = _margins(margins)
    release, _ = options.open_release(table, columns, None, form, every=True)
    seen_columns, known = _columns(release, known, missing)
    sampling = _sampling(release, drawn, weights, weights_kind)
    made = run(seen_columns, known, sampling=sampling, method=method, bounds=_bounds(bounds), population=population)
    if as_json:
        echo_json(made.to_dict())
    if output is None:
        if not as_json:
            echo_table(made.summary())
        return
    with target(output, ending) as path:
        write_text(csv_text(["weight"], ([weight] for weight in made.weights.tolist())), path, force=force)
    if output != STANDARD_OUTPUT:
        say(f"Wrote {output}.", err=as_json)


def _margins(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise click.BadParameter("must be a JSON file of margins by column", param_hint="MARGINS")
    return content


def _bounds(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    bounds = options.numbers(text, "--bounds")
    if len(bounds) != 2:
        raise click.BadParameter("must be two numbers, like 0.3,3", param_hint="--bounds")
    return bounds[0], bounds[1]


def _columns(release: Any, known: dict[str, Any], missing: Missing) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of the margins, and the margins by the labels of these columns."""
    from subsetprivacy.frames.people import cells_of, people_of, require_rows
    from subsetprivacy.tables import label_text

    require_rows(release)
    columns: dict[str, Any] = {}
    made: dict[str, Any] = {}
    for name, margin in known.items():
        if name in release.designs:
            columns[name] = people_of(release, [name], missing)
            labels = by_text(release.designs[name].categories)
            made[name] = {labels.get(label, label): amount for label, amount in _by_label(name, margin).items()}
        else:
            cells = cells_of(release, [name])[name]
            made[name] = margin
            # The labels of JSON are text, and so are numbers that name groups.
            columns[name] = (
                cells if not isinstance(margin, dict) else [_text(cell, label_text) for cell in cells.tolist()]
            )
    return columns, made


def _text(cell: Any, label_text: Any) -> Any:
    return None if cell is None else cell if isinstance(cell, str) else label_text(cell)


def _by_label(name: str, margin: Any) -> dict[str, Any]:
    if not isinstance(margin, dict):
        raise click.BadParameter(f"must have a number for each category of {name}", param_hint="MARGINS")
    return margin


def _sampling(release: Any, drawn: SamplingOptions, weights: str | None, kind: WeightsKind | None) -> Any:
    """Return the sampling, or None if no option describes it."""
    from subsetprivacy.frames.people import cells_of

    if weights is None and not drawn.given:
        return None
    named = drawn.sampling(weights, kind, release.file.names())
    return named.of(cells_of(release, named.columns))
