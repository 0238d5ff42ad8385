"""Checks of the data: draws, skips, leaning and random answers, one by one or all at one alarm level."""

from subsetprivacy.honesty.alarms import Alarm, DataTest
from subsetprivacy.honesty.all_checks import Checks, VariableChecks, check_all
from subsetprivacy.honesty.check import check_honesty
from subsetprivacy.honesty.draws import check_draws
from subsetprivacy.honesty.draws_result import AskedCell, DrawsCheck
from subsetprivacy.honesty.fits import GoodnessOfFit, RandomAnswers
from subsetprivacy.honesty.leaning import LeaningCheck, check_leaning
from subsetprivacy.honesty.residuals import Residuals
from subsetprivacy.honesty.result import HonestyCheck
from subsetprivacy.honesty.skips import OptionSkips, SkipsCheck, check_skips

__all__ = [
    "Alarm",
    "AskedCell",
    "Checks",
    "DataTest",
    "DrawsCheck",
    "GoodnessOfFit",
    "HonestyCheck",
    "LeaningCheck",
    "OptionSkips",
    "RandomAnswers",
    "Residuals",
    "SkipsCheck",
    "VariableChecks",
    "check_all",
    "check_draws",
    "check_honesty",
    "check_leaning",
    "check_skips",
]
