r"""The posterior of every row (x, a) by Bayes' rule, averaged over the draw or for the published subset.

With the probabilities :math:`p_j(x)` of the row and the row :math:`r_a` of its subset, :math:`L_a(x) = \sum_j r_a(j)
p_j(x)`, the posterior is :math:`r_a(j) p_j(x) / L_a(x)`, and the subset is drawn with probability :math:`\mu_a L_a(x)`.
"""

from collections.abc import Iterator

import numpy as np
from attrs import frozen
from scipy.special import xlogy

from subsetprivacy._types import BoolArray, FloatArray, IntArray
from subsetprivacy._words import counted
from subsetprivacy.design import Design
from subsetprivacy.errors import MismatchError, TooLargeError
from subsetprivacy.mechanism.randomness import SeededSource
from subsetprivacy.mechanism.reports import draw_given

THRESHOLDS = (0.9, 0.95, 0.99)
MOST_PRODUCTS = (
    500_000_000  # rows times subsets times categories: with more, rows are simulated. This takes a second or two
)
DRAWS = 200_000  # simulated rows: the standard error of a share is then at most 0.0011
_FEWEST_DRAWS = 20_000  # with many categories: the standard error is then at most 0.0036
_MOST_ENTRIES = 20_000_000  # of all simulated rows together
_CELLS = 1 << 16  # of an array block, which fits in the processor's cache
_ROUNDING = 1e-12  # of a posterior: 0.95 itself is not more than 0.95


@frozen(eq=False)
class RowNumbers:
    """Numbers from the posterior of each row, before averaging.

    Attributes
    ----------
    best_guess
        The chance that the best guess is right.
    information
        The bits that the subset adds: the entropy given the covariates minus the entropy given both.
    above
        The chance that one value has a probability above 0.9, 0.95 and 0.99; shape (3, n).
    largest
        The largest posterior.
    size_leakage
        The share of the people with the same covariates that the subset rules out. NaN if the design rules no one out.
    weight
        The weight of each row. Weights sum to 1.
    """

    best_guess: FloatArray
    information: FloatArray
    above: FloatArray
    largest: FloatArray
    size_leakage: FloatArray
    weight: FloatArray


@frozen(eq=False)
class PosteriorNumbers:
    """The numbers of each row for an attacker with covariates and subset, and for one with the subset alone.

    Attributes
    ----------
    both, subset
        The numbers of each row.
    simulation_error
        The largest standard error of their means if rows were simulated, else 0.
    """

    both: RowNumbers
    subset: RowNumbers
    simulation_error: float = 0.0


def read_expected(design: Design, P: FloatArray, weight: FloatArray, w: FloatArray) -> PosteriorNumbers:
    """Return the averages over the draw of the subsets, exactly or from simulated rows.

    Parameters
    ----------
    design
        The design with which subsets are drawn.
    P
        The probabilities of each row, shape (n, p).
    weight
        The weight of each row. Weights sum to 1.
    w
        The probabilities that an attacker without covariates knows.
    """
    subsets = _support_size(design)
    if subsets is not None and subsets * P.size <= MOST_PRODUCTS:
        return PosteriorNumbers(over_the_draw(design, P, weight), over_the_draw(design, w[None], np.ones(1)))
    chosen, codes = _draw_rows(design, P, weight)
    readings = read_published(design, P[chosen], codes, np.full(len(codes), 1 / len(codes)), w)
    return PosteriorNumbers(readings.both, readings.subset, _standard_error(readings))


def read_published(
    design: Design, P: FloatArray, codes: IntArray, weight: FloatArray, w: FloatArray
) -> PosteriorNumbers:
    """Return the numbers of published rows, each with its own subset."""
    alone = np.broadcast_to(w, P.shape)
    return PosteriorNumbers(at_subsets(design, P, codes, weight), at_subsets(design, alone, codes, weight))


