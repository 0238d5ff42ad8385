"""`subsetprivacy check`: the findings of a table and the checks of its data, in a terminal."""

import sys
from pathlib import Path
from typing import Any, get_args

import click

from subsetprivacy._choices import Language
from subsetprivacy.cli import options
from subsetprivacy.cli.findings import finding_options, findings_of
from subsetprivacy.cli.show import line_width

LANGUAGES: tuple[Language, ...] = get_args(Language)


@click.command(short_help="Summarize a table of subsets and check its data.")
@finding_options
@click.option(
    "--language", type=click.Choice(LANGUAGES), default="en", show_default=True, help="The language of the text."
)
@click.option("--strict", is_flag=True, help="Exit with code 1 if a check raises an alarm.")
@options.as_json
def check(
    table: Path, columns: tuple[str, ...], language: Language, strict: bool, as_json: bool, **settings: Any
) -> None:
    """Summarize TABLE and check its data.

    The summary has the shares and tests of pairs of columns. The checks look for unfair draws, selective skips, a
    tendency to say yes, and random answers.

    All checks share one alarm level: if everyone is honest, the probability of any alarm is at most 1%. --json prints
    every number. The output is the same every time for the same table.

    \b
    Examples:
      subsetprivacy check private.parquet
      subsetprivacy check data/01-overtime.csv --questions framings.csv --strict
      subsetprivacy check private.parquet --json > findings.json
    """
    from subsetprivacy.presenting.text import findings_text
    from subsetprivacy.presenting.words import words_of

    findings = findings_of(table, columns, **settings)
    if as_json:
        click.echo(findings.to_json(), nl=False)
    else:
        click.echo(findings_text(words_of(language), findings, line_width()))
    if strict and findings.alarms:
        sys.exit(1)
