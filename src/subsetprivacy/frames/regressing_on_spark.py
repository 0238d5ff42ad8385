"""Regression on a Spark table by its workers; it uses only the DataFrame API, so Spark Connect works too.

Spark finds the levels of the covariates. For every sum over people each worker encodes its rows, sums the results of a
kernel, and returns one row. The driver adds up these rows.
"""

import pickle
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._types import Label
from subsetprivacy.counting.tables import count_columns
from subsetprivacy.design import Design
from subsetprivacy.engines import check_columns, column_names, plain_table
from subsetprivacy.errors import ArgumentError, NoDataError
from subsetprivacy.frames.covariate_problems import CovariateProblems
from subsetprivacy.frames.covariates import (
    MOST_FROM_SPARK,
    MOST_LEVELS,
    Covariates,
    LabelColumn,
    check_level_count,
    covariate_column,
    number_levels,
)
from subsetprivacy.frames.file_covariates import needs_all_rows
from subsetprivacy.frames.formula_terms import read_terms, split_formula
from subsetprivacy.frames.formulas import encoder_of_terms
from subsetprivacy.frames.on_spark import chosen, larger_batches
from subsetprivacy.frames.regression_people import RegressArguments, StreamedPeople
from subsetprivacy.frames.spark_folder import with_safe_errors
from subsetprivacy.frames.spark_package import send_package
from subsetprivacy.frames.streamed_blocks import BlockMaker, Progress, Tally
from subsetprivacy.frames.worker_sums import SUMS, RowReader, SpreadTask, SumTask, run_task, unpacked
from subsetprivacy.messages.for_regression import IN_MEMORY
from subsetprivacy.regression.blocks import Block, Kernel, Sums, largest, summed
from subsetprivacy.regression.problem import CovariateColumns, require_response

_READ = "read the table"
_FEW = 1000  # rows to inspect columns


def people_on_spark(
    formula: str, table: Any, designs: Mapping[str, Design], arguments: RegressArguments
) -> StreamedPeople | None:
    """Prepare a Spark table without loading it; None if it is small enough to load.

    Parameters
    ----------
    formula, table
        As in `regress`.
    designs
        The designs of the private columns.
    arguments
        The arguments of `regress`. If `stream` is None, up to a million rows are loaded.
    """
    frame = plain_table(table)
    response, right = split_formula(formula, dict(designs))
    left_out = [*designs, *arguments.named]
    terms = read_terms(right, [name for name in column_names(frame) if name not in left_out])
    weights, offset = (each if isinstance(each, str) else None for each in (arguments.weights, arguments.offset))
    names = tuple(dict.fromkeys([response, *terms.variables, *filter(None, (weights, offset))]))
    check_columns(frame, list(names))
    # Plain names, because Spark would parse names with dots or backticks.
    rows = chosen(frame, names, rename=False).toDF(*(f"c{k}" for k in range(len(names))))
    if arguments.stream is None and with_safe_errors(rows.limit(MOST_FROM_SPARK + 1).count, _READ) <= MOST_FROM_SPARK:
        return None
    arguments.check_streamable()
    for factor in terms.factors:
        if factor.remembers:  # before reading anything
            raise needs_all_rows(factor.text)
    require_response(designs[response])
    kept = _CachedRows(rows)
    tally = _tally(kept, names, designs[response], weights, arguments)
    source = SparkCovariates(kept.rows, names)
    source.check(list(dict.fromkeys([*terms.variables, *filter(None, (offset,))])))
    encoder = encoder_of_terms(terms, source)
    columns = CovariateColumns.of(encoder)
    maker = BlockMaker(designs[response], columns.intercept if arguments.ordinal else None, tally.scale)
    blocks = SparkBlocks(kept, RowReader(encoder, maker, names, weights, offset), tally.rows, arguments.progress)
    return StreamedPeople(response, blocks, tally, columns, arguments.weights_kind)


def _tally(
    kept: "_CachedRows", names: tuple[str, ...], design: Design, weights: str | None, arguments: RegressArguments
) -> Tally:
    """Let Spark count the responses."""
    counts: Any = count_columns(
        kept.rows.toDF(*names),
        {names[0]: design},
        weights=weights,
        weights_kind=arguments.weights_kind,
        missing=arguments.missing,
    )
    rows = int(counts.total)
    if weights is not None:
        heavy = kept.rows.filter(f"c{names.index(weights)} > 0")
        weighted = heavy.toDF(*names)
        rows = int(count_columns(weighted, {names[0]: design}, missing=arguments.missing).total)  # type: ignore[union-attr]
    return Tally.of(counts, rows, sampling=arguments.weights_kind == "sampling")


