"""The released data of a survey, which is all the studio ever sees of the answers."""

from collections.abc import Mapping

from attrs import frozen

from subsetprivacy.collect.survey.manifest import Manifest
from subsetprivacy.collect.survey.submission import CODE_BYTES, Framing


@frozen
class ReleaseRecord:
    """One release: its number of people, the codes that were open but unanswered, and its seal.

    Attributes
    ----------
    tally_sha256
        The hash of all counters after the release.
    chain_sha256
        The hash of that, the number, and the previous seal. No one can change a release without changing all later
        ones.
    """

    no: int
    n: int
    locked: int
    day: str
    tally_sha256: str
    chain_sha256: str


@frozen(eq=False)
class Released:
    """A survey and all of its released counters.

    Attributes
    ----------
    version
        The number of this version of the survey, from 1.
    releases
        The releases, oldest first.
    rows
        For each group of the manifest, how often each row of codes occurs.
    framings
        How often each question was asked and answered in this way.
    key
        The key of the coin flip, once it is published.
    """

    manifest: Manifest
    version: int
    is_open: bool
    opened_day: str
    closed_day: str | None
    releases: tuple[ReleaseRecord, ...]
    rows: tuple[Mapping[bytes, int], ...]
    framings: Mapping[Framing, int]
    key: bytes | None = None

    @property
    def n(self) -> int:
        """How many people's answers are released."""
        return sum(release.n for release in self.releases)


def row_codes(row: bytes) -> tuple[int, ...]:
    """Return the codes of a row, one per variable."""
    return tuple(int.from_bytes(row[k : k + CODE_BYTES], "big") for k in range(0, len(row), CODE_BYTES))
