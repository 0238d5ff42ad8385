"""Files that commands read and write: file endings, and `-` for standard input and output."""

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

import click

STANDARD_OUTPUT = Path("-")
TABLES = (".csv", ".csv.gz", ".csv.zst", ".parquet", ".arrow")
FORMATS = tuple(ending[1:] for ending in TABLES)
_TEXT = (".csv", ".json", ".html", ".svg", ".toml", ".yaml")
_SPOOLED = "subsetprivacy.standard_input"
_SHOWN = "subsetprivacy.shown_names"
_INPUT_FORMAT = "subsetprivacy.input_format"


# Names ----------------------------------------------------------------------------------------


def ending_of(output: Path, endings: Sequence[str], format: str | None = None, *, bare: bool = False) -> str:
    """Return the ending of an output's name; for standard output, the ending of its format.

    Parameters
    ----------
    output
        The name, or ``-``.
    endings
        The possible endings; the first is the default for standard output.
    format
        The value of --format, without a dot.
    bare
        Whether a name without an ending is allowed.

    Raises
    ------
    click.UsageError
        If it has none of the endings, which are listed, or if --format contradicts it.
    """
    if output == STANDARD_OUTPUT or (bare and not output.suffix):
        return endings[0] if format is None else f".{format}"
    name = output.name.lower()
    matched = max((ending for ending in endings if name.endswith(ending)), key=len, default=None)
    if matched is None:
        raise click.UsageError(f"--output must end in {_listed(endings)}; got {str(output)!r}")
    if format is not None and matched != f".{format}":
        raise click.UsageError(
            f"--format {format} does not fit --output {output}; leave --format out, because the "
            f"file name sets the format"
        )
    return matched


def _listed(endings: Sequence[str]) -> str:
    return endings[0] if len(endings) == 1 else f"{', '.join(endings[:-1])} or {endings[-1]}"


def show_as(path: Path, name: str, ctx: click.Context | None = None) -> None:
    """Show a path as `name` in messages, as the user wrote it."""
    running = ctx or click.get_current_context(silent=True)
    if running is not None and str(path) != name:
        running.meta.setdefault(_SHOWN, {})[str(path)] = name


def with_shown_names(text: str) -> str:
    """Return a message with paths as on the command line: relative ones, and `-` for temporary files.

    Notes
    -----
    This is the only replacement in a message. All packages put paths into their messages and pass them between
    processes, so they know a file only by its path. The replaced paths are absolute, and occur in no sentence
    otherwise.
    """
    running = click.get_current_context(silent=True)
    for path, name in ({} if running is None else running.meta.get(_SHOWN, {})).items():
        text = name.join(re.split(rf"(?<![\w/.-]){re.escape(path)}", text))
    return text


# Standard output ------------------------------------------------------------------------------


@contextmanager
def target(output: Path, ending: str) -> Iterator[Path]:
    """Yield the file to write: the output, or for `-` a temporary file that is then printed.

    Raises
    ------
    click.UsageError
        If binary data would go to a terminal.
    """
    if output != STANDARD_OUTPUT:
        yield output
        return
    if ending not in _TEXT and sys.stdout.isatty():
        raise click.UsageError(f"--output - would write {ending[1:]} to the terminal; send it to a file or a program")
    with TemporaryDirectory(prefix="subsetprivacy-") as folder:
        path = Path(folder) / f"output{ending}"
        show_as(path, "-")
        yield path
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)


# Standard input -------------------------------------------------------------------------------


def standard_input(ending: str, ctx: click.Context | None = None) -> Path:
    """Copy standard input to a file and return it, because commands read a file more than once.

    Parameters
    ----------
    ending
        The ending of the file name.
    ctx
        The running command.

    Raises
    ------
    click.UsageError
        If standard input was read before.

    Notes
    -----
    Where the system allows it, the file has no name and is reached by a link, so no values remain if the process is
    killed.
    """
    running = ctx or click.get_current_context()
    if _SPOOLED in running.meta:
        raise click.UsageError("- can be given only once, because standard input is read once")
    stack = ExitStack()
    running.find_root().call_on_close(stack.close)  # not the context of the command, which may turn out to be wrong
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="subsetprivacy-")))
    spooled = stack.enter_context(TemporaryFile())  # noqa: SIM115
    path = folder / f"standard-input{ending}"
    nameless = Path(f"/proc/{os.getpid()}/fd/{spooled.fileno()}")
    if nameless.exists():
        shutil.copyfileobj(sys.stdin.buffer, spooled)
        spooled.flush()
        path.symlink_to(nameless)
    else:
        with path.open("xb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
    running.meta[_SPOOLED] = path
    show_as(path, "-", running)
    return path


def is_standard_input(path: Path) -> bool:
    """Return whether a file is the copy of standard input."""
    running = click.get_current_context(silent=True)
    return running is not None and running.meta.get(_SPOOLED) == path


def name_of(path: Path) -> str:
    """Return the name to print for a file: `-` for standard input."""
    return "-" if is_standard_input(path) else str(path)


def input_ending(ctx: click.Context, default: str) -> str:
    """Return the ending set by --input-format, or the default."""
    format = ctx.meta.get(_INPUT_FORMAT)
    return default if format is None else f".{format}"


def remember_input_format(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    """Store --input-format for the argument that reads standard input."""
    ctx.meta[_INPUT_FORMAT] = value
