"""Score and profile tests of weighted sums, held against certified maxima and against closed forms."""

import numpy as np
import pytest
from every_case import every_case
from oracles import Sample, best, root_and_score
from problems import quietly, rising
from refusals import refused
from scipy.stats import norm

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_estimates import CONTRAST_BY_WALD, WEIGHTS_BY_LABEL

DESIGNS = {
    "uniform": sp.uniform(range(4)),
    "partition": sp.partition(range(6), groups=3),
    "warner": sp.warner(range(2)),
    "hadamard": sp.hadamard(range(8)),
    "fixed size": sp.fixed_size(range(5), 2),
    "covered": sp.covered(sp.uniform(range(4)), 0.2),
}
U4 = sp.uniform(list("abcd"))


def skewed(p):
    return np.r_[0.9, np.full(p - 1, 0.1 / (p - 1))]


def direct(*counts):
    """Return the estimate of values that are seen directly."""
    design = sp.nonprivate([chr(97 + k) for k in range(len(counts))])
    seen = [(1 << k, n) for k, n in enumerate(counts) if n]
    return sp.estimate(sp.SubsetCounts([code for code, _ in seen], [n for _, n in seen], design))


# Statistics ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [rising, skewed], ids=["rising", "near 0"])
@pytest.mark.parametrize("name", DESIGNS)
def test_statistics_are_those_of_certified_maxima(name, shape):
    design = DESIGNS[name]
    counts = sp.simulate(design, shape(design.p), 300, seed=5)
    fit, sample = sp.estimate(counts), Sample(counts)
    c = np.eye(design.p)[0] - np.eye(design.p)[-1]
    with quietly():
        wald = fit.contrast(c, method="wald")
    tried = 0
    for steps in (-2.5, 0.7, 6):
        v = wald.value + steps * wald.se
        if not -1 < v < 1:
            continue
        root, score = root_and_score([sample], [c], v)
        assert fit.contrast(c, null=v, method="profile").zscore == pytest.approx(root, rel=2e-3, abs=1e-3)
        assert fit.contrast(c, null=v, method="score").zscore == pytest.approx(score, rel=5e-3, abs=1e-3)
        tried += 1
    assert tried


@pytest.mark.parametrize("method", ["score", "profile"])
def test_statistics_of_a_joint_margin(method):
    joint = sp.product({"x": sp.uniform(range(4)), "y": sp.warner(range(2))})
    counts = sp.simulate(joint, rising(8), 600, seed=3)
    margin, sample = sp.estimate(counts).margin("x"), Sample(counts)
    for weights, v in (({0: 1}, 0.2), ({3: 1, 1: -1}, 0.0), ({0: 1, 1: 2, 2: 3}, 1.3)):
        c = np.zeros(4)
        c[list(weights)] = list(weights.values())
        root, score = root_and_score([sample], [np.repeat(c, 2)], v)
        result = margin.contrast(weights, null=v, method=method)
        assert result.zscore == pytest.approx(score if method == "score" else root, rel=5e-3, abs=1e-3)
        assert result.pvalue == pytest.approx(2 * norm.sf(abs(result.zscore)))


@every_case(("x", "n"), [(3, 40), (0, 25), (25, 25), (1, 3), (700, 1000)])
@every_case("level", [0.95, 0.8])
def test_one_share_seen_directly_has_wilsons_interval(x, n, level):
    result = direct(x, n - x).contrast({"a": 1}, level=level)
    z, f = norm.ppf(0.5 + level / 2), x / n
    center, half = f + z * z / (2 * n), z * np.sqrt(f * (1 - f) / n + z * z / (4 * n * n))
    assert result.method == "score"
    ends = (center - half) / (1 + z * z / n), (center + half) / (1 + z * z / n)
    assert (result.lower, result.upper) == pytest.approx(ends, abs=1e-6)


def test_a_share_seen_directly_has_the_normal_test_of_a_proportion():
    result = direct(30, 50, 20).contrast({"b": 1}, null=0.4)
    assert result.zscore == pytest.approx(0.1 / np.sqrt(0.4 * 0.6 / 100), abs=1e-6)


