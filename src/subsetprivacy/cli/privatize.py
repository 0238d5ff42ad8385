"""Publish subsets of the values of a table."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subsetprivacy.cli import options
from subsetprivacy.cli.categories import INFER, infer_labels
from subsetprivacy.cli.key import read_key
from subsetprivacy.cli.options import cores
from subsetprivacy.cli.progress import Progress
from subsetprivacy.cli.show import STANDARD_OUTPUT, echo_warning

if TYPE_CHECKING:
    from subsetprivacy.design import Design

MOST_MASKED = 48  # categories of a uniform design
LARGE = 1 << 22  # rows from which several processes are worth their start


@click.command(short_help="Replace values by random subsets that contain them.")
@options.table
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME[=DESIGN]",
    help="A column to publish, and its design document. May be given several times. A design of joined variables reads "
    "the columns that its variables are named after, and NAME is new. Left out for a product, which names its columns.",
)
@options.design
@INFER
@options.data_output("Where the subsets go: .parquet, .arrow or .csv.")
@click.option("--keep", multiple=True, metavar="COLUMN", help="Publish this column as it is. NOT private.")
@click.option("--keep-order", is_flag=True, help="Do not shuffle the rows. Whoever knows the order knows the people.")
@options.missing
@click.option("--key-file", type=options.document, help="A key: the same person gets the same subset every time.")
@click.option("--id", "identity", metavar="COLUMN", help="The column that tells people apart, for --key-file.")
@click.option("--codes", "form", flag_value="codes", help="Write codes to a CSV file.")
@click.option("--labels", "form", flag_value="labels", help="Write labels joined by a bar to a CSV file, the default.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes. [default: all cores, for large files]")
@click.option("--seed", type=click.IntRange(min=0), help="Repeat an experiment. NOT private: it undoes the draws.")
@options.force
def privatize(
    table: Path,
    columns: tuple[str, ...],
    design: Path | None,
    infer: bool,
    output: Path,
    keep: tuple[str, ...],
    keep_order: bool,
    missing: str,
    key_file: Path | None,
    identity: str | None,
    form: str | None,
    jobs: int | None,
    seed: int | None,
    force: bool,
) -> None:
    """Replace values of TABLE (.csv, .parquet, .arrow) by random subsets that contain them.

    Only the columns that are named are written, in a new order of the rows, and the
    designs with them. Any size: rows are read and written in a stream. A run that is
    stopped leaves no half file; the same command goes on where it stopped.

    Publish a person once. Two draws of one person tell more than one; with --key-file and
    --id, publishing again gives everybody the same subset.

    \b
    Examples:
      subsetprivacy privatize adult.csv --column race --design race.design.json \\
        -o private.parquet
      subsetprivacy privatize adult.csv --column race=race.design.json \\
        --column sex_income=sex_income.design.json -o private.csv
      subsetprivacy privatize wave2.csv --column race --design race.design.json \\
        --key-file secret.key --id person -o wave2.parquet
    """
    if output == STANDARD_OUTPUT:
        raise click.UsageError("--output must be a file, with which the design can travel")
    if (key_file is None) != (identity is None):
        raise click.UsageError("--key-file and --id go together: the draw is a function of both")
    options.check_apart(table, output)
    designs = _designs(table, columns, design, infer)
    key = None if key_file is None else read_key(key_file)
    _warn(keep_order, seed)
    settings: dict[str, Any] = {"missing": missing, "key": key, "id": identity, "keep": keep}
    settings |= {"keep_order": keep_order, "form": form, "overwrite": force, "seed": seed}
    try:
        with Progress("rows") as progress:
            release = _run(table, designs, output, jobs, progress=progress, **settings)
    except KeyboardInterrupt:
        click.echo(f"\nStopped. {_left(output)}", err=True)
        sys.exit(130)
    rows = "1 row" if release.rows == 1 else f"{release.rows:,} rows"
    named = "column" if len(release.names) == 1 else "columns"
    click.echo(f"Wrote {rows}, {named} {', '.join(release.names)}, to {output}.")
    click.echo(f"Next: subsetprivacy report {output} -o report.html")


def _run(table: Path, designs: Any, output: Path, jobs: int | None, **settings: Any) -> Any:
    from subsetprivacy.frames import privatize_table
    from subsetprivacy.frames.trouble import arrow

    arrow()  # says what to install
    return privatize_table(table, designs, output, jobs=jobs or _processes(table), **settings)


def _left(output: Path) -> str:
    from subsetprivacy.frames.staging import can_go_on

    again = "the same command goes on where it stopped" if can_go_on(output) else "the same command begins anew"
    return f"Nothing was published; {again}."


def _processes(table: Path) -> int:
    """Return how many processes to use: one for a table that is done before others have started."""
    from subsetprivacy.frames.sources import file_source

    return cores() if (file_source(table, []).rows or 0) > LARGE else 1


def _designs(table: Path, columns: tuple[str, ...], design: Path | None, infer: bool) -> Any:
    """Return the design of each column, or the product that names its columns itself."""
    if not columns:
        if design is None:
            raise click.UsageError("say which --column, with its design: --column NAME=DESIGN")
        return _product(design)
    designs: dict[str, Design] = {}
    for name, made in options.read_columns(columns, design).items():
        if made is None and not infer:
            raise click.UsageError(
                f"column {name} needs a design: --column {name}=DESIGN, or --design for a single column"
            )
        designs[name] = _fitting(infer_labels(table, name)) if made is None else made
    return designs


def _product(path: Path) -> "Design":
    from subsetprivacy.design import Product, load_design

    design = load_design(path)
    if not isinstance(design, Product):
        raise click.UsageError("say which --column the design is for; only a product names its columns")
    return design


def _fitting(labels: list[Any]) -> "Design":
    """Return the usual design for so many categories."""
    from subsetprivacy import design as designs

    if len(labels) < 4:
        return designs.small(labels)
    return designs.uniform(labels) if len(labels) <= MOST_MASKED else designs.hadamard(labels)


def _warn(keep_order: bool, seed: int | None) -> None:
    """Say on standard error what is not protected; of columns that are kept the library says it."""
    if keep_order:
        echo_warning("the rows keep their order: whoever has a list of the people in this order knows who is who.")
    if seed is not None:
        echo_warning("draws with --seed are not private: whoever knows the seed can undo them. For experiments only.")
