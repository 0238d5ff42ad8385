"""One page with all that a table of subsets says."""

from pathlib import Path
from typing import Any

import click

from subsetprivacy._choices import Form
from subsetprivacy.cli import options
from subsetprivacy.cli.files import STANDARD_OUTPUT, ending_of
from subsetprivacy.cli.progress import Progress
from subsetprivacy.cli.show import say


@click.command(short_help="Write one HTML page about a table.")
@options.table
@options.any_columns
@options.level
@click.option("--no-tests", is_flag=True, help="Leave the tests of independence out.")
@click.option(
    "--permutations",
    type=click.IntRange(min=0),
    default=999,
    show_default=True,
    help="Random tables that the p-values rest on.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Of the random tables; to repeat a run.")
@click.option("--title", help="The heading.")
@options.design
@options.form
@options.output("The page to write, .html; by default report.html, - for standard output.")
@options.force
def report(
    table: Path,
    columns: tuple[str, ...],
    level: float,
    no_tests: bool,
    permutations: int,
    seed: int | None,
    title: str | None,
    design: Path | None,
    form: Form | None,
    output: Path | None,
    force: bool,
) -> None:
    """Write one HTML page about TABLE: estimates, intervals, leaks, tests, pictures, and how to read them.

    The page needs nothing else: no network, no other file.

    \b
    Example:
      subsetprivacy report private.parquet -o report.html
    """
    from subsetprivacy.report import report_html, write_report

    where = Path("report.html") if output is None else output
    options.check_apart(table, where)
    ending_of(where, (".html", ".htm"), bare=True)
    release, names = options.open_release(table, columns, design, form, every=True)
    settings: dict[str, Any] = {"columns": list(names), "level": level, "tests": not no_tests, "title": title}
    settings |= {"permutations": permutations, "seed": seed}
    if where == STANDARD_OUTPUT:
        click.echo(report_html(release, **settings), nl=False)
        return
    with Progress("steps") as progress:
        write_report(release, where, overwrite=force, progress=progress, **settings)
    say(f"Wrote {where}. Open it in a browser.")
