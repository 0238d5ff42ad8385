"""Where the random bits of a draw come from.

The default is a cryptographic generator that the operating system seeds. A
seed or a NumPy generator replaces it for experiments; such output is not
private, since whoever has the seed can repeat the draw.
"""

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


@frozen
class SecureSource:
    """Bits of OpenSSL's cryptographic generator, which the operating system seeds; or of the latter itself.

    Notes
    -----
    OpenSSL's generator is seeded by the operating system, again and again,
    and afresh in a process that was forked. A Python without OpenSSL asks the
    operating system for every bit, which takes some fifteen times as long.
    """

    def bits(self, n: int, width: int) -> NDArray[np.unsignedinteger[Any]]:
        """Return n uniform words of the given width."""
        size = n * width // 8
        draw = _secure_bytes()
        if size <= _MOST_BYTES:
            return np.frombuffer(draw(size), dtype=f"u{width // 8}")
        words = np.empty(n, dtype=f"u{width // 8}")
        octets = words.view(np.uint8)
        for start in range(0, size, _MOST_BYTES):
            part = octets[start : start + _MOST_BYTES]
            part[:] = np.frombuffer(draw(len(part)), np.uint8)
        return words

    def among(self, rows: Rows) -> "SecureSource":
        """Return itself: every bit is new."""
        return self


@cache
def _secure_bytes() -> Callable[[int], bytes]:
    """Return the function that makes random bytes; the module is loaded when the first are needed."""
    try:
        from ssl import RAND_bytes
    except ImportError:  # Python can be built without OpenSSL
        from os import urandom

        return urandom
    return RAND_bytes


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
