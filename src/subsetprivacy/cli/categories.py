"""Options that list the categories: as words, in a list, in a file, or inferred from the data."""

import csv
from collections import Counter
from collections.abc import Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subsetprivacy._words import counted
from subsetprivacy.cli.files import name_of
from subsetprivacy.cli.options import Command, FilePath
from subsetprivacy.cli.shell_wording import sets
from subsetprivacy.cli.show import echo_warning

if TYPE_CHECKING:
    from subsetprivacy.frames.input_files import Input

MOST_INFERRED = 1 << 16

LISTED = click.option(
    "--categories",
    "listed",
    metavar="A,B,…",
    help='The categories, separated by commas. Put one that contains a comma in quotes, "B, C".',
)
FILE = click.option(
    "--file",
    "file",
    type=FilePath(exists=True, dir_okay=False, path_type=Path, stdin=".txt"),
    help="Read the categories from this file, one per line. - is standard input.",
)
INFER = click.option(
    "--infer-categories",
    "infer",
    is_flag=True,
    help="Read the list of labels from private data. A rare label can identify someone, so look at the list before "
    "you publish.",
)


def categories(command: Command) -> Command:
    """Pass a command its categories as `labels`, from whichever option gave them."""

    @wraps(command)
    def run(**given: Any) -> Any:
        settings = {
            name: given.pop(name) for name in ("labels", "listed", "file", "source", "column", "infer", "numeric")
        }
        return command(labels=_read(**settings), **given)

    table = FilePath(exists=True, path_type=Path, stdin=".csv")
    for add in (
        click.option("--numbers", "numeric", is_flag=True, help="The labels are numbers in the table, not text."),
        INFER,
        click.option("--column", metavar="NAME", help="The column that --infer-categories reads."),
        click.option("--from", "source", type=table, metavar="TABLE", help="The table that --infer-categories reads."),
        FILE,
        LISTED,
        click.argument("labels", nargs=-1),
    ):
        run = add(run)
    return sets(p="the number of categories")(run)


def _read(
    labels: tuple[str, ...],
    listed: str | None,
    file: Path | None,
    source: Path | None,
    column: str | None,
    infer: bool,
    numeric: bool,
) -> list[Any]:
    if sum([bool(labels), listed is not None, file is not None, source is not None]) != 1:
        raise click.UsageError("give the categories once: as LABELS, or with --categories, --file or --from TABLE")
    if source is not None:
        if column is None or not infer:
            raise click.UsageError(
                "--from needs --column NAME and --infer-categories, because the list of labels is read from private "
                "data; it is better to declare the categories"
            )
        from subsetprivacy.frames.input_files import open_input

        with open_input(source) as table:
            return infer_labels(table, [column])[column]
    if column is not None or infer:
        raise click.UsageError("--column and --infer-categories are for --from TABLE")
    words = declared(labels, listed, file)
    return [_number(word) for word in words] if numeric else words


def declared(labels: tuple[str, ...], listed: str | None, file: Path | None) -> list[str]:
    """Return the labels given as words, as a list, or as lines of a file, each once.

    Raises
    ------
    click.UsageError
        If one is given twice.
    """
    if listed is not None:
        words = split_words(listed, "--categories")
    else:
        words = list(_words(labels)) if file is None else _lines(file)
    (word, times), *_ = Counter(words).most_common(1)
    if times > 1:
        raise click.UsageError(f"every category must be given once; got {word!r} {times} times")
    return words


def split_words(text: str, option: str) -> list[str]:
    """Split text at commas and strip spaces; a word in double quotes may contain commas.

    Raises
    ------
    click.BadParameter
        If there is nothing between two commas, or a quote is not closed.
    """
    try:
        words = [word.strip() for word in next(csv.reader([text], skipinitialspace=True, strict=True), [""])]
    except csv.Error:
        raise click.BadParameter("must close every quote", param_hint=option) from None
    if not all(words):
        raise click.BadParameter("must have a label before and after every comma", param_hint=option)
    return words


def _words(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels as given; refuse a single one with commas, which is surely meant as several."""
    if len(labels) == 1 and "," in labels[0]:
        raise click.UsageError("LABELS must be separate words; got one that contains commas; write --categories A,B,…")
    _warn_of_blanks(labels, "")
    return labels


def _lines(file: Path) -> list[str]:
    from subsetprivacy.errors import DataFileError
    from subsetprivacy.frames.file_errors import file_error_from

    try:
        # Not splitlines, which also breaks at characters that a label may contain.
        lines = file.read_text(encoding="utf-8-sig").rstrip("\n").split("\n")
    except UnicodeDecodeError:
        raise DataFileError(f"a file of categories must be text in UTF-8; {file} is not.") from None
    except OSError as error:
        raise file_error_from(file, error) from None
    empty = [number for number, line in enumerate(lines, 1) if not line.strip()]
    if empty:
        raise DataFileError(
            f"a file of categories must have a label in every line; {file} has none in line {empty[0]}"
            f"{f' and {len(empty) - 1} more' if len(empty) > 1 else ''}."
        )
    _warn_of_blanks(lines, f", first in line {{}} of {file}")
    return lines


def _warn_of_blanks(labels: Sequence[str], where: str) -> None:
    padded = [number for number, label in enumerate(labels, 1) if label != label.strip()]
    if padded:
        many = counted(len(padded), "label begins or ends", "labels begin or end")
        echo_warning(f"{many} with a space{where.format(padded[0])}: only values with the same spaces match.")


def _number(word: str) -> int | float:
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    raise click.UsageError("--numbers is for labels that are numbers; got other labels")


def infer_labels(
    table: "Input", columns: Sequence[str], *, strip: bool = False, na: tuple[str, ...] = ()
) -> dict[str, list[Any]]:
    """Return the distinct labels of private columns, and warn; they are sorted, because their order is private too.

    Parameters
    ----------
    table, columns
        The table and its columns, read in one pass.
    strip, na
        As in `privatize_table`.
    """
    from subsetprivacy.errors import CategoryError
    from subsetprivacy.frames.cleaning import Cleaning

    cleaning = Cleaning(strip, na)
    distinct: dict[str, set[Any]] = {column: set() for column in columns}
    for unit in table.reader(columns).units():
        for batch in unit.batches():
            for column, labels in distinct.items():
                values = map(cleaning.label, batch.column(column).unique().to_pylist())
                labels.update(value for value in values if not cleaning.is_mark(value))
                if len(labels) > MOST_INFERRED:
                    raise CategoryError(
                        f"a column must have at most {MOST_INFERRED} distinct labels to infer categories from it; "
                        f"{name_of(table.path)}: column {column!r} has more."
                    )
    return {column: _sorted(labels, column) for column, labels in distinct.items()}


def _sorted(distinct: set[Any], column: str) -> list[Any]:
    labels = sorted((label for label in distinct if not _is_missing(label)), key=_rank)
    echo_warning(
        f"{len(labels)} categories were read from the private column {column}. A rare label reveals that someone "
        f"has it: look at the list, and merge or drop rare labels before you publish anything. The list is sorted. "
        f"Declare the categories yourself if they have another order."
    )
    return labels


def _rank(label: Any) -> tuple[Any, ...]:
    """Return the sort key of a label: numbers first, also those of a CSV file, which are text."""
    from subsetprivacy.subsets import number_of

    number = number_of(label)
    return (1, str(type(label)), label) if number is None else (0, number, str(label))


def _is_missing(label: Any) -> bool:
    return label is None or label == "" or label != label
