"""The definition of a survey: its texts, its variables, its links, and how answers are collected."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from subsetprivacy.design import Design

MODES = ("code", "open")
DEFAULT_BATCH = 25
OPEN_BATCH = 100  # anyone can fill a batch of an open survey around one person; a larger one makes that expensive
LEAST_BATCH = 10
MOST_OPTIONS = 48
MOST_VARIABLES = 64
MOST_FORBIDDEN = 100
RECOMMENDED = "recommended"


@frozen
class VariableDefinition:
    """One question: its text, the possible answers, and the design that draws its subsets.

    Attributes
    ----------
    id
        A short name for files and columns, the same in every wave of a study.
    label
        The name of the variable in tables and figures.
    question
        The text of the question.
    options
        The possible answers, in the order they are shown.
    design
        How subsets of them are drawn.
    written
        What the file says about the design: "recommended", the name of a kind, or a table.
    guess
        The author's guess of the shares, for the sentence "about 4 in 10 people would send this".
    help
        A help text under the question.
    never_alone
        Forbidden sets of options. No set that is sent lies within one of them.
    original
        The design before these sets were forbidden. None if there are none.
    """

    id: str
    label: str
    question: str
    options: tuple[str, ...]
    design: Design
    written: Any = RECOMMENDED
    guess: tuple[float, ...] | None = None
    help: str = ""
    never_alone: tuple[tuple[str, ...], ...] = ()
    original: Design | None = None

    @property
    def words(self) -> dict[str, Any]:
        """The texts that a respondent reads, under the keys of a file and a manifest."""
        return {
            "id": self.id,
            "label": self.label,
            "question": self.question,
            "help": self.help,
            "options": list(self.options),
        }


@frozen
class SurveyDefinition:
    """A survey as its file describes it.

    Attributes
    ----------
    study
        The name that the waves of a study share. A person's questions are remembered under it.
    mode
        "code": everyone has a personal link, used once. "open": one link for everyone, and people select themselves.
    batch
        Results change only when this many more people have answered.
    links
        Groups of variables whose answers are kept together, to make tables of them.
    contact
        Who is asking, and whom to contact.
    practice
        Whether the survey starts with practice: a question about balls in a jar for each kind of question in it.
    """

    title: str
    variables: tuple[VariableDefinition, ...]
    study: str
    language: str = "en"
    mode: str = "code"
    batch: int = DEFAULT_BATCH
    links: tuple[tuple[str, ...], ...] = ()
    introduction: str = ""
    thanks: str = ""
    contact: str = ""
    practice: bool = True
    _by_id: dict[str, int] = field(init=False, eq=False, repr=False)

    @_by_id.default
    def _number(self) -> dict[str, int]:
        return {variable.id: k for k, variable in enumerate(self.variables)}

    @property
    def settings(self) -> dict[str, Any]:
        """Everything except variables and links, under the keys of a file and a manifest."""
        return {
            "title": self.title,
            "study": self.study,
            "language": self.language,
            "mode": self.mode,
            "batch": self.batch,
            "introduction": self.introduction,
            "thanks": self.thanks,
            "contact": self.contact,
            "practice": self.practice,
        }

    @property
    def titles(self) -> dict[str, str]:
        """The titles of the variables by their ids. No two are the same."""
        return titles_of({variable.id: variable.label for variable in self.variables})

    def variable(self, name: str) -> VariableDefinition:
        """Return the variable with this id."""
        return self.variables[self._by_id[name]]

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The groups of variables whose answers are kept together: the links, then every other variable alone."""
        linked = {name for group in self.links for name in group}
        alone = ((variable.id,) for variable in self.variables if variable.id not in linked)
        return (*self.links, *alone)


def titles_of(labels: Mapping[str, str]) -> dict[str, str]:
    """Return a title for each variable by its id: its label, followed by the id if another variable has the same label.

    Examples
    --------
    >>> titles_of({"weekday": "Sleep", "weekend": "Sleep", "tea": "Tea"})
    {'weekday': 'Sleep (weekday)', 'weekend': 'Sleep (weekend)', 'tea': 'Tea'}
    """
    number = Counter(labels.values())
    titles = {name: label if number[label] == 1 else f"{label} ({name})" for name, label in labels.items()}
    if len(set(titles.values())) == len(titles):
        return titles
    return {name: f"{label} ({name})" for name, label in labels.items()}  # ids have neither blanks nor brackets
