"""Profile intervals of log-linear models, the price of each parameter, and tests of fit where shares are 0."""

import numpy as np
import pytest
from every_case import every_case
from problems import exact_counts, quietly
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages import NoteKind

PAIRS, WARNER = sp.fixed_size(["x", "y", "z"], 2), sp.warner(["n", "y"], 0.75)
PRIVATE = sp.product({"a": PAIRS, "b": WARNER})
SEEN = sp.product({"a": sp.nonprivate(["x", "y", "z"]), "b": sp.nonprivate(["n", "y"])})
THREE = sp.product({"a": PAIRS, "b": WARNER, "c": sp.nonprivate(["s", "t"])})
BASE = {"a": "x", "b": "n"}


def fitted(counts, model="saturated", **options):
    with quietly():
        return sp.loglinear(counts, model, **options)


@every_case(
    "counts",
    [
        sp.simulate(PRIVATE, [0.3, 0.1, 0.15, 0.15, 0.1, 0.2], 3000, seed=1),
        sp.simulate(PRIVATE, [0.3, 0.2, 0.2, 0.1, 0.2, 0.0], 600, seed=5),
        exact_counts(SEEN, np.array([0.3, 0.1, 0.15, 0.15, 0.1, 0.2]), 60),
        exact_counts(SEEN, np.array([0.3, 0.1, 0.15, 0.15, 0.3, 0.0]), 60),
    ],
)
def test_odds_ratios_of_the_saturated_model_are_those_of_the_association(counts):
    """The same likelihood, with another algorithm; the last table and the second have an estimate of 0."""
    fit = fitted(counts, baseline=BASE)
    odds, both = fit.odds_ratios("a", "b"), sp.association(counts)
    for k, (a, b) in enumerate(odds.pairs):
        other = both.odds_ratio(("x", a), ("n", b), level=0.9)
        assert odds.interval(0.9)[k] == pytest.approx((other.lower, other.upper), rel=2e-4, abs=1e-12)
        at = fit.labels.index(f"a[{a}]:b[{b}]")
        assert np.exp(fit.interval(0.9)[at]) == pytest.approx(odds.interval(0.9)[k], rel=1e-6)


def test_an_infinite_parameter_has_one_finite_end():
    """With nobody in one cell of a table, its profile is that of a share of 0 of 20: 20 ln(1-x) falls by 1.92."""
    fit = fitted(exact_counts(SEEN, np.array([0.25, 0.25, 0.2, 0.1, 0.2, 0.0]), 10**8), baseline=BASE)
    at = fit.labels.index("a[z]:b[y]")
    assert fit.estimates[at] == -np.inf
    lower, upper = fit.interval()[at]
    assert lower == -np.inf
    # The other cells are known, so the share y of 2e7 people has an upper end of 1.9207 people.
    assert upper == pytest.approx(np.log(1.9207 / 2e7), abs=1e-3)
    assert np.isnan(fit.interval(method="wald")[at]).all()
    assert str(fit.summary()).count("∞") == 2  # the estimate and one end


def test_in_large_samples_the_profile_is_walds():
    fit = fitted(sp.simulate(THREE, np.full(12, 1 / 12), 10**7, seed=2), "all pairs")
    assert fit.interval() == pytest.approx(fit.interval(method="wald"), abs=0.02 * float(fit.se.max()))
    assert fit.interval() != pytest.approx(fit.interval(method="wald"), abs=1e-12)
    assert set(fit.to_frame()["interval"]) == {"profile"}


def test_given_categories_and_other_baselines_have_the_same_interval():
    counts = sp.simulate(THREE, np.random.default_rng(3).dirichlet(np.full(12, 5.0)), 4000, seed=3)
    one = fitted(counts, baseline={"a": "x", "b": "n", "c": "s"})
    two = fitted(counts, baseline={"a": "x", "b": "n", "c": "t"})
    ends = one.odds_ratios("a", "b", given={"c": "t"}).interval()
    at = [two.labels.index(f"a[{a}]:b[y]") for a in ("y", "z")]
    assert ends == pytest.approx(np.exp(two.interval()[at]), rel=1e-4)


