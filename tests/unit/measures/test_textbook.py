"""Asked directly, everything is what the textbooks say."""

import numpy as np
import pytest
from oracles import range_of
from problems import exact_counts, quietly
from scipy import stats
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import contingency

import subsetprivacy as sp
from subsetprivacy.measures import association
from subsetprivacy.measures.cramer import bias_of_phi
from subsetprivacy.messages import Note, NoteKind

NAMES = ("sex", "view")
SMALL = np.array([[31, 7], [12, 24]])
LARGE = 10 * np.array([[40, 11, 5, 9], [8, 23, 17, 6], [3, 14, 31, 28]])


def counts_of(people, labels=(("f", "m", "x"), ("no", "so", "yes", "never"))):
    """Return counts of people who told their values."""
    p, q = people.shape
    naked = sp.product({"sex": sp.nonprivate(labels[0][:p]), "view": sp.nonprivate(labels[1][:q])})
    return exact_counts(naked, people.ravel() / people.sum(), people.sum())


TWO, MANY = association(counts_of(SMALL)), association(counts_of(LARGE))


def multinomial_cov(people):
    w = people.ravel() / people.sum()
    return (np.diag(w) - np.outer(w, w)) / people.sum()


def numeric_gradient(function, w, step=1e-6):
    out = np.empty(len(w))
    for k in range(len(w)):
        e = np.zeros(len(w))
        e[k] = step
        out[k] = (function(w + e) - function(w - e)) / (2 * step)
    return out


def test_table_margins_and_expected_counts():
    assert MANY.names == NAMES
    assert MANY.n == LARGE.sum()
    assert MANY.counts == pytest.approx(LARGE)
    assert MANY.table == pytest.approx(LARGE / LARGE.sum())
    assert MANY.rows.w == pytest.approx(LARGE.sum(axis=1) / LARGE.sum())
    assert MANY.columns.w == pytest.approx(LARGE.sum(axis=0) / LARGE.sum())
    assert MANY.expected == pytest.approx(contingency.expected_freq(LARGE))


def test_conditional_shares_have_binomial_errors():
    share = LARGE / LARGE.sum(axis=1, keepdims=True)
    given = MANY.conditional()
    assert given.table == pytest.approx(share)
    assert given.se == pytest.approx(np.sqrt(share * (1 - share) / LARGE.sum(axis=1, keepdims=True)))
    bounds = given.interval(0.9, method="wald")
    assert bounds.shape == (3, 4, 2)
    assert bounds[0, 2, 0] == pytest.approx(max(share[0, 2] - 1.6448536 * given.se[0, 2], 0))
    assert bounds[1, 1, 1] == pytest.approx(share[1, 1] + 1.6448536 * given.se[1, 1])
    for i, j in np.ndindex(LARGE.shape):
        wilson = stats.binomtest(int(LARGE[i, j]), int(LARGE[i].sum())).proportion_ci(0.9, method="wilson")
        assert given.interval(0.9)[i, j] == pytest.approx((wilson.low, wilson.high), abs=1e-6)
    other = MANY.conditional(given="view")
    assert other.table == pytest.approx((LARGE / LARGE.sum(axis=0)).T)
    assert (other.given, other.of) == ("view", "sex")


def test_residuals_are_differences_in_standard_errors():
    w = LARGE.ravel() / LARGE.sum()
    cov = multinomial_cov(LARGE)
    for i, j in np.ndindex(LARGE.shape):

        def away(v, i=i, j=j):
            W = v.reshape(LARGE.shape)
            return W[i, j] - W[i].sum() * W[:, j].sum()

        g = numeric_gradient(away, w)
        assert MANY.residuals[i, j] == pytest.approx(away(w) / np.sqrt(g @ cov @ g), rel=1e-6)


def test_differences_are_walds():
    measure = TWO.difference("no", ("f", "m"), method="delta")
    x, y = 31 / 38, 12 / 36
    se = np.sqrt(x * (1 - x) / 38 + y * (1 - y) / 36)
    assert measure.value == pytest.approx(x - y)
    assert measure.se == pytest.approx(se)
    assert (measure.lower, measure.upper) == pytest.approx((x - y - 1.959964 * se, x - y + 1.959964 * se))
    assert measure.pvalue == pytest.approx(2 * stats.norm.sf((x - y) / se))
    backwards = TWO.difference("no", ("m", "f"), method="delta")
    assert (backwards.value, backwards.upper) == pytest.approx((-measure.value, -measure.lower))
    across = TWO.difference("f", ("so", "no"), given="view")
    assert across.value == pytest.approx(7 / 31 - 31 / 43)


