"""Pictures of plain arrays. Nothing here depends on designs or estimates, so every result can call it."""

from typing import TYPE_CHECKING, TypeAlias

from subsetprivacy.draw.balls import cases
from subsetprivacy.draw.by_row import by_row, differences
from subsetprivacy.draw.charts import convergence, difference, estimate, leakage, subset_shares
from subsetprivacy.draw.checks import question_counts, rates
from subsetprivacy.draw.dots import durations, printed_and_obtained
from subsetprivacy.draw.groups import by_group, forest
from subsetprivacy.draw.heat import heatmap
from subsetprivacy.draw.layout import Heading, require_matplotlib
from subsetprivacy.draw.nulls import null_distribution
from subsetprivacy.draw.overlay import have_an_order
from subsetprivacy.draw.plans import costs
from subsetprivacy.draw.powers import power_curves
from subsetprivacy.draw.residuals import residuals
from subsetprivacy.draw.samples import histograms, normality, paths, quantiles
from subsetprivacy.draw.series import calibration, line_panels, predicted, series
from subsetprivacy.draw.tradeoff import tradeoff
from subsetprivacy.draw.trends import means

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

# What pictures are drawn on. These are strings when Python runs: matplotlib is loaded when something is drawn.
Axes: TypeAlias = "matplotlib.axes.Axes"
AxesOrNone: TypeAlias = "matplotlib.axes.Axes | None"
Figure: TypeAlias = "matplotlib.figure.Figure"

__all__ = [
    "Axes",
    "AxesOrNone",
    "Figure",
    "Heading",
    "by_group",
    "by_row",
    "calibration",
    "cases",
    "convergence",
    "costs",
    "difference",
    "differences",
    "durations",
    "estimate",
    "forest",
    "have_an_order",
    "heatmap",
    "histograms",
    "leakage",
    "line_panels",
    "means",
    "normality",
    "null_distribution",
    "paths",
    "power_curves",
    "predicted",
    "printed_and_obtained",
    "quantiles",
    "question_counts",
    "rates",
    "require_matplotlib",
    "residuals",
    "series",
    "subset_shares",
    "tradeoff",
]
