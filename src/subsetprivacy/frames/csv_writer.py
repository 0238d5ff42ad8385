"""Write columns of subsets as CSV that a spreadsheet opens safely."""

from pathlib import Path
from typing import Any

import numpy as np

from subsetprivacy.design.text import texts_of
from subsetprivacy.engines.counters import TABLE_FORMAT
from subsetprivacy.errors import ArgumentError
from subsetprivacy.frames.compression import open_to_write
from subsetprivacy.frames.metadata import TableMetadata
from subsetprivacy.tables import safe_header

_NEEDS_QUOTES = '[",\r\n]|^ | $'
_FORMULA = "^[=+\\-@\uff1d\uff0b\uff0d\uff20\t\r\n']"


class CsvWriter:
    """Writes codes and kept columns as lines of text in UTF-8.

    Each distinct subset is formatted once per table. With `inside`, the document goes into an extra last column, in
    the first row.
    """

    def __init__(
        self, path: Path | None, stored: TableMetadata, order: list[str], *, name: str = "", inside: str | None = None
    ) -> None:
        assert path is not None
        self._file = open_to_write(path, name)  # the path is that of a draft; the name determines the compression
        self._stored = stored
        self._order = order
        # Escaped in JSON, because a spreadsheet may split lines at semicolons.
        self._has_document, self._next = inside is not None, (inside or "").replace(";", "\\u003b")
        names = [*order, TABLE_FORMAT] if self._has_document else order
        self._file.write((",".join(quoted(safe_header(name)) for name in names) + "\n").encode())

    def write(self, table: Any) -> None:
        """Write the rows of an Arrow table."""
        import pyarrow as pa
        from pyarrow import compute as pc

        if not table.num_rows:
            return
        columns = [self._cells(table.column(name), name) for name in self._order]
        if self._has_document:
            cells = [quoted(self._next) if self._next else "", *[""] * (table.num_rows - 1)]
            columns.append(pa.array(cells, pa.large_string()))
            self._next = ""
        lines = pc.binary_join_element_wise(*columns, _large(",")) if len(columns) > 1 else columns[0]
        for chunk in lines.chunks if isinstance(lines, pa.ChunkedArray) else [lines]:
            ends = pa.array([0, len(chunk)], pa.int64())
            whole = pa.LargeListArray.from_arrays(ends, chunk)
            self._file.write(pc.binary_join(whole, _large("\n"))[0].as_buffer())
            self._file.write(b"\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _cells(self, column: Any, name: str) -> Any:
        design = self._stored.designs.get(name)
        if design is None:
            return _kept_cells(column, name)
        if self._stored.forms[name] == "codes":
            return _as_text(column, name)
        import pyarrow as pa

        codes = column.to_numpy()
        distinct, inverse = np.unique(codes, return_inverse=True)
        texts = pa.array([quoted(text) for text in texts_of(distinct, design)], pa.large_string())
        return texts.take(pa.array(inverse))


def quoted(text: str) -> str:
    """Return a cell, quoted if necessary."""
    if any(sign in text for sign in ',"\r\n') or text[:1] == " " or text[-1:] == " " or not text:
        return '"' + text.replace('"', '""') + '"'
    return text


def _kept_cells(column: Any, name: str) -> Any:
    """Return the cells of a kept column, with text made safe for spreadsheets and nulls empty."""
    import pyarrow as pa
    from pyarrow import compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    cells = _as_text(column, name)
    if is_text:
        risky = pc.match_substring_regex(cells, _FORMULA)
        cells = pc.if_else(risky, pc.binary_join_element_wise(_large("'"), cells, _large("")), cells)
        doubled = pc.replace_substring(cells, '"', '""')
        wrapped = pc.binary_join_element_wise(_large('"'), doubled, _large('"'), _large(""))
        cells = pc.if_else(pc.match_substring_regex(cells, _NEEDS_QUOTES), wrapped, cells)
    return pc.fill_null(cells, _large(""))


def _large(text: str) -> Any:
    import pyarrow as pa

    return pa.scalar(text, pa.large_string())


def _as_text(column: Any, name: str) -> Any:
    import pyarrow as pa

    try:
        return column.cast(pa.large_string()).combine_chunks()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        kind = str(column.type)
    raise ArgumentError(f"column {name!r} must be numbers or text to be written as CSV; it is of type {kind}.")
