"""Load the rows of a file: subsets, and columns that describe the sample."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from subsetprivacy._choices import Missing
from subsetprivacy._types import AnyArray
from subsetprivacy.data import SubsetData
from subsetprivacy.design import product
from subsetprivacy.errors import ArgumentError, TooLargeError
from subsetprivacy.frames.data_file import check_present
from subsetprivacy.frames.release import Release
from subsetprivacy.messages.for_data import WEIGHTS_OF_A_FILE

MOST_ROWS = 20_000_000  # to load if every row is needed


def people_of(release: Release, names: Sequence[str], missing: Missing | None = None) -> SubsetData:
    """Load the subsets of all people in a file, jointly for several columns.

    Raises
    ------
    TooLargeError
        If there are too many rows to load.
    """
    require_rows(release)
    if len(names) == 1:
        return SubsetData(release.codes(names[0], missing=missing), release.designs[names[0]], names[0])
    joint = product({name: release.designs[name] for name in names})
    return SubsetData(np.asarray(joint.join([release.codes(name, missing=missing) for name in names])), joint)


def cells_of(release: Release, names: Sequence[str]) -> dict[str, AnyArray]:
    """Load columns that were published unchanged.

    Raises
    ------
    ArgumentError
        If a column does not exist, or contains neither numbers nor text.
    """
    check_present(release.file, list(names))
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for batch in release.file.batches(list(columns)):
        for name, cells in columns.items():
            cells += batch.column(name).to_pylist()
    return {name: _array(cells, name) for name, cells in columns.items()}


def _array(cells: list[Any], name: str) -> AnyArray:
    if all(isinstance(cell, (bool, int, float)) for cell in cells):
        return np.array(cells)
    if not all(cell is None or isinstance(cell, (bool, int, float, str)) for cell in cells):
        raise ArgumentError(f"column {name} must hold numbers or text; got something else.")
    out = np.empty(len(cells), object)
    out[:] = cells
    return out


def require_rows(release: Release) -> None:
    """Raise if the rows of a file are not people, or too many to load."""
    if release.stored.weights is not None:
        raise ArgumentError(
            f"strata, clusters and known margins must be of a file with a row for each person; {release.file.where} "
            "contains counts."
        )
    if release.rows > MOST_ROWS:
        raise TooLargeError(
            f"strata, clusters and known margins must be of at most {MOST_ROWS:,} rows, which are held in memory; got "
            f"{release.rows:,}.",
            WEIGHTS_OF_A_FILE,
        )
