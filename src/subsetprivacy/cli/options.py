"""Options and arguments that several commands share, and how they are read."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from subsetprivacy._choices import Form, Missing, WeightsKind
from subsetprivacy._paths import is_inside, local_path, scheme_of
from subsetprivacy.cli.documents import read_design, read_document, remember_force
from subsetprivacy.cli.files import (
    FORMATS,
    STANDARD_OUTPUT,
    input_ending,
    name_of,
    remember_input_format,
    show_as,
    standard_input,
)
from subsetprivacy.cli.shell_wording import in_its_words, sets
from subsetprivacy.errors import DataFileError

if TYPE_CHECKING:
    from subsetprivacy.design import Design
    from subsetprivacy.frames.release import Release

Command = Callable[..., Any]

MISSING: tuple[Missing, ...] = get_args(Missing)
FORMS: tuple[Form, ...] = get_args(Form)


class FilePath(click.Path):
    """A path on this machine, or its file:// address.

    Parameters
    ----------
    stdin
        For input files: `-` is standard input, copied to a file with this ending.
    by_format
        Whether --input-format overrides the ending.
    **settings
        Those of `click.Path`.
    """

    def __init__(self, *, stdin: str | None = None, by_format: bool = False, **settings: Any) -> None:
        super().__init__(**{**settings, "allow_dash": stdin is not None or settings.get("allow_dash", False)})
        self._stdin = stdin
        self._by_format = by_format

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or fail with the problem of the address."""
        if value == "-" and self._stdin is not None and ctx is not None and not ctx.resilient_parsing:
            return standard_input(input_ending(ctx, self._stdin) if self._by_format else self._stdin, ctx)
        from subsetprivacy.messages.rendering import with_hint

        try:
            plain = value if scheme_of(value) is None else os.fspath(local_path(value, _called(param)))
        except DataFileError as error:
            self.fail(with_hint(*in_its_words(error.message, error.advice)), param, ctx)
        path = super().convert(plain, param, ctx)
        if self.exists and isinstance(path, Path) and value == plain:
            show_as(path.absolute(), str(path), ctx)  # tables are read by their absolute path
        return path


def _called(param: click.Parameter | None) -> str:
    """Return the name of an argument as messages use it."""
    return "path" if param is None or param.name is None else param.name


document = FilePath(exists=True, dir_okay=False, path_type=Path, stdin=".json")
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for other programs.")
level = click.option("--level", type=float, default=0.95, show_default=True, help="The confidence level.")
design = click.option("--design", "design", type=document, help="The design document, if exactly one column is named.")
form = click.option(
    "--form",
    type=click.Choice(FORMS),
    help="How a CSV file without a .design.json file writes subsets: as codes, or as labels joined by |.",
)
missing = click.option(
    "--missing",
    type=click.Choice(MISSING),
    default="error",
    show_default=True,
    help="How to treat an empty cell: as an error, or as the full set, which carries no information.",
)
_COLUMN = "A column of subsets. Write NAME=DESIGN to add its design document if the table does not include it."


def force(command: Command) -> Command:
    """Add the option that allows replacing a file."""
    option = click.option("--force", is_flag=True, help="Replace the file if it exists.")
    return sets(overwrite="--force")(option(command))


def column_option(help: str) -> Callable[[Command], Command]:
    """Return the option for columns and their designs."""
    option = click.option("--column", "columns", multiple=True, metavar="NAME[=DESIGN]", help=help)
    return lambda command: sets(column="--column", designs="--column")(option(command))


columns = column_option(f"{_COLUMN} Optional if there is only one.")
any_columns = column_option(f"{_COLUMN} [default: all]")


def input_format(formats: Sequence[str], default: str) -> Callable[[Command], Command]:
    """Return the option for the format of standard input."""
    return click.option(
        "--input-format",
        type=click.Choice(formats),
        callback=remember_input_format,
        expose_value=False,
        is_eager=True,  # before the argument that reads standard input
        help=f"The format of standard input, when - is given. [default: {default}]",
    )


