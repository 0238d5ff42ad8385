"""`PrivatizePlan`: what a run of `privatize_table` will do."""

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Generic, Self, TypeVar

from attrs import field, frozen

from subsetprivacy._words import counted
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, NotPrivateWarning
from subsetprivacy.frames.jobs import RunOptions
from subsetprivacy.frames.kernel import Kernel
from subsetprivacy.frames.pipeline import Progress
from subsetprivacy.mechanism.publish import revealing_design
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_files import PREPARE_AGAIN
from subsetprivacy.results import Result
from subsetprivacy.tables import Table

Published = TypeVar("Published")


class PlanTask:
    """The work of a plan, which runs only once.

    Parameters
    ----------
    work
        Does the work, and returns what was published.
    close
        Closes the files.
    """

    def __init__(self, work: Callable[[Progress | None], Any], close: Callable[[], None] = lambda: None) -> None:
        self._work: Callable[[Progress | None], Any] | None = work
        self._close = close

    def run(self, progress: Progress | None) -> Any:
        """Run the work."""
        work = self._work
        if work is None:
            raise ArgumentError("a plan must be run once; this one was run, or closed, before.", PREPARE_AGAIN)
        try:
            self._work = None
            return work(progress)
        finally:
            self._close()

    def close(self) -> None:
        """Discard the work."""
        self._work = None
        self._close()


