r"""The columns of a model with private predictors.

Column c of a person i whose private cell is j is :math:`x_{ij,c} = Z_{jc}\,V_{i,s(c)}`: a number of the cell times an
observed column. Observed terms have Z = 1, a private category has an indicator and the constant column, and their
interaction has an indicator and an observed column. Several private predictors act as one, whose cells are the
combinations of their categories.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product as combinations
from typing import Any, Protocol

import numpy as np
from attrs import field, frozen

from subsetprivacy._checks import read_only
from subsetprivacy._types import FloatArray, IntArray, Label
from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import label_text


class OutcomeEncoder(Protocol):
    """Turns a table into observed columns and private cells, for predictions."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The observed columns of the table that are used."""
        ...

    @property
    def levels(self) -> Mapping[str, tuple[Any, ...]]:
        """The levels of each categorical observed variable."""
        ...

    def frame(self, table: Any) -> Any:
        """Return a data frame of the observed variables."""
        ...

    def replace_variable(self, table: Any, name: str, value: Any) -> Any:
        """Return the frame with one observed variable set to one value, or to a value for each row."""
        ...

    def matrix(self, table: Any) -> FloatArray:
        """Return the observed columns V of a table's rows."""
        ...

    def labels(self, table: Any, name: str) -> Sequence[Label]:
        """Return the labels of a private predictor in a table of new rows."""
        ...


@frozen
class ModelTerm:
    """A term of a model: observed columns times the categories of private predictors.

    Attributes
    ----------
    name
        Its name, such as ``"age"``, ``"race"`` or ``"age:race"``.
    columns
        Positions of its observed columns in V; the constant for a term with private predictors only.
    private
        The private predictors in it.
    full
        The private predictors that also have a column for their baseline, as in a model without intercept.
    """

    name: str
    columns: tuple[int, ...]
    private: tuple[str, ...] = ()
    full: tuple[str, ...] = ()


def _positions(values: Any) -> IntArray:
    return read_only(np.asarray(values, np.int64))


