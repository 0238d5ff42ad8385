"""The paper's tables and figures, each a file named after its label, run by `subsetprivacy reproduce` (`sec_exp`).

>>> from subsetprivacy.reproduce import reproduce
>>> for finished in reproduce("toy_example", output=folder):  # doctest: +SKIP
...     print(finished.record.tally())
"""

from subsetprivacy.reproduce.registry import LABELS, load, select
from subsetprivacy.reproduce.runner import Finished, reproduce
from subsetprivacy.reproduce.store import Record, read_all

__all__ = ["LABELS", "Finished", "Record", "load", "read_all", "reproduce", "select"]
