r"""Working distributions that depend on the outcome: the shares of the categories among people with a similar y.

The indicators are unbiased for any working distribution. The closer it is to the distribution of X given y, the smaller
their variance. Neither a model nor convergence is therefore needed. People are grouped by the quantiles of y, and a few
steps of EM from the overall shares give the shares of each group. Stopping early, and adding some people with the
overall shares, keeps small groups from following the draws of individuals.
"""

import numpy as np

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.design import Design
from subsetprivacy.estimation.indicator import IndicatorTable, most_blocks, rows_of
from subsetprivacy.means.sample import KnownGroups

_MOST_BINS = 16  # largest number of bins of y; more hardly reduce the variance
_LEAST_EFFECTIVE = 150.0  # smallest bin, in people asked directly; with fewer, tests reject too often
_SAMPLE = 1 << 16  # number of people whose subsets are used
_ROUNDS, _STEPS = 100, 25  # steps of EM, for everyone and for each bin
_ADDED = 100.0  # people with the overall shares added to each bin


def by_outcome(
    y: FloatArray, codes: IntArray, design: Design, groups: KnownGroups, amounts: FloatArray, blocks: int
) -> tuple[IndicatorTable, IntArray | None]:
    """Return indicators whose working distributions come from people with a similar outcome in a known group.

    Parameters
    ----------
    y, codes, design, groups
        The people.
    amounts
        How many people each row represents.
    blocks
        The largest number of working distributions.
    """
    if not design.enumerable:  # the working distribution makes no difference
        return IndicatorTable(design, np.full(design.p, 1 / design.p)), None
    some = slice(None, None, max(-(-len(y) // _SAMPLE), 1))
    bins = _bin_count(float(amounts.sum()), design, len(groups.labels), min(blocks, most_blocks(design.p)))
    edges = _edges(y[some], amounts[some], bins)
    block = groups.number * (len(edges) + 1) + np.searchsorted(edges, y, side="left")
    number = len(groups.labels) * (len(edges) + 1)
    if number > min(blocks, most_blocks(design.p)):  # too many known groups: use one distribution for all
        block, number = np.zeros(len(y), np.int64), 1
    distinct, at = np.unique(codes[some], return_inverse=True)
    counts = np.bincount(block[some] * len(distinct) + at, amounts[some], minlength=number * len(distinct))
    w = _shares(counts.reshape(number, -1).astype(np.float64), rows_of(distinct, design))
    return IndicatorTable(design, w), None if number == 1 else block


def _bin_count(people: float, design: Design, groups: int, blocks: int) -> int:
    effective = people * (design.S - 1) / max(design.p - 1, 1)
    return int(np.clip(effective / groups // _LEAST_EFFECTIVE, 1, max(min(_MOST_BINS, blocks // groups), 1)))


def _edges(y: FloatArray, amounts: FloatArray, bins: int) -> FloatArray:
    """Return the largest outcome of each bin except the last. Bins have about the same number of people."""
    order = np.argsort(y, kind="stable")
    passed = np.cumsum(amounts[order])
    at = np.searchsorted(passed, passed[-1] * np.arange(1, bins) / bins - 1e-9 * passed[-1], side="left")
    edges = np.unique(y[order[at]])
    return edges[edges < y.max()]


def _shares(counts: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the shares of the categories in each bin, shape (bins, p), from its counts of subsets."""
    everyone = _steps(counts.sum(axis=0, keepdims=True), rows, np.full((1, len(rows)), 1 / len(rows)), _ROUNDS)
    start = np.repeat(everyone, len(counts), axis=0)
    amounts = counts.sum(axis=1, keepdims=True)
    return (amounts * _steps(counts, rows, start, _STEPS) + _ADDED * everyone) / (amounts + _ADDED)


def _steps(counts: FloatArray, rows: FloatArray, w: FloatArray, rounds: int) -> FloatArray:
    """Return shares after `rounds` steps of EM. Empty bins keep theirs."""
    amounts = counts.sum(axis=1, keepdims=True)
    empty = amounts == 0
    for _ in range(rounds):
        seen = np.maximum(w @ rows, 1e-300)  # 0 is possible for a subset that no one in the bin reported
        w = np.where(empty, w, w * ((counts / seen) @ rows.T) / np.where(empty, 1.0, amounts))
    return w
