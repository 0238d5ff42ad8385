"""Notes, tables and data frame columns of data and counts."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from subsetprivacy._types import AnyArray, IntArray
from subsetprivacy._words import counted, people, whole
from subsetprivacy.design import Design, design_from_json
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_data import AS_TO_DICT_WROTE
from subsetprivacy.messages.for_designs import GIVE_THE_DESIGN
from subsetprivacy.results import Result
from subsetprivacy.tables import Table

if TYPE_CHECKING:
    from subsetprivacy.data.counts import SubsetCounts

MAX_ROWS = 20  # of a printed table
_FEW_BITS = 12  # of codes: few enough subsets to list quickly


# Notes ------------------------------------------------------------------------------------------


def notes_of_design(design: Design) -> tuple[Note, ...]:
    """Return the notes about the design of data: that it is unknown, or that it adds dummy rows."""
    if not design.is_known:
        text = "The design is not known: estimates assume coarsening at random."
        return (Note(NoteKind.UNKNOWN_DESIGN, text, GIVE_THE_DESIGN),)
    if design.covered is not None:
        return (Note(NoteKind.DUMMIES, "Dummy rows are among the rows of people."),)
    return ()


def note_of_missing(amount: float, design: Design, *, weighted: bool = False) -> tuple[Note, ...]:
    """Return a note with the number of missing people, if there are any."""
    if not amount:
        return ()
    who = f"{amount:.0f} of the weight" if weighted else people(amount)
    what = "Full sets, drawn or missing" if _draws_full_sets(design) else "Missing"
    return (Note(NoteKind.MISSING, f"{what}, and left out of estimates: {who}."),)


def _draws_full_sets(design: Design) -> bool:
    """Tell whether the design can draw the full set, so that it does not always mean a missing answer."""
    return design.is_known and design.mu_full > 0


def note_of_weights() -> Note:
    """Return the note that counts are sums of sampling weights."""
    return Note(NoteKind.WEIGHTED, "Weighted: the entries are sums of weights.")


def note_of_unobserved(counts: "SubsetCounts") -> tuple[Note, ...]:
    """Return a note with the number of possible subsets that no one reported, if there are few enough to list."""
    design = counts.design
    if not counts.total or not design.is_known or design.code_bits > _FEW_BITS or not design.enumerable:
        return ()
    possible = design.support()[0]
    possible = possible[~design.is_missing(possible)]
    gone = len(possible) - len(np.intersect1d(possible, counts.observed_codes))
    what = counted(len(possible), "subset")
    return (Note(NoteKind.UNOBSERVED, f"Not reported: {gone} of the {what} that the design has."),) if gone else ()


def shortened(shown: int, of: int, what: str) -> tuple[Note, ...]:
    """Return a note that a table shows only some rows, if so."""
    return (Note(NoteKind.SHORTENED, f"The {shown} most frequent of {of} {what}."),) if of > shown else ()


# Tables and columns -----------------------------------------------------------------------------


def table_of_subsets(counts: "SubsetCounts", name: str | None = None) -> Table:
    """Return the most frequent subsets with their counts and shares, of the named variable. Missing people are last."""
    total = float(counts.counts.sum())
    order = most_frequent(counts)
    rows = [_row(counts.design.format(int(counts.observed_codes[k])), counts.n_a[k], total) for k in order]
    if counts.n_missing:
        silent = "(full set)" if _draws_full_sets(counts.design) else "(missing)"
        rows.append(_row(silent, counts.n_missing, total))
    distinct = counted(len(counts.n_a), "distinct subset")
    of = "" if name is None else f" of {name}"
    title = f"Reported subsets{of}: {counts.n_text}, {distinct}, {whole(counts.n_missing)} missing"
    units = "people" if counts.design.covered is None else "rows"
    amounts = units if counts.squares is None else "weight"
    notes = shortened(len(order), len(counts.n_a), "subsets") + counts.notes
    return Table(title, ("subset", amounts, "share"), tuple(rows), notes)


def most_frequent(counts: "SubsetCounts", most: int = MAX_ROWS) -> IntArray:
    """Return the positions of the most frequent informative subsets. Ties keep their order."""
    return np.argsort(-counts.n_a, kind="stable")[:most]


def _row(name: str, amount: float, total: float) -> tuple[str, str, str]:
    return name, f"{amount:.0f}", f"{amount / total:.4f}"


def columns_of_subsets(counts: "SubsetCounts") -> dict[str, Any]:
    """Return the columns of a data frame: subset, code, count (or weight) and share, including full sets."""
    at = counts.counts.nonzero()[0]
    codes = counts.codes[at]
    return {"subset": [counts.design.format(code) for code in codes.tolist()], **amounts_of(counts, at)}


def amounts_of(counts: "SubsetCounts", at: IntArray) -> dict[str, Any]:
    """Return the columns with code, count (or weight) and share of some entries."""
    amounts: AnyArray = counts.counts[at]
    total = counts.counts.sum()
    name = "count" if counts.squares is None else "weight"
    return {"code": counts.codes[at], name: amounts, "share": amounts / total if total else amounts.astype(float)}


def joined_columns(named: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """Return the user's columns and then ours. Our names end in an underscore if the user has the same name."""
    return {**named, **{f"{name}_" if name in named else name: column for name, column in ours.items()}}


def texts_of_codes(design: Design, codes: IntArray) -> list[str]:
    """Return each code as text. Each distinct code is converted once."""
    distinct, at = np.unique(codes, return_inverse=True)
    texts = [design.format(code) for code in distinct.tolist()]
    return [texts[k] for k in at.tolist()]


# Documents --------------------------------------------------------------------------------------


def design_of(facts: Any) -> Design:
    """Return the design from its document in the output of `to_dict`."""
    return design_from_json(json.dumps(facts))


def facts_of(kind: type[Result], facts: Any, names: Iterable[str]) -> Sequence[Any]:
    """Return the named entries of the output of `to_dict`.

    Raises
    ------
    ArgumentError
        If `facts` is not such an output, or lacks one of the entries.
    """
    wanted = list(names)
    if not isinstance(facts, Mapping):
        raise ArgumentError(f"`facts` must be what `to_dict` wrote; got {type(facts).__name__}.", AS_TO_DICT_WROTE)
    absent = [name for name in wanted if name not in facts]
    if absent:
        raise ArgumentError(
            f"`facts` must be what {kind.__name__}.to_dict wrote; it lacks {', '.join(absent)}.", AS_TO_DICT_WROTE
        )
    return [facts[name] for name in wanted]
