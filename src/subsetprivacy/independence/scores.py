"""Scores of ordered categories and groups, and mean scores of subsets."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from subsetprivacy._types import FloatArray, Label
from subsetprivacy.errors import ArgumentError
from subsetprivacy.incidence import Incidence
from subsetprivacy.messages.for_tests import SCORE_EACH


def read_scores(scores: Any, labels: Sequence[Label], name: str, *, own: bool = False) -> FloatArray:
    """Return a number for each label.

    Parameters
    ----------
    scores
        Numbers in the order of the labels, or by label; None for 1, 2, 3 and so on.
    labels
        The categories or groups.
    name
        The argument, for messages.
    own
        Whether numeric labels are their own scores by default.

    Raises
    ------
    ArgumentError
        If a label has no finite number, or all numbers are the same.
    """
    if scores is None:
        numbers = own and all(isinstance(label, Real) and not isinstance(label, bool) for label in labels)
        given: Any = labels if numbers else range(1, len(labels) + 1)
    elif isinstance(scores, Mapping):
        if set(scores) != set(labels):
            raise ArgumentError(f"`{name}` must have a number for each of the {len(labels)} labels.", SCORE_EACH)
        given = [scores[label] for label in labels]
    else:
        given = scores
    try:
        if isinstance(given, (str, bytes)):
            raise TypeError
        values = np.array([float(value) for value in given])
    except (TypeError, ValueError):
        raise ArgumentError(f"`{name}` must be numbers; got something else.", SCORE_EACH) from None
    if len(values) != len(labels):
        raise ArgumentError(f"`{name}` must be {len(labels)} numbers; got {len(values)}.", SCORE_EACH)
    if not np.isfinite(values).all() or np.ptp(values) == 0:
        raise ArgumentError(f"`{name}` must be finite numbers that are not all the same.")
    return values


def posterior_means(rows: Incidence, w: FloatArray, scores: FloatArray) -> FloatArray:
    r"""Return :math:`E[c(X) \mid A = a]` for each row: the mean score of people who report that subset, under w."""
    return rows.inner(w * scores) / rows.inner(w)
