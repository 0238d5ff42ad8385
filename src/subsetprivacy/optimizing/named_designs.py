"""The named designs that a frontier is compared with."""

from collections.abc import Iterable
from contextlib import suppress

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, Label
from subsetprivacy.design import Design, fixed_size, hadamard, partition, uniform
from subsetprivacy.errors import InvalidDesignError
from subsetprivacy.optimizing import measure
from subsetprivacy.subsets import Categories


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
        leaked = measure.leakage(design, w)[metric]
        loss = measure.loss(design, w, criterion, worst)
        marked.append(Mark(name, design, leaked, loss, attainable))
    return tuple(sorted(marked, key=lambda mark: (mark.leakage, mark.loss if np.isfinite(mark.loss) else np.inf)))
