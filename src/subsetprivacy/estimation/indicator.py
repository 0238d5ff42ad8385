"""Unbiased indicators: numbers that stand for private values in any sum over people."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from subsetprivacy._checks import check_count, check_distribution
from subsetprivacy._types import ArrayLike, Distribution, FloatArray, IntArray
from subsetprivacy.counting.columns import read_column
from subsetprivacy.data import SubsetData, SubsetTable, check_allowed, count_codes
from subsetprivacy.design import Design, require_design
from subsetprivacy.design.base import solve_alike
from subsetprivacy.errors import ArgumentError, NoDataError, UnknownDesignError
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.probabilities import fitted_probabilities, has_probabilities, read_probabilities
from subsetprivacy.estimation.quantizing import quantize
from subsetprivacy.incidence import MAX_MATRIX
from subsetprivacy.messages.for_evaluation import LIKELIHOOD_NEEDS_NO_DESIGN, UNCOVERED

__all__ = [
    "FLOOR",
    "IndicatorTable",
    "in_chunks",
    "indicator",
    "lookup",
    "most_blocks",
    "quantize",
    "require_indicators",
    "rows_of",
    "working_table",
]

FLOOR = 0.005  # the least working probability: it bounds the variance, and no choice of it biases anything
_CHUNK = 1 << 15  # people at a time
_ENTRIES = 1 << 22  # numbers of the support, or of matrices, that are held at a time
_KEPT = 1 << 24  # numbers of all inverse matrices together
_LISTED = 1 << 20  # numbers of a table of the indicators of every distinct subset and working distribution


class IndicatorTable:
    r"""The unbiased indicators of a design, for one or several working distributions.

    Parameters
    ----------
    design
        How the subsets were drawn.
    w
        Working distributions, shape (blocks, p) or (p,): the best is the distribution of the value given all that is
        seen of a person but the subset. Each is raised to at least 0.005 (a tenth of 1/p with more than 20
        categories) and divided by its sum.

    Attributes
    ----------
    w
        The working distributions that are used.
    ignores_w
        Whether the support of the design is too large to be listed. Then there is one indicator for all w, which has a
        larger variance.

    Raises
    ------
    UnknownDesignError
        If the design is not known.
    ArgumentError
        If dummy rows are added to the people's: they have no value.
    NotIdentifiableError
        If the design cannot tell some distributions apart.

    Notes
    -----
    With the rows :math:`r_a` of the informative subsets (all but the full set) and :math:`L_a(w) = r_a^\top w`,

    .. math:: D_w(a) = G(w)^{-1} r_a / L_a(w), \qquad G(w) = \sum_a \mu_a r_a r_a^\top / L_a(w).

    For every w > 0, right or wrong, :math:`E[D_w(A) \mid X = j] = e_j` and :math:`\sum_j D_j = 1`. When X has the
    distribution w, no unbiased choice has a smaller variance: :math:`E[D D^\top] = G(w)^{-1}`. A full set gets w
    itself, which is not unbiased: leave such rows out.

    Where the support cannot be listed (uniform designs on more than 22 categories), w is taken as even for designs
    that treat all categories alike, and G has a closed form. Otherwise, with the matrix Q of `gen_mom`,
    :math:`D(a) = Q^{-1} r_a + (1 - 1^\top Q^{-1} r_a) 1/p`. Both are unbiased and sum to 1.
    """

    def __init__(self, design: Design, w: ArrayLike) -> None:
        self.design = require_indicators(design)
        self.w = _floored(np.atleast_2d(np.asarray(w, np.float64)))
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
        """Return the indicators of people, class-major.

        Parameters
        ----------
        rows
            The rows r_a of m people, shape (p, m); see `rows_of`.
        block
            The number of each person's working distribution, shape (m,); it can be left out where there is one.

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
        """Return the indicators of people who share a working distribution."""
        assert self._inverse is not None
        return (self._inverse[b] @ rows) / (self.w[b] @ rows)

    def _without_w(self, rows: FloatArray) -> FloatArray:
        """Return indicators that need no list of the support."""
        design, p = self.design, self.design.p
        if design.by_size is not None:  # G at even w: L is the size over p, and all pairs are alike
            size = np.array(list(design.by_size))
            weight = np.array(list(design.by_size.values())) * p / size
            apart = float(weight @ (size - 1)) / (p - 1)
            return solve_alike(float(weight.sum()) - apart, apart, (rows * (p / rows.sum(axis=0))).T).T
        if design.pair_probability is not None and design.mu_full == 0:
            D = design.solve_informative_Q(rows.T).T
        else:
            D = np.linalg.solve(design.informative_Q, rows)
        return D + (1 - D.sum(axis=0)) / p  # the mean of what is added is 0

    def __repr__(self) -> str:
        kind = "one indicator for all" if self.ignores_w else f"{self.blocks} working distributions"
        return f"<IndicatorTable: {kind}, {self.design!r}>"


