"""Everything that the counts of a data set say, as numbers and notes: one computation for all views."""

from subsetprivacy.finding.findings import Findings, findings

__all__ = ["Findings", "findings"]
