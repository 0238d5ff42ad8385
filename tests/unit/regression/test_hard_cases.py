"""Data that break a naive fit: separation, several maxima, categories that nobody has, extreme sizes."""

import numpy as np
import pytest
from regression_samples import quietly, sample_of, values_of

import subsetprivacy as sp
from subsetprivacy.design import coarse
from subsetprivacy.design.mixture import Mixture
from subsetprivacy.errors import NotUniqueWarning, SeparationWarning, SmallCountWarning, UnknownDesignError
from subsetprivacy.messages import NoteKind

FOUR = sp.uniform(range(4))


@pytest.fixture(scope="module")
def apart():
    """Return subsets and covariates where no one without z has category 3."""
    rng = np.random.default_rng(1)
    z, x = rng.integers(0, 2, 1500), rng.standard_normal(1500)
    shares = np.array([[0.4, 0.3, 0.3, 0.0], [0.3, 0.2, 0.2, 0.3]])[z]
    values = (shares.cumsum(axis=1) > rng.random(1500)[:, None]).argmax(axis=1)
    return sp.privatize(values.tolist(), FOUR, seed=1), {"z": z, "x": x}


@pytest.fixture(scope="module")
def separated(apart):
    return quietly(*apart, baseline=0)


def test_separation_is_told_with_categories_and_columns(apart):
    with pytest.warns(SeparationWarning, match=r"3 \(Intercept, z\)"):
        fit = sp.regress(*apart, baseline=0, method="ml")
    assert fit.separated == ((3, "Intercept"), (3, "z"))
    assert fit.converged
    assert NoteKind.SEPARATED in [note.kind for note in fit.notes]


def test_infinite_coefficients_have_their_sign_and_the_others_their_errors(apart, separated):
    assert separated.coef[2, 0] == -np.inf
    assert separated.coef[2, 1] == np.inf
    assert np.isnan(separated.se[2, :2]).all()
    finite = np.ones((3, 3), bool)
    finite[2, :2] = False
    assert np.isfinite(separated.coef[finite]).all()
    # In the limit, subsets of people without z are those of three categories, and people with z have a fit of all four.
    data, X = apart
    codes = np.where(X["z"] == 0, data.codes & 7, data.codes)
    z, x = np.asarray(X["z"], float), X["x"]

    def loglik(free):
        B = np.zeros((4, 3))
        B[1:][finite] = free
        U = B @ np.vstack([np.ones(len(x)), z, x])
        P = np.exp(U)
        P[3] *= np.where(z == 1, np.exp(last), 0.0)
        members = (codes[:, None] >> np.arange(4)).T & 1
        return np.log((members * P).sum(axis=0) / P.sum(axis=0)).sum()

    theta = separated.fit.theta.reshape(3, 3)
    last = theta[2, 0] + theta[2, 1]  # a finite contrast of two infinite coefficients
    top = separated.coef[finite]
    assert loglik(top) == pytest.approx(separated.loglik, abs=1e-4)
    # Its curvature, with the contrast free as well, gives the standard errors.
    values = np.append(top, last)

    def full(v):
        nonlocal last
        kept, last = last, v[-1]
        out = loglik(v[:-1])
        last = kept
        return out

    step = 1e-3 * np.eye(len(values))
    H = [
        [full(values + a + b) - full(values + a - b) - full(values - a + b) + full(values - a - b) for b in step]
        for a in step
    ]
    errors = np.sqrt(np.linalg.inv(-np.array(H) / 4e-6).diagonal())
    assert np.allclose(separated.se[finite], errors[:-1], rtol=1e-3)


def test_tests_effects_and_profiles_of_separated_data(separated):
    """The likelihood ratio has an answer; Wald has none and says so; profile intervals have one end."""
    assert separated.test("z").pvalue[0] < 1e-6
    wald = separated.test(method="wald")
    assert np.isnan(wald["z"].pvalue[0])
    assert np.isfinite(wald["x"].pvalue[0])
    assert wald.notes[0].kind == NoteKind.NOT_TESTED
    ends = separated.interval(method="profile")
    assert ends[6, 0] == -np.inf
    assert np.isfinite(ends[6, 1])
    assert np.isfinite(ends[7, 0])
    assert ends[7, 1] == np.inf
    effects = separated.effects()
    assert np.isfinite(effects.se).all()
    assert effects.estimate[0, 3] == pytest.approx(0.29, abs=0.02)
    assert np.isnan(separated.specification.pvalue[0])


def test_shrinking_is_finite(apart):
    fit = sp.regress(*apart, baseline=0, shrink=True)
    assert not fit.separated
    assert np.isfinite(fit.coef).all()
    assert np.isfinite(fit.se).all()
    assert NoteKind.PENALIZED in [note.kind for note in fit.notes]


def test_a_penalty_is_finite(apart):
    for options in ({"ridge": 1.0}, {"lasso": 1.0}):
        fit = sp.regress(*apart, baseline=0, **options)
        assert np.isfinite(fit.coef).all()


def test_corrected_equations_without_a_solution_name_the_category(apart):
    with pytest.warns(NotUniqueWarning, match="no solution for 3: at some covariates the estimated count is negative"):
        fit = sp.regress(*apart, baseline=0, method="corrected")
    assert np.isnan(fit.coef).all()
    assert np.isnan(fit.se).all()
    assert not fit.converged
    assert "no fit" in str(fit.summary())
    assert fit.to_dict()["loglik"] is None


