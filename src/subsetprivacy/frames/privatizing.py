"""`privatize_table`: replace the values in columns of any table by subsets."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, overload

from subsetprivacy._choices import Form, IfExists, Missing
from subsetprivacy._types import Seed
from subsetprivacy.design import Design
from subsetprivacy.frames.preparing import prepare
from subsetprivacy.frames.release import Release

TableT = TypeVar("TableT")


@overload
def privatize_table(
    table: str | os.PathLike[str],
    designs: Mapping[str, Design] | Design,
    output: str | Path,
    *,
    missing: Missing = ...,
    strip: bool = ...,
    na: str | int | float | Iterable[str | int | float] | None = ...,
    key: bytes | None = ...,
    id: str | None = ...,
    keep: Iterable[str] = ...,
    keep_order: bool = ...,
    form: Form | None = ...,
    overwrite: bool = ...,
    if_exists: IfExists | None = ...,
    jobs: int | None = ...,
    progress: Callable[[int, int | None], None] | None = ...,
    seed: Seed | None = ...,
) -> Release: ...
@overload
def privatize_table(
    table: TableT,
    designs: Mapping[str, Design] | Design,
    output: str | Path | None = ...,
    *,
    missing: Missing = ...,
    strip: bool = ...,
    na: str | int | float | Iterable[str | int | float] | None = ...,
    key: bytes | None = ...,
    id: str | None = ...,
    keep: Iterable[str] = ...,
    keep_order: bool = ...,
    form: Form | None = ...,
    overwrite: bool = ...,
    if_exists: IfExists | None = ...,
    jobs: int | None = ...,
    progress: Callable[[int, int | None], None] | None = ...,
    seed: Seed | None = ...,
) -> TableT: ...
def privatize_table(
    table: Any,
    designs: Mapping[str, Design] | Design,
    output: str | Path | None = None,
    *,
    missing: Missing = "error",
    strip: bool = False,
    na: str | int | float | Iterable[str | int | float] | None = None,
    key: bytes | None = None,
    id: str | None = None,
    keep: Iterable[str] = (),
    keep_order: bool = False,
    form: Form | None = None,
    overwrite: bool = False,
    if_exists: IfExists | None = None,
    jobs: int | None = 1,
    progress: Callable[[int, int | None], None] | None = None,
    seed: Seed | None = None,
) -> Any:
    """Replace the values of a table's columns with random subsets that contain them.

    The output contains only the columns of subsets, with its rows shuffled.

    Parameters
    ----------
    table
        A data frame or table of pandas, Polars, PyArrow, DuckDB, PySpark, Dask or Ibis, or the path of a CSV, Parquet
        or Arrow file or of a folder of Parquet files.
    designs
        ``{column: design}``. A design for several variables, made by `join`, reads the columns named after its
        variables and writes the column named here. A `product` writes a column for each of its factors.
    output
        The file to write: ``.parquet``, ``.arrow``, ``.csv``, ``.csv.gz`` or ``.csv.zst``; for Spark and Dask a folder.
        Required for files and for lazy tables. A lazy table would draw again each time it is evaluated, and the
        intersection of two draws for one person reveals more than one draw. So the table is drawn once, written, and
        read back.
    missing
        As in `privatize`.
    strip
        Whether to strip spaces around text, so that ``" White"`` is the category ``"White"``. Ids and kept columns
        are not stripped.
    na
        Marks of a missing answer, such as ``"?"`` or ``[-9, "NA"]``, which is stored as the full set. Empty cells are
        still handled by `missing`.
    key, id
        A secret of 16 to 64 bytes, for example from `read_key`, and the column that identifies people, with one row
        each. The draw is then a function of the key, the id and the names of the value columns, so publishing again
        gives each person the same subset. Anyone who has the key can reproduce the question of any id.
    keep
        Columns to publish unchanged. They are not protected, and together they may identify a person.
    keep_order
        Whether to keep the order of the rows. It identifies people to anyone who has, or can guess, the order of the
        table.
    form
        For CSV: ``"labels"`` joined by a bar (default) or ``"codes"``.
    overwrite
        Whether to replace an existing output, the same as ``if_exists="overwrite"``.
    if_exists
        What to do if the output exists: ``"error"`` (default), ``"overwrite"``, or ``"same"``, for scripts that run
        repeatedly. With ``"same"``, an output of the same job is returned unchanged. The job is the same if the input
        files (name, size and times), designs and options are unchanged. It is available for tables that are files.
    jobs
        The number of processes, for files on this machine. None takes one per core for files with millions of rows.
        In a script, more than one process needs the guard ``if __name__ == "__main__":``, as always with Python's
        multiprocessing.
    progress
        Called with the number of finished rows and the total (None if not known yet).
    seed
        For experiments only: a number, or a NumPy Generator or SeedSequence. Anyone who has the seed can repeat the
        draw, so the output is **not private**. By default the randomness is cryptographic.

    Returns
    -------
    table or Release
        For a table, a table of the same library: the subsets in memory, or the written output, read back. For a path,
        a `Release`.

    Raises
    ------
    CategoryError
        If a value is missing or is not a category. The message gives the column, the count and the first row, never the
        value. Nothing is written.
    DataFileError
        If a file cannot be read or written.

    Warns
    -----
    NotPrivateWarning
        If columns are kept unchanged, or a design reports single values.

    See Also
    --------
    prepare : The same in two steps: first all checks and the plan, then `run`.

    Notes
    -----
    If a run over files is stopped, it leaves a hidden folder next to the output that only its owner can read. The
    folder contains subsets or their counts, kept columns and digests of ids, but no values. The same call continues
    from there. Until the run is complete, the folder also reveals the order of the rows or, if it contains counts, of
    the blocks of rows that were counted.

    Examples
    --------
    >>> import pandas as pd
    >>> from subsetprivacy.design import uniform
    >>> people = pd.DataFrame({"name": ["Ann", "Bob", "Cid"], "color": ["red", "blue", "red"]})
    >>> colors = uniform(["black", "red", "green", "blue"])
    >>> privatize_table(people, {"color": colors}, keep_order=True, seed=1)
       color
    0     10
    1      9
    2      3
    """
    plan = prepare(
        table,
        designs,
        output,
        missing=missing,
        strip=strip,
        na=na,
        key=key,
        id=id,
        keep=keep,
        keep_order=keep_order,
        form=form,
        overwrite=overwrite,
        if_exists=if_exists,
        jobs=jobs,
        seed=seed,
    )
    return plan._run(progress, stacklevel=3)
