"""Data files: formats, parts, and writing without leaving partial files."""

import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from subsetprivacy.engines.counters import TABLE_FORMAT
from subsetprivacy.engines.imputed import MARK, metadata
from subsetprivacy.errors import DataFileError
from subsetprivacy.frames.file_errors import file_error, file_error_from, reading
from subsetprivacy.messages.for_files import READ_ONE_OF_ITS_FILES, REPLACE_OUTPUT

KEY = MARK
FOLDER_SIDECAR = "_subset_privacy.json"
_FORMATS = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".csv.zst": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


def format_of(path: str | Path, *, must_exist: bool = True) -> str:
    """Return the format of a data file: "csv", "parquet", "arrow", or "folder" of Parquet files.

    Parameters
    ----------
    path
        A file with a known suffix, or a folder.
    must_exist
        Whether the file must exist; otherwise only its name is checked.

    Raises
    ------
    DataFileError
        If the suffix is unknown, or the file does not exist.
    """
    place = Path(path)
    if place.is_dir():
        return "folder"
    name = place.name.lower()
    format = next((form for suffix, form in _FORMATS.items() if name.endswith(suffix)), None)
    if format is None:
        if must_exist and name.endswith(".zip"):
            raise file_error(path, "must be unpacked to be read; it is an archive", READ_ONE_OF_ITS_FILES)
        exists = "" if place.exists() or not must_exist else "; and there is no such file"
        raise file_error(path, f"must end in one of {', '.join(_FORMATS)}, or be a folder of Parquet files{exists}")
    if must_exist and not place.is_file():
        with reading(path):
            place.stat()  # raises with the reason, such as a missing file or permission
        raise file_error(path, "must be a file; it is a pipe or a device")
    return format


def parquet_files(path: str | Path) -> list[Path]:
    """Return the Parquet files in a folder and its subfolders, sorted by name; for a file, the file itself.

    Names that begin with ``_`` or ``.`` are left out, as Spark and Dask do.

    Raises
    ------
    DataFileError
        If a folder contains none.
    """
    place = Path(path)
    if not place.is_dir():
        return [place]
    with reading(path):
        files = sorted(file for ending in (".parquet", ".pq") for file in place.rglob(f"*{ending}") if file.is_file())
    kept = [file for file in files if not any(part[0] in "_." for part in file.relative_to(place).parts)]
    if not kept:
        raise DataFileError(f"the folder {str(path)!r} must contain Parquet files; it has none.")
    return kept


def sidecar_of(path: str | Path) -> Path:
    """Return the path of a data file's document: next to the file, or inside a folder."""
    place = Path(path)
    return place / FOLDER_SIDECAR if place.is_dir() else place.with_name(f"{place.name}.design.json")


# Writing ------------------------------------------------------------------------------------------


@contextmanager
def replacing(path: str | Path, *, overwrite: bool = False, sidecar: Callable[[], str] | None = None) -> Iterator[Path]:
    """Write a file under a temporary name, and rename it when it is complete.

    Parameters
    ----------
    path
        The final name.
    overwrite
        Whether an existing file may be replaced.
    sidecar
        Returns the document to write next to the file; called when the file is complete. At no time does a file have
        the document of another.

    Yields
    ------
    Path
        The temporary name. After an error nothing remains there.

    Raises
    ------
    DataFileError
        If the file exists, the folder does not exist or is not writable, or the disk is full.
    """
    target = Path(path)
    beside = None if sidecar is None else sidecar_of(target)
    check_free(target, overwrite=overwrite, sidecar=sidecar is not None)
    draft = target.with_name(f".{target.name}.{token_hex(4)}.part")
    note = draft.with_name(f"{draft.name}.json")
    try:
        with _writing(target, draft):
            draft.touch(exist_ok=False)
            yield draft
            _flush_to_disk(draft)
            if sidecar is not None and beside is not None:
                note.write_text(sidecar(), encoding="utf-8")
                _flush_to_disk(note)
                beside.unlink(missing_ok=True)
            os.replace(draft, target)
            if beside is not None:
                os.replace(note, beside)
            _flush_to_disk(target.parent)
    finally:
        for left in (draft, note):
            with suppress(OSError):
                left.unlink(missing_ok=True)


