"""Tables of any library: their kind, their columns as Arrow batches, and group-by inside their engine.

Engines only count. The meaning of codes is computed in NumPy by the design, because bit arithmetic inside engines was
silently wrong on two of seven.
"""

from subsetprivacy.engines.arrow import tally_batches
from subsetprivacy.engines.batches import arrow_batches
from subsetprivacy.engines.counters import TABLE_FORMAT, count_column, refuse_counts, unused_count
from subsetprivacy.engines.grouping import column_kinds, tally
from subsetprivacy.engines.groups import Groups, Key
from subsetprivacy.engines.headers import check_columns, no_such_column
from subsetprivacy.engines.kinds import (
    column_names,
    computing,
    engine_of,
    is_lazy,
    is_ordered,
    is_table,
    native_column,
    plain_table,
)
from subsetprivacy.engines.orders import declared_order, declared_orders

__all__ = [
    "TABLE_FORMAT",
    "Groups",
    "Key",
    "arrow_batches",
    "check_columns",
    "column_kinds",
    "column_names",
    "computing",
    "count_column",
    "declared_order",
    "declared_orders",
    "engine_of",
    "is_lazy",
    "is_ordered",
    "is_table",
    "native_column",
    "no_such_column",
    "plain_table",
    "refuse_counts",
    "tally",
    "tally_batches",
    "unused_count",
]
