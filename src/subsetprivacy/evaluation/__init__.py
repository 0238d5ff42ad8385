"""Measures of a classifier when the labels of the test set are subsets."""

from subsetprivacy.evaluation.calibration import CalibrationCurve
from subsetprivacy.evaluation.comparison import EvaluationComparison
from subsetprivacy.evaluation.confusion import ConfusionMatrix
from subsetprivacy.evaluation.dispatch import evaluate
from subsetprivacy.evaluation.result import Evaluation

__all__ = ["CalibrationCurve", "ConfusionMatrix", "Evaluation", "EvaluationComparison", "evaluate"]
