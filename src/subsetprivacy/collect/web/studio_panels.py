"""What the dashboard says of one variable, as words and numbers ready for the page."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy.collect.service.figures import draws_figure, shares_figure
from subsetprivacy.collect.service.results_alarms import level_text
from subsetprivacy.collect.service.results_privacy import Leak, Privacy
from subsetprivacy.collect.service.results_shares import Shares
from subsetprivacy.collect.service.results_tests import Test
from subsetprivacy.collect.service.results_variable import VariableResult
from subsetprivacy.design.document import name_of_kind
from subsetprivacy.messages import Note
from subsetprivacy.pvalues import p_equals
from subsetprivacy.report.markup import Html
from subsetprivacy.report.wording import bits, count_of, digits_for, fine_share, note_text, share, span, times, whole
from subsetprivacy.tables import number

_NO_PICTURE = Html()
GOOD, ALARM, NONE, COUNTED = "good", "alarm", "none", "counted"
_STATES = {GOOD: "Nothing found", ALARM: "Alarm", NONE: "Cannot be checked", COUNTED: "Counted only"}


@frozen
class Check:
    """One check of the data: what it says, and the numbers behind it."""

    title: str
    state: str
    said: str
    facts: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    figure: Html = _NO_PICTURE
    table: tuple[tuple[str, ...], ...] = ()
    head: tuple[str, ...] = ()

    @property
    def badge(self) -> str:
        """The state in words."""
        return _STATES[self.state]


@frozen(eq=False)
class VariablePanel:
    """All that is shown of a variable."""

    held: VariableResult
    design: str
    figure: Html
    shares: tuple[tuple[str, ...], ...]
    moments: tuple[tuple[str, ...], ...]
    needed: tuple[tuple[str, str], ...]
    privacy: tuple[tuple[str, str, str], ...]
    checks: tuple[Check, ...]
    notes: tuple[str, ...]

    @property
    def alarms(self) -> int:
        """How many checks raise an alarm."""
        return sum(check.state == ALARM for check in self.checks)

    @property
    def made(self) -> tuple[Check, ...]:
        """The checks that say something of the data."""
        return tuple(check for check in self.checks if check.state != NONE)

    @property
    def impossible(self) -> tuple[Check, ...]:
        """The checks that cannot be made, which say why."""
        return tuple(check for check in self.checks if check.state == NONE)


def variable_panel(held: VariableResult) -> VariablePanel:
    """Return what is shown of a variable."""
    figure = Html()
    if held.shares is not None:
        figure = shares_figure(held.options, held.shares, f"Estimated shares of {held.title}")
    return VariablePanel(
        held,
        name_of_kind(held.design),
        figure,
        _share_rows(held.options, held.shares),
        _share_rows(held.options, held.moments),
        tuple((_margin(one.margin), _more(one.people)) for one in held.needed),
        tuple(_privacy_rows(held.privacy)),
        (_draws(held), _leaning(held), _honesty(held), _skips(held)),
        _texts((*(held.shares.notes if held.shares else ()), *held.notes, *held.privacy.notes)),
    )


def _texts(notes: Iterable[Note]) -> tuple[str, ...]:
    return tuple(map(note_text, notes))


def _share_rows(options: tuple[str, ...], shares: Shares | None) -> tuple[tuple[str, ...], ...]:
    if shares is None:
        return ()
    digits = min(digits_for(shares.se), 2)
    columns = zip(options, shares.w, shares.se, shares.lower, shares.upper, strict=True)
    return tuple(
        (
            name,
            share(float(w), digits),
            _points(float(se), digits),
            span(float(low), float(high), lambda x: share(x, digits)),
        )
        for name, w, se, low, high in columns
    )


def _points(part: float, digits: int) -> str:
    """Return a difference of shares in percentage points; a dash where there is none."""
    return number(100 * part, digits) if np.isfinite(part) else "–"


def _margin(margin: float) -> str:
    points = f"{100 * margin:g}"
    return f"± {points} percentage {'point' if points == '1' else 'points'} (95% interval)"


def _more(people: int) -> str:
    return "enough people" if people == 0 else f"{whole(people)} more people" if people < 10**9 else "out of reach"


# What an answer gives away ----------------------------------------------------------------------


def _privacy_rows(held: Privacy) -> list[tuple[str, str, str]]:
    rows = [
        (
            "Information in an answer",
            _leak(held.information, bits),
            f"Of the {bits(held.information.nonprivate)} that the value itself would tell.",
        ),
        (
            "Best guess is right",
            _leak(held.guess, share),
            f"By somebody who knows the shares and sees the answer. Without it: {share(held.guess.baseline)}.",
        ),
    ]
    if held.ruled_out is not None:  # otherwise every value stays possible
        rows.append(
            (
                "People ruled out",
                _leak(held.ruled_out, share),
                f"By an answer, on average. The value itself would rule out {share(held.ruled_out.nonprivate)}.",
            )
        )
    rows += [
        (
            "Largest posterior",
            fine_share(held.largest_posterior),
            f"The most telling answer (“{held.telling_answer}”) leaves this probability to “{held.told_option}”.",
        ),
        (
            "Maximal leakage",
            bits(held.maximal_bits),
            f"The chance to guess anything about a person grows {times(held.maximal_factor)} times at most.",
        ),
        (
            "Smallest set",
            f"{held.smallest_set} of {held.options}",
            "So many answers stay possible for everybody, at least.",
        )
        if held.epsilon is None
        else (
            "Epsilon",
            number(held.epsilon, 2),
            "An answer multiplies the odds by e to this at most; none is ruled out.",
        ),
        ("Fingerprint", bits(held.fingerprint_bits), "How much the remembered question tells a person from others."),
    ]
    if held.cost is not None:
        rows.append(
            (
                "Price",
                f"{times(held.cost)} times",
                "So many times the people of asking directly, for the same precision.",
            )
        )
    return rows


def _leak(leak: Leak, form: Any) -> str:
    text = str(form(leak.leakage))
    if leak.lower is None or leak.upper is None:
        return text
    return f"{text} ({span(leak.lower, leak.upper, form)})"


# Checks of the data -----------------------------------------------------------------------------


def _draws(held: VariableResult) -> Check:
    check = held.draws
    facts = [("Questions asked", whole(check.n))]
    facts += _test("Against the design", check.test) + _test("Either side equally often", check.sides)
    figure = draws_figure(check, f"Questions of {held.title} that were asked") if len(check.observed) else Html()
    cells = tuple((cell.name, whole(cell.asked), number(cell.expected, 1)) for cell in check.cells[:8])
    return Check(
        "Questions as designed",
        _state(check, check.test),
        check.said or check.problem,
        tuple(facts),
        _texts(check.notes),
        figure,
        cells,
        ("Asked about", "Times", "Expected") if cells else (),
    )


def _leaning(held: VariableResult) -> Check:
    check = held.leaning
    facts = _test("No leaning", check.test)
    if check.share is not None:
        facts = [("Always yes, less always no", _within(check.share, check.lower, check.upper)), *facts]
    if check.positions:
        facts.append(("Chosen, by place", ", ".join(map(whole, check.positions))))
    title = "Leaning to a place" if held.kind == "groups" else "Leaning to yes"
    return Check(title, _state(check, check.test), check.said or check.problem, tuple(facts))


def _honesty(held: VariableResult) -> Check:
    check = held.honesty
    facts = []
    if check.share is not None:
        facts.append(("Answers given by chance", _by_chance(check.share, check.lower, check.upper)))
    facts += _test("Nobody answers by chance", check.test) + _test("Some shares explain the answers", check.answers)
    seen = check.test or check.answers
    return Check("Random answers", _state(check, seen), check.said or check.problem, tuple(facts), _texts(check.notes))


def _skips(held: VariableResult) -> Check:
    check = held.skips
    facts = []
    if check.rate is not None:
        facts.append(("Skipped", _within(check.rate, check.lower, check.upper)))
    facts += _test("The same for all questions", check.test)
    table = tuple(
        (one.option, _rate(one.skipped_with, one.asked_with), _rate(one.skipped_without, one.asked_without))
        for one in check.options
    )
    state = _state(check, check.test)
    if state == NONE and held.n:
        state = COUNTED if held.skipped else GOOD
    head = ("Answer", "Skipped when asked about", "When not") if table else ()
    said = f"{check.said} {check.problem}".strip()
    return Check("Skips", state, said, tuple(facts), table=table, head=head)


def _state(check: Any, test: Test | None) -> str:
    return ALARM if check.is_alarm else NONE if test is None else GOOD


def _test(name: str, test: Test | None) -> list[tuple[str, str]]:
    if test is None:
        return []
    freedom = "" if test.df is None else f", {count_of(test.df, 'degree', 'degrees')} of freedom"
    return [(name, f"{p_equals(test.pvalue)}, alarm below {level_text(test.level)} ({test.law}{freedom})")]


def _within(value: float, lower: float | None, upper: float | None) -> str:
    if lower is None or upper is None or not np.isfinite([lower, upper]).all():
        return share(value)
    return f"{share(value)} ({span(lower, upper, share)})"


def _by_chance(value: float, lower: float | None, upper: float | None) -> str:
    """Return a share whose estimate can fall below 0, where the interval, which cannot, would not hold it."""
    if value > 0:
        return _within(value, lower, upper)
    return "none seen" + (f", at most {share(upper)}" if upper is not None and np.isfinite(upper) else "")


def _rate(part: int, every: int) -> str:
    return f"{share(part / every)} of {whole(every)}" if every else "–"
