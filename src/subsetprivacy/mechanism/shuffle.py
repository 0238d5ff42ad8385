"""Uniform shuffles of many rows, or of rows of which only the counts are known."""

from collections.abc import Iterator

import numpy as np

from subsetprivacy._types import AnyArray, IntArray, RandomSource, WordArray
from subsetprivacy.errors import TooLargeError

_KEY_BITS = 32
_SHIFT = np.uint64(_KEY_BITS)
_BITS = 1 << 26  # in memory at a time


def shuffled(n: int, source: RandomSource) -> IntArray:
    """Return a uniform shuffle of 0 … n-1.

    Parameters
    ----------
    n
        The number of rows, at most 2^32.
    source
        The source of the bits: 32 for each row, and 32 more for each tie. It
        must not be a source with a key, whose bits belong to people.

    Notes
    -----
    Each row gets a random key, and the rows are sorted by key. The key and the
    row number share a 64-bit word, because sorting plain numbers is ten times
    as fast as computing an order. Rows with equal keys are then shuffled among
    themselves with new keys. Left in the order of their numbers, early rows
    would tend to stay early. All n! orders are equally likely.

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
    """Return unsigned values of at most 32 bits in a uniform shuffle. This is faster than shuffling positions."""
    words = source.bits(len(values), _KEY_BITS).astype(np.uint64)
    words <<= _SHIFT
    words |= values
    words.sort()
    mixed = words.astype(values.dtype)  # the lower bits
    words >>= _SHIFT
    _break_ties(mixed, words, source)
    return mixed


def bucket_counts(counts: IntArray, buckets: int, source: RandomSource) -> Iterator[IntArray]:
    """Assign rows of which only the counts are known to buckets, each row independently and uniformly.

    Parameters
    ----------
    counts
        The number of rows of each kind.
    buckets
        The number of buckets, a power of two.
    source
        The source of the bits: one for each row and each division of the buckets.

    Returns
    -------
    iterator of array
        For each bucket, the number of rows of each kind.

    Notes
    -----
    A bit per row decides in which half of the buckets the row falls. Rows of
    the same kind are identical, so only the number of ones among their bits is
    needed. Together with a uniform shuffle of every bucket this is a uniform
    shuffle of the rows. The result is independent of the original order,
    because counts have no order.

    Examples
    --------
    >>> from subsetprivacy.mechanism.randomness import SecureSource
    >>> parts = list(bucket_counts(np.array([3, 0, 1000]), 4, SecureSource()))
    >>> sum(parts).tolist()
    [3, 0, 1000]
    """
    if buckets == 1:
        yield counts
        return
    late = _ones(counts, source)
    yield from bucket_counts(counts - late, buckets // 2, source)
    yield from bucket_counts(late, buckets // 2, source)


def _ones(counts: IntArray, source: RandomSource) -> IntArray:
    """Draw a bit for every row, and return the number of ones for each kind."""
    ends = np.cumsum(counts)  # the bits of all rows in sequence, sorted by kind
    total = int(ends[-1]) if ends.size else 0
    before = np.zeros(len(counts), dtype=np.int64)  # the ones up to the end of each kind
    seen = int(np.searchsorted(ends, 0, side="right"))
    ones = 0
    for start in range(0, total, _BITS):
        words = np.append(source.bits(-(-min(_BITS, total - start) // 64), 64), np.uint64(0))
        below = ones + np.concatenate([[0], np.cumsum(np.bitwise_count(words[:-1]), dtype=np.int64)])
        stop = int(np.searchsorted(ends, start + _BITS, side="right"))
        end = ends[seen:stop] - start
        rest = words[end >> 6] & ((np.uint64(1) << (end & 63).astype(np.uint64)) - np.uint64(1))
        before[seen:stop] = below[end >> 6] + np.bitwise_count(rest)
        seen, ones = stop, int(below[-1])
    return np.diff(before, prepend=0)


def _break_ties(mixed: AnyArray, keys: WordArray, source: RandomSource) -> None:
    """Shuffle, in place, the values whose keys are equal. The keys are in ascending order."""
    at, run = _tied(keys)
    while at.size:
        fresh = (run << _SHIFT) | source.bits(at.size, _KEY_BITS)
        by = np.argsort(fresh, kind="stable")  # within each run: the run is in the higher bits
        mixed[at] = mixed[at[by]]
        tied, run = _tied(fresh[by])
        at = at[tied]


def _tied(ordered: WordArray) -> tuple[IntArray, WordArray]:
    """Return the positions of words that equal a neighbor, and the number of the run of equal words of each."""
    same = ordered[1:] == ordered[:-1]
    if not same.any():
        return np.empty(0, np.int64), np.empty(0, np.uint64)
    as_before = np.concatenate([[False], same])
    at = np.flatnonzero(as_before | np.concatenate([same, [False]]))
    return at, np.cumsum(~as_before[at]).astype(np.uint64)
