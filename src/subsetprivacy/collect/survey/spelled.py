"""How a survey's file says which design a variable has: a name, a table, or a whole design document."""

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from attrs import frozen

from subsetprivacy.collect.survey.definition import RECOMMENDED
from subsetprivacy.collect.survey.entries import meant, nearest, read_number, read_whole
from subsetprivacy.collect.survey.positions import REFUSED, Path, Unclear
from subsetprivacy.collect.survey.problems import Findings
from subsetprivacy.collect.survey.rules import MOST_LISTED, asking
from subsetprivacy.collect.survey.texts import normal, shown
from subsetprivacy.design import (
    Design,
    conditional,
    design_from_json,
    fixed_size,
    hadamard,
    independent,
    partition,
    uniform,
    warner,
)
from subsetprivacy.design.written import DOCUMENT_FORMAT
from subsetprivacy.errors import SubsetPrivacyError

Options = tuple[str, ...]
NAMES = (RECOMMENDED, "uniform", "hadamard", "warner", "pair")
_SAFE = 'Hint: "recommended" fits any number of options.'
_DOCUMENTS = ("uniform", "independent", "conditional", "fixed_size", "partition", "hadamard", "artificial_bit")


@frozen
class _Kind:
    """A kind of design: how its entries are read, which must be there, and what makes it of them."""

    readers: dict[str, Callable[[Any, Path, Options, Findings], Any]]
    needed: tuple[str, ...]
    make: Callable[[Options, dict[str, Any]], Design]


def read_design(
    given: Any, options: Options, default: Design, path: Path, findings: Findings
) -> tuple[Design, Any] | None:
    """Return a design and how it was written, or None with the reason among the findings.

    Parameters
    ----------
    default
        The recommended one.
    """
    read: tuple[Design, Any] | None
    if isinstance(given, str):
        read = _read_name(given, options, default, path, findings)
    elif isinstance(given, dict) and "format" in given:
        read = _read_document(given, options, path, findings)
    elif isinstance(given, dict):
        read = _read_table(given, options, path, findings)
    else:
        if given is not REFUSED:
            findings.add(path, f"must be a name or a table; got {shown(given)}. {_SAFE}")
        return None
    if read is not None:
        try:
            asking(read[0])
        except SubsetPrivacyError as error:
            findings.add(path, _in_words_of_a_file(error))
            return None
    return read


def _read_name(
    name: str, options: Options, default: Design, path: Path, findings: Findings
) -> tuple[Design, Any] | None:
    if name == RECOMMENDED:
        return default, name
    if name in NAMES:
        return _made(name, {}, options, path, findings, name)
    near = None if findings.are_many else nearest(name, [*NAMES, *KINDS])
    hint = f" Hint: {shown(near)}?" if near in NAMES else f' Hint: write a table, {{kind = "{near}", …}}.'
    findings.add(
        path, f"must be one of {', '.join(NAMES)}, or a table; got {shown(name)}.{hint if near else f' {_SAFE}'}"
    )
    return None


def _made(
    kind: str, entries: dict[str, Any], options: Options, path: Path, findings: Findings, written: Any
) -> tuple[Design, Any] | None:
    try:
        return KINDS[kind].make(options, entries), written
    except SubsetPrivacyError as error:
        findings.add(path, _in_words_of_a_file(error))
        return None


def _in_words_of_a_file(error: SubsetPrivacyError) -> str:
    """Return what the library says with a hint for a file in the place of one for Python."""
    said = str(error).replace("`k`", "`size`").replace("categories", "options")
    reason, _, hint = said.partition(" Hint: ")
    return said if hint and "sp." not in said else f"{reason.partition(' sp.')[0]} {_SAFE}"


# Tables -------------------------------------------------------------------------------------------


def _read_table(given: dict[str, Any], options: Options, path: Path, findings: Findings) -> tuple[Design, Any] | None:
    name = given.get("kind")
    if not isinstance(name, str) or name not in KINDS:
        missing = "it is missing" if "kind" not in given else f"got {shown(name)}"
        hint = meant(name, KINDS, findings) or f" {_SAFE}"
        findings.add((*path, "kind"), f"must be one of {', '.join(KINDS)}; {missing}.{hint}")
        return None
    kind, good = KINDS[name], True
    entries: dict[str, Any] = {}
    for key in [key for key in given if key != "kind" and key not in kind.readers]:
        known = ", ".join(kind.readers) or "no other keys"
        hint = meant(key, kind.readers, findings)
        findings.add((*path, key), f"must be a key of the kind {name}, which has {known}.{hint}")
        good = False
    for key, reader in kind.readers.items():
        if key in given:
            entries[key] = reader(given[key], (*path, key), options, findings)
            good = good and entries[key] is not None
        elif key in kind.needed:
            findings.add(path, f"must have `{key}` for the kind {name}.")
            good = False
    return _made(name, entries, options, path, findings, {"kind": name, **entries}) if good else None


def _whole(given: Any, path: Path, options: Options, findings: Findings) -> int | None:
    return read_whole(given, path, findings)


def _probability(given: Any, path: Path, options: Options, findings: Findings) -> float | None:
    return read_number(given, path, findings)


