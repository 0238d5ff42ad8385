"""Unbiased indicators: their law by enumeration, their variance, and what `indicator` takes and refuses."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from every_case import every_case
from every_design import DESIGNS
from problems import lopsided, lopsided_conditional, with_full_question
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design import Coarse
from subsetprivacy.errors import (
    ArgumentError,
    CategoryError,
    CodeError,
    DistributionError,
    MismatchError,
    NoDataError,
    NotIdentifiableError,
    UnknownDesignError,
)
from subsetprivacy.estimation.indicator import IndicatorTable, rows_of
from subsetprivacy.estimation.quantizing import quantize

LISTED = {name: design for name, design in DESIGNS.items() if design.enumerable}


def informative_subsets(design):
    """Return the informative subsets with their mu and rows."""
    codes, mu = design.support()
    kept = ~design.is_missing(codes)
    return codes[kept], mu[kept] / (1 - design.mu_full), rows_of(codes[kept], design)


def distributions(p, size, seed=1):
    return np.random.default_rng(seed).dirichlet(np.ones(p), size=size)


# The law of D -------------------------------------------------------------------------------------


@every_case("name", ["four", "lopsided", "hadamard", "given", "thirds"])
def test_no_other_working_distribution_has_a_smaller_variance(name):
    design = LISTED[name]
    _, mu, rows = informative_subsets(design)
    right, *wrong = distributions(design.p, 4, seed=2) * 0.8 + 0.2 / design.p
    table = IndicatorTable(design, np.stack([right, *wrong]))
    law_of_reports = mu * (right @ rows)
    squares = [(D * law_of_reports) @ D.T for D in (table.of(rows, np.full(len(mu), b)) for b in range(4))]
    G = (rows * (mu / (right @ rows))) @ rows.T
    assert np.allclose(squares[0], np.linalg.inv(G), atol=1e-11)  # E DD' is the inverse of G
    for other in squares[1:]:
        assert np.linalg.eigvalsh(other - squares[0]).min() > -1e-11


def test_indicator_without_a_list_of_subsets_is_that_of_an_even_distribution():
    design = sp.uniform(range(9))
    _, _, rows = informative_subsets(design)
    table = IndicatorTable(design, np.full(9, 1 / 9))
    assert np.allclose(table._without_w(rows), table.of(rows), atol=1e-12)


@every_case("make", [lopsided, lopsided_conditional, with_full_question, lambda: sp.warner(["a", "b"], 0.3)])
def test_indicator_by_moments_is_unbiased_and_sums_to_one(make):
    design = make()
    _, mu, rows = informative_subsets(design)
    D = IndicatorTable(design, np.full(design.p, 1 / design.p))._without_w(rows)
    assert np.allclose((mu * D) @ rows.T, np.eye(design.p), atol=1e-12)
    assert np.allclose(D.sum(axis=0), 1, atol=1e-12)


def test_uniform_on_30_categories_has_indicators_whatever_w():
    design = sp.uniform(range(30))
    values = np.arange(3000) % 30
    data = sp.privatize(values, design, seed=1)
    D = sp.indicator(data, w=distributions(30, len(data)))
    assert np.array_equal(D, sp.indicator(data, w=np.full(30, 1 / 30)))
    assert np.allclose(D.sum(axis=1), 1)
    z = (D[values == 7].mean(axis=0) - np.eye(30)[7]) / (D[values == 7].std(axis=0) / 10)
    assert np.abs(z).max() < 4.5


def test_hundreds_of_categories():
    design = sp.hadamard(300)
    assert not IndicatorTable(design, np.full(300, 1 / 300)).ignores_w
    _, mu, rows = informative_subsets(design)
    D = IndicatorTable(design, distributions(300, 1)[0]).of(rows)
    assert np.allclose((mu * D) @ rows.T, np.eye(300), atol=1e-11)


def test_beyond_the_largest_matrix_the_closed_form_of_moments_serves():
    design = sp.hadamard(5000)
    data = sp.privatize([4321] * 3, design, seed=1)
    assert IndicatorTable(design, np.full(5000, 1 / 5000)).ignores_w
    assert np.allclose(sp.indicator(data, w=np.full(5000, 1 / 5000)).sum(axis=1), 1)


def test_every_person_has_the_indicator_of_their_block():
    design = lopsided()
    _, _, rows = informative_subsets(design)
    table = IndicatorTable(design, distributions(4, 3))
    block = np.array([2, 0, 1, 2, 0, 1])
    mixed = table.of(rows, block)
    for k, b in enumerate(block):
        assert np.allclose(mixed[:, k], table.of(rows[:, [k]], np.array([b]))[:, 0], atol=1e-14)


def test_full_set_gets_the_working_distribution():
    table = IndicatorTable(lopsided(), [0.1, 0.2, 0.3, 0.4])
    assert np.allclose(table.of(np.ones((4, 1)))[:, 0], [0.1, 0.2, 0.3, 0.4])


def test_working_probabilities_of_zero_are_raised():
    assert IndicatorTable(lopsided(), [1, 0, 0, 0]).w.min() == pytest.approx(0.005 / 1.015)


# Blocks -------------------------------------------------------------------------------------------


def test_few_distinct_rows_are_their_own_centers():
    W = distributions(5, 40)[np.random.default_rng(1).integers(0, 40, 3000)]
    centers, block = quantize(W)
    assert len(centers) == 40
    assert np.array_equal(centers[block], W)


def test_rare_rows_that_the_sample_lacks_are_kept_exactly():
    W = np.full((50_000, 3), 1 / 3)
    W[1] = [0.8, 0.1, 0.1]  # every third row is looked at first
    centers, block = quantize(W)
    assert np.array_equal(centers[block], W)


def test_blocks_are_few_near_and_the_same_again():
    W = distributions(4, 5000)
    centers, block = quantize(W, 32)
    assert len(centers) <= 32
    assert np.allclose(centers.sum(axis=1), 1)
    spread = ((np.sqrt(W) - np.sqrt(W.mean(axis=0))) ** 2).sum()
    assert ((np.sqrt(W) - np.sqrt(centers[block])) ** 2).sum() < 0.2 * spread
    again = quantize(W, 32)
    assert np.array_equal(again[0], centers)
    assert np.array_equal(again[1], block)


def test_64_blocks_lose_little_precision():
    design = sp.uniform(range(6))
    W = np.random.default_rng(3).dirichlet(np.ones(6) * 0.7, size=3000) * 0.9 + 0.1 / 6
    _, mu, rows = informative_subsets(design)

    def variance(w, used):
        """The mean over people of the trace of E DD' when person i has the distribution w_i."""
        total = 0.0
        for own, center in zip(w, used, strict=True):
            G = np.linalg.inv((rows * (mu / (center @ rows))) @ rows.T)
            D = G @ rows / (center @ rows)
            total += float((D**2 * (mu * (own @ rows))).sum())
        return total / len(w)

    some = slice(0, 3000, 10)
    centers, block = quantize(W, 64)
    assert variance(W[some], centers[block][some]) < 1.05 * variance(W[some], W[some])


