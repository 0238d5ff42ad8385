"""`Output`: write a file of subsets with its document."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from subsetprivacy._checks import check_choice
from subsetprivacy._choices import Form
from subsetprivacy._paths import local_path
from subsetprivacy.design import Design
from subsetprivacy.design.text import has_text_form, text_of
from subsetprivacy.errors import ArgumentError
from subsetprivacy.frames.csv_writer import CsvWriter
from subsetprivacy.frames.data_file import DataFile
from subsetprivacy.frames.file_errors import file_error
from subsetprivacy.frames.files import arrow_writer, check_free, format_of, parquet_writer, replacing, schema_of
from subsetprivacy.frames.jobs import mark
from subsetprivacy.frames.metadata import FORMS, TableMetadata, WeightsColumn
from subsetprivacy.frames.release import Release

ROW_GROUP = 1 << 20


@contextmanager
def open_output(
    path: str | Path,
    designs: Mapping[str, Design] | Iterable[str],
    *,
    form: Form | None = None,
    overwrite: bool = False,
    inside: bool = False,
) -> Iterator["Output"]:
    """Open a file for columns of subsets; it gets its name and document when complete.

    Parameters
    ----------
    path
        The final name.
    designs
        The columns, with their designs if known. Known designs are checked at once for this form.
    form, overwrite
        As in `write_release`.
    inside
        Whether a CSV file also contains its document, as other files do: in an extra column, in the first row.

    Yields
    ------
    Output
        The output, to begin and write to.

    Raises
    ------
    DataFileError
        If the file cannot be written. No partial file remains.
    """
    path = local_path(path)
    output = Output(path, list(designs), form, inside=inside)
    if isinstance(designs, Mapping):
        output.forms(designs)
    with replacing(path, overwrite=overwrite, sidecar=output.document) as draft:
        try:
            yield output.at(draft)
        except BaseException:
            output.abandon()
            raise
        output.finish()


def check_output(path: Path, designs: Mapping[str, Design], form: Form | None, *, overwrite: bool) -> None:
    """Raise unless columns of subsets can be written there; called before drawing.

    Raises
    ------
    DataFileError
        If the file exists, its format is unknown, or its folder does not exist.
    ArgumentError
        If the designs or the format do not support this form.
    """
    Output(path, list(designs), form).forms(designs)
    check_free(path, overwrite=overwrite)


class Output:
    """A file that is being written."""

    def __init__(self, path: Path, names: list[str], form: Form | None, *, inside: bool = False) -> None:
        self.path = path
        self.names = names
        self.kind: str = format_of(path, must_exist=False)
        if self.kind == "folder":
            raise file_error(path, "must be a file to be written; it is a folder")
        if form is not None and check_choice(form, FORMS, "form") == "labels" and self.kind != "csv":
            raise ArgumentError(f"`form` must be 'codes' for {self.kind} files; labels are for CSV files.")
        self.form = form
        self._inside = inside
        self._draft: Path | None = None
        self._writer: Any = None
        self._stored: TableMetadata | None = None
        self._order: list[str] = []
        self._schema: Any = None
        self._job: dict[str, Any] | None = None
        self._rows = 0

    def at(self, draft: Path) -> "Output":
        """Set the file to write to, and return self."""
        self._draft = draft
        return self

    def forms(self, designs: Mapping[str, Design]) -> dict[str, str]:
        """Return the form of each column: labels in CSV files if subsets have labels, otherwise codes."""
        if self.kind != "csv" or self.form == "codes":
            return dict.fromkeys(designs, "codes")
        if self.form == "labels":
            for design in designs.values():
                text_of(design.missing_code, design)  # raises with the reason
        return {name: "labels" if has_text_form(design) else "codes" for name, design in designs.items()}

    def begin(
        self,
        designs: Mapping[str, Design],
        kept_fields: Iterable[Any] = (),
        weights: WeightsColumn | None = None,
        job: dict[str, Any] | None = None,
    ) -> None:
        """Begin to write with the realized designs; `job` is the identity of the run."""
        kept = list(kept_fields)
        self._job = job
        self._order = [*self.names, *(field.name for field in kept)]
        if len(set(self._order)) < len(self._order):
            raise ArgumentError("columns must have different names to be written; two have the same.")
        ordered = {name: designs[name] for name in self.names}
        self._stored = TableMetadata(ordered, self.forms(ordered), weights)
        text = self._stored.to_json()
        self._schema = schema_of(self.names, text, kept)
        if self.kind == "csv":
            inside = text if self._inside else None
            self._writer = CsvWriter(self._draft, self._stored, self._order, name=self.path.name, inside=inside)
        else:
            make = parquet_writer if self.kind == "parquet" else arrow_writer
            self._writer = make(str(self._draft), self.names, text, kept)

    def write(self, rows: Any) -> None:
        """Write an Arrow table or record batch of codes and kept columns."""
        import pyarrow as pa

        table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
        table = table.select(self._order)
        self._rows += table.num_rows
        if self.kind == "csv":
            self._writer.write(table)
        else:
            self._writer.write_table(table.cast(self._schema), ROW_GROUP)

    def finish(self) -> None:
        """Close the file."""
        if self._writer is None:
            raise ArgumentError("an output must be begun before it is finished.")
        self._writer.close()

    def abandon(self) -> None:
        """Release the file in any state."""
        with suppress(Exception):
            if self._writer is not None:
                self._writer.close()

    def document(self) -> str:
        """Return the document to write next to the file."""
        assert self._stored is not None  # called when the file is complete
        assert self._draft is not None
        job = None if self._job is None else mark(self._job, self._draft.stat().st_size)
        return self._stored.to_json(indent=1, job=job) + "\n"

    def release(self) -> Release:
        """Return the complete file as a release, without reading it."""
        assert self._stored is not None
        return Release(DataFile(self.path.absolute(), self.kind), self._stored, self._rows)
