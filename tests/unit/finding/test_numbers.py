"""Every number of findings is what the library says when it is asked directly."""

from hashlib import sha256

import numpy as np
import pytest
from every_case import every_case
from finding_cases import ABCD, DESIGNS, UNIFORM, asked, column, findings_of, letters, missing, sampling, table

import subsetprivacy as sp
from subsetprivacy.finding.settings import FindingsSettings
from subsetprivacy.honesty.all_checks import ONE
from subsetprivacy.messages import NoteKind
from subsetprivacy.tables import label_text

pytestmark = pytest.mark.filterwarnings("ignore::subsetprivacy.errors.SubsetPrivacyWarning")


def _same(shown, wanted):
    """Compare numbers, where nothing is known on either side alike."""
    np.testing.assert_allclose(np.asarray(shown, float), np.array(wanted, float), rtol=1e-12, atol=1e-15)


# Shares -----------------------------------------------------------------------------------------


@every_case("level", [0.95, 0.8])
@every_case("kind", DESIGNS)
def test_shares_are_those_of_estimate(kind, level):
    counts = column(kind)
    (one,) = sp.findings(counts, level=level, pairs=False)
    fit = sp.estimate(counts)
    facts = fit.to_dict(level)
    for name in ("estimate", "se", "lower", "upper"):
        _same(getattr(one.shares, name), facts[name])
    assert one.shares.method == "mle"
    assert list(one.shares.interval) == facts["interval"]
    assert {note.text for note in fit.notes} <= {note.text for note in one.shares.notes}
    assert one.shares.zeros == tuple(map(label_text, fit.on_boundary))


@every_case("kind", ["uniform", "recorded partition", "hadamard", "conditional", "mixture", "fixed size"])
def test_moments_are_those_of_estimate(kind):
    (one,) = sp.findings(column(kind))
    facts = sp.estimate(column(kind), "mom").to_dict(method="wald")
    for name in ("estimate", "se", "lower", "upper"):
        _same(getattr(one.moments, name), facts[name])
    assert one.moments.method == "mom"
    assert one.moments_hold


def test_a_share_of_zero_keeps_its_interval_and_is_named():
    (one,) = findings_of("zeros")
    fit = sp.estimate(letters(shares=(0.0, 0.2, 0.3, 0.5)))
    assert fit.on_boundary == ("a",)  # else the example is none
    assert one.shares.zeros == ("a",)
    assert one.shares.lower[0] == 0
    assert 0 < one.shares.upper[0] < 0.2
    assert NoteKind.BOUNDARY in {note.kind for note in one.shares.notes}
    assert one.privacy.cost is None or np.isfinite(one.privacy.cost)


def test_very_many_categories_are_estimated_by_moments():
    design = sp.hadamard(5000)
    w = np.arange(5000, 0, -1.0) ** 3
    counts = sp.simulate(design, w / w.sum(), 20_000, seed=1)
    (one,) = sp.findings(counts)
    assert one.shares.method == "mom"
    _same(one.shares.estimate, sp.estimate(counts, "mom").w)
    assert len(one.shares.zeros) <= 100
    facts = sp.audit(counts).to_dict()  # of shares that are none below 0
    assert one.privacy.information.leakage == pytest.approx(facts["mi_leakage"])
    assert one.privacy.guess.leakage == pytest.approx(facts["prediction_leakage"])


# People -----------------------------------------------------------------------------------------


@every_case(
    ("case", "answered", "unknown", "dummies"),
    [
        ("uniform", 400, 0, 0),
        ("missing", 300, 37, 0),
        ("no people", 0, 0, 0),
        ("no answers", 0, 7, 0),
        ("one person", 1, 0, 0),
        ("ten billion people", 1e10, 0, 0),
        ("questions", 500, None, 0),
    ],
)
def test_people_are_counted(case, answered, unknown, dummies):
    (one,) = findings_of(case)
    if unknown is None:  # of questions, those skipped
        unknown = asked().skipped
        answered -= unknown
    assert (one.answered, one.missing, one.dummies) == pytest.approx((answered, unknown, dummies))
    assert one.people == pytest.approx(answered + unknown)
    assert not one.is_weighted


