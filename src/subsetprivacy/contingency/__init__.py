"""Log-linear models of tables of several private columns."""

from subsetprivacy.contingency.dispatch import loglinear
from subsetprivacy.contingency.odds import OddsRatios
from subsetprivacy.contingency.result import LogLinear
from subsetprivacy.contingency.shares import FittedShares

__all__ = ["FittedShares", "LogLinear", "OddsRatios", "loglinear"]
