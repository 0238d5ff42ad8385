"""What a run of `privatize_table` will do: the plan that `prepare` makes, to look at and to run."""

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
    """The work of a plan, which is done once.

    Parameters
    ----------
    work
        Does it, and returns what was published.
    close
        Closes what was opened for it.
    """

    def __init__(self, work: Callable[[Progress | None], Any], close: Callable[[], None] = lambda: None) -> None:
        self._work: Callable[[Progress | None], Any] | None = work
        self._close = close

    def run(self, progress: Progress | None) -> Any:
        """Do it."""
        work = self._work
        if work is None:
            raise ArgumentError("a plan must be run once; this one was run, or closed, before.", PREPARE_AGAIN)
        try:
            self._work = None
            return work(progress)
        finally:
            self._close()

    def close(self) -> None:
        """Give it up."""
        self._work = None
        self._close()


@frozen(slots=False, repr=False)
class PrivatizePlan(Result, Generic[Published]):
    """What a run of `privatize_table` will do; made by `prepare`.

    Attributes
    ----------
    table
        What is read: the path of a file, or the kind of a table.
    output
        What is written; None where the subsets are returned only.
    designs
        The design of each column of subsets.
    read_from
        For each of them, the columns that hold its values.
    keep
        Columns that are published as they are.
    id
        The column that tells people apart, where there is a key.
    rows
        How many rows there are to come; None where that is not known.
    rows_are_exact
        Whether they were counted; otherwise they are estimated by the size of the file.
    keep_order
        Whether the rows stay in their order.
    jobs
        How many processes work.
    is_finished
        Whether the same job has written the output before, so that `run` only opens it.
    notes
        What nothing protects.
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
        """Describe a run that was checked."""
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
        return {**self.__dict__, "_task": None}  # the files are open in this process only, and the key stays here

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
            Called with the rows done and in all (None: not known yet).

        Returns
        -------
        table or Release
            As `privatize_table` returns it.

        Raises
        ------
        CategoryError
            If a value is missing or is no category: how many in which column, and
            the first row, never the value. Nothing is written then.
        DataFileError
            If a file cannot be read or written.
        ArgumentError
            If the plan was run before: two draws of one person intersect.

        Warns
        -----
        NotPrivateWarning
            If columns are kept as they are, or a design reports single values.
        """
        return self._run(progress, stacklevel=3)

    def _run(self, progress: Progress | None, *, stacklevel: int) -> Published:
        """Run it; warnings name the line that is so many calls further out, 2 being the caller's."""
        if self._task is None:
            raise ArgumentError("a plan must be run where it was made; this one was read back.", PREPARE_AGAIN)
        if not self.is_finished:
            for text in self._warnings:
                warnings.warn(NotPrivateWarning(text), stacklevel=stacklevel)
        published: Published = self._task.run(progress)
        return published

    def close(self) -> None:
        """Close the files that were opened; the plan cannot be run any more."""
        if self._task is not None:
            self._task.close()

    # Looking at it ----------------------------------------------------------------------------

    def __repr__(self) -> str:
        held = ", ".join(f"{name} ({design.p})" for name, design in self.designs.items())
        kept = f"; kept as they are: {', '.join(self.keep)}" if self.keep else ""
        return f"<PrivatizePlan of {self._from_to()}: {self._rows_text()}, {held}{kept}>"

    def _from_to(self) -> str:
        return self.table if self.output is None else f"{self.table} to {self.output}"

    def _rows_text(self) -> str:
        if self.rows is None:
            return "an unknown number of rows"
        return f"{'' if self.rows_are_exact else 'about '}{counted(self.rows, 'row', comma=True)}"

    def summary(self) -> Table:
        """Return what is published of each column, to print or to show."""
        lines = [
            (name, ", ".join(self.read_from[name]), design.kind, str(design.p), design.fingerprint[:16])
            for name, design in self.designs.items()
        ]
        lines += [(name, name, "kept as it is", "", "") for name in self.keep]
        order = "in their order" if self.keep_order else "in random order"
        title = f"{self._from_to()}: {self._rows_text()}, {order}"
        done = " (the same job has written it already)" if self.is_finished else ""
        return Table(
            title + done, ("column", "read from", "kind", "categories", "fingerprint"), tuple(lines), self.notes
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what will be read and written, for JSON."""
        return {
            "table": self.table,
            "output": self.output,
            "rows": self.rows,
            "rows_are_exact": self.rows_are_exact,
            "columns": [
                {
                    "name": name,
                    "read_from": list(self.read_from[name]),
                    "kind": design.kind,
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
            "kind": [*(design.kind for design in designs), *["kept"] * kept],
            "categories": [*(design.p for design in designs), *[None] * kept],
            "fingerprint": [*(design.fingerprint for design in designs), *[None] * kept],
        }


_KEPT = (
    "kept and published as it is: {}. Nothing protects what is kept, and several columns together may name a person."
)


def _as_sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _notes_of(options: RunOptions) -> list[Note]:
    """Return the notes that a run by these options deserves; who chose them needs no warning."""
    notes = []
    if options.keep_order:
        text = "The rows keep their order: anyone who has a list of the people in this order knows who is who."
        notes.append(Note(NoteKind.NOT_PROTECTED, text))
    if options.seed is not None:
        text = "Drawn by a seed, for experiments only: anyone who knows the seed can repeat the draw."
        notes.append(Note(NoteKind.NOT_PRIVATE, text))
    return notes
