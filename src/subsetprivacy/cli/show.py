"""Print results to the terminal or files, and messages to standard error."""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any

import click

from subsetprivacy._words import group_text
from subsetprivacy.cli.files import STANDARD_OUTPUT
from subsetprivacy.cli.shell_wording import in_its_words, wants_json

if TYPE_CHECKING:
    from subsetprivacy.messages import Note
    from subsetprivacy.tables import Table

NARROWEST = 60
NARROWEST_CELLS = 16
_INDENT = 2  # of rows that may be marked
_QUIET = "subsetprivacy.quiet"
_NOTES = "subsetprivacy.notes"

# Results --------------------------------------------------------------------------------------


def echo_json(value: Any) -> None:
    """Print plain data as JSON; infinities and NaN become null, and advice is worded for the command."""
    click.echo(json_text(value))


def json_text(value: Any) -> str:
    """Return plain data as JSON text; infinities and NaN become null, and advice is worded for the command."""
    return json.dumps(_plain(value), ensure_ascii=False, indent=1, allow_nan=False)


def draw_to_files(who: str) -> None:
    """Draw figures to files without a screen; `who` is named if matplotlib is missing."""
    from subsetprivacy.draw import require_matplotlib

    require_matplotlib(who)
    import matplotlib

    matplotlib.use("Agg")


def line_width() -> int:
    """Return how many characters fit in a line of the terminal."""
    return max(get_terminal_size().columns, NARROWEST)


def echo_table(table: "Table") -> None:
    """Print a table that fits the terminal, with notes and column names wrapped."""
    from attrs import evolve

    width = line_width()
    notes = tuple(map(_note_text, table.notes))
    noted = evolve(table, notes=tuple(fill(note, width, break_on_hyphens=False) for note in notes))
    if running := click.get_current_context(silent=True):
        running.meta.setdefault(_NOTES, set()).update(notes)
    if sys.stdout.isatty():
        titled = evolve(noted, title=fill(table.title, width, break_on_hyphens=False))
        click.echo(_narrowed(titled, width))
    else:  # a file or pipe has no width, so the title, every row and the names stay on one line
        click.echo(str(noted))


def _note_text(note: "Note | str") -> str:
    """Return a note with its advice for the running command."""
    from subsetprivacy.messages.rendering import with_hint

    return note if isinstance(note, str) else with_hint(*in_its_words(note.text, note.advice))


def echo_groups(tables: "Sequence[tuple[Any, Table]]", by: Sequence[str]) -> None:
    """Print the table of each group below its name; without `by`, the only table."""
    for number, (group, table) in enumerate(tables):
        if by:
            click.echo(f"{chr(10) if number else ''}{' and '.join(by)}: {group_text(group)}")
        echo_table(table)


def _narrowed(table: "Table", width: int) -> str:
    """Return the text of a table; if it is wider than `width`, with column names wrapped, and then text cells."""
    text = str(table)
    rule = next((line for line in text.splitlines() if line and set(line) == {"-"}), "")
    if len(rule) <= width:
        return text
    cells = [max((len(row[k]) for row in table.rows), default=0) for k in range(len(table.columns))]
    heads = [_wrapped(name, max(wide, _longest_word(name))) for name, wide in zip(table.columns, cells, strict=True)]
    widths = [max(wide, *map(len, head)) for wide, head in zip(cells, heads, strict=True)]
    for k in sorted(range(table.text_columns), key=lambda k: -widths[k]):
        excess = sum(widths) + 2 * (len(widths) - 1) - width
        least = max(map(_longest_word, (table.columns[k], *(row[k] for row in table.rows))))
        widths[k] = min(widths[k], max(widths[k] - max(excess, 0), least + _INDENT, NARROWEST_CELLS))

    def row_lines(row: Sequence[list[str]]) -> list[str]:
        padded = [cell + [""] * (max(map(len, row)) - len(cell)) for cell in row]
        return [_aligned(line, widths, table.text_columns) for line in zip(*padded, strict=True)]

    high = max(map(len, heads))
    head = row_lines([[""] * (high - len(head)) + head for head in heads])  # the last line is above the rule
    body = [line for row in table.rows for line in row_lines(list(map(_wrapped, row, widths)))]
    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    return "\n".join([table.title, rule, *head, rule, *body, rule, *map(str, table.notes)])


def _aligned(cells: Sequence[str], widths: Sequence[int], text_columns: int) -> str:
    """Return a line of cells: text to the left, numbers to the right."""
    pairs = enumerate(zip(cells, widths, strict=True))
    return "  ".join(cell.ljust(wide) if k < text_columns else cell.rjust(wide) for k, (cell, wide) in pairs).rstrip()


