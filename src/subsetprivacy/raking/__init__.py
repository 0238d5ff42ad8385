"""Weights that agree with known margins: post-stratification, raking and calibration (`rake`)."""

from subsetprivacy.raking.dispatch import rake
from subsetprivacy.raking.result import Raked

__all__ = ["Raked", "rake"]