def test_odds_ratios_are_those_of_scipy():
    known = contingency.odds_ratio(SMALL, kind="sample")
    measure = TWO.odds_ratio(level=0.9, method="delta")
    interval = known.confidence_interval(0.9)
    assert measure.value == pytest.approx(known.statistic)
    assert (measure.lower, measure.upper) == pytest.approx((interval.low, interval.high))
    assert measure.se / measure.value == pytest.approx(np.sqrt((1 / SMALL).sum()))
    assert measure.null == 1
    corner = LARGE[np.ix_([2, 0], [1, 3])]
    assert MANY.odds_ratio(("x", "f"), ("so", "never")).value == pytest.approx(
        corner[0, 0] * corner[1, 1] / corner[0, 1] / corner[1, 0]
    )
    named = MANY.odds_ratio(("x", "f"), ("so", "never"))
    assert named.se / named.value == pytest.approx(np.sqrt((1 / corner).sum()))


def test_risk_ratios_are_those_of_scipy():
    known = contingency.relative_risk(31, 38, 12, 36)
    measure = TWO.risk_ratio("no", level=0.99, method="delta")
    assert measure.value == pytest.approx(known.relative_risk)
    interval = known.confidence_interval(0.99)
    assert (measure.lower, measure.upper) == pytest.approx((interval.low, interval.high))


def test_cramers_v_is_that_of_scipy():
    for people, result in ((SMALL, TWO), (LARGE, MANY)):
        measure = result.cramers_v()
        assert measure.value == pytest.approx(contingency.association(people, method="cramer"))

        def v(w, shape=people.shape):
            W = w.reshape(shape)
            e = np.outer(W.sum(axis=1), W.sum(axis=0))
            return np.sqrt(((W - e) ** 2 / e).sum() / (min(shape) - 1))

        g = numeric_gradient(v, people.ravel() / people.sum())
        assert measure.se == pytest.approx(np.sqrt(g @ multinomial_cov(people) @ g), rel=1e-6)


def test_the_bias_of_v_is_bergsmas():
    people = np.outer([20, 50, 30], [10, 60, 20, 10])  # independent, exactly
    result = association(counts_of(people))
    assert bias_of_phi(result.pair) == pytest.approx(2 * 3 / people.sum())
    assert result.cramers_v(corrected=True).value == 0
    excess = contingency.association(LARGE, method="cramer") ** 2 - MANY.cramers_v(corrected=True).value ** 2
    # Near (p-1)(q-1)/n, which holds under independence.
    assert excess == pytest.approx(6 / LARGE.sum() / 2, rel=0.25)


def test_the_interval_of_v_is_that_of_the_noncentral_chi_square():
    """Without privacy and near independence it is Smithson's, from Pearson's statistic."""
    people = 1000 * np.outer([20, 50, 30], [10, 60, 20, 10])
    for shift in (1000, 3000, 10_000):
        table = people.copy()
        table[:2, :2] += shift * np.array([[1, -1], [-1, 1]])
        measure = association(counts_of(table)).cramers_v(level=0.9)
        x, n = stats.chi2_contingency(table, correction=False).statistic, table.sum()
        assert stats.ncx2.cdf(x, 6, 2 * n * measure.upper**2) == pytest.approx(0.05, abs=0.01)
        if measure.lower:
            assert stats.ncx2.cdf(x, 6, 2 * n * measure.lower**2) == pytest.approx(0.95, abs=0.01)
        assert (measure.lower == 0) == (stats.chi2.cdf(x, 6) < 0.95)


def test_the_interval_of_v_always_has_a_length():
    people = np.outer([20, 50, 30], [10, 60, 20, 10])  # independent, exactly
    measure = association(counts_of(people)).cramers_v()
    assert (measure.value, measure.lower) == (pytest.approx(0, abs=1e-9), 0)
    # As for a statistic at its lower 5% point.
    assert stats.ncx2.cdf(stats.chi2.ppf(0.05, 6), 6, 2 * people.sum() * measure.upper**2) == pytest.approx(0.025)


MEASURES = {
    "difference": lambda W: W[0, 0] / W[0].sum() - W[1, 0] / W[1].sum(),
    "ratio": lambda W: np.log(W[0, 0] / W[0].sum()) - np.log(W[1, 0] / W[1].sum()),
    "odds": lambda W: np.log(W[0, 0] * W[1, 1] / W[0, 1] / W[1, 0]),
}


