"""Sources of "random" bits that make the law of a draw an exact statement."""

from hashlib import blake2b

import numpy as np


class Grid:
    """Words at the midpoints of an even grid on [0, 1): n draws realize every law in multiples of 1/n exactly."""

    def bits(self, n, width):
        words = [((2 * k + 1) << width) // (2 * n) for k in range(n)]
        return np.array(words, dtype=f"u{width // 8}")

    def among(self, rows):
        return self


class Cycle:
    """All words of `p` bits in turn, for draws that reject some of them: what is accepted is exactly even."""

    def __init__(self, p):
        self._p, self._next = p, 0

    def bits(self, n, width):
        words = (self._next + np.arange(n)) % (1 << self._p)
        self._next = int((self._next + n) % (1 << self._p))
        return words.astype(f"u{width // 8}")

    def among(self, rows):
        return self


def keyed_stream(key, who, variable, blocks=5):
    """The bytes that a key gives one id, written down again from the definition."""
    name = variable.encode()
    return b"".join(
        blake2b(
            len(name).to_bytes(8, "little") + name + k.to_bytes(8, "little") + who.encode(),
            key=key,
            person=b"subsetprivacy/1",
        ).digest()
        for k in range(blocks)
    )
