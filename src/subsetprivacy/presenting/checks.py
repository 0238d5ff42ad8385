"""Checks of the data: the result of each, whether it is an alarm, and its numbers."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy.finding.result import Findings
from subsetprivacy.finding.variable import VariableFindings
from subsetprivacy.honesty import DrawsCheck, HonestyCheck, LeaningCheck, SkipsCheck
from subsetprivacy.honesty.alarms import DataTest
from subsetprivacy.honesty.data_check import DataCheck
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.presenting.html import Html, bullets, details, el, facts, lines, table
from subsetprivacy.presenting.svg import band_figure
from subsetprivacy.presenting.words import Words, label_text

GOOD, ALARM, NONE, COUNTED = "good", "alarm", "none", "counted"
_CELLS = 8
# The null distribution is next to each p-value. If there is no test, the reason replaces the verdict.
_SAID_ELSEWHERE = (NoteKind.NULL_LAW, NoteKind.NOT_TESTED, NoteKind.BUDGET, NoteKind.SMALL_COUNTS)


@frozen(eq=False)
class Panel:
    """One check as a page shows it."""

    title: str
    state: str
    body: Any
    facts: tuple[tuple[str, str], ...] = ()
    notes: tuple[Html, ...] = ()
    figure: Html = Html()  # noqa: RUF009 - text, and so as good as frozen
    table: Html = Html()  # noqa: RUF009

    def html(self, words: Words, variable: str) -> Html:
        """Return the check with its state, and its numbers in a part that opens."""
        badge = el("span", words(f"check.state.{self.state}"), class_=f"badge {self.state}")
        parts: list[Html] = [el("div", el("h4", self.title), badge, class_="check-head"), el("p", self.body)]
        figure = el("figure", self.figure) if self.figure else Html()
        inner = [facts(self.facts), figure, self.table, bullets(self.notes, class_="notes")]
        if any(inner):
            quiet = words("check.details_of", check=self.title, variable=variable)
            parts.append(details(words("check.details"), *inner, quiet=quiet))
        return el("div", "\n", lines(parts), "\n", class_=f"check-panel {self.state}")


def checks_section(words: Words, variable: VariableFindings) -> Html:
    """Return all checks of a column: those with a result, then those that are not possible."""
    panels = panels_of(words, variable)
    if not panels:
        return lines([el("h3", words("check.heading")), el("p", words("check.weighted"))])
    made = [panel.html(words, variable.title) for panel in panels if panel.state != NONE]
    parts = [el("h3", words("check.heading"))]
    if made:
        parts.append(el("div", "\n", lines(made), "\n", class_="checks"))
    missing = [panel for panel in panels if panel.state == NONE]
    if missing:
        names = ", ".join(panel.title for panel in missing)
        rows = [
            Html(el("dt", panel.title) + el("dd", panel.body, *(el("small", note) for note in panel.notes)))
            for panel in missing
        ]
        quiet = words("of", variable=variable.title)
        summary = words("check.impossible", checks=names)
        parts.append(details(summary, el("dl", lines(rows)), quiet=quiet, class_="impossible"))
    return lines(parts)


def panels_of(words: Words, variable: VariableFindings) -> list[Panel]:
    """Return the checks of a column."""
    checks = variable.checks
    if checks is None:
        return []
    panels = [_draws(words, variable, checks.draws)]
    if checks.leaning is not None:
        panels.append(_leaning(words, checks.leaning))
    panels.append(_honesty(words, checks.honesty))
    if checks.skips is not None:
        panels.append(_skips(words, variable, checks.skips))
    return panels


def alarms_text(words: Words, variable: VariableFindings) -> str:
    """Return the number of alarms, or an empty text if there are none."""
    return words.count("check.alarms", variable.alarms) if variable.alarms else ""


def level_sentence(words: Words, findings: Findings) -> str:
    """Say when a check is an alarm. Empty if nothing is tested."""
    alarm = findings.alarm
    if not alarm.tests:
        return ""
    level, chance = words.small(alarm.alpha), words.level(alarm.chance)
    return words.count("check.level_means", alarm.tests, level=level, chance=chance)


# The four checks ------------------------------------------------------------------------------


def _draws(words: Words, variable: VariableFindings, check: DrawsCheck) -> Panel:
    rows = [(words("check.draws.asked"), words.whole(check.n))]
    rows += _test(words, "check.draws.test", check.test) + _test(words, "check.draws.sides", check.sides)
    figure, cells = Html(), Html()
    if len(check.observed):
        title = words("check.draws.figure", variable=variable.title)
        figure = band_figure(words, check.observed, check.expected, check.n, title, _drawn(words, check, title))
    if check.cells:
        head = [words(f"check.draws.{key}") for key in ("cell", "times", "expected")]
        body = [
            (_cell_text(words, cell.groups), words.whole(cell.asked), words.number(cell.expected, 1))
            for cell in check.cells[:_CELLS]
        ]
        cells = table(title, head, body)
    sentences = [_verdict(words, "check.draws", check, check.test), *_few(words, check.tests)]
    return Panel(
        words("check.draws"), _state(check), _joined(sentences), tuple(rows), _notes(words, check), figure, cells
    )


def _drawn(words: Words, check: DrawsCheck, title: str) -> str:
    """Say what the picture of the draws shows."""
    pairs = check.test is not None and check.test.by.startswith("pairs")
    low, high = float(check.expected.min()), float(check.expected.max())
    sentence = words(
        "check.draws.said_pairs" if pairs else "check.draws.said",
        n=words.whole(check.n),
        least=words.whole(float(check.observed.min())),
        most=words.whole(float(check.observed.max())),
        expected=words.whole(low) if round(low) == round(high) else words.span(low, high, words.whole),
    )
    return f"{title}. {sentence}"


def _cell_text(words: Words, groups: Sequence[Sequence[Any]]) -> str:
    return " / ".join(words.listed(group) for group in groups)


def _leaning(words: Words, check: LeaningCheck) -> Panel:
    rows = _test(words, "check.leaning.test", check.test)
    if check.share is not None:
        value = words.with_span(check.share, check.lower, check.upper, words.percent)
        rows = [(words("check.leaning.share"), value), *rows]
    if check.positions:
        rows.append((words("check.leaning.positions"), ", ".join(map(words.whole, check.positions))))
    title = words("check.leaning.place" if check.kind == "groups" else "check.leaning")
    sentences = [_leaning_verdict(words, check), *_few(words, check.tests)]
    return Panel(title, _state(check), _joined(sentences), tuple(rows), _notes(words, check))


def _leaning_verdict(words: Words, check: LeaningCheck) -> Any:
    if check.test is None:
        return _problem(words, "check.leaning", check)
    if check.share is None:
        if not check.is_alarm:
            return words("check.leaning.good_place")
        place = check.positions.index(max(check.positions)) + 1
        return words("check.leaning.alarm_place", place=words.whole(place))
    if check.is_alarm:
        key = "check.leaning.alarm_yes" if check.share > 0 else "check.leaning.alarm_no"
        return words(key, share=words.percent(abs(check.share)))
    is_rough = any(note.kind is NoteKind.SMALL_COUNTS for note in check.notes)
    if check.detectable is None or check.detectable >= 1 or is_rough:
        return words("check.leaning.too_few")
    return words("check.leaning.good", least=words.percent(check.detectable))


def _honesty(words: Words, check: HonestyCheck) -> Panel:
    rows = []
    if check.share is not None:
        rows.append((words("check.honesty.share"), _random_share(words, check)))
    rows += _test(words, "check.honesty.test", check.random_test)
    rows += _test(words, "check.honesty.answers", check.answers_test)
    sentences = [_honesty_verdict(words, check), *_few(words, check.tests)]
    return Panel(words("check.honesty"), _state(check), _joined(sentences), tuple(rows), _notes(words, check))


def _random_share(words: Words, check: HonestyCheck) -> str:
    """Return a share whose estimate can be below 0, although the interval cannot."""
    assert check.share is not None
    if check.share > 0:
        return words.with_span(check.share, check.lower, check.upper, words.percent)
    if check.upper is None or not np.isfinite(check.upper):
        return words("check.honesty.none")
    return words("check.honesty.none_at_most", share=words.percent(check.upper))


def _honesty_verdict(words: Words, check: HonestyCheck) -> Any:
    if not check.tests:
        return _problem(words, "check.honesty", check)
    if check.random_test is not None and check.random_test.is_alarm:
        return words("check.honesty.alarm", share=words.percent(check.share or 0.0))
    if check.is_alarm:
        return words("check.honesty.alarm_answers")
    if check.random_test is None:
        return words("check.honesty.good_answers")
    least = check.detectable
    if least is None or not np.isfinite(least) or least >= 1:
        return words("check.honesty.too_few")
    return words("check.honesty.good", least=words.percent(least))


def _skips(words: Words, variable: VariableFindings, check: SkipsCheck) -> Panel:
    rows = []
    if check.rate is not None:
        rows.append((words("check.skips.rate"), words.with_span(check.rate, check.lower, check.upper, words.percent)))
    rows += _test(words, "check.skips.test", check.test)
    options = Html()
    if check.options:
        body = [
            (
                label_text(line.option),
                _part(words, line.skipped_with, line.asked_with),
                _part(words, line.skipped_without, line.asked_without),
            )
            for line in check.options
        ]
        head = [words(f"check.skips.{key}") for key in ("option", "with", "without")]
        options = table(f"{words('check.skips')} {words('of', variable=variable.title)}", head, body)
    state = _state(check)
    if state == NONE and check.asked:
        state = COUNTED if check.skipped else GOOD
    sentences = [_skips_verdict(words, check), *_few(words, check.tests)]
    return Panel(words("check.skips"), state, _joined(sentences), tuple(rows), _notes(words, check), table=options)


def _skips_verdict(words: Words, check: SkipsCheck) -> Any:
    if not check.asked:
        return _problem(words, "check.skips", check)
    if not check.skipped:
        return words("check.skips.nobody")
    if check.skipped == check.asked:
        return words("check.skips.everybody")
    share = words.percent(check.skipped / check.asked)
    first = words.count("check.skips.some", check.skipped, asked=words.whole(check.asked), share=share)
    if check.test is None:
        return f"{first} {words('check.skips.unknown')}"
    return f"{first} {words('check.skips.alarm' if check.is_alarm else 'check.skips.good')}"


def _part(words: Words, part: int, every: int) -> str:
    return words("check.skips.part", share=words.percent(part / every), n=words.whole(every)) if every else "–"


# What they share ------------------------------------------------------------------------------


def _state(check: DataCheck) -> str:
    # The sides of questions are tested even where the questions are not.
    is_tested = check.test is not None if isinstance(check, DrawsCheck) else bool(check.tests)
    return ALARM if check.is_alarm else GOOD if is_tested else NONE


def _verdict(words: Words, key: str, check: DataCheck, test: DataTest | None) -> Any:
    if check.is_alarm:
        return words(f"{key}.alarm")
    return _problem(words, key, check) if test is None else words(f"{key}.good")


def _problem(words: Words, key: str, check: DataCheck) -> Html:
    """Say why there is no test, with the page's own sentence if there is one."""
    if check.problem is None:
        return Html()
    if isinstance(check, DrawsCheck) and check.kind == "groups" and (not check.n or len(check.observed)):
        return words.note(check.problem)  # no one was asked, or everyone the same: not that groups were not stored
    for why in (getattr(check, "kind", None), check.problem.kind.value):  # the kind of question, or of problem
        if words.has(f"{key}.none.{why}"):
            return el("span", words(f"{key}.none.{why}"))
    return words.note(check.problem)


