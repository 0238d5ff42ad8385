"""Names for the types that cross rooms."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Label: TypeAlias = Hashable
FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.signedinteger[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
WordArray: TypeAlias = NDArray[np.uint64]
AnyArray: TypeAlias = NDArray[Any]
Codes = TypeVar("Codes", int, IntArray)  # one code or many, and as many come back
Rows: TypeAlias = slice | NDArray[np.signedinteger[Any]]

# What `seed=` takes; see `_seeds`.
Seed: TypeAlias = int | np.integer[Any] | np.random.Generator | np.random.SeedSequence

__all__ = [
    "AnyArray",
    "ArrayLike",
    "BoolArray",
    "Codes",
    "Distribution",
    "FloatArray",
    "IntArray",
    "Label",
    "RandomSource",
    "Rows",
    "Seed",
    "SupportsArray",
    "WordArray",
]


class SupportsArray(Protocol):
    """What NumPy can read as an array: a column of pandas, Polars and others."""

    def __array__(self) -> NDArray[Any]:
        """Return the array."""
        ...


# A number for each category: by its label, or in category order. Narrower than ArrayLike, which takes text.
Distribution: TypeAlias = Mapping[Any, float] | Sequence[float] | AnyArray | SupportsArray


class RandomSource(Protocol):
    """Where random bits come from: the one thing every draw asks for."""

    def bits(self, n: int, width: int) -> NDArray[np.unsignedinteger[Any]]:
        """Return `n` independent uniform words of `width` bits, width one of 8, 16, 32, 64, one for each row."""
        ...

    def among(self, rows: Rows) -> "RandomSource":
        """Return the source for some of the rows only.

        Whoever draws for a part of the rows (again, where a draw was
        rejected) asks this source, so that a row whose bits are its own gets
        them. A stream that all rows share returns itself.
        """
        ...
