"""How a sample was drawn: weights, strata, clusters and replicate weights, and the resulting covariances."""

from subsetprivacy.sampling.sample import Sampling

__all__ = ["Sampling"]
