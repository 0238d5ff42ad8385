"""Surveys to start from."""

from attrs import frozen

from subsetprivacy.collect.survey.bundled_files import example_text
from subsetprivacy.collect.survey.definition import SurveyDefinition
from subsetprivacy.collect.survey.reading import read_survey


@frozen
class Example:
    """A survey to start from: a description and its file."""

    id: str
    title: str
    about: str
    text: str


_EMPTY = """\
title = "Untitled survey"
mode = "code"
batch = 25
introduction = ""

[[variables]]
id = "question_1"
label = "Question 1"
question = "Which of these is true of you?"
options = ["first answer", "second answer", "third answer", "fourth answer"]
"""

_STUDENTS = """\
title = "Exams, honestly"
study = "exams"
mode = "open"
batch = 100
introduction = "Four short questions about exams. No one can tell for sure from what you send how you answered."

[[variables]]
id = "copied"
label = "Copied in an exam"
question = "Have you ever copied from someone in an exam?"
options = ["no", "yes"]

[[variables]]
id = "stimulants"
label = "Study aids"
question = "Have you taken anything to study better this term?"
options = ["never", "coffee only", "prescribed medicine", "something else"]

[[variables]]
id = "fear"
label = "Fear of exams"
question = "How afraid are you before an exam?"
options = ["not at all", "somewhat", "very"]

[[variables]]
id = "subject"
label = "Subject"
question = "What do you study?"
options = ["medicine", "law", "economics", "languages", "history", "mathematics", "physics", "chemistry", "other"]
"""

EMPTY = Example("empty", "Empty", "One question with four answers, for you to overwrite.", _EMPTY)
EXAMPLES = (
    EMPTY,
    Example(  # the same as `subsetprivacy survey example`
        "work",
        "Work and health",
        "Five questions of different kinds, two of them linked. Everyone gets a personal link.",
        example_text("toml"),
    ),
    Example(
        "students",
        "Exams, honestly",
        "Four questions with two to nine answers. Everyone gets the same link.",
        _STUDENTS,
    ),
)


def placeholders() -> list[str]:
    """Return the placeholder texts of the empty survey, which are not meant to be asked."""
    survey = read_survey(EMPTY.text, "toml")
    return [survey.title, survey.study, survey.variables[0].question, *survey.variables[0].options]


def placeholders_in(survey: SurveyDefinition) -> list[str]:
    """Return the placeholders that a survey still contains."""
    asked = {survey.title, survey.study}
    for variable in survey.variables:
        asked |= {variable.question, *variable.options}
    return [text for text in placeholders() if text in asked]
