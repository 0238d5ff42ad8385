"""What became of a run of `privatize`: what it wrote, what that shows, and what a run that was stopped has left."""

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


def marks(output: Path) -> tuple[Mark, Mark]:
    """Return what tells an output and its document from others that are written there later."""
    from subsetprivacy.frames.files import sidecar_of

    return _mark(output), _mark(sidecar_of(output))


def _mark(place: Path) -> Mark:
    try:
        found = place.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def left(output: Path, before: tuple[Mark, Mark]) -> str:
    """Return what a run that was stopped has left, and what to do.

    Parameters
    ----------
    output
        What it was to write.
    before
        Its `marks` when the run began.
    """
    from subsetprivacy.frames.staging import can_go_on, stage_of

    table, document = (new is not None and new != old for new, old in zip(marks(output), before, strict=True))
    if table and document:
        shutil.rmtree(stage_of(output), ignore_errors=True)  # of no use any more, and the order of the rows is in it
        return f"Stopped, but after everything was written: {output} is complete."
    again = "the same command with --force" if table else "the same command"
    what = f"{output} lacks its document" if table else "Nothing was published"
    if not can_go_on(output):
        return f"Stopped. {what}; {again} begins anew."
    return f"Stopped. {what}; {again} goes on where it stopped. To give it up, delete {stage_of(output)}."


def give_up(output: Path) -> None:
    """Remove what a run that was stopped has left, where it cannot go on: its input is gone."""
    from subsetprivacy.frames.staging import stage_of

    shutil.rmtree(stage_of(output), ignore_errors=True)


def tell(release: "Release", output: Path, keep: Sequence[str], *, written: bool, as_json: bool) -> None:
    """Say what was written, or that the same job had written it before, for people or machines."""
    rows, names = release.rows, release.names
    if as_json:
        designs = {name: design.fingerprint for name, design in release.designs.items()}
        facts = {"rows": rows, "columns": list(names), "kept": list(keep), "written": written}
        echo_json({**facts, "output": str(output), "fingerprints": designs})
    else:
        number = counted(rows, "row", comma=True)
        named = plural(len(names), "column")
        kept = f", kept as {'it is' if len(keep) == 1 else 'they are'}: {', '.join(keep)}" if keep else ""
        if not written:
            say(f"Nothing to do: the same job has written {output} before, {number}.")
            return
        where = "standard output" if output == STANDARD_OUTPUT else str(output)
        say(f"Wrote {number}, {named} {', '.join(names)}{kept}, to {where}.", output)
        if output != STANDARD_OUTPUT:
            say(f"Next: subsetprivacy report {output} -o report.html")


def warn(release: "Release", keep: Sequence[str]) -> None:
    """Say what only what was written can tell: that there are no rows, or that some stand alone."""
    from subsetprivacy.errors import NotPrivateWarning

    if not release.rows:
        echo_warning("the table has no rows: nothing was drawn, and nothing can be estimated.")
    elif keep:
        alone = release.alone()
        together = ", ".join(keep)
        if alone is None:
            echo_warning(
                f"how many rows are alone in {together} was not counted: there are too many combinations, or such "
                "cells cannot be compared."
            )
        elif alone:
            verb = plural(alone, "row is", "rows are")
            these = "this" if len(keep) == 1 else "these"
            echo_warning(
                NotPrivateWarning(
                    f"{alone:,} of {release.rows:,} {verb} alone in {together}: whoever knows {these} knows the row."
                )
            )
