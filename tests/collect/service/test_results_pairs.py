"""Two variables of a link group: joint shares, tests, strength."""

import sys
import warnings

import numpy as np
import pytest
from released import Manners, drawn, options, survey_of, values

import subsetprivacy as sp
from subsetprivacy.collect.service.results import results, results_document
from subsetprivacy.collect.survey.tallies import row_codes
from subsetprivacy.collect.web.studio_dashboard import dashboard
from subsetprivacy.errors import BoundaryWarning
from subsetprivacy.finding import pairs as pairing
from subsetprivacy.messages import NoteKind
from subsetprivacy.presenting.pairs import pair_section, verdict
from subsetprivacy.presenting.words import words_of

DESIGNS = {"one": sp.uniform(options(5)), "two": sp.warner(("no", "yes")), "three": sp.fixed_size(options(3), 2)}


@pytest.fixture(scope="module")
def truth():
    """The second variable follows the first, the third is by itself."""
    rng = np.random.default_rng(5)
    one = values([1, 2, 3, 2, 1], 4000, 1)
    return {
        "one": one,
        "two": (rng.random(4000) < np.where(one > 2, 0.8, 0.2)).astype(int),
        "three": values([1, 2, 3], 4000, 2),
    }


@pytest.fixture(scope="module")
def released(truth):
    some = Manners(skips=lambda shown, held, rng: rng.random(len(held)) < 0.05)
    return drawn(survey_of(DESIGNS, [list(DESIGNS)]), truth, manners={"one": some, "three": some})


@pytest.fixture(scope="module")
def pairs(released):
    return {pair.names: pair for pair in results(released).findings.pairs}


def test_all_pairs_of_a_group_are_there(pairs):
    assert list(pairs) == [("one", "two"), ("one", "three"), ("two", "three")]


def test_joint_shares_are_the_true_ones_within_four_standard_errors(pairs, truth):
    for (one, two), pair in pairs.items():
        table = np.zeros(pair.shares.shape)
        np.add.at(table, (truth[one], truth[two]), 1 / 4000)
        assert (np.abs(pair.shares - table) < 4 * pair.se).all()
        assert pair.shares.sum() == pytest.approx(1)


def test_joint_shares_and_strength_are_those_of_the_library_from_the_rows(pairs, released):
    people = [row_codes(row) for row, n in released.rows[0].items() for _ in range(n)]
    columns = {name: sp.SubsetData([row[k] for row in people], DESIGNS[name]) for k, name in enumerate(DESIGNS)}
    for (one, two), pair in pairs.items():
        direct = sp.crosstab(columns[one], columns[two], names=[one, two])
        assert (pair.n, pair.incomplete) == (direct.n, direct.n_missing)
        fit = sp.estimate(direct)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BoundaryWarning)
            cov, se = fit.cov, fit.se
        assert pair.shares.ravel() == pytest.approx(fit.w, abs=1e-9)
        alone = np.outer(pair.shares.sum(axis=1), pair.shares.sum(axis=0))
        k = min(pair.shares.shape) - 1
        square = ((pair.shares - alone) ** 2 / alone).sum() / k
        bias = _bias(pair.shares, cov) / k
        if square > 2 * bias:
            assert pair.strength.value == pytest.approx(np.sqrt(square - bias), abs=1e-6)
        else:
            assert pair.strength.value is None
        assert pair.lower.ravel() == pytest.approx(np.clip(fit.w - 1.959964 * se, 0, 1), abs=1e-6)
        assert pair.upper.ravel() == pytest.approx(np.clip(fit.w + 1.959964 * se, 0, 1), abs=1e-6)
        assert pair.test.statistic == pytest.approx(sp.independence_test(direct, permutations=0).statistic, abs=1e-6)


