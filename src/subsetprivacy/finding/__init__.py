"""All findings of a data set as numbers and notes, computed once for all views."""

from subsetprivacy.finding.dispatch import findings
from subsetprivacy.finding.result import Findings

__all__ = ["Findings", "findings"]
