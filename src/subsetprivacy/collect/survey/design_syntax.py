"""Read the design of a variable from a survey file: a name, a table, or a whole design document."""

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from attrs import field, frozen

from subsetprivacy.collect.survey.definition import MOST_OPTIONS, RECOMMENDED
from subsetprivacy.collect.survey.entries import meant, nearest, read_number, read_whole
from subsetprivacy.collect.survey.line_numbers import REFUSED, AmbiguousWord, Path
from subsetprivacy.collect.survey.problems import ProblemList
from subsetprivacy.collect.survey.rules import MOST_LISTED, askable_kinds, asking
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
from subsetprivacy.design.document_format import DOCUMENT_FORMAT
from subsetprivacy.errors import InvalidDesignError, SubsetPrivacyError
from subsetprivacy.messages import Hint
from subsetprivacy.messages.advice import as_hint
from subsetprivacy.messages.for_general import NEAREST
from subsetprivacy.messages.for_surveys import MEANT, PUT_IN_QUOTES, RECOMMENDED_FITS, WRITE_TABLE
from subsetprivacy.messages.rendering import for_page, for_python, with_names

Options = tuple[str, ...]
NAMES = (RECOMMENDED, "uniform", "hadamard", "warner", "pair")


@frozen
class _Kind:
    """A kind of design.

    Attributes
    ----------
    readers, needed
        How its entries are read, and which are required.
    make
        The function that makes the design.
    fewest, most
        The allowed numbers of options.
    names
        The names in the file of the library's arguments.
    """

    readers: dict[str, Callable[[Any, Path, Options, ProblemList], Any]]
    needed: tuple[str, ...]
    make: Callable[[Options, dict[str, Any]], Design]
    fewest: int = 2
    most: int = MOST_OPTIONS
    names: dict[str, str] = field(factory=dict)


def read_design(
    given: Any, options: Options, default: Design, path: Path, problems: ProblemList
) -> tuple[Design, Any] | None:
    """Return a design and its entry in the file, or None with the reason among the problems.

    Parameters
    ----------
    default
        The recommended design.
    """
    read: tuple[Design, Any] | None
    if isinstance(given, str):
        read = _read_name(given, options, default, path, problems)
    elif isinstance(given, dict) and "format" in given:
        read = _read_document(given, options, path, problems)
    elif isinstance(given, dict):
        read = _read_table(given, options, path, problems)
    else:
        if given is not REFUSED:
            problems.add(path, f"must be a name or a table; got {shown(given)}.", RECOMMENDED_FITS)
        return None
    if read is not None:
        try:
            asking(read[0])
        except SubsetPrivacyError as error:
            problems.add(path, error.message, error.advice or RECOMMENDED_FITS)
            return None
    return read


def _read_name(
    name: str, options: Options, default: Design, path: Path, problems: ProblemList
) -> tuple[Design, Any] | None:
    if name == RECOMMENDED:
        return default, name
    if name in NAMES:
        return _made(name, {}, options, path, problems, name)
    near = None if problems.are_many else nearest(name, [*NAMES, *KINDS])
    advice = as_hint(RECOMMENDED_FITS)
    if near is not None:
        advice = MEANT(word=shown(near)) if near in NAMES else WRITE_TABLE(table=f'{{kind = "{near}", …}}')
    problems.add(path, f"must be one of {', '.join(NAMES)}, or a table; got {shown(name)}.", advice)
    return None


def _made(
    kind: str, entries: dict[str, Any], options: Options, path: Path, problems: ProblemList, written: Any
) -> tuple[Design, Any] | None:
    try:
        _check_options(kind, len(options), entries)
        return KINDS[kind].make(options, entries), written
    except SubsetPrivacyError as error:
        _add_refusal(error, KINDS[kind].names, path, problems)
        return None


