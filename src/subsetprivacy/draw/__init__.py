"""Pictures of plain arrays: nothing here knows a design or an estimate, so every result can call it."""

from subsetprivacy.draw.charts import cases, convergence, difference, estimate, leakage
from subsetprivacy.draw.heat import heatmap
from subsetprivacy.draw.nulls import null_law
from subsetprivacy.draw.plans import costs
from subsetprivacy.draw.powers import power_curves
from subsetprivacy.draw.residuals import residuals
from subsetprivacy.draw.series import beside, normality, series
from subsetprivacy.draw.tradeoff import tradeoff

__all__ = [
    "beside",
    "cases",
    "convergence",
    "costs",
    "difference",
    "estimate",
    "heatmap",
    "leakage",
    "normality",
    "null_law",
    "power_curves",
    "residuals",
    "series",
    "tradeoff",
]