@frozen(slots=False, repr=False)
class PrivatizePlan(Result, Generic[Published]):
    """The plan of a run of `privatize_table`, made by `prepare`.

    Attributes
    ----------
    table
        The input: the path of a file, or the kind of a table.
    output
        The output; None if the subsets are only returned.
    designs
        The design of each column of subsets.
    read_from
        The columns with the values, for each column of subsets.
    keep
        Columns that are published unchanged.
    id
        The column that identifies people, if there is a key.
    rows
        The number of rows; None if it is not known.
    rows_are_exact
        Whether the number of rows is exact, or estimated from the size of the file.
    keep_order
        Whether the rows keep their order.
    jobs
        The number of processes.
    is_finished
        Whether the same job wrote the output before, so that `run` only opens it.
    notes
        Warnings about what is not protected.
    """

    why_not_restored: ClassVar[str] = "prepare it again, `sp.prepare(table, designs, output)`"

    table: str
    output: str | None
    designs: dict[str, Design]
    read_from: dict[str, tuple[str, ...]]
    keep: tuple[str, ...]
    id: str | None
    rows: int | None
    rows_are_exact: bool
    keep_order: bool
    jobs: int
    is_finished: bool
    notes: tuple[Note, ...]
    _warnings: tuple[str, ...] = field(eq=False)
    _task: PlanTask | None = field(eq=False)

    @classmethod
    def of(
        cls,
        table: str | Path,
        kernel: Kernel,
        output: str | Path | None,
        options: RunOptions,
        task: PlanTask,
        rows: int | None,
        rows_are_exact: bool,
        is_finished: bool = False,
    ) -> "PrivatizePlan[Any]":
        """Make the plan of a run that passed all checks."""
        revealing = [text for each in kernel.variables if (text := revealing_design(each.design))]
        kept = [_KEPT.format(", ".join(kernel.keep))] if kernel.keep else []
        notes = [Note(NoteKind.NOT_PRIVATE, _as_sentence(text)) for text in revealing]
        notes += [Note(NoteKind.NOT_PROTECTED, _as_sentence(text)) for text in kept]
        return cls(
            table=str(table),
            output=None if output is None else os.fspath(output),
            designs=kernel.designs,
            read_from={each.name: each.read_from for each in kernel.variables},
            keep=kernel.keep,
            id=kernel.id,
            rows=rows,
            rows_are_exact=rows_are_exact,
            keep_order=options.keep_order,
            jobs=options.jobs,
            is_finished=is_finished,
            notes=(*notes, *_notes_of(options)),
            warnings=(*revealing, *kept),
            task=task,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_task": None}  # open files and the key stay in this process

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Doing it ---------------------------------------------------------------------------------

    def run(self, *, progress: Progress | None = None) -> Published:
        """Draw the subsets, and write or return them.

        Parameters
        ----------
        progress
            Called with the number of finished rows and the total (None if not known yet).

        Returns
        -------
        table or Release
            As `privatize_table` returns it.

        Raises
        ------
        CategoryError
            If a value is missing or is not a category. The message gives the column, the count and the first row, never
            the value. Nothing is written.
        DataFileError
            If a file cannot be read or written.
        ArgumentError
            If the plan was run before, because two draws for one person can reveal the value.

        Warns
        -----
        NotPrivateWarning
            If columns are kept unchanged, or a design reports single values.
        """
        return self._run(progress, stacklevel=3)

    def _run(self, progress: Progress | None, *, stacklevel: int) -> Published:
        """Run it; `stacklevel` is the level of warnings, 2 for the caller."""
        if self._task is None:
            raise ArgumentError("a plan must be run where it was made; this one was read back.", PREPARE_AGAIN)
        if not self.is_finished:
            for text in self._warnings:
                warnings.warn(NotPrivateWarning(text), stacklevel=stacklevel)
        published: Published = self._task.run(progress)
        return published

    def close(self) -> None:
        """Close the files. The plan can no longer be run."""
        if self._task is not None:
            self._task.close()

    # Looking at it ----------------------------------------------------------------------------

    def __repr__(self) -> str:
        columns = ", ".join(f"{name} ({design.p})" for name, design in self.designs.items())
        kept = f"; kept unchanged: {', '.join(self.keep)}" if self.keep else ""
        return f"<PrivatizePlan of {self._from_to()}: {self._rows_text()}, {columns}{kept}>"

    def _from_to(self) -> str:
        return self.table if self.output is None else f"{self.table} to {self.output}"

    def _rows_text(self) -> str:
        if self.rows is None:
            return "an unknown number of rows"
        return f"{'' if self.rows_are_exact else 'about '}{counted(self.rows, 'row')}"

    def summary(self) -> Table:
        """Return a table of the columns to publish, to print or display."""
        lines = [
            (name, ", ".join(self.read_from[name]), design.maker, str(design.p), design.fingerprint[:16])
            for name, design in self.designs.items()
        ]
        lines += [(name, name, "kept unchanged", "", "") for name in self.keep]
        order = "in their order" if self.keep_order else "in random order"
        title = f"{self._from_to()}: {self._rows_text()}, {order}"
        done = " (the same job has written it already)" if self.is_finished else ""
        head = ("column", "read from", "kind", "categories", "fingerprint")
        return Table(title + done, head, tuple(lines), self.notes, text_columns=3)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data, for JSON."""
        return {
            "table": self.table,
            "output": self.output,
            "rows": self.rows,
            "rows_are_exact": self.rows_are_exact,
            "columns": [
                {
                    "name": name,
                    "read_from": list(self.read_from[name]),
                    "kind": design.maker,
                    "categories": design.p,
                    "fingerprint": design.fingerprint,
                }
                for name, design in self.designs.items()
            ],
            "kept": list(self.keep),
            "id": self.id,
            "keep_order": self.keep_order,
            "jobs": self.jobs,
            "is_finished": self.is_finished,
            "notes": [note.to_dict() for note in self.notes],
        }

    def _columns(self) -> dict[str, Any]:
        designs = self.designs.values()
        kept = len(self.keep)
        return {
            "column": [*self.designs, *self.keep],
            "read_from": [*map(", ".join, self.read_from.values()), *self.keep],
            "kind": [*(design.maker for design in designs), *["kept"] * kept],
            "categories": [*(design.p for design in designs), *[None] * kept],
            "fingerprint": [*(design.fingerprint for design in designs), *[None] * kept],
        }


_KEPT = "published unchanged: {}. Kept columns are not protected, and several together can identify a person."


def _as_sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _notes_of(options: RunOptions) -> list[Note]:
    """Return notes about the options; they need no warning, because the user chose them."""
    notes = []
    if options.keep_order:
        text = "The rows keep their order: anyone who has a list of the people in this order knows who is who."
        notes.append(Note(NoteKind.NOT_PROTECTED, text))
    if options.seed is not None:
        text = "Drawn by a seed, for experiments only: anyone who knows the seed can repeat the draw."
        notes.append(Note(NoteKind.NOT_PRIVATE, text))
    return notes
