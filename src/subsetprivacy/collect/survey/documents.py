"""A survey as plain data, with the same keys as its file: for forms, JSON and the writers."""

from typing import Any

from subsetprivacy.collect.survey.checking import check
from subsetprivacy.collect.survey.definition import RECOMMENDED, Survey, Variable
from subsetprivacy.collect.survey.positions import Marked
from subsetprivacy.collect.survey.rules import recommended


def survey_document(survey: Survey) -> dict[str, Any]:
    """Return a survey as plain data: every key there is, but `guess` where there is none."""
    linked = {name for group in survey.links for name in group}
    return {
        "title": survey.title,
        "study": survey.study,
        "language": survey.language,
        "mode": survey.mode,
        "batch": survey.batch,
        "introduction": survey.introduction,
        "thanks": survey.thanks,
        "contact": survey.contact,
        "practice": survey.practice,
        "variables": [_variable_document(variable, variable.id in linked) for variable in survey.variables],
        "links": [{"variables": list(group)} for group in survey.links],
    }


def _variable_document(variable: Variable, linked: bool) -> dict[str, Any]:
    written = variable.written
    if written == RECOMMENDED and variable.design != recommended(variable.options, linked=linked):
        written = variable.design.document()  # a survey that was put together by a program
    document = {
        "id": variable.id,
        "label": variable.label,
        "question": variable.question,
        "help": variable.help,
        "options": list(variable.options),
        "design": written,
    }
    return document if variable.guess is None else {**document, "guess": list(variable.guess)}


def survey_from_document(document: Any) -> Survey:
    """Return the survey that plain data describe; keys may be missing as in a file.

    Raises
    ------
    SurveyError
        With every problem; there are no lines, but each has its path.
    """
    return check(Marked(document, {}))