def over_the_draw(design: Design, P: FloatArray, weight: FloatArray) -> RowNumbers:
    """Return the expectation over all subsets, for each row of probabilities."""
    n, p = P.shape
    best, gain, size, largest, above = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros((3, n))
    codes, mu = design.support()
    for part in _blocks(len(codes), max(_CELLS // p, 1)):
        R, m = row_matrix(design, codes[part]), mu[part]
        gain += P @ (m @ xlogy(R, R))  # what is mixed in, where rows are not only 0 and 1
        for rows in _blocks(n, max(_CELLS // len(m), 1)):
            L, peak = P[rows] @ R.T, _peak(P[rows], R)
            chance = L * m
            posterior = np.minimum(np.divide(peak, L, out=np.zeros_like(L), where=L > 0), 1.0)
            best[rows] += peak @ m
            gain[rows] -= xlogy(L, L) @ m
            size[rows] += (chance * L).sum(axis=1)
            largest[rows] = np.maximum(largest[rows], posterior.max(axis=1))
            for k, is_above in enumerate(exceeds(posterior)):
                above[k, rows] += (chance * is_above).sum(axis=1)
    bits = np.maximum(gain / np.log(2), 0.0)
    ruled_out = _ruled_out(design, size)
    return RowNumbers(np.minimum(best, 1.0), bits, np.minimum(above, 1.0), largest, ruled_out, weight)


def _ruled_out(design: Design, size: FloatArray) -> FloatArray:
    return np.maximum(1 - size, 0.0) if design.rules_out else np.full_like(size, np.nan)


def _peak(P: FloatArray, R: FloatArray) -> FloatArray:
    """Return the largest r_a(j) p_j for each row of P and each subset, one category at a time to save memory."""
    out, each = np.zeros((len(P), len(R))), np.empty((len(P), len(R)))
    for j in range(P.shape[1]):
        np.maximum(out, np.multiply(P[:, j, None], R[:, j], out=each), out=out)
    return out


def at_subsets(design: Design, P: FloatArray, codes: IntArray, weight: FloatArray) -> RowNumbers:
    """Return the numbers of the posterior of each row given its own subset.

    Raises
    ------
    MismatchError
        If the probabilities of a row rule out every value in its subset.
    """
    n, p = P.shape
    best, gain, L = np.empty(n), np.empty(n), np.empty(n)
    for rows in _blocks(n, max(_CELLS // p, 1)):
        distinct, which = np.unique(codes[rows], return_inverse=True)
        joint = row_matrix(design, distinct)[which] * P[rows]
        L[rows] = joint.sum(axis=1)
        posterior = np.divide(joint, L[rows, None], out=np.zeros_like(joint), where=joint > 0)
        best[rows] = np.minimum(posterior.max(axis=1), 1.0)
        gain[rows] = entropies(P[rows]) - entropies(posterior)
    if (L <= 0).any():
        raise MismatchError(
            "`codes` must be possible under the probabilities of their rows; got "
            f"{counted((L <= 0).sum(), 'code that is not', 'codes that are not')}, first in row "
            f"{int((L <= 0).argmax())}."
        )
    above = exceeds(best).astype(np.float64)
    return RowNumbers(best, gain, above, best, _ruled_out(design, L), weight)


def exceeds(posterior: FloatArray) -> BoolArray:
    """Tell which probabilities are above each of the thresholds, along a new first axis."""
    return np.stack([posterior > threshold + _ROUNDING for threshold in THRESHOLDS])


def row_matrix(design: Design, codes: IntArray) -> FloatArray:
    """Return the rows r_a of distinct codes as a matrix."""
    if design.noise is None:  # memberships are cheaper than products, above all for many categories
        return design.contains(codes[:, None], np.arange(design.p)).astype(np.float64)
    return np.ascontiguousarray(design.incidence(codes).inner(np.eye(design.p)).T)


def entropies(P: FloatArray) -> FloatArray:
    """Return the entropy along the last axis, in bits."""
    return -xlogy(P, P).sum(axis=-1) / np.log(2) + 0.0


# Simulation -------------------------------------------------------------------------------------


def _draw_rows(design: Design, P: FloatArray, weight: FloatArray) -> tuple[IntArray, IntArray]:
    """Choose rows with probability their weight, and draw a value and then a subset for each."""
    generator = np.random.default_rng(0)
    draws = min(DRAWS, max(_MOST_ENTRIES // design.p, _FEWEST_DRAWS))
    # Systematic sampling: every row occurs in proportion to its weight, up to one.
    places = (np.arange(draws) + generator.random()) / draws
    chosen = np.minimum(np.searchsorted(np.cumsum(weight), places, side="right"), len(P) - 1)
    x = np.empty(draws, np.int64)
    for rows in _blocks(draws, max(_CELLS // design.p, 1)):
        steps = np.cumsum(P[chosen[rows]], axis=1)
        x[rows] = (steps <= generator.random(len(steps))[:, None] * steps[:, -1:]).sum(axis=1)
    return chosen, draw_given(x, design, SeededSource(generator))


def _standard_error(readings: PosteriorNumbers) -> float:
    numbers = [
        column
        for rows in (readings.both, readings.subset)
        for column in (rows.best_guess, rows.information, rows.size_leakage, *rows.above)
    ]
    return float(np.nanmax([np.std(column) / np.sqrt(len(column)) for column in numbers]))


def _support_size(design: Design) -> int | None:
    """Return the number of possible subsets, or None if they cannot be listed."""
    try:
        return len(design.support()[0]) if design.enumerable else None
    except TooLargeError:
        return None


def _blocks(n: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, n)) for start in range(0, n, size))
