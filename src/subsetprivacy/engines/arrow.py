"""Count a stream of Arrow batches in constant memory: a cell for every code, or merged partial results."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from subsetprivacy._types import BoolArray, FloatArray, IntArray
from subsetprivacy.engines.cells import MOST_CELLS, CellCounter, DenseCounter, SparseCounter
from subsetprivacy.engines.groups import OUTSIDE, Groups, Key
from subsetprivacy.engines.labels import Labels
from subsetprivacy.errors import ArgumentError

if TYPE_CHECKING:
    import pyarrow as pa


def tally_batches(
    batches: "Iterable[pa.RecordBatch]",
    keys: Sequence[str],
    weights: str | None = None,
    progress: Callable[[int], None] | None = None,
    bits: Sequence[int | None] | None = None,
    *,
    whole: bool = False,
) -> Groups:
    """Count the distinct rows of some columns of a stream, in one pass.

    Parameters
    ----------
    batches
        Record batches of one schema, such as a dataset, a reader or `arrow_batches`.
    keys
        The columns to group by: codes and groups.
    weights
        A column to sum, with its squares.
    progress
        Called after every batch with the number of rows so far.
    bits
        The number of bits of each key's codes, or None if it has no codes. Larger and negative integers become
        `OUTSIDE`.
    whole
        Whether a fractional weight is invalid too.

    Raises
    ------
    ArgumentError
        If weights are not numbers, or the type of a key cannot be grouped.

    Notes
    -----
    With at most some millions of cells for codes and groups, each cell has a counter, and a batch is one call of
    `numpy.bincount`. Otherwise some millions of rows are grouped at a time, and the partial results are merged as
    they grow.

    Examples
    --------
    >>> import pyarrow as pa
    >>> batch = pa.record_batch({"race": [3, 5, 3, 6]})
    >>> groups = tally_batches([batch, batch], ["race"], bits=[3])
    >>> groups.keys[0].values.tolist(), groups.rows.tolist(), groups.first.tolist()
    ([3, 5, 6], [4, 2, 2], [0, 1, 3])
    """
    stream = _BatchTally(list(keys), weights, list(bits) if bits is not None else [None] * len(keys), whole)
    for batch in batches:
        stream.add(batch)
        if progress is not None:
            progress(stream.rows)
    return stream.groups()


class _BatchTally:
    """The counts of a stream so far."""

    def __init__(self, keys: list[str], weights: str | None, bits: list[int | None], whole: bool) -> None:
        self.keys, self.weights, self.bits, self.whole = keys, weights, bits, whole
        self.rows = self.unfit = 0
        self.first_unfit: int | None = None
        self.kinds: list[str] = ["nothing"] * len(keys)
        self.coded: list[int] = [k for k, width in enumerate(bits) if width is not None]
        self.labels = Labels([keys[k] for k in range(len(keys)) if k not in self.coded])
        self.counter: CellCounter | None = None

    def add(self, batch: "pa.RecordBatch") -> None:
        columns = [_decoded(batch.column(name)) for name in self.keys]
        if self.counter is None:
            self._begin(columns)
        if not batch.num_rows:
            return
        cell: Any = None
        for k in self.coded:
            codes = _cells(columns[k], self.keys[k], self._width(k))
            cell = codes if cell is None else cell * ((1 << self._width(k)) + 2) + codes
        label = self.labels.numbers([columns[k] for k in self._labeled])
        amounts = None if self.weights is None else self._amounts(batch.column(self.weights))
        assert self.counter is not None
        if len(self.labels) * self.cells > MOST_CELLS and isinstance(self.counter, DenseCounter):
            self.counter = SparseCounter.following(self.counter)
        self.counter.add(cell, label, amounts, batch.num_rows)
        self.rows += batch.num_rows

    def _begin(self, columns: list[Any]) -> None:
        """Decide by the types of the first batch which keys are codes; text is not."""
        self.kinds = [kind_of(column.type) for column in columns]
        self.coded = [k for k in self.coded if self.kinds[k] in {"integer", "nothing"}]
        self.labels = Labels([self.keys[k] for k in self._labeled])
        self.counter = self._new_counter()

    def _new_counter(self) -> CellCounter:
        weighted = self.weights is not None
        return DenseCounter(self.cells, weighted) if self.cells <= MOST_CELLS else SparseCounter(self.cells, weighted)

    def _width(self, k: int) -> int:
        width = self.bits[k]
        assert width is not None
        return width

    @property
    def _labeled(self) -> list[int]:
        return [k for k in range(len(self.keys)) if k not in self.coded]

    @property
    def cells(self) -> int:
        """The number of combinations of codes, with "no value" and "outside" for each key."""
        total = 1
        for k in self.coded:
            total *= (1 << self._width(k)) + 2
        return total

    def _amounts(self, column: "pa.Array") -> FloatArray:
        """Return the weights of a batch, with 0 for invalid ones, which are counted."""
        amounts = as_amounts(column, str(self.weights))
        fit: BoolArray = np.isfinite(amounts) & (amounts >= 0)
        if self.whole:
            fit &= np.floor(amounts) == amounts
        if not fit.all():
            if self.first_unfit is None:
                self.first_unfit = self.rows + int(fit.argmin())
            self.unfit += int(len(fit) - fit.sum())
            amounts = np.where(fit, amounts, 0.0)
        return amounts

    def groups(self) -> Groups:
        if self.counter is None:  # there was no batch
            self.counter = self._new_counter()
        counts = self.counter.result()
        keys: list[Key | None] = [None] * len(self.keys)
        rest = counts.cell
        for k in reversed(self.coded):
            limit = 1 << self._width(k)
            rest, number = np.divmod(rest, limit + 2)
            keys[k] = Key("integer", np.where(number >= limit, OUTSIDE, number), number == limit)
        for k, values in zip(self._labeled, self.labels.columns(counts.label), strict=True):
            keys[k] = Key.of(self.kinds[k], values)
        made = tuple(key for key in keys if key is not None)
        return Groups(made, counts.rows, counts.first, counts.sums, counts.squares, self.unfit, self.first_unfit)


def kind_of(kind: "pa.DataType") -> str:
    """Return the kind of an Arrow type, in one word."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return kind_of(kind.value_type)
    if types.is_integer(kind) or (types.is_decimal(kind) and kind.scale == 0):
        return "integer"
    if types.is_floating(kind) or types.is_decimal(kind):
        return "float"
    if types.is_boolean(kind):
        return "boolean"
    if types.is_null(kind):
        return "nothing"
    if types.is_nested(kind):
        return "lists"
    text = types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view"
    return "text" if text else "other"


