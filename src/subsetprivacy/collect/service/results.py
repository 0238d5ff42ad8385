"""Everything that is reported about a survey, from its released counters alone: its facts and the library's findings.

The same counters give the same results, byte for byte, because the seal of the last release seeds all resampling.
Nothing changes between releases.
"""

from collections.abc import Mapping
from functools import cached_property
from threading import Lock
from typing import Any, ClassVar, Literal

from attrs import frozen

from subsetprivacy.collect.service.counters import GroupRows, counts_of, group_rows, joint_counts, question_counts
from subsetprivacy.collect.survey.definition import titles_of
from subsetprivacy.collect.survey.describing import fingerprint_bits, kept_rows
from subsetprivacy.collect.survey.tallies import Released, ReleaseRecord
from subsetprivacy.data import JointCounts, QuestionCounts, SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.finding import Findings, findings
from subsetprivacy.finding.document import plain, schema_of

FORMAT = "subsetprivacy.results"
VERSION = 2

BUDGET = 2.5  # seconds that samples and tables may take: people wait for a page
_ALONE = Lock()


@frozen(slots=False, eq=False)
class SurveySource:
    """A survey as the library's findings see it: designs and released counts."""

    released: Released

    @property
    def title(self) -> str:
        """The title of the survey."""
        return self.released.manifest.title

    @property
    def titles(self) -> dict[str, str]:
        """The title of each variable: the label, with the id where another variable has the same label."""
        return titles_of({variable["id"]: variable["label"] for variable in self.released.manifest.variables})

    @property
    def seal(self) -> str:
        """The seal of the last release, which seeds all random draws."""
        return self.released.releases[-1].chain_sha256 if self.released.releases else ""

    @property
    def designs(self) -> Mapping[str, Design]:
        """The design of each variable."""
        return self.released.manifest.designs

    @property
    def rows(self) -> int:
        """How many people's answers are released."""
        return self.released.n

    @property
    def kept(self) -> tuple[str, ...]:
        """Nothing is kept as it is."""
        return ()

    def unique_rows(self) -> int:
        """Return 0: nothing is kept as it is."""
        return 0

    @cached_property
    def tables(self) -> list[GroupRows]:
        """The rows of each group."""
        return [group_rows(self.released, k) for k in range(len(self.released.manifest.groups))]

    @property
    def linked(self) -> tuple[tuple[str, ...], ...]:
        """The variables whose answers are kept row by row. None before the first release."""
        return tuple(table.names for table in self.tables if len(table.names) > 1 and self.released.n)

    @cached_property
    def questions(self) -> dict[str, QuestionCounts]:
        """How the question of each variable was asked and answered."""
        return question_counts(self.released)

    def count(self, column: str) -> SubsetCounts:
        """Return how often each subset of a variable was sent."""
        return counts_of(self._table(column), column, self.designs[column])

    def crosstab(self, *columns: str) -> JointCounts:
        """Return how often each combination of subsets was sent."""
        return joint_counts(self._table(columns[0]), columns, self.designs)

    def _table(self, column: str) -> GroupRows:
        return next(table for table in self.tables if column in table.names)


@frozen
class SurveyHead:
    """The survey that the results are about."""

    id: str
    fingerprint: str
    title: str
    study: str
    mode: Literal["code", "open"]
    version: int
    state: Literal["open", "closed"]
    opened_day: str
    closed_day: str | None
    batch: int
    self_selected: bool


@frozen
class SurveyRelease:
    """One release.

    Attributes
    ----------
    total
        People released so far.
    locked
        In code mode: codes that were opened and not yet used.
    """

    no: int
    n: int
    total: int
    locked: int
    day: str
    tally_sha256: str
    chain_sha256: str


@frozen
class SurveyVariable:
    """A question and how it was asked.

    Attributes
    ----------
    fingerprint_bits
        How well the remembered question tells a person from others.
    """

    id: str
    label: str
    title: str
    question: str
    kind: Literal["yes_no", "groups", "bit", "local"]
    fingerprint_bits: float


