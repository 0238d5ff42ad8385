"""CSV files that are compressed: gzip by Python, Zstandard by PyArrow or by a Python that has it."""

import gzip
import io
from pathlib import Path
from typing import Any, BinaryIO, cast

from subsetprivacy.errors import MissingDependencyError
from subsetprivacy.messages.for_files import INSTALL_OR_USE_GZIP

_BLOCK = 1 << 20
_LEVEL = 6  # of gzip


def is_compressed(path: str | Path) -> bool:
    """Tell by its name whether a file is compressed."""
    return str(path).lower().endswith((".gz", ".zst"))


def open_to_read(path: str | Path) -> BinaryIO:
    """Open a file, compressed or not as its name says, to read its bytes.

    Raises
    ------
    MissingDependencyError
        If nothing is installed that can read it.
    """
    name = str(path).lower()
    if name.endswith(".gz"):
        return cast(BinaryIO, gzip.open(path, "rb"))
    if name.endswith(".zst"):
        return cast(BinaryIO, io.BufferedReader(_Zstandard(path), _BLOCK))
    return open(path, "rb")


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
        return cast(BinaryIO, _Gzip(path))
    if name.lower().endswith(".zst"):
        arrow, python = _zstandard(name)
        return cast(BinaryIO, arrow.output_stream(str(path), compression="zstd") if arrow else python.open(path, "wb"))
    return open(path, "wb")


class _Gzip(gzip.GzipFile):
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


class _Zstandard(io.RawIOBase):
    """A file that is decompressed as it is read."""

    def __init__(self, path: str | Path) -> None:
        arrow, python = _zstandard(path)
        self._source: Any = arrow.input_stream(str(path), compression="zstd") if arrow else python.open(path, "rb")

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes."""
        data = self._source.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self._source.close()
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
