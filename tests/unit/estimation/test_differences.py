"""Differences between two samples, and between two answers of the same people."""

import numpy as np
import pytest
from every_case import every_case
from oracles import Sample, best, root_and_score
from problems import lopsided, quietly, rising
from refusals import refused
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import chi2, chi2_contingency, norm

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, MismatchError, SmallCountWarning
from subsetprivacy.estimation import linear_profile
from subsetprivacy.estimation.difference import _accepted_range
from subsetprivacy.messages import NoteKind
from subsetprivacy.messages.for_estimates import COLLAPSE_FIRST, CONTRAST_BY_WALD, JOINT_WAVES

U4 = sp.uniform(list("abcd"))
W = [0.1, 0.2, 0.3, 0.4]


def direct(*counts):
    """Return the estimate of values that are seen directly."""
    design = sp.nonprivate([chr(97 + k) for k in range(len(counts))])
    seen = [(1 << k, n) for k, n in enumerate(counts) if n]
    return sp.estimate(sp.SubsetCounts([code for code, _ in seen], [n for _, n in seen], design))


def drawn(design=U4, w=W, n=300, seed=1):
    return sp.estimate(sp.simulate(design, w, n, seed=seed))


# Values that are seen directly ----------------------------------------------------------------------


def mee(x1, n1, x2, n2, d):
    """The statistic of Mee (1984): the cubic of Miettinen and Nurminen (1985), without their factor N/(N - 1)."""
    N, x = n1 + n2, x1 + x2
    a2 = (n1 + 2 * n2) * d - N - x
    a1 = (n2 * d - N - 2 * x2) * d + x
    a0 = x2 * d * (1 - d)
    q = a2**3 / (3 * N) ** 3 - a1 * a2 / (6 * N**2) + a0 / (2 * N)
    p = np.sign(q) * np.sqrt(a2**2 / (3 * N) ** 2 - a1 / (3 * N))
    angle = (np.pi + np.arccos(np.clip(q / p**3, -1, 1))) / 3
    p2 = 2 * p * np.cos(angle) - a2 / (3 * N)
    p1 = p2 + d
    return (x1 / n1 - x2 / n2 - d) / np.sqrt(p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2)


# For 56/70 - 48/80 the interval is 0.0533 to 0.3377, also by a maximisation without the cubic. statsmodels 0.15.0,
# confint_proportions_2indep(56, 70, 48, 80, method="score", correction=False), gives 0.0531 to 0.3436: its cubic has
# `count0 * diff` where `nobs0 * diff` is needed. At a difference of 0, without the cubic, it agrees: z = 2.650172.
PROPORTIONS = [(56, 70, 48, 80), (90, 100, 83, 110), (7, 40, 5, 65)]


@every_case("counts", PROPORTIONS)
def test_proportions_have_the_statistic_and_the_interval_of_mee(counts):
    x1, n1, x2, n2 = counts
    result = direct(x1, n1 - x1).difference(direct(x2, n2 - x2))
    for null in (0.1, -0.2, 0.02):
        z = mee(*counts, null)
        assert result.pvalues(null=null)[0] == pytest.approx(2 * norm.sf(abs(z)), rel=1e-4)
        assert result.pvalues(null=null, alternative="greater")[0] == pytest.approx(norm.sf(z), rel=1e-4)
    top = x1 / n1 - x2 / n2
    ends = [brentq(lambda d, z=z: mee(*counts, d) - z, *sorted((top, end))) for z, end in ((1.96, -0.9), (-1.96, 0.9))]
    level = 2 * norm.cdf(1.96) - 1
    assert result.interval(level)[0] == pytest.approx(ends, abs=1e-5)
    assert result.interval(level)[1] == pytest.approx([-ends[1], -ends[0]], abs=1e-5)


