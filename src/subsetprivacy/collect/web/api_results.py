"""The results as the API gives them, typed. `results_document` of the service says what each means."""

from typing import Literal

from pydantic import Field

from subsetprivacy.collect.web.api_models import Given


class SurveyHead(Given):
    """The survey that results are of."""

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


class SealedRelease(Given):
    """One release."""

    no: int
    n: int
    total: int
    locked: int
    day: str
    tally_sha256: str
    chain_sha256: str


class TestOf(Given):
    """A test."""

    __test__ = False  # no class of pytest's

    by: str
    statistic: float | None
    df: int | None
    pvalue: float | None
    law: str


class OptionShare(Given):
    """The estimated share of one option."""

    option: str
    share: float | None
    se: float | None
    lower: float | None
    upper: float | None


class SharesOf(Given):
    """Estimated shares."""

    method: str
    interval: str
    options: list[OptionShare]
    notes: list[str]


class MomentShares(SharesOf):
    """The estimate by moments."""

    holds: bool


class NeededOf(Given):
    """How many people make the intervals as short as wanted."""

    margin: float
    answers: int
    more: int
    people: int


class LeakOf(Given):
    """One measure of what an answer gives away."""

    leakage: float | None
    baseline: float | None
    nonprivate: float | None
    lower: float | None
    upper: float | None


class PrivacyOf(Given):
    """What an answer gives away."""

    at: str
    information: LeakOf
    guess: LeakOf
    ruled_out: LeakOf | None
    maximal_bits: float | None
    maximal_factor: float | None
    smallest_set: int
    options: int
    largest_posterior: float | None
    telling_answer: str
    told_option: str
    epsilon: float | None
    cost: float | None
    fingerprint_bits: float | None
    notes: list[str]


class CellOf(Given):
    """How often a question was asked."""

    name: str
    asked: int
    expected: float | None


class DrawsOf(Given):
    """Whether the questions come as the design says."""

    n: int
    test: TestOf | None
    sides: TestOf | None
    cells: list[CellOf]
    alarm: bool
    said: str
    problem: str
    notes: list[str]


class LeaningOf(Given):
    """Whether people lean to yes or to a place."""

    n: int
    share: float | None
    se: float | None
    lower: float | None
    upper: float | None
    detectable: float | None
    power: float | None
    positions: list[int]
    test: TestOf | None
    alarm: bool
    said: str
    problem: str


class OptionSkipsOf(Given):
    """How often people skip with and without an option among those asked about."""

    option: str
    asked_with: int
    skipped_with: int
    asked_without: int
    skipped_without: int


class SkipsOf(Given):
    """How many skip, and whether that depends on the question."""

    asked: int
    skipped: int
    rate: float | None
    lower: float | None
    upper: float | None
    test: TestOf | None
    options: list[OptionSkipsOf]
    alarm: bool
    said: str
    problem: str


class HonestyOf(Given):
    """How many answer by chance."""

    answers: TestOf | None
    test: TestOf | None
    share: float | None
    se: float | None
    lower: float | None
    upper: float | None
    detectable: float | None
    alarm: bool
    said: str
    notes: list[str]
    problem: str


class VariableOf(Given):
    """The results of one variable."""

    id: str
    label: str
    question: str
    kind: Literal["yes_no", "groups", "bit", "local"]
    design: str
    options: list[str]
    n: int
    answered: int
    skipped: int
    alarm: bool
    notes: list[str]
    problem: str
    shares: SharesOf | None
    moments: MomentShares | None
    needed: list[NeededOf]
    privacy: PrivacyOf
    draws: DrawsOf
    leaning: LeaningOf
    skips: SkipsOf
    honesty: HonestyOf


class CandidatesOf(Given):
    """How many rows could be a person's whose values are known."""

    expected: float | None
    least: float | None


class GroupOf(Given):
    """Variables whose answers are kept side by side."""

    variables: list[str]
    rows: int
    fingerprint_bits: float | None
    candidates: CandidatesOf | None
    notes: list[str]


class DependenceOf(Given):
    """A test of independence."""

    method: str
    statistic: float | None
    df: float | None
    pvalue: float | None
    law: str
    tables: int


class StrengthOf(Given):
    """Cramér's V less its upward bias; no value where the bias is as large as what would be left."""

    value: float | None
    se: float | None
    lower: float | None
    upper: float | None


class PairOf(Given):
    """Two variables together."""

    variables: list[str]
    rows: list[str]
    columns: list[str]
    n: int
    incomplete: int
    method: str
    shares: list[list[float | None]] | None
    se: list[list[float | None]] | None
    lower: list[list[float | None]] | None
    upper: list[list[float | None]] | None
    test: DependenceOf | None
    strength: StrengthOf | None
    said: str
    notes: list[str]
    problem: str


class AlarmsOf(Given):
    """When a test of the data is an alarm."""

    chance: float = Field(description="That honest people raise any alarm at a release, at most.")
    tests: int = Field(description="How many tests are made in the whole survey.")
    level: float = Field(description="The p-value below which a test is an alarm: the chance divided by the tests.")


class ResultsOf(Given):
    """Everything the dashboard shows. It changes at a release and at no other time."""

    format: Literal["subsetprivacy.results"]
    version: Literal[1]
    survey: SurveyHead
    n: int = Field(description="How many people's answers are released.")
    locked: int = Field(description="Codes that were opened and not answered at the last release.")
    seal: str
    level: float
    alarms: AlarmsOf
    fingerprint_bits: float | None
    releases: list[SealedRelease]
    variables: list[VariableOf]
    groups: list[GroupOf]
    pairs: list[PairOf]
    notes: list[str]
