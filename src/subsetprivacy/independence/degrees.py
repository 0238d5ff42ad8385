"""Degrees of freedom and asymptotic p-values."""

from typing import get_args

import numpy as np
from scipy.special import chdtrc

from subsetprivacy._choices import DegreesOfFreedom
from subsetprivacy.errors import TooLargeError
from subsetprivacy.independence.crossing import Crossing
from subsetprivacy.pvalues import positive

DF: tuple[DegreesOfFreedom, ...] = get_args(DegreesOfFreedom)


def degrees(crossing: Crossing, method: str, kind: str = "corrected") -> float:
    r"""Return the degrees of freedom of a statistic; NaN if there are too many subsets to count.

    Notes
    -----
    Likelihood ratio: (p-1)(q-1). Pearson: s r - 1 - (p-1) - (q-1), since the margins are estimated in p-1 and q-1
    parameters (printed: s r). Given the questions: every pair of questions that was asked fixes its total,
    so its cells count one less. If too few questions were asked to identify all parameters, p-1 and q-1 are replaced by
    the number of identified parameters. Bonferroni: 1, as for a 2 x 2 table.
    """
    first, second = crossing.first, crossing.second
    parameters = first.rank + second.rank
    if method == "bonferroni":
        return 1
    if method.startswith("lrt"):
        return first.rank * second.rank
    try:
        cells = first.possible * second.possible
        if kind == "paper":
            return cells
        return (cells - 1 if method == "pearson" else _free_cells(crossing)) - parameters
    except TooLargeError:
        return np.nan


def _free_cells(crossing: Crossing) -> int:
    """Return the sum, over the pairs of questions that were asked, of the number of their cells minus one."""
    at_a, at_b, _ = crossing.cells
    pairs = np.unique(np.column_stack([crossing.first.questions_at(at_a), crossing.second.questions_at(at_b)]), axis=0)
    cells = np.ones(len(pairs), np.int64)
    for side, questions in zip((crossing.first, crossing.second), pairs.T, strict=True):
        cells *= side.possible if side.questions is None else side.answers(questions)
    return int((cells - 1).sum())


def asymptotic_pvalue(method: str, statistic: float, df: float, pairs: int) -> float:
    """Return the asymptotic p-value; NaN if there is none.

    Parameters
    ----------
    method, statistic, df
        The test and its result.
    pairs
        The number of 2 x 2 tables, for Bonferroni's bound.
    """
    if method == "lrt-mom" or not df > 0:
        return np.nan
    value = float(chdtrc(df, max(statistic, 0.0)))
    return positive(min(1.0, pairs * value) if method == "bonferroni" else value)
