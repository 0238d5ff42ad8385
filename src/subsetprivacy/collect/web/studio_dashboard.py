"""The dashboard of a survey: everything on it is worked out at a release and stays until the next."""

from attrs import frozen

from subsetprivacy.collect.service.exporting import python_snippet
from subsetprivacy.collect.service.results import Results, SurveyGroup, SurveyVariable
from subsetprivacy.collect.survey.tallies import Released
from subsetprivacy.finding.variable import VariableFindings
from subsetprivacy.presenting.checks import alarms_text, checks_section, level_sentence
from subsetprivacy.presenting.designs import description
from subsetprivacy.presenting.html import Html, details, el, lines
from subsetprivacy.presenting.links import links_section
from subsetprivacy.presenting.pairs import pair_section
from subsetprivacy.presenting.privacy import candidates_sentence, privacy_table, row_section, smallest_sets_table
from subsetprivacy.presenting.shares import moments_section, needed_section, shares_section
from subsetprivacy.presenting.svg import growth_figure
from subsetprivacy.presenting.words import LANGUAGES, Words, words_of

_LAST_SEALS = 12
MOST_OPTIONS = 48  # all options of a question are shown
_MANY = 1e6
_NAMES = {"en": "English", "de": "Deutsch", "ar": "العربية"}


@frozen(eq=False)
class VariablePanel:
    """What is shown of a variable: its heading, and all that is found."""

    title: str
    question: str
    answered: str
    alarms: str
    body: Html


@frozen(eq=False)
class GroupPanel:
    """A group of variables whose answers are kept row by row: what can be saved of it, and what it risks."""

    number: int
    title: str
    risk: str


@frozen(eq=False)
class Dashboard:
    """All that is shown of a survey, the findings in one language."""

    held: Results
    words: Words
    variables: tuple[VariablePanel, ...]
    pairs: tuple[tuple[str, Html], ...]
    links: tuple[Html, ...]
    together: tuple[Html, ...]
    groups: tuple[GroupPanel, ...]
    growth: Html
    seals: tuple[tuple[str, ...], ...]
    older: int
    snippet: str

    @property
    def told_apart(self) -> str:
        """How many people all questions of a person together could tell apart."""
        number = 2**self.held.fingerprint_bits
        return f"about {self.words.whole(number)}" if number < _MANY else "more than a million"

    @property
    def alarms(self) -> int:
        """How many checks raise an alarm."""
        return self.held.findings.alarms

    @property
    def level(self) -> str:
        """When a check is an alarm."""
        return level_sentence(self.words, self.held.findings)

    @property
    def pairs_left_out(self) -> str:
        """How many pairs are not shown, because there are so many; empty where all are."""
        left = self.held.findings.pairs_left_out
        return self.words.count("pair.left_out", left) if left else ""

    @property
    def languages(self) -> list[tuple[str, str]]:
        """The languages that the findings can be read in."""
        return [(language, _NAMES[language]) for language in LANGUAGES]


def dashboard(released: Released, held: Results, language: str = "en") -> Dashboard:
    """Return all that is shown of a survey, from what is released and its results."""
    words, found = words_of(language), held.findings
    titles = {one.name: one.title for one in found}
    pairs = [
        (" – ".join(titles[name] for name in pair.names), pair_section(words, pair, titles, found.level, MOST_OPTIONS))
        for pair in found.pairs
    ]
    return Dashboard(
        held,
        words,
        tuple(_variable(words, one, held.variable(one.name)) for one in found),
        tuple(pairs),
        tuple(links_section(words, one, titles) for one in found.tables),
        tuple(row_section(words, row, titles) for row in found.rows),
        tuple(_group(words, k, one, held, titles) for k, one in enumerate(held.groups)),
        _growth(words, held),
        tuple(
            (str(one.no), words.whole(one.n), one.day, one.chain_sha256)
            for one in reversed(held.releases[-_LAST_SEALS:])
        ),
        max(0, len(held.releases) - _LAST_SEALS),
        python_snippet(released),
    )


def _variable(words: Words, one: VariableFindings, asked: SurveyVariable) -> VariablePanel:
    bits = words.bits(asked.fingerprint_bits)
    fingerprint = (words("privacy.fingerprint"), bits, words("privacy.fingerprint_means"))
    privacy = details(
        words("privacy.heading"),
        el("p", description(words, one.design), class_="dim"),
        privacy_table(words, one, (fingerprint,)),
        smallest_sets_table(words, one),
        quiet=words("about", variable=one.title),
        class_="more",
    )
    body = lines(
        [
            shares_section(words, one),
            needed_section(words, one),
            checks_section(words, one),
            privacy,
            moments_section(words, one),
        ]
    )
    return VariablePanel(one.title, asked.question, words.whole(one.answered), alarms_text(words, one), body)


def _growth(words: Words, held: Results) -> Html:
    """Draw how many people's answers were released, release by release."""
    if not held.releases:
        return Html()
    first, last = held.releases[0].day, held.releases[-1].day
    people = words.whole(held.n)
    said = f"People released: {len(held.releases)} releases from {first} to {last}, {people} in all."
    totals = [one.total for one in held.releases]
    return growth_figure(words, totals, (first, last), "People released", said)


def _group(words: Words, k: int, group: SurveyGroup, held: Results, titles: dict[str, str]) -> GroupPanel:
    risk = f"{words.bits(group.fingerprint_bits)} of fingerprint in a row."
    row = next((row for row in held.findings.rows if row.names == group.variables), None)
    if row is not None:
        risk = f"{risk} {candidates_sentence(words, row)}"
    return GroupPanel(k, ", ".join(titles[name] for name in group.variables), risk.strip())
