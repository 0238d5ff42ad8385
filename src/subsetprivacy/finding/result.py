"""The findings of a data set of subsets. Each part is computed when it is first used."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from subsetprivacy import draw
from subsetprivacy._checks import shown
from subsetprivacy._words import counted
from subsetprivacy.auditing import Audit
from subsetprivacy.data import GroupedCounts, QuestionCounts, SubsetCounts
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.finding.captured_warnings import capture_warnings
from subsetprivacy.finding.document import document_text, plain, schema_of
from subsetprivacy.finding.pairs import MOST_PAIRS, PairFindings, pair_findings, pairs_of
from subsetprivacy.finding.rows import RowFindings, row_findings
from subsetprivacy.finding.settings import FindingsSettings
from subsetprivacy.finding.sources import FindingsSource
from subsetprivacy.finding.tables import TableFindings, table_findings
from subsetprivacy.finding.variable import VariableFindings
from subsetprivacy.honesty.alarms import Alarm
from subsetprivacy.honesty.all_checks import Checks, VariableChecks, run_checks
from subsetprivacy.honesty.leaning import lifted
from subsetprivacy.messages import Note, NoteKind, unique
from subsetprivacy.results import Result
from subsetprivacy.tables import Table, number, percent

FORMAT = "subsetprivacy.findings"
VERSION = 3
Progress = Callable[[int, int], None]


@frozen
class SourceFacts:
    """Facts about the data set.

    Attributes
    ----------
    name
        The file, or the name of the data. Empty if they have no name.
    rows
        The number of rows.
    kept, alone
        The unprotected columns, and how many rows are unique in them. None if that is unknown.
    linked
        The columns that are kept row by row, so that one person's reports can be read together.
    """

    name: str
    rows: int
    kept: tuple[str, ...]
    alone: int | None
    linked: tuple[tuple[str, ...], ...]


@frozen(slots=False, eq=False, repr=False)
class Findings(Result):
    """The findings of a data set of subsets, made by `findings`. Each part is computed when it is first used.

    Index it by the name of a column, ``found["race"]``, for its shares, differences, groups, privacy and checks.

    Attributes
    ----------
    source
        The source of the counts.
    settings
        The settings of all computations.
    names
        The columns that it is about.
    """

    why_not_restored: ClassVar[str] = "keep the release or the counts, and call sp.findings again"
    DOCUMENT: ClassVar[tuple[str, ...]] = (
        "source_facts",
        "level",
        "alarm",
        "variables",
        "pairs",
        "pairs_alpha",
        "pairs_left_out",
        "tables",
        "rows",
        "notes",
    )

    source: FindingsSource
    settings: FindingsSettings
    names: tuple[str, ...]
    tested: bool = True
    wanted: tuple[tuple[str, ...], ...] | None = None
    questions: Mapping[str, QuestionCounts] = field(factory=dict)
    earlier: "Findings | None" = None
    by: tuple[str, ...] = ()
    _made: dict[str, VariableFindings] = field(factory=dict)

    def __repr__(self) -> str:
        columns = counted(len(self.names), "column")
        return f"<Findings of {columns}: {', '.join(map(repr, self.names[:4]))}{', …' * (len(self.names) > 4)}>"

    # Parts ------------------------------------------------------------------------------------

    @property
    def level(self) -> float:
        """The confidence level of all intervals."""
        return self.settings.level

    @cached_property
    def source_facts(self) -> SourceFacts:
        """Facts about the data set."""
        source = self.source
        return SourceFacts(self.title, int(source.rows), tuple(source.kept), source.unique_rows(), self.linked)

    @property
    def title(self) -> str:
        """The title of the data, or the name of the file."""
        path = getattr(self.source, "path", None)
        return getattr(self.source, "title", "") or ("" if path is None else Path(path).name)

    @property
    def linked(self) -> tuple[tuple[str, ...], ...]:
        """The chosen columns that are kept row by row."""
        linked = getattr(self.source, "linked", None)
        every = (tuple(self.source.designs),) if linked is None else linked
        mine = (tuple(name for name in names if name in self.names) for names in every)
        return tuple(names for names in mine if len(names) > 1)

    @property
    def variables(self) -> tuple[VariableFindings, ...]:
        """The findings of each column."""
        return tuple(self[name] for name in self.names)

    def __getitem__(self, name: str) -> VariableFindings:
        """Return the findings of the column with that name."""
        if name not in self.names:
            raise ArgumentError(f"`name` must be one of {', '.join(self.names)}; got {shown(name)}.")
        if name not in self._made:
            self._made[name] = VariableFindings(
                name,
                getattr(self.source, "titles", {}).get(name, name),
                self.source.count(name),
                self.settings,
                self.questions.get(name),
                partial(self._earlier_fit, name),
                partial(self._grouped, name),
                partial(self._checks_of, name),
            )
        return self._made[name]

    def __iter__(self) -> Iterator[VariableFindings]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.names)

    def _earlier_fit(self, name: str) -> tuple[str, Estimate | None] | None:
        before = self.earlier
        if before is None or name not in before.names:
            return None
        return before.title or "earlier", before[name].fit

    def _grouped(self, name: str) -> GroupedCounts[SubsetCounts] | None:
        return self.source.count(name, by=list(self.by)) if self.by else None  # type: ignore[call-arg]

    def _checks_of(self, name: str) -> VariableChecks | None:
        return self.checks.get(name)

    @cached_property
    def checks(self) -> Checks:
        """The checks of all columns, at one alarm level. Columns with sampling weights have none."""
        counted = [variable for variable in self.variables if not variable.is_weighted]
        counts = {variable.name: variable.counts for variable in counted}
        shares = {
            variable.name: lifted(np.maximum(variable.fit.w, 0.0), float(variable.fit.n))
            for variable in counted
            if variable.fit
        }
        with capture_warnings():
            first = run_checks(counts, self.questions, self.settings.seed_of, shares)
            return first.settled(self.settings.chance, self.settings.check_seconds)

    @property
    def alarm(self) -> Alarm:
        """The p-value below which a check raises an alarm."""
        return self.checks.alarm

    @property
    def alarms(self) -> int:
        """How many checks raise an alarm."""
        return sum(variable.alarms for variable in self.variables)

    # Together ---------------------------------------------------------------------------------

    @cached_property
    def _every_pair(self) -> list[tuple[str, ...]]:
        if self.wanted is not None:
            return list(self.wanted)
        return pairs_of(self.linked, {name: self.source.designs[name] for name in self.names})

    @property
    def pairs_alpha(self) -> float | None:
        """The p-value below which a test of two columns counts (Bonferroni). None for a single pair."""
        tests = sum(pair.test is not None for pair in self.pairs)
        return (1 - self.level) / tests if tests > 1 else None

    @property
    def pairs_left_out(self) -> int:
        """How many pairs of columns are left out because there are too many."""
        return max(0, len(self._every_pair) - MOST_PAIRS)

    @cached_property
    def pairs(self) -> tuple[PairFindings, ...]:
        """The findings of each pair of columns."""
        return tuple(self._pair(names) for names in self._every_pair[:MOST_PAIRS])

    def _pair(self, names: tuple[str, ...]) -> PairFindings:
        return pair_findings(self.source, names, min(len(self._every_pair), MOST_PAIRS), self.tested, self.settings)

    @cached_property
    def tables(self) -> tuple[TableFindings, ...]:
        """Which of three or more columns are linked directly, if they are kept row by row."""
        if not self.tested or self.wanted is not None:
            return ()
        return tuple(table_findings(self.source, names, self.level) for names in self.linked if len(names) > 2)

    @cached_property
    def rows(self) -> tuple[RowFindings, ...]:
        """What all reports of one person reveal together, if they are kept row by row."""
        return tuple(self._row(names) for names in self.linked)

    def _row(self, names: tuple[str, ...]) -> RowFindings:
        audits = {name: self[name].audit for name in names}
        known = {name: audit if isinstance(audit, Audit) else None for name, audit in audits.items()}
        people = max(self[name].people for name in names)
        return row_findings(self.source, names, known, people, self.level)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Caveats of the data set as a whole."""
        notes = []
        if not any(variable.people for variable in self.variables):
            notes.append(Note(NoteKind.NO_ESTIMATE, "There are no people yet."))
        return unique([*notes, *self.alarm.notes])

    def compute(self, progress: Progress | None = None) -> "Findings":
        """Compute all parts now, and return the findings.

        Parameters
        ----------
        progress
            Called with the number of finished steps and the total.
        """
        tell = progress or (lambda done, total: None)
        steps: list[Callable[[], object]] = [partial(self._whole_variable, name) for name in self.names]
        steps += [lambda: self.checks, lambda: self.pairs, lambda: self.tables, lambda: self.rows, self.to_dict]
        weights = [1] * len(self.names) + [1, max(1, len(self._every_pair[:MOST_PAIRS])), 0, 1, 0]
        done, total = 0, sum(weights)
        for step, weight in zip(steps, weights, strict=True):
            tell(done, total)
            step()
            done += weight
        tell(total, total)
        return self

    def _whole_variable(self, name: str) -> None:
        variable = self[name]
        for part in ("shares", "moments", "needed", "difference", "groups", "privacy"):
            getattr(variable, part)

    # Output -----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON, following `schema`. The same counts give the same data."""
        return {"format": FORMAT, "version": VERSION, **plain(self)}

    def to_json(self) -> str:
        """Return everything as JSON text. The same counts give the same bytes."""
        return document_text(self.to_dict())

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of `to_dict`."""
        return schema_of(cls, "Findings of a data set of subsets", format=FORMAT, version=VERSION)

    def _columns(self) -> dict[str, Any]:
        parts = [variable.columns() for variable in self.variables]
        return {
            name: [x for part in parts for x in part[name]]
            if name in ("variable", "category")
            else np.concatenate([part[name] for part in parts])
            for name in parts[0]
        }

    def summary(self) -> Table:
        """Return a row per column: people, the largest share with its interval, alarms of the checks."""
        rows = tuple(map(self._line, self.variables))
        ends = (f"lower {percent(self.level)}", f"upper {percent(self.level)}")
        head = ("column", "people", "largest share", "estimate", *ends, "checks")
        return Table(f"Findings{f' of {self.title}' if self.title else ''}", head, rows, self.notes)

    def _line(self, variable: VariableFindings) -> tuple[str, ...]:
        tested = variable.checks is not None and bool(variable.checks.tests)
        state = counted(variable.alarms, "alarm") if variable.alarms else "no alarm" if tested else "not checked"
        if variable.shares is None or not variable.is_unique:
            return variable.title, f"{variable.answered:.0f}", "–", "–", "–", "–", state
        top, shares = int(np.argmax(variable.shares.estimate)), variable.shares
        numbers = (number(float(column[top])) for column in (shares.estimate, shares.lower, shares.upper))
        return variable.title, f"{variable.answered:.0f}", variable.categories[top], *numbers, state

    def plot(self, name: str | None = None, *, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Draw the estimated shares of one column with their intervals.

        Parameters
        ----------
        name
            The column. May be omitted if there is only one.
        title, ax
            As in `Estimate.plot`.
        """
        if name is None and len(self.names) > 1:
            raise ArgumentError(f"`name` must be one of {', '.join(self.names)}; got none.")
        fit = self[name or self.names[0]].fit
        if fit is None:
            raise ArgumentError("`name` must be a column with an estimate; got one without.")
        return fit.plot(level=self.level, title=title, ax=ax)
