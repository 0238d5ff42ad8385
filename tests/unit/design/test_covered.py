"""Dummy rows with dummy categories: a floor for the size of every report."""

import json
from math import ceil

import numpy as np
import pytest
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st
from lopsided import ABCD, ASKED, GIVEN, GROUPS, RECORDED, SEVEN, WARNER
from refusals import refused
from scipy.stats import chi2_contingency, chisquare, kstest

import subsetprivacy as sp
from subsetprivacy.design import Mixture
from subsetprivacy.errors import (
    ArgumentError,
    DesignDocumentError,
    InvalidDesignError,
    MismatchError,
    NotIndependentError,
)

UNIFORM = sp.uniform(ABCD)
W = np.array([0.1, 0.2, 0.3, 0.4])
BASES = {
    "uniform": UNIFORM,
    "lopsided": ASKED,
    "groups": sp.partition(SEVEN, 3),
    "listed": GROUPS,
    "recorded": RECORDED,
    "pairs of six": sp.fixed_size(range(6), 2),
    "hadamard": sp.hadamard(range(6)),
    "hadamard, p=60": sp.hadamard(60),
    "product": sp.product({"x": ASKED, "g": RECORDED}),
    "two values": sp.nonprivate(["no", "yes"]),
    "mixture": Mixture.of([UNIFORM, ASKED], [1, 3]),
    "half of six": sp.fixed_size(range(6), 3),
}


def fresh_rows(design):
    return design.support_incidence.inner(np.eye(design.p)).T


# The floor ---------------------------------------------------------------------------------------------------------


@every_case("name", BASES)
def test_there_are_as_many_dummy_categories_as_the_reports_need(name):
    base = BASES[name]
    design = sp.covered(base, 0.9 / round(base.S), reveals=True)
    assert pytest.approx(base.S) == design.D
    assert len(design.dummy_names) == design.D
    # A dummy's reports are a law as well: mu_a over the reports with its category.
    codes, mu = design.support()
    for d in range(design.D):
        assert mu[codes >> (base.code_bits + d) & 1 == 1].sum() == pytest.approx(1)


@every_case("name", BASES)
def test_every_report_keeps_the_floor_whatever_the_distribution(name):
    base = BASES[name]
    rng = np.random.default_rng(1)
    for floor in (0.01, 0.5 / base.S, 0.9 / base.S):
        for people in (1, 2, 7, 100, 12_345):
            design = sp.covered(base, floor, reveals=True).realized(people)
            assert design.share >= floor - 1e-12
            anyone = np.vstack([np.eye(base.p), rng.dirichlet(np.full(base.p, 0.3), 20)])
            sizes = design.support_incidence.inner(anyone)
            assert sizes.min() >= design.share - 1e-12
            if people == 7:
                assert design.least_size(anyone[0]) == pytest.approx(sizes[0].min())
                assert sizes[: base.p].min() == pytest.approx(design.share)  # and no more: the vertices reach it


@given(st.floats(1e-4, 0.499), st.integers(1, 10**6))
@settings(max_examples=200, deadline=None)
def test_the_number_of_dummies_is_the_least_that_keeps_the_floor(floor, people):
    design = sp.covered(UNIFORM, floor).realized(people)
    exact = floor * people / (1 - 2 * floor)
    assert design.dummies in {ceil(exact), ceil(exact * (1 - 1e-12))}
    assert design.share >= floor * (1 - 1e-9)
    fewer = design.dummies - 1
    assert fewer < 0 or fewer / (people + 2 * fewer) < floor * (1 + 1e-9)


def test_the_papers_number_of_dummies_falls_short():
    # 2 alpha n of them give alpha / (1 + 2 alpha): a quarter becomes a sixth.
    n, alpha = 1200, 0.25
    paper = alpha * n
    assert paper / (n + 2 * paper) == pytest.approx(1 / 6)
    assert sp.covered(UNIFORM, alpha).realized(n).share == alpha
    assert sp.covered(UNIFORM, alpha).dummies_for(n) == 600


def test_a_tiny_floor_is_kept_too():
    assert sp.covered(UNIFORM, 1e-12).dummies_for(100) == 1


