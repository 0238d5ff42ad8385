"""Differences, ratios and V from subsets, against derivatives and optimizers that know nothing of them."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, GIVEN3, TRIPLE, WARNER
from oracles import range_of
from problems import quietly, rising
from scipy import stats
from scipy.optimize import nnls
from scipy.special import softmax

import subsetprivacy as sp
from subsetprivacy.measures import association
from subsetprivacy.measures.scales import DifferenceScale, OddsRatioScale, RatioScale
from subsetprivacy.measures.shares import Share
from subsetprivacy.messages import NoteKind

BOTH = sp.product({"x": ASKED, "y": GIVEN3})
W = (np.outer([1, 2, 3, 4], [5, 3, 2]) + 12 * np.eye(4, 3)).ravel() / 136
COUNTS = sp.simulate(BOTH, W, 100_000, seed=1)
FOUND = association(COUNTS)
THREE = sp.simulate(TRIPLE, rising(24), 400_000, seed=2)


def share(w, shape, i, j):
    table = w.reshape(shape)
    return table[i, j].sum() / table[i].sum()


def odds(w, shape, i, c, d):
    table = w.reshape(shape)
    return np.log(table[i, c].sum() / table[i, d].sum())


def v(w, shape):
    table = w.reshape(*shape[:2], -1).sum(axis=2)
    e = np.outer(table.sum(axis=1), table.sum(axis=0))
    return np.sqrt(((table - e) ** 2 / e).sum() / (min(shape[:2]) - 1))


def numeric_error(function, fit, step=1e-6):
    """Return the standard error of a function of the joint shares, its gradient taken by differences."""
    eye = step * np.eye(len(fit.w))
    g = np.array([(function(fit.w + e) - function(fit.w - e)) / (2 * step) for e in eye])
    return np.sqrt(g @ fit._cov @ g)


@every_case("method", ["mle", "mom", "em"])
def test_delta_errors_are_those_of_numeric_derivatives(method):
    fit = sp.estimate(COUNTS, method)
    result, shape = association(fit), (4, 3)
    difference = result.difference("z", ("d", "b"))
    assert difference.value == pytest.approx(share(fit.w, shape, 3, 2) - share(fit.w, shape, 1, 2))
    error = numeric_error(lambda w: share(w, shape, 3, 2) - share(w, shape, 1, 2), fit)
    assert difference.se == pytest.approx(error, rel=1e-5)
    ratio = result.risk_ratio("z", ("d", "b"), method="delta")
    error = numeric_error(lambda w: np.log(share(w, shape, 3, 2) / share(w, shape, 1, 2)), fit)
    assert ratio.se / ratio.value == pytest.approx(error, rel=1e-5)
    assert np.log(ratio.upper / ratio.lower) == pytest.approx(2 * 1.959964 * error, rel=1e-5)
    measure = result.odds_ratio(("a", "c"), ("z", "y"))
    error = numeric_error(lambda w: odds(w, shape, 0, 2, 1) - odds(w, shape, 2, 2, 1), fit)
    assert np.log(measure.value) == pytest.approx(odds(fit.w, shape, 0, 2, 1) - odds(fit.w, shape, 2, 2, 1))
    assert measure.se / measure.value == pytest.approx(error, rel=1e-5)
    assert result.conditional().se[2, 1] == pytest.approx(numeric_error(lambda w: share(w, shape, 2, 1), fit), rel=1e-5)
    strength = result.cramers_v()
    if method in {"mle", "em"}:  # elsewhere the shares do not sum to one, where V has two readings
        assert strength.value == pytest.approx(v(fit.w, shape))
        assert strength.se == pytest.approx(numeric_error(lambda w: v(w, shape), fit), rel=1e-4)


def test_conditioning_on_the_other_variable():
    swapped = association(FOUND.fit, "y", "x")
    assert swapped.table == pytest.approx(FOUND.table.T)
    one, two = FOUND.difference("b", ("z", "x"), given="y"), swapped.difference("b", ("z", "x"))
    assert one == two
    assert one.value == pytest.approx(FOUND.table[1, 2] / FOUND.columns.w[2] - FOUND.table[1, 0] / FOUND.columns.w[0])
    assert one.name == "difference of P(x = b) between y = z and y = x"
    assert swapped.cramers_v().value == pytest.approx(FOUND.cramers_v().value)
    assert swapped.odds_ratio(("x", "z"), ("a", "d")).value == pytest.approx(
        FOUND.odds_ratio(("a", "d"), ("x", "z")).value
    )


def test_the_bias_of_v_sums_the_variances_of_the_differences_to_independence():
    fit, shape = FOUND.fit, (4, 3)
    total = 0.0
    for i, j in np.ndindex(shape):

        def away(w, i=i, j=j):
            table = w.reshape(shape)
            return table[i, j] - table[i].sum() * table[:, j].sum()

        total += numeric_error(away, fit) ** 2 / (FOUND.rows.w[i] * FOUND.columns.w[j])
    raw, less = FOUND.cramers_v(), FOUND.cramers_v(corrected=True)
    assert raw.value**2 - less.value**2 == pytest.approx(total / 2, rel=1e-6)
    assert (raw.lower, raw.upper) == (less.lower, less.upper)
    x, df = (raw.value / raw.se) ** 2, total / 2 / raw.se**2
    for end, p in ((raw.lower, 0.975), (raw.upper, 0.025)):  # the definition of the interval
        assert stats.ncx2.cdf(x, df, (end / raw.se) ** 2) == pytest.approx(p, rel=1e-6)


def by_optimisation(counts, fit, measure, level=0.95):
    """Return the range of a measure over the distributions that the likelihood ratio does not reject."""
    rows = counts.incidence.inner(np.eye(len(fit.w))).T
    drop = stats.chi2.ppf(level, 1) / 2

    spread = np.sqrt(np.diag(fit._cov)) / fit.w  # so that the optimizer's steps are of the size of the errors

    def shares(z):
        return softmax(np.log(fit.w) + spread * z)

    def loglik(z):
        return counts.n_a @ np.log(rows @ shares(z))

    starts = np.random.default_rng(1).normal(size=(3, len(fit.w))) / 2
    return range_of(lambda z: measure(shares(z)), loglik, loglik(0 * starts[0]) - drop, starts)


def test_profile_intervals_under_a_lopsided_design():
    fit, shape = FOUND.fit, (4, 3)
    result = FOUND.difference("z", ("d", "b"), method="profile")
    ends = by_optimisation(COUNTS, fit, lambda w: share(w, shape, 3, 2) - share(w, shape, 1, 2))
    assert (result.lower, result.upper) == pytest.approx(tuple(ends), abs=2e-5)
    result = FOUND.risk_ratio("z", ("d", "b"), method="profile")
    ends = by_optimisation(COUNTS, fit, lambda w: np.log(share(w, shape, 3, 2) / share(w, shape, 1, 2)))
    assert np.log((result.lower, result.upper)) == pytest.approx(ends, abs=1e-4)
    result = FOUND.odds_ratio(("a", "c"), ("z", "y"), method="profile")
    ends = by_optimisation(COUNTS, fit, lambda w: odds(w, shape, 0, 2, 1) - odds(w, shape, 2, 2, 1))
    assert np.log((result.lower, result.upper)) == pytest.approx(ends, abs=1e-4)


def test_profile_intervals_widen_with_the_level_and_hold_the_estimate():
    few, many = (FOUND.odds_ratio(("a", "c"), ("x", "y"), level=level, method="profile") for level in (0.5, 0.99))
    assert many.lower < few.lower < few.value < few.upper < many.upper


def test_an_estimate_by_em_has_the_same_profile():
    by_em = association(sp.estimate(COUNTS, "em", tol=1e-10)).difference("y", ("a", "b"), method="profile")
    by_newton = FOUND.difference("y", ("a", "b"), method="profile")
    assert (by_em.lower, by_em.upper) == pytest.approx((by_newton.lower, by_newton.upper), abs=1e-7)


class TestThreeVariables:
    """Shares of a margin, in the likelihood of more variables."""

    def test_delta(self):
        fit = sp.estimate(THREE)
        result = association(fit, "z", "x")
        w = fit.w.reshape(4, 3, 2).sum(axis=1).T
        assert result.table == pytest.approx(w)
        measure = result.difference("c", ("no", "yes"))
        assert measure.value == pytest.approx(w[0, 2] / w[0].sum() - w[1, 2] / w[1].sum())

        def difference(v):
            table = v.reshape(4, 3, 2).sum(axis=1).T
            return table[0, 2] / table[0].sum() - table[1, 2] / table[1].sum()

        assert measure.se == pytest.approx(numeric_error(difference, fit), rel=1e-5)
        assert association(fit, "x", "y").cramers_v().se == pytest.approx(
            numeric_error(lambda u: v(u, (4, 3, 2)), fit), rel=1e-4
        )

    @pytest.mark.slow
    def test_profile(self):
        fit = sp.estimate(THREE)
        result = association(fit, "x", "y").odds_ratio(("d", "c"), ("x", "z"), method="profile")
        ends = by_optimisation(THREE, fit, lambda w: odds(w, (4, 3, 2), 3, 0, 2) - odds(w, (4, 3, 2), 2, 0, 2))
        assert np.log((result.lower, result.upper)) == pytest.approx(ends, abs=2e-4)


def test_the_columns_of_a_fixed_share_span_all_distributions_that_have_it():
    part, rest = np.array([1, 4]), np.array([0, 3, 5])
    fixed = Share(part, rest).fixed(0.3, 7)
    assert fixed.shape == (7, 6)
    assert fixed.sum(axis=0) == pytest.approx(np.ones(6))
    chance = np.random.default_rng(1)
    for _ in range(5):
        w = np.zeros(7)
        w[part], w[rest] = 0.3 * chance.dirichlet([1, 1]), 0.7 * chance.dirichlet([1, 1, 1])
        assert nnls(fixed, w)[1] < 1e-12
        u = chance.dirichlet(np.ones(6))
        assert Share(part, rest).of(fixed @ u) == pytest.approx(0.3)


def test_weak_association_reaches_zero():
    pair = sp.product({"x": WARNER, "y": sp.warner(["n", "m"], 0.2)})
    result = association(sp.simulate(pair, [0.42, 0.28, 0.18, 0.12], 2000, seed=5))
    measure = result.cramers_v()
    assert measure.lower == 0
    assert measure.upper > measure.value > 0
    assert measure.notes[0].kind is NoteKind.NO_STANDARD_ERRORS
    zero = result.odds_ratio()
    assert zero.lower < 1 < zero.upper
    assert zero.pvalue > 0.05


def test_a_moment_estimate_outside_the_simplex_has_no_ratios():
    pair = sp.product({"x": ASKED, "y": GIVEN3})
    truth = np.r_[0.0, 0.3, 0.1, np.full(9, 0.6 / 9)]
    fit = sp.estimate(sp.simulate(pair, truth, 2000, seed=1), "mom")
    assert fit.w[0] < 0
    with quietly():
        result = association(fit)
        ratio = result.odds_ratio(("a", "b"), ("x", "y"))
        assert np.isnan(ratio.value)
        assert ratio.notes[0].kind is NoteKind.NO_ESTIMATE
        assert "left the simplex" in ratio.notes[0].text
        assert result.difference("x", ("a", "b")).value == pytest.approx(
            result.table[0, 0] / result.rows.w[0] - result.table[1, 0] / result.rows.w[1]
        )
        assert association(fit.projected()).odds_ratio(("a", "b"), ("x", "y")).value == 0


def test_weighted_people_have_delta_intervals():
    once = association(sp.simulate(BOTH, W, 5000, seed=1))
    counts = once.fit.counts
    doubled = sp.SubsetCounts(counts.codes, 2.0 * counts.counts, BOTH, squares=4.0 * counts.counts)
    with quietly():
        weighted = association(doubled)
        measure = weighted.difference("x", ("a", "b"))
        assert measure.se == pytest.approx(once.difference("x", ("a", "b")).se, rel=1e-6)
    assert weighted.n == once.n < 5000  # some gave the full set of y, which says nothing
    with pytest.raises(sp.errors.ArgumentError, match="got sampling weights") as caught:
        weighted.difference("x", ("a", "b"), method="profile")
    assert caught.value.advice.name == "method_delta"


def test_moments_have_no_profile():
    result = association(sp.estimate(COUNTS, "mom"))
    with pytest.raises(sp.errors.ArgumentError, match="got an estimate by mom") as caught:
        result.odds_ratio(("a", "b"), ("x", "y"), method="profile")
    assert caught.value.advice.name == "likelihood_or_delta"


def test_too_many_free_directions_are_refused():
    many = sp.product({"x": sp.uniform(range(4)), "y": sp.uniform(range(4)), "z": sp.uniform(range(14))})
    with quietly():
        result = association(sp.estimate(sp.simulate(many, np.full(224, 1 / 224), 3000, seed=1)), "x", "y")
        with pytest.raises(sp.errors.TooLargeError):
            result.difference(0, (0, 1), method="profile")


def test_people_under_a_covered_design_are_counted_without_dummies():
    cover = sp.covered(sp.product({"x": ASKED, "y": sp.uniform(list("rstu"))}), 0.1)
    result = association(sp.simulate(cover, rising(16), 3000, seed=3))
    assert result.n == pytest.approx(3000)
    assert result.counts.sum() == pytest.approx(3000)


def test_the_default_interval_is_the_profile_where_there_is_one():
    large = sp.product({"x": sp.hadamard(range(11)), "y": sp.hadamard(range(6))})  # 66 joint categories
    counts = FOUND.fit.counts
    weighted = sp.SubsetCounts(counts.codes, counts.counts, BOTH, squares=1.5 * counts.counts)
    with quietly():
        others = [
            association(weighted),
            association(sp.estimate(counts, "mom")),
            association(sp.simulate(large, np.full(66, 1 / 66), 5000, seed=1)),
        ]
        for result, method in [(FOUND, "profile"), *((other, "delta") for other in others)]:
            first, second = (part.labels[:2] for part in result.pair.categories.parts)
            assert result.difference(second[0], first) == result.difference(second[0], first, method=method)
            assert result.risk_ratio(second[0], first) == result.risk_ratio(second[0], first, method=method)
            assert result.odds_ratio(first, second) == result.odds_ratio(first, second, method=method)


def test_conditional_shares_have_the_values_that_the_score_test_keeps():
    """Each end of an interval is rejected at exactly the level, as a contrast whose true value is 0."""
    given = FOUND.conditional("y")
    bounds = given.interval(0.9)
    assert bounds != pytest.approx(given.interval(0.9, method="wald"), abs=1e-5)
    for i, j in ((0, 0), (2, 3)):
        for v in bounds[i, j]:
            weights = np.zeros((4, 3))
            weights[:, i] = -v
            weights[j, i] += 1
            assert FOUND.fit.contrast(weights.ravel(), method="score").pvalue == pytest.approx(0.1, abs=1e-4)


def test_a_conditional_share_of_zero():
    """Its interval starts at 0, and no value is rejected only because the estimate cannot be negative."""
    samples = sp.simulate_many(BOTH, np.r_[0.0, 0.2, 0.1, np.full(9, 0.7 / 9)], 1000, 20, seed=8)
    with quietly():
        result = next(found for found in map(association, samples) if found.table[0, 0] < 1e-9)
        lower, upper = result.conditional().interval()[0, 0]
    assert lower == 0
    assert 0.02 < upper < 0.5


@pytest.mark.parametrize("kind", [DifferenceScale, RatioScale, OddsRatioScale])
def test_points_of_a_curve_have_the_value_and_differ(kind):
    chance = np.random.default_rng(4)
    for x, y in chance.uniform(0.02, 0.98, (50, 2)):
        for v in chance.uniform(-0.9, 0.9, 5):
            points = np.array([kind(x, y).point(s, v) for s in np.linspace(0, 1, 9)])
            assert ((points >= 0) & (points <= 1)).all()
            for at in points:
                if at.min() > 0 and at.max() < 1:
                    assert kind(*at).estimate == pytest.approx(v, abs=1e-9)
            moves = np.abs(np.diff(points, axis=0)).max(axis=1)
            assert (moves > 0).all() or moves.max() < 1e-12


def test_a_difference_whose_curve_starts_at_the_edge_of_the_square():
    """The search along this curve once found a stretch of equal points next to the maximum, and raised an error."""
    design = sp.product({"x": sp.uniform(range(4)), "y": sp.uniform(range(4))})
    counts = list(sp.simulate_many(design, np.full(16, 1 / 16), 400, 368, seed=1))[-1]
    with quietly():
        measure = association(counts).difference(0, (0, 3))
    assert -1 < measure.lower < measure.value < measure.upper < 1


def test_tiny_samples_have_intervals_that_contain_the_estimates():
    design = sp.product({"x": sp.uniform(range(4)), "y": sp.uniform(range(4))})
    with quietly():
        for n in (2, 3, 5):
            for counts in sp.simulate_many(design, np.full(16, 1 / 16), n, 8, seed=2):
                result = association(counts)
                given = result.conditional()
                lower, upper = np.moveaxis(given.interval(), -1, 0)
                known = ~np.isnan(given.table)
                assert (lower[known] <= given.table[known] + 1e-7).all()
                assert (given.table[known] - 1e-7 <= upper[known]).all()
                assert 0 <= result.cramers_v().lower <= result.cramers_v().upper <= 1
                for measure in (result.difference(0, (0, 1)), result.odds_ratio((0, 1), (0, 1))):
                    assert not measure.lower > measure.upper