def test_intervals_by_a_maximisation_without_the_cubic():
    def statistic(d):  # of 56/70 - 48/80, by a search over the second share
        def loss(p):
            return -56 * np.log(p + d) - 14 * np.log(1 - p - d) - 48 * np.log(p) - 32 * np.log(1 - p)

        p = minimize_scalar(loss, bounds=(max(0, -d) + 1e-9, min(1, 1 - d) - 1e-9), method="bounded").x
        return (0.2 - d) / np.sqrt((p + d) * (1 - p - d) / 70 + p * (1 - p) / 80)

    ends = [brentq(lambda d, z=z: statistic(d) - z, a, b) for z, a, b in ((1.959964, -0.5, 0.2), (-1.959964, 0.2, 0.6))]
    assert direct(56, 14).difference(direct(48, 32)).interval()[0] == pytest.approx(ends, abs=1e-4)
    assert direct(56, 14).difference(direct(48, 32)).interval()[0].round(4).tolist() == [0.0533, 0.3377]
    assert direct(10, 0).difference(direct(0, 20)).interval()[0].round(4).tolist() == [0.7225, 1.0]


def test_a_score_at_no_difference_is_that_of_the_pooled_share():
    result = direct(56, 14).difference(direct(48, 32))
    assert norm.isf(result.pvalues()[0] / 2) == pytest.approx(2.6501719512585336, abs=1e-4)  # statsmodels 0.15.0


def test_both_at_zero():
    # With no event in either sample p2 = 0 and p1 = d: z = -d / sqrt(d (1 - d) / n1), so d <= z^2 / (n1 + z^2).
    result = direct(0, 20).difference(direct(0, 25))
    z = norm.ppf(0.975)
    assert result.interval()[0] == pytest.approx([-z * z / (25 + z * z), z * z / (20 + z * z)], abs=1e-5)
    assert result.pvalues() == pytest.approx([1, 1])
    assert result.pvalue == pytest.approx(1)


@every_case("tables", [((56, 14), (48, 32)), ((30, 50, 20), (60, 45, 33)), ((5, 9, 30, 2), (8, 8, 20, 9))])
def test_the_test_of_all_is_pearsons(tables):
    result = direct(*tables[0]).difference(direct(*tables[1])).test
    statistic, pvalue, df, _ = chi2_contingency(tables, correction=False)
    assert (result.statistic, result.df, result.pvalue) == (pytest.approx(statistic), df, pytest.approx(pvalue))
    assert result.method == "score"


def test_a_category_that_no_one_has_is_not_tested():
    result = direct(30, 50, 20, 0).difference(direct(60, 45, 33, 0)).test
    statistic, _, df, _ = chi2_contingency([(30, 50, 20), (60, 45, 33)], correction=False)
    assert (result.statistic, result.df) == (pytest.approx(statistic, rel=1e-4), df)


# Private designs --------------------------------------------------------------------------------------

PAIRS = {
    "uniform": (U4, U4, W, W),
    "other designs": (U4, lopsided(), W, [0.3, 0.3, 0.3, 0.1]),
    "near 0": (U4, U4, [0.9, 0.06, 0.03, 0.01], [0.9, 0.06, 0.03, 0.01]),
    "one seen directly": (sp.nonprivate(list("abcd")), U4, W, W),
    "warner": (sp.warner(list("ab")), sp.warner(list("ab"), q=0.2), [0.3, 0.7], [0.1, 0.9]),
    "covered": (sp.covered(U4, 0.1), U4, W, W),
}


@pytest.mark.parametrize("name", PAIRS)
def test_statistics_are_those_of_certified_maxima(name):
    first, second, w, v = PAIRS[name]
    one, two = drawn(first, w, 200, 1), drawn(second, v, 300, 2)
    result = one.difference(two)
    samples = [Sample(one.counts), Sample(two.counts)]
    c = np.eye(len(w))[-1]
    for null in (0.0, -0.15, 0.1):
        root, score = root_and_score(samples, [c, -c], null)
        for method, z in (("profile", root), ("score", score)):
            pvalue = result.pvalues(null=null, alternative="greater", method=method)[-1]
            assert norm.isf(pvalue) == pytest.approx(z, rel=5e-3, abs=2e-3), (method, null)


