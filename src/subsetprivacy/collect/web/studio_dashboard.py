"""The dashboard of a survey: everything on it is worked out at a release and stays until the next."""

from attrs import frozen

from subsetprivacy.collect.service.exporting import python_snippet
from subsetprivacy.collect.service.figures import pair_figure, releases_figure
from subsetprivacy.collect.service.results import GroupResult, Results
from subsetprivacy.collect.service.results_pairs import PairResult
from subsetprivacy.collect.survey.tallies import Released
from subsetprivacy.collect.web.studio_panels import VariablePanel, variable_panel
from subsetprivacy.report.markup import Html
from subsetprivacy.report.wording import bits, share, span, whole
from subsetprivacy.tables import number, pvalue_text

_LAST_SEALS = 12


@frozen(eq=False)
class PairPanel:
    """What is shown of two variables together."""

    held: PairResult
    labels: tuple[str, str]
    said: str
    figure: Html
    rows: tuple[tuple[str, ...], ...]
    facts: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        """The two labels."""
        return f"{self.labels[0]} and {self.labels[1]}"

    @property
    def head(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        return (self.labels[0], *self.held.columns)


@frozen(eq=False)
class GroupPanel:
    """A group of variables whose answers are kept side by side: what can be saved of it, and what it risks."""

    number: int
    label: str
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
    def alarms(self) -> int:
        """How many checks raise an alarm."""
        return sum(panel.alarms for panel in self.variables)


def dashboard(released: Released, held: Results) -> Dashboard:
    """Return all that is shown of a survey, from what is released and its results."""
    labels = {one.id: one.label for one in held.variables}
    return Dashboard(
        held,
        tuple(variable_panel(one) for one in held.variables),
        tuple(_pair(one, labels) for one in held.pairs),
        tuple(_group(k, one, labels) for k, one in enumerate(held.groups)),
        releases_figure(held.releases, "People released"),
        tuple((str(one.no), whole(one.n), one.day, one.chain_sha256) for one in reversed(held.releases[-_LAST_SEALS:])),
        max(0, len(held.releases) - _LAST_SEALS),
        python_snippet(released),
    )


def _pair(held: PairResult, labels: dict[str, str]) -> PairPanel:
    names = (labels[held.names[0]], labels[held.names[1]])
    rows: tuple[tuple[str, ...], ...] = ()
    if held.shares is not None:
        rows = tuple(
            (name, *(share(float(value)) for value in line)) for name, line in zip(held.rows, held.shares, strict=True)
        )
    figure = pair_figure(held, names, f"{names[0]} by {names[1]}") if held.shares is not None else Html()
    said = held.said
    for name, label in zip(held.names, names, strict=True):
        said = said.replace(f"“{name}”", f"“{label}”")
    return PairPanel(held, names, said, figure, rows, tuple(_pair_facts(held)))


def _pair_facts(held: PairResult) -> list[tuple[str, str]]:
    facts = [("People who answered both", whole(held.n))]
    if held.test is not None:
        value = pvalue_text(held.test.pvalue)
        facts.append(("Independence", f"p {value if value.startswith('<') else f'= {value}'} ({held.test.law})"))
    if held.strength is not None:
        low, high = held.strength.lower, held.strength.upper
        at = span(float(low), float(high), lambda x: number(x, 2))
        facts.append(("Cramér’s V", f"{number(held.strength.value, 2)}{f' ({at})' if at else ''}"))
    return facts


def _group(k: int, held: GroupResult, labels: dict[str, str]) -> GroupPanel:
    label = ", ".join(labels[name] for name in held.variables)
    if held.candidates is None:
        return GroupPanel(k, label, f"{bits(held.fingerprint_bits)} of fingerprint")
    risk = (
        f"{bits(held.fingerprint_bits)} of fingerprint together. Somebody who knows all of a person’s values finds "
        f"about {whole(held.candidates.expected)} rows that could be theirs, for the rarest values "
        f"{whole(held.candidates.least)}."
    )
    return GroupPanel(k, label, risk)
