"""`subsetprivacy fit-test`: test whether a column has a known distribution."""

import csv
import json
from pathlib import Path
from typing import Any, get_args

import click

from subsetprivacy._choices import FitNull, Form, Missing, WeightsKind
from subsetprivacy.cli import options
from subsetprivacy.cli.count import counts_of
from subsetprivacy.cli.files import name_of, standard_input
from subsetprivacy.cli.labels import named_as, read_numbers
from subsetprivacy.cli.progress import ProgressLine
from subsetprivacy.cli.shell_wording import sets
from subsetprivacy.cli.show import echo_json, echo_table

NULLS: tuple[FitNull, ...] = get_args(FitNull)
FEWEST = 19  # samples that a p-value of 5% needs


@click.command("fit-test", short_help="Test whether a column fits a known distribution.")
@options.table
@options.columns
@click.option(
    "--reference",
    required=True,
    metavar="REF",
    help="The known distribution, as LABEL=0.2,LABEL=0.8 or as a file: .csv with the columns category and share, or "
    ".json with an object of shares by label. - is CSV on standard input.",
)
@click.option(
    "--null", type=click.Choice(NULLS), default="bootstrap", show_default=True, help="How to compute the p-value."
)
@click.option(
    "--replications",
    type=click.IntRange(min=FEWEST),
    default=999,
    show_default=True,
    help="How many samples to draw from the reference, for --null bootstrap.",
)
@click.option("--seed", type=click.IntRange(min=0), help="The seed of the samples, to repeat a run.")
@options.weighted
@options.design
@options.form
@options.missing
@options.as_json
@sets(data="TABLE")
def fit_test(
    table: Path,
    columns: tuple[str, ...],
    reference: str,
    null: FitNull,
    replications: int,
    seed: int | None,
    weights: str | None,
    weights_kind: WeightsKind | None,
    design: Path | None,
    form: Form | None,
    missing: Missing,
    as_json: bool,
) -> None:
    """Test whether a column of TABLE has a known distribution, for example from a census.

    The p-value comes from samples drawn from the known distribution. --null chi-square is faster, but approximate if
    a share is near 0.

    \b
    Examples:
      subsetprivacy fit-test private.parquet --column answer --reference no=0.6,maybe=0.3,yes=0.1
      subsetprivacy fit-test private.parquet --column race --reference census.csv --seed 1 --json
    """
    from subsetprivacy.estimation.fit_test import fit_test as run

    options.check_weights(weights, weights_kind)
    given = _read_reference(reference)
    release, names = options.open_release(table, columns, design, form)
    counted = counts_of(release, names, {"weights": weights, "weights_kind": weights_kind, "missing": missing})
    known: Any = named_as(counted.categories, given)
    with ProgressLine("samples") as progress:
        result = run(counted, known, null=null, replications=replications, seed=seed, progress=progress)
    if as_json:
        echo_json(result.to_dict())
    else:
        echo_table(result.summary())


def _read_reference(text: str) -> dict[str, float] | list[float]:
    """Return the known shares by label, from the option itself or from a file."""
    path = Path(text)
    if text == "-":
        return _read_file(standard_input(".csv"))
    if path.suffix.lower() not in (".csv", ".json"):
        return read_numbers(text, "--reference")
    if not path.is_file():
        raise click.BadParameter(f"the file {text} does not exist", param_hint="--reference")
    return _read_file(path)


def _read_file(path: Path) -> dict[str, float]:
    """Read the shares by label from a file.

    Raises
    ------
    DataFileError
        If it has none. The message shows no cells.
    """
    from subsetprivacy.frames.file_errors import file_error, file_error_from
    from subsetprivacy.messages.for_files import REFERENCE_FILE

    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise file_error_from(path, error) from None
    try:
        pairs = _of_json(text) if path.suffix.lower() == ".json" else _of_csv(text)
        shares = [(_text(label), float(share)) for label, share in pairs]
    except (ValueError, TypeError, KeyError, csv.Error, RecursionError):
        raise file_error(name_of(path), "must have a category and its share in each row", REFERENCE_FILE) from None
    by_label = dict(shares)
    if len(by_label) < len(shares):
        raise file_error(name_of(path), "must name every category once; one is there twice")
    return by_label


def _of_csv(text: str) -> list[tuple[Any, Any]]:
    rows = csv.DictReader(text.splitlines(), strict=True)
    return [(row["category"], row["share"]) for row in rows]


def _of_json(text: str) -> list[tuple[Any, Any]]:
    """Return the pairs of an object of shares by label, or of a list of objects with category and share."""
    content = json.loads(text, object_pairs_hook=_Pairs)
    if isinstance(content, _Pairs):
        return list(content)
    return [(dict(row)["category"], dict(row)["share"]) for row in content]


class _Pairs(list[tuple[str, Any]]):
    """The pairs of a JSON object, including repeated names."""


def _text(label: Any) -> str:
    """Return a label as written in options; the parts of several variables are joined by &."""
    from subsetprivacy.tables import label_text

    return label_text(tuple(label) if isinstance(label, list) else label)
