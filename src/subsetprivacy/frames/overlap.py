"""An output apart from what is read: inside it, the next run would take the subsets for people."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from attrs import frozen

from subsetprivacy._paths import is_inside, scheme_of
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_files import CHOOSE_ANOTHER_FOLDER

_INSIDE = "`output` must lie outside the folder that is read: there, the next run would take the subsets for people."
_SAME = "`output` must be another file than the one that is read."
_SAME_STORE = {"s3a": "s3", "s3n": "s3"}
_AROUND = "`output` must not hold the files that are read, which would be replaced with it."


def check_no_overlap(input_path: Path, output: Path) -> None:
    """Raise unless a file is written elsewhere than where the values are.

    Raises
    ------
    ArgumentError
        If it is the file, or in the folder, that is read.
    """
    if input_path.exists() and output.exists() and output.samefile(input_path):
        raise ArgumentError(_SAME)
    if is_inside(output, input_path):
        raise ArgumentError(_INSIDE, CHOOSE_ANOTHER_FOLDER)


def check_no_overlap_with(files: Iterable[str], output: str, *, folders: Iterable[str] = ()) -> None:
    """Raise unless a folder is written elsewhere than where a cluster reads.

    Parameters
    ----------
    files
        The files that are read, as an engine lists them: paths or addresses. Which folder it was given, it does not
        say; see `_folders`.
    output
        The folder to write.
    folders
        Folders, or files, that are known to be read as a whole.

    Raises
    ------
    ArgumentError
        If the output is inside a folder that is read, or holds it.
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
    """A file or folder, here or elsewhere: what of its address can be compared."""

    machine: str | None  # None is not said: an engine has one that it takes then
    path: PurePosixPath

    @classmethod
    def of(cls, address: str) -> "_Location":
        """Read a path or an address; links are followed where this machine can."""
        scheme, parts = scheme_of(address), urlsplit(address)
        if scheme in (None, "file"):
            local = Path(address if scheme is None else unquote(parts.path))
            return cls(scheme, PurePosixPath(local.resolve().as_posix()))
        return cls(f"{_SAME_STORE.get(scheme, scheme)}://{parts.netloc}", PurePosixPath(unquote(parts.path)))

    def is_in(self, folder: "_Location") -> bool:
        """Tell whether this is inside a folder, or the folder itself."""
        comparable = None in (self.machine, folder.machine) or self.machine == folder.machine
        return comparable and self.path.is_relative_to(folder.path)

    def whole(self) -> "_Location":
        """Return the folder that this file is a part of, above folders of partitions."""
        folder = self.path.parent
        while "=" in folder.name:
            folder = folder.parent
        return _Location(self.machine, folder)


def _folders(files: list[_Location]) -> set[_Location]:
    """Return the folders that were surely read as a whole.

    Those are folders of partitions (``sex=F``), of files that an engine has written (``part-…``), and of several files.
    A single file may lie anywhere, and its output beside it.
    """
    many = {folder for folder, held in Counter(file.whole() for file in files).items() if held > 1}
    return many | {file.whole() for file in files if "=" in file.path.parent.name or file.path.name.startswith("part-")}
