"""Means, variances and quantiles of an outcome by private category."""

from subsetprivacy.means.differences import MeanDifferences
from subsetprivacy.means.result import GroupMeans

__all__ = ["GroupMeans", "MeanDifferences"]
