"""Problems of a survey file, and where they are."""

from collections.abc import Sequence
from typing import Any

from attrs import field, frozen

from subsetprivacy._words import counted
from subsetprivacy.collect.survey.line_numbers import LocatedData, Path
from subsetprivacy.errors import SubsetPrivacyError
from subsetprivacy.messages import Advice, Hint
from subsetprivacy.messages.advice import as_hint
from subsetprivacy.messages.rendering import for_python, with_hint

MOST_PROBLEMS = 200
_MOST_SHOWN = 40
_ONE_OF = {
    "variables": "variable",
    "options": "option",
    "links": "link",
    "guess": "share",
    "never_alone": "forbidden set",
}


@frozen
class SurveyProblem:
    """One problem of a survey file.

    Attributes
    ----------
    line
        The line of the file, from 1. None if there is no file, or the problem has no particular line.
    place
        The place in words: "variable 2 (income), option 3".
    message
        What is required, and what was found. Keys of the file are in backquotes.
    path
        The place as keys and positions from 0: ``("variables", 1, "options", 2)``.
    advice
        What to do about it. None if that is obvious.
    """

    line: int | None
    place: str
    message: str
    path: Path = ()
    advice: Hint | None = field(default=None, converter=as_hint)

    @property
    def text(self) -> str:
        """The message with its advice, for people who write the file."""
        return with_hint(self.message, for_python(self.advice))

    def __str__(self) -> str:
        where = "" if self.line is None else f"line {self.line}, "
        return f"{where}{self.place}: {self.text}"


class SurveyError(SubsetPrivacyError):
    """A survey is not valid. The error contains all its problems.

    Attributes
    ----------
    problems
        In the order of their lines.
    """

    def __init__(self, problems: Sequence[SurveyProblem]) -> None:
        self.problems: tuple[SurveyProblem, ...] = tuple(problems)
        number = counted(len(self.problems), "problem")
        super().__init__(
            "\n".join([f"a survey must have no problem; this one has {number}.", *map(str, self.problems)])
        )


class ProblemList:
    """The problems found so far."""

    def __init__(self, marked: LocatedData) -> None:
        self._marked = marked
        self._found: list[SurveyProblem] = []
        self._more = 0
        for fault in marked.faults:
            self._keep(fault.path, fault.line, fault.message, fault.advice)

    def add(self, path: Path, message: str, advice: Advice | Hint | None = None) -> None:
        """Note a problem, and what to do about it."""
        self._keep(path, self._marked.line(path), message, advice)

    @property
    def are_many(self) -> bool:
        """Whether the list is full, so that looking for hints is useless."""
        return len(self._found) >= MOST_PROBLEMS

    def _keep(self, path: Path, line: int | None, message: str, advice: Advice | Hint | None) -> None:
        if self.are_many:
            self._more += 1
        else:
            self._found.append(SurveyProblem(line, place_of(path, self._marked.data), message, path, advice))

    def __bool__(self) -> bool:
        return bool(self._found)

    def error(self) -> SurveyError:
        """Return the error with all problems."""
        ordered = sorted(self._found, key=lambda problem: problem.line or 0)
        if self._more:
            ordered.append(SurveyProblem(None, "the survey", f"there are {self._more} more problems."))
        return SurveyError(ordered)


def place_of(path: Path, data: Any) -> str:
    """Return a place in words, with the id of the variable if there is one."""
    words: list[str] = []
    for depth, step in enumerate(path):
        if isinstance(step, str):
            words.append(step if step.isprintable() and 0 < len(step) <= _MOST_SHOWN else ascii(step[:_MOST_SHOWN]))
            continue
        within = path[depth - 1] if depth else ""
        if within == "variables" and depth == 3 and path[0] == "links":
            words[-1] = f"variable {step + 1}"
        elif words and within in _ONE_OF and words[-1] == within:
            words[-1] = f"{_ONE_OF[str(within)]} {step + 1}{_id(data, path[: depth + 1])}"
        else:
            words.append(f"number {step + 1}")
    return ", ".join(words) or "the survey"


def _id(data: Any, path: Path) -> str:
    """Return the id of a variable in parentheses, if it has one."""
    if len(path) != 2 or path[0] != "variables":
        return ""
    listed, number = (data.get("variables") if isinstance(data, dict) else None), int(path[1])
    variable = listed[number] if isinstance(listed, list) and number < len(listed) else None
    name = variable.get("id") if isinstance(variable, dict) else None
    return f" ({name})" if isinstance(name, str) and name.isprintable() and 0 < len(name) <= 32 else ""