@pytest.mark.parametrize("method", ["score", "profile", "wald"])
def test_intervals_hold_the_differences_that_the_test_keeps(method):
    result = drawn().difference(drawn(lopsided(), n=200, seed=2))
    with quietly():
        bounds = result.interval(0.9, method=method)
    for k, ends in enumerate(bounds):
        assert ends[0] < result.estimate[k] < ends[1]
        for end in ends:
            assert result.pvalues(null=end, method=method)[k] == pytest.approx(0.1, abs=1e-3)


@pytest.mark.parametrize("method", ["score", "profile", "wald"])
def test_the_other_way_round(method):
    one, two = drawn(w=[0.9, 0.06, 0.03, 0.01]), drawn(lopsided(), n=200, seed=2)
    there, back = one.difference(two), two.difference(one)
    with quietly():
        assert back.estimate == pytest.approx(-there.estimate)
        assert back.se == pytest.approx(there.se)
        assert back.interval(method=method) == pytest.approx(-there.interval(method=method)[:, ::-1], abs=2e-5)
    assert back.pvalues(method=method) == pytest.approx(there.pvalues(method=method), abs=1e-4)
    assert back.pvalue == pytest.approx(there.pvalue)
    less, greater = (there.pvalues(alternative=name, method=method) for name in ("less", "greater"))
    assert less + greater == pytest.approx(np.ones(4))


def test_categories_in_another_order():
    turned = sp.uniform(list("cadb"))
    counts = sp.simulate(turned, [0.3, 0.1, 0.4, 0.2], 300, seed=2)
    moved = np.array([sum(1 << "abcd".index("cadb"[k]) for k in range(4) if code >> k & 1) for code in counts.codes])
    same = sp.estimate(sp.SubsetCounts(moved, counts.counts, U4))
    one = drawn()
    for other in (one.difference(sp.estimate(counts)), one.difference(same)):
        assert list(other.categories) == list("abcd")
    turned, straight = one.difference(sp.estimate(counts)), one.difference(same)
    assert turned.estimate == pytest.approx(straight.estimate, abs=1e-6)
    assert turned.interval() == pytest.approx(straight.interval(), abs=2e-5)
    assert turned.cov == pytest.approx(straight.cov, abs=1e-6)
    assert turned.test.statistic == pytest.approx(straight.test.statistic, rel=1e-5)


def test_standard_errors_by_hand():
    one, two = drawn(), drawn(n=200, seed=2)
    result = one.difference(two)
    assert result.se == pytest.approx(np.sqrt(one.se**2 + two.se**2))
    assert result.cov == pytest.approx(one.cov + two.cov)
    assert result.interval(0.9, method="wald") == pytest.approx(
        np.column_stack([result.estimate - 1.6448536 * result.se, result.estimate + 1.6448536 * result.se])
    )


def test_the_score_test_of_all_is_near_the_likelihood_ratio():
    one, two = sp.simulate(U4, W, 2000, seed=1), sp.simulate(lopsided(), [0.15, 0.2, 0.3, 0.35], 3000, seed=2)
    result = sp.estimate(one).difference(sp.estimate(two)).test
    apart = sp.estimate(one).loglik + sp.estimate(two).loglik
    together = sp.estimate(one + two).loglik
    assert result.df == 3
    assert result.statistic == pytest.approx(2 * (apart - together), rel=0.02)
    assert result.pvalue == pytest.approx(chi2.sf(result.statistic, 3))


def test_ten_thousand_million_people_keep_their_digits():
    one, two = (sp.simulate(U4, W, 10**6, seed=seed) for seed in (1, 2))
    small = sp.estimate(one).difference(sp.estimate(two))
    many = [sp.estimate(sp.SubsetCounts(each.codes, each.counts * 10**4, U4)) for each in (one, two)]
    large = many[0].difference(many[1])
    for method in ("score", "profile", "wald"):
        ratio = (large.interval(method=method) - large.estimate[:, None]) / (
            small.interval(method=method) - small.estimate[:, None]
        )
        assert ratio == pytest.approx(np.full((4, 2), 0.01), rel=1e-3)
    assert large.test.statistic == pytest.approx(1e4 * small.test.statistic, rel=1e-6)
    assert (large.pvalues() < 1e-100).all()


