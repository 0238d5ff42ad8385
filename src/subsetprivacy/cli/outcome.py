"""The outcome of `privatize`: what was written, what it reveals, and what a stopped run left behind."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from subsetprivacy._words import counted, plural
from subsetprivacy.cli.files import STANDARD_OUTPUT
from subsetprivacy.cli.show import echo_json, echo_warning, say

if TYPE_CHECKING:
    from subsetprivacy.frames.release import Release

Mark = tuple[int, int, int] | None
_LOOKED_AT = 1000  # rows


def marks(output: Path) -> tuple[Mark, Mark]:
    """Return marks that change when an output or its document is written again."""
    from subsetprivacy.frames.files import sidecar_of

    return _mark(output), _mark(sidecar_of(output))


def _mark(place: Path) -> Mark:
    try:
        status = place.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def describe_stop(output: Path, before: tuple[Mark, Mark]) -> str:
    """Describe what a stopped run left behind, and what to do.

    Parameters
    ----------
    output
        The output of the run.
    before
        Its `marks` when the run began.
    """
    from subsetprivacy.frames.staging import can_continue, stage_of

    table, document = (new is not None and new != old for new, old in zip(marks(output), before, strict=True))
    if table and document:
        shutil.rmtree(stage_of(output), ignore_errors=True)  # no longer needed, and it contains the order of the rows
        return f"Stopped, but only after everything was written: {output} is complete."
    command = "the same command with --force" if table else "the same command"
    what = f"{output} lacks its document" if table else "Nothing was published"
    if not can_continue(output):
        return f"Stopped. {what}; {command} starts over."
    return f"Stopped. {what}; {command} continues where it stopped. To discard it, delete {stage_of(output)}."


def give_up(output: Path) -> None:
    """Remove what a stopped run left behind, if it cannot continue because its input is gone."""
    from subsetprivacy.frames.staging import stage_of

    shutil.rmtree(stage_of(output), ignore_errors=True)


def print_outcome(release: "Release", output: Path, keep: Sequence[str], *, written: bool, as_json: bool) -> None:
    """Print what was written, or that the same job wrote it before, as text or JSON."""
    rows, names = release.rows, release.names
    if as_json:
        designs = {name: design.fingerprint for name, design in release.designs.items()}
        facts = {"rows": rows, "columns": list(names), "kept": list(keep), "written": written}
        echo_json({**facts, "output": str(output), "fingerprints": designs})
    else:
        number = counted(rows, "row")
        named = plural(len(names), "column")
        kept = f"; unchanged: {', '.join(keep)}" if keep else ""
        if not written:
            say(f"Nothing to do: the same job has already written {output}, {number}.")
            return
        where = "standard output" if output == STANDARD_OUTPUT else str(output)
        say(f"Wrote {number} to {where}: {named} {', '.join(names)}{kept}.", output)
        if output == STANDARD_OUTPUT and release.file.kind == "csv":
            again = "--column NAME=DESIGN"
            if "labels" not in release.stored.forms.values():
                again += " and --form codes"
            say(f"CSV on standard output has no place for designs. To read it, give them again with {again}.", output)
        elif output != STANDARD_OUTPUT and rows:
            say(f"Next: subsetprivacy report {output} -o report.html")


def warn(release: "Release", keep: Sequence[str], *, is_from_csv: bool) -> None:
    """Warn about the written rows: that there are none, that kept numbers became text, or that some are unique."""
    from subsetprivacy.errors import NotPrivateWarning

    if not release.rows:
        echo_warning("the table has no rows, so nothing was drawn and nothing can be estimated.")
    elif keep:
        numbers = _numbers_as_text(release, keep) if is_from_csv else []
        if numbers:
            echo_warning(
                f"{', '.join(numbers)}: numbers of a CSV file become text in Parquet and Arrow files, and models treat "
                f"text as categories. To analyze them as numbers, write a .csv file instead."
            )
        unique = release.unique_rows()
        together = ", ".join(keep)
        if unique is None:
            echo_warning(
                f"the number of unique rows in {together} was not counted: there are too many combinations, or the "
                f"cells cannot be compared."
            )
        elif unique:
            verb = plural(unique, "is", "are")
            these = "this" if len(keep) == 1 else "these"
            echo_warning(
                NotPrivateWarning(
                    f"{unique:,} of {counted(release.rows, 'row')} {verb} unique in {together}: anyone who knows "
                    f"{these} can find the row."
                )
            )


def _numbers_as_text(release: "Release", keep: Sequence[str]) -> list[str]:
    """Return kept columns of text whose first cells are all numbers, in a file that could store numbers."""
    from subsetprivacy.frames.data_file import all_numbers

    if release.file.kind == "csv":
        return []
    text = [name for name in keep if release.file.is_text(name)]
    sample = next(release.file.batches(text), None) if text else None
    return [
        name
        for name in text
        if sample is not None and all_numbers(sample.column(name).slice(0, _LOOKED_AT)) is not None
    ]
