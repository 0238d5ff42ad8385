"""The loss and the leakage of any design at one or several distributions."""

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.design import Design
from subsetprivacy.optimizing.criterion import as_loss, total
from subsetprivacy.optimizing.program import tangent_basis
from subsetprivacy.privacy import metrics
from subsetprivacy.privacy.attacker import Setting


def loss(design: Design, w: FloatArray, criterion: str, worst: bool) -> float:
    r"""Return the A- or D-criterion of a design, over all rows of w; infinite if it is not identifiable.

    Notes
    -----
    The loss is per person asked, so a full set counts as a person who gave no information. A is
    :math:`\operatorname{tr}(B^\top I B)^{-1}`, the limit of n times the mean squared error. D is the geometric mean
    of the eigenvalues of :math:`(B^\top I B)^{-1}`. Over several w the A-criterion is averaged directly, and the
    D-criterion through its logarithm.
    """
    if not design.is_identifiable:
        return np.inf
    _, mu = design.support()
    rows, B = design.support_incidence, tangent_basis(design.p)
    f = []
    for distribution in w:
        values = np.linalg.eigvalsh(B.T @ rows.gram(mu / rows.inner(distribution)) @ B)
        f.append((1 / values).sum() if criterion == "A" else -np.log(values).mean())
    return float(as_loss(criterion, total(np.array(f), worst)))


def leakage(design: Design, w: FloatArray) -> dict[str, float]:
    """Return the four leakages of a design, each the largest over all rows of w."""
    settings = [Setting.of(design, distribution) for distribution in w]
    return {
        "size": max(metrics.size_leakage(setting) for setting in settings),
        "mi": max(metrics.mi_leakage(setting).value for setting in settings),
        "prediction": max(metrics.prediction_leakage(setting) for setting in settings),
        "maximal": metrics.maximal_leakage(design),
    }
