"""What a table of subsets says, and whether its data are sound, in a terminal."""

import sys
from pathlib import Path
from typing import Any

import click

from subsetprivacy.cli import options
from subsetprivacy.cli.findings import findings_of, found_by
from subsetprivacy.cli.show import echo_table


@click.command(short_help="Say what a table shows, and check its data.")
@found_by
@click.option("--strict", is_flag=True, help="Exit with status 1 if a check raises an alarm.")
@options.as_json
def check(table: Path, columns: tuple[str, ...], strict: bool, as_json: bool, **settings: Any) -> None:
    """Say what TABLE shows and check its data: shares, draws, skips, leaning, random answers, pairs of columns.

    All checks share one level of alarm: honest people raise any alarm with a probability of 1%. With --json every
    number is printed, the same bytes for the same table.

    \b
    Examples:
      subsetprivacy check private.parquet
      subsetprivacy check data/01-overtime.csv --questions framings.csv --strict
      subsetprivacy check private.parquet --json > findings.json
    """
    found = findings_of(table, columns, **settings)
    if as_json:
        click.echo(found.to_json(), nl=False)
    else:
        echo_table(found.summary())
        click.echo()
        echo_table(found.checks.summary())
        if found.pairs:
            click.echo()
            echo_table(found.pairs_summary())
    if strict and found.alarms:
        sys.exit(1)
