"""Local paths, also in the form of file:// addresses. Addresses of other machines are refused."""

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from subsetprivacy.errors import ArgumentError, DataFileError
from subsetprivacy.messages.for_files import COPY_TO_THIS_MACHINE, WRITE_THREE_SLASHES

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")  # of two letters or more: one is a drive of Windows
_OF_THIS_MACHINE = ("", "localhost")


def scheme_of(path: str | os.PathLike[str]) -> str | None:
    """Return the scheme of an address, such as "s3" or "file", or None for a path.

    A Path keeps only one of the two slashes of an address and is recognized too.
    """
    match = _ADDRESS.match(os.fspath(path))
    return None if match is None else match[1].lower()


def local_path(path: str | os.PathLike[str], name: str = "path") -> Path:
    """Return a local path, given as a path or as a file:// address.

    Parameters
    ----------
    path
        A path, or an address such as ``file:///data/my%20people.csv``.
    name
        What it is called in messages.

    Raises
    ------
    ArgumentError
        If it is neither text nor a path.
    DataFileError
        If it is an address of another machine, or not the address of a file.

    Examples
    --------
    >>> local_path("people.csv").as_posix(), local_path("file:///data/my%20people.csv").as_posix()
    ('people.csv', '/data/my people.csv')
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"`{name}` must be a path; got {type(path).__name__}.")
    scheme = scheme_of(path)
    if scheme is None:
        return Path(path)
    if scheme != "file":  # the rest may hold a password
        raise DataFileError(
            f"`{name}` must be a path on this machine, or a file:// address; got an address that begins with "
            f"{scheme}://.",
            COPY_TO_THIS_MACHINE,
        )
    return _of_file(os.fspath(path)[len("file:") :], name)


def _of_file(rest: Any, name: str) -> Path:
    host, place = "", rest
    if rest.startswith("//"):
        host, slash, after = rest[2:].partition("/")
        place = slash + after
    if host.lower() not in _OF_THIS_MACHINE or not place.strip("/"):
        raise DataFileError(
            f"`{name}` must be a file:// address of this machine, with three slashes; got an address of another "
            "machine, or of no file.",
            WRITE_THREE_SLASHES,
        )
    text = unquote(place, errors="surrogateescape")
    if "\0" in text:
        raise DataFileError(f"`{name}` must be the address of a file; got an address that contains %00.")
    drive = os.name == "nt" and re.match(r"/[A-Za-z]:", text)
    return Path(text[1:] if drive else text)


def is_inside(path: Path, folder: Path) -> bool:
    """Tell whether a path is inside a folder after all links are resolved. The path need not exist."""
    if not folder.is_dir():
        return False
    return any(parent.exists() and parent.samefile(folder) for parent in path.resolve().parents)
