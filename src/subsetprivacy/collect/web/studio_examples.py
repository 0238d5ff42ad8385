"""Surveys to begin with."""

from attrs import frozen


@frozen
class Example:
    """A survey to begin with: what it shows, and its file."""

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

_WORK = """\
title = "Work and health"
study = "work-and-health"
mode = "code"
batch = 25
introduction = \"\"\"
We would like to know how people here are doing.

You are never asked for your answer itself: only whether it is in a list.\"\"\"
thanks = "Thank you. The results will hang next to the coffee machine."
contact = "The works council, room 12"

[[variables]]
id = "income"
label = "Monthly income"
question = "What do you earn in a month, before tax?"
options = ["below 2000", "2000 to 3000", "3000 to 4000", "4000 to 5000", "above 5000"]

[[variables]]
id = "health"
label = "Health"
question = "How has your health been in the last year?"
options = ["very good", "good", "fair", "bad", "very bad"]

[[variables]]
id = "sick_days"
label = "Days at work while ill"
question = "On how many days did you work although you were ill?"
options = ["none", "1 or 2", "3 to 5", "6 to 10", "more than 10"]

[[links]]
variables = ["income", "health"]
"""

_STUDENTS = """\
title = "Exams, honestly"
study = "exams"
mode = "open"
batch = 100
introduction = "Four short questions about exams. Nobody can tell from what you send how you answered."

[[variables]]
id = "copied"
label = "Copied in an exam"
question = "Have you ever copied from somebody in an exam?"
options = ["no", "yes"]

[[variables]]
id = "stimulants"
label = "Took something to learn"
question = "Have you taken anything to learn better this term?"
options = ["never", "coffee only", "prescribed medicine", "something else"]

[[variables]]
id = "fear"
label = "Afraid of exams"
question = "How afraid are you before an exam?"
options = ["not at all", "somewhat", "very"]

[[variables]]
id = "subject"
label = "Subject"
question = "What do you study?"
options = ["medicine", "law", "economics", "languages", "history", "mathematics", "physics", "chemistry", "other"]
"""

EMPTY = Example("empty", "Empty", "One question with four answers, to write over.", _EMPTY)
EXAMPLES = (
    EMPTY,
    Example(
        "work", "Work and health", "Three questions, two of them linked; a link of one's own for everybody.", _WORK
    ),
    Example(
        "students",
        "Exams, honestly",
        "All kinds of questions, from two answers to nine; one link for everybody.",
        _STUDENTS,
    ),
)
