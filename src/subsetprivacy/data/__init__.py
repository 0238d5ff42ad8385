"""Collected data: a subset per person (`SubsetData`), and counts of subsets (`SubsetCounts`).

Counts are sufficient for all estimators of the package. The full set carries
no information, whether it was drawn or stands for a missing answer. It is
counted separately as `n_missing` and left out of all other numbers.
"""

from subsetprivacy.data.batch import CountsBatch
from subsetprivacy.data.conversion import as_counts
from subsetprivacy.data.counts import SubsetCounts
from subsetprivacy.data.groups import GroupedCounts, only_known, without_group
from subsetprivacy.data.joint import JointCounts, as_joint
from subsetprivacy.data.people import SubsetData
from subsetprivacy.data.questions import QuestionCounts
from subsetprivacy.data.table import SubsetTable
from subsetprivacy.data.tally import count_codes
from subsetprivacy.data.validation import check_allowed

__all__ = [
    "CountsBatch",
    "GroupedCounts",
    "JointCounts",
    "QuestionCounts",
    "SubsetCounts",
    "SubsetData",
    "SubsetTable",
    "as_counts",
    "as_joint",
    "check_allowed",
    "count_codes",
    "only_known",
    "without_group",
]
