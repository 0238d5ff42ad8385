"""Findings as plain text, for a terminal: what each column shows, whether its data are sound, what goes together."""

import re
from collections.abc import Iterator
from html import unescape
from textwrap import fill

from subsetprivacy.finding.result import Findings
from subsetprivacy.finding.variable import VariableFindings
from subsetprivacy.presenting.checks import level_sentence, panels_of
from subsetprivacy.presenting.html import Html
from subsetprivacy.presenting.pairs import titles_of, verdict
from subsetprivacy.presenting.shares import lead_sentence, people_sentence, shown_places
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
    alarm = words.count("report.alarms", found.alarms) if found.alarms else words("report.no_alarm")
    parts.append("\n".join(_wrapped(text, width) for text in (alarm, level_sentence(words, found)) if text))
    return "\n\n".join(parts)


def _block(words: Words, one: VariableFindings, width: int) -> str:
    lines = [one.title, _wrapped(people_sentence(words, one), width, "  ")]
    if one.shares is None:
        problem = "" if one.problem is None else plain_text(words.note(one.problem))
        lines.append(_wrapped(f"{words('shares.none')} {problem}".strip(), width, "  "))
    else:
        lines.append(_wrapped(plain_text(lead_sentence(words, one)), width, "  "))
        lines += _shares(words, one)
    for panel in panels_of(words, one):
        said = f"{_MARKS[panel.state]} {panel.title}: {plain_text(panel.said)}"
        lines.append(_wrapped(said, width, "  ", "    "))
    return "\n".join(lines)


def _shares(words: Words, one: VariableFindings) -> Iterator[str]:
    """Yield a line per category: the share and its interval."""
    shares = one.shares
    assert shares is not None
    at = shown_places(shares)
    digits = digits_for(shares.se[at])
    names = [label_text(one.categories[j]) for j in at]
    values = [words.percent(float(shares.estimate[j]), digits) for j in at]
    wide, long = max(map(len, names)), max(map(len, values))
    for name, value, j in zip(names, values, at, strict=True):
        ends = words.span(float(shares.lower[j]), float(shares.upper[j]), lambda x: words.percent(x, digits))
        yield f"    {name:<{wide}}  {value:>{long}}  {f'({ends})' if ends else ''}".rstrip()


def _wrapped(text: str, width: int, first: str = "", later: str | None = None) -> str:
    return fill(text, width, initial_indent=first, subsequent_indent=first if later is None else later)
