"""What is wrong with a survey, in the words of the form: questions and answers, not the keys of the file."""

import re
from typing import Any

from subsetprivacy.collect.survey.definition import Survey
from subsetprivacy.collect.survey.problems import Problem

_FIELDS = {
    "title": "title",
    "introduction": "introduction",
    "mode": "who answers",
    "batch": "batch",
    "thanks": "thanks",
    "contact": "contact",
    "language": "language of the page",
    "study": "study",
    "practice": "practice question",
    "variables": "questions",
    "question": "text",
    "options": "possible answers",
    "label": "label",
    "id": "name",
    "design": "how it is asked",
    "help": "sentence under the question",
    "guess": "guess of the shares",
    "never_alone": "answers never left alone",
    "links": "links",
}
_ONE_OF = {
    "variables": "question {}",
    "options": "answer {}",
    "links": "link {}",
    "guess": "share of answer {}",
    "never_alone": "set {} never left alone",
}
_WORDS = {
    "variable": "question",
    "variables": "questions",
    "option": "answer",
    "options": "answers",
    "id": "name",
    "ids": "questions",
}
_DESIGNS = (  # as the file writes them, and how the form is set to them
    (r', design = \{kind = "fixed_size", size = (\d+)\}', r" (“How it is asked”: “On the device”, \1 sent together)"),
    (r'take design = "recommended"', "choose “Recommended” under “How it is asked”"),
)
_QUOTED = r"""(?:"[^"]*")|“[^”]*”|(?<!\w)'[^']*'(?!\w)"""  # what was typed
_WORD = re.compile(rf"{_QUOTED}|\b(?:{'|'.join(_WORDS)})\b")


def in_words_of_the_form(problem: Problem) -> dict[str, Any]:
    """Return a problem as the form shows it, with the path that leads to its field."""
    return {"place": place_in_form(problem.path), "message": in_words(problem.message), "path": list(problem.path)}


def notice_in_words(survey: Survey, notice: str) -> str:
    """Return a notice about a survey with the labels of its questions in the place of their names."""
    head, colon, rest = notice.partition(":")  # what it is about stands before the colon
    labels = {variable.id: f"“{variable.label}”" for variable in survey.variables}
    about = re.sub(r"[\w-]+", lambda found: labels.get(found[0], found[0]), head)
    return in_words(about + colon + rest)


def in_words(text: str) -> str:
    """Return a sentence about a file in the words of the form; what stands in quotes stays."""
    for written, chosen in _DESIGNS:
        text = re.sub(written, chosen, text)
    return _WORD.sub(lambda found: _WORDS.get(found[0], found[0]), text)


def place_in_form(path: tuple[str | int, ...]) -> str:
    """Return a place by what the form calls it.

    Examples
    --------
    >>> place_in_form(("variables", 1, "options", 2)), place_in_form(("mode",)), place_in_form(())
    ('Question 2, answer 3', 'Who answers', 'The survey')
    """
    words: list[str] = []
    depth = 0
    while depth < len(path):
        step, following = str(path[depth]), path[depth + 1] if depth + 1 < len(path) else None
        if step in _ONE_OF and isinstance(following, int):
            words.append(_ONE_OF[step].format(following + 1))
            depth += 2
            if step == "links":
                break  # which question of it does not matter: the link is one field
        else:
            words.append(_FIELDS.get(step, step))
            depth += 1
            if step == "design":
                break
    said = ", ".join(words) or "the survey"
    return said[0].upper() + said[1:]
