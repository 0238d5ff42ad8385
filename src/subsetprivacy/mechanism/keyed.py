"""Draws determined by a secret key and a person's id: publishing again gives the same person the same subset.

Anyone who has the key and guesses an id can repeat the draw. Keep the key as
secret as the data.
"""

import os
import warnings
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from subsetprivacy._paths import local_path
from subsetprivacy._types import IntArray, Rows
from subsetprivacy._words import counted
from subsetprivacy.errors import ArgumentError, DataFileError, MismatchError, NotPrivateWarning
from subsetprivacy.mechanism.ids import Ids, read_ids
from subsetprivacy.messages.for_data import MAKE_A_KEY, MAKE_A_KEY_FILE, PROTECT_THE_KEY, READ_THE_KEY

LEAST_KEY, MOST_KEY = 16, blake2b.MAX_KEY_SIZE
_MOST_TEXT = 4096  # bytes of a key file that are read
_PERSON = b"subsetprivacy/1"  # other uses of the same key, and later versions, share no bits with this one
_BLOCK = blake2b.MAX_DIGEST_SIZE


def keyed_source(key: bytes, ids: Any, variable: str) -> "KeyedSource":
    r"""Return a source in which the bits of row i depend only on the key, its id and the variable.

    Parameters
    ----------
    key
        16 to 64 secret bytes. ``secrets.token_bytes(32)`` makes a good key.
    ids
        One distinct id per row, text or whole numbers. 5 and ``"5"`` are the
        same id. The result of `read_ids` is accepted too.
    variable
        The name of the variable. Another variable gets other bits.

    Raises
    ------
    ArgumentError
        If the key is not bytes of that length, or an id is missing, repeated
        or of another type. The message has the number of such rows and the
        first one, never an id.

    Notes
    -----
    Row i reads the blocks BLAKE2b(variable, k, id), k = 0, 1, …, of 64 bytes,
    keyed with `key`. This is a pseudo-random function, so without the key the
    bits cannot be distinguished from fair coin flips. They do not depend on
    other rows, or on the size or the order of the batch.

    Examples
    --------
    >>> key = bytes(range(32))  # an example; a real one is secret
    >>> keyed_source(key, ["ann", "bob"], "race").bits(2, 16).tolist()
    [11223, 18567]
    >>> keyed_source(key, ["bob"], "race").bits(1, 16).tolist()
    [18567]
    """
    if not isinstance(variable, str) or not variable:
        got = "nothing" if variable is None or variable == "" else type(variable).__name__
        raise ArgumentError(f"`variable` must be the name of the variable, as text; got {got}.")
    hashing = _Hashing(check_key(key), variable)
    texts = (ids if isinstance(ids, Ids) else read_ids(ids)).require_distinct().texts
    return KeyedSource(_Streams(hashing, texts, np.zeros(len(texts), np.int64), np.arange(len(texts))), None)


def check_key(key: Any) -> bytes:
    """Return the key if it is 16 to 64 bytes. The message never shows it.

    Raises
    ------
    ArgumentError
        If it is something else.
    """
    if not isinstance(key, (bytes, bytearray)):
        advice = READ_THE_KEY if isinstance(key, (str, os.PathLike)) else MAKE_A_KEY
        raise ArgumentError(f"`key` must be bytes; got {type(key).__name__}.", advice)
    if not LEAST_KEY <= len(key) <= MOST_KEY:
        raise ArgumentError(f"`key` must have {LEAST_KEY} to {MOST_KEY} bytes; got {len(key)}.", MAKE_A_KEY)
    return bytes(key)


def read_key(path: str | os.PathLike[str]) -> bytes:
    """Read a key from its file: 32 to 128 hexadecimal digits, which are 16 to 64 bytes.

    ``subsetprivacy key -o secret.key`` makes such a file, and ``--key-file``
    reads it in the same way. Spaces and line breaks are ignored.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    bytes
        The key, for the argument `key` of `privatize` and `privatize_table`.

    Raises
    ------
    DataFileError
        If there is no such file, or it does not contain a key. The message never shows the content.

    Warns
    -----
    NotPrivateWarning
        If other users of this machine can read the file.
    """
    place = local_path(path)
    try:
        with place.open("rb") as file:
            text = file.read(_MOST_TEXT)
            mode = os.fstat(file.fileno()).st_mode
    except OSError as error:
        raise DataFileError(
            f"a key file must be readable; {str(place)!r} is not ({error.strerror or type(error).__name__})."
        ) from None
    try:
        key = bytes.fromhex(text.decode("utf-8-sig"))
    except ValueError:  # whose message would quote the key
        key = b""
    if not LEAST_KEY <= len(key) <= MOST_KEY or len(text) == _MOST_TEXT:
        raise DataFileError(
            f"a key file must contain {2 * LEAST_KEY} to {2 * MOST_KEY} hexadecimal digits; {str(place)!r} does not.",
            MAKE_A_KEY_FILE,
        )
    if os.name == "posix" and mode & 0o077:
        message = f"other users of this machine may read the key file {str(place)!r}."
        warnings.warn(NotPrivateWarning(message, PROTECT_THE_KEY(path=str(place))), stacklevel=2)
    return key


