"""Scikit-learn's own checks of estimators. They need labels; what does not apply to subsets is tested next door."""

from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from subsetprivacy.learning import SubsetClassifier, SubsetLogisticRegression


@parametrize_with_checks([SubsetLogisticRegression(), SubsetClassifier(LogisticRegression(max_iter=1000))])
def test_passes_the_check(estimator, check):
    check(estimator)
