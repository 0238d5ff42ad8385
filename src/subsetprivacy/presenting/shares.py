"""Shares of one column as pictures, tables and sentences: now, compared with an earlier wave, by group, by moments."""

from typing import Any

import numpy as np

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.finding.shares import GroupFindings, PeopleNeeded, ShareFindings
from subsetprivacy.finding.variable import VariableFindings
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.presenting.html import Html, bullets, details, el, lines, table
from subsetprivacy.presenting.svg import Dot, dots_figure
from subsetprivacy.presenting.words import Words, digits_for, label_text

MOST_SHOWN, SHOWN = 48, 20  # categories up to which all are shown, as in every survey, and how many are shown otherwise
MOST_DRAWN = 60  # dots of groups in one picture
_NAMED = 6  # categories in a note


def shown_places(shares: ShareFindings) -> IntArray:
    """Return the positions of the categories to show: all in order, or the largest ones, sorted."""
    p = len(shares.estimate)
    return np.arange(p) if p <= MOST_SHOWN else np.argsort(-shares.estimate, kind="stable")[:SHOWN]


def people_sentence(words: Words, variable: VariableFindings) -> str:
    """Say how many people reported something, and who did not."""
    key = "people.weighted" if variable.is_weighted else "people.reported"
    parts = [words.count(key, variable.answered)]
    if variable.missing:
        parts.append(words.count("people.missing", variable.missing))
    if variable.dummies > 0:
        parts.append(words.count("people.dummies", variable.dummies))
    return " ".join(parts)


def lead_sentence(words: Words, variable: VariableFindings) -> Html:
    """Return the main number as a sentence. Empty if shares are not unique, so that none is the largest."""
    shares = variable.shares
    assert shares is not None
    if not variable.is_unique:
        return Html()
    top = int(np.argmax(shares.estimate))
    digits = digits_for(shares.se)
    value = words.percent(float(shares.estimate[top]), digits)
    ends = words.span(float(shares.lower[top]), float(shares.upper[top]), lambda x: words.percent(x, digits))
    sentence = words("shares.lead_interval", level=words.level(variable.settings.level), ends=ends) if ends else ""
    return el(
        "p", words("shares.lead", category=variable.categories[top], share=value, interval=sentence), class_="lead"
    )


def shares_section(words: Words, variable: VariableFindings) -> Html:
    """Return the picture and the table of the shares, with their caveats."""
    shares = variable.shares
    if shares is None:
        problem = "" if variable.problem is None else words.note(variable.problem)
        return el("p", words("shares.none"), " ", problem, class_="warning")
    at = shown_places(shares)
    title = words("shares.title", variable=variable.title)
    level = words.level(variable.settings.level)
    names = [variable.categories[j] for j in at]
    figure = el(
        "figure",
        dots_figure(words, _dots(words, names, shares, at, min(digits_for(shares.se[at]), 2)), title),
        el("figcaption", words("shares.caption", level=level)),
    )
    return lines(
        [
            el("div", figure, el("div", shares_table(words, variable, shares, title)), class_="split"),
            notes_list(words, variable, shares),
        ]
    )


def _dots(
    words: Words, names: list[str], shares: ShareFindings, at: IntArray, digits: int, heading: str = ""
) -> list[Dot]:
    return [
        Dot(
            name,
            float(shares.estimate[j]),
            float(shares.lower[j]),
            float(shares.upper[j]),
            words.percent(float(shares.estimate[j]), digits),
            heading if k == 0 else "",
        )
        for k, (name, j) in enumerate(zip(names, at, strict=True))
    ]


def shares_table(words: Words, variable: VariableFindings, shares: ShareFindings, caption: str) -> Html:
    """Return a row per category: share, standard error, interval."""
    at = shown_places(shares)
    digits = digits_for(shares.se[at])
    head = (
        words("shares.category"),
        words("shares.share"),
        words("shares.se"),
        words("shares.interval", level=words.level(variable.settings.level)),
    )
    rows = [
        (
            label_text(variable.categories[j]),
            words.percent(float(shares.estimate[j]), digits),
            words.number(100 * float(shares.se[j]), digits),
            words.span(float(shares.lower[j]), float(shares.upper[j]), lambda x: words.percent(x, digits)) or "–",
        )
        for j in at
    ]
    return table(caption, head, rows)


