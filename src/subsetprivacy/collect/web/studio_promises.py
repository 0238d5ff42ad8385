"""What publishing a survey promises and risks: the numbers to look at before it is done."""

import numpy as np
from attrs import frozen

from subsetprivacy.collect.survey.definition import SurveyDefinition, VariableDefinition
from subsetprivacy.collect.survey.describing import NoticeKind, VariableFacts, survey_facts
from subsetprivacy.design.document import name_of_kind
from subsetprivacy.presenting.words import words_of

_WORDS = words_of("en")
MANY_BITS = 10.0  # about a thousand people told apart
_KINDS = {
    "yes_no": "“Is your answer one of these?”",
    "groups": "“Which group holds your answer?”",
    "bit": "“Are the two numbers the same or different?”",
    "local": "marked on the device, which sends a set around it",
}


@frozen
class PromiseLine:
    """What is said of one variable before it is published."""

    label: str
    asked: str
    design: str
    smallest: str
    factor: str
    bits: float


@frozen
class Promises:
    """What is said of a survey before it is published.

    Attributes
    ----------
    linked
        The groups that are kept side by side, by their titles, and the bits of what is kept of them together.
    warnings
        What to think about first.
    notices
        What else to bear in mind.
    """

    lines: tuple[PromiseLine, ...]
    linked: tuple[tuple[str, float], ...]
    warnings: tuple[str, ...]
    notices: tuple[str, ...]


def promises(survey: SurveyDefinition) -> Promises:
    """Return what publishing a survey promises and risks."""
    facts, titles = survey_facts(survey), survey.titles
    lines = tuple(
        _line(titles[variable.id], variable, known)
        for variable, known in zip(survey.variables, facts.variables, strict=True)
    )
    linked = tuple((", ".join(titles[name] for name in group), bits) for group, bits in facts.groups if len(group) > 1)
    quoted = {name: f"“{title}”" for name, title in titles.items()}
    notices = tuple(
        notice.naming(quoted)
        for notice in facts.notices
        if notice.kind is not NoticeKind.OPEN  # a warning here
    )
    return Promises(lines, linked, tuple(_warnings(survey, linked)), notices)


def _line(title: str, variable: VariableDefinition, facts: VariableFacts) -> PromiseLine:
    hidden = np.isfinite(variable.design.epsilon)
    return PromiseLine(
        label=title,
        asked=_KINDS[facts.kind],
        design=name_of_kind(facts.design),
        smallest="all of them" if hidden else f"{_WORDS.whole(facts.smallest_set)} of {_WORDS.whole(facts.options)}",
        factor=_WORDS.times(variable.design.S),
        bits=facts.bits,
    )


def _warnings(survey: SurveyDefinition, linked: tuple[tuple[str, float], ...]) -> list[str]:
    out = []
    if survey.mode == "open":
        out.append(
            "Anybody with the link can answer, and on a second device again. Results are of those who chose to "
            "answer, and every page says so."
        )
    for names, bits in linked:
        if bits > MANY_BITS:
            out.append(
                f"The answers about {names} are kept side by side. What is kept of a person is like a number plate of "
                f"{bits:.0f} bits, which tells about {_WORDS.whole(2**bits)} people apart. Link fewer variables, or "
                "take designs with few questions (Hadamard)."
            )
    if not survey.contact.strip():
        out.append("There is no contact: respondents cannot tell who asks, or whom to turn to.")
    if not survey.introduction.strip():
        out.append("There is no introduction: the first page says nothing of why you ask.")
    return out
