"""`GroupedCounts`: counts of several groups of people."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from math import isfinite
from typing import Any, Generic, Self, TypeVar

import numpy as np

from subsetprivacy._types import Label
from subsetprivacy._words import counted, plural, whole
from subsetprivacy.data.counts import SubsetCounts
from subsetprivacy.data.describing import (
    MAX_ROWS,
    design_of,
    facts_of,
    joined_columns,
    note_of_missing,
    note_of_weights,
    notes_of_design,
)
from subsetprivacy.data.joint import JointCounts
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages import Note, NoteKind, unique
from subsetprivacy.messages.for_data import AS_TO_DICT_WROTE, KEEP_GROUPS_PLAIN
from subsetprivacy.results import Result, plain
from subsetprivacy.subsets import is_missing
from subsetprivacy.tables import Table, label_text

C = TypeVar("C", bound=SubsetCounts)
T = TypeVar("T")
_MOST_COLUMNS = 6  # of groups in a printed table


class GroupedCounts(Result, dict[Label, C], Generic[C]):
    """Counts by group: a dict with the names of the grouping columns.

    ``count(..., by=...)`` and ``crosstab(..., by=...)`` return one.

    Parameters
    ----------
    groups
        The counts of each group. A group is a value, or a tuple of values if there are several grouping columns.
    by
        The names of the grouping columns, or ``("group",)`` if they have no names.
    ordered
        Whether the type of the grouping column declares the order of the groups, as a pandas ordered categorical does.

    Examples
    --------
    >>> from subsetprivacy.counting import count
    >>> from subsetprivacy.design import uniform
    >>> groups = count([3, 12, 5, 3], design=uniform(list("abcd")), by=["f", "m", "f", "f"])
    >>> groups
    <GroupedCounts by group: 2 groups, n = 4, 0 missing, <uniform design on 4 categories: 'a', 'b', 'c', 'd'>>
    >>> groups["f"].n
    3
    """

    by: tuple[str, ...]
    ordered: bool

    def __init__(
        self,
        groups: Mapping[Label, C] | Iterable[tuple[Label, C]] = (),
        by: Sequence[str] = ("group",),
        *,
        ordered: bool = False,
    ) -> None:
        super().__init__(groups)
        if isinstance(by, str) or not by or not all(isinstance(name, str) for name in by):
            raise ArgumentError(f"`by` must be the names of the columns of groups; got {type(by).__name__}.")
        self.by = tuple(by)
        self.ordered = ordered
        for group, counts in self.items():
            if not isinstance(counts, SubsetCounts):
                raise ArgumentError(f"`groups` must contain counts; got {type(counts).__name__}.")
            if len(self.by) > 1 and not (isinstance(group, tuple) and len(group) == len(self.by)):
                raise ArgumentError(f"`groups` must be named by tuples of {len(self.by)} values, one for each of `by`.")

    def __repr__(self) -> str:
        kinds = list(dict.fromkeys(repr(counts.design) for counts in self.values()))
        design = "no design" if not kinds else kinds[0] if len(kinds) == 1 else counted(len(kinds), "design")
        n = sum(counts.n for counts in self.values())
        missing = sum(counts.n_missing for counts in self.values())
        size = f"effective n = {whole(n)}" if self._weighted else f"n = {whole(n)}"
        return (
            f"<GroupedCounts by {', '.join(self.by)}: {counted(len(self), 'group')}, {size}, {missing:.0f} missing, "
            f"{design}>"
        )

    @property
    def _weighted(self) -> bool:
        return any(counts.squares is not None for counts in self.values())

    def copy(self) -> "GroupedCounts[C]":
        """Return a copy with the same counts and names."""
        return GroupedCounts(self, self.by, ordered=self.ordered)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(GroupedCounts, ordered=self.ordered), (dict(self), self.by)

    # Output -----------------------------------------------------------------------------------

    @property
    def notes(self) -> tuple[Note, ...]:
        """The caveats: missing people, weights, groups without informative subsets, and unknown designs."""
        missing = sum(counts.n_missing for counts in self.values())
        silent = sum(not counts.total for counts in self.values())
        notes = [note_of_weights()] if self._weighted else []
        for counts in list(self.values())[:1]:
            notes += note_of_missing(missing, counts.design, weighted=self._weighted)
        if silent:
            text = f"No data to estimate from in {counted(silent, 'group')}: every answer is missing."
            notes.append(Note(NoteKind.NO_ESTIMATE, text))
        for counts in self.values():
            notes += notes_of_design(counts.design)
        return unique(notes)

    def summary(self) -> Table:
        """Return the numbers of people, of missing people and of distinct subsets in each group."""
        joined = len(self.by) > _MOST_COLUMNS
        head = (" & ".join(self.by),) if joined else self.by
        rows = []
        for group, counts in list(self.items())[:MAX_ROWS]:
            parts = [_named(part) for part in self._parts(group)]
            numbers = (whole(counts.n), whole(counts.n_missing), str(len(counts.n_a)))
            rows.append((*([" & ".join(parts)] if joined else parts), *numbers))
        more = len(self) - len(rows)
        short = (Note(NoteKind.SHORTENED, f"The first {len(rows)} of {len(self)} groups."),) if more > 0 else ()
        title = f"Reported subsets by {', '.join(self.by)}, {counted(len(self), 'group')}"
        people = "effective n" if self._weighted else "people"
        return Table(title, (*head, people, "missing", f"distinct {self._what}"), tuple(rows), (*short, *self.notes))

    @property
    def _what(self) -> str:
        joint = any(isinstance(counts, JointCounts) for counts in self.values())
        return plural(2, "combination" if joint else "subset")

    def _columns(self) -> Mapping[str, Any]:
        """Return the grouping columns, then those of the counts, with an underscore if a name is taken."""
        frames = [counts._columns() for counts in self.values()]
        sizes = [len(part["code"]) for part in frames]
        columns = zip(*(self._parts(group) for group in self), strict=True) if self else ((),) * len(self.by)
        named = {name: _repeated(_column(values), sizes) for name, values in zip(self.by, columns, strict=True)}
        names = list(dict.fromkeys(name for part in frames for name in part)) or ["subset", "code", "count", "share"]
        ours = {
            name: [value for part, size in zip(frames, sizes, strict=True) for value in _listed(part.get(name), size)]
            for name in names
        }
        return joined_columns(named, ours)

    def _parts(self, group: Label) -> tuple[Any, ...]:
        """Return the value of each grouping column."""
        return group if isinstance(group, tuple) and len(group) == len(self.by) else (group,)

    def to_dict(self) -> dict[str, Any]:
        """Return names, groups, counts and each design once, for JSON.

        Raises
        ------
        ArgumentError
            If JSON could not restore the name of a group.
        DesignDocumentError
            If a category is not text, a finite number or a boolean.
        """
        designs: dict[Design, int] = {}
        groups = []
        for group, counts in self.items():
            at = designs.setdefault(counts.design, len(designs))
            entries = {"codes": counts.codes, "counts": counts.counts, "squares": counts.squares}
            groups.append({"group": _to_json(group), "kind": type(counts).__name__, **plain(entries), "design": at})
        documents = [design.document() for design in designs]
        notes = [note.to_dict() for note in self.notes]
        return {
            "by": list(self.by),
            "ordered": self.ordered,
            "groups": groups,
            "designs": documents,
            "notes": notes,
        }

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the counts that `to_dict` wrote.

        Raises
        ------
        ArgumentError
            If `facts` is not the output of `to_dict`.
        """
        by, ordered, groups, documents = facts_of(cls, facts, ("by", "ordered", "groups", "designs"))
        designs = dict(enumerate(design_of(document) for document in documents))
        restored: dict[Label, Any] = {}
        for part in groups:
            names = ("group", "kind", "codes", "counts", "squares", "design")
            group, kind, codes, counts, squares, at = facts_of(cls, part, names)
            if at not in designs:
                raise ArgumentError(f"`facts` must have a design for each group; got {len(designs)}.", AS_TO_DICT_WROTE)
            made = JointCounts if kind == JointCounts.__name__ else SubsetCounts
            restored[_from_json(group)] = made(codes, counts, designs[at], squares)
        return cls(restored, by, ordered=ordered)


