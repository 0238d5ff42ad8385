"""How results reach the terminal."""

import json
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from subsetprivacy.tables import Table


def echo_json(value: Any) -> None:
    """Print plain data as JSON; numbers that JSON has no word for become null."""
    click.echo(json.dumps(_plain(value), ensure_ascii=False, indent=1, allow_nan=False))


def draw_to_files(who: str) -> None:
    """Let figures go to files, since a command may run where there is no screen; `who` needs matplotlib."""
    from subsetprivacy.draw import require_matplotlib

    require_matplotlib(who)
    import matplotlib

    matplotlib.use("Agg")


def echo_table(table: "Table") -> None:
    """Print a table, the sentences below it as wide as the terminal."""
    from attrs import evolve

    width = max(get_terminal_size().columns, 60)
    click.echo(str(evolve(table, notes=tuple(fill(note, width) for note in table.notes))))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value
