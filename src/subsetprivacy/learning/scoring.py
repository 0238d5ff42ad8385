"""Scores of classifiers from subsets, for grid search and cross-validation."""

import warnings
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from subsetprivacy._checks import check_choice
from subsetprivacy._choices import EvaluationMeasure
from subsetprivacy._types import FloatArray, Label
from subsetprivacy.counting.columns import chosen_design
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, SmallCountWarning
from subsetprivacy.evaluation import Evaluation, evaluate
from subsetprivacy.learning.inputs import is_of_subsets

SubsetScore: TypeAlias = Literal[
    "log_likelihood", "accuracy", "balanced_accuracy", "brier", "log_loss", "recall", "precision", "f1", "auc"
]
_SCORES: tuple[SubsetScore, ...] = get_args(SubsetScore)
_MEASURES: dict[str, EvaluationMeasure] = {"log_likelihood": "subset_log_loss"}  # others have the same name
_LOSSES = ("log_likelihood", "brier", "log_loss")  # smaller is better, so the sign changes
_BY_CATEGORY = ("recall", "precision", "f1", "auc")
_OF_GUESSES = ("accuracy", "balanced_accuracy", "recall", "precision", "f1")


class SubsetScorer:
    """A score from subsets with scikit-learn's interface, returned by `subset_scorer`."""

    def __init__(self, metric: SubsetScore, design: Design, category: Label | None) -> None:
        self.metric, self.design, self.category = metric, design, category

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of a fitted classifier on people; larger is better."""
        return score_subsets(
            estimator, X, y, self.design, self.metric, category=self.category, sample_weight=sample_weight
        )

    def __repr__(self) -> str:
        of = "" if self.category is None else f" of {self.category!r}"
        return f"<SubsetScorer: {self.metric}{of}, {self.design!r}>"


def subset_scorer(
    metric: SubsetScore = "log_likelihood",
    design: Design | None = None,
    *,
    categories: Iterable[Label] | None = None,
    category: Label | None = None,
) -> SubsetScorer:
    r"""Return a score from subsets, for scikit-learn's ``scoring=``.

    Parameters
    ----------
    metric
        ``"log_likelihood"`` (default): the mean log-likelihood of the subsets. It is the least noisy score, so use it
        to choose among classifiers. The others are unbiased estimates of the scores on the true labels:
        ``"accuracy"``, ``"balanced_accuracy"``, ``"brier"``, ``"log_loss"``, and for a category ``"recall"``,
        ``"precision"``, ``"f1"``, ``"auc"``. Larger is always better: the Brier score and the log loss change sign.
    design
        The design that drew the subsets.
    categories
        The categories if the design is not known. Then only ``"log_likelihood"`` is available.
    category
        The category of a recall, precision, F1 or AUC; by default the mean over all categories.

    Returns
    -------
    A function of a fitted classifier, covariates and subsets. The classifier needs ``predict_proba`` and ``classes_``.
    Accuracy and similar scores need only ``predict``.

    Raises
    ------
    ArgumentError, CategoryError
        If the score or category does not exist, or there is no design.

    Warns
    -----
    SmallCountWarning
        When called, if a category is too rare for the score, which is then NaN.

    See Also
    --------
    subsetprivacy.evaluate : the same measures with standard errors.

    Examples
    --------
    >>> import numpy as np
    >>> import subsetprivacy as sp
    >>> from sklearn.model_selection import GridSearchCV, KFold
    >>> from subsetprivacy.learning import SubsetLogisticRegression, subset_scorer
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(2000, 3))
    >>> value = np.where(X[:, 0] > 0, "yes", "no")
    >>> design = sp.warner(["no", "yes"])
    >>> codes = sp.privatize(value, design, seed=1).codes
    >>> search = GridSearchCV(
    ...     SubsetLogisticRegression(design), {"ridge": [0.1, 10, 1000]},
    ...     scoring=subset_scorer("log_likelihood", design), cv=KFold(5, shuffle=True, random_state=1),
    ... ).fit(X, codes)
    >>> search.best_params_
    {'ridge': 0.1}
    """
    check_choice(metric, _SCORES, "metric")
    chosen = chosen_design(design, categories)
    if category is not None:
        if metric not in _BY_CATEGORY:
            raise ArgumentError(f"`category` must be left out for {metric!r}, which covers all categories together.")
        chosen.categories.index(category)
    return SubsetScorer(metric, chosen, category)


def score_subsets(
    estimator: Any,
    X: Any,
    y: Any,
    design: Design | None,
    metric: SubsetScore,
    *,
    category: Label | None = None,
    sample_weight: Any = None,
) -> float:
    """Return a score of a fitted classifier; larger is better.

    Parameters
    ----------
    design
        The design of `y`; None if `y` includes its design.
    """
    measure: Any = _MEASURES.get(metric, metric)
    output = _classifier_output(estimator, X, design or y.design, guesses=metric in _OF_GUESSES)
    kind: Any = None if sample_weight is None else "sampling"
    with warnings.catch_warnings():
        if metric not in _BY_CATEGORY and metric != "balanced_accuracy":
            warnings.simplefilter("ignore", SmallCountWarning)  # about standard errors, which are not used here
        result = evaluate(y, design=design, metrics=measure, weights=sample_weight, weights_kind=kind, **output)
    value = _value(result, category)
    return -value if metric in _LOSSES else value


def _value(result: Evaluation, category: Label | None) -> float:
    """Return the single value of an evaluation: of a category, or the mean of all."""
    if category is None:
        return float(np.mean(result.estimates))
    return float(result.estimates[result.categories.index(category)])


def _classifier_output(estimator: Any, X: Any, design: Design, *, guesses: bool) -> dict[str, Any]:
    """Return a classifier's output: probabilities if it has them, and guesses if needed."""
    output = {}
    if hasattr(estimator, "predict_proba"):
        output["proba"] = padded(np.asarray(estimator.predict_proba(X), np.float64), estimator.classes_, design)
    if guesses or not output:
        output["guess"] = estimator.predict(X)
    return output


def padded(proba: FloatArray, classes: Any, design: Design) -> FloatArray:
    """Return probabilities in the order of the design's categories, with 0 for those unknown to a classifier."""
    out = np.zeros((len(proba), design.p))
    out[:, [design.categories.index(label) for label in np.asarray(classes).tolist()]] = proba
    return out


class ScoredOnSubsets(ClassifierMixin):  # type: ignore[misc]
    """A classifier whose `score` is the accuracy on subsets or on labels, depending on `y`."""

    design: Design | None
    categories: Iterable[Label] | None
    _design: Any  # the design of the fit; None for labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on other people: an unbiased estimate from subsets, or a count of labels.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`, for people who were not used in it.

        Raises
        ------
        UnknownDesignError
            If the design is not known; use `subset_scorer`.

        Notes
        -----
        The estimate has a standard error, which `evaluate` gives. In small samples it can be above 1.
        """
        check_is_fitted(self)
        if is_of_subsets(y, self.design, self.categories):
            return score_subsets(self, X, y, self._design, "accuracy", sample_weight=sample_weight)
        return float(super().score(X, y, sample_weight))
