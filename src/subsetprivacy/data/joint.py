"""`JointCounts`: how many people reported each combination of subsets of several variables (`sec_2D`).

Also the 2 x 2 tables of pairs of categories (`tab:bonferroni_table`).
"""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from subsetprivacy._checks import shown
from subsetprivacy._types import AnyArray, ArrayLike, FloatArray, IntArray, Label
from subsetprivacy._words import counted
from subsetprivacy.data.counts import SubsetCounts
from subsetprivacy.data.describing import (
    amounts_of,
    joined_columns,
    most_frequent,
    note_of_weights,
    shortened,
    texts_of_codes,
)
from subsetprivacy.data.validation import as_codes, check_amounts
from subsetprivacy.design import Design, Product, as_product
from subsetprivacy.errors import ArgumentError, MismatchError, TooLargeError
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_data import CELLS_THAT_OCCUR, LABEL_BY_SUBSETS, PICK_TWO_VARIABLES
from subsetprivacy.messages.for_designs import PRODUCT_DESIGN
from subsetprivacy.tables import Table

MAX_SHOWN = 24  # subsets of a variable in a printed table
MAX_TABLE = 1 << 26  # cells of a table with all pairs


class JointCounts(SubsetCounts):
    r"""The counts :math:`n_{ab}` of the combinations of subsets that people reported. `crosstab` returns one.

    Only combinations that occur are stored. All functions that accept
    `SubsetCounts` accept these: `estimate` gives the joint distribution.

    Parameters
    ----------
    codes
        Distinct codes of the product design, which concatenate the codes of the variables.
    counts, squares
        As in `SubsetCounts`.
    design
        A product design.

    Examples
    --------
    >>> from subsetprivacy.design import nonprivate, product
    >>> both = product({"x": nonprivate(["a", "b"]), "y": nonprivate(["r", "s"])})
    >>> table = JointCounts.of_table([[10, 20], [30, 5]], both)
    >>> print(table)
    Reported subsets, x by y, n = 65
    ------------------
    x \ y   r   s  all
    ------------------
    a      10  20   30
    b      30   5   35
    all    40  25   65
    ------------------
    """

    design: Product

    def __attrs_post_init__(self) -> None:
        if as_product(self.design) is None:
            raise ArgumentError(f"`design` must be a product design; got {type(self.design).__name__}.", PRODUCT_DESIGN)
        super().__attrs_post_init__()

    @classmethod
    def of_table(
        cls, table: ArrayLike, design: Product, *, rows: ArrayLike | None = None, columns: ArrayLike | None = None
    ) -> "JointCounts":
        """Make the counts of two variables from a matrix.

        Parameters
        ----------
        table
            The number of people per pair of subsets.
        design
            The product design of the two variables.
        rows, columns
            The codes of the rows and the columns. By default the labels of a
            data frame, or all subsets of the variable's design in ascending
            order of their codes.

        Raises
        ------
        MismatchError
            If the table does not have a row and a column for each subset, or a label is not a subset.
        """
        both = as_product(design)
        if both is None or len(both.factors) != 2:
            raise ArgumentError("`design` must be a product of two variables.", PRODUCT_DESIGN)
        labels = (getattr(table, "index", None), getattr(table, "columns", None))
        given = zip(design.factors, (rows, columns), labels, strict=True)
        codes = [as_codes(_subsets_named(factor, named) if part is None else part) for factor, part, named in given]
        shape = tuple(len(part) for part in codes)
        if np.shape(table) != shape:
            raise MismatchError(
                f"`table` must have a row and a column for each subset, {shape}; got {np.shape(table)}."
            )
        amounts = check_amounts(np.ravel(np.asarray(table)), (shape[0] * shape[1],), "table", whole=True)
        joint = np.asarray(design.join([part.ravel() for part in np.meshgrid(*codes, indexing="ij")]))
        kept = amounts > 0
        return cls(joint[kept], amounts[kept], design)

    # Shape ------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables. Joined variables share one name."""
        return tuple(self.design.by_name())

    def __repr__(self) -> str:
        return (
            f"<JointCounts of {self.design.categories.preview()}: {self.n_text}, "
            f"{counted(len(self.informative), 'distinct combination')} of subsets, {self.n_missing:.0f} incomplete>"
        )

    def _axis(self, name: str) -> int:
        if not isinstance(name, str) or name not in self.names:
            raise ArgumentError(f"`name` must be one of the variables {', '.join(self.names)}; got {shown(name)}.")
        return self.names.index(name)

    @cached_property
    def _cells(self) -> tuple[tuple[IntArray, IntArray], ...]:
        """For each variable, the distinct informative codes and the index of each combination in them."""
        parts = self.design.split(self.observed_codes)
        return tuple(np.unique(part, return_inverse=True) for part in parts)

    def subsets(self, name: str) -> list[str]:
        """Return the subsets of a variable that occur in complete rows, as text, in the order of `table`."""
        k = self._axis(name)
        return [self.design.factors[k].format(code) for code in self._cells[k][0].tolist()]

    def table(self) -> AnyArray:
        """Return the numbers of people as an array with an axis for each variable, over the subsets that occur.

        Raises
        ------
        TooLargeError
            If the array would have too many cells. The counts themselves store only cells that occur.
        """
        shape = tuple(len(codes) for codes, _ in self._cells)
        if np.prod(shape, dtype=float) > MAX_TABLE:
            raise TooLargeError(
                f"a table must have at most {MAX_TABLE:,} cells; got {' x '.join(map(str, shape))}.", CELLS_THAT_OCCUR
            )
        out = np.zeros(shape, self.counts.dtype)
        out[tuple(at for _, at in self._cells)] = self.counts[self.informative]
        return out

    # Parts ------------------------------------------------------------------------------------

    def margin(self, *names: str, complete: bool = False) -> SubsetCounts:
        """Return the counts of some of the variables.

        Parameters
        ----------
        *names
            The variables, in the order of the result.
        complete
            Count only rows without a missing answer to any variable. By
            default all rows with answers to the named variables are counted.
        """
        axes = [self._axis(name) for name in names]
        if not axes or len(set(axes)) < len(axes):
            raise ArgumentError(f"the names must be different variables among {', '.join(self.names)}.")
        kept = self.informative if complete else np.arange(len(self.codes))
        joint, design = picked(self.design, self.design.split(self.codes[kept]), axes)
        codes, at = np.unique(joint, return_inverse=True)
        counts = _sums(at, self.counts[kept])
        squares = None if self.squares is None else _sums(at, self.squares[kept])
        return as_joint(SubsetCounts.trusted(codes, counts, design, squares))

    def aggregated(self, x: Label = None, y: Label = None) -> FloatArray:
        r"""Return the 2 x 2 tables of "is the category in the subset?" (`tab:bonferroni_table`).

        Parameters
        ----------
        x, y
            A category of the first and of the second variable, for a single
            table. By default all tables, with shape (p, q, 2, 2).

        Notes
        -----
        The entries are the numbers of people with both categories in their
        subsets, with x only, with y only, and with neither. With a secret
        bit, the categories are the pairs of value and bit.
        """
        first, second = self._pair()
        M, N = (memberships(factor, codes) for factor, (codes, _) in zip(self.design.factors, self._cells, strict=True))
        in_first, in_second = M[self._cells[0][1]], N[self._cells[1][1]]
        both = (in_first * self.n_a[:, None]).T @ in_second
        tables = two_by_two(both, self.n_a @ in_first, self.n_a @ in_second, np.array(self.total))
        if x is None and y is None:
            return tables
        if x is None or y is None:
            raise ArgumentError("either both `x` and `y` must be given, or neither for all pairs.")
        return np.asarray(tables[position(first, x), position(second, y)])

    def _pair(self) -> tuple[Design, Design]:
        if len(self.design.factors) != 2:
            raise ArgumentError(
                f"a two-way table must have two variables; got {', '.join(self.names)}.", PICK_TWO_VARIABLES
            )
        return self.design.factors[0], self.design.factors[1]

    # Output -----------------------------------------------------------------------------------

    @property
    def notes(self) -> tuple[Note, ...]:
        """The caveats: weights, and how many rows lack an answer."""
        weights = () if self.squares is None else (note_of_weights(),)
        if not self.n_missing:
            return weights
        what = counted(self.n_missing, "row") if self.squares is None else f"{self.n_missing:.0f} of the weight"
        return (*weights, Note(NoteKind.MISSING, f"Left out because an answer is missing: {what}."))

    def _columns(self) -> Mapping[str, Any]:
        """Return a column of subsets per variable, then code, count (or weight) and share, with incomplete rows."""
        at = self.counts.nonzero()[0]
        parts = zip(self.names, self.design.factors, self.design.split(self.codes[at]), strict=True)
        return joined_columns(
            {name: texts_of_codes(factor, codes) for name, factor, codes in parts}, amounts_of(self, at)
        )

    def summary(self) -> Table:
        """Return the table, or the most frequent combinations if there are many subsets or more than two variables."""
        title = f"Reported subsets, {' by '.join(self.names)}, {self.n_text}"
        notes = self.notes
        if len(self.names) == 2 and max(len(codes) for codes, _ in self._cells) <= MAX_SHOWN:
            return Table(title, *self._crossed(), notes)
        order = most_frequent(self, MAX_SHOWN)
        rows = tuple((self.design.format(self.observed_codes[k]), f"{self.n_a[k]:.0f}") for k in order)
        return Table(title, ("subsets", "n"), rows, shortened(len(order), len(self.n_a), "combinations") + notes)

    def _crossed(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        n_ab, (row_name, column_name) = self.table(), self.names
        rows = [
            (label, *(f"{n:.0f}" for n in (*row, row.sum())))
            for label, row in zip(self.subsets(row_name), n_ab, strict=True)
        ]
        last = ("all", *(f"{n:.0f}" for n in (*n_ab.sum(axis=0), n_ab.sum())))
        return (f"{row_name} \\ {column_name}", *self.subsets(column_name), "all"), (*rows, last)

    def __str__(self) -> str:
        return str(self.summary())


def picked(design: Product, columns: Sequence[IntArray], axes: Sequence[int]) -> tuple[IntArray, Design]:
    """Return one code per row for some columns of a product, in the given order, and their design."""
    named = list(design.named().items())
    if len(axes) == 1:
        return columns[axes[0]], named[axes[0]][1]
    chosen = Product.of(dict(named[k] for k in axes))
    return np.asarray(chosen.join([columns[k] for k in axes])), chosen


def as_joint(counts: SubsetCounts) -> SubsetCounts:
    """Return counts under a product design as `JointCounts`, others as they are."""
    product = counts.design.product
    if isinstance(counts, JointCounts) or product is None:
        return counts
    return JointCounts.trusted(counts.codes, counts.counts, product, counts.squares)


def _subsets_named(design: Design, labels: Any) -> IntArray:
    """Return the codes of labeled subsets, or all codes if there are no labels or they are only row numbers."""
    codes = design.support()[0]
    if labels is None or callable(labels):
        return codes
    names: dict[Any, int] = {design.format(code): code for code in codes.tolist()}
    names |= {design.members(code)[0]: code for code in codes.tolist() if len(design.members(code)) == 1}
    # Names first: categories may be numbers, in another order than the rows.
    if not all(isinstance(label, Hashable) and label in names for label in labels):
        if list(labels) == list(range(len(codes))):
            return codes
        raise MismatchError(
            f"`table` must be labeled by subsets, such as {design.format(int(codes[0]))!r}; got other labels.",
            LABEL_BY_SUBSETS,
        )
    if len(set(labels)) < len(labels):
        raise MismatchError("`table` must name every subset once; got a label twice.")
    return np.array([names[label] for label in labels], np.int64)


def _sums(at: IntArray, amounts: AnyArray) -> AnyArray:
    out = np.zeros(int(at.max(initial=-1)) + 1, amounts.dtype)
    np.add.at(out, at, amounts)
    return out


def memberships(design: Design, codes: IntArray) -> FloatArray:
    """Return 1 if a subset contains a category, else 0. With a secret bit, categories are pairs of value and bit."""
    enlarged = design.enlarged
    return enlarged.contains(codes[:, None], np.arange(enlarged.p)).astype(np.float64)


def two_by_two(both: FloatArray, first: FloatArray, second: FloatArray, total: FloatArray) -> FloatArray:
    """Return the 2 x 2 tables of all pairs, (..., p, q, 2, 2), from the numbers with both, with each, and in total."""
    in_first, in_second, all_of_them = first[..., :, None], second[..., None, :], total[..., None, None]
    neither = all_of_them - in_first - in_second + both
    cells = np.stack([both, in_first - both, in_second - both, neither], axis=-1)
    return cells.reshape(*both.shape, 2, 2)


def position(design: Design, label: Label) -> int:
    """Return the column of a category among the memberships."""
    enlarged = design.enlarged
    return enlarged.categories.index(label)
