r"""Sums over people of coefficients times observed columns.

Each column of the model is a number of the private cell times an observed column. A linear predictor, a score and a
curvature are therefore sums of coefficients by person and cell, times columns of V. Columns with the same numbers of
the cells form an *atom* and share their coefficients. All sums are computed by atoms, without a model matrix for each
cell.
"""

from functools import cached_property

import numpy as np
from attrs import field, frozen

from subsetprivacy._types import FloatArray, IntArray


@frozen(slots=False, eq=False, repr=False)
class Atoms:
    """The atoms of a layout.

    Attributes
    ----------
    Z
        Numbers of the cells, shape (cells, C).
    seen
        The column of V of each column of the model, shape (C,).
    d
        The number of columns of V.
    """

    Z: FloatArray
    seen: IntArray
    d: int
    z: FloatArray = field(init=False)  # the atoms' numbers of the cells, shape (atoms, cells)
    atom: IntArray = field(init=False)  # the atom of each column of the model

    def __attrs_post_init__(self) -> None:
        distinct, first, inverse = np.unique(self.Z, axis=1, return_index=True, return_inverse=True)
        order = np.argsort(first)
        object.__setattr__(self, "z", np.ascontiguousarray(distinct.T[order]))
        object.__setattr__(self, "atom", np.argsort(order)[inverse.ravel()])

    @property
    def C(self) -> int:
        """The number of columns of the model."""
        return len(self.seen)

    @cached_property
    def columns(self) -> tuple[IntArray, ...]:
        """The columns of the model in each atom."""
        return tuple(np.flatnonzero(self.atom == a) for a in range(len(self.z)))

    def predictors(self, theta: FloatArray, V: FloatArray, offset: FloatArray | None = None) -> FloatArray:
        """Return linear predictors, shape (r, cells, m), of parameters of shape (r, C)."""
        r = len(theta)
        B = np.zeros((r, len(self.z), self.d))
        for k in range(self.C):  # an observed column may occur twice in an atom
            B[:, self.atom[k], self.seen[k]] += theta[:, k]
        W = (B.reshape(-1, self.d) @ V.T).reshape(r, len(self.z), -1)
        U = self.z.T @ W
        return U if offset is None else U + offset

    def collected(self, F: FloatArray) -> FloatArray:
        """Return the atoms' coefficients, shape (r, atoms, m), of numbers of each cell, shape (r, cells, m)."""
        return self.z @ F

    def gradient(self, A: FloatArray, V: FloatArray) -> FloatArray:
        """Return the sums of coefficients, shape (r, atoms, m), times their columns, as shape (r, C)."""
        r, atoms, m = A.shape
        sums = (A.reshape(-1, m) @ V).reshape(r, atoms, -1)
        return np.asarray(sums[:, self.atom, self.seen])

    def scores(self, A: FloatArray, V: FloatArray) -> FloatArray:
        """Return each person's coefficients times columns, shape (m, r C)."""
        r, _, m = A.shape
        out = np.empty((m, r, self.C))
        np.multiply(np.moveaxis(A[:, self.atom], -1, 0), V[:, None, self.seen], out=out)
        return out.reshape(m, r * self.C)

    @cached_property
    def _pairs(self) -> list[tuple[int, int]]:
        """The pairs of atoms that have a cell in common."""
        return [
            (a, b) for a in range(len(self.z)) for b in range(a, len(self.z)) if bool((self.z[a] * self.z[b]).any())
        ]

    @cached_property
    def _products(self) -> FloatArray:
        return np.array([self.z[a] * self.z[b] for a, b in self._pairs])

    def information(self, K: FloatArray, V: FloatArray) -> FloatArray:
        """Return the summed curvatures of two predictors, shape (cells, m), times columns, as shape (C, C)."""
        weights = self._products @ K
        out = np.zeros((self.C, self.C))
        for weight, (a, b) in zip(weights, self._pairs, strict=True):
            first, second = self.columns[a], self.columns[b]
            block = weighted_product(weight, V, self.seen[first], self.seen[second])
            out[np.ix_(first, second)] = block
            if a != b:
                out[np.ix_(second, first)] = block.T
        return out


def weighted_product(weight: FloatArray, V: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """Return the sum of weights times products of columns, shape (len(first), len(second))."""
    if len(second) < len(first):
        return weighted_product(weight, V, second, first).T
    left = V[:, first] * weight[:, None]
    return np.asarray(left.T @ (V if len(second) == V.shape[1] and _in_order(second) else V[:, second]))


def _in_order(columns: IntArray) -> bool:
    return bool((columns == np.arange(len(columns))).all())