# What `indicator` takes ---------------------------------------------------------------------------


@pytest.fixture
def people():
    values = np.random.default_rng(1).choice(list("abcd"), size=500, p=[0.1, 0.2, 0.3, 0.4])
    return sp.privatize(values, lopsided(), seed=1)


def test_w_by_label_by_position_and_per_person_agree(people):
    shares = {"d": 0.4, "c": 0.3, "b": 0.2, "a": 0.1}
    D = sp.indicator(people, shares)
    assert D.shape == (500, 4)
    assert np.array_equal(D, sp.indicator(people, [0.1, 0.2, 0.3, 0.4]))
    per_person = np.tile([0.1, 0.2, 0.3, 0.4], (500, 1))
    assert np.allclose(D, sp.indicator(people, per_person), atol=1e-14)
    frame = pd.DataFrame(per_person, columns=list("abcd"))[["c", "a", "d", "b"]]
    assert np.allclose(D, sp.indicator(people, frame), atol=1e-14)
    assert np.allclose(D, sp.indicator(people, pl.from_pandas(frame)), atol=1e-14)


def test_by_default_w_is_the_estimate_and_the_mean_is_too(people):
    D = sp.indicator(people)
    assert np.allclose(D, sp.indicator(people, sp.estimate(people).w))
    assert D.mean(axis=0) == pytest.approx(sp.estimate(people).w, abs=1e-6)  # a step of Newton from the maximum


