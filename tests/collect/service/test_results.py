"""What the dashboard says of single variables, against the library asked directly and against brute force."""

import json
from collections import Counter

import numpy as np
import pytest
from asking import Manners
from attrs import evolve
from effort import calls
from every_design import DESIGNS, LISTED, kept_survey, truths
from released import drawn, emptied, options, survey_of, values

import subsetprivacy as sp
from subsetprivacy.collect.service.results import results, results_document
from subsetprivacy.collect.survey.submission import Framing
from subsetprivacy.collect.survey.tallies import row_codes
from subsetprivacy.finding.document import document_text
from subsetprivacy.messages import NoteKind


@pytest.fixture(scope="module")
def answered():
    """A survey with every kind of question; the people send their answers one by one, some skip."""
    return kept_survey("every_kind")


@pytest.fixture(scope="module")
def found(answered):
    return results(answered)


def share_of(name, found):
    return found.findings[name].shares


# Shares ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DESIGNS)
def test_shares_are_the_true_ones_within_four_standard_errors(found, name):
    shares, p = share_of(name, found), DESIGNS[name].p
    truth = np.arange(1, p + 1) / (p * (p + 1) / 2)
    assert (np.abs(shares.estimate - truth) < 4 * shares.se).all()
    assert (shares.se < 0.1).all()
    assert (shares.lower <= shares.estimate).all()
    assert (shares.estimate <= shares.upper).all()


@pytest.mark.parametrize("name", ["uniform", "warner", "pair", "given", "listed", "large"])
def test_shares_are_those_of_the_library_from_the_rows(answered, found, name):
    position = [held["id"] for held in answered.manifest.variables].index(name)
    group = next(k for k, held in enumerate(answered.manifest.groups) if position in held)
    place = answered.manifest.groups[group].index(position)
    people = [row_codes(row)[place] for row, n in answered.rows[group].items() for _ in range(n)]
    direct = sp.estimate(sp.SubsetData(people, DESIGNS[name]))
    shares, facts = share_of(name, found), direct.to_dict()
    assert shares.estimate == pytest.approx(direct.w, abs=1e-12)
    assert shares.se == pytest.approx(direct._se, rel=1e-9)
    assert (shares.lower, shares.upper) == (pytest.approx(facts["lower"]), pytest.approx(facts["upper"]))
    assert found.findings[name].moments.estimate == pytest.approx(sp.estimate(direct.counts, "mom").w)


def test_people_answers_and_skips_add_up(found):
    for variable in found.findings:
        skipped = 125 if variable.name in ("four", "thirds") else 0
        assert (variable.people, variable.answered, variable.missing) == (1500, 1500 - skipped, skipped)
        assert (variable.checks.skips.asked, variable.checks.skips.skipped) == (1500, skipped)


@pytest.mark.parametrize("name", ["four", "thirds"])
def test_people_needed_are_those_of_a_plan_for_the_estimate(found, name):
    variable = found.findings[name]
    w = (variable.answered * variable.shares.estimate + 1) / (variable.answered + len(variable.categories))
    for line in variable.needed:
        planned = sp.plan(variable.categories, margin=line.margin, w=w, designs=[DESIGNS[name]], maximal_leakage=9)
        assert line.answers == planned.people
        assert line.more == max(0, planned.people - 1375)
        assert line.people * 1375 / 1500 == pytest.approx(line.more, abs=1)
    assert [line.margin for line in variable.needed] == [0.01, 0.02, 0.05, 0.10]


# Privacy --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["uniform", "four", "lopsided", "hadamard", "pair", "given", "thirds", "listed"])
def test_the_most_telling_answer_is_found_by_looking_at_all(found, name):
    variable, design = found.findings[name], DESIGNS[name]
    w = dict(zip(variable.categories, variable.shares.estimate, strict=True))
    sets = [design.members(int(code)) for code in design.support()[0]]
    posteriors = {members: max(w[one] for one in members) / sum(w[one] for one in members) for members in sets}
    assert variable.privacy.largest_posterior == pytest.approx(max(posteriors.values()))
    told = tuple(variable.privacy.telling_report.split(", "))
    assert posteriors[told] == pytest.approx(max(posteriors.values()))
    assert variable.privacy.told_category == max(told, key=w.get)


def test_the_most_telling_answer_of_warners_question_by_bayes(found):
    no, yes = share_of("warner", found).estimate
    same, other = 0.75 * no + 0.25 * yes, 0.25 * no + 0.75 * yes  # the number is 1, as yes, with probability 1/4
    posteriors = {"the numbers are the same": 0.75 * no / same, "the numbers are not the same": 0.75 * yes / other}
    privacy = found.findings["warner"].privacy
    assert privacy.telling_report == max(posteriors, key=posteriors.get)
    assert privacy.largest_posterior == pytest.approx(max(posteriors.values()))
    assert privacy.told_category == "yes"


def test_fingerprints_of_groups_add_up(found):
    each = {one.id: one.fingerprint_bits for one in found.variables}
    linked = next(group for group in found.groups if len(group.variables) > 1)
    assert linked.fingerprint_bits == pytest.approx(each["uniform"] + each["warner"] + each["pair"])
    assert found.fingerprint_bits == pytest.approx(sum(each.values()))