def output_format(formats: Sequence[str]) -> Callable[[Command], Command]:
    """Return the option for the format of standard output."""
    return click.option(
        "--format",
        "format",
        type=click.Choice(formats),
        help=f"The format to write to standard output, with -o -. [default: {formats[0]}]",
    )


def table(command: Command) -> Command:
    """Add the argument TABLE, which may be standard input."""
    command = input_format(FORMATS, FORMATS[0])(command)
    return click.argument("table", type=FilePath(exists=True, path_type=Path, stdin=".csv", by_format=True))(command)


def output(help: str) -> Callable[[Command], Command]:
    """Return the option for the output file; without it the result is printed."""
    where = FilePath(dir_okay=False, allow_dash=True, path_type=Path)
    return _output(click.option("-o", "--output", type=where, help=help))


def document_output(help: str) -> Callable[[Command], Command]:
    """Return the options for the output file of a document, which --force replaces; see `save_document`."""
    replace = click.option(
        "--force",
        is_flag=True,
        expose_value=False,
        callback=remember_force,
        help="Replace the file if it exists and its contents differ.",
    )
    return lambda command: output(help)(replace(command))


def data_output(help: str) -> Callable[[Command], Command]:
    """Return the required option for the output file of data."""
    where = FilePath(allow_dash=True, path_type=Path)
    return _output(click.option("-o", "--output", type=where, required=True, help=help))


