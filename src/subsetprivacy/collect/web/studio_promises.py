"""What publishing a survey promises and risks, shown before publication."""

import numpy as np
from attrs import frozen

from subsetprivacy.collect.survey.definition import SurveyDefinition, VariableDefinition
from subsetprivacy.collect.survey.describing import NoticeKind, VariableFacts, survey_facts
from subsetprivacy.design.document import name_of_kind
from subsetprivacy.presenting.words import words_of

_WORDS = words_of("en")
MANY_BITS = 10.0  # enough to tell about a thousand people apart
_KINDS = {
    "yes_no": "“Is your answer one of these?”",
    "groups": "“Which group is your answer in?”",
    "bit": "“Are the two numbers the same or different?”",
    "local": "marked on the device, which sends a set that contains it",
}


@frozen
class PromiseLine:
    """What the publish page shows about one variable."""

    label: str
    asked: str
    design: str
    smallest: str
    factor: str
    bits: float


@frozen
class Promises:
    """What the publish page shows about a survey.

    Attributes
    ----------
    linked
        The groups that are kept together, by their titles, and the bits of what is kept.
    warnings
        Warnings to consider first.
    notices
        Further remarks.
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
            "Anyone with the link can answer, and can answer again on a second device. The results describe the "
            "people who chose to answer, and every page says so."
        )
    for names, bits in linked:
        if bits > MANY_BITS:
            out.append(
                f"The answers about {names} are kept together. Together they are a fingerprint of {bits:.0f} bits, "
                f"which can tell about {_WORDS.whole(2**bits)} people apart. Link fewer variables, or use designs with "
                "few questions (Hadamard)."
            )
    if not survey.contact.strip():
        out.append("There is no contact. Respondents cannot tell who is asking or whom to contact.")
    if not survey.introduction.strip():
        out.append("There is no introduction. The first page does not say what the survey is about.")
    return out
