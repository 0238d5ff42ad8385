"""Weights of subsets, as people write them."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.errors import CategoryError, InvalidDesignError
from subsetprivacy.messages.for_designs import WRITE_WEIGHTS
from subsetprivacy.subsets import Categories

WEIGHT_TOLERANCE = 1e-9


def read_weights(weights: Any, categories: Categories, symbol: str) -> tuple[IntArray, FloatArray]:
    """Return the codes and weights of a mapping {subset: weight}, in the order of the codes.

    Subsets are tuples or frozensets of labels, or integer codes. Zero
    weights are dropped.
    """
    if not isinstance(weights, Mapping):
        raise InvalidDesignError(
            f"`weights` must map subsets to {symbol}; got {type(weights).__name__}.",
            WRITE_WEIGHTS(example="{('a', 'b'): 0.5, ('c', 'd'): 0.5}"),
        )
    table: dict[int, float] = {}
    for subset, weight in weights.items():
        code = read_subset(subset, categories)
        if code in table:
            raise InvalidDesignError(f"`weights` must name each subset once; got {categories.format(code)} twice.")
        table[code] = _read_weight(weight, symbol, code, categories)
    kept = sorted(code for code, weight in table.items() if weight > 0)
    if not kept:
        raise InvalidDesignError(f"`weights` must give some subset a positive {symbol}; got none.")
    return np.array(kept, np.int64), np.array([table[code] for code in kept])


def read_subset(subset: Any, categories: Categories) -> int:
    """Return the code of a subset given as labels or as a code."""
    if isinstance(subset, (int, np.integer)) and not isinstance(subset, bool):
        if not 0 <= subset <= categories.full:
            raise InvalidDesignError(f"a subset code must lie in 0…{categories.full}; got {int(subset)}.")
        return int(subset)
    try:
        return categories.code(subset)
    except CategoryError as error:
        raise InvalidDesignError(error.message, error.advice) from None


def _read_weight(weight: Any, symbol: str, code: int, categories: Categories) -> float:
    try:
        value = float(weight) if hasattr(weight, "__float__") else None  # float() would also accept text
    except (TypeError, ValueError):
        value = None
    if value is not None and isfinite(value) and value >= 0:
        return value
    subset = categories.format(code)
    if value is None:
        raise InvalidDesignError(f"{symbol} must be a number; got {type(weight).__name__} for {subset}.")
    raise InvalidDesignError(f"{symbol} must be finite and not negative; got {value:g} for {subset}.")
