"""Small tables of numbers, as text for a terminal and as HTML for a notebook."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from attrs import frozen

from subsetprivacy._checks import check_choice
from subsetprivacy._choices import Engine
from subsetprivacy.errors import MissingDependencyError
from subsetprivacy.messages import Note
from subsetprivacy.messages.for_general import INSTALL_LIBRARY

if TYPE_CHECKING:
    import pandas
    import polars

ENGINES: tuple[Engine, ...] = get_args(Engine)
# What `to_frame` returns. These are strings at run time, so that no one needs all three libraries. PyArrow has no type
# hints. Under its own name a table would have an unknown type, and strict pyright would refuse every `to_frame` call.
PandasFrame: TypeAlias = "pandas.DataFrame"
PolarsFrame: TypeAlias = "polars.DataFrame"
ArrowTable: TypeAlias = Any
Frame: TypeAlias = "pandas.DataFrame | polars.DataFrame | Any"
SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"  # that begin a formula, in normal and in full width
_FORMULA = (*SIGNS, "\t", "\r", "\n", "'")


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
        The notes and plain sentences below the table.
    text_columns
        How many columns, from the left, contain text and are aligned left.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[Note | str, ...] = ()
    text_columns: int = 1

    def __str__(self) -> str:
        widths = [max(len(line[k]) for line in (self.columns, *self.rows)) for k in range(len(self.columns))]

        def line(cells: Sequence[str]) -> str:
            aligned = [
                cell.ljust(w) if k < self.text_columns else cell.rjust(w)
                for k, (cell, w) in enumerate(zip(cells, widths, strict=True))
            ]
            return "  ".join(aligned).rstrip()

        rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
        return "\n".join(
            [
                self.title,
                rule,
                line(self.columns),
                rule,
                *(line(row) for row in self.rows),
                rule,
                *map(str, self.notes),
            ]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self) -> str:
        """Return the table as HTML, with the notes below it as a list."""
        head = "".join(
            f'<th style="text-align:{"left" if k < self.text_columns else "right"}">{escape(name)}</th>'
            for k, name in enumerate(self.columns)
        )
        body = "".join("<tr>" + "".join(_cells(row, self.text_columns)) + "</tr>" for row in self.rows)
        notes = "".join(f"<li><small>{escape(str(note))}</small></li>" for note in self.notes)
        return (
            f"<table><caption>{escape(self.title)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>" + (f"<ul>{notes}</ul>" if notes else "")
        )

    def to_csv(self) -> str:
        """Return the header and the rows as CSV text, without title and notes. No cell begins like a formula."""
        return csv_text(self.columns, self.rows)

    def to_markdown(self) -> str:
        """Return the table in Markdown, with the title in bold and the notes as a list."""
        lines = [f"**{_in_markdown(self.title)}**", "", _markdown_row(self.columns), self._markdown_rule()]
        lines += map(_markdown_row, self.rows)
        notes = [f"- {_in_markdown(str(note))}" for note in self.notes]
        return "\n".join([*lines, *([""] if notes else []), *notes]) + "\n"

    def _markdown_rule(self) -> str:
        return _piped([":--" if k < self.text_columns else "--:" for k in range(len(self.columns))])

    def to_latex(self) -> str:
        r"""Return a LaTeX ``table`` with the notes below it.

        It needs ``\usepackage{booktabs}``.
        """
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_in_latex(self.title)}}}",
            rf"\begin{{tabular}}{{{'l' * self.text_columns}{'r' * (len(self.columns) - self.text_columns)}}}",
            r"\toprule",
            _latex_row(self.columns),
            r"\midrule",
            *map(_latex_row, self.rows),
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par\smallskip{{\footnotesize {_in_latex(str(note))}}}" for note in self.notes),
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"


def _cells(row: Sequence[str], text_columns: int) -> list[str]:
    left, right = ' style="text-align:left"', ' style="text-align:right"'
    names, numbers = row[:text_columns], row[text_columns:]
    return [
        *(f"<th{left}>{escape(name)}</th>" for name in names),
        *(f"<td{right}>{escape(cell)}</td>" for cell in numbers),
    ]


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as CSV text in which no cell begins like a formula."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([safe_header(name) for name in columns])
    writer.writerows([_safe(cell) for cell in row] for row in rows)
    return out.getvalue()


def _safe(cell: Any) -> Any:
    """Return a cell that no spreadsheet reads as a formula. Negative numbers and safe texts stay as they are."""
    if not isinstance(cell, str) or _is_number(cell):
        return cell
    return safe_header(plain_header(cell))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _piped(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_row(cells: Sequence[str]) -> str:
    return _piped(map(_in_markdown, cells))


def _in_markdown(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", " ".join(text.split()))


def _latex_row(cells: Sequence[str]) -> str:
    return rf"{' & '.join(map(_in_latex, cells))} \\"


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # at the beginning of a row LaTeX would read it as extra vertical space
    "±": r"$\pm$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
}


def _in_latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


def percent(level: float) -> str:
    """Return a level in the form of column names: 0.95 gives '95%'."""
    return f"{100 * level:g}%"


def number(value: float, digits: int = 4) -> str:
    """Return a number as text with fixed digits, or a dash if it is NaN."""
    if value != value:
        return "-"
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text


def label_text(label: Any) -> str:
    """Return a label as text. A combination of several variables is its parts joined by an ampersand."""
    return " & ".join(map(label_text, label)) if isinstance(label, tuple) else str(label)


def frame(columns: Mapping[str, Any], engine: Engine) -> Any:
    """Return columns as a data frame of the named library.

    Raises
    ------
    MissingDependencyError
        If that library is not installed.
    """
    check_choice(engine, ENGINES, "engine")
    if engine == "pyarrow":
        import pyarrow as pa

        return pa.table(dict(columns))
    try:
        if engine == "pandas":
            import pandas as pd

            return pd.DataFrame(columns)
        import polars as pl
    except ImportError:
        raise MissingDependencyError(
            f"data frames of this kind need {engine}.", INSTALL_LIBRARY(library=engine)
        ) from None
    return pl.DataFrame(columns)


def safe_header(name: str) -> str:
    """Return a column name that no spreadsheet reads as a formula.

    Examples
    --------
    >>> safe_header("=race"), plain_header("'=race"), safe_header("race")
    ("'=race", '=race', 'race')
    """
    return f"'{name}" if name.startswith(_FORMULA) else name


def plain_header(text: str) -> str:
    """Return the column name that `safe_header` wrote."""
    return text[1:] if text[:1] == "'" and text[1:].startswith(_FORMULA) else text
