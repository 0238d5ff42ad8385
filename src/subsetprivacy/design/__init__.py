"""Designs: which subsets are drawn, with what probability."""

from subsetprivacy.design.base import Design, require_design
from subsetprivacy.design.check import MechanismCheck, check_mechanism
from subsetprivacy.design.coarse import Coarse, coarse
from subsetprivacy.design.conditional import Conditional, conditional, fully_private, nonprivate
from subsetprivacy.design.document import design_from_json, load_design
from subsetprivacy.design.independent import Independent, Uniform, independent, uniform
from subsetprivacy.design.mixture import Mixture

__all__ = [
    "Coarse",
    "Conditional",
    "Design",
    "Independent",
    "MechanismCheck",
    "Mixture",
    "Uniform",
    "check_mechanism",
    "coarse",
    "conditional",
    "design_from_json",
    "fully_private",
    "independent",
    "load_design",
    "nonprivate",
    "require_design",
    "uniform",
]
