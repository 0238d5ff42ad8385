"""Laws of regressions on private predictors: relabelling, baselines, weights, scale, missing answers."""

import numpy as np
import predictor_people as made
import pytest
from numpy.testing import assert_allclose

import subsetprivacy as sp
from subsetprivacy.predictors.outcome import fit_outcome, most_frequent

DESIGN = sp.fixed_size(list("abc"), 2)
CASES = [(family, method) for family in ("linear", "logit", "poisson") for method in ("corrected", "ml")]
every_fit = pytest.mark.parametrize(("family", "method"), CASES)


def predicted(fit, V):
    return np.stack([fit.predict((V[:20], {"x": [label] * 20})).estimate[:, 0] for label in "abc"])


@every_fit
def test_another_baseline_leaves_predictions(family, method):
    all_of_them = made.people(family, design=DESIGN)
    one, two = (
        made.fit(family, made=all_of_them, method=method, layout=made.layout(baseline=baseline)) for baseline in "ac"
    )
    assert_allclose(predicted(one, all_of_them[1]), predicted(two, all_of_them[1]), rtol=1e-6, atol=1e-7)
    assert one.layout.names[-2:] == ("x[b]", "x[c]")
    assert two.layout.names[-2:] == ("x[a]", "x[b]")


@pytest.mark.parametrize("method", ["corrected", "ml"])
def test_relabeled_categories_permute_the_answer(method):
    y, V, codes, design, _ = made.people("linear", design=DESIGN)
    other = sp.fixed_size(list("cab"), 2)  # c, a, b are bits 0, 1, 2
    moved = np.array([sum(1 << "cab".index("abc"[j]) for j in range(3) if code >> j & 1) for code in codes.tolist()])
    one = fit_outcome("y", y, V, codes, design, made.layout(), method=method, starts=1)
    two = fit_outcome("y", y, V, moved, other, made.layout("cab", baseline="a"), method=method, starts=1)
    names = {name: k for k, name in enumerate(two.layout.names)}
    assert_allclose(two.coef[[names[name] for name in one.layout.names]], one.coef, rtol=1e-5, atol=1e-6)


@every_fit
def test_a_weight_of_two_is_the_row_twice(family, method):
    y, V, codes, design, _ = made.people(family, 400, design=DESIGN)
    twice = np.arange(400) < 150
    rows = np.r_[np.arange(400), np.flatnonzero(twice)]
    one = made.fit(family, made=(y, V, codes, design), method=method, weights=1.0 + twice, weights_kind="frequency")
    two = made.fit(family, made=(y[rows], V[rows], codes[rows], design), method=method)
    assert one.n == two.n == 550
    # With as many subsets as categories indicators do not depend on the working distribution.
    assert_allclose(one.coef, two.coef, rtol=1e-6, atol=1e-7)
    assert_allclose(one.cov, two.cov, rtol=1e-5, atol=1e-9)


def test_an_outcome_far_from_0_has_the_same_slopes():
    """Powers of the outcome are those of its distance from the mean, so a constant changes no indicator."""
    y, V, codes, design, _ = made.people("linear", 2000, design=sp.uniform(list("abcd")), labels="abcd")
    y = np.exp(y / 2)  # skewed, so that the square of it tells something
    one, two = (made.fit("linear", made=(each, V, codes, design), labels="abcd") for each in (y, 3.0 * y + 1e6))
    shift = np.where(np.arange(len(one.coef)) == one.layout.intercept, 1e6, 0.0)
    assert_allclose((two.coef - shift) / 3, one.coef, atol=1e-6)
    assert_allclose(two.se / 3, one.se, rtol=1e-5)


@every_fit
def test_the_scale_of_a_column_does_not_matter(family, method):
    y, V, codes, design, _ = made.people(family, design=DESIGN)
    scaled = V * np.array([1.0, 1e4, 1e-3])
    one, two = (made.fit(family, made=(y, columns, codes, design), method=method) for columns in (V, scaled))
    assert_allclose(two.coef * np.array([1, 1e4, 1e-3, 1, 1]), one.coef, rtol=1e-5, atol=1e-6)
    assert_allclose(two.se * np.array([1, 1e4, 1e-3, 1, 1]), one.se, rtol=1e-5)


