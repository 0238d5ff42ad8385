"""Subset privacy: collect a random subset that contains each person's value, never the value itself.

>>> import subsetprivacy as sp
>>> design = sp.uniform(["black", "red", "green", "blue"])
>>> data = sp.privatize(["red", "blue", "blue", "black"] * 500, design, seed=1)
>>> fit = sp.estimate(data)
"""

__version__ = "0.1.0"

# Every public name is written here, once, under its module. `make stub` writes `__init__.pyi` from this list: type
# checkers and editors read that file, do not see `__getattr__`, and so recognize a misspelled name.
_PUBLIC = {
    "auditing": ("Audit", "TableAudit", "audit"),
    "contingency": ("FittedShares", "LogLinear", "OddsRatios", "loglinear"),
    "counting": ("count",),
    "data": (
        "CountsBatch",
        "GroupedCounts",
        "JointCounts",
        "QuestionCounts",
        "SubsetCounts",
        "SubsetData",
        "SubsetTable",
    ),
    "design": (
        "Design",
        "check_mechanism",
        "conditional",
        "covered",
        "design_from_json",
        "fixed_size",
        "fully_private",
        "hadamard",
        "independent",
        "join",
        "load_design",
        "nonprivate",
        "partition",
        "product",
        "small",
        "uniform",
        "warner",
    ),
    "estimation.comparison": ("Comparison", "compare"),
    "estimation.contrast": ("Contrast",),
    "estimation.difference": ("Difference",),
    "estimation.dispatch": ("estimate", "estimate_many"),
    "estimation.fit_test": ("FitTest", "fit_test"),
    "estimation.groups": ("EstimateBatch",),
    "estimation.indicator": ("indicator",),
    "estimation.margins": ("Margin",),
    "estimation.result": ("Estimate",),
    "evaluation": ("CalibrationCurve", "ConfusionMatrix", "Evaluation", "EvaluationComparison", "evaluate"),
    "finding": ("Findings", "findings"),
    "frames.group_means": ("group_means",),
    "frames.plan": ("PrivatizePlan",),
    "frames.preparing": ("prepare",),
    "frames.privatizing": ("privatize_table",),
    "frames.questions": ("count_questions", "read_questions"),
    "frames.reading": ("read_release",),
    "frames.regressing": ("regress",),
    "frames.release": ("Release",),
    "frames.writing": ("write_counts", "write_release"),
    "honesty": (
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
    ),
    "imputation": ("Imputations", "Pooled", "PooledTest", "impute", "pool"),
    "independence": (
        "IndependenceResult",
        "PairTests",
        "TrendResult",
        "conditional_independence_test",
        "homogeneity_test",
        "independence_test",
        "trend_test",
    ),
    "means": ("GroupMeans", "MeanDifferences"),
    "measures": ("Association", "ConditionalShares", "Measure", "association"),
    "mechanism.ask": ("Question", "ask", "draw_questions", "resolve"),
    "mechanism.cover": ("cover",),
    "mechanism.keyed": ("read_key",),
    "mechanism.publish": ("privatize",),
    "mechanism.simulate": ("simulate", "simulate_many"),
    "messages": ("Note", "NoteKind"),
    "optimizing": ("Frontier", "Optimum", "frontier", "optimal"),
    "planning": (
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
    ),
    "privacy.given_result": ("CovariateLeakage",),
    "privacy.person": ("PersonLeakage", "person_leakage"),
    "predictors.result": ("OutcomeRegression",),
    "regression.model_tests": ("ModelTests",),
    "regression.prediction": ("MarginalEffects", "Prediction"),
    "regression.result": ("Regression",),
    "report": ("write_report",),
    "raking": ("Raked", "rake"),
    "sampling": ("Sampling",),
    "subsets": ("Categories",),
    "tabulating": ("crosstab",),
    "variables": ("JointCategories",),
}

_HOME = {name: module for module, names in _PUBLIC.items() for name in names}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    # A name is imported when it is first used, so that `--help` does not wait for SciPy.
    from importlib import import_module

    if name == "errors":
        return import_module("subsetprivacy.errors")
    if name not in _HOME:
        raise AttributeError(f"module 'subsetprivacy' has no attribute {name!r}")
    value = getattr(import_module(f"subsetprivacy.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__", "errors"]
