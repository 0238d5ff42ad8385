"""The rows of subsets as a matrix, for losses in other libraries."""

import numpy as np

from subsetprivacy._types import ArrayLike, FloatArray
from subsetprivacy.counting.columns import read_column
from subsetprivacy.data import SubsetData, check_allowed
from subsetprivacy.design import Design
from subsetprivacy.estimation.indicator import rows_of


def subset_rows(data: SubsetData | ArrayLike, *, design: Design | None = None) -> FloatArray:
    r"""Return the likelihood of each category given each person's subset, up to a factor per person.

    Use it to write a loss in another library: with predicted probabilities :math:`p_i`, the negative log-likelihood
    of a subset is :math:`-\ln \sum_j r_{ij} p_{ij}`.

    Parameters
    ----------
    data
        `SubsetData`, or a column of codes with `design`.
    design
        The design, if `data` is a column.

    Returns
    -------
    The rows r, shape (n, p), with categories in the order of the design: 1 for the members of the subset and 0 for
    others. Designs with a known component, such as `warner`, have other entries. Full sets (missing answers) have equal
    entries and do not change a loss.

    Raises
    ------
    CodeError
        If a code is not a subset of the design.

    Examples
    --------
    >>> import subsetprivacy as sp
    >>> subset_rows([0b0011, 0b0110], design=sp.uniform(list("abcd")))
    array([[1., 1., 0., 0.],
           [0., 1., 1., 0.]])
    """
    codes, drawn = read_column(data, design)
    check_allowed(codes, drawn)
    return np.ascontiguousarray(rows_of(codes, drawn).T)