def test_dummy_rows_are_no_people():
    counts = column("covered")
    (one,) = findings_of("covered")
    assert one.answered + one.dummies == pytest.approx(counts.n)
    assert one.answered == pytest.approx(counts.n * counts.design.real_share)
    assert one.privacy.dummy_share == pytest.approx(1 - counts.design.real_share, abs=0.05)
    assert one.privacy.cover_floor == sp.audit(counts).to_dict()["floor"]


def test_sampling_weights_are_effective_people_and_leave_no_checks():
    (one,) = findings_of("sampling weights")
    counts = sampling()
    assert one.is_weighted
    assert one.answered == counts.n
    assert one.checks is None
    assert one.alarms == 0
    assert findings_of("sampling weights").alarm.tests == 0
    _same(one.shares.se, sp.estimate(counts).se)


def test_frequency_weights_are_people():
    (one,) = findings_of("frequency weights")
    weights = np.arange(337) % 3
    assert one.answered == weights[:300].sum()
    assert one.missing == weights[300:].sum()
    twice = sp.SubsetData(np.repeat(missing().codes, weights), UNIFORM)
    assert sp.findings(twice).to_json() == findings_of("frequency weights").to_json()


def test_ten_billion_people_have_short_intervals():
    (one,) = findings_of("ten billion people")
    few = sp.estimate(letters())
    _same(one.shares.estimate.round(12), few.w.round(12))
    assert one.shares.se == pytest.approx(few.se / np.sqrt(20_000_000), rel=1e-6)
    assert (one.shares.upper > one.shares.estimate).all()
    assert all(line.people == 0 for line in one.needed)


@every_case("case", ["no people", "no answers", "fully private"])
def test_without_an_answer_there_is_a_reason_and_no_number(case):
    (one,) = findings_of(case)
    assert one.fit is None
    assert one.shares is one.moments is one.difference is None
    assert one.problem.kind is NoteKind.NO_ESTIMATE
    assert one.needed == ()
    assert one.privacy.at == "even shares"
    assert one.privacy.guess.baseline == pytest.approx(0.25)
    if case == "no people":
        assert "There are no people yet." in {note.text for note in findings_of(case).notes}


def test_one_person_is_a_data_set():
    (one,) = findings_of("one person")
    assert one.shares.estimate.sum() == pytest.approx(1)
    assert (one.shares.upper <= 1).all()


# People needed ----------------------------------------------------------------------------------


def test_people_needed_make_the_intervals_as_short_as_said():
    (one,) = sp.findings(letters(2000))
    fit = sp.estimate(letters(2000))
    for line in one.needed:
        w = (2000 * fit.w + 1) / 2004
        enough = sp.simulate(UNIFORM, w, line.answers, seed=1) if line.answers < 10**6 else None
        if enough is not None:
            half = 1.96 * sp.estimate(enough).se.max()
            assert half == pytest.approx(line.margin, rel=0.12)
        assert line.more == max(0, line.answers - 2000)
        assert line.people == line.more  # all of them answered
    assert [line.margin for line in one.needed] == [0.01, 0.02, 0.05, 0.10]


def test_people_who_say_nothing_must_be_asked_too():
    counts = sp.SubsetCounts([*letters(300).codes, 15], [*letters(300).counts, 300], UNIFORM)
    half, whole = sp.findings(counts)[ONE].needed[0], sp.findings(letters(300))[ONE].needed[0]
    assert half.answers == whole.answers
    assert half.people == pytest.approx(2 * whole.people, abs=1)


# Privacy ----------------------------------------------------------------------------------------


