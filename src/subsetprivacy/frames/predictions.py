"""Read files of predictions: the predicted category and the weight of each person."""

from pathlib import Path
from typing import Any

import numpy as np

from subsetprivacy._paths import local_path
from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy._words import counted
from subsetprivacy.errors import CategoryError
from subsetprivacy.frames.data_file import ColumnSelection, DataFile, check_present, read_batches
from subsetprivacy.frames.file_errors import reading
from subsetprivacy.frames.files import format_of
from subsetprivacy.frames.release import Release
from subsetprivacy.messages.for_analyses import GUESS_CATEGORIES
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import label_text


def read_guesses(path: str | Path, column: str, categories: Categories) -> IntArray:
    """Read a column of predicted categories as positions.

    Parameters
    ----------
    path
        A CSV, Parquet or Arrow file, or a folder of Parquet files.
    column
        The column of labels, as text or in their type.
    categories
        The categories of the design.

    Raises
    ------
    DataFileError
        If the file cannot be read, or a column does not exist.
    CategoryError
        If a cell is not a category. The message gives the count and the first row.
    """
    place = local_path(path)
    file = DataFile(place, format_of(place))
    check_present(file, [column])
    at = {label_text(label): j for j, label in enumerate(categories.labels)}
    with reading(place):
        parts = [_positions(batch.column(0), at) for batch in file.batches([column])]
    x = np.concatenate(parts) if parts else np.empty(0, np.int64)
    wrong = x < 0
    if wrong.any():
        first = file.place(int(wrong.argmax()))
        raise CategoryError(
            f"{place}: column {column} must hold one of the categories {categories.preview()} in each row; got "
            f"{counted(wrong.sum(), 'row that is not', 'rows that are not')}, first in {first}.",
            GUESS_CATEGORIES,
        )
    return x


def _positions(column: Any, at: dict[str, int]) -> IntArray:
    """Return the position of each cell's category, -1 for no category; each distinct cell is looked up once."""
    encoded = column if hasattr(column, "dictionary") else column.dictionary_encode()
    known = [at.get(label_text(cell), -1) if cell is not None else -1 for cell in encoded.dictionary.to_pylist()]
    indices = encoded.indices.cast("int64").fill_null(len(known))
    return np.array([*known, -1], np.int64)[indices.to_numpy(zero_copy_only=False)]


def read_weights(release: Release, column: str) -> FloatArray:
    """Read a column of weights that was published next to subsets, NaN for other cells."""
    check_present(release.file, [column])
    batches = read_batches(release.file, ColumnSelection({}, {}, (), column))
    parts = [np.asarray(batch.column(0).cast("float64").to_numpy(zero_copy_only=False)) for batch in batches]
    return np.concatenate(parts) if parts else np.empty(0)
