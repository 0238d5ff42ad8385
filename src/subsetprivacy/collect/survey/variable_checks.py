"""Check a variable: its texts, its options, its design, and the guess of its shares."""

import math
from typing import Any

from subsetprivacy.collect.survey.confusable import can_be_confused, difference, looks, skeleton
from subsetprivacy.collect.survey.definition import (
    MOST_FORBIDDEN,
    MOST_OPTIONS,
    MOST_VARIABLES,
    RECOMMENDED,
    VariableDefinition,
)
from subsetprivacy.collect.survey.design_syntax import read_design, read_subset
from subsetprivacy.collect.survey.entries import check_keys, read_list, read_name, read_number, read_table
from subsetprivacy.collect.survey.forbidden_sets import codes_of, without
from subsetprivacy.collect.survey.line_numbers import Path
from subsetprivacy.collect.survey.problems import ProblemList
from subsetprivacy.collect.survey.rules import recommended
from subsetprivacy.collect.survey.texts import normal, read_text, shown
from subsetprivacy.design import Design
from subsetprivacy.errors import SubsetPrivacyError

VARIABLE_KEYS = ("id", "label", "question", "help", "options", "design", "guess", "never_alone")
LENGTHS = {"label": 100, "question": 500, "help": 1000, "option": 200}
SHARES_TOLERANCE = 1e-6


def read_variables(given: Any, mode: str, linked: set[str], problems: ProblemList) -> list[VariableDefinition]:
    """Return the valid variables. The problems say why others are not.

    Parameters
    ----------
    given
        The list in the file.
    mode, linked
        The mode, and the ids that are in a link, on which the recommended design depends.
    """
    listed = read_list(given, "variables", ("variables",), problems)
    if listed is None:
        return []
    if not 1 <= len(listed) <= MOST_VARIABLES:
        problems.add(("variables",), f"must be 1 to {MOST_VARIABLES}; got {len(listed)}.")
    variables: list[VariableDefinition | None] = []
    first: dict[str, int] = {}
    for k, entry in enumerate(listed[:MOST_VARIABLES]):
        variables.append(_variable(entry, mode, linked, ("variables", k), problems))
        name = id_of(entry)
        if name is not None and first.setdefault(name, k) != k:
            problems.add(("variables", k, "id"), f"must be unique; number {first[name] + 1} has it too.")
    return [variable for variable in variables if variable is not None]


def id_of(given: Any) -> str | None:
    """Return the id of a variable in a file, valid or not."""
    name = given.get("id") if isinstance(given, dict) else None
    return normal(name) if isinstance(name, str) else None


def _variable(given: Any, mode: str, linked: set[str], path: Path, problems: ProblemList) -> VariableDefinition | None:
    table = read_table(given, "id, question and options", path, problems)
    if table is None:
        return None
    check_keys(table, VARIABLE_KEYS, ("id", "question", "options"), path, problems)
    name = read_name(table["id"], (*path, "id"), problems) if "id" in table else ""
    texts = {"label": name, "question": ""} | {
        key: read_text(table[key], (*path, key), problems, most=LENGTHS[key], empty=key == "help")
        for key in ("label", "question", "help")
        if key in table
    }
    options = _options(table["options"], (*path, "options"), problems) if "options" in table else None
    guess = None
    if "guess" in table:
        guess = _guess(table["guess"], options, (*path, "guess"), problems)
    if options is None:
        return None
    default = recommended(options, mode=mode, linked=name in linked)
    design = read_design(table.get("design", RECOMMENDED), options, default, (*path, "design"), problems)
    forbidden = _never_alone(table.get("never_alone", []), options, (*path, "never_alone"), problems)
    if design is None or forbidden is None:
        return None
    made = _without(design[0], options, forbidden, (*path, "never_alone"), problems)
    if made is None:
        return None
    return VariableDefinition(
        id=name,
        options=options,
        design=made,
        written=design[1],
        guess=guess,
        never_alone=forbidden,
        original=design[0] if forbidden else None,
        **texts,
    )


