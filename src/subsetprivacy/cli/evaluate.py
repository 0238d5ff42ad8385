"""`subsetprivacy evaluate`: measures of a classifier when test labels are subsets."""

from pathlib import Path
from typing import Any, get_args

import click

from subsetprivacy._choices import (
    EvaluationInterval,
    EvaluationMeasure,
    EvaluationPicture,
    Form,
    Missing,
    WeightsKind,
)
from subsetprivacy.cli import options
from subsetprivacy.cli.estimate import category_cells, category_columns
from subsetprivacy.cli.files import name_of
from subsetprivacy.cli.options import FilePath
from subsetprivacy.cli.results import Presented, check_output, outputs
from subsetprivacy.cli.shell_wording import sets
from subsetprivacy.cli.show import csv_text, echo_table

MEASURES: tuple[EvaluationMeasure, ...] = get_args(EvaluationMeasure)
INTERVALS: tuple[EvaluationInterval, ...] = get_args(EvaluationInterval)
PICTURES: tuple[EvaluationPicture, ...] = get_args(EvaluationPicture)
_predictions = FilePath(exists=True, path_type=Path, stdin=".csv")


@click.command(short_help="Evaluate a classifier on a column of subsets.")
@options.table
@options.columns
@click.option(
    "--proba",
    type=_predictions,
    help="A file of predicted probabilities: one column per category, and the rows in the order of TABLE.",
)
@click.option(
    "--guess",
    metavar="COLUMN",
    help="The column with the predicted category, in the file of --proba or else in TABLE. [default: the most "
    "probable category]",
)
@click.option(
    "--compare", type=_predictions, help="The probabilities of a second classifier for the same rows, as in --proba."
)
@click.option(
    "--metric",
    "metrics",
    type=click.Choice(MEASURES),
    multiple=True,
    help="A measure to show. May be repeated. [default: all]",
)
@options.level
@click.option(
    "--interval",
    "method",
    type=click.Choice(INTERVALS),
    default="wald",
    show_default=True,
    help="How to compute intervals. logit keeps them between 0 and 1.",
)
@click.option(
    "--picture",
    type=click.Choice(PICTURES),
    default="measures",
    show_default=True,
    help="The picture that -o FILE.png draws.",
)
@options.weighted
@options.design
@options.form
@options.missing
@outputs
@sets(data="TABLE", metrics="--metric", method="--interval", kind="--picture")
def evaluate(
    table: Path,
    columns: tuple[str, ...],
    proba: Path | None,
    guess: str | None,
    compare: Path | None,
    metrics: tuple[EvaluationMeasure, ...],
    level: float,
    method: EvaluationInterval,
    picture: EvaluationPicture,
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
    """Evaluate a classifier on the subsets in a column of TABLE, without the true labels.

    It estimates, without bias, the accuracy, recall, precision, area under the curve and other measures that the true
    labels would give. Train the classifier on other people: it must not have seen the subsets of these.

    With --compare, it shows the differences between two classifiers, with paired intervals.

    \b
    Examples:
      subsetprivacy evaluate private.parquet --column race --proba predictions.csv
      subsetprivacy evaluate private.parquet --column race --guess predicted --json
      subsetprivacy evaluate test.parquet --proba new.csv --compare old.csv -o change.csv
      subsetprivacy evaluate test.parquet --proba new.csv --picture calibration -o new.png
    """
    from subsetprivacy.data import SubsetData
    from subsetprivacy.evaluation import evaluate as run

    _check(proba, guess, compare, method)
    options.check_weights(weights, weights_kind)
    for given in (table, proba, compare):
        if given is not None:
            options.check_no_overlap(given, output)
    ending = check_output(output, format, as_json)
    release, names = options.open_release(table, columns, design, form)
    if len(names) > 1:
        raise click.UsageError("evaluate takes one --column; name one of the variables")
    data = SubsetData(release.codes(names[0], missing=missing), release.designs[names[0]], names[0])
    arguments: dict[str, Any] = _predicted(table, proba, guess, compare, data.categories)
    result: Any = run(data, metrics=metrics or None, **arguments, **_weights(release, weights, weights_kind))
    asked: dict[str, Any] = {"level": level} if compare is not None else {"level": level, "method": method}
    shown = asked if compare is not None else {**asked, "kind": picture}
    Presented(
        facts=lambda: result.to_dict(**asked),
        csv=lambda: _csv(result, asked),
        picture=lambda: result.plot(**shown),
        echo=lambda: echo_table(result.summary(**asked)),
    ).give(output, ending, force=force, as_json=as_json)


def _check(proba: Path | None, guess: str | None, compare: Path | None, method: EvaluationInterval) -> None:
    """Raise if no option gives the predictions."""
    if proba is None and guess is None:
        raise click.UsageError("give --proba FILE, --guess COLUMN, or both")
    if compare is not None and (proba is None or guess is not None):
        raise click.UsageError("--compare compares probabilities: give --proba FILE as well, and no --guess")
    if compare is not None and method != "wald":
        raise click.UsageError("--interval is for one classifier; differences always have wald intervals")


def _predicted(table: Path, proba: Path | None, guess: str | None, compare: Path | None, categories: Any) -> Any:
    """Return the contents of the files as arguments of the library."""
    from subsetprivacy.frames.predictions import read_guesses
    from subsetprivacy.frames.probabilities import read_probabilities

    given: dict[str, Any] = {}
    if proba is not None:
        given["proba"] = read_probabilities(proba, categories)
    if guess is not None:
        given["guess"] = read_guesses(table if proba is None else proba, guess, categories)
    if compare is not None and proba is not None:
        given["compare"] = read_probabilities(compare, categories)
        names = Path(name_of(proba)).stem, Path(name_of(compare)).stem
        given["names"] = names if names[0] != names[1] else ("first", "second")
    return given


def _weights(release: Any, column: str | None, kind: WeightsKind | None) -> dict[str, Any]:
    """Return the named weights, or those stored with the table."""
    from subsetprivacy.frames.predictions import read_weights

    stored = release.stored.weights
    if column is None and stored is not None:
        column, kind = stored.column, stored.kind
    return {} if column is None else {"weights": read_weights(release, column), "weights_kind": kind}


def _csv(result: Any, asked: dict[str, Any]) -> str:
    """Return a row for each measure and category."""
    columns = result._columns(**asked)
    variables = category_columns(result.categories)
    numbers = [name for name in columns if name not in ("measure", "category")]
    cells = zip(columns["measure"], columns["category"], *(columns[name] for name in numbers), strict=True)
    blank = ("",) * len(variables)
    rows = [
        (measure, *(blank if label is None else category_cells(label, variables)), *values)
        for measure, label, *values in cells
    ]
    return csv_text(["measure", *variables, *numbers], rows)