@every_case("name", ["uniform", "lopsided", "hadamard"])
def test_the_mean_indicator_of_the_paper(name):
    # gamma_k = (1 - 2 alpha) q_k'w + alpha, with q_k the row of the base design's Q.
    base, alpha = BASES[name], 0.2
    w = np.random.default_rng(2).dirichlet(np.ones(base.p))
    design = sp.covered(base, alpha)
    codes, mu = design.support()
    P = mu * design.support_incidence.inner(w)
    held = design.contains(codes[:, None], np.arange(base.p))
    assert P @ held == pytest.approx((1 - 2 * alpha) * base.Q @ w + alpha)


# Identifiability ----------------------------------------------------------------------------------------------------


def enlarged(base, D):
    """The rows of reports on the p values and D dummy categories, as 0 and 1."""
    rows = base.support_incidence.inner(np.eye(base.p)).T
    return np.vstack([np.column_stack([rows, np.tile(np.eye(D)[d], (len(rows), 1))]) for d in range(D)])


@pytest.mark.parametrize(
    ("base", "rank"), [(UNIFORM, 5), (sp.nonprivate(["no", "yes"]), 3)], ids=["four categories", "two categories"]
)
def test_the_enlarged_model_alone_is_not_identifiable(base, rank):
    rows = enlarged(base, 2)
    assert rows.shape[1] == base.p + 2
    assert np.linalg.matrix_rank(rows) == rank == base.p + 1
    held = sp.covered(base, 0.2, reveals=True)
    assert np.linalg.matrix_rank(fresh_rows(held)) == base.p
    assert held.is_identifiable
    held.require_identifiable()


def test_a_blind_design_stays_blind_under_cover():
    blind = sp.independent(ABCD, {("a", "b"): 0.5, ("a", "c"): 0.5})
    assert not sp.covered(blind, 0.1).is_identifiable
    direction = sp.covered(blind, 0.1).null_direction()
    assert {label: u / direction["a"] for label, u in direction.items()} == pytest.approx(
        {"a": 1, "b": -1, "c": -1, "d": 1}
    )


# Estimation holds the realized share -------------------------------------------------------------------------------


def test_moments_are_unbiased_at_small_numbers_where_rounding_matters():
    # 7 people and 2 x 2 dummies: the realized share is 2/11, far from .15. Moments are linear in the shares of the
    # codes, so many releases are one product.
    planned = sp.covered(UNIFORM, 0.15)
    x = ["a", "b", "b", "c", "d", "d", "d"]
    truth = np.array([1, 2, 1, 3]) / 7
    realized = planned.realized(7)
    assert realized.share == 2 / 11
    # The expected shares of the twelve codes, from the base design: seven people and two dummies of each category.
    mu = UNIFORM.support()[1]
    real = (fresh_rows(UNIFORM) * mu[:, None]) @ truth
    expected = np.tile((7 * real / 2 + 2 * mu / 2) / 11, 2)
    rng = np.random.default_rng(1)
    drawn = [sp.privatize(x, planned, seed=rng).codes for _ in range(500)]
    codes = realized.support()[0]
    seen = np.bincount(np.searchsorted(codes, np.concatenate(drawn)), minlength=12)
    assert chisquare(seen, expected * seen.sum()).pvalue > 1e-4
    unbiased = np.linalg.inv(realized.Q) @ fresh_rows(realized).T
    assert unbiased @ expected == pytest.approx(truth, abs=1e-14)
    # The plan's share in the place of the realized one, as if nothing had been rounded, is not.
    wrong = np.linalg.inv(planned.Q) @ fresh_rows(planned).T
    assert np.abs(wrong @ expected - truth).max() > 0.01
    # And this is what the estimator does with each release.
    for one in drawn[:50]:
        shares = np.bincount(np.searchsorted(codes, one), minlength=12) / 11
        assert sp.estimate(sp.SubsetData(one, realized), "mom").w == pytest.approx(unbiased @ shares)


def test_with_the_papers_number_of_dummies_the_plans_share_would_be_biased():
    # Exact: n people and alpha n dummies per category, read as if they were a share of alpha.
    n, alpha = 1000, 0.25
    planned = sp.covered(UNIFORM, alpha)
    paper = type(planned)(UNIFORM.categories, UNIFORM, alpha, people=n, dummies=round(alpha * n))
    codes, mu = paper.support()
    P = mu * paper.support_incidence.inner(W)
    assert np.linalg.solve(paper.Q, paper.incidence(codes).spread(P)) == pytest.approx(W)
    biased = np.linalg.solve(planned.Q, planned.incidence(codes).spread(P))
    assert np.abs(biased - W).max() > 0.02