def _wrapped(text: str, width: int) -> list[str]:
    """Return a cell or name in lines of at most `width` characters; a long word stays whole."""
    if len(text) <= width:
        return [text]
    indent = " " * (len(text) - len(text.lstrip(" *")))  # the mark of the recommended row
    return wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as CSV text; no cell begins like a formula."""
    from subsetprivacy.tables import csv_text as text  # which waits for NumPy

    return text(columns, rows)


def write_text(text: str, output: Path, *, force: bool = False) -> None:
    """Write a complete file or none; "-" is standard output. Only `force` replaces an existing file."""
    if output == STANDARD_OUTPUT:
        click.echo(text, nl=not text.endswith("\n"))
        return
    from subsetprivacy.frames.compression import open_to_write
    from subsetprivacy.frames.files import replacing

    with replacing(output, overwrite=force) as draft, open_to_write(draft, output.name) as file:
        file.write(text.encode())


def _plain(value: Any) -> Any:
    from subsetprivacy.messages import Note

    if isinstance(value, Note):
        return _note_facts(value)
    if isinstance(value, dict):
        return {key: _notes(inner) if key == "notes" else _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    if value is None or isinstance(value, (str, int, float)):
        return value
    return _plain(value.item()) if hasattr(value, "item") else str(value)  # numbers of NumPy; dates and other groups


def _notes(notes: Any) -> Any:
    """Return the notes of a result, with advice worded for the command."""
    from subsetprivacy.messages import Note

    if not isinstance(notes, (list, tuple)):  # a variable of that name
        return _plain(notes)
    return [_note_facts(Note.from_dict(note)) if isinstance(note, dict) else _plain(note) for note in notes]


def _note_facts(note: "Note") -> dict[str, Any]:
    text, advice = in_its_words(note.text, note.advice)
    return {"kind": note.kind.value, "text": text, "advice": advice}


# Messages -------------------------------------------------------------------------------------


def set_quiet(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Store that --quiet was given."""
    ctx.meta[_QUIET] = ctx.meta.get(_QUIET, False) or value


def is_quiet() -> bool:
    """Return whether to print only results, warnings and errors."""
    running = click.get_current_context(silent=True)
    return running is not None and bool(running.meta.get(_QUIET, False))


def say(text: str, output: Path | None = None, *, err: bool = False) -> None:
    """Print a message that is no result, unless --quiet was given.

    Parameters
    ----------
    text
        The message.
    output
        Where the result went. If it went to standard output, the message goes to standard error.
    err
        Whether to use standard error for another reason.
    """
    if is_quiet():
        return
    if wants_json():
        echo_line("Message", text)
    else:
        click.echo(text, err=err or output == STANDARD_OUTPUT)


def echo_warning(warning: Warning | str) -> None:
    """Print a warning on standard error, in one line; text becomes a `SubsetPrivacyWarning`."""
    if isinstance(warning, str):
        from subsetprivacy.errors import SubsetPrivacyWarning

        warning = SubsetPrivacyWarning(warning)
    _echo("Warning", warning)


def is_noted(warning: Warning) -> bool:
    """Return whether a printed note says the same as a warning."""
    from subsetprivacy.messages.rendering import with_hint

    running = click.get_current_context(silent=True)
    text = with_hint(*in_its_words(_text_of(warning), getattr(warning, "advice", None)))
    return running is not None and text in running.meta.get(_NOTES, ())


def echo_error(error: Exception, place: str | None = None) -> None:
    """Print an error on standard error, in one line.

    Parameters
    ----------
    error
        The error. Errors of the package are printed with their advice.
    place
        The file with the error, if its message does not name it.
    """
    _echo("Error", error, "" if place is None else f"{place}: ")


def echo_usage_error(error: click.ClickException) -> None:
    """Print a usage error as JSON."""
    kind = "UsageError" if isinstance(error, click.UsageError) else type(error).__name__
    echo_line(kind, error.format_message())


def _echo(label: str, error: Exception, place: str = "") -> None:
    from subsetprivacy.messages.rendering import with_hint

    message, advice = in_its_words(f"{place}{_text_of(error)}", getattr(error, "advice", None))
    if wants_json():
        echo_line(type(error).__name__, message, advice)
    else:
        click.echo(f"{label}: {with_hint(message, advice)}", err=True)


def _text_of(error: Exception) -> str:
    """Return the message of an error; for one of the system, the file and the problem without its number."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(getattr(error, "message", error))


def echo_line(kind: str, message: str, advice: str | None = None) -> None:
    """Print a message as a line of JSON."""
    facts = {"kind": kind, "message": " ".join(message.split()), "advice": advice}
    click.echo(json.dumps(facts, ensure_ascii=False), err=True)