def require_indicators(design: Design) -> Design:
    """Return the design if people who answered by it have unbiased indicators.

    Raises
    ------
    UnknownDesignError, ArgumentError, NotIdentifiableError
        If it is not known, adds dummy rows, or cannot tell some distributions apart.
    """
    if not require_design(design).is_known:
        raise UnknownDesignError(
            "the design of these data must be known for unbiased indicators; got subsets without one.",
            LIKELIHOOD_NEEDS_NO_DESIGN,
        )
    if design.covered is not None:
        raise ArgumentError(
            "`data` must be people only; got a covered design, whose dummy rows have no value.", UNCOVERED
        )
    return design.require_identifiable()


def most_blocks(p: int) -> int:
    """Return for how many working distributions the matrices of p categories are kept."""
    return max(_KEPT // p**2, 1)


def _floored(w: FloatArray) -> FloatArray:
    """Return distributions without a probability near 0."""
    raised = np.maximum(w, min(FLOOR, 0.1 / w.shape[-1]))
    return raised / raised.sum(axis=-1, keepdims=True)


def rows_of(codes: IntArray, design: Design) -> FloatArray:
    """Return the rows r_a of codes, class-major: shape (p, len(codes)).

    Examples
    --------
    >>> import subsetprivacy as sp
    >>> rows_of(np.array([0b0011, 0b0110]), sp.uniform(list("abcd")))
    array([[1., 0.],
           [1., 1.],
           [0., 1.],
           [0., 0.]])
    """
    if design.noise is not None:  # what is mixed in gives entries other than 0 and 1
        distinct, at = np.unique(codes, return_inverse=True)
        return design.incidence(distinct).inner(np.eye(design.p))[:, at]
    out = np.empty((design.p, len(codes)))
    for j in range(design.p):
        out[j] = design.holds(codes, j)
    return out


def indicator(
    data: SubsetData | SubsetTable | ArrayLike,
    w: Distribution | ArrayLike | Any = None,
    *,
    design: Design | None = None,
    blocks: int = 64,
) -> FloatArray:
    r"""Return unbiased indicators: numbers that stand for each person's value and average to it.

    Take them in place of the indicators 1{value = j} in any sum over people: the expected sum is that of the true
    values. They are no probabilities. A single one says next to nothing, and some are negative or above 1.

    Parameters
    ----------
    data
        `SubsetData`, or a column of codes with `design`. A `SubsetTable` has the indicators of the combinations of all
        its variables, in the order of ``data.design.categories.labels``; for one variable, pass ``data["race"]``.
    w
        The working distribution: the better it predicts the value, the smaller the variance; whatever it is, the
        indicators are unbiased. None (default): the estimated shares. One number per category, or a mapping by label:
        the same for everyone. Shape (n, p), or a data frame with a column per category: one distribution per person,
        for instance what a classifier predicts. A `Regression` of the value on whatever is seen of the same people, or
        any object with `probabilities`: the distributions that it fits. It may depend on anything but the person's own
        subset; that a model was fitted to these people's subsets costs nothing to first order.
    design
        The design, where `data` is a column.
    blocks
        Distributions per person are put into at most so many groups of similar ones, each with its mean. With 64 the
        variance rises by 1% to 4% where it follows a few covariates, by 8% for eight categories without any pattern;
        with 256 by about half of that.

    Returns
    -------
    Numbers of shape (n, p), in category order; a row per person, in the order of the data. Every row sums to 1. The
    rows of full sets (missing answers), which say nothing, are NaN; of several variables, if any answer is missing.

    Raises
    ------
    UnknownDesignError
        If the design is not known.
    ArgumentError
        If the data hold dummy rows, which have no value.
    NotIdentifiableError
        If the design cannot tell some distributions apart.
    DistributionError, MismatchError, CategoryError
        If `w` is no distribution, or not of these people and categories.

    Notes
    -----
    :math:`D_w(a) = G(w)^{-1} r_a / r_a^\top w` with :math:`G(w) = \sum_a \mu_a r_a r_a^\top / r_a^\top w`. Then
    :math:`E[D_w(A) \mid X = j] = e_j` for every w, and no other unbiased choice has a smaller variance when X has
    the distribution w. Where the support cannot be listed (uniform designs on more than 22 categories) w makes no
    difference; see `IndicatorTable`. At most `blocks` matrices are inverted, however many people there are.

    The sum :math:`\sum_i \sum_j D_{ij} f_{ij}` is unbiased for :math:`\sum_i f_{i X_i}`, where f may use all that is
    seen of a person. For people who were drawn independently, the variance of its mean is that of the mean of the n
    numbers :math:`t_i = \sum_j D_{ij} f_{ij}`. `group_means` does this for means of groups.

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
    """Return the indicators of the kept people in their rows, and NaN in the others."""
    out = np.full((len(codes), table.design.p), np.nan)
    for people, D in in_chunks(codes, table, block, kept):
        out[people] = D.T
    return out


def working_table(codes: IntArray, design: Design, w: Any, blocks: int) -> tuple[IndicatorTable, IntArray | None]:
    """Return the table of indicators, and which of its working distributions each person has.

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
        if not design.enumerable:  # w makes no difference
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
    """Yield some of the kept people at a time, with their indicators, class-major.

    Where there are few distinct subsets and working distributions, each pair is worked out once and looked up.
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
    """Return the indicators of each distinct subset and working distribution, and which pair each person has.

    Returns
    -------
    The indicators, shape (p, pairs), and the number of each person's pair; None where a list would be too long to pay.
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