def test_full_sets_are_left_out_and_counted():
    y, V, codes, design, _ = made.people("linear", design=DESIGN)
    silent = codes.copy()
    silent[:50] = design.missing_code
    one = made.fit("linear", made=(y, V, silent, design))
    two = made.fit("linear", made=(y[50:], V[50:], codes[50:], design))
    assert (one.n, one.n_missing) == (750, 50)
    assert_allclose(one.coef, two.coef)
    assert "Left out because a subset is the full set: 50 rows." in str(one.summary())


def test_two_private_predictors_find_their_effects():
    rng = np.random.default_rng(7)
    n = 20_000
    first, second = sp.fixed_size(list("abc"), 2), sp.warner(["no", "yes"], 0.8)
    x, z = rng.integers(0, 3, n), rng.integers(0, 2, n)
    v = rng.standard_normal(n)
    y = 1 + 0.5 * v + np.array([0, 1, -1])[x] + 0.7 * z + 0.5 * v * z + rng.standard_normal(n)
    both = sp.product({"x": first, "z": second})
    codes = both.join(
        [
            sp.privatize(np.array(list("abc"))[x], first, seed=1).codes,
            sp.privatize(np.array(["no", "yes"])[z], second, seed=2).codes,
        ]
    )
    from subsetprivacy.predictors.layout import ModelTerm, arrange

    arranged = arrange(
        ["Intercept", "v"],
        0,
        {"x": first.categories, "z": second.categories},
        {"x": "a", "z": "no"},
        [
            ModelTerm("Intercept", (0,)),
            ModelTerm("v", (1,)),
            ModelTerm("x", (0,), ("x",)),
            ModelTerm("z", (0,), ("z",)),
            ModelTerm("v:z", (1,), ("z",)),
        ],
    )
    true = np.array([1, 0.5, 1, -1, 0.7, 0.5])
    for method in ("corrected", "ml"):
        fit = fit_outcome("y", y, np.column_stack([np.ones(n), v]), codes, both, arranged, method=method, starts=1)
        assert (np.abs(fit.coef - true) < 4 * fit.se).all()
        assert (fit.se < 0.12).all()


def test_the_likelihood_has_smaller_errors_and_both_agree():
    one, two = (made.fit("linear", n=4000, design=DESIGN, method=method) for method in ("corrected", "ml"))
    assert (two.se < one.se).all()
    assert one.specification.pvalue[0] == pytest.approx(two.specification.pvalue[0], rel=1e-3)
    assert one.specification.df[0] > 0
    assert one.specification.pvalue[0] > 1e-3


def test_the_comparison_sees_a_wrong_model():
    rng = np.random.default_rng(8)
    n = 4000
    v = rng.standard_normal(n)
    x = np.where(np.abs(v) > 0.7, rng.choice([0, 1, 2, 3], n, p=[0.7, 0.1, 0.1, 0.1]), rng.integers(0, 4, n))
    y = x + v + 2 * (rng.exponential(size=n) - 1)
    design = sp.uniform(list("abcd"))
    V = np.column_stack([np.ones(n), v, rng.integers(0, 2, n)])
    codes = sp.privatize(np.array(list("abcd"))[x], design, seed=1).codes
    fit = fit_outcome("y", y, V, codes, design, made.layout("abcd"), method="ml")
    assert fit.specification.pvalue[0] < 1e-6
    assert "does not describe these data" in str(fit.summary())


def test_most_frequent_is_the_largest_share():
    codes = sp.privatize(["c"] * 50 + ["a"] * 10 + ["b"] * 5, DESIGN, seed=1).codes
    assert most_frequent(codes, DESIGN) == "c"
