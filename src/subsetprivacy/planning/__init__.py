"""Planning a survey or a release: people, margins, power, and what asking twice would do."""

from subsetprivacy.planning.differences import Power, power
from subsetprivacy.planning.options import Option
from subsetprivacy.planning.planner import plan
from subsetprivacy.planning.repeat_result import RepeatRisk
from subsetprivacy.planning.repeats import repeat_risk
from subsetprivacy.planning.result import Plan

__all__ = ["Option", "Plan", "Power", "RepeatRisk", "plan", "power", "repeat_risk"]
