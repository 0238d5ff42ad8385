"""Few questions for many categories: the rows of a Hadamard matrix."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_count, read_only
from subsetprivacy._types import AnyArray, BoolArray, Codes, FloatArray, IntArray, Label, RandomSource
from subsetprivacy.design.base import Design
from subsetprivacy.design.described import Formula
from subsetprivacy.design.document_format import Keys
from subsetprivacy.errors import InvalidDesignError
from subsetprivacy.incidence import Listable, Walsh, incidence
from subsetprivacy.incidence.walsh import choose_columns, scattered
from subsetprivacy.messages.for_designs import USE_SMALL
from subsetprivacy.messages.for_general import NEAREST
from subsetprivacy.subsets import MAX_CATEGORIES, Categories, as_categories

MOST = 1 << 20


@frozen(slots=False, eq=False, repr=False)
class Hadamard(Design):
    """N - 1 equally likely questions, the rows of a Sylvester–Hadamard matrix. Use `hadamard` to make one.

    Category j has the column c_j. Question r asks about the categories for
    which r and c_j have an even number of binary ones in common. For up to 48
    categories a code is the mask of the subset. For more it is 2 r + side,
    with side 1 for yes, and code 1 (row 0) is the full set.
    """

    size: int
    columns: IntArray
    kind: ClassVar[str] = "hadamard"
    name: ClassVar[str] = "Hadamard"
    keys: ClassVar[Keys] = Keys(
        {
            "size": {"description": "The size N of the matrix.", "enum": [1 << k for k in range(2, 24)]},
            "columns": {
                "description": "The column of each category.",
                "type": "array",
                "minItems": 4,
                "maxItems": MOST,
                "uniqueItems": True,
                "items": {"type": "integer", "minimum": 0, "maximum": 8 * MOST - 1},
            },
        },
        ("size", "columns"),
        categories=(4, MOST),
    )
    formula: ClassVar[Formula] = Formula(
        reports=(
            "both sides of the rows 1 to $N-1$. Category $j$ is on side 1 of row $r$ if $r$ and $c_j$ have an even "
            "number of binary ones in common, else on side 0"
        ),
        weight=r"\mu_a = \frac{t_a}{N-1}",
        codes=(
            "Up to 48 categories the bit mask of the categories on the side. With more categories "
            "$2r + \\text{side}$, and code 1, side 1 of row 0, is the full set."
        ),
        missing="the full set, $2^p - 1$, or 1 with more than 48 categories",
        width=r"p, \text{ or the number of binary digits of } N \text{ with more than 48 categories}",
        symbols=(
            ("N", "the document's `size`"),
            ("c_j", "entry $j$ of `columns`"),
            ("t_a", "how many sides of rows give the code $a$: 1 with more than 48 categories, mostly 1 otherwise"),
        ),
    )

    @classmethod
    def example(cls) -> "Hadamard":
        """Return six categories and seven questions."""
        return hadamard(["a", "b", "c", "d", "e", "f"])

    @property
    def description(self) -> str:
        """One of a few questions."""
        return (
            f"A yes/no question about roughly half of the {self.p:,} categories, one of {self.questions:,} questions "
            "that together tell all categories apart. Yes stores the half asked about, no stores the other."
        )

    @property
    def label(self) -> str:
        """The kind and the number of questions."""
        return f"{self.kind}, {self.questions} questions"

    @property
    def report_count(self) -> int:
        """Both sides of every row. If codes are masks, the number of different masks."""
        return len(self.support()[0]) if self._masked else 2 * self.questions

    @property
    def list_length(self) -> int:
        """The number of questions."""
        return self.questions

    def listed_questions(self) -> tuple[IntArray, FloatArray]:
        """Return both sides of the rows 1 to N - 1, all equally likely."""
        asked = self.code_of(np.arange(1, self.size), np.int64(1))
        return np.column_stack([asked, self.complement(asked)]), np.ones(self.questions)

    @property
    def has_alike_triples(self) -> bool:
        """True: any three different columns agree in a quarter of the rows."""
        return True

    # Codes ------------------------------------------------------------------------------------

    @property
    def _masked(self) -> bool:
        return self.p <= MAX_CATEGORIES

    @property
    def missing_code(self) -> int:
        """The code of the full set."""
        return self.categories.full if self._masked else 1

    @property
    def code_bits(self) -> int:
        """All codes are below 2 to this power."""
        return self.p if self._masked else self.size.bit_length()

    @property
    def code_space(self) -> str:
        """Masks, or rows of this matrix."""
        return "mask" if self._masked else f"hadamard {self._tag}"

    @cached_property
    def _mask_of_row(self) -> IntArray:
        """The mask of "yes" to each row, up to 48 categories."""
        rows = np.arange(self.size)[:, None]
        yes = (np.bitwise_count(rows & self.columns) & 1) == 0
        return read_only(yes @ (np.int64(1) << np.arange(self.p)))

    def code_of(self, row: AnyArray, side: Any) -> IntArray:
        """Return the codes of the given sides of the given rows."""
        if self._masked:
            yes = self._mask_of_row[row]
            return np.where(side == 1, yes, self.categories.full - yes)
        return 2 * row.astype(np.int64) + side

    def contains(self, codes: Any, x: Any) -> BoolArray:
        """Tell for each code whether the subset has the category at position x."""
        if self._masked:
            return super().contains(codes, x)
        even = (np.bitwise_count((codes >> 1) & self.columns[x]) & 1) == 0
        return np.asarray(even == (codes & 1 == 1))

    def sizes(self, codes: IntArray) -> IntArray:
        """Return how many categories each subset has."""
        if self._masked:
            return super().sizes(codes)
        return np.rint(self.incidence(codes).inner(np.ones(self.p))).astype(np.int64)

    def members(self, code: int) -> tuple[Label, ...]:
        """Return the labels in a subset, in category order."""
        if self._masked:
            return super().members(code)
        inside = self.contains(np.int64(code), np.arange(self.p))
        return tuple(self.categories.labels[j] for j in np.flatnonzero(inside))

    def format(self, code: int) -> str:
        """Return a subset as text, or its row and side if there are more than 48 categories."""
        if self._masked:
            return super().format(code)
        return "all" if code == 1 else f"row {code >> 1}, {'yes' if code & 1 else 'no'}"

    def complement(self, codes: Codes) -> Codes:
        """Return the other side of each code."""
        return super().complement(codes) if self._masked else codes ^ 1

    def incidence(self, codes: IntArray) -> Listable:
        """Return the rows 1_a of the given codes."""
        if self._masked:
            return incidence(codes, self.p)
        return Walsh(codes >> 1, codes & 1, self.columns, self.size)

    # Distribution -----------------------------------------------------------------------------

    @property
    def questions(self) -> int:
        """The number of questions."""
        return self.size - 1

    @cached_property
    def _support(self) -> tuple[IntArray, FloatArray]:
        rows = np.repeat(np.arange(1, self.size), 2)
        codes, times = np.unique(self.code_of(rows, np.arange(len(rows)) % 2), return_counts=True)
        return read_only(codes), read_only(times / self.questions)

    def support(self) -> tuple[IntArray, FloatArray]:
        """Return both sides of every row and their mu."""
        return self._support

    @property
    def pair_probability(self) -> float:
        """The probability q = (N/2 - 1)/(N - 1) that a second category is in the reported subset."""
        return (self.size / 2 - 1) / (self.size - 1)

    @cached_property
    def S(self) -> float:
        """2, as for every yes/no question."""
        return 2.0

    @cached_property
    def mu_full(self) -> float:
        """0: every subset leaves out at least two categories."""
        return 0.0

    @cached_property
    def _null(self) -> IntArray | None:
        return None  # Q = (1-q) I + q 11' with q < 1

    @property
    def is_independent(self) -> bool:
        """True."""
        return True

    def draw_rows(self, n: int, source: RandomSource) -> AnyArray:
        """Draw rows 1 … N-1 uniformly: draw the bits of a row number, and redraw if they are all 0."""
        need = self.size.bit_length() - 1
        width = next(w for w in (8, 16, 32) if w >= need)
        mask = np.dtype(f"u{width // 8}").type(self.size - 1)
        rows = source.bits(n, width) & mask
        rejected = np.flatnonzero(rows == 0)
        while rejected.size:
            rows[rejected] = source.among(rejected).bits(rejected.size, width) & mask
            rejected = rejected[rows[rejected] == 0]
        return rows.astype(np.uint32, copy=False)

    def draw_questions(self, n: int, source: RandomSource) -> AnyArray:
        """Draw the sets asked about."""
        return self.code_of(self.draw_rows(n, source), np.int64(1))

    def content(self) -> dict[str, Any]:
        """Return the size of the matrix and the categories' columns."""
        return {"size": self.size, "columns": self.columns.tolist()}