# Weighted people and moments --------------------------------------------------------------------------


def test_weights_that_are_all_the_same_change_nothing():
    counts = sp.simulate(U4, W, 500, seed=1)
    threefold = sp.estimate(sp.SubsetCounts(counts.codes, 3.0 * counts.counts, U4, squares=9.0 * counts.counts))
    other = drawn(n=200, seed=2)
    plain, weighted = sp.estimate(counts).difference(other), threefold.difference(other)
    assert weighted.interval() == pytest.approx(plain.interval(), abs=1e-3)
    assert weighted.pvalues() == pytest.approx(plain.pvalues(), abs=1e-3)
    assert weighted.test.statistic == pytest.approx(plain.test.statistic, rel=0.01)


def test_unequal_weights_widen_the_intervals():
    counts = sp.simulate(U4, W, 500, seed=1)
    n = counts.counts / 2
    unequal = sp.estimate(sp.SubsetCounts(counts.codes, n * 1 + n * 4, U4, squares=n * 1 + n * 16))
    other = drawn(n=5000, seed=2)
    widths = [np.diff(fit.difference(other).interval())[:, 0] for fit in (sp.estimate(counts), unequal)]
    assert (widths[1] > 1.05 * widths[0]).all()


def test_moments_have_walds_difference():
    moments, other = sp.estimate(sp.simulate(U4, W, 300, seed=1), "mom"), drawn(n=200, seed=2)
    result = moments.difference(other)
    assert result.to_dict()["method"] == "wald"
    assert result.test.method == "wald"
    assert result.interval() == pytest.approx(result.interval(method="wald"))
    D, V = result.estimate, result.cov
    assert result.test.statistic == pytest.approx(D[:3] @ np.linalg.solve(V[:3, :3], D[:3]), rel=1e-6)
    assert result.test.df == 3
    with refused(ArgumentError, "method") as caught:
        result.interval(method="score")
    assert caught.value.advice.advice is CONTRAST_BY_WALD


def test_too_many_categories_for_a_matrix():
    design = sp.hadamard(range(5000))
    one, two = (sp.estimate(sp.simulate(design, np.full(5000, 1 / 5000), 3000, seed=k), "mom") for k in (1, 2))
    result = one.difference(two)
    assert repr(result).startswith("<Difference first minus second")
    assert result.test.df == 0
    assert "No test of all differences together: too many categories." in str(result.summary())
    assert np.isfinite(result.interval()).all()
    together = result.interval(0.9, simultaneous=True)
    assert np.diff(together)[0, 0] == pytest.approx(2 * norm.isf(0.05 / 5000) * result.se[0])
    compared = sp.compare({"one": one, "two": two})
    assert "No test of all together: too many categories." in str(compared.summary())


# The same people ----------------------------------------------------------------------------------------


def test_two_answers_of_the_same_people_against_certified_maxima():
    joint = sp.product({"before": sp.uniform(range(4)), "after": sp.uniform(range(4))})
    w = np.full((4, 4), 0.02) + np.diag([0.2, 0.2, 0.2, 0.08])
    fit = sp.estimate(sp.simulate(joint, w.ravel() / w.sum(), 800, seed=4))
    result = fit.margin("after").difference(fit.margin("before"))
    assert result.is_paired
    assert result.estimate == pytest.approx(fit.table().sum(axis=0) - fit.table().sum(axis=1))
    sample = Sample(fit.counts)
    for k, null in ((0, 0.0), (3, 0.1)):
        c = np.tile(np.eye(4)[k], 4) - np.repeat(np.eye(4)[k], 4)
        root, score = root_and_score([sample], [c], null)
        for method, z in (("profile", root), ("score", score)):
            pvalue = result.pvalues(null=null, alternative="greater", method=method)[k]
            assert norm.isf(pvalue) == pytest.approx(z, rel=1e-2, abs=5e-3)
        with quietly():
            assert result.se[k] == pytest.approx(fit.contrast(c, method="wald").se)


