"""Random populations and designs, generated as the paper says (`sec_exp_simu`)."""

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.design import Design, independent, uniform


def random_distribution(rng: np.random.Generator, p: int) -> FloatArray:
    """Return p independent U(0, 1) numbers, normalized."""
    w = rng.random(p)
    return w / w.sum()


def random_design(rng: np.random.Generator, p: int) -> Design:
    """Return an independent design whose question weights are independent U(0, 1) numbers, normalized."""
    codes = uniform(range(p)).support()[0]
    nu = rng.random(len(codes))
    return independent(range(p), dict(zip(codes.tolist(), (nu / nu.sum()).tolist(), strict=True)))