def hadamard(categories: Iterable[Label] | int, questions: int | None = None) -> Hadamard:
    r"""Make the design for many categories, with few yes/no questions that treat all pairs of categories alike.

    Parameters
    ----------
    categories
        Four (but not five) to 1,048,576 distinct labels. Their order is kept.
        A number stands for that many categories, labeled 0, 1, 2 ….
    questions
        The number of questions, one less than a power of two, by default the
        smallest possible. More questions make the estimate more precise if the
        distribution is not uniform, and need a larger table.

    Raises
    ------
    InvalidDesignError
        If the number of questions is not one less than a power of two, or no
        choice of columns leaves two categories after every answer.

    Notes
    -----
    With N = questions + 1: :math:`Q = (1-q)I + q11^\top`, q = (N/2-1)/(N-1), and every product with the rows is a
    fast Walsh–Hadamard transform. At a uniform distribution it needs between p - 1 and p(N-1)/N times as many people
    as asking directly, and no yes/no design needs fewer than p - 1 times.

    Examples
    --------
    >>> design = hadamard(range(1000))
    >>> design.questions, design.smallest_set > 400
    (1023, True)
    """
    number = categories if isinstance(categories, int) else None
    labels = None if number is not None else as_categories(categories)
    p = labels.p if labels is not None else int(number or 0)
    if p < 4 or p > MOST:
        advice = USE_SMALL() if p < 4 else NEAREST(nearest=MOST)
        raise InvalidDesignError(f"a hadamard design must have 4 to {MOST:,} categories; got {p:,}.", advice)
    labels = as_categories(range(p)) if labels is None else labels
    fewest = 1 << (p - 1).bit_length()
    size = fewest if questions is None else _read_questions(questions, fewest, labels.p)
    columns = choose_columns(labels.p, size)
    # In a scattered order: ascending columns would ask about long runs of neighboring categories.
    return Hadamard(labels, size, read_only(columns[scattered(labels.p)]))


