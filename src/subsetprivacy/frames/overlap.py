"""Check that an output does not overlap the input, where the next run would read the subsets as values."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from attrs import frozen

from subsetprivacy._paths import is_inside, scheme_of
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_files import CHOOSE_ANOTHER_FOLDER

_INSIDE = "`output` must be outside the input folder, because the next run would read the subsets as values."
_SAME = "`output` must not be the input file."
_SAME_STORE = {"s3a": "s3", "s3n": "s3"}
_AROUND = "`output` must not contain the input files, which would be replaced with it."


def check_no_overlap(input_path: Path, output: Path) -> None:
    """Raise if the output is the input, or inside its folder.

    Raises
    ------
    ArgumentError
        If it is the input file, or inside the input folder.
    """
    if input_path.exists() and output.exists() and output.samefile(input_path):
        raise ArgumentError(_SAME)
    if is_inside(output, input_path):
        raise ArgumentError(_INSIDE, CHOOSE_ANOTHER_FOLDER)


def check_no_overlap_with(files: Iterable[str], output: str, *, folders: Iterable[str] = ()) -> None:
    """Raise if an output folder overlaps the files that a cluster reads.

    Parameters
    ----------
    files
        The input files as the engine lists them, paths or addresses. The engine does not list the input folder; see
        `_folders`.
    output
        The folder to write.
    folders
        Folders or files that are known to be read completely.

    Raises
    ------
    ArgumentError
        If the output is inside an input folder, or contains it.
    """
    read = [_Location.of(file) for file in files]
    whole = [_Location.of(folder) for folder in folders]
    target = _Location.of(output)
    for folder in (*whole, *_folders(read)):
        if target.is_in(folder):
            raise ArgumentError(_INSIDE, CHOOSE_ANOTHER_FOLDER)
    if any(each.is_in(target) for each in (*read, *whole)):
        raise ArgumentError(_AROUND)


@frozen
class _Location:
    """The comparable parts of the address of a file or folder."""

    machine: str | None  # None if not given; the engine then uses its default
    path: PurePosixPath

    @classmethod
    def of(cls, address: str) -> "_Location":
        """Parse a path or an address; local links are resolved."""
        scheme, parts = scheme_of(address), urlsplit(address)
        if scheme in (None, "file"):
            local = Path(address if scheme is None else unquote(parts.path))
            return cls(scheme, PurePosixPath(local.resolve().as_posix()))
        return cls(f"{_SAME_STORE.get(scheme, scheme)}://{parts.netloc}", PurePosixPath(unquote(parts.path)))

    def is_in(self, folder: "_Location") -> bool:
        """Return whether this is the folder, or inside it."""
        comparable = None in (self.machine, folder.machine) or self.machine == folder.machine
        return comparable and self.path.is_relative_to(folder.path)

    def whole(self) -> "_Location":
        """Return the folder of this file, above partition folders."""
        folder = self.path.parent
        while "=" in folder.name:
            folder = folder.parent
        return _Location(self.machine, folder)


def _folders(files: list[_Location]) -> set[_Location]:
    """Return the folders that were certainly read completely.

    These are folders with partitions (``sex=F``), with files written by an engine (``part-…``), or with several
    files. A single file may be anywhere, with its output next to it.
    """
    many = {folder for folder, count in Counter(file.whole() for file in files).items() if count > 1}
    return many | {file.whole() for file in files if "=" in file.path.parent.name or file.path.name.startswith("part-")}
