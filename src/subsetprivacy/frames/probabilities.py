"""Read files of probabilities: one column per category, one row per person."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from subsetprivacy._paths import local_path
from subsetprivacy._types import FloatArray, Label
from subsetprivacy.frames.data_file import DataFile, check_present
from subsetprivacy.frames.file_errors import reading
from subsetprivacy.frames.files import format_of
from subsetprivacy.tables import label_text


def read_probabilities(path: str | Path, categories: Iterable[Label]) -> FloatArray:
    """Read the columns named after the categories, in category order; other columns are ignored.

    Parameters
    ----------
    path
        A CSV, Parquet or Arrow file, or a folder of Parquet files.
    categories
        The categories of the design.

    Returns
    -------
    ndarray
        Shape (n, p), with NaN for empty cells and other text.

    Raises
    ------
    DataFileError
        If the file cannot be read, or a category has no column.
    """
    place = local_path(path)
    file = DataFile(place, format_of(place))
    names = [label_text(label) for label in categories]
    check_present(file, names)
    with reading(place):
        blocks = [np.column_stack([_as_floats(batch.column(name)) for name in names]) for batch in file.batches(names)]
    return np.concatenate(blocks) if blocks else np.empty((0, len(names)))


def _as_floats(column: Any) -> FloatArray:
    """Convert numbers or text to floats, without PyArrow's errors, which quote cells."""
    import pyarrow as pa

    try:
        cast = column.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return np.array([_number(cell) for cell in column.to_pylist()])
    return np.asarray(cast.to_numpy(zero_copy_only=False), np.float64)


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return float("nan")
