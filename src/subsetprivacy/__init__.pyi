# Written by `make stub` from the list in __init__.py: change that list, not this file.

from subsetprivacy import errors as errors
from subsetprivacy.auditing import Audit, TableAudit, audit
from subsetprivacy.contingency import FittedShares, LogLinear, OddsRatios, loglinear
from subsetprivacy.counting import count
from subsetprivacy.data import (
    CountsBatch,
    GroupedCounts,
    JointCounts,
    QuestionCounts,
    SubsetCounts,
    SubsetData,
    SubsetTable,
)
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
from subsetprivacy.estimation.comparison import Comparison, compare
from subsetprivacy.estimation.contrast import Contrast
from subsetprivacy.estimation.difference import Difference
from subsetprivacy.estimation.dispatch import estimate, estimate_many
from subsetprivacy.estimation.fit_test import FitTest, fit_test
from subsetprivacy.estimation.groups import EstimateBatch
from subsetprivacy.estimation.indicator import indicator
from subsetprivacy.estimation.margins import Margin
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.evaluation import CalibrationCurve, ConfusionMatrix, Evaluation, EvaluationComparison, evaluate
from subsetprivacy.finding import Findings, findings
from subsetprivacy.frames.group_means import group_means
from subsetprivacy.frames.plan import PrivatizePlan
from subsetprivacy.frames.preparing import prepare
from subsetprivacy.frames.privatizing import privatize_table
from subsetprivacy.frames.questions import count_questions, read_questions
from subsetprivacy.frames.reading import read_release
from subsetprivacy.frames.regressing import regress
from subsetprivacy.frames.release import Release
from subsetprivacy.frames.writing import write_counts, write_release
from subsetprivacy.honesty import (
    Alarm,
    AskedCell,
    Checks,
    DataTest,
    DrawsCheck,
    GoodnessOfFit,
    HonestyCheck,
    LeaningCheck,
    OptionSkips,
    RandomAnswers,
    Residuals,
    SkipsCheck,
    VariableChecks,
    check_all,
    check_draws,
    check_honesty,
    check_leaning,
    check_skips,
)
from subsetprivacy.imputation import Imputations, Pooled, PooledTest, impute, pool
from subsetprivacy.independence import (
    IndependenceResult,
    PairTests,
    TrendResult,
    conditional_independence_test,
    homogeneity_test,
    independence_test,
    trend_test,
)
from subsetprivacy.means import GroupMeans, MeanDifferences
from subsetprivacy.measures import Association, ConditionalShares, Measure, association
from subsetprivacy.mechanism.ask import Question, ask, draw_questions, resolve
from subsetprivacy.mechanism.cover import cover
from subsetprivacy.mechanism.keyed import read_key
from subsetprivacy.mechanism.publish import privatize
from subsetprivacy.mechanism.simulate import simulate, simulate_many
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.optimizing import Frontier, Optimum, frontier, optimal
from subsetprivacy.planning import (
    EffectPower,
    IndependencePower,
    Plan,
    PlanOption,
    Power,
    PowerOfTest,
    RepeatRisk,
    independence_power,
    means_power,
    plan,
    power,
    predictor_power,
    repeat_risk,
    response_power,
)
from subsetprivacy.predictors.result import OutcomeRegression
from subsetprivacy.privacy.given_result import CovariateLeakage
from subsetprivacy.privacy.person import PersonLeakage, person_leakage
from subsetprivacy.raking import Raked, rake
from subsetprivacy.regression.model_tests import ModelTests
from subsetprivacy.regression.prediction import MarginalEffects, Prediction
from subsetprivacy.regression.result import Regression
from subsetprivacy.report import write_report
from subsetprivacy.sampling import Sampling
from subsetprivacy.subsets import Categories
from subsetprivacy.tabulating import crosstab
from subsetprivacy.variables import JointCategories

__all__ = [
    "Alarm",
    "AskedCell",
    "Association",
    "Audit",
    "CalibrationCurve",
    "Categories",
    "Checks",
    "Comparison",
    "ConditionalShares",
    "ConfusionMatrix",
    "Contrast",
    "CountsBatch",
    "CovariateLeakage",
    "DataTest",
    "Design",
    "Difference",
    "DrawsCheck",
    "EffectPower",
    "Estimate",
    "EstimateBatch",
    "Evaluation",
    "EvaluationComparison",
    "Findings",
    "FitTest",
    "FittedShares",
    "Frontier",
    "GoodnessOfFit",
    "GroupMeans",
    "GroupedCounts",
    "HonestyCheck",
    "Imputations",
    "IndependencePower",
    "IndependenceResult",
    "JointCategories",
    "JointCounts",
    "LeaningCheck",
    "LogLinear",
    "Margin",
    "MarginalEffects",
    "MeanDifferences",
    "Measure",
    "ModelTests",
    "Note",
    "NoteKind",
    "OddsRatios",
    "Optimum",
    "OptionSkips",
    "OutcomeRegression",
    "PairTests",
    "PersonLeakage",
    "Plan",
    "PlanOption",
    "Pooled",
    "PooledTest",
    "Power",
    "PowerOfTest",
    "Prediction",
    "PrivatizePlan",
    "Question",
    "QuestionCounts",
    "Raked",
    "RandomAnswers",
    "Regression",
    "Release",
    "RepeatRisk",
    "Residuals",
    "Sampling",
    "SkipsCheck",
    "SubsetCounts",
    "SubsetData",
    "SubsetTable",
    "TableAudit",
    "TrendResult",
    "VariableChecks",
    "ask",
    "association",
    "audit",
    "check_all",
    "check_draws",
    "check_honesty",
    "check_leaning",
    "check_mechanism",
    "check_skips",
    "compare",
    "conditional",
    "conditional_independence_test",
    "count",
    "count_questions",
    "cover",
    "covered",
    "crosstab",
    "design_from_json",
    "draw_questions",
    "estimate",
    "estimate_many",
    "evaluate",
    "findings",
    "fit_test",
    "fixed_size",
    "frontier",
    "fully_private",
    "group_means",
    "hadamard",
    "homogeneity_test",
    "impute",
    "independence_power",
    "independence_test",
    "independent",
    "indicator",
    "join",
    "load_design",
    "loglinear",
    "means_power",
    "nonprivate",
    "optimal",
    "partition",
    "person_leakage",
    "plan",
    "pool",
    "power",
    "predictor_power",
    "prepare",
    "privatize",
    "privatize_table",
    "product",
    "rake",
    "read_key",
    "read_questions",
    "read_release",
    "regress",
    "repeat_risk",
    "resolve",
    "response_power",
    "simulate",
    "simulate_many",
    "small",
    "trend_test",
    "uniform",
    "warner",
    "write_counts",
    "write_release",
    "write_report",
]

__version__: str
