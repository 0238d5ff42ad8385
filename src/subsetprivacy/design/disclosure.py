"""Reports that reveal a value, or one of several joined variables, exactly."""

import numpy as np

from subsetprivacy._types import BoolArray, FloatArray, IntArray
from subsetprivacy.design.base import Design
from subsetprivacy.design.require import require_enumerable
from subsetprivacy.incidence import Listable
from subsetprivacy.variables import JointCategories


def values_left(rows: Listable, categories: JointCategories) -> dict[str, IntArray]:
    """Return for each variable how many of its values are possible after each row."""
    at = categories.coordinates(np.arange(categories.p))
    return {
        name: _possible(rows, (at[k] == np.arange(part.p)[:, None]).astype(np.float64))
        for k, (name, part) in enumerate(zip(categories.names, categories.parts, strict=True))
    }


def _possible(rows: Listable, groups: FloatArray) -> IntArray:
    # A few at a time: one call for all would allocate a table per value.
    left = np.zeros(rows.rows, np.int64)
    for start in range(0, len(groups), 16):
        left += (rows.inner(groups[start : start + 16]) > 1e-12).sum(axis=0)
    return left


def revealing_reports(design: Design) -> dict[str, BoolArray]:
    """Tell for each variable which reports of the support leave a single value of it."""
    codes, _ = require_enumerable(design, "what a design reveals").support()
    if not isinstance(design.categories, JointCategories):
        return {"the value": design.sizes(codes) == 1}
    return {name: left == 1 for name, left in values_left(design.support_incidence, design.categories).items()}
