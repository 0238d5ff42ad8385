"""Intervals that need no choice: which kind is taken, what it says, and that it is right near 0 and for any n."""

import inspect
import warnings
from decimal import Decimal, getcontext

import numpy as np
import pytest
from every_case import every_case
from interval_coverage import FOUR, SIZES, WEIGHTED, plain, study, weighted
from problems import quietly
from scipy.integrate import quad
from scipy.special import ndtr, ndtri
from scipy.stats import chi2, norm

import subsetprivacy as sp
from subsetprivacy.design import Coarse
from subsetprivacy.errors import BoundaryWarning, CategoryError, SmallCountWarning, TooLargeError
from subsetprivacy.estimation.intervals import cut_quantile
from subsetprivacy.estimation.likelihood import mean_loglik
from subsetprivacy.estimation.newton import newton
from subsetprivacy.estimation.profile import FixedShareRows
from subsetprivacy.incidence import Walsh

RARE = (0.97, 0.01, 0.01, 0.01)


# Which kind ---------------------------------------------------------------------------------------


def test_few_categories_have_adjusted_intervals_and_the_table_says_so():
    fit = sp.estimate(sp.simulate(FOUR, RARE, 189, seed=1))
    bounds = fit.interval()  # no warning: it rests on no standard error
    assert bounds == pytest.approx(fit.interval(method="adjusted"))
    text = str(fit.summary())
    assert "Intervals by method 'adjusted': profile likelihood, corrected near 0 and 1." in text
    assert "Small counts" in text  # the note about the standard errors stays
    assert fit.to_dict()["interval"] == ["adjusted"] * 4
    assert list(fit.to_frame()["interval"]) == ["adjusted"] * 4
    with pytest.warns(SmallCountWarning, match=r"Hint: interval\(method='auto'\)"):
        fit.interval(method="wald")


def test_moments_keep_wald_intervals():
    fit = sp.estimate(sp.simulate(FOUR, RARE, 10_000, seed=1), "mom")
    assert fit.interval() == pytest.approx(fit.interval(method="wald"))
    assert "Intervals by method 'wald': estimate and standard error." in str(fit.summary())


def test_of_many_categories_those_near_zero_have_adjusted_intervals():
    w = np.r_[0.002, 0.003, np.full(14, 0.995 / 14)]
    fit = sp.estimate(sp.simulate(sp.uniform(range(16)), w, 40_000, seed=1))
    assert fit.notes == ()
    result = fit.to_dict()
    assert result["interval"] == ["adjusted"] * 2 + ["wald"] * 14
    wald = fit.interval(method="wald")
    assert result["upper"][2:] == pytest.approx(wald[2:, 1])
    assert result["upper"][:2] == pytest.approx(fit.interval(method="adjusted", categories=[0, 1])[:, 1])
    table = fit.summary()
    assert table.columns[-1] == "interval"
    assert [row[-1] for row in table.rows] == result["interval"]


def test_where_a_search_for_each_would_take_long_the_intervals_are_walds_and_warn():
    design = sp.uniform(range(40))
    fit = sp.estimate(sp.simulate(design, np.r_[0.0, np.full(39, 1 / 39)], 20_000, seed=1))
    assert fit.on_boundary == (0,)
    with pytest.warns(BoundaryWarning, match=r"Hint: interval\(method='adjusted', categories=\[...\]\)"):
        bounds = fit.interval()
    with quietly():
        assert bounds == pytest.approx(fit.interval(method="wald"))
        assert fit.interval(categories=[3]) == pytest.approx(bounds[[3]])
    assert "Hint: interval(method='adjusted'" in str(fit.summary())
    with quietly():
        assert fit.interval(method="adjusted", categories=[0])[0, 1] < bounds[0, 1]


# The same arguments everywhere ---------------------------------------------------------------------


def test_whatever_has_intervals_takes_the_same_arguments():
    shared = ("level", "method", "categories", "replications", "seed")
    defaults = [inspect.signature(sp.Estimate.interval).parameters[name].default for name in shared]
    assert defaults == [0.95, "auto", None, 999, None]
    for name in ("summary", "to_frame", "to_dict", "plot"):
        parameters = inspect.signature(getattr(sp.Estimate, name)).parameters
        assert [parameters[argument].default for argument in shared] == defaults


def test_a_seed_repeats_the_bootstrap_of_every_output():
    fit = sp.estimate(sp.simulate(FOUR, (0.4, 0.3, 0.2, 0.1), 500, seed=1))
    asked = {"method": "bootstrap", "replications": 40, "seed": 5}
    bounds = fit.interval(**asked)
    assert fit.to_dict(**asked)["lower"] == bounds[:, 0].tolist()
    assert np.array_equal(fit.to_frame(**asked)["upper"], bounds[:, 1])
    assert f"{bounds[0, 0]:.4f}" in str(fit.summary(**asked))
    drawn = fit.plot(**asked)
    assert drawn is not None


