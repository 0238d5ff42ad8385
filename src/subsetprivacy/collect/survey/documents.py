"""A survey as plain data, with the same keys as its file: for forms, JSON and the writers."""

from typing import Any

from subsetprivacy.collect.survey.checking import check
from subsetprivacy.collect.survey.definition import RECOMMENDED, SurveyDefinition, VariableDefinition
from subsetprivacy.collect.survey.line_numbers import LocatedData
from subsetprivacy.collect.survey.rules import recommended
from subsetprivacy.design import Design


def survey_document(survey: SurveyDefinition) -> dict[str, Any]:
    """Return a survey as plain data with every key, except `guess` and `never_alone` if there are none."""
    linked = {name for group in survey.links for name in group}
    return {
        **survey.settings,
        "variables": [
            _variable_document(variable, recommended(variable.options, mode=survey.mode, linked=variable.id in linked))
            for variable in survey.variables
        ],
        "links": [{"variables": list(group)} for group in survey.links],
    }


def _variable_document(variable: VariableDefinition, default: Design) -> dict[str, Any]:
    written = variable.written
    design = variable.original or variable.design
    if written == RECOMMENDED and design != default:
        written = design.document()  # a survey made by a program
    document = {**variable.words, "design": written}
    if variable.guess is not None:
        document["guess"] = list(variable.guess)
    if variable.never_alone:
        document["never_alone"] = [list(options) for options in variable.never_alone]
    return document


def survey_from_document(document: Any) -> SurveyDefinition:
    """Return the survey that plain data describe. Keys may be missing as in a file.

    Raises
    ------
    SurveyError
        With every problem. There are no lines, but each problem has its path.
    """
    return check(LocatedData(document, {}))
