"""Privatize a Spark table on its workers; it uses only the DataFrame API, so Spark Connect works too.

Drawn rows are written before anything else. Spark recomputes lost partitions with other random numbers, so no exchange
of rows may come between a draw and its files. Otherwise rows of a second draw would be lost or duplicated. (In a trial
with a killed worker and 30,000 rows, Spark 4.0 silently lost 3,400 rows and duplicated others, and Spark 4.3 gave up
the job.)
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from subsetprivacy.design import Design
from subsetprivacy.engines import check_columns
from subsetprivacy.engines.buffers import to_numpy
from subsetprivacy.errors import DataFileError
from subsetprivacy.frames.kernel import Kernel
from subsetprivacy.frames.metadata import codes_document
from subsetprivacy.frames.overlap import check_no_overlap_with
from subsetprivacy.frames.spark_folder import (
    check_output,
    exists,
    local_path,
    remove,
    sibling_folder,
    with_safe_errors,
    write_document,
)
from subsetprivacy.frames.spark_package import send_package
from subsetprivacy.frames.worker import (
    COUNTED,
    CountTask,
    DrawDummiesTask,
    DrawTask,
    LayOutTask,
    WorkerTasks,
    shares_of_work,
)
from subsetprivacy.messages.for_files import REPLACE_OUTPUT

_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
_BATCH_ROWS = "250000"


def privatize_on_spark(
    frame: Any,
    kernel: Kernel,
    output: Any,
    *,
    keep_order: bool,
    overwrite: bool,
    progress: Callable[[int, int | None], None] | None = None,
) -> Any:
    """Draw the subsets of a Spark table into a folder of Parquet files, and return the folder as a table.

    Parameters
    ----------
    frame
        A DataFrame of PySpark, classic or Connect, from 4.0 on.
    kernel
        What to draw.
    output
        The path or URI of the folder; Spark writes there.
    keep_order
        Whether to keep the order of the partitions; otherwise the whole table is shuffled.
    overwrite
        Whether to replace an existing folder, after all rows were drawn.
    progress
        Called once with the number of rows at the end.

    Raises
    ------
    CategoryError
        If values are missing or no categories. The message gives the count in the first affected partition. Nothing
        is written.
    DataFileError
        If the folder exists, or Spark cannot read or write.

    Notes
    -----
    If only a few kinds of rows are possible, every worker counts its rows and writes the counts to a folder next to
    the output. From their sum the workers lay out the rows again in random order, and no row moves between workers.

    Otherwise every row is written with a random 64-bit word to a folder next to the output. From then on rows and
    words are fixed, even if a worker dies. The rows are distributed and sorted by the word, which is then dropped.
    The words are independent of the data, so all orders are equally likely, except for rows with equal words. Among
    10^9 rows there is such a pair once in 37 runs.
    """
    target = check_output(output)
    check_columns(frame, kernel.columns, labels=kernel.labels)
    kernel.check_order(keep_order)
    return _SparkRun(frame, kernel, target, keep_order, overwrite).result(progress)


class _SparkRun:
    """A run that writes one table to one folder."""

    def __init__(self, frame: Any, kernel: Kernel, output: str, keep_order: bool, overwrite: bool) -> None:
        self.frame, self.kernel, self.output = frame, kernel, output
        self.keep_order, self.overwrite = keep_order, overwrite
        self.spark = frame.sparkSession
        self.tasks = WorkerTasks.of(kernel, keep_order=keep_order)
        self.replaces = False

    def result(self, progress: Callable[[int, int | None], None] | None) -> Any:
        spark, output = self.spark, self.output
        self._check_free()
        codes_document(self.kernel.designs)  # raises early if labels cannot be written as JSON
        is_new_here = (here := local_path(output)) is None or not here.exists()
        with_safe_errors(lambda: send_package(spark), "send this package to its workers")
        try:
            with larger_batches(spark):
                designs = with_safe_errors(self._write, f"read the table and write {output}")
            with_safe_errors(lambda: write_document(spark, output, codes_document(designs)), f"write in {output}")
        except BaseException:
            if is_new_here:  # made by this run
                remove(spark, output)
            raise
        written = spark.read.parquet(output)
        if progress is not None:
            rows = written.count()
            progress(rows, rows)
        return written

    def _check_free(self) -> None:
        check_no_overlap_with(with_safe_errors(self.frame.inputFiles, "list the files of the table"), self.output)
        there = with_safe_errors(lambda: exists(self.spark, self.output), f"look for {self.output}")
        self.replaces = there
        if there and not self.overwrite:
            raise DataFileError(f"the folder {self.output!r} must be new; it exists.", REPLACE_OUTPUT)

    def _write(self) -> dict[str, Design]:
        """Write the output, and return the realized designs."""
        if self.keep_order and not self.replaces:
            self._save(self._made(self.frame, self.kernel.columns, DrawTask(self.kernel)))
            return self.kernel.designs
        staging = sibling_folder(self.output)
        try:
            return self._write_by(staging)
        finally:
            remove(self.spark, staging)

    def _write_by(self, staging: str) -> dict[str, Design]:
        task = self.tasks.draw(in_order=self.keep_order)
        self._made(self.frame, self.kernel.columns, task).write.parquet(staging)
        designs = self._add_dummies(staging)
        rows, key = self.spark.read.parquet(staging), self.tasks.key  # no row is drawn after this
        if self.tasks.counts:
            self._lay_out(rows)
        else:
            ordered = rows.orderBy(key) if self.keep_order else rows.repartition(key).sortWithinPartitions(key)
            self._save(chosen(ordered, [*self.kernel.names, *self.kernel.keep]))
        return designs

    def _lay_out(self, counted: Any) -> None:
        """Write the counted rows in random order."""
        word, count = COUNTED
        totals = counted.groupBy(word).agg({count: "sum"}).toArrow()
        counts = self.tasks.packing.no_counts()
        counts[to_numpy(totals.column(0))] = to_numpy(totals.column(1))
        shares = [(number, bytearray(share)) for number, share in enumerate(shares_of_work(counts))]
        table = self.spark.createDataFrame(shares, "number long, counts binary")
        table = table.repartitionByRange(len(shares), "number")  # a task for each
        self._save(_mapped(table, ["counts"], LayOutTask(self.tasks.packing), self._schema(self.kernel.names)))

    def _save(self, rows: Any) -> None:
        rows.write.mode("overwrite" if self.replaces else "error").parquet(self.output)

    def _made(self, frame: Any, columns: list[str], task: DrawTask | DrawDummiesTask | CountTask) -> Any:
        """Return the drawn rows of a table, or their counts."""
        if isinstance(task, CountTask):
            return _mapped(frame, columns, task, self._schema(COUNTED, (), task.reports))
        return _mapped(frame, columns, task, self._schema(self.kernel.names, self.kernel.keep, task.key, task.reports))

    def _schema(self, numbers: Iterable[str], keep: Iterable[str] = (), *added: str | None) -> Any:
        from pyspark.sql.types import LongType, StructField, StructType

        by_name = {each.name: each for each in self.frame.schema}
        made = [StructField(name, LongType(), False) for name in numbers]
        made += [StructField(name, by_name[name].dataType, True) for name in keep]
        return StructType(made + [StructField(name, LongType(), False) for name in added if name is not None])

    def _add_dummies(self, staging: str) -> dict[str, Design]:
        """Add the dummy rows of a covered design to the drawn rows."""
        if self.kernel.covered is None:
            return self.kernel.designs
        (total,) = self.spark.read.parquet(staging).groupBy().sum(self.tasks.reports).first()
        realized = self.kernel.covered.realized(int(total or 0))
        assert realized.dummies is not None
        numbers = self.spark.range(realized.D * realized.dummies)
        dummies = self._made(numbers, ["id"], self.tasks.draw_dummies(realized))
        dummies.write.mode("append").parquet(staging)
        return {self.kernel.names[0]: realized}


def _mapped(
    frame: Any, names: list[str], task: DrawTask | DrawDummiesTask | CountTask | LayOutTask, schema: Any
) -> Any:
    """Apply a task to the columns with these names.

    Columns are renamed meanwhile, because Spark would parse names with dots or backticks.
    """
    from pyspark.sql.types import StructField, StructType

    def part(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        named = (batch.rename_columns(names) for batch in batches)
        for made in task.part(named, context.partitionId() if context else 0):
            yield made.rename_columns(_plain(made.num_columns))

    fields = [
        StructField(name, each.dataType, each.nullable) for name, each in zip(_plain(len(schema)), schema, strict=True)
    ]
    return chosen(frame, names, rename=False).mapInArrow(part, StructType(fields)).toDF(*schema.names)


def chosen(frame: Any, names: Sequence[str], *, rename: bool = True) -> Any:
    """Select columns by position; they are called c0, c1, … unless they keep their names."""
    plain = _plain(len(frame.columns))
    selected = frame.toDF(*plain).select(*(plain[frame.columns.index(name)] for name in names))
    return selected.toDF(*names) if rename else selected


def _plain(number: int) -> list[str]:
    return [f"c{k}" for k in range(number)]


@contextmanager
def larger_batches(spark: Any) -> Iterator[None]:
    """Use larger batches on the workers meanwhile, because each batch has a fixed cost."""
    before = spark.conf.get(_BATCH)
    spark.conf.set(_BATCH, _BATCH_ROWS)
    try:
        yield
    finally:
        spark.conf.set(_BATCH, before)
