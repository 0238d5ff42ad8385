"""Allow one server per SQLite file. A second one on the same file would release batches too."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from subsetprivacy.collect.storage.opening import StoreError
from subsetprivacy.messages.for_surveys import LOOK_AT_FOLDER, STOP_OTHER_SERVER

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def only_server(path: Path) -> Iterator[None]:
    """Keep other servers from a SQLite file while the block runs.

    The lock is on a file next to the database. The system releases it however this process ends.

    Raises
    ------
    StoreError
        If another server has it.
    """
    if fcntl is None:
        yield
        return
    beside = path.with_name(f"{path.name}.lock")
    descriptor = _lock(beside, path)
    try:
        yield
    finally:
        beside.unlink(missing_ok=True)  # while it is locked, so that a waiting server sees that it is gone
        os.close(descriptor)


def _lock(beside: Path, path: Path) -> int:
    while True:
        try:
            opened = os.open(beside, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreError(
                f"the folder of {path} must be one you may write to; got {error.strerror!r}.", LOOK_AT_FOLDER
            ) from None
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(opened)
            raise StoreError(
                f"the database must be served by one server at a time; another has {path}.", STOP_OTHER_SERVER
            ) from None
        if _is_still_there(opened, beside):
            return opened
        os.close(opened)  # the previous server has just ended and removed it


def _is_still_there(opened: int, beside: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(opened), beside.stat())
    except FileNotFoundError:
        return False
