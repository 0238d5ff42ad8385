"""An even shuffle of many rows, or of rows of which only the counts are left."""

from collections.abc import Iterator

import numpy as np

from subsetprivacy._types import AnyArray, IntArray, RandomSource, WordArray
from subsetprivacy.errors import TooLargeError

_KEY_BITS = 32
_SHIFT = np.uint64(_KEY_BITS)


def shuffled(n: int, source: RandomSource) -> IntArray:
    """Return an even shuffle of 0 … n-1.

    Parameters
    ----------
    n
        The number of rows, at most 2^32.
    source
        Where the bits come from, 32 for each row and as many again for rows
        that tie. Not one with a key: its bits belong to people.

    Notes
    -----
    Each row gets a random key, and the rows are sorted by it. Key and row
    number share one 64-bit word, so that plain numbers are sorted, which
    processors do ten times as fast as they find an order. Rows whose keys are
    equal are then shuffled among themselves in the same way, by fresh keys:
    left in the order of their numbers they would make early rows come early.
    All n! orders are equally likely.

    Examples
    --------
    >>> from subsetprivacy.mechanism.randomness import SecureSource
    >>> sorted(shuffled(5, SecureSource()).tolist())
    [0, 1, 2, 3, 4]
    """
    if n > 1 << _KEY_BITS:
        raise TooLargeError(f"at most 2^{_KEY_BITS} rows can be shuffled at once; got {n}.")
    return shuffled_values(np.arange(n, dtype=np.uint32), source).astype(np.int64)


def shuffled_values(values: AnyArray, source: RandomSource) -> AnyArray:
    """Return unsigned values of at most 32 bits in an even shuffle, in their own type; faster than by their order."""
    words = source.bits(len(values), _KEY_BITS).astype(np.uint64)
    words <<= _SHIFT
    words |= values
    words.sort()
    mixed = words.astype(values.dtype)  # the lower bits
    words >>= _SHIFT
    _break_ties(mixed, words, source)
    return mixed


def dealt_counts(counts: IntArray, heaps: int, seed: int) -> Iterator[IntArray]:
    """Deal rows of which only the counts are known to heaps, each row evenly and by itself.

    Parameters
    ----------
    counts
        How many rows there are of each kind.
    heaps
        How many heaps; a power of two.
    seed
        Says how the rows fall; see `random_seed`.

    Returns
    -------
    iterator of array
        For each heap, how many rows of each kind it gets.

    Notes
    -----
    Rows of a kind are alike, so it is enough to know how many of them go where:
    half of the heaps get a binomial number of them, and so on within each half.
    With an even shuffle of every heap this is an even shuffle of the rows.

    How the rows fall needs no secret bits. Counts have no order, so nothing of
    the old one is left to be found out.

    Examples
    --------
    >>> parts = list(dealt_counts(np.array([3, 0, 1000]), 4, seed=1))
    >>> sum(parts).tolist()
    [3, 0, 1000]
    """
    yield from _dealt(counts, heaps, seed, 1)


def dealt_heap(counts: IntArray, heaps: int, number: int, seed: int) -> IntArray:
    """Return what `dealt_counts` gives to one heap, without looking at the others; by the same NumPy it is the same."""
    node = 1
    for k in reversed(range(heaps.bit_length() - 1)):
        first, late = _first_half(counts, seed, node), number >> k & 1
        counts, node = (counts - first if late else first), 2 * node + late
    return counts


def random_seed(source: RandomSource) -> int:
    """Return 128 random bits as a number."""
    return int.from_bytes(source.bits(2, 64).tobytes(), "little")


def _dealt(counts: IntArray, heaps: int, seed: int, node: int) -> Iterator[IntArray]:
    if heaps == 1:
        yield counts
        return
    first = _first_half(counts, seed, node)
    yield from _dealt(first, heaps // 2, seed, 2 * node)
    yield from _dealt(counts - first, heaps // 2, seed, 2 * node + 1)


def _first_half(counts: IntArray, seed: int, node: int) -> IntArray:
    """Deal rows to two halves; each division of the heaps has its number, and its own random numbers."""
    return np.random.default_rng([seed, node]).binomial(counts, 0.5)


def _break_ties(mixed: AnyArray, keys: WordArray, source: RandomSource) -> None:
    """Shuffle, in place, the values whose keys are equal; the keys stand in ascending order."""
    at, run = _tied(keys)
    while at.size:
        fresh = (run << _SHIFT) | source.bits(at.size, _KEY_BITS)
        by = np.argsort(fresh, kind="stable")  # within its run each: the run stands above the key
        mixed[at] = mixed[at[by]]
        again, run = _tied(fresh[by])
        at = at[again]


def _tied(ordered: WordArray) -> tuple[IntArray, WordArray]:
    """Return where a word equals a neighbour, and the number of the run of equal words it stands in."""
    same = ordered[1:] == ordered[:-1]
    if not same.any():
        return np.empty(0, np.int64), np.empty(0, np.uint64)
    as_before = np.concatenate([[False], same])
    at = np.flatnonzero(as_before | np.concatenate([same, [False]]))
    return at, np.cumsum(~as_before[at]).astype(np.uint64)