def test_some_categories_on_request():
    fit = sp.estimate(sp.simulate(sp.uniform(list("abcde")), np.full(5, 0.2), 500, seed=1))
    everything = fit.interval()
    assert fit.interval(categories=["d", "b"]) == pytest.approx(everything[[3, 1]])
    assert fit.interval(categories="c") == pytest.approx(everything[[2]])
    assert [row[0] for row in fit.summary(categories=["d", "b"]).rows] == ["d", "b"]
    assert list(fit.to_frame(categories=["d"])["category"]) == ["d"]
    assert fit.to_dict(categories=["e"])["categories"] == ["e"]
    with pytest.raises(CategoryError):
        fit.interval(categories=["z"])


def test_progress_is_told():
    fit = sp.estimate(sp.simulate(FOUR, (0.4, 0.3, 0.2, 0.1), 500, seed=1))
    seen = []
    fit.interval(progress=lambda done, total: seen.append((done, total)))
    assert seen == [(k, 4) for k in range(5)]


# Very many people ----------------------------------------------------------------------------------


def drop_of_a_binomial(successes, n, x):
    """Return l(top) - l(x) per person with 60 digits."""
    getcontext().prec = 60
    f, x = Decimal(successes) / Decimal(n), Decimal(x)
    zero = Decimal(0)
    first = f * (f / x).ln() if f else zero
    return first + (1 - f) * ((1 - f) / (1 - x)).ln()


@every_case("n", [10**3, 10**6, 10**9, 10**10, 10**12])
def test_profiles_are_those_of_a_binomial_for_any_number_of_people(n):
    # Warner's question: P(yes) is 1/4 or 3/4, so a profile of the share is one of a binomial.
    design = sp.warner(["no", "yes"], q=0.25)
    law = dict(zip(design.support()[0].tolist(), design.incidence(design.support()[0]).inner(np.eye(2)).T, strict=True))
    codes = sorted(law)
    yes = int(0.4 * n)
    fit = sp.estimate(sp.SubsetCounts(codes, [yes, n - yes], design))
    slopes = law[codes[0]] * design.support()[1][0]  # P(first code | value)
    bounds = fit.interval(method="profile")
    for j, (low, high) in enumerate(bounds):
        for end in (low, high):
            w = np.array([1 - end, end]) if j else np.array([end, 1 - end])
            drop = drop_of_a_binomial(
                yes, n, Decimal(float(slopes[0])) * Decimal(w[0]) + Decimal(float(slopes[1])) * Decimal(w[1])
            )
            assert float(drop) * 2 * n == pytest.approx(chi2.ppf(0.95, 1), rel=2e-4)
    assert bounds[0] == pytest.approx(1 - bounds[1, ::-1], abs=1e-4 * np.ptp(bounds[0]))


