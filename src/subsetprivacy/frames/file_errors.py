"""File errors without cells: messages of libraries may quote them."""

import errno
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from subsetprivacy.errors import ArgumentError, CodeError, DataFileError
from subsetprivacy.messages import Advice, Hint
from subsetprivacy.messages.for_designs import SUBSET_AS_TEXT
from subsetprivacy.messages.for_files import READ_CODES, SAVE_AS_UTF8

_OF_THE_SYSTEM = {
    errno.ENOENT: "must exist; it does not",
    errno.EACCES: "must be readable and writable; there is no permission",
    errno.EPERM: "must be readable and writable; there is no permission",
    errno.EISDIR: "must be a file; it is a folder",
    errno.ENOTDIR: "must be in a folder; one part of its path is a file",
    errno.EROFS: "must be on a disk that can be written; it is read-only",
    errno.ENOSPC: "must fit on its disk; there is no space left",
    errno.EDQUOT: "must fit on its disk; the quota is used up",
    errno.EFBIG: "must fit on its disk; it grew beyond what is allowed",
    errno.ENAMETOOLONG: "must have a shorter name",
    errno.ELOOP: "must be a file; it is a link that leads back to itself",
}
_BY_KIND = ((FileNotFoundError, errno.ENOENT), (PermissionError, errno.EACCES))  # PyArrow sets no error number
_SIGNS = (  # (part of a library's message, our message), tried in order
    ("magic bytes not found", "must be a Parquet file; it is not one, or it was cut off"),
    ("not an arrow file", "must be an Arrow file; it is not one, or it was cut off"),
    ("not a feather", "must be an Arrow file; it is not one, or it was cut off"),
    ("end of stream", "must be whole; it was cut off"),
    ("truncated", "must be whole; it was cut off"),
    ("file size is", "must be whole; it was cut off"),
    ("malloc", "must fit in memory as its parts say they do; it is damaged, or larger than the memory"),
)
_DAMAGED = "must be whole and undamaged; it was cut off or altered"


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """Convert errors of PyArrow and the operating system to a `DataFileError`.

    Raises
    ------
    DataFileError
        Names the file and the problem, never its content.
    """
    try:
        yield
    except (OSError, EOFError, UnicodeError, zlib.error, MemoryError) as error:
        raise file_error_from(path, error) from None
    except Exception as error:
        if not _is_of_arrow(error):
            raise
        raise file_error_from(path, error) from None


def _is_of_arrow(error: Exception) -> bool:
    """Return whether PyArrow raised an error, without importing it."""
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and isinstance(error, pyarrow.ArrowException)


@contextmanager
def naming_file(where: str, *, as_labels: bool = False) -> Iterator[None]:
    """Add the file to errors about its columns, and whether cells were read as labels."""
    try:
        yield
    except CodeError as error:
        note, advice = " They were read as labels, not as codes." if as_labels else "", error.advice
        # Cells that are not labels may be codes; a subset that the design lacks is another problem.
        if as_labels and (advice is None or advice.advice is SUBSET_AS_TEXT):
            advice = READ_CODES()
        raise CodeError(f"{where}: {error.message}{note}", advice) from None
    except ArgumentError as error:
        raise ArgumentError(f"{where}: {error.message}", error.advice) from None


def file_error_from(path: str | Path, error: BaseException) -> DataFileError:
    """Return the `DataFileError` for an error of the system or a library."""
    number = getattr(error, "errno", None) or next((n for kind, n in _BY_KIND if isinstance(error, kind)), None)
    if number in _OF_THE_SYSTEM:
        return file_error(path, _OF_THE_SYSTEM[number])
    if isinstance(error, UnicodeError) and ".csv" in str(path).lower():
        return file_error(path, "must be text in UTF-8; some of it is not", SAVE_AS_UTF8)
    if isinstance(error, EOFError):
        return file_error(path, "must be whole; it was cut off")
    message = str(error).lower()
    return file_error(path, next((meaning for sign, meaning in _SIGNS if sign in message), _DAMAGED))


def file_error(path: str | Path, what: str, advice: Advice | Hint | None = None) -> DataFileError:
    """Return a `DataFileError` with the file, the problem and advice."""
    return DataFileError(f"the file {str(path)!r} {what}.", advice)
