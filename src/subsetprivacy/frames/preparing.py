"""`prepare`: check everything before `privatize_table` draws, and return the plan to run."""

import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, get_args, overload

from attrs import evolve, frozen

from subsetprivacy._checks import check_choice, check_count, shown
from subsetprivacy._choices import Form, IfExists, Missing
from subsetprivacy._paths import local_path
from subsetprivacy._seeds import seed_number
from subsetprivacy._types import Seed
from subsetprivacy.design import Design
from subsetprivacy.engines import engine_of, is_lazy, is_table
from subsetprivacy.engines.imputed import imputed_columns, refuse_imputed
from subsetprivacy.engines.kinds import plain_table
from subsetprivacy.errors import ArgumentError
from subsetprivacy.frames.cleaning import Cleaning
from subsetprivacy.frames.clusters import check_cluster, privatize_on_cluster
from subsetprivacy.frames.files import format_of
from subsetprivacy.frames.input_files import Input, open_input
from subsetprivacy.frames.jobs import RunOptions, check_same, job_facts
from subsetprivacy.frames.kernel import Kernel, variables_of
from subsetprivacy.frames.on_one_machine import check_in_memory, check_lazy, privatize_in_memory, privatize_lazy
from subsetprivacy.frames.output import check_output
from subsetprivacy.frames.overlap import check_no_overlap
from subsetprivacy.frames.pipeline import Progress, privatize_rows
from subsetprivacy.frames.plan import PlanTask, PrivatizePlan
from subsetprivacy.frames.reading import read_release
from subsetprivacy.frames.release import Release
from subsetprivacy.frames.table_reader import TableReader
from subsetprivacy.messages.for_files import NAME_AN_OUTPUT, PRIVATIZE_ONE_COLUMN
from subsetprivacy.processes import cores, exit_if_reimported

IF_EXISTS: tuple[IfExists, ...] = get_args(IfExists)
LARGE = 1 << 22  # from this many rows on, several processes pay off
NO_SAME = (
    "`if_exists` must be 'error' or 'overwrite' for a table that is not a file, because changes of the table cannot "
    "be detected."
)

TableT = TypeVar("TableT")


@overload
def prepare(
    table: str | os.PathLike[str] | Input,
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
    seed: Seed | None = ...,
) -> PrivatizePlan[Release]: ...
@overload
def prepare(
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
    seed: Seed | None = ...,
) -> PrivatizePlan[TableT]: ...
def prepare(
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
    seed: Seed | None = None,
) -> PrivatizePlan[Any]:
    """Run all checks of `privatize_table` without drawing, and return the plan.

    The plan keeps the input files open, and `run` reads them. Nothing is drawn or written before `run`.

    Parameters
    ----------
    table, designs, output, missing, strip, na, key, id, keep, keep_order, form, overwrite, if_exists, jobs, seed
        As in `privatize_table`.

    Returns
    -------
    PrivatizePlan
        What will be read and written. `summary()` shows it and `run()` carries it out. A ``with`` block closes the
        files at its end, whether the plan was run or not.

    Raises
    ------
    ArgumentError
        If arguments contradict each other, or a column does not exist.
    DataFileError
        If a file cannot be read, a column does not exist, or the output cannot be written.

    Examples
    --------
    >>> import pandas as pd
    >>> from subsetprivacy.design import uniform
    >>> people = pd.DataFrame({"name": ["Ann", "Bob", "Cid"], "color": ["red", "blue", "red"]})
    >>> plan = prepare(people, {"color": uniform(["black", "red", "green", "blue"])})
    >>> plan
    <PrivatizePlan of a pandas table: 3 rows, color (4)>
    >>> plan.run().shape
    (3, 1)
    """
    kernel = Kernel(
        variables_of(designs),
        missing=check_choice(missing, get_args(Missing), "missing"),
        key=key,
        id=id,
        keep=_names(keep),
        cleaning=Cleaning(_flag(strip, "strip"), na),
    )
    processes = None if jobs is None else check_count(jobs, "jobs", 1)
    options = RunOptions(keep_order, form, _if_exists(if_exists, overwrite), processes or 1, seed_number(seed))
    if seed is not None and key is not None:
        raise ArgumentError("only one of `seed` and `key` must be given; got both.")
    kernel.check_order(keep_order)
    if isinstance(table, (str, os.PathLike, Input)):
        if processes != 1:
            exit_if_reimported()
        return _of_file(table, kernel, _needed(output, "a file"), options, automatic=processes is None)
    if not is_table(table):
        raise ArgumentError(
            f"`table` must be a table or the path of a file; got {type(table).__name__}.",
            PRIVATIZE_ONE_COLUMN,
        )
    if options.if_exists == "same":
        raise ArgumentError(NO_SAME)
    return _of_table(plain_table(table), kernel, output, options)


