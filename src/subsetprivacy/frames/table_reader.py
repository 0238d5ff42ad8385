"""`TableReader`: a table of values, read in units of rows."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from attrs import field, frozen

from subsetprivacy.engines import arrow_batches

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 1 << 20


class Unit(Protocol):
    """Consecutive rows that any process can read."""

    @property
    def first(self) -> int:
        """The number of the first row in the whole table."""
        ...

    def batches(self) -> Iterator["pa.RecordBatch"]:
        """Read the rows."""
        ...


@frozen
class LoadedRows:
    """Rows of a stream that were read already."""

    batch: "pa.RecordBatch" = field(repr=False)
    first: int

    def batches(self) -> Iterator["pa.RecordBatch"]:
        """Return the rows."""
        yield self.batch


@frozen
class TableReader:
    """A table of values, read in units.

    Attributes
    ----------
    where
        Its name in messages.
    schema
        The columns to read.
    units
        Starts reading from the first row.
    rows
        The number of rows; an estimate if `is_exact` is False, None if not known.
    identity
        The identity of the content, so that an interrupted run can continue; None if not known.
    row
        The word for a row in messages.
    number
        Converts a row number from 0 to the number in messages.
    """

    where: str
    schema: "pa.Schema"
    units: Callable[[], Iterator[Unit]]
    rows: int | None = None
    is_exact: bool = False
    as_text: bool = False
    identity: dict[str, Any] | None = None
    row: str = "row"
    number: Callable[[int], int] = int


def table_reader(table: Any, columns: list[str]) -> TableReader:
    """Return some columns of a table on this machine; its engine begins to compute them."""
    import pyarrow as pa

    batches = regrouped(arrow_batches(table, columns, BATCH_ROWS))
    head = next(batches, None)
    if head is None:
        return TableReader("", pa.schema([(name, pa.null()) for name in columns]), lambda: iter(()), 0, True)
    return TableReader("", head.schema, partial(_chained, head, batches))


def regrouped(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    """Combine small batches to about `BATCH_ROWS` rows."""
    pending: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            pending.append(batch)
            rows += batch.num_rows
        if rows >= BATCH_ROWS:
            yield from _together(pending)
            pending, rows = [], 0
    if pending:
        yield from _together(pending)


def _together(batches: list["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    import pyarrow as pa

    table = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
    for start in range(0, table.num_rows, BATCH_ROWS):
        yield from table.slice(start, BATCH_ROWS).to_batches()


def numbered(batches: Iterable["pa.RecordBatch"]) -> Iterator[Unit]:
    """Return each batch as a unit with the number of its first row."""
    first = 0
    for batch in batches:
        yield LoadedRows(batch, first)
        first += batch.num_rows


def _chained(head: "pa.RecordBatch", rest: Iterator["pa.RecordBatch"]) -> Iterator[Unit]:
    def both() -> Iterator["pa.RecordBatch"]:
        yield head
        yield from rest

    return numbered(both())
