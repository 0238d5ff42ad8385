"""Pages about drafts that someone else has changed. They say what happened and keep everything that was typed."""

from collections import Counter
from collections.abc import Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate, pairwise
from typing import Any

from attrs import frozen
from starlette.responses import Response

from subsetprivacy.collect.service.accounts import StudioUser
from subsetprivacy.collect.storage.surveys import Draft
from subsetprivacy.collect.survey.problems import SurveyError
from subsetprivacy.collect.survey.reading import read_survey
from subsetprivacy.collect.survey.writing import write_survey
from subsetprivacy.collect.web.studio_pages import render
from subsetprivacy.errors import ArgumentError

_AROUND = 2  # lines shown around each difference
_MOST_STEPS = 2_000_000  # of comparing two texts, a fifth of a second; longer comparisons are shown as one difference
_MOST_LINES = 5_000  # shown one by one; each takes a hundred bytes of a page


@frozen
class DiffLine:
    """A line of a difference: "same", "old" (of the first text only), "new" (of the second), "gap" (lines left out).

    If there are too many, all old lines become one, and all new lines.
    """

    kind: str
    text: str = ""


def conflict_page(person: StudioUser, present: Draft, text: str, format: str, *, editor: str = "file") -> Response:
    """Show that someone else saved a draft, with the unsaved text to keep, edit or discard.

    Parameters
    ----------
    person
        The signed-in user.
    present
        The draft as it is now.
    text, format
        The text to save.
    editor
        Where it was written: "file", or "form".
    """
    values: dict[str, Any] = {"draft": present, "text": text, "format": format, "editor": editor}
    lines = line_diff(*_alike(present.text, present.format, text, format))
    return render("conflict.html", status=409, person=person, lines=lines, **values)


def unpublished_page(person: StudioUser, present: Draft, text: str, format: str) -> Response:
    """Show that a draft has changed since the publish page was opened, and how."""
    lines = line_diff(*_alike(text, format, present.text, present.format))
    return render("unpublished.html", status=409, person=person, lines=lines, draft=present, format=format)


def _alike(old: str, old_format: str, new: str, new_format: str) -> tuple[str, str]:
    """Return two texts as they are, or both in the format of the second if they are surveys in two formats."""
    if old_format == new_format:
        return old, new
    try:
        surveys = read_survey(old, old_format), read_survey(new, new_format)
    except (SurveyError, ArgumentError):
        return old, new
    return write_survey(surveys[0], new_format), write_survey(surveys[1], new_format)


def gone_page(person: StudioUser, text: str, format: str) -> Response:
    """Show the text of a draft that was deleted while it was edited, to save as a new one."""
    values: dict[str, Any] = {"text": text, "format": format, "formats": (), "problems": (), "revision": ""}
    return render("file.html", status=404, person=person, draft=None, saved=False, is_gone=True, **values)


def line_diff(old: str, new: str) -> tuple[DiffLine, ...]:
    r"""Return how two texts differ, line by line. Empty if they have the same lines.

    Examples
    --------
    >>> [(line.kind, line.text) for line in line_diff("a\nb\n", "a\nc\n")]
    [('same', 'a'), ('old', 'b'), ('new', 'c')]
    """
    before, after = old.splitlines(), new.splitlines()
    if before == after:
        return ()
    try:
        groups = [list(group) for group in _Comparison(before, after).get_grouped_opcodes(_AROUND)]
    except _TooLongError:
        return _one_difference(before, after)
    lines: list[DiffLine] = []
    for group, following in pairwise([*groups, None]):
        assert group is not None
        for kind, i, j, k, m in group:
            if kind == "equal":
                lines += [DiffLine("same", text) for text in before[i:j]]
            else:
                lines += [DiffLine("old", text) for text in before[i:j]]
                lines += [DiffLine("new", text) for text in after[k:m]]
        if following is not None:
            lines.append(DiffLine("gap"))
    return tuple(lines) if len(lines) <= _MOST_LINES else _one_difference(before, after)


def _one_difference(before: Sequence[str], after: Sequence[str]) -> tuple[DiffLine, ...]:
    """Return all lines between the common beginning and end of both texts, the old as one and the new as one."""
    start = 0
    while before[start : start + 1] == after[start : start + 1]:
        start += 1
    end = 0
    most = min(len(before), len(after)) - start
    while end < most and before[-1 - end] == after[-1 - end]:
        end += 1
    parts = ("old", before[start : len(before) - end]), ("new", after[start : len(after) - end])
    return tuple(DiffLine(kind, "\n".join(lines)) for kind, lines in parts if lines)


class _TooLongError(Exception):
    """A comparison has reached its limit of steps."""


class _Comparison(SequenceMatcher[str]):
    """A comparison line by line that gives up after a number of steps.

    Each search for a run of equal lines visits every place where a line of the first text occurs in the second. Then it
    searches the parts before and after the run. With repeated lines this takes cubic time, so the lengths of the texts
    are no useful limit.
    """

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(None, before, after, False)
        counts = Counter(after)
        self._steps_until = [0, *accumulate(1 + counts[line] for line in before)]
        self._left = _MOST_STEPS

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """Return the longest run of lines that are equal in two parts of the texts."""
        end = len(self._steps_until) - 1 if ahi is None else ahi
        self._left -= self._steps_until[end] - self._steps_until[alo]
        if self._left < 0:
            raise _TooLongError
        return super().find_longest_match(alo, ahi, blo, bhi)
