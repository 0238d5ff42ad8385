"""Pictures of plain arrays: nothing here knows a design or an estimate, so every result can call it."""

from subsetprivacy.draw.charts import cases, convergence, difference, estimate, leakage
from subsetprivacy.draw.nulls import null_law
from subsetprivacy.draw.plans import costs
from subsetprivacy.draw.residuals import residuals
from subsetprivacy.draw.tradeoff import tradeoff

__all__ = ["cases", "convergence", "costs", "difference", "estimate", "leakage", "null_law", "residuals", "tradeoff"]
