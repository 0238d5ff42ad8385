"""Findings as plain text, for a terminal: what each column shows, whether its data are sound, what goes together."""

import re
from collections.abc import Iterator, Sequence
from html import unescape
from textwrap import fill

from subsetprivacy.finding.result import Findings
from subsetprivacy.finding.shares import ShareFindings
from subsetprivacy.finding.variable import VariableFindings
from subsetprivacy.presenting.checks import level_sentence, panels_of
from subsetprivacy.presenting.html import Html
from subsetprivacy.presenting.links import links_sentences
from subsetprivacy.presenting.pairs import titles_of, verdict
from subsetprivacy.presenting.shares import largest_changes, lead_sentence, people_sentence, shown_places
from subsetprivacy.presenting.words import Words, digits_for, label_text

_TAG = re.compile(r"<[^>]*>")
_MARKS = {"good": "✓", "alarm": "!", "none": "–", "counted": "·"}


def plain_text(html: Html | str) -> str:
    """Return what a reader of the markup reads."""
    return unescape(_TAG.sub("", html)) if isinstance(html, Html) else html


def findings_text(words: Words, found: Findings, width: int) -> str:
    """Return findings as text, no line wider than that but for names.

    Parameters
    ----------
    width
        How many characters fit in a line.
    """
    parts = [_block(words, one, width) for one in found]
    if found.pairs:
        titles = {one.name: one.title for one in found}
        said = [words("report.pairs")]
        for pair in found.pairs:
            text = verdict(words, pair, titles_of(pair, titles))
            if pair.problem is not None:
                text = f"{' – '.join(titles_of(pair, titles))}: {plain_text(words.note(pair.problem))}"
            said.append(_wrapped(text, width, "  "))
        parts.append("\n".join(said))
    parts += _links(words, found, width)
    quiet = "report.no_alarm" if found.alarm.tests else "report.unchecked"
    alarm = words.count("report.alarms", found.alarms) if found.alarms else words(quiet)
    parts.append("\n".join(_wrapped(text, width) for text in (alarm, level_sentence(words, found)) if text))
    return "\n\n".join(parts)


def _links(words: Words, found: Findings, width: int) -> list[str]:
    """Return which columns are linked directly, where three or more are kept row by row."""
    if not found.tables:
        return []
    titles = {one.name: one.title for one in found}
    said = [words("report.links")]
    for one in found.tables:
        text = " ".join(links_sentences(words, one, titles))
        if one.problem is not None:
            text = f"{text} {plain_text(words.note(one.problem))}"
        said.append(_wrapped(text, width, "  "))
    return ["\n".join(said)]


def _block(words: Words, one: VariableFindings, width: int) -> str:
    lines = [one.title, _wrapped(people_sentence(words, one), width, "  ")]
    if one.shares is None:
        problem = "" if one.problem is None else plain_text(words.note(one.problem))
        lines.append(_wrapped(f"{words('shares.none')} {problem}".strip(), width, "  "))
    else:
        if lead := plain_text(lead_sentence(words, one)):
            lines.append(_wrapped(lead, width, "  "))
        lines += _shares(words, one, one.shares)
    lines += _difference(words, one, width)
    lines += _groups(words, one, width)
    for panel in panels_of(words, one):
        said = f"{_MARKS[panel.state]} {panel.title}: {plain_text(panel.said)}"
        lines.append(_wrapped(said, width, "  ", "    "))
    return "\n".join(lines)


def _difference(words: Words, one: VariableFindings, width: int) -> Iterator[str]:
    """Yield the change since an earlier wave, a line per category."""
    found = one.difference
    if found is None:
        return
    yield f"  {words('difference.title', earlier=found.earlier)}"
    if found.estimate is None or found.lower is None or found.upper is None or found.se is None:
        problem = "" if found.problem is None else plain_text(words.note(found.problem))
        yield _wrapped(f"{words('difference.none')} {problem}".strip(), width, "    ")
        return
    digits = digits_for(found.se)
    places = largest_changes(found.estimate)
    yield from _lined(
        [label_text(one.categories[j]) for j in places],
        [words.signed(100 * float(found.estimate[j]), digits) for j in places],
        [
            words.span(float(found.lower[j]), float(found.upper[j]), lambda x: words.signed(100 * x, digits))
            for j in places
        ],
    )
    if found.test is not None:
        yield _wrapped(words("difference.test", p=words.pvalue(found.test.pvalue)), width, "    ")


def _groups(words: Words, one: VariableFindings, width: int) -> Iterator[str]:
    """Yield the shares of every group, a line per category."""
    found = one.groups
    if found is None:
        return
    yield f"  {words('groups.title', by=', '.join(found.by))}"
    for group in found.groups:
        yield f"   {' & '.join(group.group)} ({words.whole(group.n)})"
        if group.shares is not None:
            yield from _shares(words, one, group.shares)
    if found.test is not None:
        key = "groups.differ" if found.test.rejects else "groups.alike"
        yield _wrapped(words(key, p=words.pvalue(found.test.pvalue)), width, "    ")


def _shares(words: Words, one: VariableFindings, shares: ShareFindings) -> Iterator[str]:
    """Yield a line per category: the share and its interval."""
    at = shown_places(shares)
    digits = digits_for(shares.se[at])
    yield from _lined(
        [label_text(one.categories[j]) for j in at],
        [words.percent(float(shares.estimate[j]), digits) for j in at],
        [words.span(float(shares.lower[j]), float(shares.upper[j]), lambda x: words.percent(x, digits)) for j in at],
    )


def _lined(names: Sequence[str], values: Sequence[str], ends: Sequence[str]) -> Iterator[str]:
    """Yield names, numbers and intervals in columns."""
    wide, long = max(map(len, names)), max(map(len, values))
    for name, value, interval in zip(names, values, ends, strict=True):
        yield f"    {name:<{wide}}  {value:>{long}}  {f'({interval})' if interval else ''}".rstrip()


def _wrapped(text: str, width: int, first: str = "", later: str | None = None) -> str:
    return fill(text, width, initial_indent=first, subsequent_indent=first if later is None else later)