@frozen(eq=False, repr=False)
class ModelLayout:
    """The columns of a model with private predictors (see the module). `arrange` makes one from terms.

    Attributes
    ----------
    names
        The names of the C columns of the model.
    terms
        The positions of the columns of each term, by its name.
    Z
        Numbers of the private cells, shape (J, C).
    seen
        The column of V of each column of the model, shape (C,).
    private
        The categories of each private predictor, by name, in the order of the cells. The last changes fastest.
    baselines
        The baseline category of each private predictor.
    V_names
        The names of the columns of V.
    constant
        The position in V of the column of ones.
    encoder
        Makes V and cells from a table, or None.
    merged
        New names of merged categories, by private predictor and category.
    """

    names: tuple[str, ...]
    terms: Mapping[str, tuple[int, ...]]
    Z: FloatArray = field(converter=read_only)
    seen: IntArray = field(converter=_positions)
    private: Mapping[str, Categories]
    baselines: Mapping[str, Label]
    V_names: tuple[str, ...]
    constant: int
    encoder: OutcomeEncoder | None = None
    merged: Mapping[str, Mapping[Label, Label]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        C = len(self.names)
        if self.Z.shape != (self.cells, C) or self.seen.shape != (C,):
            raise ArgumentError(
                f"`Z` must have a row for each of {self.cells} cells and a column for each of {C} columns, and `seen` "
                f"an entry for each column; got shapes {self.Z.shape} and {self.seen.shape}."
            )
        if C and not 0 <= self.seen.min() <= self.seen.max() < len(self.V_names):
            raise ArgumentError(f"`seen` must be positions of the {len(self.V_names)} columns of V; got others.")

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of categories of each private predictor."""
        return tuple(part.p for part in self.private.values())

    @property
    def cells(self) -> int:
        """The number of private cells J."""
        return int(np.prod(self.shape))

    @property
    def intercept(self) -> int | None:
        """The position of the intercept among the columns of the model, or None."""
        at = [k for k in range(len(self.names)) if self.seen[k] == self.constant and bool((self.Z[:, k] == 1.0).all())]
        return at[0] if at else None

    def positions(self, labels: Mapping[str, Iterable[Label]]) -> IntArray:
        """Return the cell of each row, from its labels for all private predictors.

        Raises
        ------
        CategoryError
            If a label is not a category. The message has the predictor, the number of rows and the first row only.
        """
        cell: IntArray | None = None
        for name, categories in self.private.items():
            where = {label: j for j, label in enumerate(categories.labels)}
            column = np.array([where.get(label, -1) for label in labels[name]], np.int64)
            wrong = column < 0
            if wrong.any():
                raise CategoryError(
                    f"`{name}` must contain categories of its design; got {int(wrong.sum())} others, first in row "
                    f"{int(wrong.argmax())}."
                )
            cell = column if cell is None else cell * categories.p + column
        assert cell is not None
        return cell

    def level_of(self, name: str, label: Label) -> Label:
        """Return the new name of a merged category, or the category itself."""
        return self.merged.get(name, {}).get(label, label)

    def levels(self, name: str) -> dict[Label, int]:
        """Return the position of the first category of each level of a private predictor, merged categories joined."""
        positions: dict[Label, int] = {}
        for j, label in enumerate(self.private[name].labels):
            positions.setdefault(self.level_of(name, label), j)
        return positions

    def coordinate(self, name: str) -> IntArray:
        """Return the position of one private predictor's category in each cell."""
        at = list(self.private).index(name)
        return np.asarray(np.unravel_index(np.arange(self.cells), self.shape)[at])

    def expand(self, V: FloatArray, cells: IntArray) -> FloatArray:
        """Return the model matrix of people whose cells are known, shape (n, C)."""
        return np.asarray(self.Z[cells] * V[:, self.seen])


def arrange(
    V_names: Sequence[str],
    constant: int,
    private: Mapping[str, Categories],
    baselines: Mapping[str, Label],
    terms: Sequence[ModelTerm],
    encoder: OutcomeEncoder | None = None,
) -> ModelLayout:
    """Arrange terms as columns of a model.

    Parameters
    ----------
    V_names, constant
        The names of the observed columns, and the position of the column of ones among them.
    private, baselines
        The categories and the baseline of each private predictor.
    terms
        The terms, in order. The intercept is a term of the constant column.
    encoder
        Makes V and cells from a table.

    Examples
    --------
    >>> layout = arrange(
    ...     ["Intercept", "age"],
    ...     0,
    ...     {"race": Categories(["White", "Black"])},
    ...     {"race": "White"},
    ...     [
    ...         ModelTerm("Intercept", (0,)),
    ...         ModelTerm("age", (1,)),
    ...         ModelTerm("race", (0,), ("race",)),
    ...         ModelTerm("age:race", (1,), ("race",)),
    ...     ],
    ... )
    >>> layout.names
    ('Intercept', 'age', 'race[Black]', 'age:race[Black]')
    >>> layout.expand(np.array([[1.0, 30.0], [1.0, 40.0]]), layout.positions({"race": ["Black", "White"]}))
    array([[ 1., 30.,  1., 30.],
           [ 1., 40.,  0.,  0.]])
    """
    shape = tuple(part.p for part in private.values())
    where = dict(zip(private, np.unravel_index(np.arange(int(np.prod(shape))), shape), strict=True))
    names: list[str] = []
    Z: list[FloatArray] = []
    seen: list[int] = []
    positions: dict[str, tuple[int, ...]] = {}
    for term in terms:
        start = len(names)
        choices = [_categories(name, private[name], baselines[name], name in term.full) for name in term.private]
        for column in term.columns:
            first = [] if column == constant and term.private else [V_names[column]]
            for chosen in combinations(*choices):
                indicator = np.ones(int(np.prod(shape)))
                for name, (j, _) in zip(term.private, chosen, strict=True):
                    indicator = indicator * (where[name] == j)
                names.append(":".join([*first, *(text for _, text in chosen)]))
                Z.append(indicator)
                seen.append(column)
        positions[term.name] = tuple(range(start, len(names)))
    table = np.stack(Z, axis=1) if Z else np.zeros((int(np.prod(shape)), 0))
    return ModelLayout(
        tuple(names),
        positions,
        table,
        np.array(seen, np.int64),
        dict(private),
        dict(baselines),
        tuple(V_names),
        constant,
        encoder,
    )


def _categories(name: str, categories: Categories, baseline: Label, full: bool) -> list[tuple[int, str]]:
    """Return the categories of a private predictor that have a column, with their names."""
    if baseline not in categories.labels:
        known = ", ".join(map(label_text, categories.labels[:12]))
        raise CategoryError(f"`baseline` of {name} must be one of its categories ({known}); got another label.")
    return [
        (j, f"{name}[{label_text(label)}]") for j, label in enumerate(categories.labels) if full or label != baseline
    ]
