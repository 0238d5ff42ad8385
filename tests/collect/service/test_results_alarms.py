"""When a check is an alarm: one small chance for all tests of a survey, said once and with every test.

The samples behind p-values, and the level itself, are tested in tests/unit/honesty.
"""

import re

import numpy as np
import pytest
from asking import Manners
from attrs import evolve
from released import drawn, options, survey_of, values

import subsetprivacy as sp
from subsetprivacy.collect.service.results import results, results_document
from subsetprivacy.honesty import stated_distribution
from subsetprivacy.messages import NoteKind
from subsetprivacy.presenting.checks import level_sentence, panels_of
from subsetprivacy.presenting.words import words_of

SOME = Manners(skips=lambda shown, truth: 0.1)
DESIGNS = {
    "a": sp.uniform(options(5)),
    "b": sp.warner(("no", "yes")),
    "c": sp.partition(options(9), 3),
    "d": sp.uniform(options(4)),
}
WORDS = words_of("en")


@pytest.fixture(scope="module")
def found():
    truth = {name: values(np.arange(1, design.p + 1), 400, k) for k, (name, design) in enumerate(DESIGNS.items())}
    return results(drawn(survey_of(DESIGNS, [["a", "b"]]), truth, manners={"a": SOME, "c": SOME}))


def panels(found):
    return [panel for one in found.findings for panel in panels_of(WORDS, one)]


def test_all_pvalues_of_the_checks_are_counted_and_none_of_the_pairs(found):
    document = results_document(found)["findings"]
    printed = sum(len(re.findall("'pvalue'", str(one["checks"]))) for one in document["variables"])
    assert document["alarm"] == {"chance": 0.01, "tests": printed, "alpha": pytest.approx(0.01 / printed, rel=1e-7)}
    assert document["pairs"][0]["test"]["pvalue"] is not None
    # Questions, sides, leaning, skips, answers, chance; places, skips, answers; questions, sides, leaning.
    assert printed == 6 + 3 + 3


def test_the_level_is_said_once_and_stands_with_every_test(found):
    tested = [check for one in found.findings for _, check in one.checks.items() if check.tests]
    assert len(tested) == 4 + 3 + 2
    assert not any(re.search(r"p\s[=<]", panel.body) for panel in panels(found))
    facts = [text for panel in panels(found) for _, text in panel.facts]
    assert sum("alarm below 0.00083 (" in text for text in facts) == 12
    assert all(test.alpha == pytest.approx(0.01 / 12) for check in tested for test in check.tests)
    said = "12 tests were run. Each raises an alarm if its p-value is below 0.00083"
    assert level_sentence(WORDS, found.findings).startswith(said)
    (note,) = found.findings.notes
    assert note.kind is NoteKind.ADJUSTED
    assert note.text.startswith(said)


def test_a_check_that_raises_an_alarm_says_what_it_does_to_the_estimate():
    gone = Manners(skips=lambda shown, truth: np.where(shown[:, 0] & 1 == 1, 0.5, 0.02))
    always = Manners(always_yes=0.6, at_random=0.4)
    designs = {"a": sp.uniform(options(8)), "b": sp.uniform(options(8)), "c": sp.partition(options(9), 3)}
    truth = {name: values([1] * design.p, 3000, 1) for name, design in designs.items()}
    found = results(drawn(survey_of(designs), truth, manners={"a": gone, "b": always, "c": always}))
    raised = [panel for panel in panels(found) if panel.state == "alarm"]
    assert len(raised) == found.findings.alarms >= 4
    assert all(re.search("estimate|biases everything|No shares explain", panel.body) for panel in raised)


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        (1, "1 test was run. It raises an alarm if its p-value is below 0.01."),
        (24, "24 tests were run. Each raises an alarm if its p-value is below 0.00042."),
        (384, "384 tests were run. Each raises an alarm if its p-value is below 0.000026."),
    ],
)
def test_the_level_in_words(found, tests, words):
    class Settled:
        alarm = evolve(found.findings.alarm, tests=tests)

    assert words in level_sentence(WORDS, Settled)
    assert words in Settled.alarm.notes[0].text


def test_nothing_to_test_is_no_level_of_its_own():
    designs = {"a": sp.warner(("no", "yes"))}
    nothing = results(drawn(survey_of(designs, mode="code"), {"a": values([1, 1], 50, 1)}))
    assert results_document(nothing)["findings"]["alarm"] == {"chance": 0.01, "tests": 0, "alpha": 0.01}
    assert nothing.findings.notes == ()
    assert level_sentence(WORDS, nothing.findings) == ""


def test_the_limit_stands_in_the_text_of_the_check(monkeypatch):
    monkeypatch.setattr(stated_distribution, "_CELL", 1e-3)
    designs = {"a": sp.uniform(options(8))}

    def prefer(shown, truth, rng):
        return np.where((rng.random(len(shown)) < 0.4)[:, None], rng.permuted([[3, 252]] * len(shown), axis=1), shown)

    def look():
        truth = {"a": values([1] * 8, 300, 1)}
        one = results(drawn(survey_of(designs), truth, manners={"a": Manners(steers=prefer)})).findings["a"]
        return one.checks.draws, panels_of(WORDS, one)[0]

    check, panel = look()
    assert check.test.law == "simulated (199)"
    assert not check.is_alarm
    assert NoteKind.BUDGET in [note.kind for note in check.notes]
    assert "None of 199 samples" in panel.body
    assert "more than 500" in panel.body
    monkeypatch.undo()
    check, panel = look()
    assert check.test.law == "simulated (2000)"
    assert check.is_alarm
    assert "2,000 samples" in check.notes[0].text
    assert "2,000 simulated samples" in dict(panel.facts)["Against the design"]
