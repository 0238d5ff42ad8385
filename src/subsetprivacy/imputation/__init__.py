"""Multiple imputation of private values, and pooling of fits to the completed data."""

from subsetprivacy.imputation.imputing import impute
from subsetprivacy.imputation.pooled import Pooled, PooledTest
from subsetprivacy.imputation.pooling import pool
from subsetprivacy.imputation.result import Imputations

__all__ = ["Imputations", "Pooled", "PooledTest", "impute", "pool"]