def notes_list(words: Words, variable: VariableFindings, shares: ShareFindings) -> Html:
    """Return the caveats of the shares and of the column."""
    notes: list[object] = []
    if len(shown_places(shares)) < len(shares.estimate):
        notes.append(words("shares.cut", shown=words.whole(SHOWN), p=words.whole(len(shares.estimate))))
    if shares.method == "mom":
        notes.append(words("shares.by_moments"))
    if not np.isfinite(shares.se).any():
        notes.append(words("shares.no_errors"))
    for note in (*shares.notes, *variable.notes, *(variable.privacy.notes if variable.privacy else ())):
        own = note in shares.notes
        notes.append(note_of_zeros(words, note, shares.zeros) if own else words.note(note))
    if shares.notes and "adjusted" in shares.interval:
        notes.append(words("shares.profile"))
    return bullets(list(dict.fromkeys(notes)), class_="notes")


def note_of_zeros(words: Words, note: Note, zeros: tuple[str, ...]) -> Any:
    """Return a note. For shares that are estimated as 0, use the page's own sentence."""
    keys = {NoteKind.BOUNDARY: "shares.zeros", NoteKind.TOO_FEW_PEOPLE: "shares.many_zeros"}
    if note.kind not in keys or not zeros:
        return words.note(note)
    return words(keys[note.kind], categories=words.listed(zeros, _NAMED))


# People needed --------------------------------------------------------------------------------


def needed_section(words: Words, variable: VariableFindings) -> Html:
    """Return how many more people would make the intervals as short as wanted."""
    if not variable.needed:
        return Html()
    level = words.level(variable.settings.level)
    rows = (el("div", el("dt", _margin(words, line, level)), el("dd", _more(words, line))) for line in variable.needed)
    return lines(
        [
            el("h3", words("needed.title")),
            el("p", words("needed.explained", level=level, variable=variable.title), class_="dim"),
            el("dl", *rows, class_="needed"),
        ]
    )


def _margin(words: Words, line: PeopleNeeded, level: str) -> str:
    points = 100 * line.margin
    return words.count("needed.margin", points, level=level)


def _more(words: Words, line: PeopleNeeded) -> str:
    if line.people == 0:
        return words("needed.enough")
    return words.count("needed.more", line.people) if line.people < 10**9 else words("needed.out_of_reach")


# An earlier wave, groups, moments -------------------------------------------------------------


def difference_section(words: Words, variable: VariableFindings) -> Html:
    """Return the differences to an earlier wave, as a picture with a table."""
    difference = variable.difference
    if difference is None:
        return Html()
    title = words("difference.title", earlier=difference.earlier)
    if difference.estimate is None or difference.problem is not None:
        problem = "" if difference.problem is None else words.note(difference.problem)
        return lines([el("h3", title), el("p", words("difference.none"), " ", problem)])
    assert difference.se is not None
    assert difference.lower is not None
    assert difference.upper is not None
    assert difference.pvalue is not None
    at = largest_changes(difference.estimate)
    digits = digits_for(difference.se[at])
    columns = zip(difference.estimate[at], difference.lower[at], difference.upper[at], strict=True)
    dots = [
        Dot(variable.categories[j], float(x), float(low), float(high), _signed(words, float(x), digits))
        for j, (x, low, high) in zip(at, columns, strict=True)
    ]
    level = words.level(variable.settings.level)
    head = ("category", "change", "se", "interval", "pvalue")
    rows = [
        (
            label_text(variable.categories[j]),
            _signed(words, float(difference.estimate[j]), digits),
            words.number(100 * float(difference.se[j]), digits),
            words.span(float(difference.lower[j]), float(difference.upper[j]), lambda x: _signed(words, x, digits))
            or "–",
            words.bare_pvalue(float(difference.pvalue[j])),
        )
        for j in at
    ]
    test = "" if difference.test is None else words("difference.test", p=words.pvalue(difference.test.pvalue))
    sizes = {"n": words.whole(difference.n), "then": words.whole(difference.n_earlier)}
    figure = el(
        "figure",
        dots_figure(words, dots, title, points=True),
        el("figcaption", words("difference.caption", level=level)),
    )
    names = [words(f"difference.{key}", level=level) for key in head]
    return lines(
        [
            el("h3", title),
            el("p", words("difference.explained", **sizes), " ", test),
            el("div", figure, el("div", table(title, names, rows)), class_="split"),
            bullets([words.note(note) for note in difference.notes], class_="notes"),
        ]
    )