def _check_options(kind: str, p: int, entries: dict[str, Any]) -> None:
    """Raise, in the words of the file, if a kind does not allow this number of options or groups."""
    rules = KINDS[kind]
    if not rules.fewest <= p <= rules.most:
        wanted = "two" if rules.most == 2 else f"at least {rules.fewest}"
        raise InvalidDesignError(f"a {kind} design must have {wanted} `options`; got {p}.")
    # So that each group has two members, and a set of that size leaves something out.
    for key, most in (("groups", p // 2), ("size", p - 1)):
        given = entries.get(key)
        if isinstance(given, int) and not 2 <= given <= most:
            allowed = "2" if most == 2 else f"from 2 to {most}"
            message = f"`{key}` must be {allowed} for {p} `options`; got {given}."
            raise InvalidDesignError(message, NEAREST(nearest=min(max(given, 2), most)))


def _add_refusal(error: SubsetPrivacyError, names: dict[str, str], path: Path, problems: ProblemList) -> None:
    """Note why the library refuses a design. Advice for Python is replaced by advice for any file."""
    problems.add(path, with_names(error.message, names), _for_everyone(error.advice) or RECOMMENDED_FITS)


def _for_everyone(advice: Hint | None) -> Hint | None:
    return advice if for_page(advice) is not None and for_page(advice) == for_python(advice) else None


# Tables -------------------------------------------------------------------------------------------


def _read_table(
    given: dict[str, Any], options: Options, path: Path, problems: ProblemList
) -> tuple[Design, Any] | None:
    name = given.get("kind")
    if not isinstance(name, str) or name not in KINDS:
        missing = "it is missing" if "kind" not in given else f"got {shown(name)}"
        advice = meant(name, KINDS, problems) or RECOMMENDED_FITS
        problems.add((*path, "kind"), f"must be one of {', '.join(KINDS)}; {missing}.", advice)
        return None
    kind, good = KINDS[name], True
    entries: dict[str, Any] = {}
    for key in [key for key in given if key != "kind" and key not in kind.readers]:
        known = ", ".join(kind.readers) or "no other keys"
        near = meant(key, kind.readers, problems)
        problems.add((*path, key), f"must be a key of the kind {name}, which has {known}.", near)
        good = False
    for key, reader in kind.readers.items():
        if key in given:
            entries[key] = reader(given[key], (*path, key), options, problems)
            good = good and entries[key] is not None
        elif key in kind.needed:
            problems.add(path, f"must have `{key}` for the kind {name}.")
            good = False
    return _made(name, entries, options, path, problems, {"kind": name, **entries}) if good else None


def _whole(given: Any, path: Path, options: Options, problems: ProblemList) -> int | None:
    return read_whole(given, path, problems)


def _probability(given: Any, path: Path, options: Options, problems: ProblemList) -> float | None:
    return read_number(given, path, problems)


def read_subset(given: Any, path: Path, options: Options, problems: ProblemList) -> list[str] | None:
    """Return a list of options, or None."""
    if not isinstance(given, list):
        if given is not REFUSED:
            problems.add(path, f"must be a list of options; got {shown(given)}.")
        return None
    labels: list[str] = []
    for k, label in enumerate(given):
        text = normal(label) if isinstance(label, str) else None
        if text in options:
            labels.append(str(text))
        elif label is not REFUSED:
            quotes = PUT_IN_QUOTES if isinstance(label, (bool, int, float, AmbiguousWord)) else None
            advice = meant(text, options, problems) or quotes
            problems.add((*path, k), f"must be one of the `options`; got {shown(label)}.", advice)
    return labels if len(labels) == len(given) else None


def _partitions(given: Any, path: Path, options: Options, problems: ProblemList) -> list[list[list[str]]] | None:
    if not isinstance(given, list) or not all(isinstance(groups, list) for groups in given):
        problems.add(path, "must be a list of partitions, each a list of groups, each a list of options.")
        return None
    return _all(
        [
            _all([read_subset(group, (*path, k, g), options, problems) for g, group in enumerate(groups)])
            for k, groups in enumerate(given)
        ]
    )


def _weighted(given: Any, path: Path, options: Options, problems: ProblemList) -> list[list[Any]] | None:
    """Return a list of pairs: a list of options, and its probability."""
    if not isinstance(given, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in given):
        problems.add(path, 'must be a list of pairs like [["a", "b"], 0.5]: some options, and their probability.')
        return None
    pairs: list[list[Any] | None] = []
    for k, (labels, weight) in enumerate(given):
        subset = read_subset(labels, (*path, k, 0), options, problems)
        number = read_number(weight, (*path, k, 1), problems)
        pairs.append(None if subset is None or number is None else [subset, weight])
    read = _all(pairs)
    if read is not None:
        first: dict[frozenset[str], int] = {}
        for k, (subset, _) in enumerate(read):
            if first.setdefault(frozenset(subset), k) != k:
                problems.add((*path, k), "must name each set of `options` once; this one appears before.")
                read = None
    return read


def _all(parts: Sequence[Any]) -> list[Any] | None:
    return None if any(part is None for part in parts) else list(parts)


def _by_subset(pairs: list[list[Any]]) -> dict[tuple[str, ...], float]:
    return {tuple(subset): weight for subset, weight in pairs}


@lru_cache(maxsize=256)
def _few_hadamard(options: Options, questions: int | None = None) -> Design:
    if questions is not None and questions > MOST_LISTED:  # before making a table of millions
        raise SubsetPrivacyError(f"`questions` must be at most {MOST_LISTED - 1}; got {questions}.")
    return hadamard(options, questions)


KINDS = {
    "uniform": _Kind({}, (), lambda options, _: uniform(options), fewest=4),
    "hadamard": _Kind({"questions": _whole}, (), lambda options, entries: _few_hadamard(options, **entries), fewest=4),
    "partition": _Kind(
        {"groups": _whole, "partitions": _partitions},
        (),
        lambda options, entries: partition(options, **entries),
        fewest=4,
    ),
    "independent": _Kind(
        {"questions": _weighted},
        ("questions",),
        lambda options, entries: independent(options, _by_subset(entries["questions"])),
        names={"weights": "`questions`"},
    ),
    "fixed_size": _Kind(
        {"size": _whole}, ("size",), lambda options, entries: fixed_size(options, entries["size"]), fewest=3
    ),
    "pair": _Kind({}, (), lambda options, _: fixed_size(options, 2), fewest=3),
    "warner": _Kind({"q": _probability}, (), lambda options, entries: warner(options, **entries, reveals=True), most=2),
    "conditional": _Kind(
        {"subsets": _weighted},
        ("subsets",),
        lambda options, entries: conditional(options, _by_subset(entries["subsets"])),
        names={"weights": "`subsets`"},
    ),
}


# Documents ----------------------------------------------------------------------------------------


def _read_document(
    given: dict[str, Any], options: Options, path: Path, problems: ProblemList
) -> tuple[Design, Any] | None:
    if given["format"] != DOCUMENT_FORMAT:
        problems.add((*path, "format"), f'must be "{DOCUMENT_FORMAT}"; got {shown(given["format"])}.')
        return None
    if given.get("kind") not in askable_kinds():  # nothing nested, nothing that takes long
        known = ", ".join(askable_kinds())
        problems.add((*path, "kind"), f"must be one of {known} to be asked; got {shown(given.get('kind'))}.")
        return None
    if given["kind"] == "hadamard" and not (type(size := given.get("size")) is int and size <= MOST_LISTED):
        problems.add((*path, "size"), f"must be a whole number of at most {MOST_LISTED} to be asked.")
        return None
    if given.get("categories") != list(options):
        problems.add((*path, "categories"), "must be the options of the variable, in the same order; they are not.")
        return None
    try:
        design = design_from_json(json.dumps(given))
    except SubsetPrivacyError as error:
        _add_refusal(error, {"k": "`size`"}, path, problems)
    except TypeError:  # a part that JSON cannot express: a date, an unquoted `no`
        problems.add(path, "must contain text and numbers only; put the others in quotes.")
    else:
        return design, design.document()
    return None
