"""`count`: count subsets in columns and tables, by group and with weights.

`columns` reads data with a subset per person. `tables` lets the engine of a
table group its rows. `distinct` converts the resulting groups to codes of a
design.
"""

from subsetprivacy.counting.columns import read_column
from subsetprivacy.counting.dispatch import count
from subsetprivacy.counting.distinct import counts_of_groups
from subsetprivacy.counting.tables import count_columns

__all__ = ["count", "count_columns", "counts_of_groups", "read_column"]