def largest_changes(change: FloatArray) -> IntArray:
    """Return the positions of the changes to show: all in order, or the largest ones."""
    p = len(change)
    return np.arange(p) if p <= MOST_SHOWN else np.argsort(-np.abs(change), kind="stable")[:SHOWN]


def _signed(words: Words, value: float, digits: int) -> str:
    return words.signed(100 * value, digits)


def groups_section(words: Words, variable: VariableFindings) -> Html:
    """Return the shares by group, as a picture with a table, and whether the groups differ."""
    groups = variable.groups
    if groups is None:
        return Html()
    by = ", ".join(groups.by)
    title = words("groups.title", by=by)
    parts: list[Html] = [el("h3", title)]
    if groups.test is not None:
        key = "groups.differ" if groups.test.rejects else "groups.alike"
        parts.append(el("p", words(key, p=words.pvalue(groups.test.pvalue))))
    parts += [el("p", words.note(note)) for note in groups.notes]
    if groups.left_out:
        parts.append(el("p", words.count("groups.left_out", groups.left_out), class_="notes"))
    return lines(
        [*parts, _groups_figure(words, variable, groups, title), _groups_table(words, variable, groups, title)]
    )


def _groups_figure(words: Words, variable: VariableFindings, groups: GroupFindings, title: str) -> Html:
    known = [group for group in groups.groups if group.shares is not None]
    if not 1 < len(known) * len(variable.categories) <= MOST_DRAWN:
        return Html()
    digits = min(max(digits_for(group.shares.se) for group in known if group.shares is not None), 2)
    dots = []
    for j, category in enumerate(variable.categories):
        for k, group in enumerate(known):
            assert group.shares is not None
            name = " & ".join(group.group)
            dots += _dots(words, [name], group.shares, np.array([j]), digits, label_text(category) if k == 0 else "")
    return el("figure", dots_figure(words, dots, title))


def _groups_table(words: Words, variable: VariableFindings, groups: GroupFindings, title: str) -> Html:
    assert variable.shares is not None
    at = shown_places(variable.shares)
    head = (", ".join(groups.by), words("groups.people"), *(label_text(variable.categories[j]) for j in at))
    rows = []
    for group in groups.groups:
        if group.shares is None:
            cells = ["–"] * len(at)
        else:
            digits = min(digits_for(group.shares.se[at]), 2)
            cells = [_with_ends(words, group.shares, int(j), digits) for j in at]
        rows.append((" & ".join(map(label_text, group.group)), words.whole(group.n), *cells))
    level = words.level(variable.settings.level)
    return table(
        words("groups.caption", variable=variable.title, level=level), head, rows, look="numbers stacked cross"
    )


def _with_ends(words: Words, shares: ShareFindings, j: int, digits: int) -> Html:
    value = words.percent(float(shares.estimate[j]), digits)
    ends = words.span(float(shares.lower[j]), float(shares.upper[j]), lambda x: words.percent(x, digits))
    return Html(f"{value} {el('span', ends, class_='range')}") if ends else Html(value)


def moments_section(words: Words, variable: VariableFindings) -> Html:
    """Return the estimate by moments, which opens on a click."""
    if variable.moments is None or variable.shares is None or variable.shares.method == "mom":
        return Html()
    warning = "" if variable.moments_hold else el("p", words("moments.fail"), class_="warning")
    return details(
        words("moments.title"),
        warning,
        el("p", words("moments.explained"), class_="dim top-gap"),
        shares_table(words, variable, variable.moments, words("moments.caption", variable=variable.title)),
        quiet=words("of", variable=variable.title),
        class_="more",
    )
