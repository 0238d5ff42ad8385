"""Is an id there twice in a table that does not fit in memory? Told by digests on disk, a part of them at a time.

Two values of one person would answer the same question, and intersect; so a
table with a key is refused if an id is repeated.
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
    """Return 128 bits for each id, shape (n, 2), that say nothing about it without the key."""
    shared = blake2b(digest_size=_DIGEST, key=key, person=_PERSON)
    out = bytearray()
    for text in ids.texts:
        one = shared.copy()
        one.update(text)
        out += one.digest()
    return np.frombuffer(bytes(out), "<u8").reshape(-1, 2)


def write_digests(path: Path, found: list[AnyArray]) -> None:
    """Write the digests of a unit in ascending order, so that a range of them is one piece."""
    both = np.concatenate(found) if found else np.empty((0, 2), np.uint64)
    np.save(path, both[np.argsort(both[:, 0], kind="stable")])


def repeated_ids(paths: list[Path]) -> int:
    """Return how many rows have an id that another row has before."""
    units = [np.load(path, mmap_mode="r") for path in paths]
    parts = max(1, -(-sum(map(len, units)) // _PART_ROWS))
    edges = [(k << 64) // parts for k in range(1, parts)]
    cuts = [np.searchsorted(unit[:, 0], np.array(edges, np.uint64)) for unit in units]
    again = 0
    for k in range(parts):
        piece = np.concatenate(
            [
                unit[at[k - 1] if k else 0 : at[k] if k + 1 < parts else len(unit)]
                for unit, at in zip(units, cuts, strict=True)
            ]
        )
        again += _repeated(piece)
    return again


def _repeated(piece: AnyArray) -> int:
    """Return how many digests came before; the second half is looked at only where the first is the same."""
    ordered = np.sort(piece[:, 0])
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not twice.size:
        return 0
    alike = piece[np.isin(piece[:, 0], twice)]
    return len(alike) - len(np.unique(alike, axis=0))
