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
    from subsetprivacy.auditing import Audit, audit
    from subsetprivacy.counting import count
    from subsetprivacy.data import CountsBatch, SubsetCounts, SubsetData
    from subsetprivacy.design import (
        Design,
        check_mechanism,
        conditional,
        design_from_json,
        fully_private,
        independent,
        load_design,
        nonprivate,
        uniform,
    )
    from subsetprivacy.estimation.dispatch import EstimateBatch, estimate, estimate_many
    from subsetprivacy.estimation.result import Estimate
    from subsetprivacy.mechanism.ask import Question, ask, draw_questions, resolve
    from subsetprivacy.mechanism.publish import privatize
    from subsetprivacy.mechanism.simulate import simulate, simulate_many
    from subsetprivacy.privacy.person import PersonLeakage, person_leakage
    from subsetprivacy.subsets import Categories

# Where each public name lives. It is imported when it is first used, so that `--help` does not wait for SciPy.
_HOME = {
    "Audit": "auditing",
    "Categories": "subsets",
    "CountsBatch": "data",
    "Design": "design",
    "Estimate": "estimation.result",
    "EstimateBatch": "estimation.dispatch",
    "PersonLeakage": "privacy.person",
    "Question": "mechanism.ask",
    "SubsetCounts": "data",
    "SubsetData": "data",
    "ask": "mechanism.ask",
    "audit": "auditing",
    "check_mechanism": "design",
    "conditional": "design",
    "count": "counting",
    "design_from_json": "design",
    "draw_questions": "mechanism.ask",
    "estimate": "estimation.dispatch",
    "estimate_many": "estimation.dispatch",
    "fully_private": "design",
    "independent": "design",
    "load_design": "design",
    "nonprivate": "design",
    "person_leakage": "privacy.person",
    "privatize": "mechanism.publish",
    "resolve": "mechanism.ask",
    "simulate": "mechanism.simulate",
    "simulate_many": "mechanism.simulate",
    "uniform": "design",
}

__all__ = [
    "Audit",
    "Categories",
    "CountsBatch",
    "Design",
    "Estimate",
    "EstimateBatch",
    "PersonLeakage",
    "Question",
    "SubsetCounts",
    "SubsetData",
    "ask",
    "audit",
    "check_mechanism",
    "conditional",
    "count",
    "design_from_json",
    "draw_questions",
    "estimate",
    "estimate_many",
    "fully_private",
    "independent",
    "load_design",
    "nonprivate",
    "person_leakage",
    "privatize",
    "resolve",
    "simulate",
    "simulate_many",
    "uniform",
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
