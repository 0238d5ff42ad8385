"""Whether the answers fit the design, the questions were drawn as stated, and how many are answered by chance."""

from subsetprivacy.honesty.check import check_honesty
from subsetprivacy.honesty.draws import check_draws
from subsetprivacy.honesty.residuals import Residuals
from subsetprivacy.honesty.result import GoodnessOfFit, HonestyCheck, RandomAnswers

__all__ = ["GoodnessOfFit", "HonestyCheck", "RandomAnswers", "Residuals", "check_draws", "check_honesty"]