def test_two_yes_no_answers_seen_directly_have_mcnemars_statistic():
    design = sp.nonprivate(["no", "yes"])
    table = np.array([[40, 12], [25, 23]])
    people = np.repeat([(i, j) for i in (0, 1) for j in (0, 1)], table.ravel(), axis=0)
    with quietly():
        columns = [sp.privatize(np.array(["no", "yes"])[column], design, seed=1) for column in people.T]
    fit = sp.estimate(sp.crosstab(*columns, names=("x", "y")))
    assert fit.w == pytest.approx(table.ravel() / 100)
    result = fit.margin("x").difference(fit.margin("y"))
    assert result.estimate == pytest.approx([-0.13, 0.13])
    assert norm.isf(result.pvalues() / 2) == pytest.approx(np.full(2, 13 / np.sqrt(37)), abs=1e-5)


def test_the_advice_about_the_same_people_works():
    before, after = (sp.privatize(list("abcd") * 50, U4, seed=seed) for seed in (1, 2))
    one, two = sp.estimate(before), sp.estimate(after)
    with pytest.raises(MismatchError) as caught:
        one.difference(two, same_people=True)
    assert caught.value.advice.advice is JOINT_WAVES
    names = {"sp": sp, "first": before, "second": after}
    joint, rest = str(caught.value).partition("together: ")[2].split(", then ")
    exec(joint, names)
    with quietly():
        result = eval(rest.rstrip("."), names)
    assert result.is_paired


# Refusals -----------------------------------------------------------------------------------------------


def test_what_cannot_be_subtracted():
    fit, other = drawn(), drawn(sp.uniform(list("abce")), seed=2)
    with pytest.raises(MismatchError) as caught:
        fit.difference(other)
    assert caught.value.advice.advice is COLLAPSE_FIRST
    with refused(MismatchError, "other"):
        fit.difference(fit)
    with refused(MismatchError, "other"):
        fit.difference(sp.estimate(fit.counts, "em"))
    for wrong in (fit.counts, None, [0.1, 0.2, 0.3, 0.4]):
        with refused(ArgumentError, "other"):
            fit.difference(wrong)
    for names in ("ab", ("a", "b", "c"), 5):
        with refused(ArgumentError, "names"):
            fit.difference(drawn(seed=3), names=names)


def test_questions_out_of_range():
    result = drawn().difference(drawn(seed=2))
    with refused(ArgumentError, "null"):
        result.pvalues(null=2)
    with refused(ArgumentError, "method"):
        result.interval(method="adjusted")
    with refused(ArgumentError, "level"):
        result.interval(95)
    with refused(ArgumentError, "alternative"):
        result.pvalues(alternative="more")


# Output -------------------------------------------------------------------------------------------------


def test_tables_and_frames_have_the_same_numbers():
    result = drawn().difference(drawn(seed=2, n=200), names=("2025", "2024"))
    frame = result.to_frame(0.9)
    assert list(frame.columns) == ["category", "estimate", "se", "lower", "upper", "level", "pvalue"]
    assert frame[["lower", "upper"]].to_numpy() == pytest.approx(result.interval(0.9))
    assert frame["pvalue"].to_numpy() == pytest.approx(result.pvalues())
    table = result.summary(0.9)
    assert table.title == "Difference of shares, 2025 minus 2024: n = 300 and n = 200"
    assert table.rows[0][1] == f"{result.estimate[0]:.4f}"
    assert "lower 90%" in table.columns
    assert result.n == (300, 200)
    kinds = [note.kind for note in table.notes]
    assert kinds[:2] == [NoteKind.NULL_LAW, NoteKind.INTERVAL_METHOD]
    assert f"chi-square {result.test.statistic:.2f}, df 3" in table.notes[0].text
    together = result.summary(simultaneous=True)
    assert NoteKind.SIMULTANEOUS in [note.kind for note in together.notes]


