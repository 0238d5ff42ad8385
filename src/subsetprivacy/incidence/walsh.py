r"""Rows of a Sylvester–Hadamard matrix: products with a million categories by the fast Walsh–Hadamard transform.

The matrix has :math:`H_{rc} = (-1)^{|r \wedge c|}`, with :math:`|r \wedge c|` the number of binary ones that r and c
share. Category j has the column :math:`c_j`, question r asks whether :math:`H_{r c_j} = 1`, and with :math:`\sigma = 1`
for yes and -1 for no the subset is :math:`1_a(j) = (1 + \sigma H_{r c_j})/2`.
"""

import math
from collections.abc import Iterator
from functools import cache

import numpy as np

from subsetprivacy._checks import check_count
from subsetprivacy._types import AnyArray, ArrayLike, FloatArray, IntArray
from subsetprivacy.errors import ArgumentError, InvalidDesignError, TooLargeError
from subsetprivacy.incidence.base import MAX_MATRIX
from subsetprivacy.messages.for_designs import ESTIMATE_BY_MOMENTS, USE_SMALL, USE_UNIFORM

_TRIES = 64  # more choices of columns hardly improve the balance of the sizes (measured)
_WORK = 1 << 20  # entries of all tries together: a large choice is balanced enough at the first try


def transform(v: ArrayLike) -> FloatArray:
    """Multiply by the Sylvester–Hadamard matrix: the unnormalized fast Walsh–Hadamard transform.

    Parameters
    ----------
    v
        Numbers of shape (..., N) with N a power of two; the last axis is transformed.

    Raises
    ------
    ArgumentError
        If the length is not a power of two.

    Notes
    -----
    The matrix is a Kronecker product of small ones. Each pass multiplies the
    leading digit of the index by a small matrix and moves it to the end.
    After all passes the digits are back in order. A pass is one matrix
    product, which is three to six times as fast as butterflies.

    Examples
    --------
    >>> transform([1.0, 0.0, 0.0, 2.0])
    array([ 3., -1., -1.,  3.])
    """
    here = np.array(v, np.float64, order="C")  # contiguous rows, for BLAS
    N = here.shape[-1] if here.ndim else 0
    if N < 1 or N & (N - 1):
        raise ArgumentError(f"`v` must have a power of two as its length; got {N}.")
    lead, digits = here.shape[:-1], N.bit_length() - 1
    passes = 1 if digits <= 6 else -(-digits // 4)  # up to 64 one product is the fastest, beyond it radix 16 (measured)
    there = np.empty_like(here)
    for i in range(passes):
        R = 1 << (digits + i) // passes
        turned = np.swapaxes(here.reshape(*lead, R, N // R), -1, -2)
        np.matmul(turned, _small(R), out=there.reshape(*lead, N // R, R))
        here, there = there, here
    return here


@cache
def _small(R: int) -> FloatArray:
    index = np.arange(R)
    H = 1.0 - 2.0 * _odd(index[:, None], index)
    H.setflags(write=False)
    return H


def _odd(r: AnyArray, c: AnyArray) -> AnyArray:
    """Return 1 where r and c share an odd number of ones: where the matrix has -1."""
    return np.bitwise_count(r & c) & 1


class Walsh:
    """Sides of rows of a Hadamard matrix. Products cost O(N log N) for any number of rows and categories.

    Parameters
    ----------
    row, side
        For each distinct subset the number of its row, 0 … N-1, and 1 for
        yes or 0 for no. Side 1 of row 0 is the full set, side 0 the empty one.
    columns
        The column of each category, distinct numbers 0 … N-1.
    size
        The size N of the matrix, a power of two.
    """

    def __init__(self, row: IntArray, side: IntArray, columns: IntArray, size: int) -> None:
        self._row, self._side, self._columns, self._N = row, side, columns, size
        self._sign = 2.0 * side - 1.0

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self._row)

    @property
    def p(self) -> int:
        """The length of w."""
        return len(self._columns)

    def inner(self, w: FloatArray) -> FloatArray:
        """Return 1_a'w."""
        cells = np.zeros((*w.shape[:-1], self._N))
        cells[..., self._columns] = w
        h = transform(cells)
        out = np.take(h, self._row, axis=-1)
        out *= self._sign
        out += h[..., :1]  # the sum of w, exactly as in row 0, so that the empty set has weight 0
        out *= 0.5
        return out

    def spread(self, r: FloatArray) -> FloatArray:
        """Return the sum of r_a 1_a."""
        h = transform(self._scatter(r * self._sign))
        out = np.take(h, self._columns, axis=-1)
        out += r.sum(axis=-1, keepdims=True)
        out *= 0.5
        return out

    def gram(self, y: FloatArray) -> FloatArray:
        r"""Return the sum of y_a 1_a 1_a'.

        Raises
        ------
        TooLargeError
            With more than 4,096 categories.

        Notes
        -----
        :math:`H_{rj}H_{rk} = H_{r,\,j \oplus k}`: all p² entries are read from one transform.
        """
        if self.p > MAX_MATRIX:
            raise TooLargeError(
                f"a matrix of all pairs must have at most {MAX_MATRIX} categories to fit; got {self.p}.",
                ESTIMATE_BY_MOMENTS,
            )
        pairs = transform(self._scatter(y))
        once = self.spread(y)
        out = np.take(pairs, self._columns[:, None] ^ self._columns, axis=-1)
        # 4 1_a(j) 1_a(k) = 2 1_a(j) + 2 1_a(k) - 1 + H_rj H_rk
        out -= pairs[..., :1, None]
        out *= 0.25
        out += 0.5 * once[..., :, None]
        out += 0.5 * once[..., None, :]
        return out

    def peak(self, w: FloatArray) -> FloatArray:
        """Return the largest w_j with j in a."""
        if w.ndim > 1:
            each = [self.peak(row) for row in w.reshape(-1, self.p)]
            return np.reshape(each, (*w.shape[:-1], self.rows))
        out = np.full(self.rows, -np.inf)
        left = np.arange(self.rows)
        for j in self._best_guesses(w):
            inside = _odd(self._row[left], self._columns[j]) != self._side[left]
            out[left[inside]] = w[j]
            left = left[~inside]
        return out

    def _best_guesses(self, w: FloatArray) -> Iterator[int]:
        """Yield the categories that can be the best guess after some answer, in descending order of weight.

        A subset that excludes some categories also excludes every category
        whose column is the bitwise sum of an odd number of their columns,
        because the minus signs multiply to a minus. So at most log2(N) + 1
        categories need to be checked, and each settles half of the open subsets.
        """
        order = np.argsort(-w, kind="stable")
        rest = 2 * self._columns[order] + 1  # the last bit counts the terms of a sum
        while rest.any():
            first = int((rest != 0).argmax())
            yield int(order[first])
            pivot = rest[first]
            order, rest = order[first + 1 :], rest[first + 1 :]
            rest = rest ^ pivot * (rest >> (int(pivot).bit_length() - 1) & 1)

    def _scatter(self, values: FloatArray) -> FloatArray:
        """Add up the values of each row of the matrix."""
        lead = values.shape[:-1]
        batch = math.prod(lead)
        cells = (self._row + self._N * np.arange(batch)[:, None]).ravel()
        sums = np.bincount(cells, values.ravel(), minlength=batch * self._N)
        return sums.astype(np.float64, copy=False).reshape(*lead, self._N)


def choose_columns(p: int, size: int, smallest: int = 2) -> IntArray:
    r"""Choose a column for each category, such that every answer leaves `smallest` categories and sizes are balanced.

    Parameters
    ----------
    p
        The number of categories, at least 4.
    size
        The size N of the matrix, a power of two of at least p.
    smallest
        The fewest categories that an answer may leave, at least 2.

    Returns
    -------
    Ascending numbers. The same arguments always give the same numbers.

    Raises
    ------
    InvalidDesignError
        If no such choice exists, or none was found for a larger `smallest`.

    Notes
    -----
    Columns are points of :math:`F_2^m`, :math:`N = 2^m`, and the two sides of a question are a hyperplane and its
    complement. Both have at least two points if and only if the points still span the whole space (by sums of an odd
    number of them) when any one is left out. That takes m + 2 points. Each of m + 2 points must then be in the one sum
    that vanishes, which has an even number of terms. So a choice exists if and only if :math:`m \le p - 2` for even p
    and :math:`m \le p - 3` for odd p. For p = 5 there is none.

    Examples
    --------
    >>> choose_columns(6, 8)
    array([0, 1, 3, 5, 6, 7])
    """
    _check_possible(p, size, check_count(smallest, "smallest", least=2))
    tried = list(_candidates(p, size))
    sides = [_smallest_side(columns, size) for columns in tried]
    best = int(np.argmax(sides))
    if sides[best] < smallest:
        raise InvalidDesignError(
            f"`smallest` must be at most {sides[best]}, the best that was found for {p} categories and size {size}; "
            f"got {smallest}."
        )
    return np.sort(tried[best])


def _check_possible(p: int, size: int, smallest: int) -> None:
    if check_count(p, "p") < 4 or p == 5:
        raise InvalidDesignError(
            f"a hadamard design must have 4 categories, or 6 or more; got {p}, where some answer leaves fewer than "
            "two, whatever the columns.",
            USE_UNIFORM if p == 5 else USE_SMALL,
        )
    fewest = 1 << (p - 1).bit_length()
    if check_count(size, "size") < fewest or size & (size - 1):
        raise InvalidDesignError(f"`size` must be a power of two, {fewest} or more for {p} categories; got {size}.")
    dimension = p - 2 - p % 2
    if size.bit_length() - 1 > dimension:
        raise InvalidDesignError(
            f"`size` must be at most {1 << dimension} for {p} categories: in a larger matrix some answer leaves fewer "
            f"than two, whatever the columns; got {size}."
        )


def _candidates(p: int, size: int) -> Iterator[IntArray]:
    """Yield choices as good as random ones, and at the end one that certainly leaves two categories."""
    if p == size:
        yield np.arange(p)
        return
    for i in range(max(1, min(_TRIES, _WORK // size))):
        yield np.argpartition(_scrambled(size, i), p - 1)[:p]
    keys = _scrambled(size, 0)
    keys[_spanning(size.bit_length() - 1)] = 0
    yield np.argpartition(keys, p - 1)[:p]


def _spanning(m: int) -> IntArray:
    """Return points that still span the space if any one of them is left out."""
    basis = np.r_[0, 1 << np.arange(m)]
    # If m is even, the sum of all points has an odd number of terms. Otherwise two sums divide the points.
    more = [(1 << m) - 1] if m % 2 == 0 else [(1 << m) - 2, 3]
    return np.r_[basis, more]


def scattered(n: int) -> IntArray:
    """Return 0 … n-1 in a fixed order without a pattern. The order never changes."""
    return np.argsort(_scrambled(n, 0), kind="stable")


def _scrambled(size: int, i: int) -> AnyArray:
    """Return distinct 64-bit words for 0 … size-1, the same in every version of NumPy (SplitMix64's finalizer)."""
    x = np.arange(size, dtype=np.uint64) + np.uint64((i + 1) << 32)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _smallest_side(columns: IntArray, size: int) -> int:
    chosen = np.zeros(size)
    chosen[columns] = 1.0
    excess = np.abs(transform(chosen)[1:]).max()  # of one side over the other; whole numbers, so exact
    return int(len(columns) - excess) // 2
