"""Small tables of numbers, as text for a terminal and as HTML for a notebook."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from attrs import frozen

from subsetprivacy._checks import check_choice
from subsetprivacy._choices import Engine
from subsetprivacy.errors import MissingDependencyError

if TYPE_CHECKING:
    import pandas
    import polars

ENGINES: tuple[Engine, ...] = get_args(Engine)

# What `to_frame` returns. These are strings when Python runs: no one needs all three libraries. PyArrow has no types;
# under its own name a table would be of unknown type, and pyright, where strict, would refuse every call of `to_frame`.
PandasFrame: TypeAlias = "pandas.DataFrame"
PolarsFrame: TypeAlias = "polars.DataFrame"
ArrowTable: TypeAlias = Any
Frame: TypeAlias = "pandas.DataFrame | polars.DataFrame | Any"


@frozen(repr=False)
class Table:
    """A titled table: `print` it, or let a notebook show it.

    Attributes
    ----------
    title
        The heading.
    columns
        Column names; the first column is the row's name.
    rows
        Cells as text, one list per row.
    notes
        Sentences below the table.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        widths = [max(len(line[k]) for line in (self.columns, *self.rows)) for k in range(len(self.columns))]

        def line(cells: Sequence[str]) -> str:
            first, *rest = [
                cell.ljust(w) if k == 0 else cell.rjust(w)
                for k, (cell, w) in enumerate(zip(cells, widths, strict=True))
            ]
            return "  ".join([first, *rest]).rstrip()

        rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
        return "\n".join(
            [self.title, rule, line(self.columns), rule, *(line(row) for row in self.rows), rule, *self.notes]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join("<tr>" + "".join(_cells(row)) + "</tr>" for row in self.rows)
        notes = "".join(f"<p><small>{escape(note)}</small></p>" for note in self.notes)
        return (
            f"<table><caption>{escape(self.title)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>{notes}"
        )


def _cells(row: Sequence[str]) -> list[str]:
    name, *numbers = row
    right = ' style="text-align:right"'
    return [f"<th>{escape(name)}</th>", *(f"<td{right}>{escape(cell)}</td>" for cell in numbers)]


def percent(level: float) -> str:
    """Return a level as it stands in column names: 0.95 gives '95 %'."""
    return f"{100 * level:g} %"


def number(value: float, digits: int = 4) -> str:
    """Return a number for people: fixed digits, a dash where there is none."""
    if value != value:
        return "-"
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text


def label_text(label: Any) -> str:
    """Return a label as people write it: a combination of several variables is its parts joined by an ampersand."""
    return " & ".join(map(label_text, label)) if isinstance(label, tuple) else str(label)


def frame(columns: Mapping[str, Any], engine: Engine, *, index: bool = True) -> Any:
    """Return columns as a data frame of the named library; the first is the index of a pandas frame, unless told.

    Raises
    ------
    MissingDependencyError
        If that library is not installed.
    """
    check_choice(engine, ENGINES, "engine")
    try:
        if engine == "pandas":
            import pandas as pd

            made = pd.DataFrame(columns)
            return made.set_index(next(iter(columns))) if index else made
        if engine == "polars":
            import polars as pl

            return pl.DataFrame(columns)
        import pyarrow as pa
    except ImportError:
        raise MissingDependencyError(f"a data frame of {engine} needs it. Hint: pip install {engine}.") from None
    return pa.table(dict(columns))
