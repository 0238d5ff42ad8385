r"""Measures of a classifier from unbiased indicators, each with the influence of every person.

Wherever a measure contains the indicator 1{value of i = j}, the unbiased :math:`D_{ij}` replaces it. The standard error
of an estimate :math:`\hat\theta` is then that of the mean of its influence function :math:`\psi_i`:

- accuracy: mean of :math:`D_{i\hat y_i}`, with :math:`\psi_i = D_{i\hat y_i} - \hat\theta`. The Brier score and the log
  loss are similar.
- recall of j: :math:`\sum_i D_{ij} 1\{\hat y_i = j\} / \sum_i D_{ij}`, with
  :math:`\psi_i = D_{ij}(1\{\hat y_i = j\} - \hat\theta)/\bar D_j`. Precision and F1 are such ratios too.
- area under the curve: see `ranking`.

A ratio of unbiased sums is biased by order 1/n. The part of the bias that comes from the draws of the subsets is
removed: :math:`D_{ij}^2 - D_{ij}` is an unbiased estimate of the variance of :math:`D_{ij}` given the value, and 0 for
labels.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, get_args

import numpy as np

from subsetprivacy._choices import EvaluationMeasure
from subsetprivacy._types import FloatArray
from subsetprivacy.evaluation.ranking import rank
from subsetprivacy.evaluation.sample import ClassifierOutput, EvaluationSample

MEASURES: tuple[EvaluationMeasure, ...] = get_args(EvaluationMeasure)
BY_CATEGORY: tuple[EvaluationMeasure, ...] = ("recall", "precision", "f1", "auc")
NEED_PROBA: tuple[EvaluationMeasure, ...] = ("brier", "log_loss", "subset_log_loss", "auc")
LOSSES: tuple[EvaluationMeasure, ...] = ("brier", "log_loss", "subset_log_loss")  # smaller is better
TINY = float(np.finfo(np.float64).eps)  # replaces a probability of 0 in a logarithm, as in scikit-learn
FEWEST = 10  # smallest number of guesses of a category with a precision


class Measured(NamedTuple):
    """A measure, of one category or overall, with the influence of each person; None if it is too noisy."""

    measure: EvaluationMeasure
    category: int | None
    value: float
    influence: FloatArray | None

    def se(self, sample: EvaluationSample) -> float:
        """Return the standard error."""
        return float("nan") if self.influence is None else sample.weights.se(self.influence)


def measured(
    sample: EvaluationSample, prediction: ClassifierOutput, size: FloatArray, chosen: tuple[EvaluationMeasure, ...]
) -> Iterator[Measured]:
    """Yield the chosen measures, those of categories in category order.

    Parameters
    ----------
    size
        The probability of each person's subset under the prediction, without the design's weight: r_a'p.
    """
    for measure in chosen:
        if measure == "subset_log_loss":
            yield _mean_of(measure, -np.log(np.maximum(size, TINY)), sample)
        elif measure in BY_CATEGORY:
            for j in range(len(sample.D)):
                yield _BY_CATEGORY[measure](sample, prediction, j)
        else:
            yield _OVERALL[measure](sample, prediction)


def _mean_of(measure: EvaluationMeasure, values: FloatArray, sample: EvaluationSample) -> Measured:
    value = sample.weights.mean(values)
    return Measured(measure, None, value, values - value)


def _ratio(
    measure: EvaluationMeasure, j: int, slopes: tuple[Any, Any], rest: Any, sample: EvaluationSample
) -> Measured:
    r"""Return the ratio of the means of a D and b D + rest, corrected for the variance of D given the value.

    Parameters
    ----------
    slopes
        The numbers a and b of each person.
    rest
        The rest of the denominator.

    Notes
    -----
    To second order the mean of A/B exceeds the ratio R of the means by
    :math:`-\mathrm{cov}(A - RB, B)/B^2`. Given the values, that covariance is the sum of
    :math:`(a - Rb)\,b\,\mathrm{var}(D)`.
    """
    a, b = slopes
    D, weights = sample.D[j], sample.weights
    above, below = a * D, b * D + rest
    whole = weights.mean(below)
    ratio = weights.mean(above) / whole
    excess = -float(weights.squares @ ((a - ratio * b) * b * (D**2 - D))) / (weights.total * whole) ** 2
    return Measured(measure, j, ratio - excess, (above - ratio * below) / whole)


def _noise(measure: EvaluationMeasure, j: int | None) -> Measured:
    return Measured(measure, j, float("nan"), None)


# Overall ------------------------------------------------------------------------------------------


def _accuracy(sample: EvaluationSample, prediction: ClassifierOutput) -> Measured:
    return _mean_of("accuracy", sample.D[prediction.guess, np.arange(len(prediction.guess))], sample)


def _balanced_accuracy(sample: EvaluationSample, prediction: ClassifierOutput) -> Measured:
    if sample.rare:
        return _noise("balanced_accuracy", None)
    value, influence = 0.0, np.zeros(len(prediction.guess))
    for j in range(len(sample.D)):
        recall = _recall(sample, prediction, j)
        assert recall.influence is not None
        value += recall.value / len(sample.D)
        influence += recall.influence / len(sample.D)
    return Measured("balanced_accuracy", None, value, influence)


def _brier(sample: EvaluationSample, prediction: ClassifierOutput) -> Measured:
    square = np.einsum("ij,ij->i", prediction.proba, prediction.proba)
    return _mean_of("brier", square - 2 * np.einsum("ji,ij->i", sample.D, prediction.proba) + 1, sample)


def _log_loss(sample: EvaluationSample, prediction: ClassifierOutput) -> Measured:
    loss = np.zeros(len(prediction.proba))
    for D, column in zip(sample.D, prediction.proba.T, strict=True):
        loss -= D * np.log(np.maximum(column, TINY))
    return _mean_of("log_loss", loss, sample)


_OVERALL = {
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "brier": _brier,
    "log_loss": _log_loss,
}


# Of one category ----------------------------------------------------------------------------------


def _recall(sample: EvaluationSample, prediction: ClassifierOutput, j: int) -> Measured:
    if j in sample.rare:
        return _noise("recall", j)
    return _ratio("recall", j, (prediction.guess == j, 1.0), 0.0, sample)


def _precision(sample: EvaluationSample, prediction: ClassifierOutput, j: int) -> Measured:
    if sample.weights.count(prediction.guess == j) < FEWEST:
        return _noise("precision", j)
    counted = prediction.guess == j
    return _ratio("precision", j, (counted, 0.0), counted, sample)


def _f1(sample: EvaluationSample, prediction: ClassifierOutput, j: int) -> Measured:
    if j in sample.rare:
        return _noise("f1", j)
    counted = prediction.guess == j
    return _ratio("f1", j, (2.0 * counted, 1.0), counted, sample)


def _auc(sample: EvaluationSample, prediction: ClassifierOutput, j: int) -> Measured:
    if j in sample.rare or j in sample.everyone:
        return _noise("auc", j)
    ranked = rank(prediction.proba[:, j], sample.D[j], sample.weights)
    return Measured("auc", j, ranked.value, ranked.influence)


_BY_CATEGORY = {"recall": _recall, "precision": _precision, "f1": _f1, "auc": _auc}
