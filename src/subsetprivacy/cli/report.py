"""`subsetprivacy report`: one HTML page about a table of subsets."""

from pathlib import Path
from typing import Any, get_args

import click

from subsetprivacy._choices import Language
from subsetprivacy.cli import options
from subsetprivacy.cli.files import STANDARD_OUTPUT, ending_of
from subsetprivacy.cli.findings import finding_options, findings_of
from subsetprivacy.cli.show import say

LANGUAGES: tuple[Language, ...] = get_args(Language)


@click.command(short_help="Write one HTML page about a table.")
@finding_options
@click.option("--title", help="The heading of the page.")
@click.option(
    "--language", type=click.Choice(LANGUAGES), default="en", show_default=True, help="The language of the page."
)
@options.output("The .html file to write. - is standard output. [default: report.html]")
@options.force
def report(
    table: Path,
    columns: tuple[str, ...],
    title: str | None,
    language: Language,
    output: Path | None,
    force: bool,
    seed: int | None,
    **settings: Any,
) -> None:
    """Write one HTML page about TABLE: estimates, checks, privacy, tests, pictures, and how to read them.

    The page is self-contained: it needs no network and no other file. To make a PDF, print it from a browser.

    \b
    Examples:
      subsetprivacy report private.parquet -o report.html
      subsetprivacy report private.parquet --by region --earlier last-year.parquet
    """
    from subsetprivacy.report.writing import report_html, require_target, write_report

    where = Path("report.html") if output is None else output
    options.check_no_overlap(table, where)
    ending_of(where, (".html", ".htm"), bare=True)
    if where != STANDARD_OUTPUT:
        require_target(where, overwrite=force)  # before minutes of work
    findings = findings_of(table, columns, seed=seed, **settings)
    page: dict[str, Any] = {"columns": list(findings.names) if columns else None, "title": title, "language": language}
    if where == STANDARD_OUTPUT:
        click.echo(report_html(findings, seed=seed, **page), nl=False)
        return
    write_report(findings, where, seed=seed, overwrite=force, **page)
    say(f"Wrote {where}. Open it in a browser.")
