"""Read single entries of a survey file: keys, names, choices, numbers."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from subsetprivacy.collect.survey.line_numbers import REFUSED, Path
from subsetprivacy.collect.survey.problems import ProblemList
from subsetprivacy.collect.survey.texts import read_text, shown
from subsetprivacy.messages import Hint
from subsetprivacy.messages.for_surveys import KEYS_ARE, MEANT

NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_NAME_HINT = "small letters a to z, digits, - and _, a letter first, at most 32"
_MOST_NAME = 1000  # of what is looked at
_MOST_LIKENED = 200
_ALIKE = 0.7  # for short words, which are easily similar


def check_keys(
    table: dict[str, Any], known: Sequence[str], needed: Sequence[str], path: Path, problems: ProblemList
) -> None:
    """Note missing keys and unknown keys."""
    for key in needed:
        if key not in table:
            problems.add(path, f"must have `{key}`; it is missing.")
    for key in table:
        if key not in known and not problems.are_many:
            near = nearest(key, known)
            advice = MEANT(word=f"`{near}`") if near else KEYS_ARE(keys=", ".join(known))
            problems.add((*path, key), f"must be a known key; got {shown(key)}.", advice)


def nearest(given: Any, known: Iterable[str], least: float = 0.6) -> str | None:
    """Return the known word most similar to a mistyped one, if there is one."""
    if not isinstance(given, str):
        return None
    spelled = {word.lower(): word for word in known}
    near = get_close_matches(given[:_MOST_LIKENED].lower(), list(spelled), 1, least)
    return spelled[near[0]] if near else None


def meant(given: Any, known: Iterable[str], problems: ProblemList, least: float = 0.6) -> Hint | None:
    """Return the advice to use that word, if there is one."""
    near = None if problems.are_many else nearest(given, known, least)
    return MEANT(word=shown(near)) if near else None


def read_name(given: Any, path: Path, problems: ProblemList) -> str:
    """Return a short name, or "" with the reason among the problems."""
    text = read_text(given, path, problems, most=_MOST_NAME)
    if text and not NAME.fullmatch(text):
        problems.add(path, f"must be a short name ({_NAME_HINT}); got {shown(text)}.")
        return ""
    return text


def read_choice(given: Any, allowed: tuple[str, ...], path: Path, problems: ProblemList) -> str:
    """Return one of the allowed words, or the first with the reason among the problems."""
    if isinstance(given, str) and given in allowed:
        return given
    if given is not REFUSED:
        advice = meant(given, allowed, problems, _ALIKE)
        problems.add(path, f"must be one of {', '.join(allowed)}; got {shown(given)}.", advice)
    return allowed[0]


def read_truth(given: Any, path: Path, problems: ProblemList) -> bool:
    """Return a truth value."""
    if not isinstance(given, bool) and given is not REFUSED:
        problems.add(path, f"must be true or false; got {shown(given)}.")
    return given is True


def read_list(given: Any, what: str, path: Path, problems: ProblemList) -> list[Any] | None:
    """Return a list, or None with the reason among the problems."""
    if isinstance(given, list):
        return given
    if given is not REFUSED:
        problems.add(path, f"must be a list of {what}; got {shown(given)}.")
    return None


def read_table(given: Any, what: str, path: Path, problems: ProblemList) -> dict[str, Any] | None:
    """Return a table, or None with the reason among the problems."""
    if isinstance(given, dict):
        return given
    if given is not REFUSED:
        problems.add(path, f"must be a table with {what}; got {shown(given)}.")
    return None


def read_number(given: Any, path: Path, problems: ProblemList) -> float | None:
    """Return a number, or None with the reason among the problems."""
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return float(given)
    if given is not REFUSED:
        problems.add(path, f"must be a number; got {shown(given)}.")
    return None


def read_whole(given: Any, path: Path, problems: ProblemList) -> int | None:
    """Return a whole number, or None with the reason among the problems."""
    if type(given) is int:
        return given
    if given is not REFUSED:
        problems.add(path, f"must be a whole number; got {shown(given)}.")
    return None