class KeyedSource:
    """Separate bits for every row. `keyed_source` returns one."""

    def __init__(self, streams: "_Streams", rows: IntArray | None) -> None:
        self._streams, self._rows = streams, rows

    def __len__(self) -> int:
        return len(self._streams) if self._rows is None else len(self._rows)

    def __repr__(self) -> str:
        return f"<bits of a key for {counted(len(self), 'row')}>"

    def bits(self, n: int, width: int) -> NDArray[np.unsignedinteger[Any]]:
        """Return the next word of each row, with the given width."""
        if n != len(self):
            raise MismatchError(
                f"a source with a key must draw one word per row; got {counted(n, 'word')} for "
                f"{counted(len(self), 'row')}."
            )
        return self._streams.read(self._streams.every if self._rows is None else self._rows, width // 8)

    def among(self, rows: Rows) -> "KeyedSource":
        """Return the source of some of the rows. Bits that they read there also count as read here."""
        chosen = (self._streams.every if self._rows is None else self._rows)[rows]
        # A block of rows gets a separate table, which is freed with the block. Redrawn rows share the table.
        if isinstance(rows, slice):
            return KeyedSource(self._streams.part(chosen), None)
        return KeyedSource(self._streams, chosen)


class _Streams:
    """A stream of bytes per row, and the number of bytes read.

    A word starts at a multiple of its size, so that no word crosses a block
    boundary. A table stores the current block of each row and is filled on
    demand.

    Parameters
    ----------
    hashing
        The function that makes the blocks.
    ids
        The ids of the rows.
    used
        The number of bytes read, for all rows of the batch.
    place
        The position of each row in `used`.
    """

    def __init__(self, hashing: "_Hashing", ids: list[bytes], used: IntArray, place: IntArray) -> None:
        self._hashing, self._ids, self._used, self._place = hashing, ids, used, place
        self.every: IntArray = np.arange(len(ids))

    def __len__(self) -> int:
        return len(self._ids)

    def part(self, rows: IntArray) -> "_Streams":
        """Return the streams of some rows, with a separate table. Bytes that are read there count here too."""
        return _Streams(self._hashing, [self._ids[row] for row in rows.tolist()], self._used, self._place[rows])

    def read(self, rows: IntArray, size: int) -> NDArray[np.unsignedinteger[Any]]:
        """Return the next word of `size` bytes of each of the given rows."""
        place = self._place[rows]
        start = self._used[place]
        start += -start % size
        self._fill(rows, start // _BLOCK)
        self._used[place] = start + size
        words: NDArray[np.unsignedinteger[Any]] = self._table.view(f"<u{size}")[rows, start % _BLOCK // size]
        return words

    @cached_property
    def _table(self) -> NDArray[np.uint8]:
        return np.empty((len(self), _BLOCK), np.uint8)

    @cached_property
    def _current_block(self) -> IntArray:
        """The number of the block in each row of the table."""
        return np.full(len(self), -1)

    def _fill(self, rows: IntArray, wanted: IntArray) -> None:
        """Put the wanted block of each of the given rows into the table."""
        stale = np.flatnonzero(self._current_block[rows] != wanted)
        for number in np.unique(wanted[stale]).tolist():
            missing = rows[stale[wanted[stale] == number]]
            self._table[missing] = self._hashing.blocks([self._ids[row] for row in missing.tolist()], number)
            self._current_block[missing] = number


@frozen(repr=False)
class _Hashing:
    """The keyed pseudo-random function of one variable."""

    key: bytes
    variable: str

    def blocks(self, ids: list[bytes], number: int) -> NDArray[np.uint8]:
        """Return block `number` of the stream of each id, one row of bytes per id."""
        name = self.variable.encode("utf-8", "surrogatepass")
        # Leading lengths make the text injective. The part that all rows share is hashed once.
        shared = len(name).to_bytes(8, "little") + name + number.to_bytes(8, "little")
        copy = blake2b(shared, key=self.key, person=_PERSON).copy
        digests = []
        for text in ids:
            state = copy()
            state.update(text)
            digests.append(state.digest())
        return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, _BLOCK)
