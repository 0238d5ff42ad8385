"""The dashboard of a survey. Everything on it is computed at a release and stays until the next."""

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
    """The panel of a variable: its heading and its findings."""

    title: str
    question: str
    answered: str
    alarms: str
    body: Html


@frozen(eq=False)
class GroupPanel:
    """A group of variables whose answers are kept row by row: its exports, and its risk."""

    number: int
    title: str
    risk: str


@frozen(eq=False)
class Dashboard:
    """The content of the dashboard, with findings in one language."""

    results: Results
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
        """How many people all questions of a person could tell apart."""
        number = 2**self.results.fingerprint_bits
        return f"about {self.words.whole(number)}" if number < _MANY else "more than a million"

    @property
    def alarms(self) -> int:
        """How many checks raise an alarm."""
        return self.results.findings.alarms

    @property
    def level(self) -> str:
        """When a check is an alarm."""
        return level_sentence(self.words, self.results.findings)

    @property
    def pairs_left_out(self) -> str:
        """How many pairs are not shown because there are too many. Empty if all are shown."""
        left = self.results.findings.pairs_left_out
        return self.words.count("pair.left_out", left) if left else ""

    @property
    def languages(self) -> list[tuple[str, str]]:
        """The languages that the findings can be read in."""
        return [(language, _NAMES[language]) for language in LANGUAGES]


def dashboard(released: Released, results: Results, language: str = "en") -> Dashboard:
    """Return the dashboard of a survey, from its released data and results."""
    words, findings = words_of(language), results.findings
    titles = {variable.name: variable.title for variable in findings}
    pairs = [
        (
            " – ".join(titles[name] for name in pair.names),
            pair_section(words, pair, titles, findings.level, MOST_OPTIONS),
        )
        for pair in findings.pairs
    ]
    return Dashboard(
        results,
        words,
        tuple(_variable(words, variable, results.variable(variable.name)) for variable in findings),
        tuple(pairs),
        tuple(links_section(words, table, titles) for table in findings.tables),
        tuple(row_section(words, row, titles) for row in findings.rows),
        tuple(_group(words, k, group, results, titles) for k, group in enumerate(results.groups)),
        _growth(words, results),
        tuple(
            (str(record.no), words.whole(record.n), record.day, record.chain_sha256)
            for record in reversed(results.releases[-_LAST_SEALS:])
        ),
        max(0, len(results.releases) - _LAST_SEALS),
        python_snippet(released),
    )


def _variable(words: Words, variable: VariableFindings, asked: SurveyVariable) -> VariablePanel:
    bits = words.bits(asked.fingerprint_bits)
    fingerprint = (words("privacy.fingerprint"), bits, words("privacy.fingerprint_means"))
    privacy = details(
        words("privacy.heading"),
        el("p", description(words, variable.design), class_="dim"),
        privacy_table(words, variable, (fingerprint,)),
        smallest_sets_table(words, variable),
        quiet=words("about", variable=variable.title),
        class_="more",
    )
    body = lines(
        [
            shares_section(words, variable),
            needed_section(words, variable),
            checks_section(words, variable),
            privacy,
            moments_section(words, variable),
        ]
    )
    return VariablePanel(
        variable.title, asked.question, words.whole(variable.answered), alarms_text(words, variable), body
    )


def _growth(words: Words, results: Results) -> Html:
    """Draw how many people's answers were released, release by release."""
    if not results.releases:
        return Html()
    first, last = results.releases[0].day, results.releases[-1].day
    people = words.whole(results.n)
    description = f"People released: {len(results.releases)} releases from {first} to {last}, {people} in all."
    totals = [record.total for record in results.releases]
    return growth_figure(words, totals, (first, last), "People released", description)


def _group(words: Words, k: int, group: SurveyGroup, results: Results, titles: dict[str, str]) -> GroupPanel:
    risk = f"A row has a fingerprint of {words.bits(group.fingerprint_bits)}."
    row = next((row for row in results.findings.rows if row.names == group.variables), None)
    if row is not None:
        risk = f"{risk} {candidates_sentence(words, row)}"
    return GroupPanel(k, ", ".join(titles[name] for name in group.variables), risk.strip())
