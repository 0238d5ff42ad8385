"""Several estimates compared, and p-values adjusted for their number."""

import numpy as np
import pandas as pd
import pytest
from problems import lopsided, quietly
from refusals import refused
from scipy.stats import chi2_contingency

import subsetprivacy as sp
from subsetprivacy import draw
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.estimation.comparison import holm
from subsetprivacy.messages import NoteKind
from subsetprivacy.messages.for_estimates import COLLAPSE_FIRST, ESTIMATE_GROUPS, NAME_ESTIMATES

U4 = sp.uniform(list("abcd"))
W = [0.1, 0.2, 0.3, 0.4]
WAVES = {
    year: sp.estimate(sp.simulate(design, w, 800, seed=year))
    for year, design, w in ((2023, U4, W), (2024, lopsided(), W), (2025, U4, [0.25, 0.2, 0.25, 0.3]))
}


def direct(*counts):
    design = sp.nonprivate([chr(97 + k) for k in range(len(counts))])
    seen = [(1 << k, n) for k, n in enumerate(counts) if n]
    return sp.estimate(sp.SubsetCounts([code for code, _ in seen], [n for _, n in seen], design))


def test_holm_by_hand():
    # The smallest of six is multiplied by 6, the next by 5, …, and none is below one before it.
    # statsmodels 0.15.0, multipletests(..., method="holm"): [0.05, 0.12, 0.12, 0.03, 0.2, 0.12].
    result = holm(np.array([0.01, 0.04, 0.03, 0.005, 0.2, 0.04]))
    assert result == pytest.approx([0.05, 0.12, 0.12, 0.03, 0.2, 0.12])


def test_holm_leaves_out_what_is_not_known():
    result = holm(np.array([0.01, np.nan, 0.6]))
    assert result[[0, 2]] == pytest.approx([0.02, 0.6])
    assert np.isnan(result[1])
    assert holm(np.array([0.7, 0.8])).tolist() == [1, 1]
    assert not len(holm(np.array([])))


def test_each_with_each():
    compared = sp.compare(WAVES)
    assert list(compared.differences) == [(2023, 2024), (2023, 2025), (2024, 2025)]
    frame = compared.to_frame(0.9)
    assert len(frame) == 12
    one = WAVES[2023].difference(WAVES[2025])
    part = frame[(frame.group == 2023) & (frame.against == 2025)]
    assert part["estimate"].to_numpy() == pytest.approx(one.estimate)
    assert part[["lower", "upper"]].to_numpy() == pytest.approx(one.interval(0.9))
    assert part["pvalue"].to_numpy() == pytest.approx(one.pvalues())
    order = np.argsort(frame["pvalue"].to_numpy())
    by_hand = np.maximum.accumulate(frame["pvalue"].to_numpy()[order] * np.arange(12, 0, -1)).clip(max=1)
    assert frame["adjusted_pvalue"].to_numpy()[order] == pytest.approx(by_hand)


def test_all_with_one():
    compared = sp.compare(WAVES, baseline=2024)
    assert list(compared.differences) == [(2023, 2024), (2025, 2024)]
    assert compared.test.statistic == pytest.approx(sp.compare(WAVES).test.statistic)
    assert (compared.to_frame()["against"] == 2024).all()
    assert "for the 8 comparisons of this table together" in str(compared.summary())


@pytest.mark.parametrize("tables", [((30, 50, 20), (60, 45, 33), (20, 20, 40)), ((9, 30), (8, 20), (12, 13), (5, 30))])
def test_the_test_of_all_is_pearsons(tables):
    result = sp.compare({k: direct(*row) for k, row in enumerate(tables)}).test
    statistic, pvalue, df, _ = chi2_contingency(tables, correction=False)
    assert (result.statistic, result.df, result.pvalue) == (pytest.approx(statistic), df, pytest.approx(pvalue))


def test_two_estimates_have_the_test_of_their_difference():
    two = {year: WAVES[year] for year in (2023, 2025)}
    one, other = sp.compare(two).test, WAVES[2025].difference(WAVES[2023]).test
    assert (one.statistic, one.df, one.pvalue) == pytest.approx((other.statistic, other.df, other.pvalue))


def test_categories_in_another_order_are_compared_by_name():
    turned = sp.estimate(sp.simulate(sp.uniform(list("dcba")), W[::-1], 800, seed=5))
    compared = sp.compare({"one": WAVES[2023], "turned": turned})
    frame = compared.to_frame().set_index("category")
    assert frame["estimate"][list("abcd")].to_numpy() == pytest.approx(WAVES[2023].w - turned.w[::-1])
    assert compared.pvalue > 1e-4
    three = sp.compare({"one": WAVES[2023], "two": WAVES[2025], "turned": turned})
    assert three.pvalue < 0.01
    assert three.to_frame()["category"].tolist() == list("abcd") * 3  # one order in one table
    assert three["turned", "two"].estimate == pytest.approx(-three["two", "turned"].estimate[::-1])


def test_a_picture_has_every_category_in_its_row(monkeypatch):
    turned = sp.estimate(sp.simulate(sp.uniform(list("dcba")), W[::-1], 800, seed=5))
    seen = []
    monkeypatch.setattr(draw, "differences", lambda labels, *numbers, **options: seen.append((labels, *numbers)))
    sp.compare({"one": WAVES[2023], "turned": turned}).plot(method="wald")
    labels, estimate, lower, upper = seen[0]
    assert labels == list("abcd")
    assert estimate == pytest.approx(WAVES[2023].w - turned.w[::-1])
    assert (lower < estimate).all()
    assert (upper > estimate).all()


