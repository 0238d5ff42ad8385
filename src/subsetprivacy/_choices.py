"""The words that arguments accept. Signatures, checks and the command line all use these lists.

`typing.get_args(Engine)` gives the words as a tuple. This module imports only `typing`, so that the command line can
show the words without importing NumPy.
"""

from typing import Literal, TypeAlias

# Columns and files
Engine: TypeAlias = Literal["pandas", "polars", "pyarrow"]
Form: TypeAlias = Literal["labels", "codes"]
IfExists: TypeAlias = Literal["error", "same", "overwrite"]
Missing: TypeAlias = Literal["error", "full"]
WeightsKind: TypeAlias = Literal["frequency", "sampling"]

# Surveys as they are drawn
CalibrationMethod: TypeAlias = Literal["raking", "linear", "logit"]
LonelyStrata: TypeAlias = Literal["error", "center"]
ReplicateCenter: TypeAlias = Literal["estimate", "mean"]
ReplicateMethod: TypeAlias = Literal["bootstrap", "jackknife", "brr"]

# Estimates
Estimator: TypeAlias = Literal["mle", "em", "icm", "mom", "mom-uniform", "mom-conditional", "one-step", "conic"]
Information: TypeAlias = Literal["observed", "expected"]
IntervalMethod: TypeAlias = Literal["auto", "wald", "profile", "adjusted", "bootstrap"]
FitNull: TypeAlias = Literal["bootstrap", "chi-square"]
MarginMethod: TypeAlias = Literal["auto", "wald", "profile", "adjusted"]
MomentStart: TypeAlias = Literal["auto", "mom", "mom-conditional"]
ContrastMethod: TypeAlias = Literal["auto", "wald", "score", "profile"]
Alternative: TypeAlias = Literal["two-sided", "less", "greater"]
EstimatePicture: TypeAlias = Literal["estimate", "difference", "convergence"]

# Regression
Family: TypeAlias = Literal["logit", "ordinal", "linear", "poisson"]
ResponseFamily: TypeAlias = Literal["logit", "ordinal"]  # of a private response
OutcomeFamily: TypeAlias = Literal["linear", "logit", "poisson"]  # of an outcome with private predictors
RegressionMethod: TypeAlias = Literal["ml", "corrected"]
ParameterInterval: TypeAlias = Literal["auto", "wald", "profile"]
CoefficientInterval: TypeAlias = Literal["auto", "wald", "robust", "profile"]
TermTest: TypeAlias = Literal["auto", "lr", "wald", "robust"]
PredictedQuantity: TypeAlias = Literal["share", "mean", "count"]  # "count" for mean counts
PredictionKind: TypeAlias = Literal["shares", "category"]
PooledInterval: TypeAlias = Literal["t", "normal"]

# Means by private category
DifferencesInterval: TypeAlias = Literal["wald", "simultaneous"]
EqualMeansMethod: TypeAlias = Literal["auto", "score", "wald"]
MeansInterval: TypeAlias = Literal["auto", "fieller", "wald", "logit", "robust"]
MeansModel: TypeAlias = Literal["normal"]
PairsOf: TypeAlias = Literal["categories", "groups"]

# Two variables
AssociationPicture: TypeAlias = Literal["shares", "conditional", "residuals"]
DegreesOfFreedom: TypeAlias = Literal["corrected", "paper"]
IndependenceMethod: TypeAlias = Literal["lrt", "lrt-mom", "pearson", "pearson-conditional", "bonferroni"]
IndependencePicture: TypeAlias = Literal["null", "residuals"]
MeasureMethod: TypeAlias = Literal["auto", "delta", "profile"]
NullMethod: TypeAlias = Literal["permutation", "bootstrap", "asymptotic"]

# Classifiers
CalibrationBins: TypeAlias = Literal["quantile", "uniform"]
EvaluationInterval: TypeAlias = Literal["wald", "logit"]
EvaluationMeasure: TypeAlias = Literal[
    "accuracy",
    "balanced_accuracy",
    "brier",
    "log_loss",
    "subset_log_loss",
    "recall",
    "precision",
    "f1",
    "auc",
]
EvaluationPicture: TypeAlias = Literal["measures", "calibration", "confusion"]

# Whether the answers fit the design
FitMethod: TypeAlias = Literal["auto", "chi-square", "bootstrap"]
QuestionKind: TypeAlias = Literal["yes_no", "groups", "bit", "local"]

# Designs: the best ones, those for few categories, those to choose among
Criterion: TypeAlias = Literal["A", "D"]
Leakage: TypeAlias = Literal["size", "mi", "prediction", "maximal"]
Mode: TypeAlias = Literal["ask", "publish"]
OptimalKind: TypeAlias = Literal["independent", "conditional"]
Over: TypeAlias = Literal["average", "worst"]
Route: TypeAlias = Literal["warner", "pair", "bit", "dummies"]
Solver: TypeAlias = Literal["interior", "conic"]

# Pages
Language: TypeAlias = Literal["en", "de", "ar"]

# Privacy
AuditPicture: TypeAlias = Literal["designs", "persons"]