@every_case("name", BASES)
@every_case("method", ["mle", "mom"])
@pytest.mark.filterwarnings("ignore::subsetprivacy.errors.SubsetPrivacyWarning")
def test_estimates_are_as_good_as_they_say(name, method):
    base = BASES[name]
    w = np.random.default_rng(3).dirichlet(np.full(base.p, 5.0))
    counts = sp.simulate(sp.covered(base, 0.5 / base.S, reveals=True), w, 40_000, seed=4)
    fit = sp.estimate(counts, method)
    assert np.abs((fit.w - w) / fit.se).max() < 4.5


def test_small_samples_are_read_right():
    # So few rows that every base code comes once at most: each must keep its own row.
    for seed in range(30):
        data = sp.privatize(["a", "d"], sp.covered(UNIFORM, 0.1), seed=seed)
        counts = data.counts()
        base, _ = data.design.split(counts.observed_codes)
        share = data.design.share
        expected = [(1 - 2 * share) * sum(W[j] for j in range(4) if a >> j & 1) + share for a in base.tolist()]
        assert counts.incidence.inner(W) == pytest.approx(expected)


def test_all_rows_must_be_counted_together():
    data = sp.privatize(list("abcd") * 50, sp.covered(UNIFORM, 0.1), seed=1)
    with refused(ArgumentError, "by"):
        sp.count(data, by=["one", "two"] * 125)
    part = sp.SubsetData(data.codes[:125], data.design)
    with pytest.raises(MismatchError, match=r"all 250 rows .* got 125"):
        sp.estimate(part)
    plan = sp.SubsetData(data.codes, sp.covered(UNIFORM, 0.1))
    with pytest.raises(MismatchError):
        sp.estimate(plan)


# Nobody can tell a dummy row ---------------------------------------------------------------------------------------


def test_dummy_rows_stand_anywhere():
    # Everybody is "a", so a row without it is a dummy's: where those rows stand must be even.
    places = []
    for seed in range(300):
        data = sp.privatize(["a"] * 60, sp.covered(ASKED, 0.2), seed=seed)
        dummies = np.flatnonzero(~data.design.contains(data.codes, 0))
        places.extend((dummies + 0.5) / len(data))
    assert len(places) > 5000
    assert kstest(places, "uniform").pvalue > 1e-4


def test_neighboring_rows_say_nothing_of_each_other():
    data = sp.privatize(["a"] * 60_000, sp.covered(ASKED, 0.2), seed=1)
    dummy = ~data.design.contains(data.codes, 0)
    table = np.histogram2d(dummy[:-1], dummy[1:], bins=2)[0]
    assert chi2_contingency(table).pvalue > 1e-4


@every_case("name", ["lopsided", "recorded", "product", "pairs of six"])
def test_dummy_rows_look_like_everybodys(name):
    base = BASES[name]
    planned = sp.covered(base, 0.4 / base.S)
    data = sp.privatize([base.categories.labels[0]] * 40_000, planned, seed=2)
    codes, dummy = data.design.split(data.codes)
    counts = np.array([[((codes == a) & (dummy == 1 << d)).sum() for a in np.unique(codes)] for d in range(planned.D)])
    # All categories have the same law of base codes, whether of people or of dummies: rows of a table of one law.
    assert chi2_contingency(counts).pvalue > 1e-4
    # And base codes that only dummies can have come as often as mu_a / S says.
    support, mu = base.support()
    foreign = ~base.contains(support, 0)
    expected = data.design.dummies * planned.D * mu[foreign].sum() / base.S
    seen = (~base.contains(codes, 0)).sum()
    assert seen == pytest.approx(expected, abs=4.5 * np.sqrt(expected))


def test_every_row_has_exactly_one_dummy_category():
    data = sp.privatize(["a", "b", "c"] * 100, sp.covered(ASKED, 0.1), seed=3)
    _, dummy = data.design.split(data.codes)
    assert set(np.bitwise_count(dummy).tolist()) == {1}
    assert data.labels()[0][-1] in ("dummy 1", "dummy 2")
    assert all(text.endswith(("dummy 1", "dummy 2")) for text in data.subset_shares())


