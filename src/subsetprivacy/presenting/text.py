"""Findings as plain text for a terminal: shares and checks of each column, and which columns are related."""

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
    """Return the text of some markup."""
    return unescape(_TAG.sub("", html)) if isinstance(html, Html) else html


def findings_text(words: Words, findings: Findings, width: int) -> str:
    """Return findings as text. Only lines with long names may be wider than `width`.

    Parameters
    ----------
    width
        How many characters fit in a line.
    """
    parts = [_block(words, variable, width) for variable in findings]
    if findings.pairs:
        titles = {variable.name: variable.title for variable in findings}
        sentences = [words("report.pairs")]
        for pair in findings.pairs:
            text = verdict(words, pair, titles_of(pair, titles))
            if pair.problem is not None:
                text = f"{' – '.join(titles_of(pair, titles))}: {plain_text(words.note(pair.problem))}"
            sentences.append(_wrapped(text, width, "  "))
        parts.append("\n".join(sentences))
    parts += _links(words, findings, width)
    quiet = "report.no_alarm" if findings.alarm.tests else "report.unchecked"
    alarm = words.count("report.alarms", findings.alarms) if findings.alarms else words(quiet)
    parts.append("\n".join(_wrapped(text, width) for text in (alarm, level_sentence(words, findings)) if text))
    return "\n\n".join(parts)


def _links(words: Words, findings: Findings, width: int) -> list[str]:
    """Return which columns are linked directly, if three or more are kept row by row."""
    if not findings.tables:
        return []
    titles = {variable.name: variable.title for variable in findings}
    sentences = [words("report.links")]
    for table in findings.tables:
        text = " ".join(links_sentences(words, table, titles))
        if table.problem is not None:
            text = f"{text} {plain_text(words.note(table.problem))}"
        sentences.append(_wrapped(text, width, "  "))
    return ["\n".join(sentences)]


def _block(words: Words, variable: VariableFindings, width: int) -> str:
    lines = [variable.title, _wrapped(people_sentence(words, variable), width, "  ")]
    if variable.shares is None:
        problem = "" if variable.problem is None else plain_text(words.note(variable.problem))
        lines.append(_wrapped(f"{words('shares.none')} {problem}".strip(), width, "  "))
    else:
        if lead := plain_text(lead_sentence(words, variable)):
            lines.append(_wrapped(lead, width, "  "))
        lines += _shares(words, variable, variable.shares)
    lines += _difference(words, variable, width)
    lines += _groups(words, variable, width)
    for panel in panels_of(words, variable):
        sentence = f"{_MARKS[panel.state]} {panel.title}: {plain_text(panel.body)}"
        lines.append(_wrapped(sentence, width, "  ", "    "))
    return "\n".join(lines)


def _difference(words: Words, variable: VariableFindings, width: int) -> Iterator[str]:
    """Yield the change since an earlier wave, a line per category."""
    difference = variable.difference
    if difference is None:
        return
    yield f"  {words('difference.title', earlier=difference.earlier)}"
    if difference.estimate is None or difference.lower is None or difference.upper is None or difference.se is None:
        problem = "" if difference.problem is None else plain_text(words.note(difference.problem))
        yield _wrapped(f"{words('difference.none')} {problem}".strip(), width, "    ")
        return
    digits = digits_for(difference.se)
    places = largest_changes(difference.estimate)
    yield from _lined(
        [label_text(variable.categories[j]) for j in places],
        [words.signed(100 * float(difference.estimate[j]), digits) for j in places],
        [
            words.span(float(difference.lower[j]), float(difference.upper[j]), lambda x: words.signed(100 * x, digits))
            for j in places
        ],
    )
    if difference.test is not None:
        yield _wrapped(words("difference.test", p=words.pvalue(difference.test.pvalue)), width, "    ")


def _groups(words: Words, variable: VariableFindings, width: int) -> Iterator[str]:
    """Yield the shares of every group, a line per category."""
    groups = variable.groups
    if groups is None:
        return
    yield f"  {words('groups.title', by=', '.join(groups.by))}"
    for group in groups.groups:
        yield f"   {' & '.join(group.group)} ({words.whole(group.n)})"
        if group.shares is not None:
            yield from _shares(words, variable, group.shares)
    if groups.test is not None:
        key = "groups.differ" if groups.test.rejects else "groups.alike"
        yield _wrapped(words(key, p=words.pvalue(groups.test.pvalue)), width, "    ")
    for note in groups.notes:
        yield _wrapped(plain_text(words.note(note)), width, "    ")


def _shares(words: Words, variable: VariableFindings, shares: ShareFindings) -> Iterator[str]:
    """Yield a line per category: the share and its interval."""
    at = shown_places(shares)
    digits = digits_for(shares.se[at])
    yield from _lined(
        [label_text(variable.categories[j]) for j in at],
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
