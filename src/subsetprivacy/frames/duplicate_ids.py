"""Find repeated ids in a table that does not fit in memory, by digests on disk.

Two values of one person would get the same question, and the two answers together could reveal them. So a table with a
key is refused if an id is repeated.
"""

from hashlib import blake2b
from pathlib import Path

import numpy as np

from subsetprivacy._types import AnyArray
from subsetprivacy.mechanism.ids import Ids

_DIGEST = 16
_PERSON = b"subsetprivacy/id"
_PART_ROWS = 1 << 22


def digests(ids: Ids, key: bytes) -> AnyArray:
    """Return a 128-bit digest of each id, shape (n, 2), which reveals nothing about it without the key."""
    shared = blake2b(digest_size=_DIGEST, key=key, person=_PERSON)
    out = bytearray()
    for text in ids.texts:
        digest = shared.copy()
        digest.update(text)
        out += digest.digest()
    return np.frombuffer(bytes(out), "<u8").reshape(-1, 2)


def write_digests(path: Path, parts: list[AnyArray]) -> None:
    """Write the digests of a unit in ascending order, so that a range is contiguous."""
    both = np.concatenate(parts) if parts else np.empty((0, 2), "<u8")
    # Not with NumPy's writers, which do not report a full disk.
    path.write_bytes(both[np.argsort(both[:, 0], kind="stable")].astype("<u8").tobytes())


def repeated_ids(paths: list[Path]) -> int:
    """Return how many rows repeat the id of an earlier row."""
    rows = sum(path.stat().st_size // _DIGEST for path in paths)
    parts = max(1, -(-rows // _PART_ROWS))
    edges = np.array([(k << 64) // parts for k in range(1, parts)], np.uint64)
    cuts = [_cuts(path, edges) for path in paths]
    return sum(
        _repeated(np.concatenate([_read(path, *at[k : k + 2]) for path, at in zip(paths, cuts, strict=True)]))
        for k in range(parts)
    )


def _cuts(path: Path, edges: AnyArray) -> list[int]:
    """Return the start of each range of digests of a unit, and the end of the last."""
    first = _read(path)[:, 0]
    return [0, *np.searchsorted(first, edges).tolist(), len(first)]


def _read(path: Path, start: int = 0, end: int | None = None) -> AnyArray:
    count = -1 if end is None else 2 * (end - start)
    return np.fromfile(path, "<u8", count, offset=start * _DIGEST).reshape(-1, 2)


def _repeated(piece: AnyArray) -> int:
    """Return how many digests repeat; the second half is compared only if the first is equal."""
    ordered = np.sort(piece[:, 0])
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not twice.size:
        return 0
    alike = piece[np.isin(piece[:, 0], twice)]
    return len(alike) - len(np.unique(alike, axis=0))