def is_unknown_group(group: Any) -> bool:
    """Tell whether the group of some people is missing: a missing value, or a tuple with one.

    Tests and comparisons leave such people out, because they are no group of their own. Counts and estimates show them.

    Examples
    --------
    >>> is_unknown_group(None), is_unknown_group(("f", None)), is_unknown_group("f")
    (True, True, False)
    """
    return any(map(is_missing, group)) if isinstance(group, tuple) else is_missing(group)


def only_known(groups: Mapping[Any, T]) -> dict[Any, T]:
    """Return the groups of people whose group is known."""
    return {group: content for group, content in groups.items() if not is_unknown_group(group)}


def without_group(groups: Mapping[Any, SubsetCounts]) -> list[Note]:
    """Return a note on how many people are left out because their group is missing."""
    unknown = [counts for group, counts in groups.items() if is_unknown_group(group)]
    if not unknown:
        return []
    if any(counts.squares is not None for counts in unknown):
        rows = f"{sum(counts.counts.sum() for counts in unknown):.0f} of the weight"
    else:
        rows = counted(sum(counts.n + counts.n_missing for counts in unknown), "row")
    return [Note(NoteKind.LEFT_OUT, f"Left out, because their group is missing: {rows}.")]


def _named(value: Any) -> str:
    return "(missing)" if value is None else label_text(value)


def _repeated(values: Iterable[Any], sizes: Iterable[int]) -> list[Any]:
    return [value for value, size in zip(values, sizes, strict=True) for _ in range(size)]


def _listed(column: Any, size: int) -> list[Any]:
    if column is None:
        return [None] * size
    return list(column.tolist() if isinstance(column, np.ndarray) else column)


def _column(values: Sequence[Any]) -> list[Any]:
    """Return the values of a grouping column, as text if they have several types, which a data frame cannot mix."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2 and tuple not in kinds:
        return list(values)
    if kinds <= {int, float}:
        return [None if value is None else float(value) for value in values]
    return [None if value is None else label_text(value) for value in values]


# Types that JSON does not have.
_WRITERS: dict[type, tuple[str, Callable[[Any], str]]] = {
    datetime: ("datetime", datetime.isoformat),
    date: ("date", date.isoformat),
    Decimal: ("decimal", str),
}
_READERS: dict[str, Callable[[str], Label]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "decimal": Decimal,
}


def _to_json(group: Label) -> Any:
    """Return a group in the form of JSON: a list for a tuple, an object for a date."""
    if isinstance(group, np.generic):
        group = group.item()
    if isinstance(group, tuple):
        return [_to_json(part) for part in group]
    if group is None or type(group) in (str, int, bool) or (type(group) is float and isfinite(group)):
        return group
    for kind, (name, write) in _WRITERS.items():
        if isinstance(group, kind):
            return {name: write(group)}
    raise ArgumentError(
        f"names of groups must be values that JSON can represent; got {type(group).__name__}.", KEEP_GROUPS_PLAIN
    )


def _from_json(written: Any) -> Label:
    if isinstance(written, Sequence) and not isinstance(written, str):
        return tuple(_from_json(part) for part in written)
    if isinstance(written, Mapping):
        ((name, text),) = written.items()
        return _READERS[name](text)
    return written
