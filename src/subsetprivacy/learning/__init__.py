"""Classifiers for scikit-learn that learn from subsets.

Import what you need from here; the rest of the package does not import scikit-learn::

    from subsetprivacy.learning import SubsetLogisticRegression, SubsetClassifier, subset_scorer
"""

from subsetprivacy.errors import MissingDependencyError
from subsetprivacy.messages.for_general import INSTALL

try:
    import sklearn  # noqa: F401
except ImportError:
    raise MissingDependencyError("`subsetprivacy.learning` needs scikit-learn.", INSTALL(extra="learn")) from None

from subsetprivacy.learning.logistic import SubsetLogisticRegression
from subsetprivacy.learning.rows import subset_rows
from subsetprivacy.learning.scoring import subset_scorer
from subsetprivacy.learning.soft_labels import SubsetClassifier

__all__ = ["SubsetClassifier", "SubsetLogisticRegression", "subset_rows", "subset_scorer"]