def test_weights_known_margins_and_large_models():
    counts = sp.simulate(PRIVATE, [0.3, 0.1, 0.15, 0.15, 0.1, 0.2], 3000, seed=1)
    weighted = fitted(sp.SubsetCounts(counts.codes, counts.counts, PRIVATE, squares=1.5 * counts.counts))
    assert weighted.interval() == pytest.approx(weighted.interval(method="wald"))
    for result in (weighted, weighted.odds_ratios("a", "b")):
        with pytest.raises(ArgumentError):
            result.interval(method="profile")
        with refused(ArgumentError, "method"):
            result.interval(method="robust")
    known = fitted(counts, known={"b": {"n": 0.55, "y": 0.45}}, baseline=BASE)
    fixed = known.labels.index("b[y]")
    assert known.interval()[fixed] == pytest.approx(known.interval(method="wald")[fixed])
    others = np.arange(len(known.labels)) != fixed
    assert known.interval()[others] == pytest.approx(known.interval(method="wald")[others], abs=0.3)
    assert (known.interval()[others] != known.interval(method="wald")[others]).all()
    large = sp.product({"a": sp.uniform(range(16)), "b": sp.uniform(range(16))})
    many = fitted(sp.simulate(large, np.full(256, 1 / 256), 5000, seed=1), "independence")
    assert set(many.to_frame()["interval"]) == {"wald"}


# Prices -------------------------------------------------------------------------------------------


def test_the_price_of_a_parameter_is_its_variance_relative_to_that_of_labels():
    """Labels of n people in a table of fitted shares w give a log odds ratio the variance of 1/(n w), summed."""
    fit = fitted(sp.simulate(PRIVATE, [0.3, 0.1, 0.15, 0.15, 0.1, 0.2], 3000, seed=1), baseline=BASE)
    at = fit.labels.index("a[y]:b[y]")
    labels = (1 / (fit.n * fit.w[:2])).sum()
    assert fit.price[at] == pytest.approx(fit.se[at] ** 2 / labels, rel=1e-8)
    at = fit.labels.index("b[y]")
    assert fit.price[at] == pytest.approx(fit.se[at] ** 2 / (1 / (fit.n * fit.w[0])).sum(), rel=1e-8)


def test_the_summary_of_prices_is_that_of_the_rows():
    fit = fitted(sp.simulate(THREE, np.full(12, 1 / 12), 4000, seed=2), "all pairs")
    price = fit.to_frame()["price"]
    assert fit.n_effective == pytest.approx((fit.n / price).mean())
    assert price.min() < fit.n / fit.n_effective < price.max()
    (note,) = (note for note in fit.notes if note.kind is NoteKind.PRICE)
    for value in (price.min(), price.max(), price.median()):
        assert f"{value:.3g}" in note.text
    assert [row[-1] for row in fit.summary().rows] == [f"{value:.1f}" for value in price]


def test_people_asked_directly_cost_one_each_and_infinite_parameters_have_no_price():
    direct = fitted(exact_counts(SEEN, np.array([0.3, 0.1, 0.15, 0.15, 0.1, 0.2]), 600), "independence")
    assert direct.price == pytest.approx(np.ones(3))
    zero = fitted(exact_counts(SEEN, np.array([0.3, 0.1, 0.15, 0.15, 0.3, 0.0]), 600))
    assert np.isnan(zero.price).tolist() == [not np.isfinite(x) for x in zero.estimates]


# Test of fit --------------------------------------------------------------------------------------


def test_a_test_of_fit_with_shares_of_zero_is_simulated():
    counts = sp.simulate(THREE, np.einsum("i,j,k->ijk", [0.65, 0.25, 0.1], [0.8, 0.2], [0.8, 0.2]).ravel(), 500, seed=1)
    with quietly():
        assert sp.estimate(counts).on_boundary
    fit, same = fitted(counts, "independence"), fitted(counts, "independence")
    test = fit.goodness_of_fit
    assert test.notes[0].kind is NoteKind.NULL_LAW
    assert test.pvalue[0] * 100 == pytest.approx(round(test.pvalue[0] * 100))
    assert test.pvalue[0] == same.goodness_of_fit.pvalue[0]
    assert test.notes[0] in fit.notes


def test_a_test_of_fit_without_zeros_is_chi_square():
    fit = fitted(sp.simulate(THREE, np.full(12, 1 / 12), 20_000, seed=2), "independence")
    assert fit.goodness_of_fit.notes == ()


def test_a_rough_test_of_fit_finds_nothing(monkeypatch):
    from subsetprivacy.contingency import nested

    monkeypatch.setattr(nested, "is_quick", lambda *_: False)
    fit = fitted(sp.simulate(PRIVATE, [0.3, 0.2, 0.2, 0.1, 0.2, 0.0], 600, seed=5), "independence")
    (note,) = (note for note in fit.notes if note.kind is NoteKind.SPECIFICATION)
    assert "no sign of lack of fit" not in note.text
    assert fit.goodness_of_fit.notes[0].kind is NoteKind.BOUNDARY