def by_optimisation(people, measure, level):
    """Return the range of a measure over all tables that the likelihood ratio does not reject: nothing of ours."""
    n, hat = people.ravel(), people.ravel() / people.sum()
    drop = stats.chi2.ppf(level, 1) / 2

    def table(t):
        w = np.exp(t - t.max())
        return (w / w.sum()).reshape(people.shape)

    starts = np.log(hat) + 0.1 * np.random.default_rng(1).normal(size=(5, 4))
    return range_of(
        lambda t: MEASURES[measure](table(t)), lambda t: n @ np.log(table(t).ravel()), n @ np.log(hat) - drop, starts
    )


def test_profile_intervals_are_those_of_a_general_optimizer():
    level = 0.8
    result = {
        "difference": TWO.difference("no", level=level, method="profile"),
        "ratio": TWO.risk_ratio("no", level=level, method="profile"),
        "odds": TWO.odds_ratio(level=level, method="profile"),
    }
    for name, measure in result.items():
        ends = np.array(by_optimisation(SMALL, name, level))
        ends = np.exp(ends) if name in ("ratio", "odds") else ends
        assert (measure.lower, measure.upper) == pytest.approx(tuple(ends), rel=1e-4), name
        assert measure.method == "profile"


def test_profile_tests_are_the_likelihood_ratio_test_of_independence():
    g = stats.chi2_contingency(SMALL, lambda_="log-likelihood", correction=False)
    assert TWO.difference("no", method="profile").pvalue == pytest.approx(g.pvalue, rel=1e-4)
    assert TWO.risk_ratio("no", method="profile").pvalue == pytest.approx(g.pvalue, rel=1e-4)
    assert TWO.odds_ratio(method="profile").pvalue == pytest.approx(g.pvalue, rel=1e-4)


@pytest.fixture(scope="module")
def empty():
    """Return the association of a table with a cell in which nobody is."""
    with quietly():
        return association(counts_of(np.array([[0, 19], [12, 24]])))


def test_delta_has_no_error_on_the_log_scale(empty):
    with quietly():
        odds, ratio = empty.odds_ratio(method="delta"), empty.risk_ratio("no", method="delta")
        turned = empty.odds_ratio(("m", "f"), method="delta")
    assert (odds.value, odds.se, odds.lower, odds.upper) == (0, np.inf, 0, np.inf)
    assert (ratio.value, turned.value) == (0, np.inf)
    (note,) = odds.notes
    assert (note.kind, note.advice.name) == (NoteKind.NO_STANDARD_ERRORS, "one_sided_profile")
    assert np.isnan(odds.pvalue)
    assert "no test" in str(odds)


def test_profile_is_one_sided(empty):
    odds, turned, ratio = empty.odds_ratio(), empty.odds_ratio(("m", "f")), empty.risk_ratio("no")
    assert (odds.value, odds.lower) == (0, 0)
    assert (turned.value, turned.upper) == (np.inf, np.inf)
    assert turned.lower == pytest.approx(1 / odds.upper, rel=1e-5)
    assert odds.notes == ()

    # With the share x in one row of 19: 19 ln(1-x) and the other row's 12 of 36 fall by 1.92 together.
    def lost(v):
        def at(y):
            x = v * y
            other = 12 * np.log(3 * y) + 24 * np.log(1.5 * (1 - y))
            return -19 * np.log(1 - x) - other

        return minimize_scalar(at, bounds=(1e-6, min(1, 1 / v) - 1e-6), method="bounded").fun

    upper = brentq(lambda v: lost(v) - stats.chi2.ppf(0.95, 1) / 2, 0.01, 0.9)
    assert ratio.upper == pytest.approx(upper, rel=1e-4)
    assert ratio.lower == 0


def test_an_empty_group_has_no_shares():
    people = np.array([[0, 0, 0], [12, 24, 3], [5, 6, 19]])
    with quietly():
        result = association(counts_of(people))
        given = result.conditional()
        assert np.isnan(given.table[0]).all()
        assert np.isnan(given.se[0]).all()
        assert given.table[1] == pytest.approx(people[1] / 39)
        assert given.se[2, 2] == pytest.approx(np.sqrt(19 / 30 * 11 / 30 / 30))
        difference = result.difference("no", ("f", "m"))
        assert np.isnan(result.residuals[0]).all()
    assert Note(NoteKind.NO_ESTIMATE, "No shares given categories estimated as empty: sex = f.") in given.notes
    assert np.isnan(difference.value)
    assert (difference.lower, difference.upper) == (-1, 1)
    assert difference.notes[0].kind is NoteKind.NO_ESTIMATE
    profile = result.odds_ratio(("f", "m"), ("no", "so"), method="profile")
    assert (profile.lower, profile.upper) == (0, np.inf)
    with quietly():
        assert result.cramers_v().value == pytest.approx(
            contingency.association(people[1:], method="cramer") / np.sqrt(2)
        )