@frozen
class SurveyGroup:
    """Variables whose answers are kept row by row. A variable that is kept alone is a group of one.

    Attributes
    ----------
    rows
        How many different rows were released.
    fingerprint_bits
        How well a row tells a person from others with the same values. For a question with groups, it contains only the
        chosen group.
    """

    variables: tuple[str, ...]
    rows: int
    fingerprint_bits: float


@frozen(slots=False, eq=False)
class Results:
    """Everything reported about a survey.

    Attributes
    ----------
    n, locked
        People whose answers are released. In code mode, codes that were opened but not used by the last release.
    seal
        The seal of the last release. Empty before the first.
    fingerprint_bits
        How well all remembered questions of a person tell them from others, to anyone who sees a whole submission.
    findings
        What the data say.
    """

    DOCUMENT: ClassVar[tuple[str, ...]] = (
        "survey",
        "n",
        "locked",
        "seal",
        "fingerprint_bits",
        "releases",
        "variables",
        "groups",
        "findings",
    )

    survey: SurveyHead
    n: int
    locked: int
    seal: str
    fingerprint_bits: float
    releases: tuple[SurveyRelease, ...]
    variables: tuple[SurveyVariable, ...]
    groups: tuple[SurveyGroup, ...]
    findings: Findings

    def variable(self, name: str) -> SurveyVariable:
        """Return the variable with this id."""
        return next(variable for variable in self.variables if variable.id == name)


def results(released: Released) -> Results:
    """Compute the results of a survey.

    Parameters
    ----------
    released
        The survey and its released counters.

    Notes
    -----
    Only one thread computes at a time. The library's warnings become notes, and Python catches warnings for all
    threads at once.
    """
    with _ALONE:
        source = SurveySource(released)
        computed = findings(source, budget=BUDGET).compute()
        variables = tuple(_variable(variable, source) for variable in released.manifest.variables)
        return Results(
            _head(released),
            released.n,
            released.releases[-1].locked if released.releases else 0,
            source.seal,
            sum(facts.fingerprint_bits for facts in variables),
            _releases(released.releases),
            variables,
            tuple(_group(source, table) for table in source.tables),
            computed,
        )


def _head(released: Released) -> SurveyHead:
    manifest = released.manifest
    return SurveyHead(
        manifest.id,
        manifest.fingerprint,
        manifest.title,
        manifest.study,
        manifest.mode,  # type: ignore[arg-type]  # checked when it was published
        released.version,
        "open" if released.is_open else "closed",
        released.opened_day,
        released.closed_day,
        manifest.batch,
        manifest.mode == "open",
    )


def _releases(releases: tuple[ReleaseRecord, ...]) -> tuple[SurveyRelease, ...]:
    out, total = [], 0
    for record in releases:
        total += record.n
        out.append(
            SurveyRelease(
                record.no, record.n, total, record.locked, record.day, record.tally_sha256, record.chain_sha256
            )
        )
    return tuple(out)


def _variable(variable: Mapping[str, Any], source: SurveySource) -> SurveyVariable:
    name = str(variable["id"])
    label, question, kind = (variable[key] for key in ("label", "question", "kind"))
    return SurveyVariable(name, label, source.titles[name], question, kind, fingerprint_bits(source.designs[name]))


def _group(source: SurveySource, table: GroupRows) -> SurveyGroup:
    bits = sum(kept_rows(source.designs[name]).bits for name in table.names)
    return SurveyGroup(table.names, len(table.n), bits)


def results_document(results: Results) -> dict[str, Any]:
    """Return results as plain data, by the schema of `results_schema`: the same for the same release."""
    return {"format": FORMAT, "version": VERSION, **plain(results)}


def results_schema(*, inline: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of `results_document`; see `schema_of`."""
    return schema_of(Results, "Results of a survey", inline=inline, format=FORMAT, version=VERSION)
