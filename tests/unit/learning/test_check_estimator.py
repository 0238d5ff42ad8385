"""Scikit-learn's own checks of estimators. They need labels; what does not apply to subsets is tested next door."""

import pytest
from every_case import every_case
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import estimator_checks_generator

from subsetprivacy.learning import SubsetClassifier, SubsetLogisticRegression


def checks():
    """Yield every check, but for arrays of other libraries than NumPy, which scikit-learn skips by default."""
    for estimator in (SubsetLogisticRegression(), SubsetClassifier(LogisticRegression(max_iter=1000))):
        for instance, check in estimator_checks_generator(estimator):
            name = getattr(check, "func", check).__name__
            if not name.startswith("check_array_api"):
                yield pytest.param(instance, check, id=f"{type(estimator).__name__}-{name}")


@every_case(("estimator", "check"), list(checks()))
def test_passes_the_check(estimator, check):
    check(estimator)


def test_there_are_many_checks():
    assert len(list(checks())) > 100
