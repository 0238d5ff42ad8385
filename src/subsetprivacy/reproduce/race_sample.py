"""People drawn from the Adult data: their race, its subsets, the estimates and their limit distributions (`sec_exp`).

Shared by `fig:adult_race_l2_loss` and `fig:race_diff`.
"""

import numpy as np

from subsetprivacy._choices import Estimator
from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.errors import NotIdentifiableError
from subsetprivacy.estimation.dispatch import EstimateOptions, estimate
from subsetprivacy.estimation.likelihood import limit_covariance
from subsetprivacy.reproduce.simulations import moment_limit
from subsetprivacy.subsets import bits

SAMPLE = "Sample"
METHODS: dict[str, tuple[Estimator, EstimateOptions]] = {  # the paper's names, and ours
    "EM": ("em", {}),
    "MLE": ("mle", {}),
    "ONE": ("one-step", {"start": "mom"}),
    "MoM": ("mom", {}),
    "MoM:cond": ("mom-conditional", {}),
}
NAMES = (SAMPLE, *METHODS)


def estimates(rng: np.random.Generator, design: Design, w: FloatArray, n: int) -> dict[str, FloatArray]:
    """Draw n people and a subset of each, and return the estimates of every method.

    The non-private sample and the subsets belong to the same people. A method that is not defined for the sample
    gives NaN.
    """
    people = rng.multinomial(n, w)
    codes, mu = design.support()
    reports = rng.multinomial(people, mu * bits(codes, design.p).T).sum(axis=0)
    counts = SubsetCounts(codes, reports, design)
    return {SAMPLE: people / n, **{name: _estimate(counts, name) for name in METHODS}}


def _estimate(counts: SubsetCounts, name: str) -> FloatArray:
    method, options = METHODS[name]
    try:
        return estimate(counts, method, **options).w
    except NotIdentifiableError:  # very few people have too few distinct subsets for a Newton step
        return np.full(counts.categories.p, np.nan)


def limits(design: Design, w: FloatArray) -> dict[str, FloatArray]:
    """Return each method's limit covariance of the square root of n times the error.

    Notes
    -----
    For the sample it is diag(w) - ww'. For EM, MLE and ONE it is the inverse information on the simplex
    (`thm_normality_mle`). For moments it is Q^-1 C Q^-1 (`gen_mom`). Given the questions, only the answers vary: an
    answer moves the mean indicator by 2·1_a - 1, with the variance L(a)(1 - L(a)).
    """
    codes, mu = design.support()
    rows = bits(codes, design.p).astype(float)
    L = rows @ w
    inverse = np.linalg.inv(design.Q)
    answers = ((2 * rows - 1).T * (mu * L**2 * (1 - L))) @ (2 * rows - 1)
    efficient = limit_covariance(design, w)
    return {
        SAMPLE: np.diag(w) - np.outer(w, w),
        **dict.fromkeys(("EM", "MLE", "ONE"), efficient),
        "MoM": moment_limit(design, w),
        "MoM:cond": inverse @ answers @ inverse,
    }