def test_notes_say_which_sample_they_are_about():
    with quietly():
        rare = drawn(w=[0.97, 0.01, 0.01, 0.01], n=60, seed=3)
        result = drawn().difference(rare, names=("first", "rare"))
    assert [note.kind for note in result.notes] == [note.kind for note in rare.notes]
    assert all(note.text.startswith("rare: ") for note in result.notes)
    assert result.notes


def test_only_standard_errors_warn():
    with quietly():
        few = drawn(n=12, seed=3)
    result = drawn().difference(few)
    assert few._caveats
    result.interval()
    result.pvalues()
    result.summary()
    for ask in (lambda: result.se, lambda: result.cov, lambda: result.interval(method="wald")):
        with pytest.warns((SmallCountWarning, sp.errors.BoundaryWarning)) as caught:
            ask()
        assert caught[0].filename == __file__


def test_a_joint_distribution_of_two_samples():
    joint = sp.product({"x": sp.uniform(range(4)), "y": sp.warner(range(2))})
    one, two = (sp.estimate(sp.simulate(joint, rising(8), 900, seed=seed)) for seed in (1, 2))
    whole, margin = one.difference(two), one.margin("x").difference(two.margin("x"))
    assert margin.estimate == pytest.approx(whole.estimate.reshape(4, 2).sum(axis=1))
    assert not margin.is_paired
    assert margin.test.df == 3
    c = np.repeat(np.eye(4)[1], 2)
    root, score = root_and_score([Sample(one.counts), Sample(two.counts)], [c, -c], 0.05)
    for method, z in (("profile", root), ("score", score)):
        pvalue = margin.pvalues(null=0.05, alternative="greater", method=method)[1]
        assert norm.isf(pvalue) == pytest.approx(z, rel=1e-2, abs=5e-3)


# Small samples --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(5, 5), (300, 5), (12, 30)])
def test_few_people_against_certified_maxima(sizes):
    # Few distinct subsets leave shares undetermined, and the profile has straight parts.
    for seed in (3, 4):
        with quietly():
            one, two = drawn(n=sizes[0], seed=seed), drawn(n=sizes[1], seed=100 + seed)
        result = one.difference(two)
        samples = [Sample(one.counts), Sample(two.counts)]
        for k, null in ((3, 0.3), (1, -0.6), (0, 0.8)):
            c = np.eye(4)[k]
            at, _ = best(samples, ([c, -c], null))
            root = np.sqrt(2 * max(best(samples)[0] - at, 0.0))
            assert norm.isf(result.pvalues(null=null, method="profile")[k] / 2) == pytest.approx(
                root, rel=5e-3, abs=2e-3
            )


def test_five_people_have_an_interval_soon(monkeypatch):
    # Steep profiles once took a search within a search: a minute for five people.
    calls = []
    fit = linear_profile.LinearProfile._fit
    monkeypatch.setattr(linear_profile.LinearProfile, "_fit", lambda self, b, v: (calls.append(1), fit(self, b, v))[1])
    with quietly():
        result = drawn().difference(drawn(n=5, seed=4)).interval()
    assert (np.diff(result) > 0.3).all()
    assert len(calls) < 20_000


def test_an_interval_is_never_a_point():
    widths = []
    for one, two in zip(*(sp.simulate_many(U4, [0.9, 0.1, 0, 0], 200, 8, seed=seed) for seed in (1, 2)), strict=True):
        result = sp.estimate(one).difference(sp.estimate(two))
        low, high = _accepted_range(result._profiles[3], 1.96, score=True)
        assert low <= result.estimate[3] <= high
        widths.append(high - low)
    assert min(widths) > 0.02