def test_codes_with_a_design(people):
    assert np.array_equal(sp.indicator(people.codes, design=people.design), sp.indicator(people))


def test_missing_answers_are_nan(people):
    codes = people.codes.copy()
    codes[3] = people.design.missing_code
    D = sp.indicator(codes, [0.25] * 4, design=people.design)
    assert np.isnan(D[3]).all()
    assert np.isfinite(np.delete(D, 3, axis=0)).all()


def test_labels_have_ones_and_zeros():
    design = sp.nonprivate(["x", "y"])
    D = sp.indicator(np.array([1, 2, 2]), [0.3, 0.7], design=design)
    assert np.allclose(D, [[1, 0], [0, 1], [0, 1]], atol=1e-15)


# Models of the value ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def modelled():
    """Return people with a covariate that predicts their value, some of whom said nothing, and a fit."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=1200)
    values = np.where(rng.random(1200) < 1 / (1 + np.exp(-2 * x)), "a", rng.choice(list("bcd"), 1200))
    codes = sp.privatize(values, lopsided(), seed=1).codes.copy()
    codes[[3, 700]] = lopsided().missing_code
    data = sp.SubsetData(codes, lopsided())
    return data, x, sp.regress(data, {"x": x})


def test_a_regression_is_a_working_distribution_of_the_same_people(modelled):
    data, _, fit = modelled
    W = np.full((1200, 4), 0.25)  # of people who said nothing it makes no difference
    W[np.delete(np.arange(1200), [3, 700])] = fit.probabilities
    D = sp.indicator(data, fit)
    assert np.isnan(D[[3, 700]]).all()
    assert np.isfinite(np.delete(D, [3, 700], axis=0)).all()
    assert np.nanmean(np.abs(D - sp.indicator(data, W, blocks=1200))) < 0.05  # but for the blocks, the same
    assert np.allclose(D, sp.indicator(data, np.where(np.isnan(D), fit.probabilities.mean(axis=0), W)), equal_nan=True)


def test_people_keep_their_order_with_a_regression(modelled):
    data, x, _ = modelled
    order = np.random.default_rng(1).permutation(1200)
    mixed = sp.SubsetData(data.codes[order], data.design)
    one = sp.indicator(data, sp.regress(data, {"x": x}), blocks=2000)
    two = sp.indicator(mixed, sp.regress(mixed, {"x": x[order]}), blocks=2000)
    assert np.allclose(one[order], two, atol=1e-5, equal_nan=True)


def test_a_model_of_the_value_lowers_the_variance(modelled):
    data, _, fit = modelled
    spread = [np.nanvar(sp.indicator(data, w), axis=0).sum() for w in (None, fit)]
    assert spread[1] < spread[0]


def test_anything_with_probabilities_serves_whatever_the_order_of_its_categories(modelled):
    data, _, _ = modelled

    class Model:
        categories = tuple("dcba")
        probabilities = np.tile([0.4, 0.3, 0.2, 0.1], (1200, 1))

    expected = sp.indicator(data, np.tile([0.1, 0.2, 0.3, 0.4], (1200, 1)))
    assert np.array_equal(sp.indicator(data, Model()), expected, equal_nan=True)


def test_a_fit_of_other_people_is_refused(modelled):
    data, _, fit = modelled
    with pytest.raises(MismatchError):
        sp.indicator(sp.SubsetData(data.codes[:600], data.design), fit)


def test_never_a_solve_per_person(modelled, monkeypatch):
    data, _, fit = modelled
    inverted = []
    invert = np.linalg.inv
    monkeypatch.setattr(np.linalg, "inv", lambda a: inverted.append(np.prod(a.shape[:-2])) or invert(a))
    monkeypatch.setattr(np.linalg, "solve", lambda *_: pytest.fail("a system of equations was solved"))
    design = data.design
    design.require_identifiable()
    W = fit.probabilities[np.arange(1200) % 1198]
    for blocks in (1, 16, 64):
        inverted.clear()
        sp.indicator(data, W, blocks=blocks)
        assert 0 < sum(inverted) <= blocks


# Several variables --------------------------------------------------------------------------------


def test_a_table_has_indicators_of_the_combinations():
    design = sp.product({"x": sp.uniform(list("abcd")), "y": sp.warner(["u", "v"])})
    codes = design.factors[0].support()[0], design.factors[1].support()[0]
    pairs = np.array([(a, b) for a in codes[0] for b in codes[1]])
    pairs = pairs[~design.factors[0].is_missing(pairs[:, 0]) & ~design.factors[1].is_missing(pairs[:, 1])]
    table = sp.SubsetTable({"x": pairs[:, 0], "y": pairs[:, 1]}, design)
    even = np.full(8, 1 / 8)
    joint = sp.indicator(table, even)
    single = [sp.indicator(table[name], np.full(p, 1 / p)) for name, p in (("x", 4), ("y", 2))]
    assert joint.shape == (len(pairs), 8)
    assert np.allclose(joint, np.einsum("ij,ik->ijk", *single).reshape(-1, 8), atol=1e-12)  # an even w is a product
    assert np.allclose(joint.reshape(-1, 4, 2).sum(axis=2), single[0], atol=1e-12)


def test_a_row_of_a_table_is_missing_if_an_answer_is():
    design = sp.product({"x": sp.uniform(list("abcd")), "y": sp.uniform(list("rstu"))})
    table = sp.SubsetTable({"x": [3, 15, 5], "y": [6, 6, 15]}, design)
    D = sp.indicator(table, np.full(16, 1 / 16))
    assert np.isnan(D).all(axis=1).tolist() == [False, True, True]
    assert np.isnan(sp.indicator(table["x"], np.full(4, 0.25))).all(axis=1).tolist() == [False, True, False]


def test_looking_up_pairs_and_working_out_people_agree():
    data = sp.privatize(np.arange(3000) % 4, sp.uniform(range(4)), seed=2)
    W = distributions(4, 40)[np.arange(3000) % 40]
    some = slice(0, 60)  # fewer people than pairs: each is worked out
    assert np.allclose(
        sp.indicator(data, W)[some],
        sp.indicator(sp.SubsetData(data.codes[some], data.design), W[some]),
        rtol=0,
        atol=1e-12,
    )


# What it refuses ----------------------------------------------------------------------------------


@every_case(
    ("codes", "design", "error"),
    [
        ([3, 5], Coarse(sp.Categories(list("abc"))), UnknownDesignError),
        ([7, 7], sp.fully_private(list("abc")), NotIdentifiableError),
        ([15, 15], lopsided(), NoDataError),
        ([0b010011] * 116, sp.covered(lopsided(), 0.15).realized(80), ArgumentError),
    ],
    ids=["unknown design", "a design that cannot tell", "nothing but missing answers", "dummy rows"],
)
def test_people_without_an_indicator(codes, design, error):
    with pytest.raises(error):
        sp.indicator(np.array(codes), design=design)


def test_codes_of_another_design():
    with pytest.raises(CodeError, match="row 1"):
        sp.indicator(np.array([3, 7]), design=lopsided())


@every_case(
    ("change", "error", "argument"),
    [
        (lambda W: W[:-1], MismatchError, "w"),
        (lambda W: W[:, :3], MismatchError, "w"),
        (lambda W: np.where(np.arange(500)[:, None] == 7, 0.3, W), DistributionError, "w"),
        (lambda W: np.where(np.arange(500)[:, None] >= 498, np.nan, W), DistributionError, "w"),
        (lambda W: pd.DataFrame(W, columns=list("abce")), CategoryError, "w"),
        (lambda W: pd.DataFrame(W[:, :3] / 0.75, columns=list("abc")), MismatchError, "w"),
    ],
)
def test_working_distributions_of_others(people, change, error, argument):
    with refused(error, argument):
        sp.indicator(people, change(np.full((500, 4), 0.25)))


def test_wrong_w(people):
    with pytest.raises(DistributionError):
        sp.indicator(people, [0.5, 0.5, 0.5, 0.5])
    with refused(ArgumentError, "blocks"):
        sp.indicator(people, blocks=0)


def test_shapes_of_a_table():
    table = IndicatorTable(lopsided(), np.full((2, 4), 0.25))
    with pytest.raises(ArgumentError, match=r"`rows` must have shape \(4, m\)"):
        table.of(np.ones((3, 5)))
    with refused(ArgumentError, "block"):
        table.of(np.ones((4, 5)))
    with refused(ArgumentError, "w"):
        IndicatorTable(lopsided(), np.full(3, 1 / 3))
