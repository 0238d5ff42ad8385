"""`privatize_table`: replace the values of a table's columns by subsets, wherever the table is."""

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args, overload

from subsetprivacy._checks import check_choice, check_count, shown
from subsetprivacy._choices import Form, IfExists, Missing
from subsetprivacy._paths import local_path
from subsetprivacy._seeds import seed_number
from subsetprivacy._types import Seed
from subsetprivacy.design import Design
from subsetprivacy.engines import engine_of, is_lazy, is_table
from subsetprivacy.engines.kinds import plain_table
from subsetprivacy.errors import ArgumentError, NotPrivateWarning
from subsetprivacy.frames.apart import check_apart, check_apart_from
from subsetprivacy.frames.cleaning import Cleaning
from subsetprivacy.frames.clusters import privatize_on_cluster
from subsetprivacy.frames.files import format_of
from subsetprivacy.frames.kernel import Kernel, variables_of
from subsetprivacy.frames.memory import privatize_in_memory
from subsetprivacy.frames.pipeline import NO_SAME, Order, privatize_source
from subsetprivacy.frames.reading import read_release
from subsetprivacy.frames.release import Release
from subsetprivacy.frames.reopening import check_reopening, reopened
from subsetprivacy.frames.sources import file_source, table_source
from subsetprivacy.frames.trouble import arrow
from subsetprivacy.mechanism.publish import warn_if_revealing
from subsetprivacy.messages.for_files import NAME_AN_OUTPUT, PRIVATIZE_ONE_COLUMN

IF_EXISTS: tuple[IfExists, ...] = get_args(IfExists)

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
    jobs: int = ...,
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
    jobs: int = ...,
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
    jobs: int = 1,
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
        Processes, for files on this machine. In a script that is run as a
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
    arrow()  # or say how to get it
    kernel = Kernel(
        variables_of(designs),
        missing=check_choice(missing, get_args(Missing), "missing"),
        key=key,
        id=id,
        keep=_names(keep),
        cleaning=Cleaning(_flag(strip, "strip"), na),
    )
    how = _if_exists(if_exists, overwrite)
    order = Order(keep_order, form, how, check_count(jobs, "jobs", 1), seed_number(seed), progress)
    if seed is not None and key is not None:
        raise ArgumentError("only one of `seed` and `key` must be given; got both.")
    for each in kernel.variables:
        warn_if_revealing(each.design, stacklevel=3)
    if kernel.keep:
        _warn_of_kept(kernel.keep)
    if order.if_exists == "same" and is_table(table):
        raise ArgumentError(NO_SAME)
    if is_table(table) and engine_of(table) in ("pyspark", "dask"):
        return privatize_on_cluster(plain_table(table), kernel, _needed(output, "a lazy table"), order)
    target = None if output is None else local_path(output, "output")
    if isinstance(table, (str, os.PathLike)):
        return _of_file(local_path(table, "table"), kernel, _needed(target, "a file"), order)
    if not is_table(table):
        raise ArgumentError(
            f"`table` must be a table or the path of a file; got {type(table).__name__}.",
            PRIVATIZE_ONE_COLUMN,
        )
    return _of_table(plain_table(table), kernel, target, order)


def _of_file(path: Path, kernel: Kernel, output: Path, order: Order) -> Release:
    check_apart(path, output)
    format_of(output, must_exist=False)  # known before anything is read
    source = file_source(path, kernel.columns, kernel.keep, kernel.labels)
    privatize_source(source, kernel.for_text() if source.as_text else kernel, output, order)
    return read_release(output)


def _of_table(table: Any, kernel: Kernel, output: Path | None, order: Order) -> Any:
    if not is_lazy(table):
        return privatize_in_memory(table, kernel, output, order)
    target = _needed(output, "a lazy table")
    check_reopening(table, target)
    if engine_of(table) == "pyarrow-dataset":
        check_apart_from(getattr(table, "files", ()), str(target))
    privatize_source(table_source(table, kernel.columns, kernel.labels), kernel, target, order)
    return reopened(table, target)


def _if_exists(said: IfExists | None, overwrite: bool) -> IfExists:
    if said is None:
        return "overwrite" if overwrite else "error"
    if overwrite and said != "overwrite":
        raise ArgumentError("`if_exists` and `overwrite` must say the same; got both, and they do not.")
    return check_choice(said, IF_EXISTS, "if_exists")


def _names(keep: Iterable[str]) -> tuple[str, ...]:
    names = (keep,) if isinstance(keep, str) else tuple(keep)
    strange = next((name for name in names if not isinstance(name, str)), None)
    if strange is not None:
        raise ArgumentError(f"`keep` must be names of columns; got {shown(strange)}.")
    return names


def _flag(given: Any, name: str) -> bool:
    if not isinstance(given, bool):
        raise ArgumentError(f"`{name}` must be True or False; got {shown(given)}.")
    return given


def _needed(output: Any, what: str) -> Any:
    if output is None:
        raise ArgumentError(
            f"`output` must say where to write: {what} is privatized once, written, and read back.",
            NAME_AN_OUTPUT,
        )
    return output


def _warn_of_kept(keep: tuple[str, ...]) -> None:
    warnings.warn(
        f"kept and published as it is: {', '.join(keep)}. Nothing protects what is kept, and several columns together "
        "may name a person.",
        NotPrivateWarning,
        stacklevel=3,
    )