# Missing values, and nobody ------------------------------------------------------------------------------------------


def test_missing_values_under_cover_are_left_out_and_counted():
    # Half of the people are missing and no dummy is: among the rows that say something dummies have a larger share
    # than in the release, and an estimate that holds the release's share would be off by .28 here.
    design = sp.covered(UNIFORM, 0.3)
    data = sp.privatize(["d", None] * 50_000, design, missing="full", seed=1)
    counts = data.counts()
    assert counts.n_missing == 50_000
    assert sp.SubsetData(data.codes, data.design).counts().n == counts.n == 50_000 + 2 * data.design.dummies
    fit = sp.estimate(counts, "mom")
    assert np.abs((fit.w - [0, 0, 0, 1]) / fit.se).max() < 4.5


def test_nobody_is_covered():
    data = sp.privatize([], sp.covered(UNIFORM, 0.1), seed=1)
    assert len(data) == 0
    assert np.isfinite(data.design.share)
    assert data.counts().n == 0


# Pooling -------------------------------------------------------------------------------------------------------------


def test_two_releases_add_up_with_their_dummies():
    planned = sp.covered(UNIFORM, 0.15)
    one, two, three = (sp.simulate(planned, W, n, seed=n) for n in (7, 50, 20_001))
    both = one + two + three
    assert (both.design.people, both.design.dummies) == (
        7 + 50 + 20_001,
        one.design.dummies + two.design.dummies + three.design.dummies,
    )
    assert both.design.share >= 0.15
    assert both.counts.sum() == both.design.people + 2 * both.design.dummies
    fit = sp.estimate(both)
    assert np.abs((fit.w - W) / fit.se).max() < 4.5
    assert (three + two + one).design == both.design
    assert sum([one, two, three]).design == both.design


@pytest.mark.parametrize(
    "other", [sp.covered(UNIFORM, 0.3), sp.covered(ASKED, 0.15)], ids=["another floor", "another base"]
)
def test_releases_of_different_plans_are_read_right_or_refused(other):
    one, two = sp.simulate(sp.covered(UNIFORM, 0.15), W, 200_000, seed=1), sp.simulate(other, W, 300_000, seed=2)
    try:
        together = one + two
    except MismatchError:
        return
    for method in ("mle", "mom"):
        fit = sp.estimate(together, method)
        assert np.abs((fit.w - W) / fit.se).max() < 4.5


def test_a_plan_and_a_release_do_not_pool():
    planned = sp.covered(UNIFORM, 0.15)
    assert planned.pooled(planned.realized(10)) is None
    assert planned.realized(10).pooled(planned) is None
    assert planned.realized(10).pooled(UNIFORM) is None
    assert planned.realized(10).planned() == planned


# Refusals -----------------------------------------------------------------------------------------------------------


@every_case(
    ("base", "argument"),
    [
        (GIVEN, "design"),
        (sp.fixed_size(range(5), 2), "design"),
        (WARNER, "design"),
        (sp.fully_private(ABCD), "design"),
        (sp.covered(UNIFORM, 0.1), "design"),
        (sp.design.coarse(ABCD), "design"),
        (sp.nonprivate(["no", "yes"]), "reveals"),
        (sp.uniform(range(47)), None),
    ],
)
def test_what_cannot_be_covered(base, argument):
    with refused(InvalidDesignError, argument):
        sp.covered(base, 0.1)


def test_a_design_with_a_bit_cannot_be_covered_by_an_accident_of_numbers():
    # S is 3 for Warner's 1.5 times 2, and still three dummy categories do not make a law: the mu sum to 4.
    made = sp.product({"s": sp.warner(["no", "yes"], 0.25), "x": UNIFORM})
    assert made.S == 3
    assert made.support()[1].sum() == pytest.approx(4)
    with pytest.raises(InvalidDesignError):
        sp.covered(made, 0.1)


@every_case("floor", [0, -0.1, 0.5, 0.7, float("nan"), True, "0.1", None])
def test_the_floor_is_checked(floor):
    with refused(InvalidDesignError, "floor"):
        sp.covered(UNIFORM, floor)


def test_a_covered_design_is_asked_by_its_base():
    with pytest.raises(NotIndependentError):
        sp.ask(sp.covered(UNIFORM, 0.1))


