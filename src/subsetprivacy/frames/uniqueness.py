"""Count rows that are unique in the kept columns: anyone who knows these can find the row."""

from collections.abc import Sequence
from typing import Any

from subsetprivacy.frames.data_file import DataFile

MOST_KINDS = 5_000_000  # distinct combinations of kept values in memory
_AT_ONCE = 1 << 20


def count_unique_rows(file: DataFile, keep: Sequence[str]) -> int | None:
    """Return how many rows are unique in the kept columns, or None if that is not known.

    There may be too many combinations, or cells that cannot be grouped, such as lists.
    """
    import pyarrow as pa

    try:
        return _counted_alone(file, keep)
    except pa.ArrowNotImplementedError:
        return None


def _counted_alone(file: DataFile, keep: Sequence[str]) -> int | None:
    import pyarrow as pa
    from pyarrow import compute as pc

    merged: Any = None
    waiting: list[Any] = []
    for batch in file.batches(list(keep)):
        columns = [batch.column(name) for name in keep]
        numbered = [*map(str, range(len(columns))), "n"]
        waiting.append(pa.table([*columns, pa.repeat(pa.scalar(1), batch.num_rows)], names=numbered))
        if sum(map(len, waiting)) > max(_AT_ONCE, 0 if merged is None else len(merged)):
            merged, waiting = _merged(merged, waiting), []
            if len(merged) > MOST_KINDS:
                return None
    merged = _merged(merged, waiting)
    return None if len(merged) > MOST_KINDS else int(pc.sum(pc.equal(merged["n"], 1)).as_py() or 0)


def _merged(merged: Any, waiting: list[Any]) -> Any:
    """Return the distinct rows and how often each occurs."""
    import pyarrow as pa

    together = pa.concat_tables(([] if merged is None else [merged]) + waiting)
    names = together.column_names[:-1]
    grouped = together.group_by(names).aggregate([("n", "sum")])
    return grouped.select([*names, "n_sum"]).rename_columns([*names, "n"])
