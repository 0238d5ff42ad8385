"""CSV files that are compressed: gzip by Python, Zstandard by PyArrow or by a Python that has it."""

import gzip
import io
import os
from pathlib import Path
from typing import Any, BinaryIO, cast
from weakref import finalize

from subsetprivacy.errors import MissingDependencyError
from subsetprivacy.messages.for_files import INSTALL_OR_USE_GZIP

_BLOCK = 1 << 20
_LEVEL = 6  # of gzip


def is_compressed(path: str | Path) -> bool:
    """Tell by its name whether a file is compressed."""
    return str(path).lower().endswith((".gz", ".zst"))


class RereadFile:
    """A file that is opened once and read as often as needed, decompressed as its name says.

    Only one reader works at a time: all of them share the position in the file.

    Parameters
    ----------
    path
        The file. Its name tells whether it is compressed.
    """

    def __init__(self, path: str | Path) -> None:
        self._name = str(path)
        self._number = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._closed = finalize(self, os.close, self._number)

    def from_start(self) -> BinaryIO:
        """Return its bytes, from the first on.

        Raises
        ------
        MissingDependencyError
            If nothing is installed that can decompress them.
        """
        os.lseek(self._number, 0, os.SEEK_SET)
        return _decompressed(open(os.dup(self._number), "rb"), self._name)

    def status(self) -> os.stat_result:
        """Return the size and the times of the file that was opened."""
        return os.fstat(self._number)

    def close(self) -> None:
        """Close the file; it is closed without a call, too, when nothing refers to it."""
        self._closed()


def _decompressed(raw: BinaryIO, name: str) -> BinaryIO:
    """Return the bytes of an open file, which is closed with them."""
    try:
        if name.lower().endswith(".gz"):
            return cast(BinaryIO, _GzipReader(raw))
        if name.lower().endswith(".zst"):
            return cast(BinaryIO, io.BufferedReader(_ZstandardReader(raw, name), _BLOCK))
    except BaseException:
        raw.close()
        raise
    return raw


def open_to_write(path: str | Path, name: str) -> BinaryIO:
    """Open a file to write bytes to it, compressed as a name says: the same bytes give the same file.

    Parameters
    ----------
    path
        Where to write.
    name
        The name that the file will have.
    """
    if name.lower().endswith(".gz"):
        return cast(BinaryIO, _GzipWriter(path))
    if name.lower().endswith(".zst"):
        arrow, python = _zstandard(name)
        return cast(BinaryIO, arrow.output_stream(str(path), compression="zstd") if arrow else python.open(path, "wb"))
    return open(path, "wb")


class _GzipWriter(gzip.GzipFile):
    """A gzip file whose header holds neither the time nor the name: a draft has another name than the file."""

    def __init__(self, path: str | Path) -> None:
        self._raw = open(path, "wb")  # noqa: SIM115
        super().__init__("", "wb", _LEVEL, self._raw, 0)

    def close(self) -> None:
        """Write the end of the file, and close it."""
        try:
            super().close()
        finally:
            self._raw.close()


class _GzipReader(gzip.GzipFile):
    """A gzip file that is decompressed as it is read, and closes what it reads."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        super().__init__(fileobj=raw, mode="rb")

    def close(self) -> None:
        """Close the file."""
        try:
            super().close()
        finally:
            self._raw.close()


class _ZstandardReader(io.RawIOBase):
    """A Zstandard file that is decompressed as it is read, and closes what it reads."""

    def __init__(self, raw: BinaryIO, name: str) -> None:
        self._raw = raw
        arrow, python = _zstandard(name)
        self._stream: Any = (
            arrow.CompressedInputStream(arrow.PythonFile(raw, "r"), "zstd") if arrow else python.open(raw, "rb")
        )

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes."""
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self._stream.close()
            self._raw.close()
        super().close()


def _zstandard(path: str | Path) -> tuple[Any, Any]:
    """Return the module that knows Zstandard: PyArrow, or that of Python 3.14."""
    try:
        import pyarrow

        if pyarrow.Codec.is_available("zstd"):
            return pyarrow, None
    except ImportError:
        pass
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise MissingDependencyError(
            f"the file {str(path)!r} is compressed by Zstandard, which needs PyArrow.",
            INSTALL_OR_USE_GZIP,
        ) from None
    return None, zstd
