"""What an estimator may ask of the rows of a design."""

from typing import Protocol

from subsetprivacy._types import FloatArray

# Beyond this many categories no p x p matrix is made.
MAX_MATRIX = 4096


class Incidence(Protocol):
    """What an estimator may ask of the rows 1_a."""

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
    """Rows of a design, which an attacker can search as well."""

    def peak(self, w: FloatArray) -> FloatArray:
        """Map (..., p) to (..., rows): the largest r_a(j) w_j, the weight of the best guess."""
        ...
