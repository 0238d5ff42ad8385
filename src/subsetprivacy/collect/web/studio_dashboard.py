"""The dashboard of a survey: everything on it is worked out at a release and stays until the next."""

from collections.abc import Iterator

from attrs import frozen

from subsetprivacy.collect.service.exporting import python_snippet
from subsetprivacy.collect.service.figures import pair_figure, releases_figure
from subsetprivacy.collect.service.results import GroupResult, Results
from subsetprivacy.collect.service.results_pairs import Dependence, PairResult, Strength, pair_sentence
from subsetprivacy.collect.survey.tallies import Released
from subsetprivacy.collect.web.studio_panels import VariablePanel, variable_panel
from subsetprivacy.pvalues import p_equals
from subsetprivacy.report.markup import Html
from subsetprivacy.report.wording import bits, note_text, share, span, whole
from subsetprivacy.tables import number

_LAST_SEALS = 12
_BESIDE = 3  # columns of a table that stands beside its picture
_MANY = 1e6


@frozen(eq=False)
class PairPanel:
    """What is shown of two variables together.

    Attributes
    ----------
    rows
        The names of the table's rows, each with its cells: the share, and the interval where there is one.
    """

    held: PairResult
    titles: tuple[str, str]
    said: str
    figure: Html
    rows: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        """The titles of the two."""
        return f"{self.titles[0]} and {self.titles[1]}"

    @property
    def is_wide(self) -> bool:
        """Whether the table takes the whole width."""
        return len(self.held.columns) > _BESIDE


@frozen(eq=False)
class GroupPanel:
    """A group of variables whose answers are kept side by side: what can be saved of it, and what it risks."""

    number: int
    title: str
    risk: str


@frozen(eq=False)
class Dashboard:
    """All that is shown of a survey."""

    held: Results
    variables: tuple[VariablePanel, ...]
    pairs: tuple[PairPanel, ...]
    groups: tuple[GroupPanel, ...]
    growth: Html
    seals: tuple[tuple[str, ...], ...]
    older: int
    snippet: str

    @property
    def told_apart(self) -> str:
        """How many people all questions of a person together could tell apart."""
        number_of = 2**self.held.fingerprint_bits
        return f"about {whole(number_of)}" if number_of < _MANY else "more than a million"

    @property
    def alarms(self) -> int:
        """How many checks raise an alarm."""
        return sum(panel.alarms for panel in self.variables)


def dashboard(released: Released, held: Results) -> Dashboard:
    """Return all that is shown of a survey, from what is released and its results."""
    titles = {one.id: one.title for one in held.variables}
    return Dashboard(
        held,
        tuple(variable_panel(one) for one in held.variables),
        tuple(_pair(one, titles) for one in held.pairs),
        tuple(_group(k, one, titles) for k, one in enumerate(held.groups)),
        releases_figure(held.releases, "People released"),
        tuple((str(one.no), whole(one.n), one.day, one.chain_sha256) for one in reversed(held.releases[-_LAST_SEALS:])),
        max(0, len(held.releases) - _LAST_SEALS),
        python_snippet(released),
    )


def _pair(held: PairResult, titles: dict[str, str]) -> PairPanel:
    names = (titles[held.names[0]], titles[held.names[1]])
    figure = pair_figure(held, names, f"{names[0]} by {names[1]}") if held.shares is not None else Html()
    return PairPanel(
        held,
        names,
        pair_sentence(names, held.test),
        figure,
        tuple(_pair_rows(held)),
        tuple(_pair_facts(held)),
        tuple(map(note_text, held.notes)),
    )


def _pair_rows(held: PairResult) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    if held.shares is None or held.lower is None or held.upper is None:
        return
    for name, *lines in zip(held.rows, held.shares.tolist(), held.lower.tolist(), held.upper.tolist(), strict=True):
        yield name, tuple((share(w), span(low, high, share)) for w, low, high in zip(*lines, strict=True))


def _pair_facts(held: PairResult) -> list[tuple[str, str]]:
    facts = [("People who answered both", whole(held.n))]
    if held.test is not None:
        facts.append(("Test of independence", f"{p_equals(held.test.pvalue)} ({_law(held.test)})"))
    if held.strength is not None:
        facts.append(("Cramér’s V, less its bias (95% interval)", _strength(held.strength)))
    return facts


def _strength(held: Strength) -> str:
    ends = (held.lower, held.upper, lambda x: number(x, 2))
    return f"between {span(*ends, 'and')}" if held.value is None else f"{number(held.value, 2)} ({span(*ends)})"


def _law(test: Dependence) -> str:
    """Say what the p-value rests on."""
    if test.law != "permutation":
        return test.law
    least = test.pvalue * (1 + test.tables) < 1.5
    return f"from {whole(test.tables)} random tables" + (", none of them as far off" if least else "")


def _group(k: int, held: GroupResult, titles: dict[str, str]) -> GroupPanel:
    title = ", ".join(titles[name] for name in held.variables)
    if held.candidates is None:
        return GroupPanel(k, title, f"{bits(held.fingerprint_bits)} of fingerprint in a row")
    risk = (
        f"{bits(held.fingerprint_bits)} of fingerprint in a row. Somebody who knows all of a person’s values finds "
        f"about {whole(held.candidates.expected)} rows that could be theirs, for the rarest values "
        f"{whole(held.candidates.least)}."
    )
    return GroupPanel(k, title, risk)