def test_two_shares_of_a_multinomial_are_compared_as_mcnemar_does():
    # Whether two shares are equal rests on the two counts alone: z = (x - y) / sqrt(x + y).
    result = direct(30, 18, 52).contrast({"a": 1, "b": -1})
    assert result.zscore == pytest.approx(12 / np.sqrt(48), abs=1e-6)


# Intervals ----------------------------------------------------------------------------------------


@every_case("method", ["score", "profile", "wald"])
@every_case("alternative", ["two-sided", "less", "greater"])
def test_an_interval_holds_the_values_that_the_test_keeps(method, alternative):
    fit = sp.estimate(sp.simulate(U4, [0.1, 0.2, 0.3, 0.4], 400, seed=1))
    options = {"method": method, "alternative": alternative}
    weights = {"a": 1, "b": 1, "d": -1}
    result = fit.contrast(weights, level=0.9, **options)
    assert result.lower < result.value < result.upper
    ends = {"lower": result.lower, "upper": result.upper}
    if alternative == "less":
        assert ends.pop("lower") == -1
    if alternative == "greater":
        assert ends.pop("upper") == 1
    for end in ends.values():
        assert fit.contrast(weights, null=end, **options).pvalue == pytest.approx(0.1, abs=1e-4)


@pytest.mark.parametrize("method", ["score", "profile", "wald"])
def test_one_sided_pvalues_sum_to_one(method):
    fit = sp.estimate(sp.simulate(U4, [0.1, 0.2, 0.3, 0.4], 400, seed=1))
    for null in (-0.3, -0.05, 0.1):
        less, greater, both = (
            fit.contrast({"a": 1, "b": -1}, null=null, alternative=alternative, method=method).pvalue
            for alternative in ("less", "greater", "two-sided")
        )
        assert less + greater == pytest.approx(1)
        assert both == pytest.approx(2 * min(less, greater))
    value = fit.contrast({"a": 1, "b": -1}).value
    assert fit.contrast({"a": 1, "b": -1}, null=value - 0.1, alternative="greater", method=method).pvalue < 0.5


def test_ends_of_the_range_are_reached_where_nothing_speaks_against_them():
    fit = sp.estimate(sp.SubsetCounts([3, 5, 9], [10, 10, 10], U4))  # every subset holds a
    with quietly():
        result = fit.contrast({"a": 1})
    assert (result.value, result.upper) == (pytest.approx(1, abs=1e-6), 1)
    assert 0.5 < result.lower < 1


def test_an_impossible_null_is_rejected_with_certainty():
    result = direct(30, 70).contrast({"a": 1}, null=0)
    assert result.zscore == np.inf
    assert 0 < result.pvalue < 1e-300  # a p-value is not 0
    assert direct(30, 70).contrast({"a": 1}, null=1).zscore == -np.inf


@pytest.mark.parametrize("alternative", ["less", "greater"])
def test_one_value_that_everyone_has_can_be_tested(alternative):
    with quietly():
        result = direct(30, 0).contrast({"a": 1}, null=0.5, alternative=alternative, method="wald")
        below = direct(0, 30).contrast({"a": 1}, null=0.5, alternative=alternative, method="wald")
    assert result.se == pytest.approx(1 / np.sqrt(30))  # rough, as on any boundary, and not 0
    assert (result.pvalue < 0.5) == (alternative == "greater")
    assert (below.pvalue < 0.5) == (alternative == "less")


def test_weighted_samples_have_contrasts():
    counts = sp.simulate(U4, [0.1, 0.2, 0.3, 0.4], 500, seed=1)
    threefold = sp.SubsetCounts(counts.codes, 3.0 * counts.counts, U4, squares=9.0 * counts.counts)
    one, three = (sp.estimate(each).contrast({"a": 1, "d": -1}) for each in (counts, threefold))
    # All weights are the same, so that they change nothing.
    assert (three.lower, three.upper, three.zscore) == pytest.approx((one.lower, one.upper, one.zscore), rel=1e-4)