@every_case("kind", [kind for kind in DESIGNS if kind != "product"])
def test_privacy_is_that_of_the_audit(kind):
    (one,) = sp.findings(column(kind))
    held, facts = one.privacy, sp.audit(column(kind)).to_dict()
    for name, leak in (("mi", held.information), ("prediction", held.guess), ("size", held.ruled_out)):
        if leak is None:
            assert facts["epsilon"] is not None  # nothing is ruled out
            continue
        for what in ("leakage", "baseline", "nonprivate"):
            assert getattr(leak, what) == pytest.approx(facts[f"{name}_{what}"], nan_ok=True)
        for end in ("lower", "upper"):
            assert (getattr(leak, end) is None) == (facts.get(f"{name}_leakage_{end}") is None)
            if getattr(leak, end) is not None:
                assert getattr(leak, end) == pytest.approx(facts[f"{name}_leakage_{end}"])
    assert held.maximal_bits == pytest.approx(facts["maximal_leakage"])
    assert held.maximal_factor == pytest.approx(2 ** facts["maximal_leakage"])
    assert (held.smallest_set, held.subset_private) == (facts["smallest_set"], facts["subset_private"])
    assert held.largest_posterior == pytest.approx(facts["largest_posterior"])
    assert held.epsilon == facts["epsilon"]
    assert held.cost == pytest.approx(facts["cost"]) if facts["cost"] is not None else held.cost is None
    assert held.at == "estimate"


def test_an_unknown_design_promises_nothing():
    (one,) = findings_of("coarse")
    assert one.privacy is None or one.privacy.subset_private is None


def test_the_most_telling_reports_are_the_smallest_with_their_chances():
    (one,) = sp.findings(letters(2000))
    fit, sets = sp.estimate(letters(2000)), one.privacy.smallest_sets
    assert one.privacy.smallest_sets_number == len(sets) == 6  # pairs of four
    shares = dict(zip(ABCD, fit.w))
    for line in sets:
        total = sum(shares[label] for label in line.categories)
        assert line.posterior == pytest.approx(max(shares[label] for label in line.categories) / total)
        assert shares[line.category] == max(shares[label] for label in line.categories)
    assert sum(line.chance for line in sets) == pytest.approx(1)  # every report of this design is a pair
    falling = [line.posterior for line in sets]
    assert falling == sorted(falling, reverse=True)
    assert one.privacy.telling_report == ", ".join(sets[0].categories)
    assert one.privacy.largest_posterior == pytest.approx(sets[0].posterior)


def test_a_second_draw_is_that_of_repeat_risk():
    (one,) = sp.findings(letters())
    risk = sp.repeat_risk(UNIFORM, sp.estimate(letters()).w)
    assert one.privacy.repeat.expected == pytest.approx(risk.expected)
    assert one.privacy.repeat.probability == pytest.approx(risk.probability)
    assert one.privacy.repeat.odds is None
    assert sp.findings(column("warner"))[ONE].privacy.repeat.odds == pytest.approx(
        sp.repeat_risk(DESIGNS["warner"], sp.estimate(column("warner")).w).odds
    )


def test_asked_directly_as_few_people_tell_as_much():
    (one,) = sp.findings(letters(2000))
    assert one.privacy.asked_directly == pytest.approx(2000 / one.privacy.cost)


# Checks -----------------------------------------------------------------------------------------


@every_case("case", ["uniform", "recorded partition", "partition", "hadamard", "questions", "bit"])
def test_checks_are_those_of_the_library(case):
    (one,) = findings_of(case)
    made = findings_of(case)
    what = asked() if case == "questions" else column(case)
    direct = sp.check_all(what, budget=made.settings.check_seconds, seed=None)
    assert made.alarm.tests == direct.alarm.tests
    assert made.alarm.alpha == pytest.approx(direct.alarm.alpha)
    for (name, ours), (other, theirs) in zip(one.checks.items(), direct[ONE].items(), strict=True):
        assert name == other
        for a, b in zip(ours.tests, theirs.tests, strict=True):
            assert (a.by, a.law, a.df) == (b.by, b.law, b.df)
            assert a.statistic == pytest.approx(b.statistic)
            if not a.samples:  # samples have other seeds
                assert a.pvalue == pytest.approx(b.pvalue)


