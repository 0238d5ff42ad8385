"""`subsetprivacy example`: data to try the other commands on."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from subsetprivacy.cli.files import FORMATS, STANDARD_OUTPUT, TABLES, ending_of, target
from subsetprivacy.cli.options import data_output, force, output_format
from subsetprivacy.cli.show import csv_text, say, write_text


@click.group(short_help="Write a table of people to try things on.")
def example() -> None:
    """Write an example table of people, to try the commands on.

    \b
    Examples:
      subsetprivacy example adult -o adult.csv
      subsetprivacy example urn --people 2000 -o urn.csv
    """


@example.command()
@data_output(f"The file to write: {', '.join(TABLES)}. - is standard output.")
@output_format(FORMATS)
@force
def adult(output: Path, format: str | None, force: bool) -> None:
    """Write race, sex and income of the 32,561 people of the Adult data.

    The rows are rebuilt from the published counts and sorted by race, sex and income. They contain nothing about a
    person beyond these counts.

    \b
    Example:
      subsetprivacy example adult -o adult.csv
    """
    from subsetprivacy.examples import adult as people

    _write(people.rows(), output, format, force)


@example.command(short_help="Write the colors of balls drawn from the paper's urn.")
@click.option("--people", type=click.IntRange(min=1), default=2000, show_default=True, help="The number of rows.")
@click.option("--seed", type=click.IntRange(min=0), help="The seed, to repeat a run.")
@data_output(f"The file to write: {', '.join(TABLES)}. - is standard output.")
@output_format(FORMATS)
@force
def urn(people: int, seed: int | None, output: Path, format: str | None, force: bool) -> None:
    """Write the colors of balls drawn from the paper's urn: 1% black, 10% red, 20% green, 69% blue.

    \b
    Example:
      subsetprivacy example urn --people 2000 -o urn.csv
    """
    from subsetprivacy.examples import draw_urn

    _write({"color": draw_urn(people, seed=seed)}, output, format, force)


def _write(columns: Mapping[str, Sequence[Any]], output: Path, format: str | None, force: bool) -> None:
    ending = ending_of(output, TABLES, format, bare=True)
    with target(output, ending) as path:
        if ending.startswith(".csv"):
            write_text(csv_text(columns, zip(*columns.values(), strict=True)), path, force=force)
        else:
            _write_arrow(columns, path, ending, force)
    if output != STANDARD_OUTPUT:
        say(f"Wrote {output}.")


def _write_arrow(columns: Mapping[str, Sequence[Any]], path: Path, ending: str, force: bool) -> None:
    import pyarrow as pa

    from subsetprivacy.frames.files import replacing

    made = pa.table({name: pa.array(list(values)) for name, values in columns.items()})
    with replacing(path, overwrite=force) as draft:
        if ending == ".parquet":
            from pyarrow import parquet

            parquet.write_table(made, str(draft))
        else:
            with pa.ipc.new_file(str(draft), made.schema) as file:
                file.write_table(made)