def _output(option: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Map the option to `path`, its name in the library's writers."""
    return lambda command: sets(path="--output")(option(command))


def weighted(command: Command) -> Command:
    """Add the options for weights, a column that was published unchanged."""
    kind = click.option(
        "--weights-kind",
        type=click.Choice(["sampling", "frequency"]),
        help="Whether the weights are sampling weights or frequencies.",
    )
    column = click.option("--weights", metavar="COLUMN", help="The column of weights. Needs --weights-kind.")
    return column(kind(command))


def grouped(command: Command) -> Command:
    """Add the options for groups and weights, columns that were published unchanged."""
    by = click.option(
        "--by",
        multiple=True,
        metavar="COLUMN",
        help="Repeat the analysis for each group in this column. May be repeated.",
    )
    return by(weighted(command))


def groups(by: Sequence[str], names: Sequence[str]) -> Any:
    """Return groups as the library takes them: None, a column name, or a list of names.

    Raises
    ------
    click.UsageError
        If a group is a counted column, or is named twice.
    """
    if set(by) & set(names) or len(set(by)) < len(by):
        raise click.UsageError("--by must name columns other than the counted ones, each once")
    return None if not by else by[0] if len(by) == 1 else list(by)


def check_weights(weights: str | None, kind: WeightsKind | None) -> None:
    """Raise unless weights and their kind are both given, or neither."""
    if (weights is None) != (kind is None):
        raise click.UsageError(
            "--weights and --weights-kind go together, because frequencies and sampling weights are treated differently"
        )


def numbers(text: str, option: str) -> list[float]:
    """Read numbers joined by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter("must be numbers joined by commas, like 0.2,0.3,0.5", param_hint=option) from None


def read_columns(given: Sequence[str], design: Path | None = None) -> "dict[str, Design | None]":
    """Return the design of each column of NAME[=DESIGN], or None if the option does not give it.

    Raises
    ------
    click.UsageError
        If a column is named twice, or `design` is given and it is not clear for which column.
    """
    named: dict[str, Any] = {}
    for text in given:
        name, path = _split(text)
        if name in named:
            raise click.UsageError(f"--column names {name} twice")
        named[name] = path
    if design is not None:
        if len(named) != 1 or None not in named.values():
            raise click.UsageError("--design is for one column; with several, write --column NAME=DESIGN for each")
        named = dict.fromkeys(named, design)
    return {name: None if path is None else read_design(path, name) for name, path in named.items()}


def column_names(given: Sequence[str]) -> tuple[str, ...]:
    """Return the names in NAME[=DESIGN]."""
    return tuple(_split(text)[0] for text in given)


def _split(text: str) -> tuple[str, Path | None]:
    """Split NAME=DESIGN at the last equals sign; a name may contain one if no document follows it."""
    name, equals, path = text.rpartition("=")
    if not equals or not (path == "-" or path.endswith(".json") or Path(path).is_file()):
        return text, None
    if not name:
        raise click.UsageError("--column must be NAME or NAME=DESIGN; got no name")
    if path == "-":
        return name, Path(path)
    place = local_path(path, "columns")
    if not place.is_file():
        raise click.UsageError(f"--column {name}: the design document {path} does not exist")
    return name, place


def open_release(
    table: Path, columns: Sequence[str], design: Path | None, form: Form | None, *, every: bool = False
) -> "tuple[Release, tuple[str, ...]]":
    """Open a table of subsets, and return it with the selected columns.

    Parameters
    ----------
    table
        The file or folder.
    columns, design
        The values of the options.
    form
        How a CSV file without a design document writes subsets.
    every
        Whether to select all columns if none is named; otherwise there must be only one.
    """
    return open_with(table, read_designs(columns, design), column_names(columns), form, every=every)


def read_designs(columns: Sequence[str], design: Path | None) -> "Design | dict[str, Design] | None":
    """Return the designs from the options, as `read_release` takes them."""
    if design is not None and not columns:
        return read_document(design)
    return {name: made for name, made in read_columns(columns, design).items() if made} or None


def open_with(
    table: Path, designs: Any, columns: Sequence[str], form: Form | None, *, every: bool = False
) -> "tuple[Release, tuple[str, ...]]":
    """Open a table of subsets with designs that were read already; see `open_release`."""
    from subsetprivacy.frames.reading import read_release

    release = read_release(table, designs, form=form)
    names = tuple(columns) or tuple(release.names)
    if not columns and len(names) != 1 and not every:
        raise click.UsageError(f"choose a --column of {name_of(table)}: {', '.join(names)}")
    check_columns(release, names)
    return release, names


def check_columns(release: "Release", names: Sequence[str]) -> None:
    """Raise if a column of subsets is named that the table does not have."""
    from subsetprivacy.engines.headers import closest_names
    from subsetprivacy.errors import ArgumentError
    from subsetprivacy.messages.for_files import DESIGN_OF_COLUMN, GROUPS_OF_COLUMN, TAKE_A_SIMILAR_COLUMN

    for name in names:
        if name not in release.names:
            advice = DESIGN_OF_COLUMN()
            if name in release.file.names():
                advice = GROUPS_OF_COLUMN(name=name)
            elif close := closest_names(name, release.names):
                advice = TAKE_A_SIMILAR_COLUMN(names=" or ".join(map(repr, close)))
            raise ArgumentError(
                f"{release.path} must have a column of subsets named {name!r}; it has {', '.join(release.names)}.",
                advice,
            )


def check_one_result(output: Path | None, format: str | None, as_json: bool) -> None:
    """Raise if two results would go to standard output, or a format is given and none does."""
    if output == STANDARD_OUTPUT and as_json:
        raise click.UsageError("--json and -o - both write to standard output; give only one of them")
    if format is not None and output is None:
        raise click.UsageError("--format is for -o -; without -o the result is printed as text, or as JSON with --json")


def check_no_overlap(table: Path, output: Path | None) -> None:
    """Raise if the output would overwrite the input table or become part of it."""
    if output is None:
        return
    if output.exists() and output.samefile(table):
        raise click.UsageError("--output must not be TABLE, which would be overwritten")
    if is_inside(output, table):
        raise click.UsageError(
            "--output must be outside the folder TABLE, because the next run would read it as part of the table"
        )
