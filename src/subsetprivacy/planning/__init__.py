"""Plan a survey or a release: sample sizes, margins, power, and the risk of asking twice."""

from subsetprivacy.planning.dependence import independence_power
from subsetprivacy.planning.dependence_result import IndependencePower, PowerOfTest
from subsetprivacy.planning.differences import Power, power
from subsetprivacy.planning.effect_result import EffectPower
from subsetprivacy.planning.options import PlanOption
from subsetprivacy.planning.planner import plan
from subsetprivacy.planning.predictor_effects import means_power, predictor_power
from subsetprivacy.planning.repeat_result import RepeatRisk
from subsetprivacy.planning.repeats import repeat_risk
from subsetprivacy.planning.response_effects import response_power
from subsetprivacy.planning.result import Plan

__all__ = [
    "EffectPower",
    "IndependencePower",
    "Plan",
    "PlanOption",
    "Power",
    "PowerOfTest",
    "RepeatRisk",
    "independence_power",
    "means_power",
    "plan",
    "power",
    "predictor_power",
    "repeat_risk",
    "response_power",
]
