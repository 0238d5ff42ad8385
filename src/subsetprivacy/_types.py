"""Names for the types that several packages use."""

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
Codes = TypeVar("Codes", int, IntArray)  # one code or an array of codes
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
    """Anything that NumPy can convert to an array, such as a column of pandas or Polars."""

    def __array__(self) -> NDArray[Any]:
        """Return the array."""
        ...


# A number for each category: by its label, or in category order. Narrower than ArrayLike, which takes text.
Distribution: TypeAlias = Mapping[Any, float] | Sequence[float] | AnyArray | SupportsArray


class RandomSource(Protocol):
    """A source of random bits, which every draw uses."""

    def bits(self, n: int, width: int) -> NDArray[np.unsignedinteger[Any]]:
        """Return `n` independent uniform words of `width` bits, width one of 8, 16, 32, 64, one for each row."""
        ...

    def among(self, rows: Rows) -> "RandomSource":
        """Return the source for some of the rows.

        A draw for part of the rows, such as a repeated draw after a
        rejection, uses this source, so that each row reads its own bits.
        A stream that all rows share returns itself.
        """
        ...
