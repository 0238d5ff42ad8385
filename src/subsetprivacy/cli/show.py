"""How results reach the terminal and files."""

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any

import click

from subsetprivacy.cli.files import STANDARD_OUTPUT

if TYPE_CHECKING:
    from subsetprivacy.tables import Table

NARROWEST = 60
_QUIET = "subsetprivacy.quiet"

_WORDS = {  # what the library says to do, and how it is done here
    "`path` must be a new file": "--output must be a new file",
    "`reveals` must be True": "--reveals must be given",
    "; got False.": "; it is not.",
    "in the argument `designs`": "on the command line",
    "pass the product itself instead of a dict": "leave --column out",
    "sp.covered(sp.product({...}), floor)": "subsetprivacy design product, then design covered",
    "sp.covered(sp.product(...), floor)": "subsetprivacy design product, then design covered",
    "sp.count(data, by=group) makes them": "--by COLUMN makes them of a column that was published as it is",
    "sp.crosstab(a, b)": "name two columns",
    "if_exists='same'": "--if-exists same",
    "overwrite=True": "--force",
    "missing='full'": "--missing full",
    "strip=True": "--strip",
    "na= names the mark": "--na MARK names it",
    "pass designs={column: design}": "say --column NAME=DESIGN",
    "interval(method='auto')": "--interval auto",
    "interval(method='adjusted', categories=[...]), for some of them": "--interval adjusted, which takes longer",
    "interval(method='profile')": "--interval profile",
    "interval(method='wald')": "--interval wald",
    "to_frame() has all": "-o FILE.csv has all",
}


_DESIGNS = "uniform|partition|hadamard|fixed_size|warner|small|join|product|covered"


def in_words_of_the_shell(text: str, more: Mapping[str, str] | None = None) -> str:
    """Return a sentence of the library with options, and commands that make designs, in the place of Python."""
    for python, shell in {**_WORDS, **(more or {})}.items():
        text = text.replace(python, shell)
    return re.sub(rf"\bsp\.({_DESIGNS})\([^()]*\)", lambda m: f"subsetprivacy design {m[1].replace('_', '-')}", text)


def echo_json(value: Any) -> None:
    """Print plain data as JSON; numbers that JSON has no word for become null."""
    click.echo(json_text(value))


def json_text(value: Any) -> str:
    """Return plain data as JSON text; numbers that JSON has no word for become null."""
    return json.dumps(_plain(value), ensure_ascii=False, indent=1, allow_nan=False)


def draw_to_files(who: str) -> None:
    """Let figures go to files, since a command may run where there is no screen; `who` needs matplotlib."""
    from subsetprivacy.draw import require_matplotlib

    require_matplotlib(who)
    import matplotlib

    matplotlib.use("Agg")


def echo_table(table: "Table") -> None:
    """Print a table, the sentences below it as wide as the terminal, column names on several lines if need be."""
    from attrs import evolve

    width = max(get_terminal_size().columns, NARROWEST)
    noted = evolve(table, notes=tuple(fill(in_words_of_the_shell(str(note)), width) for note in table.notes))
    # A file or a pipe has no width: whoever reads it finds every row, and the names, on one line.
    click.echo(_narrowed(noted, width) if sys.stdout.isatty() else str(noted))


def echo_groups(tables: "Sequence[tuple[Any, Table]]", by: Sequence[str]) -> None:
    """Print the table of each group below its name, a blank line between two; the one there is without `by`."""
    for number, (group, table) in enumerate(tables):
        if by:
            click.echo(f"{chr(10) if number else ''}{' and '.join(by)}: {group_text(group)}")
        echo_table(table)


def group_text(group: Any) -> str:
    """Return the name of a group for people."""
    if isinstance(group, tuple):
        return ", ".join(map(group_text, group))
    return "(missing)" if group is None else str(group)


def _narrowed(table: "Table", width: int) -> str:
    """Return the text of a table, the names of its columns over several lines where it is wider than that."""
    text = str(table)
    lines = text.splitlines()
    rule = next((line for line in lines if line and set(line) == {"-"}), "")
    if len(rule) <= width:
        return text
    cells = [max((len(row[k]) for row in table.rows), default=0) for k in range(len(table.columns))]
    heads = [
        wrap(name, max(wide, *map(len, name.split() or [""])), break_long_words=False)
        for name, wide in zip(table.columns, cells, strict=True)
    ]
    high = max(map(len, heads))
    heads = [[""] * (high - len(head)) + head for head in heads]  # the last line stands on the rule
    widths = [max(wide, *map(len, head)) for wide, head in zip(cells, heads, strict=True)]

    def line(row: Sequence[str]) -> str:
        first, *rest = zip(row, widths, strict=True)
        return "  ".join([first[0].ljust(first[1]), *(cell.rjust(wide) for cell, wide in rest)]).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    head = [line([name[k] for name in heads]) for k in range(high)]
    return "\n".join([table.title, rule, *head, rule, *map(line, table.rows), rule, *table.notes])


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as CSV text; no cell begins like a formula."""
    from subsetprivacy.tables import csv_text as text  # which waits for NumPy

    return text(columns, rows)


def write_text(text: str, output: Path, *, force: bool = False) -> None:
    """Write a whole file or none; the path "-" is standard output. A file that exists is replaced only by `force`."""
    if output == STANDARD_OUTPUT:
        click.echo(text, nl=not text.endswith("\n"))
        return
    from subsetprivacy.frames.compression import open_to_write
    from subsetprivacy.frames.files import replacing

    with replacing(output, overwrite=force) as draft, open_to_write(draft, output.name) as file:
        file.write(text.encode())


def set_quiet(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Remember that --quiet was given, for all that the command says."""
    ctx.meta[_QUIET] = ctx.meta.get(_QUIET, False) or value


def is_quiet() -> bool:
    """Tell whether only results, warnings and errors are to be printed."""
    running = click.get_current_context(silent=True)
    return running is not None and bool(running.meta.get(_QUIET, False))


def say(text: str, output: Path | None = None, *, err: bool = False) -> None:
    """Print a message that is no result, unless --quiet was given.

    Parameters
    ----------
    text
        The message.
    output
        Where the result went: a message must not get into it if that is standard output.
    err
        Whether standard output is taken for another reason.
    """
    if not is_quiet():
        click.echo(text, err=err or output == STANDARD_OUTPUT)


def echo_warning(text: str) -> None:
    """Print a warning on standard error, in one line."""
    click.echo(f"Warning: {' '.join(text.split())}", err=True)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    if value is None or isinstance(value, (str, int, float)):
        return value
    return _plain(value.item()) if hasattr(value, "item") else str(value)  # numbers of NumPy; dates and other groups