def test_a_category_that_no_subset_holds_has_no_coefficients(apart):
    data, X = apart
    kept = (data.codes & 8) == 0
    some = sp.SubsetData(data.codes[kept], FOUR)
    fit = quietly(some, {"x": X["x"][kept]}, baseline=0)
    assert {category for category, _ in fit.separated} == {3}
    assert fit.coef[2, 0] == -np.inf
    assert fit.probabilities[:, 3].max() < 1e-6
    assert np.isfinite(fit.se[:2]).all()
    ordinal = quietly(some, {"x": X["x"][kept]}, family="ordinal")
    assert ordinal.cutpoints[2] == np.inf
    assert np.isfinite(ordinal.se).all()


def test_two_maxima_are_found_and_told():
    """The first start ends at the lower of two maxima that are 0.08 apart."""
    data, X = sample_of(FOUR, 60, seed=2)
    few = pytest.warns(SmallCountWarning, match="the effective sample size is 6.7 per covariate")
    with few, pytest.warns(NotUniqueWarning, match="hardly decide between them"):
        fit = sp.regress(data, X, baseline=0, method="ml")
    assert len(fit.maxima) >= 2
    assert np.allclose(fit.maxima[:2], (-38.78992, -38.86579), atol=1e-4)
    assert fit.loglik == pytest.approx(fit.maxima[0])
    one = quietly(data, X, baseline=0, method="ml", starts=1)
    assert one.fit.starts == 1
    assert one.loglik == pytest.approx(-38.86579, abs=1e-4)


def test_a_rare_category_keeps_the_others():
    rng = np.random.default_rng(3)
    x = rng.standard_normal(3000)
    values = np.where(rng.random(3000) < 0.004, 3, rng.integers(0, 3, 3000))
    data = sp.privatize(values.tolist(), FOUR, seed=1)
    fit = quietly(data, x)
    others = [k for k, (category, _) in enumerate(fit.labels) if category != 3]
    assert np.isfinite(fit.cov[np.ix_(others, others)]).all()
    assert fit.probabilities[:, 3].mean() == pytest.approx(sp.estimate(data).w[3], abs=0.01)


def test_columns_of_far_apart_scales():
    data, X = sample_of(FOUR, 600)
    plain = sp.regress(data, X)
    moved = sp.regress(data, X * [1e-8, 1e8] + [0.0, 3e8])
    assert moved.loglik == pytest.approx(plain.loglik, abs=1e-6)
    assert np.allclose(moved.coef[:, 1] * 1e-8, plain.coef[:, 1], atol=1e-5)


def test_many_categories():
    """48 categories, and 60 of which a Hadamard design asks for halves."""
    for design, n in ((sp.uniform(range(48)), 1500), (sp.hadamard(range(60)), 1500)):
        values, X = values_of(design.p, n)
        data = sp.privatize(values.tolist(), design, seed=1)
        fit = quietly(data, X, ridge=5.0)  # some shares are 0
        assert fit.converged
        assert fit.fit.starts == 1
        assert np.allclose(fit.probabilities.sum(axis=1), 1)
        assert fit.loglik > fit.null_loglik - 1


def test_a_million_people_in_few_groups():
    rng = np.random.default_rng(1)
    n = 1_000_000
    X = np.column_stack([rng.integers(0, 3, n), rng.integers(0, 2, n)]).astype(float)
    codes = np.array([3, 5, 6, 9, 10, 12])[rng.integers(0, 6, n)]
    fit = sp.regress(sp.SubsetData(codes, FOUR), X)
    assert len(fit.problem.blocks) == 3 * 2 * 6
    assert fit.converged
    assert np.abs(fit.coef).max() < 0.05
    assert fit.n == n


def test_huge_frequency_weights():
    """10^10 people: the tolerance is of the total, so rounding must not keep a fit from arriving."""
    data, X = sample_of(FOUR, 600)
    plain = sp.regress(data, X)
    times = 2e7
    fit = sp.regress(data, X, weights=np.full(600, times), weights_kind="frequency")
    assert fit.converged
    assert fit.n == 600 * times
    assert np.allclose(fit.coef, plain.coef, atol=1e-6)
    assert np.allclose(fit.se, plain.se / np.sqrt(times), rtol=1e-4)


def test_an_unknown_design_is_fitted_by_its_rows():
    """The likelihood needs rows alone; what needs the probabilities of subsets is refused or not tested."""
    data, X = sample_of(FOUR, 600)
    known = sp.regress(data, X, baseline=0, method="ml")
    unknown = sp.SubsetData(data.codes, coarse(range(4)))
    fit = sp.regress(unknown, X, baseline=0)
    assert np.allclose(fit.coef, known.coef, atol=1e-6)
    assert np.allclose(fit.se, known.se, atol=1e-6)
    assert NoteKind.UNKNOWN_DESIGN in [note.kind for note in fit.notes]
    assert "design is not known" in fit.specification.notes[0].text
    with pytest.raises(UnknownDesignError):
        sp.regress(unknown, X, method="corrected")


def test_a_mixture_of_designs():
    """Some people were asked by one design, others by another: rows are all that is needed."""
    values, X = values_of(4, 1200)
    halves = sp.partition(range(4))
    one = sp.privatize(values[:600].tolist(), FOUR, seed=1)
    two = sp.privatize(values[600:].tolist(), halves, seed=2)
    mixed = sp.SubsetData(np.concatenate([one.codes, two.codes]), Mixture.of([FOUR, halves], [0.5, 0.5]))
    fit = sp.regress(mixed, X, baseline=0, method="ml")
    rows = sp.regress(sp.SubsetData(mixed.codes, coarse(range(4))), X, baseline=0)
    assert np.allclose(fit.coef, rows.coef, atol=1e-6)
    assert 0 <= fit.specification.pvalue[0] <= 1
