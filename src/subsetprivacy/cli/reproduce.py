"""`subsetprivacy reproduce`: the tables and figures of the paper."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import monotonic
from traceback import print_exception
from typing import Any

import click

from subsetprivacy._words import counted
from subsetprivacy.cli.files import name_of
from subsetprivacy.cli.options import FilePath
from subsetprivacy.cli.shell_wording import sets
from subsetprivacy.cli.show import draw_to_files, is_quiet, say
from subsetprivacy.cli.signals import end, terminable

OUTPUT = Path("results")


class Bar:
    """Progress of one experiment on standard error: a bar on a terminal, nothing elsewhere."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._bar: Any = None

    def start(self, total: int) -> None:
        """Show the bar; each part of an experiment starts it again."""
        self.close()
        if sys.stderr.isatty() and not is_quiet():
            self._bar = click.progressbar(length=total, label=f"  {self._label:24}", file=sys.stderr)
            self._bar.__enter__()

    def advance(self, steps: int) -> None:
        """Move it."""
        if self._bar is not None:
            self._bar.update(steps)

    def close(self) -> None:
        """End its line."""
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            self._bar = None


@click.command(short_help="Reproduce the paper's tables and figures.")
@click.argument("labels", nargs=-1, metavar="[LABEL]...")
@click.option("--quick", is_flag=True, help="Run fewer replications: minutes instead of a quarter of an hour.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="The seed of all random numbers."
)
@click.option("--jobs", type=click.IntRange(min=1), help="The number of processes. [default: the number of cores]")
@click.option(
    "-o",
    "--output",
    type=FilePath(file_okay=False, path_type=Path),
    default=OUTPUT,
    show_default=True,
    help="The folder for the results.",
)
@click.option("--again", is_flag=True, help="Run finished experiments again.")
@click.option(
    "--adult",
    "adult_file",
    type=FilePath(exists=True, dir_okay=False, path_type=Path, stdin=".data"),
    help="Your copy of the Adult data (adult.data). It is checked, and used instead of the included counts.",
)
@sets(label="LABEL")
def reproduce(
    labels: tuple[str, ...],
    quick: bool,
    seed: int,
    jobs: int | None,
    output: Path,
    again: bool,
    adult_file: Path | None,
) -> None:
    """Reproduce the paper's tables and figures, and compare the numbers with the printed ones.

    Without a LABEL, list all experiments. A LABEL is a label of the paper, a pattern such as 'fig:auc-*', or all.
    Each experiment writes its numbers (CSV) and a figure (SVG, PNG), and OUTPUT/index.html shows them all. Finished
    experiments are not run again, so a stopped run continues where it was. A full result also counts as the --quick
    one. All experiments take about 15 minutes on 2 cores, or 2 minutes with --quick. The exit code is 1 if a claim
    differs and no erratum explains it.

    \b
    Examples:
      subsetprivacy reproduce
      subsetprivacy reproduce toy_example tab:consistency
      subsetprivacy reproduce all --quick -o results
    """
    if not labels:
        _list(output)
        return
    from subsetprivacy.processes import ONE_THREAD, cores

    # Times are taken in this process, with one thread as in the others: threads that wait for each other on a busy
    # machine take many times as long.
    os.environ.update(ONE_THREAD)
    options = {"output": output, "quick": quick, "seed": seed, "jobs": jobs or cores(), "again": again}
    if adult_file is not None:
        from subsetprivacy.reproduce.adult_file import read_adult

        options |= {"adult": read_adult(adult_file), "source": "file"}
        say(f"{name_of(adult_file)} is the data file of the paper: 32,561 rows, all counts agree.")
    start = monotonic()
    try:
        with terminable():
            finished = _run_with_progress(labels, options)
    except KeyboardInterrupt as stop:
        end(stop, "Stopped. Finished experiments are kept, and the same command continues from there.")
    _close(finished, output, monotonic() - start)


def _run_with_progress(labels: tuple[str, ...], options: dict[str, Any]) -> list[Any]:
    """Run the experiments, with a bar for the running one and a line for each finished one."""
    from subsetprivacy.reproduce import reproduce as run

    draw_to_files("the figures need")
    bars: list[Bar] = []

    def progress(experiment: Any) -> Bar:
        bars.append(Bar(experiment.label))
        return bars[-1]

    finished = []
    for each in run(*labels, progress=progress, **options):
        if bars:
            bars.pop().close()
        finished.append(each)
        (click.echo if each.failed else say)(_line(each))
    return finished


def _list(output: Path) -> None:
    from subsetprivacy.reproduce import LABELS, load
    from subsetprivacy.reproduce.store import read

    for label in LABELS:
        record = read(output, label)
        click.echo(f"{label:24}  {load(label).title}{f'  [{_verdicts(record)}]' if record else ''}")
    click.echo("\nTo run some of them: subsetprivacy reproduce LABEL...")
    click.echo("To run all of them: subsetprivacy reproduce all. Add --quick for fewer replications.")


def _line(each: Any) -> str:
    if each.record is None:
        print_exception(each.error)  # to standard error, so that unexpected errors can be found
        message = getattr(each.error, "message", each.error)
        return f"✗ {each.label:24}  ended in an error: {type(each.error).__name__}: {message}"
    mark = "✗" if each.failed else "✓"
    took = "finished before" if each.before else f"{each.record.seconds:.1f} s"
    return f"{mark} {each.label:24}  {_verdicts(each.record)} ({took})"


def _verdicts(record: Any) -> str:
    return ", ".join(f"{many} {verdict}" for verdict, many in record.tally().items())


def _close(finished: list[Any], output: Path, seconds: float) -> None:
    for each in finished:
        for check in each.record.checks if each.record else ():
            if check.verdict == "differs":
                click.echo(
                    f"  {each.label}: {check.claim}: printed {check.printed or '-'}, obtained {check.obtained}, "
                    f"tolerance {check.tolerance}",
                    err=True,
                )
    failed = [each.label for each in finished if each.failed]
    many = counted(len(finished), "experiment")
    say(f"\n{many} in {seconds:.0f} s. Open {output / 'index.html'}")
    if failed:
        click.echo(f"Error: {len(failed)} failed: {', '.join(failed)}", err=True)
        sys.exit(1)
