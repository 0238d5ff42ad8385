"""Read design documents from any file that contains one, and write them with a summary."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subsetprivacy.cli.files import ending_of, standard_input
from subsetprivacy.cli.show import say

if TYPE_CHECKING:
    from subsetprivacy.design import Design

MOST_LABELS = 12
_FORCE = "subsetprivacy.force"


def read_design(path: str | Path, column: str | None = None) -> "Design":
    """Read a design from its document, or from the document of a table with several columns.

    Parameters
    ----------
    path
        The document.
    column
        The column of the table. Optional if it has only one.

    Raises
    ------
    DesignDocumentError
        If it is no such document, or has no such column. The message names the file.
    DataFileError
        If it cannot be read.
    """
    from subsetprivacy.errors import DesignDocumentError

    designs = read_document(path)
    if not isinstance(designs, dict):
        return designs
    if column is None and len(designs) == 1:
        return next(iter(designs.values()))
    if column is None or column not in designs:
        wanted = "one column" if column is None else f"column {column!r}"
        raise DesignDocumentError(
            f"{path}: the document of a table must tell the design of {wanted}; it has those of {', '.join(designs)}."
        )
    return designs[column]


def read_document(path: str | Path) -> "Design | dict[str, Design]":
    """Read a design, or the designs by column if it is the document of a table."""
    from subsetprivacy.design import design_from_json
    from subsetprivacy.errors import DesignDocumentError
    from subsetprivacy.frames.file_errors import file_error_from
    from subsetprivacy.frames.metadata import metadata_from_json

    if str(path) == "-":
        path = standard_input(".json")
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise file_error_from(path, error) from None
    if _is_of_a_table(text):
        return metadata_from_json(text, str(path)).designs
    try:
        return design_from_json(text)
    except DesignDocumentError as error:
        raise DesignDocumentError(f"{path}: {error.message}", error.advice) from None


def _is_of_a_table(text: bytes) -> bool:
    from subsetprivacy.frames.metadata import FORMAT

    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("format") == FORMAT


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise a `DataFileError` that names the file if it cannot be written."""
    from subsetprivacy.frames.file_errors import file_error, file_error_from

    try:
        yield
    except FileNotFoundError:
        raise file_error(path, "must be in a folder that exists; the folder does not exist") from None
    except FileExistsError:
        raise
    except OSError as error:
        raise file_error_from(path, error) from None


def remember_force(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Store whether --force was given, for `save_document`."""
    ctx.meta[_FORCE] = value


def save_document(text: str, output: Path) -> None:
    """Write a document to a .json file; only --force replaces a file with other contents.

    Notes
    -----
    Data that were collected with a design cannot be estimated without it, so its document must not be lost.
    """
    from subsetprivacy.frames.file_errors import file_error
    from subsetprivacy.messages.for_files import REPLACE_OUTPUT

    ending_of(output, (".json",), bare=True)
    with writing(output):
        differs = output.is_file() and output.read_text(encoding="utf-8", errors="replace").strip() != text.strip()
        if differs and not click.get_current_context().meta[_FORCE]:
            raise file_error(
                output, "must not exist yet, unless its contents are the same; they differ", REPLACE_OUTPUT
            )
        output.write_text(text, encoding="utf-8")


def labels_text(categories: Any) -> str:
    """Return the labels as text, for the user to check; for several variables, those of each."""
    if hasattr(categories, "parts"):
        parts = zip(categories.names, categories.parts, strict=True)
        return "; ".join(f"{name}: {_listed(part.labels)}" for name, part in parts)
    return _listed(categories.labels)


def _listed(labels: Any) -> str:
    shown = ", ".join(_quoted(label) for label in labels[:MOST_LABELS])
    return shown if len(labels) <= MOST_LABELS else f"{shown}, … ({len(labels)} in all)"


def _quoted(label: Any) -> str:
    """Return a label, in quotes if its beginning or end would not be visible."""
    text = str(label)
    return repr(text) if not text or text != text.strip() or set(text) & set(",;") or not text.isprintable() else text


def echo_written(made: Any, output: Path) -> None:
    """Print where a design was written, and its categories unless they were inferred from private data."""
    say(f"Wrote {output} (fingerprint {made.fingerprint[:16]}…).")
    if click.get_current_context().params.get("source") is None:
        say(f"Categories: {labels_text(made.categories)}")
