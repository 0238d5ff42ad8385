"""Several completed sets of imputed values."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, overload

import numpy as np
from attrs import field, frozen

from subsetprivacy import draw
from subsetprivacy._checks import read_only
from subsetprivacy._choices import Engine
from subsetprivacy._types import AnyArray, FloatArray, IntArray, Label
from subsetprivacy._words import people
from subsetprivacy.engines.imputed import SUFFIX, imputed_document, marked
from subsetprivacy.errors import ArgumentError
from subsetprivacy.imputation.completing import completed_frames
from subsetprivacy.imputation.pooled import Pooled
from subsetprivacy.imputation.pooling import combine
from subsetprivacy.imputation.writing import write_imputations
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.results import Result, plain
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text, number, percent
from subsetprivacy.variables import JointCategories

GUESSES = "Imputed values are a model's guesses about individuals. They are not people's values."


@frozen(slots=False, eq=False, repr=False)
class Imputations(Result):
    """Several completed sets of private values, drawn by a model given each person's subset; returned by `impute`.

    Use them to fit models to each set, not to look at rows. Only `write` saves them to a file, which is marked as
    imputed.

    Attributes
    ----------
    variables
        The names of the variables.
    categories
        Their categories; for several variables, the combinations.
    values
        The position of each person's drawn category, shape (m, n).
    model
        A description of the model that the values were drawn from.
    imputed
        True, because the values are guesses, not people's values.
    """

    why_not_restored: ClassVar[str] = (
        "keep the data and the fit and impute again with the same seed, or write() the sets"
    )
    imputed: ClassVar[bool] = True

    variables: tuple[str, ...]
    categories: Categories = field()
    values: IntArray = field(converter=read_only)
    model: str
    caveats: tuple[Note, ...] = ()

    @property
    def m(self) -> int:
        """The number of sets."""
        return len(self.values)

    @property
    def n(self) -> int:
        """The number of people."""
        return int(self.values.shape[1])

    def __len__(self) -> int:
        return self.m

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of imputed values, which end in ``_imputed``."""
        return tuple(f"{name}{SUFFIX}" for name in self.variables)

    def labels(self, k: int) -> dict[str, AnyArray]:
        """Return the values of one set as labels, by column.

        Parameters
        ----------
        k
            The number of the set, from 0.
        """
        if not -self.m <= k < self.m:
            raise ArgumentError(f"`k` must be the number of one of the {self.m} sets, from 0; got {k}.")
        return {name: _array(labels)[at] for name, (labels, at) in self._coded(self.values[k]).items()}

    def _coded(self, values: IntArray) -> dict[str, tuple[tuple[Label, ...], IntArray]]:
        """Return the labels and positions of each variable, by column."""
        if isinstance(self.categories, JointCategories):
            parts, places = self.categories.parts, self.categories.coordinates(values.astype(np.int64))
        else:
            parts, places = (self.categories,), (values,)
        return {name: (part.labels, at) for name, part, at in zip(self.columns, parts, places, strict=True)}

    # Completed data ---------------------------------------------------------------------------

    def frames(self, table: Any = None, *, engine: Engine | None = None) -> Iterator[Any]:
        """Yield a completed data frame for each set, with the columns of a table and the imputed columns.

        Parameters
        ----------
        table
            A table of pandas, Polars or PyArrow, or a dict of columns, with a row per person in the order of the data.
            It is not changed. With None, the frames have the imputed columns only.
        engine
            The library of the frames; by default that of the table, or pandas.

        Yields
        ------
        A data frame that marks its imputed columns (`race_imputed`): pandas in `attrs`, PyArrow in its metadata.
        """
        return completed_frames(self, table, engine)

    @cached_property
    def document(self) -> dict[str, Any]:
        """The description stored with these values: that they are imputed, the model, and the categories."""
        columns = {}
        for (column, (labels, _)), name in zip(self._coded(self.values[0]).items(), self.variables, strict=True):
            columns[column] = {"variable": name, "categories": plain(list(labels))}
        return imputed_document(columns, imputations=self.m, model=self.model)

    def write(self, path: str | Path, table: Any = None, *, overwrite: bool = False) -> Path:
        """Write all sets to a Parquet or Arrow file that is marked as imputed.

        Parameters
        ----------
        path
            ``.parquet``, ``.pq``, ``.arrow``, ``.feather`` or ``.ipc``. CSV files are refused, because they cannot
            store the mark.
        table
            Other columns of the same people to write next to the imputed ones; none by default.
        overwrite
            Whether to replace an existing file.

        Returns
        -------
        The path. The file has a row for each set and person: `imputation`, from 1, `row`, from 0, the columns of the
        table, and the imputed columns, whose names end in ``_imputed``. Its metadata store `document` under the key
        ``subset_privacy``.
        """
        return write_imputations(self, path, table, overwrite=overwrite)

    # Output -----------------------------------------------------------------------------------

    @property
    def notes(self) -> tuple[Note, ...]:
        """What to know about them, first of all that they are guesses."""
        return (Note(NoteKind.IMPUTED, GUESSES), *self.caveats)

    @cached_property
    def shares(self) -> Pooled:
        """The shares of the categories, or of combinations of several variables, pooled over the sets."""
        w = self._shares()
        within = (np.diag(w.mean(axis=0)) - w.T @ w / self.m) / self.n
        return combine(tuple(map(label_text, self.categories.labels)), w, within)

    def _shares(self) -> FloatArray:
        p = self.categories.p
        return np.array([np.bincount(each, minlength=p) / self.n for each in self.values])

    def summary(self, *, level: float = 0.95) -> Table:
        """Return a table of the pooled shares to print or show in a notebook, without anyone's values."""
        pooled = self.shares
        lower, upper = pooled.interval(level).T
        head = ("category", "share", "se", f"lower {percent(level)}", f"upper {percent(level)}", "missing information")
        rows = tuple(
            (name, *(number(float(each[k])) for each in (pooled.estimates, pooled.se, lower, upper, pooled.missing)))
            for k, name in enumerate(pooled.names)
        )
        title = f"Imputed {', '.join(self.variables)}: {self.m} sets of {people(self.n)}, drawn from {self.model}"
        return Table(title, head, rows, self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the mark and the pooled shares for JSON, without any data about individuals."""
        pooled = self.shares
        shares = {name: getattr(pooled, name) for name in ("names", "estimates", "se", "missing")}
        return plain({**self.document, "n": self.n, "shares": shares, "notes": self.notes})

    def _columns(self) -> dict[str, Any]:
        coded = self._coded(self.values.ravel())
        return {
            "imputation": np.repeat(np.arange(1, self.m + 1), self.n),
            "row": np.tile(np.arange(self.n), self.m),
            **{name: _array(labels)[at] for name, (labels, at) in coded.items()},
        }

    @overload
    def to_frame(self, *, engine: Literal["pandas"] = ...) -> PandasFrame: ...
    @overload
    def to_frame(self, *, engine: Literal["polars"]) -> PolarsFrame: ...
    @overload
    def to_frame(self, *, engine: Literal["pyarrow"]) -> ArrowTable: ...
    def to_frame(self, *, engine: Engine = "pandas") -> Frame:
        """Return a data frame with a row for each set and person, marked as imputed."""
        return marked(frame(self._columns(), engine), self.document)

    def plot(self, *, level: float = 0.95, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Draw the pooled shares of the categories with their intervals.

        Parameters
        ----------
        level
            The confidence level.
        title, ax
            The title, and the Matplotlib axes to draw on; by default a new figure.
        """
        pooled = self.shares
        lower, upper = pooled.interval(level).T
        names = " & ".join(self.variables)
        heading = (
            f"Shares of {names}, pooled over {self.m} imputed data sets, {percent(level)} intervals, n = {self.n:,}"
        )
        return draw.estimate(
            list(pooled.names),
            pooled.estimates,
            lower,
            upper,
            level=level,
            sort=len(self.variables) == 1 and not draw.have_an_order(pooled.names),
            title=draw.Heading(heading) if title is None else title,
            ax=ax,
        )

    def __repr__(self) -> str:
        what = ", ".join(self.variables)
        return f"<Imputations: {self.m} sets of {what} of {people(self.n)}, guesses and not people's values>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.variables, self.categories, self.values, self.model, self.caveats)


def _array(labels: tuple[Label, ...]) -> AnyArray:
    """Return labels as an array: of text or numbers if they have one type, otherwise of objects."""
    kinds = {type(label) for label in labels}
    if kinds <= {str} or kinds <= {int} or kinds <= {float} or kinds <= {bool}:
        return np.array(labels)
    out = np.empty(len(labels), object)
    out[:] = labels
    return out