def _bias(W, cov):
    """How much sampling error adds to phi squared: the trace over the residuals, by numerical derivatives."""
    alone = np.outer(W.sum(axis=1), W.sum(axis=0))

    def residuals(w):
        table = w.reshape(W.shape)
        return (table - np.outer(table.sum(axis=1), table.sum(axis=0))).ravel()

    step = 1e-6 * np.eye(W.size)
    J = np.array([(residuals(W.ravel() + e) - residuals(W.ravel() - e)) / 2e-6 for e in step]).T
    return (np.diag(J @ cov @ J.T) / alone.ravel()).sum()


def small(n, seed, dependent=False, link=("one", "two")):
    designs = {name: sp.uniform(options(4)) for name in link}
    first = values([1] * 4, n, seed)
    second = first if dependent else values([1] * 4, n, seed + 1000)
    return results(drawn(survey_of(designs, [list(link)]), dict(zip(link, (first, second), strict=True)), seed=seed))


def test_among_few_people_no_strength_is_made_of_chance():
    """Uncorrected, V of fifty people whose answers have nothing to do with each other is about a half."""
    for seed in range(8):
        pair = small(50, seed).findings.pairs[0]
        alone = np.outer(pair.shares.sum(axis=1), pair.shares.sum(axis=0))
        assert (((pair.shares - alone) ** 2)[alone > 0] / alone[alone > 0]).sum() / 3 > 0.3**2
        assert pair.strength.value is None
        assert pair.strength.lower == 0
        assert pair.strength.raw > 0.3
        assert NoteKind.SMALL_COUNTS in {note.kind for note in pair.notes}


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
        "upper": pair.strength.upper,
        "above_zero": False,
    }
    assert held["notes"] == [note.to_dict() for note in pair.notes]
    assert np.array(held["lower"]).shape == np.array(held["upper"]).shape == (4, 4)


def test_dependence_is_found_and_independence_is_not(pairs):
    assert pairs["one", "two"].test.pvalue < 0.01
    assert "go together" in said(pairs["one", "two"])
    assert pairs["one", "two"].strength.lower > 0.3
    assert pairs["one", "three"].test.pvalue > 0.01
    assert "does not prove" in said(pairs["one", "three"])


def said(pair):
    return verdict(words_of("en"), pair, pair.names)


def test_skipped_answers_make_a_row_incomplete(pairs, released):
    rows = released.rows[0].items()
    either = sum(n for row, n in rows if row_codes(row)[0] == 31 or row_codes(row)[2] == 7)
    assert pairs["one", "three"].incomplete == either
    assert pairs["one", "two"].incomplete == sum(n for row, n in rows if row_codes(row)[0] == 31)


def test_larger_tables_are_tested_by_random_tables_too():
    designs = {"a": sp.hadamard(options(8)), "b": sp.hadamard(options(8))}
    a = values([1] * 8, 1200, 1)
    found = results(drawn(survey_of(designs, [["a", "b"]]), {"a": a, "b": a})).findings.pairs[0]
    assert (found.test.method, found.test.law, found.test.tables) == ("lrt-mom", "permutation", 199)
    assert found.test.pvalue == pytest.approx(0.005)


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
    gone = Manners(skips=lambda shown, held, rng: np.arange(len(held)) % 2 == 0)
    rest = Manners(skips=lambda shown, held, rng: np.arange(len(held)) % 2 == 1)
    designs = {"a": sp.uniform(options(4)), "b": sp.uniform(options(4))}
    survey = survey_of(designs, [["a", "b"]])
    truth = {name: values([1] * 4, 40, 1) for name in designs}
    pair = results(drawn(survey, truth, manners={"a": gone, "b": rest})).findings.pairs[0]
    assert (pair.n, pair.incomplete) == (0, 40)
    assert "informative subset" in pair.problem.text


def test_very_many_distinct_rows_take_moments(monkeypatch, released):
    monkeypatch.setattr(pairing, "HEAVY", 10)
    found = results(released).findings.pairs[0]
    assert found.method == "mom"
    assert found.test.method == "bonferroni"
    assert found.shares.sum() == pytest.approx(1)


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
