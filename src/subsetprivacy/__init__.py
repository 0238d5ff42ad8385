"""Subset privacy: a true subset that contains the value is collected, never the value.

>>> import subsetprivacy as sp
>>> design = sp.uniform(["black", "red", "green", "blue"])
>>> data = sp.privatize(["red", "blue", "blue", "black"] * 500, design, seed=1)
>>> fit = sp.estimate(data)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from subsetprivacy.auditing import Audit, TableAudit, audit
    from subsetprivacy.counting import count
    from subsetprivacy.data import CountsBatch, JointCounts, SubsetCounts, SubsetData, SubsetTable
    from subsetprivacy.design import (
        Design,
        check_mechanism,
        conditional,
        covered,
        design_from_json,
        fixed_size,
        fully_private,
        hadamard,
        independent,
        join,
        load_design,
        nonprivate,
        partition,
        product,
        small,
        uniform,
        warner,
    )
    from subsetprivacy.estimation.dispatch import EstimateBatch, estimate, estimate_many
    from subsetprivacy.estimation.margins import Margin
    from subsetprivacy.estimation.result import Estimate
    from subsetprivacy.frames import Release, privatize_table, read_release, write_counts, write_release
    from subsetprivacy.honesty import HonestyCheck, check_draws, check_honesty
    from subsetprivacy.independence import (
        IndependenceResult,
        conditional_independence_test,
        homogeneity_test,
        independence_test,
    )
    from subsetprivacy.measures import Association, association
    from subsetprivacy.mechanism.ask import Question, ask, draw_questions, resolve
    from subsetprivacy.mechanism.cover import cover
    from subsetprivacy.mechanism.keyed import read_key
    from subsetprivacy.mechanism.publish import privatize
    from subsetprivacy.mechanism.simulate import simulate, simulate_many
    from subsetprivacy.optimizing import Frontier, Optimum, frontier, optimal
    from subsetprivacy.planning import (
        IndependencePower,
        Plan,
        Power,
        RepeatRisk,
        independence_power,
        plan,
        power,
        repeat_risk,
    )
    from subsetprivacy.privacy.person import PersonLeakage, person_leakage
    from subsetprivacy.report import write_report
    from subsetprivacy.subsets import Categories
    from subsetprivacy.tabulating import crosstab
    from subsetprivacy.variables import JointCategories

# Where each public name lives. It is imported when it is first used, so that `--help` does not wait for SciPy.
_HOME = {
    "Association": "measures",
    "Audit": "auditing",
    "Categories": "subsets",
    "CountsBatch": "data",
    "Design": "design",
    "Estimate": "estimation.result",
    "EstimateBatch": "estimation.dispatch",
    "Frontier": "optimizing",
    "HonestyCheck": "honesty",
    "IndependencePower": "planning",
    "IndependenceResult": "independence",
    "JointCategories": "variables",
    "JointCounts": "data",
    "Margin": "estimation.margins",
    "Optimum": "optimizing",
    "PersonLeakage": "privacy.person",
    "Plan": "planning",
    "Power": "planning",
    "Question": "mechanism.ask",
    "Release": "frames",
    "RepeatRisk": "planning",
    "SubsetCounts": "data",
    "SubsetData": "data",
    "SubsetTable": "data",
    "TableAudit": "auditing",
    "ask": "mechanism.ask",
    "association": "measures",
    "audit": "auditing",
    "check_draws": "honesty",
    "check_honesty": "honesty",
    "check_mechanism": "design",
    "conditional": "design",
    "conditional_independence_test": "independence",
    "count": "counting",
    "cover": "mechanism.cover",
    "covered": "design",
    "crosstab": "tabulating",
    "design_from_json": "design",
    "draw_questions": "mechanism.ask",
    "estimate": "estimation.dispatch",
    "estimate_many": "estimation.dispatch",
    "fixed_size": "design",
    "frontier": "optimizing",
    "fully_private": "design",
    "hadamard": "design",
    "homogeneity_test": "independence",
    "independence_power": "planning",
    "independence_test": "independence",
    "independent": "design",
    "join": "design",
    "load_design": "design",
    "nonprivate": "design",
    "optimal": "optimizing",
    "partition": "design",
    "person_leakage": "privacy.person",
    "plan": "planning",
    "power": "planning",
    "privatize": "mechanism.publish",
    "privatize_table": "frames",
    "product": "design",
    "read_key": "mechanism.keyed",
    "read_release": "frames",
    "repeat_risk": "planning",
    "resolve": "mechanism.ask",
    "simulate": "mechanism.simulate",
    "simulate_many": "mechanism.simulate",
    "small": "design",
    "uniform": "design",
    "warner": "design",
    "write_counts": "frames",
    "write_release": "frames",
    "write_report": "report",
}

__all__ = [
    "Association",
    "Audit",
    "Categories",
    "CountsBatch",
    "Design",
    "Estimate",
    "EstimateBatch",
    "Frontier",
    "HonestyCheck",
    "IndependencePower",
    "IndependenceResult",
    "JointCategories",
    "JointCounts",
    "Margin",
    "Optimum",
    "PersonLeakage",
    "Plan",
    "Power",
    "Question",
    "Release",
    "RepeatRisk",
    "SubsetCounts",
    "SubsetData",
    "SubsetTable",
    "TableAudit",
    "ask",
    "association",
    "audit",
    "check_draws",
    "check_honesty",
    "check_mechanism",
    "conditional",
    "conditional_independence_test",
    "count",
    "cover",
    "covered",
    "crosstab",
    "design_from_json",
    "draw_questions",
    "estimate",
    "estimate_many",
    "fixed_size",
    "frontier",
    "fully_private",
    "hadamard",
    "homogeneity_test",
    "independence_power",
    "independence_test",
    "independent",
    "join",
    "load_design",
    "nonprivate",
    "optimal",
    "partition",
    "person_leakage",
    "plan",
    "power",
    "privatize",
    "privatize_table",
    "product",
    "read_key",
    "read_release",
    "repeat_risk",
    "resolve",
    "simulate",
    "simulate_many",
    "small",
    "uniform",
    "warner",
    "write_counts",
    "write_release",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name == "errors":
        return import_module("subsetprivacy.errors")
    if name not in _HOME:
        raise AttributeError(f"module 'subsetprivacy' has no attribute {name!r}")
    value = getattr(import_module(f"subsetprivacy.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "errors"]
