"""An even shuffle of many rows, or of rows of which only the counts are left."""

from collections.abc import Iterator

import numpy as np

from subsetprivacy._types import AnyArray, IntArray, RandomSource, WordArray
from subsetprivacy.errors import TooLargeError

_KEY_BITS = 32
_SHIFT = np.uint64(_KEY_BITS)
_BITS = 1 << 26  # that are held at once


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


def bucket_counts(counts: IntArray, buckets: int, source: RandomSource) -> Iterator[IntArray]:
    """Deal rows of which only the counts are known to heaps, each row evenly and by itself.

    Parameters
    ----------
    counts
        How many rows there are of each kind.
    buckets
        How many heaps; a power of two.
    source
        Where the bits come from, one for each row and division of the heaps.

    Returns
    -------
    iterator of array
        For each heap, how many rows of each kind it gets.

    Notes
    -----
    Every row has a bit, which says in which half of the heaps it falls. Rows of
    a kind are alike, so only the number of ones among their bits is needed.
    With an even shuffle of every heap this is an even shuffle of the rows, and
    what it makes is independent of the order they once had: counts have none.

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
    """Draw a bit for every row, and return the number of ones among those of each kind."""
    ends = np.cumsum(counts)  # the bits of the rows in one line, kind after kind
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
    """Shuffle, in place, the values whose keys are equal; the keys stand in ascending order."""
    at, run = _tied(keys)
    while at.size:
        fresh = (run << _SHIFT) | source.bits(at.size, _KEY_BITS)
        by = np.argsort(fresh, kind="stable")  # within its run each: the run stands above the key
        mixed[at] = mixed[at[by]]
        tied, run = _tied(fresh[by])
        at = at[tied]


def _tied(ordered: WordArray) -> tuple[IntArray, WordArray]:
    """Return where a word equals a neighbour, and the number of the run of equal words it stands in."""
    same = ordered[1:] == ordered[:-1]
    if not same.any():
        return np.empty(0, np.int64), np.empty(0, np.uint64)
    as_before = np.concatenate([[False], same])
    at = np.flatnonzero(as_before | np.concatenate([same, [False]]))
    return at, np.cumsum(~as_before[at]).astype(np.uint64)