class _CachedRows:
    """Columns of a Spark table, cached while they are needed."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        with suppress(Exception):  # a service without a cache computes them again
            self.rows = rows.persist()
            weakref.finalize(self, _unpersist, self.rows).atexit = False

    @property
    def spark(self) -> Any:
        """The session."""
        return self.rows.sparkSession


def _unpersist(rows: Any) -> None:
    with suppress(Exception):  # the session may be gone
        rows.unpersist()


@frozen(eq=False)
class SparkCovariates:
    """Covariates in a Spark table.

    Attributes
    ----------
    rows
        The table, with columns c0, c1, …
    names
        Their names.
    """

    rows: Any
    names: tuple[str, ...]

    def _only(self, variables: Sequence[str]) -> Any:
        return self.rows.select(*(self._plain(name) for name in variables))

    def _plain(self, name: str) -> str:
        return f"c{self.names.index(name)}"

    def check(self, variables: Sequence[str]) -> None:
        """Raise if values are missing or infinite, with columns and counts."""
        counts = ["count(*)"]
        types = {field.name: field.dataType.typeName() for field in self.rows.schema}
        for name in variables:
            c = self._plain(name)
            real = types[c] in {"float", "double"}
            counts += [f"count_if({c} IS NULL{f' OR isnan({c})' if real else ''})"]
            counts += [f"count_if(abs({c}) = double('infinity'))" if real else "0"]
        (row,) = with_safe_errors(self.rows.selectExpr(*counts).collect, _READ)
        if not row[0]:
            raise NoDataError("a table of covariates must have rows; got none.")
        problems = CovariateProblems(None)
        for k, name in enumerate(variables):
            problems.add_counted(f"column {name}", "missing", int(row[1 + 2 * k]))
            problems.add_counted(f"column {name}", "infinite", int(row[2 + 2 * k]))
        problems.refuse()

    def levels(self, name: str, coded: bool) -> tuple[Label, ...] | None:
        """Let Spark find the levels of a column; None for numbers."""
        column = self._only([name])
        is_text = isinstance(self._read(column.limit(0), [name]).columns[name], LabelColumn)
        if not is_text and not coded:
            return None
        distinct = self._read(column.distinct().limit(MOST_LEVELS + 1), [name])
        check_level_count(distinct.rows, name)
        values = distinct.columns[name]
        if isinstance(values, LabelColumn):
            return tuple(values.levels())
        return number_levels(set(values.part(0, distinct.rows).tolist()), name, values.boolean)

    def parts(self, variables: Sequence[str]) -> Iterable[Covariates]:
        """Return some rows, then all distinct rows of some columns."""
        some = self._only(variables)
        yield self._read(some.limit(_FEW), variables)
        different = some.distinct().limit(MOST_FROM_SPARK + 1)
        distinct = self._read(different, variables)
        if distinct.rows > MOST_FROM_SPARK:
            raise ArgumentError(
                f"{', '.join(variables)} must have at most {MOST_FROM_SPARK:,} different values for levels of an "
                "expression; got more."
            )
        yield distinct

    def whole(self, variables: Sequence[str], term: str) -> Covariates:
        """Refuse a term that needs all rows at once."""
        raise needs_all_rows(term)

    def _read(self, rows: Any, variables: Sequence[str]) -> Covariates:
        table = with_safe_errors(rows.toArrow, _READ)
        columns = {name: covariate_column(table.column(k), name) for k, name in enumerate(variables)}
        return Covariates(columns, table.num_rows, ordered=False)


class SparkBlocks:
    """The people of a Spark table; every sum is a Spark job.

    Parameters
    ----------
    kept
        The columns that are needed.
    reader
        How the workers read them.
    rows
        The number of informative people.
    progress
        Called with the number of rows processed by all jobs so far, and None.
    """

    def __init__(self, kept: _CachedRows, reader: RowReader, rows: int, progress: Progress | None = None) -> None:
        self._kept: _CachedRows | None = kept
        self._reader, self._rows, self._progress = reader, rows, progress
        self._rows_read = 0

    @property
    def d(self) -> int:
        """The number of covariates."""
        return len(self._reader.encoder.columns) - (self._reader.maker.left_out is not None)

    @property
    def design(self) -> Design:
        """The design."""
        return self._reader.maker.design

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_kept": None, "_progress": None}  # a session cannot be pickled

    def total(self, kernel: Kernel) -> Sums:
        """Return the sums over all people."""
        return summed(self._parts(SumTask(self._reader, kernel)))

    def most(self, kernel: Kernel) -> Sums:
        """Return the largest over all blocks."""
        return largest(self._parts(SumTask(self._reader, kernel, largest=True)))

    def some(self, n: int) -> Block:
        """Return about `n` people, evenly spread."""
        parts = list(self._parts(SpreadTask(self._reader, max(self._rows // n, 1))))
        axes = [0, 1, *([0] if self._reader.weights is not None else []), 1]
        X, R, *rest = (np.concatenate(each, axis=k) for k, each in zip(axes, zip(*parts, strict=True), strict=False))
        weight = rest.pop(0) if self._reader.weights is not None else None
        return Block(X, R, weight, rest[0] if rest else None)

    def _parts(self, task: SumTask | SpreadTask) -> Iterator[Sums]:
        """Run a task on the workers, and yield the result of each partition, in order."""
        if self._kept is None:
            raise ArgumentError("the table of Spark must be at hand for this; got a fit that was stored.", IN_MEMORY)
        spark, content = self._kept.spark, pickle.dumps(task)
        with_safe_errors(lambda: send_package(spark), "send this package to its workers")

        def part(batches: Iterator[Any]) -> Iterator[Any]:
            from pyspark import TaskContext

            context = TaskContext.get()
            yield from run_task(content, batches, context.partitionId() if context else 0)

        with larger_batches(spark):
            mapped = self._kept.rows.mapInArrow(part, f"{SUMS[0]} long, {SUMS[1]} binary")
            results = with_safe_errors(mapped.toArrow, "add up what its workers found").to_pydict()
        self._rows_read += self._rows
        if self._progress is not None:
            self._progress(self._rows_read, None)
        order = np.argsort(results[SUMS[0]], kind="stable")  # so that rounding errors are reproducible
        return (unpacked(results[SUMS[1]][k]) for k in order.tolist())