def test_of_groups_a_row_holds_the_chosen_one_alone():
    """Nine options in groups of three: 280 questions, and 28 groups that hold a value."""
    designs = {name: sp.partition(options(9), 3) for name in ("a", "b")}
    truth = {name: values([1] * 9, 60, 1) for name in designs}
    found = results(drawn(survey_of(designs, [["a", "b"]]), truth))
    assert found.groups[0].fingerprint_bits == pytest.approx(2 * np.log2(28))
    assert found.fingerprint_bits == pytest.approx(2 * np.log2(280))


def test_candidate_rows_are_those_that_hold_the_values_of_a_person():
    designs = {"one": sp.uniform(options(5)), "two": sp.hadamard(options(8)), "three": sp.warner(("a", "b"))}
    truth = truths(designs, 600)
    released = drawn(survey_of(designs, [list(designs)]), truth)
    rows = [(row_codes(row), n) for row, n in released.rows[0].items()]
    fitting = [
        sum(n for (a, b, _), n in rows if a >> truth["one"][k] & 1 and b >> truth["two"][k] & 1) for k in range(200)
    ]
    (linked,) = results(released).findings.rows
    assert linked.names == ("one", "two", "three")
    assert linked.candidates.expected == pytest.approx(np.mean(fitting), rel=0.08)
    assert linked.candidates.least < min(np.percentile(fitting, 5), linked.candidates.expected)


# The whole ------------------------------------------------------------------------------------


def test_open_surveys_are_labelled_self_selected(found):
    assert not found.survey.self_selected
    open_one = results(drawn(survey_of({"a": sp.uniform(options(4))}), {"a": values([1] * 4, 60, 1)}))
    assert open_one.survey.self_selected
    assert results_document(open_one)["survey"]["self_selected"] is True


def test_nothing_released_gives_results_that_say_so(answered):
    document = results_document(results(emptied(answered)))
    assert document["n"] == 0
    assert document["seal"] == ""
    assert document["findings"]["notes"] == [
        {"kind": "no_estimate", "text": "There are no people yet.", "advice": None}
    ]
    for variable in document["findings"]["variables"]:
        assert variable["shares"] is None
        assert "informative subset" in variable["problem"]["text"]
        assert variable["privacy"]["at"] == "even shares"


@pytest.mark.parametrize("name", DESIGNS)
def test_few_people_make_notes_and_no_noise(name):
    designs = {name: DESIGNS[name], "other": sp.warner(("no", "yes"))}
    some = Manners(skips=lambda shown, truth: 0.2)
    for n in (1, 25):
        released = drawn(survey_of(designs, [list(designs)]), truths(designs, n), manners={name: some})
        json.loads(document_text(results_document(results(released))))


def test_everybody_skips():
    gone = Manners(skips=lambda shown, truth: 1.0)
    survey = survey_of({"a": sp.uniform(options(5)), "b": LISTED})
    found = results(
        drawn(survey, truths({"a": DESIGNS["uniform"], "b": LISTED}, 30), manners={"a": gone, "b": gone})
    ).findings
    for one in found:
        assert one.shares is None
        assert (one.answered, one.missing, one.checks.skips.rate) == (0, 30, 1.0)
        assert one.checks.skips.problem.text == "Everyone skipped."


def test_forty_eight_options_of_which_all_subsets_are_asked(found):
    variable = found.findings["large"]
    assert variable.checks.draws.test.by == "pairs of options"
    assert variable.checks.skips.problem.text == "No one skipped."
    assert variable.checks.leaning.se < 0.06
    assert [note.kind for note in variable.notes] == [NoteKind.ASSUMPTION]
    assert found.variable("large").fingerprint_bits == pytest.approx(47, abs=1e-9)


def test_rows_and_framings_tell_the_same(answered):
    """The two paths of the simulation agree with the counters: codes follow from how questions were answered."""
    again = drawn(survey_of({"a": sp.uniform(options(5))}), {"a": values([1] * 5, 400, 1)})
    for released, name in ((answered, "lopsided"), (again, "a")):
        position = [held["id"] for held in released.manifest.variables].index(name)
        group = released.manifest.groups.index((position,))
        codes: Counter = Counter()
        for framing, n in released.framings.items():
            if framing.variable == position:
                small = int(framing.partition)
                shown = 31 - small if framing.shown else small
                codes[shown if framing.answer == 0 else 31 - shown] += n
        assert codes == Counter({row_codes(row)[0]: n for row, n in released.rows[group].items()})


@pytest.mark.parametrize("n", [20_000, pytest.param(500_000, marks=pytest.mark.slow)])
def test_twice_as_many_people_take_no_longer(n):
    """Counters are looked at, not people."""
    survey = survey_of({"a": sp.uniform(options(8))})
    some, more = (drawn(survey, {"a": values(range(1, 9), size, 1)}) for size in (n, 2 * n))
    assert results(more).findings["a"].answered == 2 * n
    assert calls(results, more) < 1.2 * calls(results, some)


def test_framings_of_other_variables_do_not_mix(answered):
    position = [held["id"] for held in answered.manifest.variables].index("four")
    more = {**answered.framings, Framing(position, "3", 0, 0): 10**4}
    changed = results(evolve(answered, framings=more)).findings
    assert changed["four"].checks.draws.is_alarm
    assert not changed["uniform"].checks.draws.is_alarm
