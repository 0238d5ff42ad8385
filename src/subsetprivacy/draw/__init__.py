"""Pictures of plain arrays: nothing here knows a design or an estimate, so every result can call it."""

from subsetprivacy.draw.charts import cases, convergence, difference, estimate, leakage

__all__ = ["cases", "convergence", "difference", "estimate", "leakage"]
