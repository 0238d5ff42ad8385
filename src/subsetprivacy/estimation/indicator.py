"""Unbiased indicators: numbers that replace private values in any sum over people."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from subsetprivacy._checks import check_count, check_distribution
from subsetprivacy._types import ArrayLike, BoolArray, Distribution, FloatArray, IntArray
from subsetprivacy.counting.columns import read_column
from subsetprivacy.data import SubsetData, SubsetTable, check_allowed, count_codes
from subsetprivacy.design import Design, require_design
from subsetprivacy.design.base import solve_alike
from subsetprivacy.errors import ArgumentError, NoDataError, UnknownDesignError
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.probabilities import fitted_probabilities, has_probabilities, read_probabilities
from subsetprivacy.estimation.quantizing import quantize
from subsetprivacy.incidence import MAX_MATRIX
from subsetprivacy.messages.for_analyses import LIKELIHOOD_NEEDS_NO_DESIGN, UNCOVERED

__all__ = [
    "FLOOR",
    "RARE",
    "IndicatorTable",
    "floored",
    "in_chunks",
    "indicator",
    "lookup",
    "most_blocks",
    "quantize",
    "require_indicators",
    "rows_of",
    "too_rare",
    "working_table",
]

FLOOR = 0.005  # the least working probability: it bounds the variance and causes no bias
RARE = 2.0  # standard errors between a sum of indicators and 0; closer to 0, nothing is divided by it
_CHUNK = 1 << 15  # people in one batch
_ENTRIES = 1 << 22  # numbers of the support, or of matrices, in memory at a time
_KEPT = 1 << 24  # numbers of all inverse matrices in total
_LISTED = 1 << 20  # numbers in a table of the indicators of every distinct subset and working distribution


class IndicatorTable:
    r"""The unbiased indicators of a design, for one or several working distributions.

    Parameters
    ----------
    design
        How the subsets were drawn.
    w
        Working distributions, shape (blocks, p) or (p,). The best choice is the distribution of the value given
        everything observed about a person except the subset. Each entry is raised to at least 0.005 (a tenth of 1/p
        with more than 20 categories), and each distribution is divided by its sum.

    Attributes
    ----------
    w
        The working distributions in use.
    ignores_w
        Whether the support of the design is too large to list. There is then one indicator for all w, with a larger
        variance.

    Raises
    ------
    UnknownDesignError
        If the design is not known.
    ArgumentError
        If the design adds dummy rows, which have no value.
    NotIdentifiableError
        If different distributions can give the same reports.

    Notes
    -----
    With the rows :math:`r_a` of the informative subsets (all but the full set) and :math:`L_a(w) = r_a^\top w`,

    .. math:: D_w(a) = G(w)^{-1} r_a / L_a(w), \qquad G(w) = \sum_a \mu_a r_a r_a^\top / L_a(w).

    For every w > 0, right or wrong, :math:`E[D_w(A) \mid X = j] = e_j` and :math:`\sum_j D_j = 1`. When X has the
    distribution w, no unbiased choice has a smaller variance: :math:`E[D D^\top] = G(w)^{-1}`. A full set gets w
    itself, which is not unbiased, so leave such rows out.

    Where the support cannot be listed (uniform designs on more than 22 categories), designs that treat all categories
    alike use a uniform w, for which G has a closed form. Other designs use the matrix Q of `gen_mom`,
    :math:`D(a) = Q^{-1} r_a + (1 - 1^\top Q^{-1} r_a) 1/p`. Both are unbiased and sum to 1.
    """

    def __init__(self, design: Design, w: ArrayLike) -> None:
        self.design = require_indicators(design)
        self.w = floored(np.atleast_2d(np.asarray(w, np.float64)))
        if self.w.ndim != 2 or self.w.shape[1] != design.p:
            raise ArgumentError(f"`w` must have shape (blocks, {design.p}); got {np.shape(w)}.")
        self.ignores_w = not design.enumerable or design.p > MAX_MATRIX
        self._inverse = None if self.ignores_w else self._inverses()

    @property
    def blocks(self) -> int:
        """The number of working distributions."""
        return len(self.w)

    def _inverses(self) -> FloatArray:
        """Return G(w)^-1 for every working distribution, shape (blocks, p, p)."""
        codes, mu = self.design.support()
        rows = self.design.support_incidence
        informative = np.where(self.design.is_missing(codes), 0.0, mu)
        informative /= 1 - self.design.mu_full
        out = np.empty((self.blocks, self.design.p, self.design.p))
        step = max(_ENTRIES // max(len(codes), self.design.p**2), 1)
        for start in range(0, self.blocks, step):
            part = slice(start, start + step)
            out[part] = np.linalg.inv(rows.gram(informative / rows.inner(self.w[part])))
        return out

    def of(self, rows: FloatArray, block: IntArray | None = None) -> FloatArray:
        """Return the indicators of people, with a row per category.

        Parameters
        ----------
        rows
            The rows r_a of m people, shape (p, m); see `rows_of`.
        block
            The index of each person's working distribution, shape (m,); optional if there is only one.

        Returns
        -------
        The indicators, shape (p, m); every column sums to 1.
        """
        rows = np.asarray(rows, np.float64)
        if rows.ndim != 2 or len(rows) != self.design.p:
            raise ArgumentError(f"`rows` must have shape ({self.design.p}, m); got {rows.shape}.")
        if block is None and self.blocks > 1 and not self.ignores_w:
            raise ArgumentError(f"`block` must be given with {self.blocks} working distributions.")
        if self._inverse is None:
            return self._without_w(rows)
        if self.blocks == 1 or block is None:
            return self._within(0, rows)
        out = np.empty(rows.shape)
        for part in _parts(rows.shape[1]):
            here = np.asarray(block[part])
            order = np.argsort(here, kind="stable")
            present, first = np.unique(here[order], return_index=True)
            for b, people in zip(present.tolist(), np.split(order, first[1:]), strict=True):
                at = people + part.start
                out[:, at] = self._within(b, rows[:, at])
        return out

    def _within(self, b: int, rows: FloatArray) -> FloatArray:
        """Return the indicators of people with the same working distribution."""
        assert self._inverse is not None
        return (self._inverse[b] @ rows) / (self.w[b] @ rows)

    def _without_w(self, rows: FloatArray) -> FloatArray:
        """Return indicators without listing the support."""
        design, p = self.design, self.design.p
        if design.by_size is not None:  # G at uniform w: L is the size over p, and all pairs are alike
            size = np.array(list(design.by_size))
            weight = np.array(list(design.by_size.values())) * p / size
            apart = float(weight @ (size - 1)) / (p - 1)
            return solve_alike(float(weight.sum()) - apart, apart, (rows * (p / rows.sum(axis=0))).T).T
        if design.pair_probability is not None and design.mu_full == 0:
            D = design.solve_informative_Q(rows.T).T
        else:
            D = np.linalg.solve(design.informative_Q, rows)
        return D + (1 - D.sum(axis=0)) / p  # the added term has mean 0

    def __repr__(self) -> str:
        kind = "one indicator for all" if self.ignores_w else f"{self.blocks} working distributions"
        return f"<IndicatorTable: {kind}, {self.design!r}>"


def require_indicators(design: Design) -> Design:
    """Return the design if it has unbiased indicators.

    Raises
    ------
    UnknownDesignError, ArgumentError, NotIdentifiableError
        If it is not known, adds dummy rows, or is not identifiable.
    """
    if not require_design(design).is_known:
        raise UnknownDesignError(
            "the design of these data must be known for unbiased indicators; got subsets without one.",
            LIKELIHOOD_NEEDS_NO_DESIGN,
        )
    if design.covered is not None:
        raise ArgumentError(
            "`data` must contain people only; got a covered design, whose dummy rows have no value.", UNCOVERED
        )
    return design.require_identifiable()


def too_rare(amount: FloatArray, se: FloatArray, times: float = RARE) -> BoolArray:
    """Tell which amounts, estimated by sums of indicators, are too close to 0 for anything to be divided by them.

    Parameters
    ----------
    amount, se
        The amounts and their standard errors; an amount that the draws do not change has none.
    times
        How many standard errors it must be above 0.
    """
    with np.errstate(invalid="ignore"):
        return ~(amount > times * se)


def most_blocks(p: int) -> int:
    """Return the largest number of working distributions whose matrices fit in memory, for p categories."""
    return max(_KEPT // p**2, 1)


def floored(w: FloatArray) -> FloatArray:
    """Return distributions with small probabilities raised to a floor."""
    raised = np.maximum(w, min(FLOOR, 0.1 / w.shape[-1]))
    return raised / raised.sum(axis=-1, keepdims=True)


def rows_of(codes: IntArray, design: Design) -> FloatArray:
    """Return the rows r_a of codes, shape (p, len(codes)).

    Examples
    --------
    >>> import subsetprivacy as sp
    >>> rows_of(np.array([0b0011, 0b0110]), sp.uniform(list("abcd")))
    array([[1., 0.],
           [1., 1.],
           [0., 1.],
           [0., 0.]])
    """
    if design.noise is not None:  # mixed designs have entries other than 0 and 1
        distinct, at = np.unique(codes, return_inverse=True)
        return design.incidence(distinct).inner(np.eye(design.p))[:, at]
    out = np.empty((design.p, len(codes)))
    for j in range(design.p):
        out[j] = design.contains(codes, j)
    return out


def indicator(
    data: SubsetData | SubsetTable | ArrayLike,
    w: Distribution | ArrayLike | Any = None,
    *,
    design: Design | None = None,
    blocks: int = 64,
) -> FloatArray:
    r"""Return unbiased indicators: numbers that replace each person's value and average to it.

    Use them in place of the indicators 1{value = j} in any sum over people. The expected sum is that of the true
    values. They are not probabilities. A single one says almost nothing, and some are negative or above 1.

    Parameters
    ----------
    data
        `SubsetData`, or a column of codes with `design`. A `SubsetTable` gives the indicators of the combinations of
        all its variables, in the order of ``data.design.categories.labels``. For one variable, pass ``data["race"]``.
    w
        The working distribution. The better it predicts the value, the smaller the variance. The indicators are
        unbiased for every choice. None (default): the estimated shares. One number per category, or a mapping by label:
        the same distribution for everyone. Shape (n, p), or a data frame with a column per category: one distribution
        per person, for example the predictions of a classifier. A `Regression` of the value on observed columns of the
        same people, or any object with `probabilities`: its fitted distributions. It may depend on anything except the
        person's own subset. A model that was fitted to the subsets of these people may be used too: to first order,
        that has no effect.
    design
        The design, if `data` is a column.
    blocks
        The maximum number of groups into which similar distributions per person are merged; each group uses its mean.
        With 64 groups, the variance rises by 1% to 4% if the distributions follow a few covariates, and by 8% for eight
        categories without any pattern. With 256 groups it rises by about half as much.

    Returns
    -------
    An array of shape (n, p), with a row per person in the order of the data and columns in category order. Every row
    sums to 1. Rows of full sets (missing answers) are NaN. With several variables, a row is NaN if any answer is
    missing.

    Raises
    ------
    UnknownDesignError
        If the design is not known.
    ArgumentError
        If the data contain dummy rows, which have no value.
    NotIdentifiableError
        If different distributions can give the same reports.
    DistributionError, MismatchError, CategoryError
        If `w` is not a distribution, or not of these people and categories.

    Notes
    -----
    :math:`D_w(a) = G(w)^{-1} r_a / r_a^\top w` with :math:`G(w) = \sum_a \mu_a r_a r_a^\top / r_a^\top w`.
    Then :math:`E[D_w(A) \mid X = j] = e_j` for every w, and no other unbiased choice has a smaller variance when X has
    the distribution w. Where the support cannot be listed (uniform designs on more than 22 categories), w has no
    effect; see `IndicatorTable`. At most `blocks` matrices are inverted, for any number of people.

    The sum :math:`\sum_i \sum_j D_{ij} f_{ij}` is unbiased for :math:`\sum_i f_{i X_i}`, where f may use everything
    observed about a person. For people who were sampled independently, the variance of its mean is that of the mean of
    the n numbers :math:`t_i = \sum_j D_{ij} f_{ij}`. `group_means` does this for means of groups.

    Examples
    --------
    The mean income of each group, when the group is private:

    >>> import numpy as np
    >>> import subsetprivacy as sp
    >>> rng = np.random.default_rng(1)
    >>> group = rng.choice(4, size=20_000, p=[0.1, 0.2, 0.3, 0.4])
    >>> income = 20 + 10 * group + rng.normal(size=20_000)
    >>> data = sp.privatize(group, sp.uniform(range(4)), seed=1)
    >>> D = sp.indicator(data)
    >>> (D.T @ income / D.sum(axis=0)).round(0)
    array([20., 30., 40., 50.])
    """
    codes, drawn = read_column(data, design)
    check_allowed(codes, drawn)
    require_indicators(drawn)
    kept = np.flatnonzero(~drawn.is_missing(codes))
    if not len(kept):
        raise NoDataError("`data` must have an informative subset; got none.")
    table, block = working_table(codes, drawn, w, check_count(blocks, "blocks", least=1))
    return _spread(codes, table, block, kept)


def _spread(codes: IntArray, table: IndicatorTable, block: IntArray | None, kept: IntArray) -> FloatArray:
    """Return the indicators of the kept people in their rows, and NaN in the other rows."""
    out = np.full((len(codes), table.design.p), np.nan)
    for people, D in in_chunks(codes, table, block, kept):
        out[people] = D.T
    return out


def working_table(codes: IntArray, design: Design, w: Any, blocks: int) -> tuple[IndicatorTable, IntArray | None]:
    """Return the table of indicators, and the index of each person's working distribution.

    Parameters
    ----------
    codes, design
        The people's subsets.
    w, blocks
        As in `indicator`.
    """
    if w is None:
        shares = estimate(count_codes(codes, design)).w
    elif not _is_per_person(w):
        shares = check_distribution(w, design.categories.labels)
    else:
        W = _per_person(w, codes, design)
        if not design.enumerable:  # w has no effect
            return IndicatorTable(design, np.full(design.p, 1 / design.p)), None
        centers, block = quantize(W, min(blocks, most_blocks(design.p)))
        return IndicatorTable(design, centers), block
    return IndicatorTable(design, shares), None


def _is_per_person(w: Any) -> bool:
    return has_probabilities(w) or (not isinstance(w, Mapping) and np.ndim(w) == 2)


def _per_person(w: Any, codes: IntArray, design: Design) -> FloatArray:
    """Return a working distribution for each person, shape (n, p)."""
    if has_probabilities(w):
        return fitted_probabilities(w, design.categories, ~design.is_missing(codes), "w")
    return read_probabilities(w, design.categories, len(codes), "w")


def in_chunks(
    codes: IntArray, table: IndicatorTable, block: IntArray | None, kept: IntArray
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield batches of the kept people with their indicators, a row per category.

    If there are few distinct subsets and working distributions, each pair is computed once and looked up.
    """
    looked_up = lookup(codes[kept], table, None if block is None else block[kept])
    for part in _parts(len(kept)):
        people = kept[part]
        if looked_up is not None:
            listed, at = looked_up
            yield people, np.take(listed, at[part], axis=1)
        else:
            rows = rows_of(codes[people], table.design)
            yield people, table.of(rows, None if block is None else block[people])


def lookup(codes: IntArray, table: IndicatorTable, block: IntArray | None) -> tuple[FloatArray, IntArray] | None:
    """Return the indicators of each distinct pair of subset and working distribution, and each person's pair.

    Returns
    -------
    The indicators, shape (p, pairs), and the index of each person's pair; None if a table would be too large.
    """
    distinct, at = np.unique(codes, return_inverse=True)
    blocks = 1 if block is None or table.ignores_w else table.blocks
    pairs = len(distinct) * blocks
    if 2 * pairs > len(codes) or (blocks > 1 and pairs * table.design.p > _LISTED):
        return None
    rows = rows_of(distinct, table.design)
    if block is None or blocks == 1:
        return table.of(rows, None if block is None else np.zeros(len(distinct), np.int64)), at
    listed = table.of(np.repeat(rows, blocks, axis=1), np.tile(np.arange(blocks), len(distinct)))
    return listed, at * blocks + block


def _parts(n: int) -> list[slice]:
    return [slice(start, min(start + _CHUNK, n)) for start in range(0, n, _CHUNK)]
