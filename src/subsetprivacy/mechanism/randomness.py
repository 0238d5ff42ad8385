"""The sources of random bits.

The default is a cryptographic generator seeded by the operating system. A
seed or a NumPy generator replaces it for experiments. Such output is not
private, because anyone who has the seed can repeat the draw.
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
_MOST_BYTES = 1 << 30  # per call: OpenSSL counts in a C int
_MANY = 1 << 12  # bytes from which on OpenSSL is faster
_SEED = 32


@frozen
class SecureSource:
    """Bits from the operating system's cryptographic generator, and from OpenSSL for large requests.

    Notes
    -----
    Small requests go to the operating system. Before a large request, 32 bytes
    from the operating system are added to OpenSSL's generator, which then
    produces the bits some fifteen times as fast. So neither a fork nor a
    restored image of the process can repeat a draw. A Python without OpenSSL
    gets every bit from the operating system.
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
    """Return random bytes, from the operating system or, for large requests, from OpenSSL with fresh entropy."""
    stretch = _openssl_bytes() if size >= _MANY else None
    return os.urandom(size) if stretch is None else stretch(size)


@cache
def _openssl_bytes() -> Callable[[int], bytes] | None:
    """Return the function that draws many bytes with OpenSSL, imported on first use."""
    try:
        from ssl import RAND_add, RAND_bytes
    except ImportError:  # Python can be built without OpenSSL
        return None

    def stretched(size: int) -> bytes:
        RAND_add(os.urandom(_SEED), float(_SEED))  # so that no copy of this process draws the same bytes
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
    """A source of bits without rows, which all rows share."""

    source: Any

    def bits(self, n: int, width: int) -> NDArray[np.unsignedinteger[Any]]:
        words: NDArray[np.unsignedinteger[Any]] = self.source.bits(n, width)
        return words

    def among(self, rows: Rows) -> "_Shared":
        return self


def random_source(seed: Seed | RandomSource | None = None) -> RandomSource:
    """Return the source for a seed, by default the cryptographic source.

    Parameters
    ----------
    seed
        A number, a NumPy Generator or a SeedSequence. Or a source of bits, which is an object with a method
        ``bits(n, width)``. The exact tests of a mechanism's distribution use such a source.

    Raises
    ------
    ArgumentError
        If `seed` has another type.
    """
    if seed is None:
        return SecureSource()
    if isinstance(seed, np.random.Generator):
        return SeededSource(seed)
    if hasattr(seed, "bits"):
        return seed if hasattr(seed, "among") else _Shared(seed)
    return seeded_source(seed)


def seeded_source(seed: Any, *place: int) -> SeededSource:
    """Return the source of one of many units of work that share a seed. It does not depend on the process.

    It is independent of ``np.random.default_rng(seed)``. Values are often
    simulated with the same small seed, and with a shared stream the questions
    would depend on the values.
    """
    return SeededSource(np.random.default_rng(seed_sequence(seed, _STREAM, *place)))