def test_one_level_for_all_columns():
    made = findings_of("a table")
    tests = [test for one in made if one.checks for _, check in one.checks.items() for test in check.tests]
    assert made.alarm.tests == len(tests)
    assert made.alarm.alpha == pytest.approx(0.01 / len(tests))
    assert {test.alpha for test in tests} == {made.alarm.alpha}
    assert sp.findings(table(), chance=0.2).alarm.alpha == pytest.approx(0.2 / len(tests))


def test_an_alarm_is_counted_and_takes_the_moments_away():
    codes = np.array([3, 12, 5, 10, 9, 6])  # one question of three is asked as good as always
    counts = sp.SubsetCounts(codes, [400, 500, 20, 15, 20, 10], UNIFORM)
    made = sp.findings({"x": counts, "y": letters()})
    assert made["x"].checks.draws.is_alarm
    assert not made["x"].moments_hold
    assert NoteKind.MOMENTS in {note.kind for note in made["x"].notes}
    assert made["x"].alarms == made.alarms == 1
    assert made["y"].moments_hold
    assert made["x"].shares is not None


# Two columns ------------------------------------------------------------------------------------


def _pair_test(counts, names, made, pairs, **options):
    seconds = made.settings.pair_seconds(pairs)
    return sp.independence_test(counts, budget=seconds, seed=made.settings.seed_of("pair", *names), **options)


def test_pairs_are_tested_with_the_seed_of_their_names():
    made = findings_of("a table")
    assert [pair.names for pair in made.pairs] == [("x", "y"), ("x", "z"), ("y", "z")]
    for pair in made.pairs:
        counts = sp.crosstab({name: table()[name] for name in pair.names})
        test = _pair_test(counts, pair.names, made, 3, permutations=99)
        assert pair.test.pvalue == test.pvalue
        assert pair.test.statistic == pytest.approx(test.statistic)
        assert (pair.test.method, pair.test.law, pair.test.tables) == (test.method, test.null, test.permutations)
        assert pair.test.rejects == (test.pvalue < 0.05)
        W = sp.estimate(counts).w.reshape(len(pair.rows), len(pair.columns))
        _same(pair.shares, W)
        _same(pair.se.ravel(), sp.estimate(counts).se)
        _same(pair.deviation, W - np.outer(W.sum(axis=1), W.sum(axis=0)))
        assert pair.n == counts.n
    assert made.pairs[0].test.rejects  # they go together
    assert made.pairs_alpha == pytest.approx(0.05 / 3)


def test_strength_is_cramers_v_without_its_bias():
    for pair in findings_of("a table").pairs:
        counts = sp.crosstab({name: table()[name] for name in pair.names})
        raw, less = (sp.association(counts).cramers_v(corrected=corrected) for corrected in (False, True))
        assert pair.strength.raw == pytest.approx(raw.value)
        assert pair.strength.upper == pytest.approx(less.upper if np.isfinite(less.upper) else 1.0)
        if pair.strength.value is None:
            assert less.value**2 <= raw.value**2 / 2
        else:
            assert pair.strength.value == pytest.approx(less.value)
            assert pair.strength.se == pytest.approx(less.se)


def test_limit_laws_draw_nothing():
    for pair in findings_of("limit laws").pairs:
        assert (pair.test.law, pair.test.tables, pair.test.pvalue_se) == ("asymptotic", 0, None)
        counts = sp.crosstab({name: table()[name] for name in pair.names})
        assert pair.test.pvalue == pytest.approx(sp.independence_test(counts, permutations=0).pvalue)
    assert all(test.samples == 0 for test in findings_of("limit laws").checks.tests)


