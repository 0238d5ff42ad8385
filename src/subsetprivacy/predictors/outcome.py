"""An outcome and private predictors in memory: from arrays to a regression."""

from typing import Any

import numpy as np

from subsetprivacy._choices import OutcomeFamily, RegressionMethod, WeightsKind
from subsetprivacy._types import FloatArray, IntArray, Label
from subsetprivacy.design import Design
from subsetprivacy.predictors.layout import Layout
from subsetprivacy.predictors.result import OutcomeRegression
from subsetprivacy.regression.solver import Told
from subsetprivacy.regression.starting import shares_of_all


def most_frequent(codes: IntArray, design: Design) -> Label:
    """Return the category with the largest estimated share: the baseline of a private predictor by default."""
    said = codes[~design.is_missing(codes)]
    distinct, amounts = np.unique(said, return_counts=True)
    return design.categories.labels[int(shares_of_all(distinct, amounts.astype(np.float64), design).argmax())]


def fit_outcome(
    name: str,
    y: FloatArray | IntArray,
    V: FloatArray,
    codes: IntArray,
    design: Design,
    layout: Layout,
    *,
    family: OutcomeFamily = "linear",
    method: RegressionMethod = "corrected",
    response_design: Design | None = None,
    baseline: Label | None = None,
    weights: Any = None,
    weights_kind: WeightsKind | None = None,
    clusters: Any = None,
    sampling: Any = None,
    offset: Any = None,
    table: Any = None,
    starts: int | None = None,
    told: Told | None = None,
    stacklevel: int = 2,
) -> OutcomeRegression:
    """Fit an outcome to seen columns and private predictors in memory.

    Parameters
    ----------
    name, y
        The outcome: its name and a number for each person; with `response_design`, a code for each person.
    V
        The seen columns, shape (n, d), a column of ones among them.
    codes, design
        The subsets of the private predictor; of several, those of their `product`, in the order of ``layout.private``.
    layout
        The columns of the model.
    family
        ``"linear"``, ``"logit"`` (an outcome of 0 and 1, or a private one) or ``"poisson"`` (counts).
    method
        ``"corrected"`` (default) or ``"ml"``.
    response_design, baseline
        The design of a private outcome, and the category of it that the others are compared with: by default the most
        frequent one; of two categories the first, so that the other is modelled.
    weights, weights_kind, clusters, sampling, offset
        One for each person, as in `regress`; `sampling` in the place of weights and clusters.
    table
        The seen columns as they were given, for adjusted values and effects.
    starts
        From how many starts the likelihood is maximised; None: as many as the sample calls for.
    """
    raise NotImplementedError
