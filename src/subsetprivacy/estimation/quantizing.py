"""Clustering of similar distributions, each cluster with its mean."""

import numpy as np

from subsetprivacy._checks import check_count
from subsetprivacy._types import FloatArray, IntArray

_SAMPLE = 20_000  # rows used to find the centers
_CHUNK = 1 << 15  # rows assigned in one batch
_ROUNDS = 4  # more iterations hardly help (measured)
_FIRST = 4096  # rows used to find the first centers
_GOLDEN = 0.618033988749895


def quantize(W: FloatArray, blocks: int = 64) -> tuple[FloatArray, IntArray]:
    r"""Group similar distributions into at most `blocks` clusters.

    Parameters
    ----------
    W
        Distributions, shape (n, p).
    blocks
        The maximum number of clusters.

    Returns
    -------
    The centers, shape (b, p), and the index of each row's center, shape (n,). If there are at most `blocks` distinct
    rows, the centers are those rows.

    Notes
    -----
    Lloyd's algorithm on the square roots of at most 20,000 rows. This is Hellinger's distance, in which small
    probabilities matter. The algorithm starts from rows spread in proportion to their squared distance from earlier
    ones, by a fixed sequence instead of random numbers, so the same rows always give the same clusters.

    Examples
    --------
    >>> centers, block = quantize(np.array([[0.5, 0.5], [0.9, 0.1], [0.5, 0.5]]))
    >>> centers[block]
    array([[0.5, 0.5],
           [0.9, 0.1],
           [0.5, 0.5]])
    """
    W = np.asarray(W, np.float64)
    check_count(blocks, "blocks", least=1)
    sample, weight = _sample(W)
    if len(sample) <= blocks:
        block = nearest(W, sample)
        rare = W[(sample[block] != W).any(axis=1)]  # rows that are not in the sample
        more = np.unique(rare[:_SAMPLE], axis=0)
        if len(sample) + len(more) <= blocks:
            sample = np.concatenate([sample, more])
            return sample, nearest(W, sample) if len(more) else block
        sample, weight = np.concatenate([sample, more]), np.r_[weight, np.ones(len(more))]
    some = slice(None, None, -(-len(sample) // _FIRST))
    centers = _start(sample[some], weight[some], blocks)
    for _ in range(_ROUNDS):
        centers = _means(np.sqrt(sample), weight, nearest(sample, centers), len(centers)) ** 2
    centers = _means(sample, weight, nearest(sample, centers), len(centers))
    return centers, nearest(W, centers)


def _sample(W: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the distinct rows of a regular sample, and how often each occurs."""
    step = max(-(-len(W) // _SAMPLE), 1)
    rows, times = np.unique(W[::step], axis=0, return_counts=True)
    return rows, times.astype(np.float64)


def _start(sample: FloatArray, weight: FloatArray, blocks: int) -> FloatArray:
    """Return rows that are spread out, chosen by cumulative squared distance to the rows chosen so far."""
    roots = np.sqrt(sample)
    chosen = [int(weight.argmax())]
    distance = ((roots - roots[chosen[0]]) ** 2).sum(axis=1)
    for k in range(1, min(blocks, len(sample))):
        mass = np.cumsum(weight * distance)
        if mass[-1] <= 0:
            break
        chosen.append(int(np.searchsorted(mass, mass[-1] * (k * _GOLDEN % 1), side="right")))
        distance = np.minimum(distance, ((roots - roots[chosen[-1]]) ** 2).sum(axis=1))
    return sample[chosen]


def _means(rows: FloatArray, weight: FloatArray, block: IntArray, blocks: int) -> FloatArray:
    """Return the weighted mean of the rows of each cluster that is not empty."""
    sizes = np.bincount(block, weight, minlength=blocks)
    sums = np.stack([np.bincount(block, weight * column, minlength=blocks) for column in rows.T], axis=1)
    return sums[sizes > 0] / sizes[sizes > 0, None]


def nearest(W: FloatArray, centers: FloatArray) -> IntArray:
    """Return the index of the center nearest to each row, in batches."""
    roots = np.sqrt(centers).T.copy()
    half = (roots**2).sum(axis=0) / 2  # means of square roots do not have length 1
    out = np.empty(len(W), np.int64)
    for start in range(0, len(W), _CHUNK):
        part = slice(start, start + _CHUNK)
        out[part] = (np.sqrt(W[part]) @ roots - half).argmax(axis=1)
    return out
