"""Logistic regression from subsets, as a scikit-learn classifier."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from subsetprivacy._checks import check_count, check_number
from subsetprivacy._types import AnyArray, FloatArray, Label
from subsetprivacy._words import counted
from subsetprivacy.design import Design
from subsetprivacy.errors import warn_of
from subsetprivacy.learning.inputs import (
    is_of_subsets,
    learners,
    read_features,
    read_target,
    read_weights,
    require_target,
)
from subsetprivacy.learning.people import People
from subsetprivacy.learning.ridge import fit_ridge
from subsetprivacy.learning.scoring import ScoredOnSubsets
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_regression import MORE_ITERATIONS_OR_RIDGE


class SubsetLogisticRegression(ScoredOnSubsets, BaseEstimator):  # type: ignore[misc]
    r"""Logistic regression that learns from subsets, for scikit-learn.

    It maximizes the likelihood of the subsets with a ridge penalty. On labels (``design=None``) it equals
    ``sklearn.linear_model.LogisticRegression(C=1/ridge)``. For standard errors and tests use `regress`.

    Parameters
    ----------
    design
        The design that drew the subsets. With None (default), `y` contains labels or is a `SubsetData` with its design.
    ridge
        The penalty :math:`\lambda`, scikit-learn's 1/C. It applies equally to the coefficients of all categories.
    fit_intercept
        Whether to add intercepts, which are not penalized.
    categories
        The categories instead of a design, if it is not known how the subsets were drawn. They are then assumed to be
        coarsened at random.
    max_iter
        The largest number of iterations.
    tol
        The approximate distance of the coefficients from the maximum, in standard errors. A smaller number gives more
        digits.

    Attributes
    ----------
    classes_
        The categories in the order of the design, or labels in ascending order.
    coef_
        The coefficients, shape (p, d); (1, d) with two categories. They sum to 0 over categories.
    intercept_
        The intercepts, shape (p,); (1,) with two categories.
    n_iter_
        The number of iterations.
    n_features_in_, feature_names_in_
        The number of columns of X, and their names if X is a data frame.

    See Also
    --------
    SubsetClassifier : trains any other classifier on subsets.
    subset_scorer : scores for grid search and cross-validation.

    Notes
    -----
    It maximizes

    .. math:: \sum_i w_i \ln \sum_j r_i(j)\, p_j(x_i) - \frac{\lambda}{2} \sum_j \|\beta_j\|^2, \qquad
        p_j(x) \propto e^{\alpha_j + x^\top \beta_j},

    where :math:`r_i` is the row of the subset of person i: 1 for its members and 0 for others. With two categories
    the penalty applies to their single row of coefficients, as in scikit-learn. Full sets (missing answers) carry no
    information and are left out. The likelihood of subsets is not concave. In small samples it can have several
    maxima. The fit finds one of them, the same in every run.

    With ``design=None`` the estimator passes scikit-learn's `check_estimator`. With a design, `y` contains codes, not
    classes, which has these consequences:

    - ``classes_`` are the categories of the design, not the distinct values of `y`.
    - ``sklearn.base.is_classifier`` is false, so cross-validation splits by `KFold`. Stratifying by codes has no
      meaning, and fails if codes are rare.
    - Scikit-learn's own scores (``scoring="accuracy"``) compare predicted categories with codes, which has no meaning.
      ``score`` and `subset_scorer` estimate them from subsets.
    - Meta-estimators that number the values of `y` (``StackingClassifier``, ``VotingClassifier``,
      ``BaggingClassifier``, ``CalibratedClassifierCV``) end in an error, because codes are lost. So does
      ``cross_val_predict(method="predict_proba")``.
    - Functions that need a classifier, such as ``sklearn.inspection.partial_dependence``, refuse it.

    Examples
    --------
    >>> import numpy as np
    >>> import subsetprivacy as sp
    >>> from subsetprivacy.learning import SubsetLogisticRegression
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(4000, 2))
    >>> U = X @ [[2, 0, -1, 0], [0, 2, 0, -1]]
    >>> value = np.array(["a", "b", "c", "d"])[(U + rng.gumbel(size=U.shape)).argmax(axis=1)]
    >>> data = sp.privatize(value, sp.uniform(["a", "b", "c", "d"]), seed=1)
    >>> learner = SubsetLogisticRegression(design=data.design).fit(X, data.codes)
    >>> learner.predict([[2, 0], [0, 2]]).tolist()
    ['a', 'b']
    >>> bool(abs(learner.score(X, data.codes) - np.mean(learner.predict(X) == value)) < 0.03)
    True
    """

    def __init__(
        self,
        design: Design | None = None,
        *,
        ridge: float = 1.0,
        fit_intercept: bool = True,
        categories: Iterable[Label] | None = None,
        max_iter: int = 1000,
        tol: float = 3e-3,
    ) -> None:
        self.design = design
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.categories = categories
        self.max_iter = max_iter
        self.tol = tol

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if is_of_subsets(None, self.design, self.categories):
            tags.estimator_type, tags.classifier_tags = None, None
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, shape (n, d)
            Covariates: numbers, without missing values.
        y
            A subset for each row of X: a column of codes (or of labels joined by a bar) of the design, or
            `SubsetData`. Without a design, labels.
        sample_weight : array, shape (n,)
            The weight of each person.

        Raises
        ------
        CodeError
            If a code is not a subset of the design.
        NoDataError
            If no subset is informative.
        NotIdentifiableError
            If the design cannot distinguish some distributions, or there is only one subset.

        Warns
        -----
        ConvergenceWarning
            If `max_iter` was too small.
        """
        ridge, tol = check_number(self.ridge, "ridge", 0), check_number(self.tol, "tol", 0)
        max_iter = check_count(self.max_iter, "max_iter", least=1)
        require_target(self, y)
        X = read_features(self, X, reset=True)
        target = read_target(y, self.design, self.categories, len(X))
        weight = read_weights(sample_weight, len(X))
        kept = learners(target, weight)
        if not kept.all():
            X, target = X[kept], target.among(kept)
            weight = None if weight is None else weight[kept]
        amount = 2 * ridge if target.p == 2 else ridge  # one row of coefficients b corresponds to rows -b/2 and b/2
        made = fit_ridge(
            People(X, target, weight), amount, intercept=bool(self.fit_intercept), tolerance=tol, max_iter=max_iter
        )
        self.classes_ = target.classes
        self.coef_, self.intercept_ = made.coef, made.intercept
        if target.p == 2:
            self.coef_, self.intercept_ = made.coef[1:] - made.coef[:1], made.intercept[1:] - made.intercept[:1]
        self.n_iter_ = made.n_iter
        self._design = target.design
        if not made.converged:
            text = f"The fit stopped after {counted(made.n_iter, 'iteration')}, before reaching its tolerance."
            warn_of(Note(NoteKind.NOT_CONVERGED, text, MORE_ITERATIONS_OR_RIDGE))
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the linear predictors, shape (n, p); with two categories, that of the second, shape (n,)."""
        check_is_fitted(self)
        U = read_features(self, X, reset=False) @ self.coef_.T + self.intercept_
        return np.asarray(U.ravel() if len(self.classes_) == 2 else U)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithms of the probabilities, shape (n, p)."""
        U = self.decision_function(X)
        if U.ndim == 1:
            U = np.column_stack([np.zeros(len(U)), U])
        return np.asarray(log_softmax(U, axis=1))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each category, shape (n, p), in the order of `classes_`."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> AnyArray:
        """Return the most likely category of each row."""
        U = self.decision_function(X)
        best = (U > 0).astype(np.int64) if U.ndim == 1 else U.argmax(axis=1)
        return np.asarray(self.classes_[best])