def test_margins_and_merged_categories_are_compared_too():
    merged = {year: fit.collapse({"ab": ["a", "b"]}) for year, fit in WAVES.items()}
    compared = sp.compare(merged)
    assert compared.test.method == "newton"
    assert compared.test.df == 4
    assert "Wald test" in str(compared.summary(method="wald"))
    assert list(compared.categories) == ["ab", "c", "d"]


def test_moments_are_compared_by_wald():
    moments = {year: sp.estimate(fit.counts, "mom") for year, fit in WAVES.items()}
    compared = sp.compare(moments)
    assert compared.test.method == "wald"
    assert compared.test.df == 6
    assert compared.test.statistic == pytest.approx(sp.compare(WAVES).test.statistic, rel=0.3)


def test_groups_can_be_compared():
    counts = {name: fit.counts for name, fit in zip("xyz", WAVES.values(), strict=True)}
    compared = sp.compare(sp.estimate_many(counts), baseline="x")
    assert list(compared.differences) == [("y", "x"), ("z", "x")]


def test_a_long_table_is_cut_and_says_so():
    many = {k: sp.estimate(sp.simulate(U4, W, 400, seed=k)) for k in range(8)}
    compared = sp.compare(many)
    table = compared.summary(method="wald")
    assert len(table.rows) == 64
    assert NoteKind.SHORTENED in [note.kind for note in table.notes]
    assert len(compared.to_frame(method="wald")) == 28 * 4
    assert compared.plot(method="wald") is not None


def test_notes_name_their_group():
    with quietly():
        rare = sp.estimate(sp.simulate(U4, [0.97, 0.01, 0.01, 0.01], 60, seed=3))
    compared = sp.compare({"usual": WAVES[2023], "rare": rare})
    assert compared.notes
    assert all(note.text.startswith("rare: ") for note in compared.notes)


def test_what_cannot_be_compared():
    fit = WAVES[2023]
    for wrong, message in (
        ([fit, fit], "must be named; got list"),
        ({"a": fit}, "must be two or more; got 1"),
    ):
        with pytest.raises(ArgumentError, match=message) as caught:
            sp.compare(wrong)
        assert caught.value.advice.advice is NAME_ESTIMATES
    with refused(ArgumentError, "estimates") as caught:
        sp.compare({"a": fit, "b": fit.counts})
    assert caught.value.advice.advice is ESTIMATE_GROUPS
    for baseline in ("other", ["a"]):
        with refused(ArgumentError, "baseline"):
            sp.compare(WAVES, baseline=baseline)
    with pytest.raises(MismatchError):
        sp.compare({"a": fit, "b": fit})
    other = sp.estimate(sp.simulate(sp.uniform(list("abce")), W, 300, seed=1))
    with pytest.raises(MismatchError) as caught:
        sp.compare({"a": fit, "b": other})
    assert caught.value.advice.advice is COLLAPSE_FIRST


def test_margins_of_one_estimate_are_not_independent():
    joint = sp.product({"x": U4, "y": U4})
    fit = sp.estimate(sp.simulate(joint, np.full(16, 1 / 16), 2000, seed=1))
    with pytest.raises(MismatchError):
        sp.compare({"x": fit.margin("x"), "y": fit.margin("y")})


def test_too_many_pairs_need_a_baseline():
    fits = dict.fromkeys(range(65), WAVES[2023])
    with pytest.raises(ArgumentError, match=r"at most 2000 pairs to compare; got 2080\. A baseline leaves 64"):
        sp.compare(fits)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, ("f", None), (None,)])
def test_people_without_a_group_are_left_out_as_in_all_tests(missing):
    counts = {year: fit.counts for year, fit in WAVES.items()}
    lost = sp.simulate(U4, W, 300, seed=9)
    whole = {2023: counts[2023], missing: lost, 2024: counts[2024], 2025: counts[2025]}
    fits = {group: sp.estimate(part) for group, part in whole.items()}
    compared, expected = sp.compare(fits), sp.compare(WAVES)
    assert compared.test.to_dict() == expected.test.to_dict()
    assert compared.to_frame().equals(expected.to_frame())
    text = f"Left out, because their group is missing: {lost.n + lost.n_missing} rows."
    tested = sp.homogeneity_test(whole, permutations=0, null="asymptotic")
    assert tested.df == sp.homogeneity_test(counts, permutations=0, null="asymptotic").df
    trend = sp.trend_test({2023: counts[2023], missing: lost, 2025: counts[2025]}, permutations=0)
    for result in (compared, tested, trend):
        assert [note.text for note in result.notes if note.kind is NoteKind.LEFT_OUT] == [text]
    assert text in str(compared.summary())
    with refused(ArgumentError, "estimates"):
        sp.compare({2023: fits[2023], missing: fits[missing]})
    with refused(ArgumentError, "groups"):
        sp.homogeneity_test({2023: counts[2023], missing: lost})


def test_a_missing_group_of_a_column_is_estimated_but_not_compared():
    data = sp.simulate(U4, W, 900, seed=1)
    codes = np.repeat(data.codes, data.counts.astype(int))
    column = np.resize(["north", "south", "west", None], len(codes))
    counts = sp.count(sp.SubsetData(codes, U4), by=column)
    fits = sp.estimate_many(counts)
    assert list(fits.names) == ["north", "south", "west", None]
    compared = sp.compare(fits)
    assert (compared.test.df, len(compared.to_frame())) == (6, 12)
    assert sp.homogeneity_test(counts, permutations=0).df == 6
    assert sp.compare(fits, baseline="south").to_frame()["group"].unique().tolist() == ["north", "west"]
