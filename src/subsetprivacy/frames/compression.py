"""Compressed CSV files: gzip by Python, Zstandard by PyArrow."""

import gzip
import io
import os
from pathlib import Path
from typing import Any, BinaryIO, cast
from weakref import finalize

_BLOCK = 1 << 20
_LEVEL = 6  # of gzip


def is_compressed(path: str | Path) -> bool:
    """Return whether a file is compressed, judged by its name."""
    return str(path).lower().endswith((".gz", ".zst"))


class RereadFile:
    """A file that is opened once, read repeatedly, and decompressed according to its name.

    Only one reader may be active at a time, because all share the file position.

    Parameters
    ----------
    path
        The file. Its name determines the compression.
    """

    def __init__(self, path: str | Path) -> None:
        self._name = str(path)
        self._number = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._closed = finalize(self, os.close, self._number)

    def from_start(self) -> BinaryIO:
        """Return a stream of its bytes, from the start."""
        os.lseek(self._number, 0, os.SEEK_SET)
        return _decompressed(open(os.dup(self._number), "rb"), self._name)

    def status(self) -> os.stat_result:
        """Return the size and the times of the file that was opened."""
        return os.fstat(self._number)

    def close(self) -> None:
        """Close the file; garbage collection closes it too."""
        self._closed()


def _decompressed(raw: BinaryIO, name: str) -> BinaryIO:
    """Return a decompressed stream of an open file; closing it closes the file."""
    try:
        if name.lower().endswith(".gz"):
            return cast(BinaryIO, _GzipReader(raw))
        if name.lower().endswith(".zst"):
            return cast(BinaryIO, io.BufferedReader(_ZstandardReader(raw), _BLOCK))
    except BaseException:
        raw.close()
        raise
    return raw


def open_to_write(path: str | Path, name: str) -> BinaryIO:
    """Open a file for writing, compressed according to a name; equal bytes give equal files.

    Parameters
    ----------
    path
        Where to write.
    name
        The final name of the file.
    """
    if name.lower().endswith(".gz"):
        return cast(BinaryIO, _GzipWriter(path))
    if name.lower().endswith(".zst"):
        import pyarrow as pa

        return cast(BinaryIO, pa.output_stream(str(path), compression="zstd"))
    return open(path, "wb")


class _GzipWriter(gzip.GzipFile):
    """A gzip file whose header contains neither time nor name, because a draft has another name."""

    def __init__(self, path: str | Path) -> None:
        self._raw = open(path, "wb")  # noqa: SIM115
        super().__init__("", "wb", _LEVEL, self._raw, 0)

    def close(self) -> None:
        """Finish and close the file."""
        try:
            super().close()
        finally:
            self._raw.close()


class _GzipReader(gzip.GzipFile):
    """A gzip reader that closes the underlying file."""

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
    """A Zstandard reader that closes the underlying file."""

    def __init__(self, raw: BinaryIO) -> None:
        import pyarrow as pa

        self._raw = raw
        self._stream: Any = pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd")

    def readable(self) -> bool:
        """Return True."""
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
