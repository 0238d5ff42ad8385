"""Check plain data and make a survey of them, or report every problem."""

import re
import unicodedata
from hashlib import sha256
from typing import Any

from subsetprivacy.collect.survey.definition import DEFAULT_BATCH, LEAST_BATCH, MODES, OPEN_BATCH, SurveyDefinition
from subsetprivacy.collect.survey.entries import (
    check_keys,
    meant,
    read_choice,
    read_list,
    read_name,
    read_table,
    read_truth,
)
from subsetprivacy.collect.survey.line_numbers import REFUSED, LocatedData, Path, UnreadableError, plain
from subsetprivacy.collect.survey.manifest import freeze
from subsetprivacy.collect.survey.problems import ProblemList, SurveyError, SurveyProblem
from subsetprivacy.collect.survey.texts import read_text, shown
from subsetprivacy.collect.survey.variable_checks import id_of, read_variables
from subsetprivacy.messages.for_surveys import FEWER_QUESTIONS

LANGUAGES = ("en", "de", "ar")
SURVEY_KEYS = (
    "title",
    "study",
    "language",
    "mode",
    "batch",
    "introduction",
    "thanks",
    "contact",
    "practice",
    "variables",
    "links",
)
LENGTHS = {"title": 200, "introduction": 5000, "thanks": 5000, "contact": 1000}
LONG = ("introduction", "thanks", "contact")  # may have several lines, or be empty
MOST_BATCH = 1_000_000
MOST_MANIFEST = 1 << 20  # bytes that a respondent's browser loads
_MOST_LINKS = 64
_MOST_ID = 100  # of what is looked at


def check(marked: LocatedData) -> SurveyDefinition:
    """Return the survey that plain data describe.

    Raises
    ------
    SurveyError
        With every problem, in the order of the lines.
    """
    try:
        document = plain(marked)
    except UnreadableError as error:
        raise SurveyError([SurveyProblem(error.line, "the survey", error.message, advice=error.advice)]) from None
    problems = ProblemList(document)
    survey = _survey(document.data, problems)
    if survey is None or problems:
        raise problems.error()
    return survey


def _survey(given: Any, problems: ProblemList) -> SurveyDefinition | None:
    data = read_table(given, "a title and variables", (), problems)
    if data is None:
        return None
    check_keys(data, SURVEY_KEYS, ("title", "variables"), (), problems)
    texts: dict[str, Any] = {
        key: read_text(data[key], (key,), problems, most=LENGTHS[key], long=key in LONG, empty=key in LONG)
        for key in LENGTHS
        if key in data
    }
    links = _links(data.get("links", []), problems)
    mode = read_choice(data.get("mode", MODES[0]), MODES, ("mode",), problems)
    linked = {name for group in links for name in group}
    variables = read_variables(data.get("variables", REFUSED), mode, linked, problems)
    _check_links(links, data, problems)
    settings: dict[str, Any] = {
        "study": read_name(data.get("study", study_of(texts.get("title", ""))), ("study",), problems),
        "language": read_choice(data.get("language", LANGUAGES[0]), LANGUAGES, ("language",), problems),
        "batch": _batch(data.get("batch", OPEN_BATCH if mode == "open" else DEFAULT_BATCH), problems),
        "practice": read_truth(data.get("practice", True), ("practice",), problems),
    }
    if problems:
        return None
    survey = SurveyDefinition(
        variables=tuple(variables), mode=mode, links=tuple(tuple(group) for group in links), **texts, **settings
    )
    _check_size(survey, problems)
    return survey


def study_of(title: str) -> str:
    """Return the name of a study made from a title.

    Examples
    --------
    >>> study_of("Work & Health, Zürich"), study_of("2026")
    ('work-health-zurich', 'study-2026')
    """
    letters = unicodedata.normalize("NFKD", title.casefold()).encode("ascii", "ignore").decode()
    name = re.sub(r"[^a-z0-9]+", "-", letters).strip("-")
    if not name:  # another alphabet
        return f"study-{sha256(title.encode()).hexdigest()[:8]}"
    return (name if name[0].isalpha() else f"study-{name}")[:32].rstrip("-")


def _batch(given: Any, problems: ProblemList) -> int:
    if type(given) is int and LEAST_BATCH <= given <= MOST_BATCH:
        return given
    if given is not REFUSED:
        low = isinstance(given, int) and given < LEAST_BATCH
        why = " Among fewer people at a time, one answer could be worked out from the others." if low else ""
        problems.add(("batch",), f"must be a whole number from {LEAST_BATCH} to {MOST_BATCH}; got {shown(given)}.{why}")
    return DEFAULT_BATCH


# Links --------------------------------------------------------------------------------------------


def _links(given: Any, problems: ProblemList) -> list[list[str]]:
    """Return the ids of each group that are text."""
    listed = read_list(given, "tables with `variables`", ("links",), problems) or []
    if len(listed) > _MOST_LINKS:
        problems.add(("links",), f"must be at most {_MOST_LINKS} links; got {len(listed)}.")
    return [_link(entry, ("links", k), problems) for k, entry in enumerate(listed[:_MOST_LINKS])]


def _link(given: Any, path: Path, problems: ProblemList) -> list[str]:
    table = read_table(given, "`variables`", path, problems)
    if table is None:
        return []
    check_keys(table, ("variables",), ("variables",), path, problems)
    names = read_list(table.get("variables", REFUSED), "ids", (*path, "variables"), problems)
    if names is not None and len(names) < 2:
        problems.add((*path, "variables"), f"must be at least two; got {len(names)}.")
    return [read_text(name, (*path, "variables", i), problems, most=100) for i, name in enumerate(names or [])]


def _check_links(links: list[list[str]], data: dict[str, Any], problems: ProblemList) -> None:
    """Note unknown ids, and variables that are in two links or twice in one."""
    listed = data.get("variables")
    ids = {id_of(entry) for entry in listed} if isinstance(listed, list) else set()
    known = sorted(name[:_MOST_ID] for name in ids if name)
    place: dict[str, int] = {}
    for k, group in enumerate(links):
        for i, name in enumerate(group):
            path = ("links", k, "variables", i)
            if name and name not in ids:
                advice = meant(name, known, problems)
                problems.add(path, f"must be the `id` of a question; got {shown(name)}.", advice)
            elif name and name in place:
                where = "this link" if place[name] == k else f"link {place[name] + 1}"
                problems.add(path, f"must be in one link only, once; {where} has {shown(name)} too.")
            place.setdefault(name, k)


def _check_size(survey: SurveyDefinition, problems: ProblemList) -> None:
    size = len(freeze(survey, nonce="").text)
    if size > MOST_MANIFEST:
        problems.add(
            ("variables",),
            f"must fit into {MOST_MANIFEST >> 10} kB with all of their questions, which every respondent loads; they "
            f"take {size >> 10}.",
            FEWER_QUESTIONS,
        )
