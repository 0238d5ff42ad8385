"""Pack rows into few bits, so that dealing and shuffling them is fast."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from subsetprivacy._types import AnyArray, IntArray, RandomSource
from subsetprivacy.design import Design, draws
from subsetprivacy.engines.buffers import from_numpy, to_numpy
from subsetprivacy.mechanism.shuffle import shuffled, shuffled_values

if TYPE_CHECKING:
    import pyarrow as pa

_WORD = "word"
_BUCKET_BITS = 12
MOST_BUCKETS = 1 << _BUCKET_BITS
_FEW_BITS = 18  # this many counters fit in the processor's cache


@frozen
class Packing:
    """The representation of rows: all codes of a row in one word of up to 32 bits, or separate columns.

    Sorting words is several times as fast as computing and applying an order, so rows that fit in a word are dealt and
    shuffled as words.

    Attributes
    ----------
    designs
        The columns of codes.
    is_word
        Whether a row is one word, because the codes fit and no column is kept.
    """

    designs: dict[str, Design]
    is_word: bool

    @classmethod
    def of(cls, designs: dict[str, Design], keep: Sequence[str]) -> "Packing":
        """Choose the representation."""
        return cls(designs, not keep and sum(design.code_bits for design in designs.values()) <= 32)

    @property
    def _bits(self) -> int:
        return sum(design.code_bits for design in self.designs.values())

    def pack(self, codes: Sequence[AnyArray], kept: Sequence[Any], keep: Sequence[str]) -> "pa.RecordBatch":
        """Return rows in this representation."""
        import pyarrow as pa

        if not self.is_word:
            each = zip(codes, self.designs.values(), strict=True)
            narrowed = [from_numpy(_narrow(part, design.code_bits)) for part, design in each]
            return pa.RecordBatch.from_arrays([*narrowed, *kept], names=[*self.designs, *keep])
        word = codes[0]
        for part, design in zip(codes[1:], list(self.designs.values())[1:], strict=True):
            word = (word << design.code_bits) | part
        return pa.RecordBatch.from_arrays([from_numpy(_narrow(word, self._bits))], names=[_WORD])

    @property
    def is_countable(self) -> bool:
        """Whether there are so few kinds of rows that counting is cheaper than moving them."""
        return self.is_word and self._bits <= _FEW_BITS

    def no_counts(self) -> IntArray:
        """Return a zero counter for every word; only for countable rows."""
        return np.zeros(1 << self._bits, dtype=np.int64)

    def tally(self, batch: "pa.RecordBatch", counts: IntArray) -> None:
        """Add the rows of a batch to the counters."""
        words = to_numpy(batch.column(0))
        if len(words) < len(counts):
            np.add.at(counts, words, 1)
        else:
            counts += np.bincount(words, minlength=len(counts))

    def laid_out(self, counts: IntArray, rng: RandomSource) -> "pa.Table":
        """Return the rows with these counts, uniformly shuffled."""
        import pyarrow as pa

        words = np.repeat(_narrow(np.arange(len(counts)), self._bits), counts)
        return self.shuffled(pa.table({_WORD: from_numpy(words)}), rng)

    def unpack(self, rows: "pa.Table") -> "pa.Table":
        """Return packed rows as columns."""
        import pyarrow as pa

        if not self.is_word:
            return rows
        if len(self.designs) == 1:
            return rows.rename_columns(list(self.designs))
        word = to_numpy(rows.column(0))
        columns: dict[str, AnyArray] = {}
        shift = 0
        for name, design in reversed(self.designs.items()):
            columns[name] = (word.astype(np.int64) >> shift) & ((1 << design.code_bits) - 1)
            shift += design.code_bits
        return pa.table({name: from_numpy(columns[name]) for name in self.designs})

    def into_buckets(self, batch: "pa.RecordBatch", buckets: int, rng: RandomSource) -> Iterator["pa.RecordBatch"]:
        """Return the rows of each bucket, each row dealt uniformly and independently, in any order."""
        if buckets == 1:
            yield batch
            return
        bucket = draws.below(batch.num_rows, buckets, rng)
        dealt, ends = self._dealt_words(batch, bucket, buckets) if self.is_word else _dealt_rows(batch, bucket, buckets)
        for start, end in zip([0, *ends], [*ends, batch.num_rows], strict=True):
            yield dealt.slice(start, end - start)

    def _dealt_words(
        self, batch: "pa.RecordBatch", bucket: IntArray, buckets: int
    ) -> tuple["pa.RecordBatch", list[int]]:
        """Sort the words with their bucket in the high bits."""
        import pyarrow as pa

        kind: Any = np.uint32 if self._bits + _BUCKET_BITS <= 32 else np.uint64
        shift = kind(self._bits)
        words = bucket.astype(kind) << shift
        words |= to_numpy(batch.column(0))
        words.sort()
        ends = np.searchsorted(words, np.arange(1, buckets, dtype=kind) << shift)
        words &= (kind(1) << shift) - kind(1)
        return pa.RecordBatch.from_arrays([from_numpy(_narrow(words, self._bits))], names=[_WORD]), ends.tolist()

    def shuffled(self, rows: "pa.Table", rng: RandomSource) -> "pa.Table":
        """Return the rows, uniformly shuffled."""
        import pyarrow as pa

        if not self.is_word:
            return rows.take(from_numpy(shuffled(rows.num_rows, rng)))
        return pa.table({_WORD: from_numpy(shuffled_values(to_numpy(rows.column(0)), rng))})


def _dealt_rows(batch: "pa.RecordBatch", bucket: IntArray, buckets: int) -> tuple["pa.RecordBatch", list[int]]:
    """Sort the rows by bucket."""
    order = np.argsort(bucket.astype(np.uint16), kind="stable")  # sixteen bits: a radix sort
    ends = np.searchsorted(bucket, np.arange(1, buckets), sorter=order)
    return batch.take(from_numpy(order)), ends.tolist()


def _narrow(words: AnyArray, bits: int) -> AnyArray:
    """Return words in the smallest type that holds them."""
    width = next(width for width in (8, 16, 32, 64) if bits <= width)
    return words.astype(f"u{width // 8}" if width < 64 else np.int64, copy=False)
