"""Pictures of plain arrays: nothing here knows a design or an estimate, so every result can call it."""

from subsetprivacy.draw.balls import cases
from subsetprivacy.draw.charts import convergence, difference, estimate, leakage, require_matplotlib
from subsetprivacy.draw.dots import beside, durations
from subsetprivacy.draw.heat import heatmap
from subsetprivacy.draw.nulls import null_law
from subsetprivacy.draw.plans import costs
from subsetprivacy.draw.powers import power_curves
from subsetprivacy.draw.residuals import residuals
from subsetprivacy.draw.samples import histograms, normality, paths, quantiles
from subsetprivacy.draw.series import predicted, series, side_by_side
from subsetprivacy.draw.tradeoff import tradeoff

__all__ = [
    "beside",
    "cases",
    "convergence",
    "costs",
    "difference",
    "durations",
    "estimate",
    "heatmap",
    "histograms",
    "leakage",
    "normality",
    "null_law",
    "paths",
    "power_curves",
    "predicted",
    "quantiles",
    "require_matplotlib",
    "residuals",
    "series",
    "side_by_side",
    "tradeoff",
]
