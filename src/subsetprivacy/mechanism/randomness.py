"""Where the random bits of a draw come from.

The default is a cryptographic generator that the operating system seeds. A
seed or a NumPy generator replaces it for experiments; such output is not
private, since whoever has the seed can repeat the draw.
"""

import os
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from subsetprivacy._types import RandomSource, Rows
from subsetprivacy.errors import ArgumentError

_STREAM = 0x5AB5E7
_MOST_BYTES = 1 << 30  # of one call: OpenSSL counts in a C int
_MANY = 1 << 12  # bytes from which on stirring pays
_SEED = 32


@frozen
class SecureSource:
    """Bits of the operating system's cryptographic generator, many of them stretched by OpenSSL's.

    Notes
    -----
    Small requests go to the operating system. Before a large one 32 bytes of
    the operating system are stirred into OpenSSL's generator, which then makes
    the rest some fifteen times as fast; so neither a fork nor a restored image
    of the process can repeat a draw. A Python without OpenSSL asks the
    operating system for every bit.
    """

    def bits(self, n: int, width: int) -> NDArray[np.unsignedinteger[Any]]:
        """Return n uniform words of the given width."""
        size = n * width // 8
        if size <= _MOST_BYTES:
            return np.frombuffer(_secure_bytes(size), dtype=f"u{width // 8}")
        words = np.empty(n, dtype=f"u{width // 8}")
        octets = words.view(np.uint8)
        for start in range(0, size, _MOST_BYTES):
            part = octets[start : start + _MOST_BYTES]
            part[:] = np.frombuffer(_secure_bytes(len(part)), np.uint8)
        return words

    def among(self, rows: Rows) -> "SecureSource":
        """Return itself: every bit is new."""
        return self


def _secure_bytes(size: int) -> bytes:
    """Return random bytes: few from the operating system itself, many from OpenSSL with fresh ones stirred in."""
    stretch = _stretcher() if size >= _MANY else None
    return os.urandom(size) if stretch is None else stretch(size)


@cache
def _stretcher() -> Callable[[int], bytes] | None:
    """Return the function that makes many bytes of a few; the module is loaded when they are first needed."""
    try:
        from ssl import RAND_add, RAND_bytes
    except ImportError:  # Python can be built without OpenSSL
        return None

    def stretched(size: int) -> bytes:
        RAND_add(os.urandom(_SEED), float(_SEED))  # so that no copy of this process's memory draws the same
        return RAND_bytes(size)

    return stretched


@frozen
class SeededSource:
    """Bits of a NumPy generator: repeatable, and therefore not private."""

    generator: np.random.Generator

    def bits(self, n: int, width: int) -> NDArray[np.unsignedinteger[Any]]:
        """Return n uniform words of the given width."""
        return np.frombuffer(self.generator.bytes(n * width // 8), dtype=f"<u{width // 8}")

    def among(self, rows: Rows) -> "SeededSource":
        """Return itself: all rows share one stream."""
        return self


@frozen
class _Shared:
    """A source of bits that knows of no rows: all of them share it."""

    source: Any

    def bits(self, n: int, width: int) -> NDArray[np.unsignedinteger[Any]]:
        words: NDArray[np.unsignedinteger[Any]] = self.source.bits(n, width)
        return words

    def among(self, rows: Rows) -> "_Shared":
        return self


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
        return rng if hasattr(rng, "among") else _Shared(rng)
    raise ArgumentError(f"`rng` must be a numpy.random.Generator; got {type(rng).__name__}. Hint: try seed=1.")


def seeded_source(seed: Any, *place: int) -> SeededSource:
    """Return the source of one of many pieces of work that share a seed; the same whoever does the piece."""
    return SeededSource(_own_stream(seed, *place))


def _own_stream(seed: Any, *place: int) -> np.random.Generator:
    """Return a generator that shares nothing with ``np.random.default_rng(seed)``.

    Values are often made with the same small seed; drawn from the same
    stream, the questions would depend on them.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        kind = repr(seed) if isinstance(seed, int) else type(seed).__name__
        raise ArgumentError(f"`seed` must be a whole number of at least 0; got {kind}.")
    return np.random.default_rng(np.random.SeedSequence(int(seed), spawn_key=(_STREAM, *place)))


def numpy_generator(seed: Any = None) -> np.random.Generator:
    """Return a NumPy generator for simulations, fresh or from a seed."""
    if isinstance(seed, np.random.Generator):
        return seed
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ArgumentError(f"`seed` must be a whole number of at least 0; got {type(seed).__name__}.") from None
