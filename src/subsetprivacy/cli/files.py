"""Files that commands read and write: `-` for standard input and output, and what the end of a name says."""

import os
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
    """Return which of some endings the name of an output has; of standard output that of its format.

    Parameters
    ----------
    output
        The name, or ``-``.
    endings
        Those that there are, the default for standard output first.
    format
        What was said of it, without the dot.
    bare
        Whether a name without any ending will do, which promises nothing.

    Raises
    ------
    click.UsageError
        If it has none of them, with the list; or if the format is another one.
    """
    if output == STANDARD_OUTPUT or (bare and not output.suffix):
        return endings[0] if format is None else f".{format}"
    name = output.name.lower()
    found = max((ending for ending in endings if name.endswith(ending)), key=len, default=None)
    if found is None:
        raise click.UsageError(f"--output must end in {_listed(endings)}; got {str(output)!r}")
    if format is not None and found != f".{format}":
        raise click.UsageError(f"--format {format} does not fit --output {output}; leave it out, the name says it")
    return found


def _listed(endings: Sequence[str]) -> str:
    return endings[0] if len(endings) == 1 else f"{', '.join(endings[:-1])} or {endings[-1]}"


def _show_as_dash(path: Path, ctx: click.Context | None = None) -> None:
    """Let messages call a temporary file `-`, as its user does."""
    running = ctx or click.get_current_context(silent=True)
    if running is not None:
        running.meta.setdefault(_SHOWN, []).append(str(path))


def with_shown_names(text: str) -> str:
    """Return a message in which temporary files are called `-`, as on the command line.

    Notes
    -----
    The one thing that is replaced in a text. All packages that read files put paths into their messages, and pass
    them on between processes, so the path itself is what they know a file by. It is that of a folder made for this
    run, under a random name, which is part of no sentence.
    """
    running = click.get_current_context(silent=True)
    for path in () if running is None else running.meta.get(_SHOWN, ()):
        text = text.replace(path, "-")
    return text


# Standard output ------------------------------------------------------------------------------


@contextmanager
def target(output: Path, ending: str) -> Iterator[Path]:
    """Give the file to write: the output itself, or for `-` one whose content is then printed.

    Raises
    ------
    click.UsageError
        If bytes that are no text would go to a terminal.
    """
    if output != STANDARD_OUTPUT:
        yield output
        return
    if ending not in _TEXT and sys.stdout.isatty():
        raise click.UsageError(f"--output - would write {ending[1:]} to the terminal; send it to a file or a program")
    with TemporaryDirectory(prefix="subsetprivacy-") as folder:
        path = Path(folder) / f"output{ending}"
        _show_as_dash(path)
        yield path
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)


# Standard input -------------------------------------------------------------------------------


def standard_input(ending: str, ctx: click.Context | None = None) -> Path:
    """Return a file that holds what comes on standard input; commands read a file more than once.

    Parameters
    ----------
    ending
        What the name of the file is to end in.
    ctx
        The running command.

    Raises
    ------
    click.UsageError
        If it was read before.

    Notes
    -----
    The file has no name where the system allows that, so that nothing stays
    of people's values if the process is killed. A link leads to it.
    """
    running = ctx or click.get_current_context()
    if _SPOOLED in running.meta:
        raise click.UsageError("- can be given once: standard input is read only once")
    stack = ExitStack()
    running.find_root().call_on_close(stack.close)  # not that of the command, which may turn out to be wrong
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="subsetprivacy-")))
    held = stack.enter_context(TemporaryFile())  # noqa: SIM115
    path = folder / f"standard-input{ending}"
    nameless = Path(f"/proc/{os.getpid()}/fd/{held.fileno()}")
    if nameless.exists():
        shutil.copyfileobj(sys.stdin.buffer, held)
        held.flush()
        path.symlink_to(nameless)
    else:
        with path.open("xb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
    running.meta[_SPOOLED] = path
    _show_as_dash(path, running)
    return path


def is_standard_input(path: Path) -> bool:
    """Tell whether a file holds what came on standard input."""
    running = click.get_current_context(silent=True)
    return running is not None and running.meta.get(_SPOOLED) == path


def name_of(path: Path) -> str:
    """Return what a file is called in what is printed: `-` for standard input."""
    return "-" if is_standard_input(path) else str(path)


def input_ending(ctx: click.Context, default: str) -> str:
    """Return the ending that --input-format says, or the default."""
    said = ctx.meta.get(_INPUT_FORMAT)
    return default if said is None else f".{said}"


def remember_input_format(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    """Keep what --input-format says for the argument that reads standard input."""
    ctx.meta[_INPUT_FORMAT] = value
