"""The argument [NAME=]TABLE: several tables, each a named sample."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from subsetprivacy.cli.files import FORMATS, TABLES, is_standard_input
from subsetprivacy.cli.options import Command, FilePath, input_format


class NamedSample(NamedTuple):
    """A table and its name."""

    name: str
    table: Path


class NamedTable(FilePath):
    """A table, written FILE or NAME=FILE; by default it is named after the file, without the ending."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the table with its name."""
        if isinstance(value, NamedSample):
            return value
        name, equals, path = str(value).partition("=")
        if not equals or "://" in name or Path(value).exists():
            table = super().convert(value, param, ctx)
            return NamedSample(_stem(table), table)
        if not name.strip():
            self.fail("must be FILE or NAME=FILE; got no name", param, ctx)
        return NamedSample(name.strip(), super().convert(path, param, ctx))


def _stem(table: Path) -> str:
    """Return the default name of a table: its file name without the ending."""
    if is_standard_input(table):
        return "-"
    ending = max((each for each in TABLES if table.name.lower().endswith(each)), key=len, default="")
    return table.name.removesuffix(table.name[len(table.name) - len(ending) :]) or table.name


def is_bare(table: Path) -> bool:
    """Return whether a table is a CSV file without a design document."""
    from subsetprivacy.frames.files import sidecar_of

    return ".csv" in table.name.lower() and not sidecar_of(table).exists()


def tables(command: Command) -> Command:
    """Add the arguments TABLE, one of which may be standard input."""
    kind = NamedTable(exists=True, path_type=Path, stdin=".csv", by_format=True)
    argument = click.argument("tables", nargs=-1, required=True, type=kind, metavar="[NAME=]TABLE...")
    return argument(input_format(FORMATS, FORMATS[0])(command))


def check_different(samples: Sequence[NamedSample]) -> None:
    """Raise if two samples have the same name or are the same file.

    Raises
    ------
    click.UsageError
        With advice on what to write instead.
    """
    seen: list[NamedSample] = []
    for sample in samples:
        for other in seen:
            if sample.table.samefile(other.table):
                both = f"{other.name} and {sample.name}"
                raise click.UsageError(f"{both} are the same file; samples must be of different people")
            if sample.name == other.name:
                raise click.UsageError(f"two samples are called {sample.name}; give them names, NAME={sample.table}")
        seen.append(sample)
