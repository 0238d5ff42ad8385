"""Any probabilistic classifier of scikit-learn, trained on subsets by soft labels."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter

from subsetprivacy._checks import check_count, check_number, shown
from subsetprivacy._types import AnyArray, FloatArray, Label
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError
from subsetprivacy.learning.em import StoppingRule, TrainingRounds, parameter_of_growth, predicted
from subsetprivacy.learning.inputs import is_of_subsets, learners, read_target, read_weights, require_target
from subsetprivacy.learning.scoring import ScoredOnSubsets
from subsetprivacy.messages.for_regression import SCALE_OUTSIDE, STOP_OUTSIDE, WITH_PROBABILITIES


class SubsetClassifier(MetaEstimatorMixin, ScoredOnSubsets, BaseEstimator):  # type: ignore[misc]
    r"""Trains any probabilistic classifier of scikit-learn on subsets.

    In each round, everyone counts for every category that their subset allows, weighted by the probability that the
    previous round's classifier gives to it (expectation maximization). Boosting (`HistGradientBoostingClassifier`
    and `GradientBoostingClassifier`) does not restart in each round but adds some trees, so that all rounds together
    take about as long as one fit. Training stops by the likelihood of people who were set aside.

    Parameters
    ----------
    estimator
        A classifier with ``predict_proba`` whose ``fit`` takes ``sample_weight``. It is cloned. Put preceding steps,
        such as scaling, in a pipeline around this classifier.
    design
        The design that drew the subsets. With None (default), `y` contains labels or is a `SubsetData` with its design.
        On labels the estimator is fitted once.
    categories
        The categories instead of a design, if it is not known how the subsets were drawn.
    max_iter
        The largest number of rounds. Boosting adds its trees in this many equal parts.
    tol
        Training stops when the mean log-likelihood of a subset has not risen by more than this in `patience` rounds.
    patience
        The number of rounds without improvement after which training stops.
    validation_fraction
        The share of people set aside to compare the rounds. The best round is kept. With None, no one is set aside,
        the rounds are compared on the training set, and the last one is kept.
    random_state
        A number that makes a run repeatable. It selects the people who are set aside, and is passed to the estimator
        unless that has a seed.

    Attributes
    ----------
    classes_
        The categories in the order of the design, or labels in ascending order.
    estimator_
        The fitted classifier. Its classes are those that occur in some subset.
    history_
        The mean log-likelihood of a subset after each round, for people set aside, or otherwise for everyone.
    n_iter_
        The number of rounds behind `estimator_`.
    n_features_in_
        The number of columns of X, according to the estimator.

    See Also
    --------
    SubsetLogisticRegression : faster if a linear model is enough.

    Notes
    -----
    Round t fits the estimator to rows :math:`(x_i, j)`, one for each category j that the subset of person i allows,
    with weights

    .. math:: q_{ij} = \frac{r_i(j)\, p_j^{(t-1)}(x_i)}{\sum_k r_i(k)\, p_k^{(t-1)}(x_i)}.

    The first round uses the overall estimated shares as p. An estimator that maximizes its weighted log-likelihood,
    such as logistic regression, raises the likelihood of the subsets in every round. A tree added to a boosted sum fits
    the gradient of :math:`\sum_j q_{ij} \ln p_j(x_i)`, which is :math:`q - p`, the gradient of the log-likelihood of
    the subset itself. Full sets (missing answers) carry no information and are left out.

    A flexible classifier can overfit its own guesses, which is why people are set aside. The estimator's own early
    stopping would set aside rows, not people, and is turned off if it is "auto".

    Examples
    --------
    >>> import numpy as np
    >>> import subsetprivacy as sp
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from subsetprivacy.learning import SubsetClassifier
    >>> rng = np.random.default_rng(1)
    >>> X = rng.uniform(-1, 1, size=(3000, 2))
    >>> value = np.where(X[:, 0] * X[:, 1] > 0, "same", np.where(X[:, 0] > 0, "right", "left"))
    >>> data = sp.privatize(value, sp.fixed_size(["same", "right", "left"], 2), seed=1)
    >>> boosting = HistGradientBoostingClassifier(max_iter=40, learning_rate=0.3)
    >>> learner = SubsetClassifier(boosting, design=data.design, random_state=1).fit(X, data.codes)
    >>> learner.predict([[0.5, 0.5], [0.5, -0.5], [-0.5, 0.5]]).tolist()
    ['same', 'right', 'left']
    """

    def __init__(
        self,
        estimator: Any,
        *,
        design: Design | None = None,
        categories: Iterable[Label] | None = None,
        max_iter: int = 10,
        tol: float = 1e-5,
        patience: int = 3,
        validation_fraction: float | None = 0.1,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.design = design
        self.categories = categories
        self.max_iter = max_iter
        self.tol = tol
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        if is_of_subsets(None, self.design, self.categories):
            tags.estimator_type, tags.classifier_tags = None, None
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the classifier.

        Parameters
        ----------
        X
            Covariates, in any form that the estimator accepts.
        y
            A subset for each row of X: a column of codes (or of labels joined by a bar) of the design, or
            `SubsetData`. Without a design, labels.
        sample_weight : array, shape (n,)
            The weight of each person.

        Raises
        ------
        ArgumentError
            If the estimator does not accept weights, or has no probabilities.
        CodeError
            If a code is not a subset of the design.
        NoDataError
            If no subset is informative.
        NotIdentifiableError
            If the design cannot distinguish some distributions, or there is only one subset.
        """
        stopping = StoppingRule(
            check_count(self.max_iter, "max_iter", least=1),
            check_number(self.tol, "tol", 0),
            check_count(self.patience, "patience", least=1),
        )
        share = _check_share(self.validation_fraction)
        require_target(self, y)
        if not is_of_subsets(y, self.design, self.categories):
            return self._fit_labels(X, y, sample_weight)
        n = _num_samples(X)
        target = read_target(y, self.design, self.categories, n)
        weight = read_weights(sample_weight, n)
        kept = learners(target, weight)
        random = check_random_state(self.random_state)
        people = random.permutation(np.flatnonzero(kept))
        aside = int(share * len(people))
        rounds = TrainingRounds(X, target, np.sort(people[aside:]), np.sort(people[:aside]), weight)
        seed = None if self.random_state is None else int(random.randint(2**31 - 1))
        made = rounds.run(_prepared(self.estimator, seed), stopping)
        self.classes_, self._design = target.classes, target.design
        self.estimator_, self.n_iter_, self.history_ = made.model, made.rounds, made.history
        return self

    def _fit_labels(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit the estimator to labels once."""
        seed = None if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        model = _seeded(clone(self.estimator), seed)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = model.fit(X, y, **weights)
        self.classes_, self._design = self.estimator_.classes_, None
        self.n_iter_, self.history_ = 1, np.empty(0)
        return self

    @property
    def n_features_in_(self) -> int:
        """The number of columns of X."""
        return int(self._fitted("n_features_in_"))

    @property
    def feature_names_in_(self) -> AnyArray:
        """The names of the columns of X, if it is a data frame."""
        return np.asarray(self._fitted("feature_names_in_"))

    def _fitted(self, name: str) -> Any:
        """Return an attribute of the fitted estimator. As in scikit-learn, it does not exist before a fit."""
        if "estimator_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} before it is fitted")
        return getattr(self.estimator_, name)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each category, shape (n, p), in the order of `classes_`."""
        check_is_fitted(self)
        if self._design is None:
            return np.asarray(self.estimator_.predict_proba(X))
        return predicted(self.estimator_, X, self.classes_)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithms of the probabilities, shape (n, p)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> AnyArray:
        """Return the most likely category of each row."""
        check_is_fitted(self)
        if self._design is None:
            return np.asarray(self.estimator_.predict(X))
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def _check_share(share: float | None) -> float:
    if share is None:
        return 0.0
    if isinstance(share, bool) or not isinstance(share, (int, float, np.number)) or not 0 < share < 1:
        raise ArgumentError(f"`validation_fraction` must be between 0 and 1, or None; got {shown(share)}.")
    return float(share)


def _prepared(estimator: Any, seed: int | None) -> Any:
    """Return a copy of the estimator that can be trained in rounds, or raise."""
    if not hasattr(estimator, "predict_proba"):
        raise ArgumentError("`estimator` must give probabilities (predict_proba); got one without.", WITH_PROBABILITIES)
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ArgumentError("`estimator` must take `sample_weight` in fit; got one that does not.", SCALE_OUTSIDE)
    model = _seeded(clone(estimator), seed)
    if parameter_of_growth(model) is None:
        return model
    stops = getattr(model, "early_stopping", None) is True or getattr(model, "n_iter_no_change", None)
    if stops and getattr(model, "early_stopping", True) is True:
        raise ArgumentError(
            "`estimator` must not stop early on its own: it would set aside rows of people it learns from.",
            STOP_OUTSIDE,
        )
    own = {"early_stopping": False} if hasattr(model, "early_stopping") else {}
    return model.set_params(warm_start=True, **own)


def _seeded(model: Any, seed: int | None) -> Any:
    """Return the model with a seed wherever it has none, if a seed is given."""
    if seed is None:
        return model
    unset = [name for name, value in model.get_params().items() if name.endswith("random_state") and value is None]
    return model.set_params(**dict.fromkeys(unset, seed))
