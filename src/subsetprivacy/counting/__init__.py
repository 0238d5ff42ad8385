"""`count`: from anything that holds subsets to their counts, in groups and with weights.

`columns` reads what holds a subset per person, `tables` asks the engine of a
table to group it, `distinct` turns what comes back into codes of a design.
"""

from subsetprivacy.counting.columns import read_column
from subsetprivacy.counting.dispatch import count
from subsetprivacy.counting.distinct import counts_of_groups
from subsetprivacy.counting.tables import count_columns

__all__ = ["count", "count_columns", "counts_of_groups", "read_column"]
