"""Data to try the other commands on."""

from pathlib import Path

import click

from subsetprivacy.cli.options import data_output, force
from subsetprivacy.cli.show import STANDARD_OUTPUT, csv_text, write_text


@click.group(short_help="Write a table of people to try things on.")
def example() -> None:
    """Write a table of made-up or published people, to try things on.

    \b
    Examples:
      subsetprivacy example adult -o adult.csv
      subsetprivacy example urn --people 2000 -o urn.csv
    """


@example.command()
@data_output("The CSV file to write, or - for standard output.")
@force
def adult(output: Path, force: bool) -> None:
    """Write race, sex and income of the 32561 people of the Adult data.

    The rows are rebuilt from the published counts and sorted by race, sex and income,
    so they say what the counts say and nothing else of anybody.

    \b
    Example:
      subsetprivacy example adult -o adult.csv
    """
    from subsetprivacy.examples import adult as people

    columns = people.rows()
    _write(csv_text(columns, zip(*columns.values(), strict=True)), output, force)


@example.command()
@click.option("--people", type=click.IntRange(min=1), default=2000, show_default=True, help="How many rows.")
@click.option("--seed", type=click.IntRange(min=0), help="Repeat a run.")
@data_output("The CSV file to write, or - for standard output.")
@force
def urn(people: int, seed: int | None, output: Path, force: bool) -> None:
    """Write the colours of balls drawn from the paper's urn: 1 % black, 10 % red, 20 % green, 69 % blue.

    \b
    Example:
      subsetprivacy example urn --people 2000 -o urn.csv
    """
    from subsetprivacy.examples import draw_urn

    _write(csv_text(["colour"], ([colour] for colour in draw_urn(people, seed=seed))), output, force)


def _write(text: str, output: Path, force: bool) -> None:
    write_text(text, output, force=force)
    if output != STANDARD_OUTPUT:
        click.echo(f"Wrote {output}.")
