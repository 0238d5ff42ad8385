"""The works that are timed, each in a process of its own: ``python work.py NAME ARGUMENT...`` prints one line of JSON.

Imports are not timed. The peak of memory is that of the process, and of the largest of those it started.
"""

import json
import resource
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

BATCH = 1 << 20


def count_ours(path: str) -> Callable[[], Any]:
    import subsetprivacy as sp
    import subsetprivacy.engines.arrow

    release = sp.read_release(path, {"x": design()})
    return lambda: release.count("x").n


def count_duckdb(path: str) -> Callable[[], Any]:
    """Group by hand, and bring the distinct codes into NumPy."""
    import duckdb

    files = f"{path}/*.parquet" if Path(path).is_dir() else path
    query = f"SELECT x, count(*) AS n FROM read_parquet('{files}') GROUP BY x"
    return lambda: int(duckdb.sql(query).fetchnumpy()["n"].sum())


def privatize_ours(path: str, output: str, column: str, jobs: str, keep_order: str) -> Callable[[], Any]:
    import subsetprivacy as sp
    import subsetprivacy.frames.privatizing

    design_of_column = design(labels=column == "label")
    return lambda: (
        sp.privatize_table(
            path, {column: design_of_column}, output, jobs=int(jobs), keep_order=keep_order == "kept", overwrite=True
        ).rows
    )


def bare_loop(path: str, output: str) -> Callable[[], Any]:
    """Read the column and write it as int64: what no privatising can be faster than."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def run() -> int:
        rows = 0
        with (
            pq.ParquetFile(path) as file,
            pq.ParquetWriter(output, pa.schema([("x", pa.int64())]), compression="snappy") as writer,
        ):
            for batch in file.iter_batches(BATCH, columns=["x"], use_threads=False):
                writer.write_batch(batch)
                rows += batch.num_rows
        return rows

    return run


def whole_path(path: str, output: str) -> Callable[[], Any]:
    """Privatise, count, estimate with intervals; return how long each took."""
    import subsetprivacy as sp
    import subsetprivacy.estimation.dispatch
    import subsetprivacy.frames.privatizing

    chosen = design()

    def run() -> list[float]:
        times = [perf_counter()]
        release = sp.privatize_table(path, {"x": chosen}, output, jobs=2, overwrite=True)
        times.append(perf_counter())
        counts = release.count("x")
        times.append(perf_counter())
        sp.estimate(counts).interval()
        times.append(perf_counter())
        return [later - earlier for earlier, later in pairwise(times)]

    return run


def design(labels: bool = False) -> Any:
    from values import CATEGORIES, LABELS

    import subsetprivacy as sp

    return sp.uniform(LABELS if labels else list(range(CATEGORIES)))


def main() -> None:
    name, *arguments = sys.argv[1:]
    run = globals()[name](*arguments)
    start = perf_counter()
    result = run()
    seconds = perf_counter() - start
    kilobytes = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(json.dumps({"seconds": seconds, "result": result, "gigabytes": sum(kilobytes) / 1e6}))


if __name__ == "__main__":
    main()