def read_subset(given: Any, path: Path, options: Options, findings: Findings) -> list[str] | None:
    """Return a list of options, or None."""
    if not isinstance(given, list):
        if given is not REFUSED:
            findings.add(path, f"must be a list of options; got {shown(given)}.")
        return None
    labels: list[str] = []
    for k, label in enumerate(given):
        text = normal(label) if isinstance(label, str) else None
        if text in options:
            labels.append(str(text))
        elif label is not REFUSED:
            hint = meant(text, options, findings)
            quotes = " Hint: put it in quotes." if isinstance(label, (bool, int, float, Unclear)) else ""
            findings.add((*path, k), f"must be one of the options; got {shown(label)}.{hint or quotes}")
    return labels if len(labels) == len(given) else None


def _partitions(given: Any, path: Path, options: Options, findings: Findings) -> list[list[list[str]]] | None:
    if not isinstance(given, list) or not all(isinstance(groups, list) for groups in given):
        findings.add(path, "must be a list of partitions, each a list of groups, each a list of options.")
        return None
    return _all(
        [
            _all([read_subset(group, (*path, k, g), options, findings) for g, group in enumerate(groups)])
            for k, groups in enumerate(given)
        ]
    )


def _weighted(given: Any, path: Path, options: Options, findings: Findings) -> list[list[Any]] | None:
    """Return a list of pairs: a list of options, and its probability."""
    if not isinstance(given, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in given):
        findings.add(path, 'must be a list of pairs like [["a", "b"], 0.5]: some options, and their probability.')
        return None
    pairs: list[list[Any] | None] = []
    for k, (labels, weight) in enumerate(given):
        subset = read_subset(labels, (*path, k, 0), options, findings)
        number = read_number(weight, (*path, k, 1), findings)
        pairs.append(None if subset is None or number is None else [subset, weight])
    read = _all(pairs)
    if read is not None:
        first: dict[frozenset[str], int] = {}
        for k, (subset, _) in enumerate(read):
            if first.setdefault(frozenset(subset), k) != k:
                findings.add((*path, k), "must name each set of options once; this one stands there before.")
                read = None
    return read


def _all(parts: Sequence[Any]) -> list[Any] | None:
    return None if any(part is None for part in parts) else list(parts)


def _by_subset(pairs: list[list[Any]]) -> dict[tuple[str, ...], float]:
    return {tuple(subset): weight for subset, weight in pairs}


@lru_cache(maxsize=256)
def _few_hadamard(options: Options, questions: int | None = None) -> Design:
    if questions is not None and questions > MOST_LISTED:  # before a table of millions is made
        raise SubsetPrivacyError(f"`questions` must be at most {MOST_LISTED - 1}; got {questions}.")
    return hadamard(options, questions)


KINDS = {
    "uniform": _Kind({}, (), lambda options, _: uniform(options)),
    "hadamard": _Kind({"questions": _whole}, (), lambda options, entries: _few_hadamard(options, **entries)),
    "partition": _Kind(
        {"groups": _whole, "partitions": _partitions}, (), lambda options, entries: partition(options, **entries)
    ),
    "independent": _Kind(
        {"questions": _weighted},
        ("questions",),
        lambda options, entries: independent(options, _by_subset(entries["questions"])),
    ),
    "fixed_size": _Kind({"size": _whole}, ("size",), lambda options, entries: fixed_size(options, entries["size"])),
    "pair": _Kind({}, (), lambda options, _: fixed_size(options, 2)),
    "warner": _Kind({"q": _probability}, (), lambda options, entries: warner(options, **entries, reveals=True)),
    "conditional": _Kind(
        {"subsets": _weighted},
        ("subsets",),
        lambda options, entries: conditional(options, _by_subset(entries["subsets"])),
    ),
}


# Documents ----------------------------------------------------------------------------------------


def _read_document(
    given: dict[str, Any], options: Options, path: Path, findings: Findings
) -> tuple[Design, Any] | None:
    if given["format"] != DOCUMENT_FORMAT:
        findings.add((*path, "format"), f'must be "{DOCUMENT_FORMAT}"; got {shown(given["format"])}.')
        return None
    if given.get("kind") not in _DOCUMENTS:  # nothing nested, nothing that takes long to make
        known = ", ".join(_DOCUMENTS)
        findings.add((*path, "kind"), f"must be one of {known} to be asked; got {shown(given.get('kind'))}.")
        return None
    if given["kind"] == "hadamard" and not (type(size := given.get("size")) is int and size <= MOST_LISTED):
        findings.add((*path, "size"), f"must be a whole number of at most {MOST_LISTED} to be asked.")
        return None
    if given.get("categories") != list(options):
        findings.add((*path, "categories"), "must be the options of the variable, in the same order; they are not.")
        return None
    try:
        design = design_from_json(json.dumps(given))
    except SubsetPrivacyError as error:
        findings.add(path, _in_words_of_a_file(error))
    except TypeError:  # a part that JSON has no word for: a date, an unquoted `no`
        findings.add(path, "must hold text and numbers only; put the others in quotes.")
    else:
        return design, design.document()
    return None
