"""Two variables of a link group: found as the library finds them from the rows, and said where they cannot be.

What is found of two variables is tested in tests/unit/finding.
"""

import sys

import numpy as np
import pytest
from asking import Manners
from problems import quietly
from released import drawn, options, survey_of, values

import subsetprivacy as sp
from subsetprivacy.collect.service.results import results, results_document
from subsetprivacy.collect.survey.tallies import row_codes
from subsetprivacy.collect.web.studio_dashboard import dashboard
from subsetprivacy.messages import NoteKind
from subsetprivacy.presenting.pairs import pair_section
from subsetprivacy.presenting.words import words_of

DESIGNS = {"one": sp.uniform(options(5)), "two": sp.warner(("no", "yes")), "three": sp.fixed_size(options(3), 2)}


@pytest.fixture(scope="module")
def released():
    """The second variable follows the first, the third is by itself."""
    one, rng = values([1, 2, 3, 2, 1], 4000, 1), np.random.default_rng(5)
    two = (rng.random(4000) < np.where(one > 2, 0.8, 0.2)).astype(int)
    truth = {"one": one, "two": two, "three": values([1, 2, 3], 4000, 2)}
    some = Manners(skips=lambda shown, truth: 0.05)
    return drawn(survey_of(DESIGNS, [list(DESIGNS)]), truth, manners={"one": some, "three": some})


@pytest.fixture(scope="module")
def pairs(released):
    return {pair.names: pair for pair in results(released).findings.pairs}


def test_all_pairs_of_a_group_are_there(pairs):
    assert list(pairs) == [("one", "two"), ("one", "three"), ("two", "three")]


def test_shares_tests_and_strengths_are_those_of_the_library_from_the_rows(pairs, released):
    people = [row_codes(row) for row, n in released.rows[0].items() for _ in range(n)]
    columns = {name: sp.SubsetData([row[k] for row in people], DESIGNS[name]) for k, name in enumerate(DESIGNS)}
    for (one, two), pair in pairs.items():
        direct = sp.crosstab(columns[one], columns[two], names=[one, two])
        assert (pair.n, pair.incomplete) == (direct.n, direct.n_missing)
        fit = sp.estimate(direct)
        with quietly():
            se, strength = fit.se, sp.association(direct).cramers_v()
        assert pair.shares.ravel() == pytest.approx(fit.w, abs=1e-9)
        assert pair.strength.raw == pytest.approx(strength.value, abs=1e-6)
        assert pair.lower.ravel() == pytest.approx(np.clip(fit.w - 1.959964 * se, 0, 1), abs=1e-6)
        assert pair.upper.ravel() == pytest.approx(np.clip(fit.w + 1.959964 * se, 0, 1), abs=1e-6)
        assert pair.test.statistic == pytest.approx(sp.independence_test(direct, permutations=0).statistic, abs=1e-6)


def small(n, seed, dependent=False, link=("one", "two")):
    designs = {name: sp.uniform(options(4)) for name in link}
    first = values([1] * 4, n, seed)
    second = first if dependent else values([1] * 4, n, seed + 1000)
    return results(drawn(survey_of(designs, [list(link)]), dict(zip(link, (first, second), strict=True)), seed=seed))


def test_a_strength_is_given_with_what_chance_would_add():
    pair = small(1500, 1, dependent=True).findings.pairs[0]
    assert 0.9 < pair.strength.value < pair.strength.raw
    assert "Cramér’s V without the part that chance adds" in pair_section(words_of("en"), pair, {}, 0.95)
    assert NoteKind.SMALL_COUNTS not in [note.kind for note in small(1500, 1).findings.pairs[0].notes]


def test_the_document_has_the_same_notes_and_the_intervals():
    found = small(50, 3)
    (held,), (pair,) = results_document(found)["findings"]["pairs"], found.findings.pairs
    assert held["strength"] == {
        "value": None,
        "se": None,
        "raw": pytest.approx(pair.strength.raw),
        "lower": 0.0,
        "upper": pytest.approx(pair.strength.upper),
        "above_zero": False,
    }
    assert held["notes"] == [note.to_dict() for note in pair.notes]
    assert np.array(held["lower"]).shape == np.array(held["upper"]).shape == (4, 4)


def test_codes_that_do_not_fit_in_one_are_refused_in_words():
    designs = {"a": sp.uniform(options(30)), "b": sp.uniform(options(30))}
    released = drawn(survey_of(designs, [["a", "b"]]), {name: values([1] * 30, 60, 1) for name in designs})
    found = results(released).findings
    assert "must fit in 48 bits" in found.pairs[0].problem.text
    assert found.pairs[0].shares is None
    assert found["a"].shares is not None
    (row,) = found.rows  # of what a row reveals the worst case is said
    assert not row.joint_known
    assert row.together.maximal_bits == pytest.approx(sum(part.maximal_bits for part in row.parts.values()))
    assert 14.9 < row.candidates.least <= row.candidates.expected


def test_nobody_complete_is_said():
    gone = Manners(skips=lambda shown, truth: np.arange(len(truth)) % 2 == 0)
    rest = Manners(skips=lambda shown, truth: np.arange(len(truth)) % 2 == 1)
    designs = {"a": sp.uniform(options(4)), "b": sp.uniform(options(4))}
    survey = survey_of(designs, [["a", "b"]])
    truth = {name: values([1] * 4, 40, 1) for name in designs}
    pair = results(drawn(survey, truth, manners={"a": gone, "b": rest})).findings.pairs[0]
    assert (pair.n, pair.incomplete) == (0, 40)
    assert "informative subset" in pair.problem.text


def test_many_variables_leave_pairs_to_the_export(monkeypatch):
    monkeypatch.setattr(sys.modules["subsetprivacy.finding.result"], "MOST_PAIRS", 2)
    designs = {name: sp.warner(("no", "yes")) for name in "abcd"}
    truth = {name: values([1, 1], 50, k) for k, name in enumerate(designs)}
    released = drawn(survey_of(designs, [list(designs)]), truth)
    found = results(released)
    assert (len(found.findings.pairs), found.findings.pairs_left_out) == (2, 4)
    assert results_document(found)["findings"]["pairs_left_out"] == 4
    assert (
        dashboard(released, found).pairs_left_out == "4 further pairs are left out here. The export has their answers."
    )
