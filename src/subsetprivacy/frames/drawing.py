"""The first pass of a long run: draw the subsets of a unit of rows and put them on a pile, for `heaps` to take up.

Where only a few kinds of rows are possible they are counted: counts have no
order. Otherwise each row is dealt to a heap.
"""

from collections.abc import Iterator
from typing import Any

from attrs import asdict, field, frozen

from subsetprivacy._types import AnyArray, IntArray, RandomSource
from subsetprivacy.frames.kernel import Kernel
from subsetprivacy.frames.packing import Packing
from subsetprivacy.frames.piles import Pile, Tally
from subsetprivacy.frames.refused import Refused
from subsetprivacy.frames.repeated import digests, write_digests
from subsetprivacy.frames.sources import Unit
from subsetprivacy.frames.staging import Stage
from subsetprivacy.mechanism.randomness import random_source, seeded_source


@frozen
class Job:
    """What every process of a run has to know.

    Attributes
    ----------
    heaps
        How many heaps the rows are dealt to, unless they are counted; 0 keeps their order.
    seed
        For experiments; None draws securely.
    """

    kernel: Kernel
    packing: Packing
    stage: Stage
    heaps: int
    seed: int | None = field(default=None, repr=False)

    @property
    def counts(self) -> bool:
        """Whether rows are counted instead of dealt."""
        return self.heaps > 0 and self.packing.is_countable

    def pile(self, name: str) -> Pile:
        """Return the file of a unit, to be written."""
        path = self.stage.unit(name)
        return Tally(path, self.packing) if self.counts else Pile(path, self.packing, self.heaps)

    def source(self, *place: int) -> RandomSource:
        """Return the random source of one piece of the work; by a seed it does not depend on who does it."""
        return random_source() if self.seed is None else seeded_source(self.seed, *place)


@frozen
class Came:
    """What came of a unit."""

    name: str = ""  # of its files
    rows: int = 0
    reports: int = 0
    refused: tuple[Refused, ...] = ()

    @classmethod
    def of(cls, note: dict[str, Any]) -> "Came":
        """Read it back from plain data."""
        return cls(note["name"], note["rows"], note["reports"])


def draw_unit(number: int, unit: Unit, job: Job) -> Came:
    """Draw a unit's subsets into the stage; if rows are refused, nothing is written and they are returned."""
    source, name = job.source(0, number), job.stage.name(number)
    refused: list[Refused] = []
    found: list[AnyArray] = []
    rows = reports = 0
    with job.pile(name) as pile:
        for batch in unit.batches():
            drawn = job.kernel.draw(batch, source)
            refused += [each.moved(unit.first + rows) for each in drawn.refused]
            if drawn.ids is not None and job.kernel.key is not None:
                found.append(digests(drawn.ids, job.kernel.key))
            if not refused:
                pile.add(job.packing.pack(drawn.codes, job.kernel.kept(batch), job.kernel.keep), source)
            rows, reports = rows + batch.num_rows, reports + drawn.reports
    if refused:
        return Came(name, rows, refused=tuple(refused))
    if job.kernel.key is not None:
        write_digests(job.stage.ids(name), found)
    came = Came(name, rows, reports)
    job.stage.finish(number, {field: value for field, value in asdict(came).items() if field != "refused"})
    return came


def draw_dummies(number: int, blocks: Iterator[IntArray], job: Job) -> Came:
    """Put a covered design's dummy rows on a pile as well."""
    source, name = job.source(1), job.stage.name(number)
    rows = 0
    with job.pile(name) as pile:
        for codes in blocks:
            pile.add(job.packing.pack([codes], [], []), source)
            rows += len(codes)
    return Came(name, rows)
