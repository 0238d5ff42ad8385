"""One run of Spark, in a process of its own: ``python spark.py KIND VALUES OUTPUT`` prints one line of JSON."""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from time import perf_counter
from typing import Any


def session() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "6g")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "1000000")
        .getOrCreate()
    )


def draw(batches: Iterator[Any]) -> Iterator[Any]:
    """Draw a random set with the value in it, written by hand: it may hold the value alone, ours may not."""
    import numpy as np
    import pyarrow as pa

    for batch in batches:
        x = batch.column("x").to_numpy()
        z = np.frombuffer(os.urandom(2 * len(x)), np.uint16).astype(np.int64)
        yield pa.RecordBatch.from_arrays([pa.array(z | (np.int64(1) << x))], names=["x"])


def by_hand(spark: Any, frame: Any, output: str) -> int:
    frame.select("x").mapInArrow(draw, "x long").write.mode("overwrite").parquet(output)
    counted = spark.read.parquet(output).groupBy("x").count().toArrow()
    return sum(counted.column("count").to_pylist())


def ours(spark: Any, frame: Any, output: str, keep_order: bool) -> int:
    import subsetprivacy as sp

    design = sp.uniform(list(range(16)))
    written = sp.privatize_table(frame, {"x": design}, output, keep_order=keep_order, overwrite=True)
    return int(sp.count(written, "x", design=design).n)


def main() -> None:
    kind, path, output = sys.argv[1:]
    spark = session()
    frame = spark.read.parquet(path)
    frame.limit(1000).select("x").mapInArrow(draw, "x long").count()  # Spark and its Python workers are warm
    start = perf_counter()
    n = by_hand(spark, frame, output) if kind == "by_hand" else ours(spark, frame, output, kind == "kept")
    seconds = perf_counter() - start
    spark.stop()
    shutil.rmtree(output)
    print(json.dumps({"seconds": seconds, "result": n, "gigabytes": 0}))


if __name__ == "__main__":
    main()