# Files --------------------------------------------------------------------------------------------


def _of_file(table: Any, kernel: Kernel, output: Any, options: RunOptions, *, automatic: bool) -> PrivatizePlan[Any]:
    path, target = table.path if isinstance(table, Input) else local_path(table, "table"), local_path(output, "output")
    check_no_overlap(path, target)
    format_of(target, must_exist=False)  # known before reading anything
    opened = table if isinstance(table, Input) else open_input(path)
    try:
        reader = opened.reader(kernel.columns, kernel.keep, kernel.labels)
        if automatic and (reader.rows or 0) > LARGE:
            options = evolve(options, jobs=cores())
        run = _FileRun.of(reader, kernel, target, options)
    except BaseException:
        opened.close()
        raise
    task = PlanTask(run.run, opened.close)
    return PrivatizePlan.of(path, kernel, target, options, task, reader.rows, reader.is_exact, run.is_finished)


@frozen
class _FileRun:
    """A checked run from a file to another.

    Attributes
    ----------
    facts
        The identity of the job.
    is_finished
        Whether the same job wrote the output before, so that it can stay.
    """

    reader: TableReader
    kernel: Kernel
    output: Path
    options: RunOptions
    facts: dict[str, Any] | None
    is_finished: bool

    @classmethod
    def of(cls, reader: TableReader, kernel: Kernel, output: Path, options: RunOptions) -> "_FileRun":
        """Check the output for this input."""
        kernel = kernel.for_text() if reader.as_text else kernel
        facts = job_facts(reader, kernel, options)
        is_finished = options.if_exists == "same" and output.exists()
        if is_finished:
            check_same(output, facts or {})
        else:
            check_output(output, kernel.designs, options.form, overwrite=options.overwrite)
        return cls(reader, kernel, output, options, facts, is_finished)

    def run(self, progress: Progress | None) -> Release:
        """Draw, or open the output of the same job."""
        if self.is_finished:
            return read_release(self.output)
        return privatize_rows(self.reader, self.kernel, self.output, self.options, self.facts, progress)


# Tables -------------------------------------------------------------------------------------------


def _of_table(table: Any, kernel: Kernel, output: Any, options: RunOptions) -> PrivatizePlan[Any]:
    engine = engine_of(table)
    refuse_imputed(imputed_columns(table), kernel.columns, "`table`")
    rows = None if is_lazy(table) else len(table)
    if engine in ("pyspark", "dask"):
        target: Any = check_cluster(table, kernel, _needed(output, "a lazy table"), options)
        run = partial(privatize_on_cluster, table, kernel, target, options)
    elif rows is None:
        target = local_path(_needed(output, "a lazy table"), "output")
        check_lazy(table, kernel, target, options)
        run = partial(privatize_lazy, table, kernel, target, options)
    else:
        target = None if output is None else local_path(output, "output")
        check_in_memory(table, kernel, target, options)
        run = partial(privatize_in_memory, table, kernel, target, options)
    return PrivatizePlan.of(f"a {engine} table", kernel, target, options, PlanTask(run), rows, rows is not None)


# Arguments ----------------------------------------------------------------------------------------


def _if_exists(given: IfExists | None, overwrite: bool) -> IfExists:
    if given is None:
        return "overwrite" if overwrite else "error"
    if overwrite and given != "overwrite":
        raise ArgumentError("`if_exists` and `overwrite` must agree; got a contradiction.")
    return check_choice(given, IF_EXISTS, "if_exists")


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
