"""The interface of the rows of a design."""

from typing import Protocol

from subsetprivacy._types import FloatArray

# With more categories no p x p matrix is computed.
MAX_MATRIX = 4096


class Incidence(Protocol):
    """The products with the rows 1_a that estimators use."""

    @property
    def rows(self) -> int:
        """The number of rows."""
        ...

    @property
    def p(self) -> int:
        """The length of w."""
        ...

    def inner(self, w: FloatArray) -> FloatArray:
        """Map (..., p) to (..., rows)."""
        ...

    def spread(self, r: FloatArray) -> FloatArray:
        """Map (..., rows) to (..., p)."""
        ...

    def gram(self, y: FloatArray) -> FloatArray:
        """Map (..., rows) to (..., p, p)."""
        ...


class Listable(Incidence, Protocol):
    """Rows of a design that can also be searched for the best guess."""

    def peak(self, w: FloatArray) -> FloatArray:
        """Map (..., p) to (..., rows): the largest r_a(j) w_j, the weight of the best guess."""
        ...