def check_free(path: str | Path, *, overwrite: bool = False, sidecar: bool = True) -> None:
    """Raise unless a file and its document can be written; called before long work begins.

    Raises
    ------
    DataFileError
        If the file exists, or its folder does not.
    """
    target = Path(path)
    with reading(target):
        if target.is_dir():
            raise file_error(target, "must be a file to be written; it is a folder")
        if not target.parent.is_dir():
            raise file_error(target, f"must be in a folder that exists; {str(target.parent)!r} does not")
        if target.exists() and not overwrite:
            raise file_error(target, "must not exist yet; it does", REPLACE_OUTPUT)
        beside = sidecar_of(target)
        if sidecar and not overwrite and beside.exists() and not _is_left_over(beside):
            raise file_error(beside, "must not exist yet; it does", REPLACE_OUTPUT)


def _is_left_over(document: Path) -> bool:
    """Return whether a document belongs to a table whose file is gone, so that it may be replaced."""
    try:
        content = json.loads(document.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and content.get("format") == TABLE_FORMAT


@contextmanager
def _writing(target: Path, draft: Path) -> Iterator[None]:
    """Convert a full disk or an unwritable folder to a `DataFileError`; other errors pass."""
    try:
        yield
    except OSError as error:
        ours = str(draft) in (str(error.filename), str(error.filename2)) or error.filename == str(target)
        if not ours and error.errno not in _FULL_DISK:
            raise
        raise file_error_from(target, error) from None


def _flush_to_disk(place: Path) -> None:
    """Flush written data to disk, where the system supports it."""
    with suppress(PermissionError, IsADirectoryError):  # a folder cannot be opened on Windows
        number = os.open(place, os.O_RDONLY)
        try:
            os.fsync(number)
        except OSError as error:
            if error.errno != errno.EINVAL:  # some disks cannot
                raise
        finally:
            os.close(number)


def schema_of(names: Iterable[str], document: str | None, kept_fields: Iterable[Any] = ()) -> Any:
    """Return the Arrow schema of code columns and kept columns, with the document as metadata.

    pandas reads the document of a file of counts into `attrs`, so that its rows are not taken for people.
    """
    import pyarrow as pa

    fields = [pa.field(name, pa.int64()) for name in names]
    if document is None:
        return pa.schema([*fields, *kept_fields])
    facts = json.loads(document)
    keys = metadata(facts) if "weights" in facts else {}
    return pa.schema([*fields, *kept_fields], {**keys, KEY: document})


def parquet_writer(
    path: str | Path, names: Iterable[str], document: str | None, kept_fields: Iterable[Any] = ()
) -> Any:
    """Open a Parquet file for columns of codes and kept columns.

    Parameters
    ----------
    path
        Where to write.
    names
        The columns of codes.
    document
        The text to store under the key ``subset_privacy``; None stores nothing.
    kept_fields
        Arrow fields of the kept columns.

    Returns
    -------
    pyarrow.parquet.ParquetWriter

    Notes
    -----
    Codes are stored as bit-packed differences. Subsets repeat too rarely for a dictionary to pay off, and stronger
    compression of random bits only costs time.
    """
    from pyarrow import parquet

    columns, kept = list(names), list(kept_fields)
    return parquet.ParquetWriter(
        str(path),
        schema_of(columns, document, kept),
        compression={**dict.fromkeys(columns, "snappy"), **{field.name: "zstd" for field in kept}},
        use_dictionary=[field.name for field in kept],
        column_encoding=dict.fromkeys(columns, "DELTA_BINARY_PACKED"),
        write_page_checksum=True,  # a flipped bit would be another valid subset
    )


def arrow_writer(path: str | Path, names: Iterable[str], document: str | None, kept_fields: Iterable[Any] = ()) -> Any:
    """Open an Arrow file like `parquet_writer`, uncompressed so that it can be memory-mapped."""
    import pyarrow as pa

    return pa.ipc.new_file(str(path), schema_of(names, document, kept_fields))
