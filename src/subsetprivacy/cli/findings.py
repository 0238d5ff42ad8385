"""The options of commands that show findings, and the findings of a table."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subsetprivacy.cli import options
from subsetprivacy.cli.progress import ProgressLine
from subsetprivacy.cli.shell_wording import sets

if TYPE_CHECKING:
    from subsetprivacy.finding import Findings

Command = Callable[..., Any]
_table = options.FilePath(exists=True, path_type=Path, stdin=".csv", by_format=True)
_questions = options.FilePath(exists=True, dir_okay=False, path_type=Path, stdin=".csv")


def finding_options(command: Command) -> Command:
    """Add the options that control the findings."""
    for option in (
        options.form,
        options.design,
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            help="The seed of samples and random tables. [default: from the counts]",
        ),
        click.option(
            "--permutations",
            type=click.IntRange(min=0),
            default=999,
            show_default=True,
            help="How many random tables to draw for the p-values of pairs.",
        ),
        click.option("--no-tests", is_flag=True, help="Skip the tests of independence."),
        click.option(
            "--questions",
            type=_questions,
            help="How questions were asked and answered, for the checks of skipped questions and of a tendency to say "
            "yes: the file framings.csv of a survey export.",
        ),
        click.option("--earlier", type=_table, help="A table of an earlier wave with other people, to compare with."),
        click.option(
            "--by",
            multiple=True,
            metavar="COLUMN",
            help="Also show shares for each group in this column. May be repeated.",
        ),
        options.level,
        options.any_columns,
        options.table,
    ):
        command = option(command)
    return sets(what="TABLE", release="TABLE", columns="--column", weights="weights")(command)


def findings_of(
    table: Path,
    columns: tuple[str, ...],
    *,
    design: Path | None,
    form: Any,
    by: tuple[str, ...],
    earlier: Path | None,
    questions: Path | None,
    no_tests: bool,
    **settings: Any,
) -> "Findings":
    """Compute the findings of a table, showing progress."""
    from subsetprivacy.finding import findings
    from subsetprivacy.frames.reading import read_release

    release, names = options.open_release(table, columns, design, form, every=True)
    asked = None
    if questions is not None:
        from subsetprivacy.frames.questions import read_questions

        known = {name: release.designs[name] for name in names}
        read = read_questions(questions, known)
        asked = {name: counts for name, counts in read.items() if counts.asked}
        if not asked:
            raise click.UsageError(f"--questions must hold questions of {', '.join(names)}; it holds none of them")
    result = findings(
        release,
        columns=list(names),
        by=options.groups(by, names),
        earlier=None if earlier is None else read_release(earlier, options.read_designs(columns, design), form=form),
        questions=asked,
        tests=not no_tests,
        **settings,
    )
    with ProgressLine("steps") as progress:
        return result.compute(progress)