@every_case("n", [10**6, 10**9, 10**12])
def test_the_upper_end_of_a_share_of_zero_is_exact_for_any_number_of_people(n):
    # Nobody of n was c: l falls by -ln(1 - v).
    counts = sp.SubsetCounts([1, 2], [n // 4, n - n // 4], Coarse(sp.Categories(list("abc"))))
    upper = sp.estimate(counts).interval(method="profile")[2, 1]
    assert upper == pytest.approx(-np.expm1(-chi2.ppf(0.95, 1) / (2 * n)), rel=1e-5)


# Near 0 and 1 --------------------------------------------------------------------------------------


@every_case("level", [0.8, 0.95, 0.99])
@every_case("distance", [0.05, 0.4, 1.0, 1.5, 1.9])
def test_the_cut_quantile_has_its_level(level, distance):
    z = norm.ppf(0.5 + level / 2)
    q = cut_quantile(distance, z)

    def kept(x):
        ratio = (x - distance) ** 2 - min(x, 0.0) ** 2
        return norm.pdf(x - distance) if ratio <= q * q else 0.0

    inside = quad(kept, -12, 12, limit=2000, points=[0.0, distance + q, distance - q])[0]
    assert inside == pytest.approx(level, abs=2e-3)
    assert norm.ppf(level) - 1e-9 <= q <= z


def test_the_cut_quantile_ends_at_one_and_two_sides():
    assert cut_quantile(0.0, norm.ppf(0.975)) == pytest.approx(norm.ppf(0.95))
    assert cut_quantile(2.0, norm.ppf(0.975)) == norm.ppf(0.975)


@every_case("method", ["profile", "adjusted"])
@every_case("yes", [52, 60, 90, 130])
def test_two_categories_have_one_interval(method, yes):
    design = sp.warner(["no", "yes"], q=0.25)
    fit = sp.estimate(sp.SubsetCounts(design.support()[0], [yes, 200 - yes], design))
    bounds = fit.interval(method=method)
    assert bounds[0] == pytest.approx(1 - bounds[1, ::-1], abs=1e-5)


def test_intervals_near_zero_are_of_the_size_of_the_error():
    # The standard deviation of the estimates is at most 0.016, and standard errors are 0.053 on average here.
    samples = sp.simulate_many(FOUR, RARE, 189, 40, seed=1)
    with quietly():
        fits = list(sp.estimate_many(samples))
        default = np.mean([np.diff(fit.interval()) for fit in fits])
        wald = np.mean([np.diff(fit.interval(method="wald")) for fit in fits])
    assert default < 0.6 * wald


# Many categories -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many():
    w = np.random.default_rng(1).dirichlet(np.ones(100))
    with quietly():
        fit = sp.estimate(sp.simulate(sp.hadamard(range(100)), w, 30_000, seed=1))
    assert 5 < len(fit.on_boundary) < 50
    return fit


def test_profiles_of_many_categories_end_where_the_likelihood_has_dropped_enough(many):
    counts = many.counts
    zero, largest = many.on_boundary[0], int(many.w.argmax())
    for j in (zero, largest, 50):
        low, high = many.interval(method="profile", categories=[j])[0]
        for end in {low, high} - {0.0}:
            rows = FixedShareRows(counts.incidence, j, end)
            fixed = newton(rows, counts.shares)
            drop = many.loglik / counts.total - mean_loglik(rows, counts.shares, fixed.w)
            assert 2 * counts.total * drop == pytest.approx(chi2.ppf(0.95, 1), rel=2e-3)


def test_profiles_of_many_categories_share_one_matrix(many, monkeypatch):
    calls = []
    gram = Walsh.gram
    monkeypatch.setattr(Walsh, "gram", lambda self, y: calls.append(1) or gram(self, y))
    many.interval(method="profile")
    assert len(calls) <= 3  # a factorisation for each end of each category would be hundreds


def test_too_many_categories_are_refused_before_any_work():
    with quietly():
        fit = sp.estimate(sp.simulate(sp.hadamard(range(600)), np.full(600, 1 / 600), 2000, seed=1))
    with pytest.raises(TooLargeError):
        fit.interval(method="profile")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fit.interval().shape == (600, 2)  # the default does not refuse


# Coverage ------------------------------------------------------------------------------------------


def in_band(rows, slack=0.0):
    return {str(row): row.coverage for row in rows if not 0.925 - slack <= row.coverage <= 0.985 + slack}


@pytest.mark.slow
@pytest.mark.parametrize(("w", "n"), [(RARE, 100), (RARE, 1000), ((0.9, 0.06, 0.03, 0.01), 100)])
def test_the_default_interval_covers(w, n):
    # 200 replications: two standard errors are 3 points below .95 and 2 above .98.
    assert in_band(plain("uniform", FOUR, w, n, 200, seed=1, measured=2), slack=0.01) == {}


@pytest.mark.slow
def test_the_default_interval_covers_with_sampling_weights():
    case = next(iter(WEIGHTED))
    assert in_band(weighted(case, FOUR, RARE, 1000, 200, seed=1, measured=2), slack=0.01) == {}


@pytest.mark.slow
@pytest.mark.parametrize("n", SIZES)
def test_the_default_interval_covers_everywhere(n):
    rows = [row for row in study(2000, sizes=(n,)) if n > 100 or "weights" not in row.case]
    # 2000 replications: where the true coverage is .98, one in twenty of the figures may lie 0.6 points above.
    assert in_band(rows, slack=0.006) == {}


@every_case("level", [0.05, 0.3, 0.5, 0.8, 0.95, 0.999])
@every_case("distance", [0.002, 0.02, 0.2, 0.6])
def test_the_quantile_near_zero_at_any_level(level, distance):
    z = ndtri(0.5 + level / 2)
    q = cut_quantile(distance, z)
    if distance >= z:
        assert q == z
        return
    # The definition: x normal with this mean is kept with the probability `level`.
    kept = ndtr(q) - ndtr((distance**2 - q**2) / (2 * distance) - distance)
    assert kept == pytest.approx(level, abs=1e-9)
    assert max(ndtri(level), distance) - 1e-12 <= q <= z
