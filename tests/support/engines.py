"""The same table in every library: a constructor each, from ``{column: list}``."""

import tempfile
import warnings
from pathlib import Path

from spark import spark_under_test


def _pandas(columns, folder):
    import pandas as pd

    return pd.DataFrame(columns)


def _pandas_nullable(columns, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas 2 tries to cast an infinity
        return _pandas(columns, folder).convert_dtypes()


def _polars(columns, folder):
    import polars as pl

    return pl.DataFrame(columns, strict=False)


def _polars_lazy(columns, folder):
    return _polars(columns, folder).lazy()


def _pyarrow(columns, folder):
    import pyarrow as pa

    return pa.table(columns)


def _chunked(columns, folder):
    import pyarrow as pa

    whole = _pyarrow(columns, folder)
    return pa.concat_tables([whole.slice(0, 7), whole.slice(7)])


def _record_batch(columns, folder):
    import pyarrow as pa

    return pa.record_batch(columns)


def _dataset(columns, folder):
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    whole = _pyarrow(columns, folder)
    target = Path(tempfile.mkdtemp(dir=folder))
    for number, part in enumerate((whole.slice(0, 11), whole.slice(11))):  # rows go on from one file to the next
        pq.write_table(part, target / f"part-{number}.parquet", row_group_size=5)
    return ds.dataset(target)


def _duckdb(columns, folder):
    import duckdb

    return duckdb.from_arrow(_pyarrow(columns, folder))


def _dask(columns, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask's own, about what it imports
        import dask.dataframe as dd

    return dd.from_pandas(_pandas_nullable(columns, folder), npartitions=2)


def _ibis(columns, folder):
    import ibis

    return ibis.memtable(_pyarrow(columns, folder))


def _narwhals(columns, folder):
    import narwhals as nw

    return nw.from_native(_polars(columns, folder))


def _narwhals_lazy(columns, folder):
    import narwhals.stable.v2 as nw

    return nw.from_native(_duckdb(columns, folder))


# Constructor, and the name that `engine_of` gives.
CONSTRUCTORS = {
    "pandas": (_pandas, "pandas"),
    "pandas nullable": (_pandas_nullable, "pandas"),
    "polars": (_polars, "polars"),
    "polars lazy": (_polars_lazy, "polars-lazy"),
    "pyarrow": (_pyarrow, "pyarrow"),
    "pyarrow chunked": (_chunked, "pyarrow"),
    "record batch": (_record_batch, "pyarrow"),
    "dataset": (_dataset, "pyarrow-dataset"),
    "duckdb": (_duckdb, "duckdb"),
    "dask": (_dask, "dask"),
    "ibis": (_ibis, "ibis"),
    "narwhals": (_narwhals, "polars"),
    "narwhals lazy": (_narwhals_lazy, "duckdb"),
}
LIBRARY = {"record batch": "pyarrow", "dataset": "pyarrow", "narwhals": "polars", "narwhals lazy": "duckdb"}


def engines_under_test():
    """Return the engines to run on: all that live in this process, or Spark alone where it is under test."""
    return ["pyspark"] if spark_under_test() else list(CONSTRUCTORS)


def spark_table(columns, session):
    """Return a Spark table, through Arrow so that integers with gaps stay integers."""
    import pyarrow as pa

    return session.createDataFrame(pa.table(columns))
