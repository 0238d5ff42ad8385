"""`privatize_table`: replace the values of a table's columns by subsets, wherever the table is."""

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
    """Replace the values of a table's columns by random subsets that contain them.

    Only the columns of subsets are in what is returned or written, their rows
    shuffled.

    Parameters
    ----------
    table
        A data frame or table of pandas, Polars, PyArrow, DuckDB, PySpark,
        Dask or Ibis; or the path of a CSV, Parquet or Arrow file, or of a
        folder of Parquet files.
    designs
        ``{column: design}``. A design on several variables, as `join` makes,
        reads the columns that its variables are named after, and the name
        given here is that of the column it writes. A `product` gives a column
        for each of its factors.
    output
        The file to write: ``.parquet``, ``.arrow``, ``.csv``, ``.csv.gz`` or
        ``.csv.zst``; for Spark and
        Dask a folder. Needed for files and for lazy tables: a lazy table draws
        anew each time it is looked at, and two draws of one person intersect,
        so the one draw is written and read back.
    missing
        As in `privatize`.
    strip
        Whether spaces before and after a text are left out: ``" White"`` is
        then the category ``"White"``. Only values are stripped, not ids or
        columns that are kept.
    na
        What marks a missing answer, such as ``"?"`` or ``[-9, "NA"]``. It is
        stored as the full set. An empty cell remains what `missing` says.
    key, id
        A secret of 16 to 64 bytes, as `read_key` reads it from a file, and the
        column that tells people apart, each by one row. The draw is then a function of key, id and the
        columns of values: publishing again gives the same person the same
        subset. Whoever has the key can ask the question of any id again.
    keep
        Columns to publish as they are. Nothing protects them, and together
        they may name a person.
    keep_order
        Whether the rows stay in their order, which shows who is who to
        everybody who has, or can guess, the order of the table.
    form
        For CSV: ``"labels"`` joined by a bar (default) or ``"codes"``.
    overwrite
        Whether to replace an existing output: the same as
        ``if_exists="overwrite"``.
    if_exists
        What to do where the output exists: ``"error"`` (default),
        ``"overwrite"``, or ``"same"``, for a script that runs again: an output
        of the same job is left as it is and returned. The job is the same if
        the files of the table are unchanged since (name, size and times), and
        so are designs and options; for tables that are files.
    jobs
        Processes, for files on this machine; None takes one for each core
        where a file has millions of rows. In a script that is run as a
        program, more than one needs the ``if __name__ == "__main__":`` that
        Python's multiprocessing asks for.
    progress
        Called with the rows done and in all (None: not known yet).
    seed
        For experiments only: a number, or a NumPy Generator or SeedSequence.
        Anyone who has the seed can repeat the draw, so the output is then
        **not private**. The default is cryptographic.

    Returns
    -------
    table or Release
        For a table one of the same library: in memory the subsets, else what
        was written, read back. For a path a `Release`.

    Raises
    ------
    CategoryError
        If a value is missing or is no category: how many in which column, and
        the first row, never the value. Nothing is written then.
    DataFileError
        If a file cannot be read or written.

    Warns
    -----
    NotPrivateWarning
        If columns are kept as they are, or a design reports single values.

    See Also
    --------
    prepare : The same in two steps: all checks, and what would be done; then `run`.

    Notes
    -----
    A run over files that is stopped leaves a hidden folder beside the output
    that only its owner can read: subsets or counts of them, what is kept,
    digests of ids, no values. The same call goes on from there; until then the
    order of the rows is in it, or of the units that were counted.

    Examples
    --------
    >>> import pandas as pd
    >>> from subsetprivacy.design import uniform
    >>> people = pd.DataFrame({"name": ["Ann", "Bob", "Cid"], "colour": ["red", "blue", "red"]})
    >>> colours = uniform(["black", "red", "green", "blue"])
    >>> privatize_table(people, {"colour": colours}, keep_order=True, seed=1)
       colour
    0      10
    1       9
    2       3
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