def test_weights_scale_the_sum():
    fit = sp.estimate(sp.simulate(U4, [0.1, 0.2, 0.3, 0.4], 400, seed=1))
    once, ten = fit.contrast({"a": 1, "d": -1}), fit.contrast({"a": -10, "d": 10})
    assert (-ten.upper, -ten.lower) == pytest.approx((10 * once.lower, 10 * once.upper), abs=1e-5)
    assert ten.zscore == pytest.approx(-once.zscore)
    assert fit.contrast({"a": 1}).zscore == pytest.approx(fit.contrast([1, 0, 0, 0]).zscore)


# Refusals -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fit():
    return sp.estimate(sp.simulate(U4, [0.1, 0.2, 0.3, 0.4], 400, seed=1))


@every_case("null", [30, -0.1, 1.01, "0.3", True, float("nan"), float("inf")])
def test_a_null_that_is_no_number_in_the_range_is_refused(fit, null):
    with refused(ArgumentError, "null"):
        fit.contrast({"a": 1}, null=null)


def test_unknown_choices_are_refused(fit):
    with refused(ArgumentError, "alternative"):
        fit.contrast({"a": 1}, alternative="bigger")
    with refused(ArgumentError, "method"):
        fit.contrast({"a": 1}, method="adjusted")
    with refused(ArgumentError, "level"):
        fit.contrast({"a": 1}, level=95)


def test_weights_as_a_string_have_advice(fit):
    with pytest.raises(sp.errors.CategoryError) as caught:
        fit.contrast("ab")
    assert caught.value.advice.advice is WEIGHTS_BY_LABEL


@pytest.mark.parametrize("method", ["score", "profile"])
def test_moments_have_walds_contrast_only(fit, method):
    moments = sp.estimate(fit.counts, "mom")
    with refused(ArgumentError, "method") as caught:
        moments.contrast({"a": 1}, method=method)
    assert caught.value.advice.advice is CONTRAST_BY_WALD
    assert moments.contrast({"a": 1}).method == "wald"


# Output -------------------------------------------------------------------------------------------


def test_the_sum_in_words(fit):
    assert fit.contrast({"d": 1, "a": -1}).name == "d - a"
    assert fit.contrast({"a": 1, "b": -0.5}).name == "a - 0.5 b"
    many = sp.estimate(sp.simulate(sp.hadamard(range(16)), np.full(16, 1 / 16), 500, seed=1))
    assert many.contrast(np.arange(16)).name.endswith(" …")


def test_a_contrast_as_a_frame_and_a_table(fit):
    result = fit.contrast({"a": 1}, null=0.2, alternative="less", level=0.9)
    frame = result.to_frame()
    assert frame["pvalue"][0] == result.pvalue
    assert (frame["null"][0], frame["alternative"][0], frame["level"][0]) == (0.2, "less", 0.9)
    text = str(result.summary())
    assert "Null hypothesis: it is at least 0.2" in text
    assert "upper 90%" in text
    assert "Interval and test by method 'score'." in text


def test_undetermined_shares_against_certified_maxima():
    # Subsets ad, bd and cd: moving weight from a, b and c to d changes nothing, and some sums have many maxima.
    with quietly():
        fit = sp.estimate(sp.SubsetCounts([9, 10, 12], [2, 2, 1], U4))
    sample, c = Sample(fit.counts), np.eye(4)[3]
    top = best([sample])[0]
    for v in (0.02, 0.08, 0.3, 0.5):
        root = np.sqrt(2 * (top - best([sample], ([c], v))[0]))
        assert fit.contrast({"d": 1}, null=v, method="profile").zscore == pytest.approx(root, rel=1e-3)


@pytest.mark.parametrize("method", ["score", "profile"])
def test_an_interval_is_never_a_point(method):
    # Of a share that is truly 0 a sample often asks for less. The unconstrained score then rejects 0 as well, and once
    # left the interval from 0 to 0 in one sample of thirty.
    cut = 0
    for counts in sp.simulate_many(U4, [0.5, 0.4, 0.1, 0], 100, 24, seed=1):
        fit = sp.estimate(counts)
        result = fit.contrast({"d": 1}, method=method)
        assert result.upper - result.lower > 0.03
        if fit.w[3] < 1e-9:
            cut += 1
            assert (result.zscore, result.pvalue) == pytest.approx((0, 1), abs=1e-6)
    assert cut > 6
