"""Whole numbers from Arrow to NumPy and back, without a copy and without pandas.

PyArrow's own conversions import pandas if it is installed. That takes half a second, and Ctrl-C at that moment is
mistaken for a failed import.
"""

from typing import Any

import numpy as np

from subsetprivacy._types import AnyArray

WHOLE_NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def to_numpy(column: Any) -> AnyArray:
    """Return an Arrow array, or chunked array, of whole numbers without nulls as a NumPy array."""
    array = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    kind = str(array.type)
    assert kind in WHOLE_NUMBERS
    assert not array.null_count
    if not len(array):
        return np.empty(0, kind)
    start = array.offset * np.dtype(kind).itemsize
    return np.frombuffer(array.buffers()[1], kind, len(array), start)


def from_numpy(values: AnyArray) -> Any:
    """Return a NumPy array of whole numbers as an Arrow array."""
    import pyarrow as pa

    contiguous = np.ascontiguousarray(values)
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(contiguous.dtype), len(contiguous), [None, pa.py_buffer(contiguous)]
    )
