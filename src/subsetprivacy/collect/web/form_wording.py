"""Problems of a survey in the words of the form: questions and answers instead of the keys of the file."""

from typing import Any

from subsetprivacy.collect.survey.problems import SurveyProblem
from subsetprivacy.errors import SubsetPrivacyError
from subsetprivacy.messages import Hint
from subsetprivacy.messages.rendering import for_page, with_hint, with_names

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
    "help": "help text",
    "guess": "guessed shares",
    "never_alone": "forbidden sets",
    "links": "links",
}
_ONE_OF = {
    "variables": "question {}",
    "options": "answer {}",
    "links": "link {}",
    "guess": "share of answer {}",
    "never_alone": "forbidden set {}",
}
_NAMES = {  # of keys of the file, in sentences
    "variables": "questions",
    "options": "answers",
    "id": "name",
    "design": "way of asking",
    "size": "the number sent together",
    "groups": "the number of groups",
}


def in_words_of_the_form(problem: SurveyProblem) -> dict[str, Any]:
    """Return a problem as the form shows it, with the path that leads to its field."""
    message = in_words(problem.message, problem.advice)
    return {"place": place_in_form(problem.path), "message": message, "path": list(problem.path)}


def error_in_words(error: SubsetPrivacyError) -> str:
    """Return an error as a page shows it."""
    return in_words(error.message, error.advice)


def in_words(message: str, advice: Hint | None = None) -> str:
    r"""Return a message and its advice as a page shows them, with the form's names for the keys of the file.

    Examples
    --------
    >>> in_words("must be one of the `options`; got \"options\".")
    'must be one of the answers; got "options".'
    """
    return with_hint(with_names(message, _NAMES), for_page(advice))


def place_in_form(path: tuple[str | int, ...]) -> str:
    """Return a place under the form's name for it.

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
                break  # the question in it does not matter, because the link is one field
        else:
            words.append(_FIELDS.get(step, step))
            depth += 1
            if step == "design":
                break
    place = ", ".join(words) or "the survey"
    return place[0].upper() + place[1:]