def _options(given: Any, path: Path, problems: ProblemList) -> tuple[str, ...] | None:
    listed = read_list(given, "answers", path, problems)
    if listed is None:
        return None
    if not 2 <= len(listed) <= MOST_OPTIONS:
        problems.add(path, f"must be 2 to {MOST_OPTIONS} answers; got {len(listed)}.")
        return None
    options: list[str] = []
    alike: dict[str, list[int]] = {}
    for k, label in enumerate(listed):
        text = read_text(label, (*path, k), problems, most=LENGTHS["option"])
        earlier = _confused(text, options, alike) if text else None
        if earlier is not None:
            problems.add((*path, k), _likeness(text, options[earlier], earlier))
        options.append(text if earlier is None else "")
    return tuple(options) if all(options) else None


def _confused(text: str, options: list[str], alike: dict[str, list[int]]) -> int | None:
    """Return the place of an earlier option that this one can be confused with, and note this one's place."""
    places = {place for key in (looks(text), skeleton(text)) for place in alike.get(key, ())}
    earlier = next((place for place in sorted(places) if can_be_confused(text, options[place])), None)
    if earlier is None:
        for key in {looks(text), skeleton(text)}:
            alike.setdefault(key, []).append(len(options))
    return earlier


def _likeness(text: str, earlier: str, place: int) -> str:
    if text == earlier:
        return f"must differ from the others; number {place + 1} is the same."
    return (
        f"must differ from the others; number {place + 1}, {shown(earlier)}, looks the same: "
        f"{difference(text, earlier)}."
    )


def _guess(given: Any, options: tuple[str, ...] | None, path: Path, problems: ProblemList) -> tuple[float, ...] | None:
    """Return the guess of the shares, checked against the options if these are valid."""
    listed = read_list(given, "shares, one for each option", path, problems)
    if listed is None:
        return None
    if len(listed) != (len(options) if options is not None else min(len(listed), MOST_OPTIONS)):
        wanted = MOST_OPTIONS if options is None else len(options)
        problems.add(path, f"must have a share for each of the {wanted} `options`; got {len(listed)}.")
        return None
    shares = [read_number(share, (*path, k), problems) for k, share in enumerate(listed)]
    read = [share for share in shares if share is not None]
    low = [k for k, share in enumerate(shares) if share is not None and share <= 0]
    for k in low:
        problems.add((*path, k), f"must be above 0; got {shares[k]:g}.")
    if len(read) == len(listed) and not low and abs(math.fsum(read) - 1) > SHARES_TOLERANCE:
        problems.add(path, f"must sum to 1; the sum is {math.fsum(read):.7g}.")
    return tuple(read)


def _never_alone(
    given: Any, options: tuple[str, ...], path: Path, problems: ProblemList
) -> tuple[tuple[str, ...], ...] | None:
    """Return the forbidden sets, each in the order of the options."""
    listed = read_list(given, 'sets of options like ["a", "b"]', path, problems)
    if listed is None:
        return None
    if len(listed) > MOST_FORBIDDEN:
        problems.add(path, f"must be at most {MOST_FORBIDDEN} sets; got {len(listed)}.")
        return None
    sets: list[tuple[str, ...]] = []
    good = True
    for k, entry in enumerate(listed):
        labels = read_subset(entry, (*path, k), options, problems)
        chosen = tuple(option for option in options if labels is not None and option in labels)
        trouble = None if labels is None else _problem_with_set(labels, chosen, options, sets)
        if trouble is not None:
            problems.add((*path, k), trouble)
        good = good and labels is not None and trouble is None
        sets.append(chosen)
    return tuple(sets) if good else None


def _problem_with_set(
    labels: list[str], chosen: tuple[str, ...], options: tuple[str, ...], before: list[tuple[str, ...]]
) -> str | None:
    if len(chosen) < len(labels):
        return "must name each of the `options` once; it names one twice."
    if len(chosen) < 2:
        return f"must be two of the `options` or more; got {len(chosen)}. One alone is never sent anyway."
    if len(options) > 3 and len(chosen) > len(options) - 2:
        return f"must leave out at least two of the `options`; it has {len(chosen)} of {len(options)}."
    if chosen in before:
        return f"must be forbidden once; set {before.index(chosen) + 1} is the same."
    return None


def _without(
    design: Design, options: tuple[str, ...], forbidden: tuple[tuple[str, ...], ...], path: Path, problems: ProblemList
) -> Design | None:
    """Return the design without the forbidden sets, or None with the reason among the problems."""
    if not forbidden:
        return design
    try:
        return without(design, codes_of(options, forbidden))
    except SubsetPrivacyError as error:
        problems.add(path, error.message, error.advice)
        return None
