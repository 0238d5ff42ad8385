"""One rule for all p-values: none is 0, and text says below what it is."""

import json

import numpy as np
from every_case import every_case

import subsetprivacy as sp
from subsetprivacy import draw
from subsetprivacy.pvalues import SMALLEST, p_equals, positive, pvalue_text

U4 = sp.uniform(list("abcd"))
WARNER = sp.warner(["no", "yes"], q=0.25)


def dependent(n):
    """A table of two secret bits in which both reports always agree."""
    design = sp.product({"x": WARNER, "y": sp.warner(["bad", "good"], q=0.25)})
    return sp.JointCounts.of_table([[n // 2, 0], [0, n // 2]], design)


@every_case(("value", "kept"), [(0.0, SMALLEST), (5e-324, SMALLEST), (1e-300, 1e-300), (0.3, 0.3)])
def test_no_pvalue_is_zero(value, kept):
    assert positive(value) == kept
    assert 0 < SMALLEST < 1e-300


def test_a_pvalue_that_there_is_not_stays_so():
    assert np.isnan(positive(np.nan))
    assert pvalue_text(np.nan) == "-"


@every_case(
    ("value", "text"), [(SMALLEST, "< 0.0001"), (0.00009999, "< 0.0001"), (0.0001, "0.0001"), (0.0312, "0.0312")]
)
def test_text_says_below_what_a_small_one_is(value, text):
    assert pvalue_text(value) == text
    assert p_equals(value) == (f"p {text}" if "<" in text else f"p = {text}")


SURE = sp.SubsetCounts([3, 12, 5, 10, 9, 6], [10**6, 10, 10**6, 10, 10**6, 10], U4)
OTHER = sp.SubsetCounts([3, 12, 5, 10, 9, 6], [10, 10**6, 10, 10**6, 10, 10**6], U4)
STEERED = sp.SubsetCounts([3, 12, 5, 10, 9, 6], [10**6, 10**6, 10, 10, 10, 10], U4)
INSIDE = [
    [300_000, 200_000],
    [200_000, 300_000],
]  # no share on the boundary, where there is no test by the delta method

# Every kind of result that has a p-value, from samples that leave no doubt.
RESULTS = {
    "all tables": lambda: sp.independence_test(dependent(3000)),
    "limit law": lambda: sp.independence_test(dependent(10**6), null="asymptotic"),
    "pairs": lambda: sp.independence_test(dependent(10**6), "bonferroni", null="asymptotic"),
    "groups": lambda: sp.homogeneity_test(SURE, OTHER, permutations=0),
    "contrast": lambda: sp.estimate(inside(U4)).contrast({"a": 1, "b": -1}),
    "difference": lambda: sp.association(sp.estimate(both())).difference("good"),
    "profile": lambda: sp.association(sp.estimate(both())).odds_ratio(method="profile"),
    "draws": lambda: sp.check_draws(STEERED),
}


def both():
    design = sp.product({"x": WARNER, "y": sp.warner(["bad", "good"], q=0.25)})
    return sp.JointCounts.of_table(INSIDE, design)


def inside(design):
    return sp.SubsetCounts([3, 12, 5, 10, 9, 6], [700_000, 300_000, 600_000, 400_000, 600_000, 400_000], design)


@every_case("name", RESULTS)
def test_results_of_samples_without_any_doubt(name):
    result = RESULTS[name]()
    assert 0 < result.pvalue < 1e-300
    shown = str(result.summary()) if hasattr(result, "summary") else str(result)
    assert "< 0.0001" in shown
    assert "e-3" not in shown
    if hasattr(result, "to_dict"):
        assert 0 < json.loads(json.dumps(result.to_dict(), allow_nan=False))["pvalue"] < 1e-300


def test_the_exact_test_looked_at_all_tables():
    result = RESULTS["all tables"]()
    assert (result.null, result.pvalue_se) == ("exact", 0.0)
    assert result.asymptotic_pvalue > 0


def test_pairs_of_categories_have_positive_pvalues_too():
    result = RESULTS["pairs"]().pairs
    assert (result.pvalues > 0).all()
    exact = sp.independence_test(dependent(3000), "bonferroni")
    assert exact.null == "exact"
    assert (exact.pairs.pvalues > 0).all()


def test_all_parts_of_a_check_of_honesty():
    rows = sp.simulate(sp.uniform(list("abcde")), [0.2] * 5, 10**6, seed=1)
    lied = np.where(rows.codes == rows.codes.max(), 10**7, rows.counts)
    check = sp.check_honesty(sp.SubsetCounts(rows.codes, lied, rows.design))
    assert all(part.pvalue > 0 for part in check.parts)
    assert min(part.pvalue for part in check.parts) == SMALLEST
    assert "< 0.0001" in str(check.summary())


def test_pictures_say_the_same():
    ax = draw.null_distribution(np.arange(20.0), 50.0, df=3, pvalue=SMALLEST)
    assert any("p-value < 0.0001" in text.get_text() for text in [*ax.texts, *ax.get_legend().get_texts()])
