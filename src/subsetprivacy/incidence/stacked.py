"""Rows of several samples about the same distribution, one below the other."""

from collections.abc import Sequence

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.incidence.base import Incidence


class Stacked:
    """The rows of several incidences on the same categories, in order: pooled samples under different designs."""

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
