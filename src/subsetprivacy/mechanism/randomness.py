"""Where the random bits of a draw come from.

The default is the operating system's cryptographic generator. A seed or a
NumPy generator replaces it for experiments; such output is not private, since
whoever has the seed can repeat the draw.
"""

import os
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from subsetprivacy._types import RandomSource
from subsetprivacy.errors import ArgumentError

_STREAM = 0x5AB5E7


@frozen
class SecureSource:
    """Bits of the operating system's cryptographic generator."""

    def bits(self, n: int, width: int) -> NDArray[np.unsignedinteger[Any]]:
        """Return n uniform words of the given width."""
        return np.frombuffer(os.urandom(n * width // 8), dtype=f"u{width // 8}")


@frozen
class SeededSource:
    """Bits of a NumPy generator: repeatable, and therefore not private."""

    generator: np.random.Generator

    def bits(self, n: int, width: int) -> NDArray[np.unsignedinteger[Any]]:
        """Return n uniform words of the given width."""
        return np.frombuffer(self.generator.bytes(n * width // 8), dtype=f"<u{width // 8}")


def random_source(seed: int | None = None, rng: Any = None) -> RandomSource:
    """Return the source that `seed` or `rng` asks for, by default the cryptographic one.

    Raises
    ------
    ArgumentError
        If both are given, or `rng` is neither a NumPy generator nor a source of bits.
    """
    if seed is not None and rng is not None:
        raise ArgumentError("only one of `seed` and `rng` must be given; got both.")
    if seed is not None:
        return SeededSource(_own_stream(seed))
    if rng is None:
        return SecureSource()
    if isinstance(rng, np.random.Generator):
        return SeededSource(rng)
    if hasattr(rng, "bits"):
        return rng
    raise ArgumentError(f"`rng` must be a numpy.random.Generator; got {type(rng).__name__}. Hint: try seed=1.")


def _own_stream(seed: Any) -> np.random.Generator:
    """Return a generator that shares nothing with ``np.random.default_rng(seed)``.

    Values are often made with the same small seed; drawn from the same
    stream, the questions would depend on them.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        kind = repr(seed) if isinstance(seed, int) else type(seed).__name__
        raise ArgumentError(f"`seed` must be a whole number of at least 0; got {kind}.")
    return np.random.default_rng(np.random.SeedSequence(int(seed), spawn_key=(_STREAM,)))


def numpy_generator(seed: Any = None) -> np.random.Generator:
    """Return a NumPy generator for simulations, fresh or from a seed."""
    if isinstance(seed, np.random.Generator):
        return seed
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ArgumentError(f"`seed` must be a whole number of at least 0; got {type(seed).__name__}.") from None
