"""Tables of any library: what one is, its columns as Arrow batches, and group-by inside the engine that holds it.

Engines only count. What a code means is decided by its design, in NumPy:
bit arithmetic inside engines gave silently wrong answers on two of seven.
"""

from subsetprivacy.engines.arrow import tally_batches
from subsetprivacy.engines.batches import arrow_batches
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
    "Groups",
    "Key",
    "arrow_batches",
    "check_columns",
    "column_kinds",
    "column_names",
    "computing",
    "declared_order",
    "declared_orders",
    "engine_of",
    "is_lazy",
    "is_ordered",
    "is_table",
    "native_column",
    "no_such_column",
    "plain_table",
    "tally",
    "tally_batches",
]
