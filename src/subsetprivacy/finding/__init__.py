"""Everything that the counts of a data set say, as numbers and notes: one computation for all views."""

from subsetprivacy.finding.dispatch import findings
from subsetprivacy.finding.result import Findings

__all__ = ["Findings", "findings"]
