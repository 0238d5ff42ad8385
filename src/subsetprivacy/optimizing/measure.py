"""The loss and the leakage of any design, and of the named designs that a frontier is compared with."""

from collections.abc import Iterable
from contextlib import suppress

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, Label
from subsetprivacy.design import Design, fixed_size, hadamard, partition, uniform
from subsetprivacy.errors import InvalidDesignError
from subsetprivacy.optimizing.criterion import as_loss, total
from subsetprivacy.optimizing.program import tangent_basis
from subsetprivacy.privacy import metrics
from subsetprivacy.privacy.attacker import Setting
from subsetprivacy.subsets import Categories


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


@frozen(eq=False)
class Mark:
    """A named design with its leakage and loss.

    Attributes
    ----------
    attainable
        Whether it belongs to the designs over which the frontier minimizes.
    """

    name: str
    design: Design
    leakage: float
    loss: float
    attainable: bool


def marked_designs(categories: Iterable[Label]) -> dict[str, Design]:
    """Return the uniform, fixed-size, partition and Hadamard designs on these categories.

    Examples
    --------
    >>> list(marked_designs(["a", "b", "c", "d"]))
    ['uniform', 'size 2', 'size 3', '2 groups', 'Hadamard']
    """
    labels = (categories if isinstance(categories, Categories) else Categories(categories)).labels
    p = len(labels)
    designs: dict[str, Design] = {} if p < 4 else {"uniform": uniform(labels)}
    designs |= {f"size {k}": fixed_size(labels, k) for k in range(2, p)}
    designs |= {f"{m} groups": partition(labels, groups=m) for m in range(2, p // 2 + 1)}
    with suppress(InvalidDesignError):  # with five categories some question would reveal a value
        designs["Hadamard"] = hadamard(labels)
    return designs


def marks(
    categories: Categories, w: FloatArray, metric: str, criterion: str, worst: bool, kind: str, smallest: int
) -> tuple[Mark, ...]:
    """Return the named designs with their leakage and loss, sorted by leakage."""
    marked = []
    for name, design in marked_designs(categories).items():
        attainable = design.smallest_set >= smallest and (kind == "conditional" or design.is_independent)
        marked.append(Mark(name, design, leakage(design, w)[metric], loss(design, w, criterion, worst), attainable))
    return tuple(sorted(marked, key=lambda mark: (mark.leakage, mark.loss if np.isfinite(mark.loss) else np.inf)))