def test_what_is_seen_by_whoever_knows_is_the_base():
    design = sp.covered(ASKED, 0.1)
    assert design.exposed is ASKED
    assert design.S == 2
    assert design.smallest_set == 2
    assert ASKED.exposed is ASKED


@every_case(
    ("changes", "argument"),
    [
        ({"floor": "0.7"}, "floor"),
        ({"floor": "a third"}, None),
        ({"people": -1}, "people"),
        ({"people": None}, "people"),
        ({"base": {"kind": "covered"}}, None),
        ({"base": {"kind": "fixed_size", "size": 3}}, "design"),
        ({"dummies": 0}, "dummies"),  # the floor that it states is not kept
    ],
)
def test_a_document_without_fingerprint_is_checked_as_well(changes, argument):
    document = sp.covered(UNIFORM, 0.1).realized(100).document()
    document.pop("fingerprint")
    with refused(DesignDocumentError, argument):
        sp.design_from_json(json.dumps(document | changes))


def test_many_samples_of_a_covered_design_are_releases_as_well():
    design = sp.covered(UNIFORM, 0.1)
    batch = sp.simulate_many(design, W, 1000, 50, seed=1)
    assert (batch.design.people, batch.design.dummies) == (1000, 125)
    assert batch.counts.sum(axis=1).tolist() == [1000 + 2 * 125] * 50
    assert np.abs(sp.estimate_many(batch, "mom").w.mean(axis=0) - W).max() < 0.05


def test_the_bootstrap_of_a_covered_release():
    counts = sp.simulate(sp.covered(UNIFORM, 0.1), W, 5000, seed=1)
    fit = sp.estimate(counts)
    bounds = fit.interval(method="bootstrap", replications=99, seed=1)
    assert ((bounds[:, 0] < fit.w) & (fit.w < bounds[:, 1])).all()
    profile = fit.interval(method="profile")
    assert profile == pytest.approx(fit.interval(), abs=0.01)


@every_case("base", [sp.uniform(range(30)), sp.partition(range(30), 3), sp.fixed_size(range(30), 10)])
@pytest.mark.filterwarnings("ignore::subsetprivacy.errors.SubsetPrivacyWarning")
def test_designs_too_large_to_list_can_be_covered_too(base):
    w = np.arange(1, 31) / 465
    release = sp.privatize(np.random.default_rng(1).choice(30, 20_000, p=w), sp.covered(base, 0.1), seed=2)
    for method in ("mle", "mom"):
        fit = sp.estimate(release, method)
        assert np.abs((fit.w - w) / fit.se).max() < 4.5


@every_case("name", ["uniform", "groups", "two values"])
def test_moments_in_closed_form_are_those_of_the_matrix(name):
    base = BASES[name]
    w = np.random.default_rng(5).dirichlet(np.full(base.p, 5.0))
    counts = sp.simulate(sp.covered(base, 0.3 / base.S, reveals=True), w, 3000, seed=6)
    fit = sp.estimate(counts, "mom")
    rows, mu = counts.design.support_incidence, counts.design.support()[1]
    Q = rows.gram(mu)  # by listing
    assert fit.w == pytest.approx(np.linalg.solve(Q, counts.incidence.spread(counts.shares)))
    assert fit._se == pytest.approx(np.sqrt(np.diag(fit._cov)))
    c = np.arange(base.p, dtype=float)
    assert fit.uncertainty.along(fit, c) == pytest.approx(float(c @ fit._cov @ c))


def test_variables_of_a_covered_product_are_looked_at_by_themselves():
    both = sp.product({"x": UNIFORM, "y": sp.partition(range(6), 3)})
    rng = np.random.default_rng(7)
    x, y = rng.choice(list("abcd"), 30_000, p=[0.1, 0.2, 0.3, 0.4]), rng.integers(0, 6, 30_000)
    release = sp.privatize({"x": x, "y": y}, sp.covered(both, 0.05), seed=8)
    alone = release.counts("x")
    assert alone.design.floor == pytest.approx(0.15)
    assert alone.design.share == pytest.approx(3 * release.design.share)
    fit = sp.estimate(alone)
    assert np.abs((fit.w - [0.1, 0.2, 0.3, 0.4]) / fit.se).max() < 4
    assert fit.w == pytest.approx(sp.estimate(release).margin("x").w, abs=0.02)
    with refused(ArgumentError, "names"):
        sp.privatize(x, UNIFORM).select("x")


