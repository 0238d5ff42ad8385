r"""The price of each parameter: its variance from subsets, divided by that from the values themselves.

All variances are those under the fitted model, given covariates. With the sums of `regression.specification` they are
:math:`J^{-1}` for the likelihood of subsets, :math:`A^{-1} V A^{-1}` for corrected scores and :math:`A^{-1}` for the
values, because :math:`H^\top S` is the information of a value.
"""

from collections.abc import Iterator

import numpy as np

from subsetprivacy._types import BoolArray, FloatArray
from subsetprivacy.regression.blocks import Block, Blocks, summed
from subsetprivacy.regression.covariance import sandwich
from subsetprivacy.regression.links import pairs
from subsetprivacy.regression.models import Model
from subsetprivacy.regression.specification import CorrectedScores, Support, is_affordable
from subsetprivacy.tables import number

_PEOPLE = 5000  # evenly spaced people whose covariates determine the prices
_CHUNK = 1024  # people whose matrices are in memory at a time
_COST = 50.0  # of a test of the specification, whose largest work it divides


def prices(
    blocks: Blocks,
    model: Model,
    theta: FloatArray,
    finite: BoolArray,
    *,
    corrected: bool,
    cov: FloatArray | None,
    n: float,
) -> FloatArray:
    """Return the price of each parameter; NaN if it is not known.

    Parameters
    ----------
    blocks, model, theta
        The people, the model, and its parameters.
    finite
        Which parameters are finite. The others have no price and count as known.
    corrected
        Whether the fit uses corrected scores.
    cov, n
        The covariance of the fit and its number of people, used if the design has too many subsets to list.
    """
    out: FloatArray = np.full(len(theta), np.nan)
    part = np.ix_(finite, finite)
    if not blocks.design.is_known or not finite.any():
        return out
    some = blocks.some(_PEOPLE)
    try:
        if is_affordable(blocks.design, _COST * len(some.X)):
            kernel = CorrectedScores(model, theta, Support.of(blocks.design))
            _, V, A, J = summed(kernel(chunk) for chunk in _chunks(some))
            labels = np.linalg.inv(A[part])
            subsets = sandwich(labels, V[part]) if corrected else np.linalg.inv(J[part])
        elif cov is not None:
            (A,) = summed((_of_values(model, theta, chunk),) for chunk in _chunks(some))
            labels, subsets = np.linalg.inv(A[part]), cov[part] * (n / some.amount)
        else:
            return out
    except np.linalg.LinAlgError:
        return out
    out[finite] = subsets.diagonal() / labels.diagonal()
    return out


def _chunks(block: Block) -> Iterator[Block]:
    for start in range(0, len(block.X), _CHUNK):
        part = slice(start, start + _CHUNK)
        weight = None if block.weight is None else block.weight[part]
        yield Block(block.X[part], block.R[:, part], weight, None if block.offset is None else block.offset[:, part])


def _of_values(model: Model, theta: FloatArray, block: Block) -> FloatArray:
    """Return the expected information of the values of some people."""
    U = model.predictors(theta, block.X, block.offset)
    S, P = np.moveaxis(model.link.slopes(U), -1, 0), np.maximum(model.link.shares(U), 1e-12)
    C = np.swapaxes(S, 1, 2) @ (S / P.T[:, :, None])
    first, second = pairs(C.shape[1])
    return model.information(block.weighted(np.ascontiguousarray(C[:, first, second].T)), block.X)


def average(price: FloatArray) -> float:
    """Return the harmonic mean of the known prices: how many people replace one asked directly, on average."""
    known = price[np.isfinite(price) & (price > 0)]
    return float(1 / np.mean(1 / known)) if len(known) else float("nan")


def price_text(price: FloatArray, n: float) -> str:
    """Return what the prices mean, in words; empty if there are none above 1."""
    mean = average(price)
    if not mean > 1 + 1e-9:
        return ""
    low, high = (number(float(end(price)), 2) for end in (np.nanmin, np.nanmax))
    between = low if low == high else f"{low} to {high}"
    return (
        f"The price of a parameter is its variance relative to asking everyone directly: here {between}. On average "
        f"(harmonic mean {number(mean, 2)}), these {n:,.0f} people are as informative as about {n / mean:,.0f} people "
        "asked directly."
    )
