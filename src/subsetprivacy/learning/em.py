"""Expectation maximization around a classifier: rounds of soft labels."""

from copy import deepcopy
from typing import Any

import numpy as np
from attrs import frozen
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.utils import _safe_indexing

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.learning.inputs import Target
from subsetprivacy.learning.rounding import rounded

# Boosting adds trees. The parameter of each class that is the number of trees.
_GROWING = ((HistGradientBoostingClassifier, "max_iter"), (GradientBoostingClassifier, "n_estimators"))
_TINY = float(np.finfo(np.float64).eps)  # smallest probability of a subset in a logarithm, as in `evaluate`


@frozen
class StoppingRule:
    """When training stops: after `max_iter` rounds, or `patience` rounds without an improvement above `tol`."""

    max_iter: int
    tol: float
    patience: int


@frozen(eq=False, repr=False)
class TrainedModel:
    """A trained model: its number of rounds, and the log-likelihood after every round."""

    model: Any
    rounds: int
    history: FloatArray


class TrainingRounds:
    """Training in rounds, with people to learn from and people to validate on.

    Parameters
    ----------
    X, target
        All people: covariates in any form, and subsets.
    learning, judging
        The positions of people to learn from, and of people to validate on. If there are none, the former validate.
    weight
        The weight of each person.
    """

    def __init__(
        self, X: Any, target: Target, learning: IntArray, judging: IntArray, weight: FloatArray | None
    ) -> None:
        self.classes, self.has_judges = target.classes, len(judging) > 0
        own = target.among(learning)
        own_weight = None if weight is None else weight[learning]
        self.shares = own.start(own_weight)[0]
        self.X, self.R = _safe_indexing(X, learning), own.rows(slice(None))
        self.category, self.person = np.nonzero(self.R)
        self.weight = None if own_weight is None else own_weight[self.person]
        others = judging if self.has_judges else learning
        self.judge_X = _safe_indexing(X, others)
        self.judge_R = target.among(others).rows(slice(None))
        self.judge_weight = None if weight is None else weight[others]

    def run(self, model: Any, stopping: StoppingRule) -> TrainedModel:
        """Train a model in rounds, in place."""
        growing = parameter_of_growth(model)
        P = np.broadcast_to(self.shares[:, None], self.R.shape)
        best, best_round, highest, history = None, 0, -np.inf, []
        parts = _parts(model, growing, stopping.max_iter)
        rows = self._rows(model)
        for number, part in enumerate(parts, 1):
            model = clone(model) if growing is None else model.set_params(**{growing: part})
            model.fit(rows, self._labels(), sample_weight=self._posterior(P))
            value = self._mean_loglik(model)
            history.append(value)
            if best is None or value > highest + stopping.tol:
                best, best_round, highest = deepcopy(model) if growing and self.has_judges else model, number, value
            elif number - best_round >= stopping.patience:
                break
            if number < len(parts):
                P = predicted(model, self.X, self.classes).T
        if not self.has_judges:
            best, best_round = model, len(history)
        return TrainedModel(best, best_round, np.array(history))

    def _rows(self, model: Any) -> Any:
        """Return the covariates of each person for each possible category, stacked."""
        X = self.X
        if isinstance(model, HistGradientBoostingClassifier):
            X = rounded(X, model.categorical_features, model.max_bins, len(self.person))
        return _safe_indexing(X, self.person)

    def _labels(self) -> Any:
        return inner_labels(self.classes)[self.category]

    def _posterior(self, P: FloatArray) -> FloatArray:
        """Return the weight of each row: the probability of its category given the person's subset."""
        Q = self.R * np.maximum(P, _TINY)
        Q /= Q.sum(axis=0)
        q = Q[self.category, self.person]
        return q if self.weight is None else q * self.weight

    def _mean_loglik(self, model: Any) -> float:
        """Return the mean log-likelihood of a subset."""
        P = predicted(model, self.judge_X, self.classes)
        size = np.einsum("ji,ij->i", self.judge_R, P)
        return float(np.average(np.log(np.maximum(size, _TINY)), weights=self.judge_weight))


def parameter_of_growth(model: Any) -> str | None:
    """Return the parameter that is the number of trees of a boosted sum; None for other models."""
    return next((name for kind, name in _GROWING if isinstance(model, kind)), None)


def _parts(model: Any, growing: str | None, rounds: int) -> list[int]:
    """Return the number of trees after each round. Models that restart have a number for each round."""
    if growing is None:
        return list(range(1, rounds + 1))
    total = int(getattr(model, growing))
    return [-(-total * t // rounds) for t in range(1, rounds + 1)] if total > rounds else list(range(1, total + 1))


def inner_labels(classes: Any) -> Any:
    """Return the label that a model gets for each class: the class, or its position if classes have mixed types."""
    return np.arange(len(classes)) if classes.dtype.kind == "O" else classes


def predicted(model: Any, X: Any, classes: Any) -> FloatArray:
    """Return the probabilities of all classes, shape (n, p), with 0 for classes that no subset allowed."""
    P = np.asarray(model.predict_proba(X), np.float64)
    place = {label: j for j, label in enumerate(inner_labels(classes).tolist())}
    positions = [place[label] for label in np.asarray(model.classes_).tolist()]
    if positions == list(range(len(classes))):
        return P
    out = np.zeros((len(P), len(classes)))
    out[:, positions] = P
    return out