def _few(words: Words, tests: Sequence[DataTest]) -> list[str]:
    """Say if too few samples could be drawn for an alarm, although none was as extreme."""
    return [
        words("check.few_samples", n=words.whole(test.samples), needed=words.whole(round(1 / test.alpha)))
        for test in tests
        if test.lacks_samples
    ]


def _joined(sentences: Sequence[Any]) -> Html:
    return Html(" ".join(el("span", text) if not isinstance(text, Html) else text for text in sentences if text))


def _notes(words: Words, check: DataCheck) -> tuple[Html, ...]:
    kept = [note for note in check.notes if note.kind not in _SAID_ELSEWHERE]
    # The reason why there is no check. Its advice is for people who plan a survey.
    return tuple(words.note(Note(note.kind, note.text) if note == check.problem else note) for note in kept)


def _test(words: Words, key: str, test: DataTest | None) -> list[tuple[str, str]]:
    if test is None:
        return []
    law = _null_distribution(words, test)
    return [(words(key), words("check.fact", p=words.pvalue(test.pvalue), level=words.small(test.alpha), law=law))]


def _null_distribution(words: Words, test: DataTest) -> str:
    """Say which null distribution the p-value uses."""
    if test.samples or re.match(r"simulated|bootstrap", test.law):
        return words("check.law.simulated", n=words.whole(test.samples))
    if test.law == "chi-square":
        return words.count("check.law.chi-square", test.df or 0)
    return words(f"check.law.{test.law}")
