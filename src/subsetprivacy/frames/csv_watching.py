"""A CSV file as Arrow reads it: watched, and lent until Arrow has let go of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any, BinaryIO
from weakref import finalize

from subsetprivacy.frames.trouble import arrow

_PATIENCE = 5.0  # seconds to wait for a thread of Arrow, which takes milliseconds


class _Lent:
    """What Arrow reads from: it is gone when Arrow has let go of it."""

    closed = False

    def __init__(self, watched: "Watched") -> None:
        self.read = watched.read

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        self.closed = True


@contextmanager
def lent(watched: "Watched") -> Iterator[list[Any]]:
    """Lend a file to Arrow, in a list of one, and go on only when it was let go of.

    Arrow reads ahead, and lets go, in a thread of its own. If Python ends
    before that thread has called back, the whole process is aborted.
    """
    handle, let_go = _Lent(watched), Event()
    finalize(handle, let_go.set)
    held = [arrow().PythonFile(handle, mode="r")]
    del handle
    try:
        yield held
    finally:
        held.clear()
        let_go.wait(_PATIENCE)


class Watched:
    """A file that counts the lines and quotes that are read from it, and keeps its last line.

    A quote that is never closed swallows the rows below it without a word.
    Where there are fewer rows than lines, it is worth a second look; so it is
    where the last line does not close one, which has nothing to swallow.
    """

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._last = b"\n"
        self._ends = 0
        self.quotes: int = 0
        self.tail: bytes = b""

    @property
    def lines(self) -> int:
        """How many lines were read."""
        return self._ends + (self._last != b"\n")

    def read(self, size: int = -1) -> bytes:
        """Read some bytes, and take note of them."""
        data = self._raw.read(size)
        self._ends += data.count(b"\n")
        self.quotes += data.count(b'"')
        filled = data.rstrip(b"\r\n")
        if filled:
            begins = filled.rfind(b"\n") + 1
            goes_on = not begins and self._last not in b"\r\n"
            self.tail = (self.tail if goes_on else b"") + filled[begins:]
        self._last = data[-1:] or self._last
        return data