def test_what_is_printed_of_a_release_counts_people():
    release = sp.privatize(list("abcd") * 50, sp.covered(UNIFORM, 0.1), seed=1)
    assert repr(release).startswith("<SubsetData: 250 rows, ")
    assert "n = 200 people and 50 dummy rows" in repr(release.counts())
    assert "maximum likelihood, n = 200 people and 50 dummy rows" in str(sp.estimate(release).summary())


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mle", "mom"])
def test_the_fixed_number_of_dummies_is_taken_out_of_the_errors(method):
    w = [0.8, 0.1, 0.05, 0.03, 0.02]
    rng = np.random.default_rng(9)
    design = sp.covered(sp.uniform(range(5)), 0.3)
    fits = [sp.estimate(sp.simulate(design, w, 4000, seed=rng), method) for _ in range(1500)]
    spread = np.std([fit.w[0] for fit in fits])
    claimed = np.mean([fit._se[0] for fit in fits])
    assert claimed / spread == pytest.approx(1, abs=0.06)  # 1.16 with the number taken for random


def test_a_collector_covers_answers_without_any_value():
    rng = np.random.default_rng(11)
    x = rng.choice(4, 20_000, p=[0.1, 0.2, 0.3, 0.4])
    asked = sp.draw_questions(UNIFORM, len(x), seed=12)
    answers = [None if k < 50 else bool(yes) for k, yes in enumerate(UNIFORM.contains(asked, x))]
    collected = sp.resolve(asked, answers, UNIFORM)
    release = sp.cover(collected, 0.1, seed=13)
    assert release.design.people == 19_950
    assert release.counts().n_missing == 50
    fit = sp.estimate(release)
    assert np.abs((fit.w - [0.1, 0.2, 0.3, 0.4]) / fit.se).max() < 4
    with refused(ArgumentError, "data"):
        sp.cover(collected.counts(), 0.1)
    with pytest.raises(InvalidDesignError):
        sp.cover(release, 0.1)


@pytest.mark.filterwarnings("ignore::subsetprivacy.errors.SubsetPrivacyWarning")
def test_what_is_known_never_exceeds_a_variance():
    # Eighty people, most of them alike: the design's own law took more than there was.
    labels, w = list("abcdefg"), [0.9, 0.05, 0.01, 0.01, 0.01, 0.01, 0.01]
    design = sp.covered(sp.hadamard(labels), 0.05)
    rng = np.random.default_rng(14)
    for seed in range(40):
        release = sp.privatize(rng.choice(labels, 80, p=w), design, seed=seed)
        for method in ("mle", "mom", "one-step"):
            cov = sp.estimate(release, method)._cov
            if np.isfinite(cov).all():
                assert np.linalg.eigvalsh(cov).min() > -1e-12


def test_weights_have_no_place_under_cover():
    data = sp.privatize(list("abcd") * 50, sp.covered(UNIFORM, 0.1), seed=1)
    with refused(ArgumentError, "weights"):
        sp.count(data, weights=np.tile([0.5, 1.5], 125), weights_kind="sampling")
    counts = data.counts()
    weighted = sp.SubsetCounts(counts.codes, counts.counts * 1.5, data.design, squares=counts.counts * 2.25)
    with refused(ArgumentError, "data"):
        sp.estimate(weighted)


def test_a_covered_product_is_audited_by_its_variables():
    both = sp.product({"x": UNIFORM, "y": sp.partition(range(6), 3)})
    w = {"x": [0.1, 0.2, 0.3, 0.4], "y": np.full(6, 1 / 6)}
    assert sp.audit(sp.covered(both, 0.05), w).totals() == sp.audit(both, w).totals()


def test_the_floor_of_a_selection_is_the_decimal_it_should_be():
    # Three times .05 is not .15 in binary; a document of the selection must still have dummies enough.
    both = sp.covered(sp.product({"x": UNIFORM, "y": sp.partition(range(6), 3)}), 0.05).realized(1400)
    alone = both.select(["x"])
    assert alone.floor == 0.15
    assert alone.dummies == alone.dummies_for(1400) == 300
    assert sp.design_from_json(alone.to_json()) == alone
