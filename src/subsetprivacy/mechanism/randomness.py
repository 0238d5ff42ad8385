"""Where the random bits of a draw come from.

The default is a cryptographic generator that the operating system seeds. A
seed or a NumPy generator replaces it for experiments; such output is not
private, since anyone who has the seed can repeat the draw.
"""

import os
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from subsetprivacy._seeds import seed_sequence
from subsetprivacy._types import RandomSource, Rows, Seed

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


def random_source(seed: Seed | RandomSource | None = None) -> RandomSource:
    """Return the source that `seed` asks for, by default the cryptographic one.

    Parameters
    ----------
    seed
        A number, a NumPy Generator or SeedSequence; or a source of bits, an object with a method
        ``bits(n, width)``, as the exact tests of a mechanism's distribution use.

    Raises
    ------
    ArgumentError
        If `seed` is none of these.
    """
    if seed is None:
        return SecureSource()
    if isinstance(seed, np.random.Generator):
        return SeededSource(seed)
    if hasattr(seed, "bits"):
        return seed if hasattr(seed, "among") else _Shared(seed)
    return seeded_source(seed)


def seeded_source(seed: Any, *place: int) -> SeededSource:
    """Return the source of one of many pieces of work that share a seed; the same whoever does the piece.

    It shares nothing with ``np.random.default_rng(seed)``: values are often
    made with the same small seed, and drawn from the same stream, the
    questions would depend on them.
    """
    return SeededSource(np.random.default_rng(seed_sequence(seed, _STREAM, *place)))
