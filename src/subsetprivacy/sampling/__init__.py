"""How a sample was drawn: weights, strata, clusters, replicate weights, and the covariance that follows from them."""

from subsetprivacy.sampling.sample import Sampling

__all__ = ["Sampling"]