def _read_questions(questions: Any, fewest: int, p: int) -> int:
    number = check_count(questions, "questions", least=1)
    size = number + 1
    if size & number or size < fewest:
        below = max(1 << (size.bit_length() - 1), fewest)
        nearest = " or ".join(str(n - 1) for n in ((below, 2 * below) if below < size else (below,)))
        raise InvalidDesignError(
            f"`questions` must be one less than a power of two, {fewest - 1} or more; got {number}.",
            NEAREST(nearest=nearest),
        )
    most = min(8 * MOST, 1 << (p - 2 - p % 2))  # more leave a single category after some answer: see choose_columns
    if size > most >= fewest:
        raise InvalidDesignError(f"`questions` must be at most {most - 1} for {p} categories; got {number}.")
    return size


def with_columns(categories: Categories, size: int, columns: list[int]) -> Hadamard:
    """Make a design from a document that lists its columns.

    Raises
    ------
    InvalidDesignError
        If they are not distinct columns that leave two categories after every answer.
    """
    if not all(type(column) is int for column in columns) or type(size) is not int:
        raise InvalidDesignError("columns and size must be whole numbers.")
    chosen = np.array(columns, np.int64)
    good = chosen.shape == (categories.p,) and size & (size - 1) == 0 and 0 <= chosen.min() <= chosen.max() < size
    if not good or len(np.unique(chosen)) < len(chosen) or not 4 <= size <= 8 * MOST:
        raise InvalidDesignError(
            "columns must be distinct numbers below a size that is a power of two, one for each category."
        )
    design = Hadamard(categories, size, read_only(chosen))
    if design.smallest_set < 2:
        raise InvalidDesignError("columns must leave at least two categories after every answer; these do not.")
    return design
