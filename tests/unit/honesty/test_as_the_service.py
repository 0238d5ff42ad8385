"""The checks give the numbers that the survey server gave when it had its own: recorded from it, for every kind."""

import json
from pathlib import Path

import numpy as np
import pytest

from subsetprivacy.data import QuestionCounts, SubsetCounts
from subsetprivacy.design import design_from_json
from subsetprivacy.honesty.all_checks import run_checks

SURVEYS = json.loads(Path(__file__).with_name("service_checks.json").read_text(encoding="utf-8"))
EVERY_SURVEY = pytest.mark.parametrize("survey", SURVEYS, ids=[survey["title"] for survey in SURVEYS])
CLOSE = 1e-11  # sums may be taken in another order by another processor


@pytest.fixture(scope="module")
def checked():
    """Return the checks of a survey, made once."""
    kept = {}

    def check(survey):
        if survey["title"] not in kept:
            kept[survey["title"]] = _checked(survey)
        return kept[survey["title"]]

    return check


def _checked(survey):
    variables = {one["name"]: one for one in survey["variables"]}
    designs = {name: design_from_json(json.dumps(one["design"])) for name, one in variables.items()}
    counts = {name: SubsetCounts(one["codes"], one["counts"], designs[name]) for name, one in variables.items()}
    questions = {
        name: QuestionCounts(
            designs[name],
            np.array(one["shown"], np.int64).reshape(len(one["n"]), -1) if one["shown"] else None,
            answers=one["answers"],
            n=one["n"],
            kind=one["kind"],
        )
        if one["n"]
        else QuestionCounts(designs[name], [] if one["kind"] == "yes_no" else None, answers=[], n=[])
        for name, one in variables.items()
    }
    shares = {name: np.array(one["w"]) for name, one in variables.items()}
    first = run_checks(counts, questions, lambda name, check: variables[name]["seeds"][check], shares)
    return first.settled()


def agree(found, recorded):
    """Compare numbers that may be None."""
    if recorded is None or found is None:
        return found is recorded
    return found == pytest.approx(recorded, rel=CLOSE, abs=0)


def is_same(found, recorded):
    if recorded is None or found is None:
        return found is recorded
    facts = found.facts()
    words = ("by", "df", "law", "samples", "alarm")
    return all(facts[word] == recorded[word] for word in words) and all(
        agree(facts[number], recorded[number]) for number in ("statistic", "pvalue", "alpha")
    )


@EVERY_SURVEY
def test_the_alarm_level_is_the_same(survey, checked):
    alarm, recorded = checked(survey).alarm, survey["alarm"]
    assert (alarm.tests, alarm.spare) == (recorded["tests"], recorded["spare"])
    assert agree(alarm.alpha, recorded["alpha"])
    assert agree(alarm.seconds, recorded["seconds"])


@EVERY_SURVEY
def test_draws_are_the_same(survey, checked):
    for one in survey["variables"]:
        check, recorded = checked(survey)[one["name"]].draws, one["draws"]
        assert check.n == recorded["n"]
        assert is_same(check.test, recorded["test"])
        assert is_same(check.sides, recorded["sides"])
        assert (check.problem is not None) == recorded["problem"]
        assert agree(check.observed.tolist()[:40], recorded["observed"])
        assert agree(check.expected.tolist()[:40], recorded["expected"])
        assert [cell.asked for cell in check.cells] == [cell[1] for cell in recorded["cells"]]
        assert agree([cell.expected for cell in check.cells], [cell[2] for cell in recorded["cells"]])
        for cell, (name, _, _) in zip(check.cells, recorded["cells"], strict=True):
            assert ", ".join(cell.groups[0]).startswith(name.rstrip("…"))


@EVERY_SURVEY
def test_leaning_is_the_same(survey, checked):
    for one in survey["variables"]:
        check, recorded = checked(survey)[one["name"]].leaning, one["leaning"]
        assert (check.n, list(check.positions)) == (recorded["n"], recorded["positions"])
        assert is_same(check.test, recorded["test"])
        assert (check.problem is not None) == recorded["problem"]
        # Power and detectable share were too optimistic then: they left out how much people who lean spread.
        for name in ("share", "se", "lower", "upper"):
            assert agree(getattr(check, name), recorded[name]), name


@EVERY_SURVEY
def test_skips_are_the_same(survey, checked):
    for one in survey["variables"]:
        check, recorded = checked(survey)[one["name"]].skips, one["skips"]
        assert (check.asked, check.skipped) == (recorded["asked"], recorded["skipped"])
        assert is_same(check.test, recorded["test"])
        assert (check.problem is not None) == recorded["problem"]
        for name in ("rate", "lower", "upper"):
            assert agree(getattr(check, name), recorded[name]), name
        options = [
            [option.option, option.asked_with, option.skipped_with, option.asked_without, option.skipped_without]
            for option in check.options
        ]
        assert options == recorded["options"]


@EVERY_SURVEY
def test_honesty_is_the_same(survey, checked):
    for one in survey["variables"]:
        check, recorded = checked(survey)[one["name"]].honesty, one["honesty"]
        assert is_same(check.answers_test, recorded["answers"])
        assert is_same(check.random_test, recorded["test"])
        assert (check.problem is not None, check.is_small) == (recorded["problem"], recorded["is_small"])
        for name in ("share", "se", "lower", "upper", "detectable"):
            assert agree(getattr(check, name), recorded[name]), name


def test_the_records_have_every_kind_and_every_law():
    tests = [
        one[check][name]
        for survey in SURVEYS
        for one in survey["variables"]
        for check in ("draws", "leaning", "skips", "honesty")
        for name in ("test", "sides", "answers")
        if one[check].get(name)
    ]
    assert {one["kind"] for survey in SURVEYS for one in survey["variables"]} == {"yes_no", "groups", "bit", "local"}
    laws = {test["law"].partition(" (")[0] for test in tests}
    assert laws == {"chi-square", "half chi-square", "exact", "normal", "simulated"}
    assert {test["by"] for test in tests} == {
        "questions",
        "options",
        "pairs of options",
        "positions",
        "sides",
        "answers",
    }
    assert sum(test["samples"] > 199 for test in tests) >= 3
    assert sum(test["alarm"] for test in tests) >= 8
