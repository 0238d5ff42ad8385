"""The checks of one variable: its texts, its options, its design, and the guess of its shares."""

import math
from typing import Any

from subsetprivacy.collect.survey.definition import MOST_OPTIONS, MOST_VARIABLES, RECOMMENDED, Variable
from subsetprivacy.collect.survey.entries import check_keys, read_list, read_name, read_number, read_table
from subsetprivacy.collect.survey.positions import Path
from subsetprivacy.collect.survey.problems import Findings
from subsetprivacy.collect.survey.rules import recommended
from subsetprivacy.collect.survey.spelled import read_design
from subsetprivacy.collect.survey.texts import looks, normal, read_text

VARIABLE_KEYS = ("id", "label", "question", "help", "options", "design", "guess")
LENGTHS = {"label": 100, "question": 500, "help": 1000, "option": 200}
SHARES_TOLERANCE = 1e-6


def read_variables(given: Any, mode: str, linked: set[str], findings: Findings) -> list[Variable]:
    """Return the variables that are fit; why others are not is among the findings.

    Parameters
    ----------
    given
        The list in the file.
    mode, linked
        The mode, and the ids that stand in a link: what is recommended depends on them.
    """
    listed = read_list(given, "variables", ("variables",), findings)
    if listed is None:
        return []
    if not 1 <= len(listed) <= MOST_VARIABLES:
        findings.add(("variables",), f"must be 1 to {MOST_VARIABLES} variables; got {len(listed)}.")
    variables: list[Variable | None] = []
    first: dict[str, int] = {}
    for k, held in enumerate(listed[:MOST_VARIABLES]):
        variables.append(_variable(held, mode, linked, ("variables", k), findings))
        name = id_of(held)
        if name is not None and first.setdefault(name, k) != k:
            findings.add(("variables", k, "id"), f"must be unique; variable {first[name] + 1} has it too.")
    return [variable for variable in variables if variable is not None]


def id_of(given: Any) -> str | None:
    """Return the id of a variable in a file, whether or not it is a good one."""
    name = given.get("id") if isinstance(given, dict) else None
    return normal(name) if isinstance(name, str) else None


def _variable(given: Any, mode: str, linked: set[str], path: Path, findings: Findings) -> Variable | None:
    held = read_table(given, "id, question and options", path, findings)
    if held is None:
        return None
    check_keys(held, VARIABLE_KEYS, ("id", "question", "options"), path, findings)
    name = read_name(held["id"], (*path, "id"), findings) if "id" in held else ""
    texts = {"label": name, "question": ""} | {
        key: read_text(held[key], (*path, key), findings, most=LENGTHS[key], empty=key == "help")
        for key in ("label", "question", "help")
        if key in held
    }
    options = _options(held["options"], (*path, "options"), findings) if "options" in held else None
    guess = None
    if "guess" in held:
        guess = _guess(held["guess"], options, (*path, "guess"), findings)
    if options is None:
        return None
    default = recommended(options, mode=mode, linked=name in linked)
    design = read_design(held.get("design", RECOMMENDED), options, default, (*path, "design"), findings)
    if design is None:
        return None
    return Variable(id=name, options=options, design=design[0], written=design[1], guess=guess, **texts)


def _options(given: Any, path: Path, findings: Findings) -> tuple[str, ...] | None:
    listed = read_list(given, "answers", path, findings)
    if listed is None:
        return None
    if not 2 <= len(listed) <= MOST_OPTIONS:
        findings.add(path, f"must be 2 to {MOST_OPTIONS} answers; got {len(listed)}.")
        return None
    options: list[str] = []
    first: dict[str, int] = {}
    for k, label in enumerate(listed):
        text = read_text(label, (*path, k), findings, most=LENGTHS["option"])
        earlier = first.setdefault(looks(text), k) if text else k
        if earlier != k:
            same = "is the same" if text == options[earlier] else "looks the same"
            findings.add((*path, k), f"must differ from the other options; option {earlier + 1} {same}.")
        options.append("" if earlier != k else text)
    return tuple(options) if all(options) else None


def _guess(given: Any, options: tuple[str, ...] | None, path: Path, findings: Findings) -> tuple[float, ...] | None:
    """Return shares; against the options they are checked if those are fit."""
    listed = read_list(given, "shares, one for each option", path, findings)
    if listed is None:
        return None
    if len(listed) != (len(options) if options is not None else min(len(listed), MOST_OPTIONS)):
        wanted = MOST_OPTIONS if options is None else len(options)
        findings.add(path, f"must have a share for each of the {wanted} options; got {len(listed)}.")
        return None
    shares = [read_number(share, (*path, k), findings) for k, share in enumerate(listed)]
    read = [share for share in shares if share is not None]
    low = [k for k, share in enumerate(shares) if share is not None and share <= 0]
    for k in low:
        findings.add((*path, k), f"must be above 0; got {shares[k]:g}.")
    if len(read) == len(listed) and not low and abs(math.fsum(read) - 1) > SHARES_TOLERANCE:
        findings.add(path, f"must sum to 1; the sum is {math.fsum(read):.7g}.")
    return tuple(read)
