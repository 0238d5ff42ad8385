"""Rows derived from other rows: with known parts (`Affine`, `Mapped`), or several samples (`Stacked`)."""

from collections.abc import Sequence

import numpy as np

from subsetprivacy._types import ArrayLike, FloatArray
from subsetprivacy.incidence.base import Incidence, Listable


class Affine:
    """Rows c_a 1_a + d_a 1: cell probabilities if part of the weight is known.

    With the vector 1 instead of a constant, the cell probabilities stay
    homogeneous in w, so estimators and their certificates need no change.
    """

    def __init__(self, base: Listable, scale: ArrayLike, offset: ArrayLike) -> None:
        self._base = base
        self._c = np.broadcast_to(np.asarray(scale, np.float64), (base.rows,))
        self._d = np.broadcast_to(np.asarray(offset, np.float64), (base.rows,))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._base.rows

    @property
    def p(self) -> int:
        """The length of w."""
        return self._base.p

    def inner(self, w: FloatArray) -> FloatArray:
        """Return c_a 1_a'w + d_a 1'w."""
        return self._c * self._base.inner(w) + self._d * w.sum(axis=-1, keepdims=True)

    def spread(self, r: FloatArray) -> FloatArray:
        """Return the sum of r_a (c_a 1_a + d_a 1)."""
        return self._base.spread(self._c * r) + (r @ self._d)[..., None]

    def gram(self, y: FloatArray) -> FloatArray:
        """Return the sum of y_a times the outer square of the row."""
        cross = self._base.spread(self._c * self._d * y)
        square = self._base.gram(self._c**2 * y)
        return square + cross[..., :, None] + cross[..., None, :] + (y @ self._d**2)[..., None, None]

    def peak(self, w: FloatArray) -> FloatArray:
        """Return the largest entry of the row times w."""
        # Inside a the factor is c + d, outside it is d.
        return np.maximum((self._c + self._d) * self._base.peak(w), self._d * w.max(axis=-1, keepdims=True))


class Mapped:
    """Rows in terms of u with w = T u: if w is partly known, it is a linear image of the free part u.

    The columns of T sum to one, so that a distribution u gives a distribution w.
    """

    def __init__(self, base: Incidence, T: FloatArray) -> None:
        self._base, self._T = base, T

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._base.rows

    @property
    def p(self) -> int:
        """The length of u."""
        return self._T.shape[1]

    def inner(self, w: FloatArray) -> FloatArray:
        """Return 1_a'Tu."""
        return self._base.inner(w @ self._T.T)

    def spread(self, r: FloatArray) -> FloatArray:
        """Return the sum of r_a T'1_a."""
        return self._base.spread(r) @ self._T

    def gram(self, y: FloatArray) -> FloatArray:
        """Return the sum of y_a times the outer square of T'1_a."""
        return self._T.T @ self._base.gram(y) @ self._T

    def peak(self, w: FloatArray) -> FloatArray:
        """Return the largest entry of T'1_a times u."""
        return (self.matrix() * w[..., None, :]).max(axis=-1)

    def matrix(self) -> FloatArray:
        """Return the rows T'1_a."""
        return self.inner(np.eye(self.p)).T


class Stacked:
    """The rows of several incidences on the same categories, in order, for pooled samples under different designs."""

    def __init__(self, parts: Sequence[Incidence]) -> None:
        self._parts = tuple(parts)
        self._ends = np.cumsum([part.rows for part in parts])[:-1]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(part.rows for part in self._parts)

    @property
    def p(self) -> int:
        """The length of w."""
        return self._parts[0].p

    def inner(self, w: FloatArray) -> FloatArray:
        """Return r_a'w."""
        return np.concatenate([part.inner(w) for part in self._parts], axis=-1)

    def spread(self, r: FloatArray) -> FloatArray:
        """Return the sum of r_a times the row of a."""
        pieces = np.split(r, self._ends, axis=-1)
        return np.sum([part.spread(piece) for part, piece in zip(self._parts, pieces, strict=True)], axis=0)

    def gram(self, y: FloatArray) -> FloatArray:
        """Return the sum of y_a times the outer square of the row of a."""
        pieces = np.split(y, self._ends, axis=-1)
        return np.sum([part.gram(piece) for part, piece in zip(self._parts, pieces, strict=True)], axis=0)