def test_variables_inside_one_column_are_crossed():
    made = findings_of("join")
    (pair,) = made.pairs
    counts = column("join")
    assert (pair.inside, pair.names) == (ONE, ("sex", "view"))
    assert (pair.rows, pair.columns) == (("f", "m"), ("no", "so", "yes"))
    assert pair.test.pvalue == _pair_test(counts, ("sex", "view"), made, 1, permutations=999).pvalue
    assert made.rows == ()
    assert made.pairs_alpha is None  # of one test


def test_the_same_numbers_whichever_pairs_are_wanted():
    (pair,) = findings_of("one pair").pairs
    assert pair.names == ("z", "x")
    assert findings_of("no pairs").pairs == ()
    assert [pair.test for pair in findings_of("untested").pairs] == [None] * 3
    _same(findings_of("untested").pairs[1].shares.T, pair.shares)
    assert findings_of("untested").pairs_alpha is None
    assert all(pair.strength is not None for pair in findings_of("untested").pairs)


def test_columns_that_were_counted_alone_cannot_be_crossed():
    made = findings_of("a mapping")
    assert made.pairs == made.rows == made.linked == ()


# Rows -------------------------------------------------------------------------------------------


def test_a_row_is_the_audit_of_the_joint_counts():
    (row,) = findings_of("a table").rows
    direct = sp.audit(sp.crosstab({name: table()[name] for name in "xyz"}))
    totals = direct.totals()
    assert row.together.information == pytest.approx(totals["mi_leakage"])
    assert row.together.maximal_bits == pytest.approx(totals["maximal_leakage"])
    assert row.together.smallest_set == totals["smallest_set"]
    assert row.combinations == 32
    assert row.guesses == pytest.approx(direct.guesses)
    assert list(row.parts) == ["x", "y", "z"]
    assert row.joint_known


def test_rows_that_fit_a_person_are_counted():
    (row,) = findings_of("a table").rows
    expected, least = 400.0, 400.0
    for name in "xy":  # the third rules nothing out
        design, w = table()[name].design, sp.estimate(table()[name]).w
        expected *= w @ design.Q @ w
        least *= (design.Q @ w).min()
    assert row.candidates.expected == pytest.approx(expected)
    assert row.candidates.least == pytest.approx(least)


def test_too_many_combinations_leave_the_worst_case():
    (row,) = findings_of("eight columns").rows
    assert not row.joint_known
    assert row.combinations == 4**8
    assert row.guesses is None
    assert row.together.maximal_bits == pytest.approx(8)
    assert row.together.smallest_set == 2**8
    assert findings_of("eight columns").pairs_left_out == 0
    assert len(findings_of("eight columns").pairs) == 28


def test_several_releases_are_rows_each_for_itself():
    made = findings_of("releases")
    assert made.names == ("x", "y", "z", "q")
    assert [row.names for row in made.rows] == [("x", "y", "z")]
    assert [pair.names for pair in made.pairs] == [("x", "y"), ("x", "z"), ("y", "z")]
    _same(made["q"].shares.estimate, sp.estimate(letters()).w)
    assert made.source_facts.rows == 500


# Seeds and budgets ------------------------------------------------------------------------------


def test_the_seeds_of_sealed_results_do_not_change():
    """What surveys have published is drawn with these: another text would change every sampled p-value."""
    settings = FindingsSettings(0.95, 0.01, 999, 10.0, lambda: "abc")
    text = b"subsetprivacy results v1\0abc\0pair\0x\0y"
    assert settings.seed_of("pair", "x", "y") == int.from_bytes(sha256(text).digest()[:4]) == 1029158649


def test_other_seeds_draw_other_tables_and_nothing_else():
    one, two = (sp.findings(table(), permutations=19, seed=seed) for seed in (1, 2))
    assert [pair.test.pvalue for pair in one.pairs] != [pair.test.pvalue for pair in two.pairs]
    assert [pair.test.statistic for pair in one.pairs] == [pair.test.statistic for pair in two.pairs]
    assert sp.findings(table(), permutations=19, seed=1).to_json() == one.to_json()
    sealed = sp.findings(table(), permutations=19, seed="a text")
    assert sealed.settings.seal == "a text"