def as_amounts(column: Any, name: str) -> FloatArray:
    """Return a column of weights as float64, NaN where missing.

    Raises
    ------
    ArgumentError
        If it does not contain numbers.
    """
    column = _decoded(column)
    if kind_of(column.type) not in {"integer", "float", "nothing"}:
        raise ArgumentError(f"weights must be numbers; got column {name} of type {column.type}.")
    # Unsafe, because a checked cast quotes the number that does not fit.
    return np.asarray(column.cast("float64", safe=False).to_numpy(zero_copy_only=False))


def _decoded(column: Any) -> Any:
    return column.dictionary_decode() if hasattr(column, "dictionary") else column


def _cells(column: Any, name: str, width: int) -> IntArray:
    """Return the codes of a batch, with two larger numbers for "no value" and "outside"."""
    limit = 1 << width
    if kind_of(column.type) == "nothing":
        return np.full(len(column), limit, np.int64)
    if kind_of(column.type) != "integer":
        raise ArgumentError(f"column {name} must be of one type throughout; got a batch of {column.type}.")
    if str(column.type).startswith("decimal"):
        column = _as_words(column, limit)
    absent = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    plain = column.fill_null(0) if column.null_count else column
    codes = plain.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    # As unsigned numbers, negative ones are very large, so one comparison finds both.
    if int(codes.view(np.uint64).max(initial=0)) >= limit:
        codes = np.where(codes.view(np.uint64) < limit, codes, limit + 1)
    return codes if absent is None else np.where(absent, limit, codes)


def _as_words(column: Any, limit: int) -> Any:
    """Return decimals as int64, with `limit` for other numbers, which a cast would take modulo 2^64."""
    import pyarrow as pa
    from pyarrow import compute as pc

    wide = pa.decimal128(38, 0)
    inside = pc.and_(
        pc.greater_equal(column, pa.scalar(0, pa.int64()).cast(wide)),
        pc.less(column, pa.scalar(limit, pa.int64()).cast(wide)),
    )
    return pc.if_else(inside, column.cast("int64", safe=False), limit)
