r"""The linear maps between distributions and subsets, which are the only products that estimators need.

With one row :math:`1_a` per distinct subset:

- ``inner(w)``:  :math:`w \mapsto 1_a^\top w`, the size L(a) of every subset;
- ``spread(r)``: :math:`r \mapsto \sum_a r_a 1_a`, the score when r = n_a / L(a);
- ``gram(y)``:   :math:`y \mapsto \sum_a y_a 1_a 1_a^\top`, the information when y = n_a / L(a)^2;
- ``peak(w)``:   :math:`w \mapsto \max_{j \in a} w_j`, the best guess.

Every class accepts arrays with any leading axes, so that batches and Kronecker
products need one call. Rows in general are :math:`c_a 1_a + d_a 1` (`Affine`).
If some weights are known, as with dummy categories, a known bit or random
answering, a cell probability is :math:`c_a 1_a^\top w + d_a` on the simplex.
"""

from subsetprivacy._types import IntArray
from subsetprivacy.incidence.base import MAX_MATRIX, Incidence, Listable
from subsetprivacy.incidence.derived import Affine, Mapped, Stacked
from subsetprivacy.incidence.masks import MAX_DENSE_BITS, ByteTables, DenseRows, Halves
from subsetprivacy.incidence.products import Branches, Cells, Kronecker, RowByRow, joint_incidence
from subsetprivacy.incidence.walsh import Walsh
from subsetprivacy.subsets import bits

__all__ = [
    "MAX_DENSE_BITS",
    "MAX_MATRIX",
    "Affine",
    "Branches",
    "ByteTables",
    "Cells",
    "DenseRows",
    "Halves",
    "Incidence",
    "Kronecker",
    "Listable",
    "Mapped",
    "RowByRow",
    "Stacked",
    "Walsh",
    "incidence",
    "joint_incidence",
]

# Entries of a row matrix: up to the first number it is always the cheapest, beyond the second never (measured).
_SMALL, _LARGE = 1 << 15, 1 << 18


def incidence(codes: IntArray, p: int) -> "DenseRows | Halves | ByteTables":
    """Return the rows of bit masks in the cheapest implementation."""
    entries = len(codes) * p
    if p <= MAX_DENSE_BITS and entries > max(_SMALL, 2 << p):
        return Halves(codes, p)
    if entries <= _LARGE:
        return DenseRows(bits(codes, p))
    return ByteTables(codes, p)
