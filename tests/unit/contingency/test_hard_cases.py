"""Shares of 0, several maxima, few people, many cells, and input that cannot be used."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from every_case import every_case
from problems import quietly
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.contingency import fitting
from subsetprivacy.errors import (
    ArgumentError,
    CategoryError,
    CodeError,
    DistributionError,
    MismatchError,
    NoDataError,
    NotIdentifiableError,
    NotUniqueWarning,
    SeparationWarning,
    SmallCountWarning,
    TooLargeError,
)
from subsetprivacy.messages import NoteKind

TWO = sp.product({"a": sp.uniform(list("wxyz")), "b": sp.nonprivate(["n", "y"])})
THREE = sp.product({"a": sp.uniform(list("wxyz")), "b": sp.warner(["n", "y"], 0.8), "c": sp.nonprivate(["s", "t"])})
EVEN = np.full(16, 1 / 16)


def fitted(counts, model="all pairs", **options):
    with quietly():
        return sp.loglinear(counts, model, **options)


# Shares of 0 ------------------------------------------------------------------------------------


def with_a_zero(n=4000):
    """Return counts in which no one has a = z and b = y."""
    w = np.array([0.2, 0.1, 0.15, 0.15, 0.1, 0.1, 0.2, 0.0])
    return sp.simulate(TWO, w, n, seed=2)


def test_a_share_of_zero_makes_parameters_infinite_and_is_told():
    with pytest.warns(SeparationWarning, match=r"a\[z\]:b\[y\].*Fitted as 0: z & y"):
        fit = sp.loglinear(with_a_zero(), "saturated", baseline={"a": "w", "b": "n"})
    estimate = sp.estimate(with_a_zero())
    assert fit.zeros == estimate.on_boundary == (("z", "y"),)
    assert fit.separated == ("a[z]:b[y]",)
    assert fit.estimates[fit.labels.index("a[z]:b[y]")] == -np.inf
    assert fit.w.ravel() == pytest.approx(estimate.w, abs=1e-6)
    assert fit.loglik == pytest.approx(estimate.loglik, abs=1e-6)
    finite = [k for k, label in enumerate(fit.labels) if label not in fit.separated]
    assert np.isfinite(fit.estimates[finite]).all()
    assert np.isfinite(fit.se[finite]).all()
    assert np.isnan(fit.se[fit.labels.index("a[z]:b[y]")])
    assert fit.gap <= 1e-8


def test_shares_next_to_a_zero_have_the_errors_of_the_face():
    """The zero cell does not move, so the others have the errors of a table without it."""
    fit = fitted(with_a_zero(), "saturated")
    counts = with_a_zero()
    rows = counts.incidence.inner(np.eye(8)).T[:, :7]
    J = (rows * (counts.n_a / (rows @ fit.fit.w[:7]) ** 2)[:, None]).T @ rows
    B = np.vstack([np.eye(6), -np.ones(6)])
    se = np.sqrt(np.diag(B @ np.linalg.inv(B.T @ J @ B) @ B.T))
    shares = fit.shares()
    assert shares.se[:7] == pytest.approx(se, rel=1e-4)
    assert np.isnan(shares.interval()[7]).all()
    assert shares.notes[0].kind is NoteKind.BOUNDARY


def test_tests_and_odds_on_the_boundary_say_so():
    fit = fitted(with_a_zero(), "saturated", baseline={"a": "w", "b": "n"})
    test = fit.test()
    assert test.notes[0].kind is NoteKind.BOUNDARY
    assert test.df[0] == 3
    assert np.isnan(fit.test(method="wald").statistic[0])
    ratios = fit.odds_ratios("a", "b")
    assert ratios.estimate[-1] == 0
    assert np.isfinite(ratios.log_odds_ratio[:-1]).all()
    assert NoteKind.SEPARATED in {note.kind for note in ratios.notes}


def test_reports_that_leave_shares_open_are_told_and_those_shares_have_no_errors():
    """One question only: who is w or x, and who is y or z. What is told of b is not touched by it."""
    codes = [int(TWO.join([np.array(a), np.array(b)])) for a in (3, 12) for b in (1, 2)]
    counts = sp.JointCounts(codes, [100, 50, 60, 90], TWO)
    with pytest.warns(NotUniqueWarning, match=r"do not determine these parameters: a\[x\]"):
        fit = sp.loglinear(counts, "saturated")
    assert np.isnan(fit.shares("a").se).all()
    assert np.isnan(fit.shares("a").interval()).all()
    assert fit.shares("b").se == pytest.approx(np.sqrt(160 * 140 / 300**3), rel=1e-6)
    assert NoteKind.NOT_UNIQUE in {note.kind for note in fit.shares("a").notes}
    assert np.isfinite(fitted(counts, "independence").estimates[-1])


def test_few_people_are_told_and_several_starts_are_made():
    counts = sp.simulate(THREE, EVEN, 60, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        with pytest.warns(SmallCountWarning, match="per parameter"):
            fit = sp.loglinear(counts, "saturated", starts=1)
    assert fit.fit.starts == 1
    assert 7 <= fitted(counts, "all pairs").fit.starts <= 40
    assert fitted(counts, "all pairs", starts=3).fit.starts == 3


def test_the_best_of_several_maxima_is_kept():
    """A sample of which the first start finds the second best, and one with four maxima."""
    shares = np.random.default_rng(0).dirichlet(np.ones(16))
    counts = sp.simulate(THREE, shares, 80, seed=7)
    fit, first = fitted(counts), fitted(counts, starts=1)
    assert fit.loglik > first.loglik + 0.01
    assert fit.maxima == pytest.approx((fit.loglik, first.loglik), abs=1e-3)
    assert NoteKind.NOT_UNIQUE in {note.kind for note in fit.notes}
    several = fitted(sp.simulate(THREE, shares, 80, seed=22)).maxima
    assert len(several) == 4
    assert list(several) == sorted(several, reverse=True)


# Many cells -------------------------------------------------------------------------------------


def test_without_a_matrix_the_fit_is_the_same_and_has_no_errors(monkeypatch):
    counts = sp.simulate(THREE, np.random.default_rng(1).dirichlet(np.full(16, 5.0)), 5000, seed=1)
    small = fitted(counts)
    monkeypatch.setattr(fitting, "MAX_MATRIX", 10)
    large = fitted(counts)
    assert large.loglik == pytest.approx(small.loglik, abs=1e-7)
    assert large.w == pytest.approx(small.w, abs=1e-5)
    assert large.gap <= 1e-8
    assert np.isnan(large.se).all()
    assert NoteKind.NO_STANDARD_ERRORS in {note.kind for note in large.notes}
    assert np.isnan(large.shares("a").se).all()
    with pytest.raises(TooLargeError):
        fitted(counts, known={"b": [0.5, 0.5]})


def test_too_many_cells_are_refused():
    many = sp.product({f"v{k}": sp.hadamard(range(64)) for k in range(3)})
    counts = sp.SubsetCounts([many.join([np.array(1)] * 3)], [10], many)
    with pytest.raises(TooLargeError):
        sp.loglinear(counts, "all pairs")
    with pytest.raises(NoDataError):
        sp.loglinear(sp.SubsetCounts([], [], THREE), "all pairs")


# What is counted --------------------------------------------------------------------------------


def test_variables_that_are_not_named_are_left_out():
    counts = sp.simulate(THREE, np.random.default_rng(1).dirichlet(np.full(16, 5.0)), 5000, seed=1)
    fit = fitted(counts, "[b c]")
    assert fit.names == ("b", "c")
    assert fit.w.ravel() == pytest.approx(sp.estimate(counts.margin("b", "c")).w, abs=1e-6)


def test_a_column_of_two_variables_is_one_part_of_the_table():
    sexes = sp.join({"sex": ["f", "m"], "smokes": ["no", "yes"]})
    three = sp.product({"both": sexes, "race": sp.uniform(list("wxyz"))})
    counts = sp.simulate(three, np.random.default_rng(0).dirichlet(np.full(16, 5.0)), 5000, seed=1)
    fit = fitted(counts, "[sex smokes][smokes race]")
    assert fit.names == ("sex", "smokes", "race")
    assert fitted(counts, "[sex smokes]").w.ravel() == pytest.approx(
        sp.estimate(counts.margin("sex x smokes")).w, abs=1e-6
    )
    with refused(ArgumentError, "model"):
        sp.loglinear(counts, "[sex race]")
    alone = sp.simulate(sexes, [0.2, 0.3, 0.1, 0.4], 3000, seed=1)
    assert fitted(alone, "independence").df == 2


def test_counts_of_one_variable_and_other_things_are_refused():
    one = sp.simulate(sp.uniform(list("abcd")), [0.25] * 4, 100, seed=1)
    with refused(ArgumentError, "counts"):
        sp.loglinear(one, "saturated")
    with refused(ArgumentError, "counts"):
        sp.loglinear({"a": [1, 2]}, "saturated")
    counts = sp.simulate(THREE, EVEN, 500, seed=1)
    with refused(ArgumentError, "model"):
        sp.loglinear(counts, "[a]")
    covered = sp.simulate(sp.covered(TWO, 0.2), np.full(8, 1 / 8), 500, seed=1)
    with refused(ArgumentError, "counts"):
        sp.loglinear(covered, "saturated")


def test_designs_that_do_not_tell_the_shares_are_refused():
    blind = sp.product({"a": sp.independent(list("wxyz"), {("w", "x"): 1.0}), "b": sp.nonprivate(["n", "y"])})
    counts = sp.simulate(blind, np.full(8, 1 / 8), 500, seed=1)
    with pytest.raises(NotIdentifiableError):
        sp.loglinear(counts, "all pairs")


COUNTS = sp.simulate(THREE, np.random.default_rng(1).dirichlet(np.full(16, 5.0)), 4000, seed=1)


@every_case(
    ("options", "error", "argument"),
    [
        ({"known": {"a": {"w": 1.0}}}, DistributionError, "known"),
        ({"known": {"a": [0.5, 0.5, 0.0, 0.0]}}, DistributionError, "known"),
        ({"known": {"d": [1.0]}}, ArgumentError, "known"),
        ({"known": {("a", "a"): [1.0]}}, ArgumentError, "known"),
        ({"known": {("b", "c"): [0.25] * 4, ("c", "b"): [0.25] * 4}}, ArgumentError, "known"),
        ({"known": {("b", "c"): [0.25] * 4, "b": [0.4, 0.6]}}, MismatchError, "known"),
        ({"known": {("a", "c"): [0.125] * 8}}, ArgumentError, "known"),
        ({"known": [0.5]}, ArgumentError, "known"),
        ({"baseline": {"d": "w"}}, ArgumentError, "baseline"),
        ({"baseline": {"a": "v"}}, CategoryError, "baseline"),
        ({"baseline": "w"}, ArgumentError, "baseline"),
        ({"starts": 0}, ArgumentError, "starts"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, error, argument):
    with refused(error, argument):
        sp.loglinear(COUNTS, "[a b][b c]", **options)


def test_questions_that_do_not_fit_are_refused():
    fit = fitted(COUNTS, "saturated")
    with refused(ArgumentError, "names"):
        fit.shares("d")
    with refused(ArgumentError, "names"):
        fit.shares("a", "a")
    with refused(ArgumentError, "given"):
        fit.odds_ratios("a", "b")
    with pytest.raises(CategoryError):
        fit.odds_ratios("a", "b", given={"c": "u"})
    with refused(ArgumentError, "terms"):
        fit.test("a:d")
    with refused(ArgumentError, "terms"):
        fitted(COUNTS, "independence").test()
    with refused(ArgumentError, "terms"):
        fitted(COUNTS, known={"b": [0.5, 0.5]}).test("b")
    with refused(ArgumentError, "bootstrap"):
        fit.test(method="wald", bootstrap=9)
    smaller = fitted(COUNTS, "independence")
    for other in (fitted(COUNTS, "[a b]"), fitted(sp.simulate(THREE, EVEN, 4000, seed=9), "independence")):
        with pytest.raises(MismatchError):
            fit.compare(other)
    for one, other in ((smaller, fit), (fitted(COUNTS, "[a b][c]"), fitted(COUNTS, "[a c][b]")), (fit, fit)):
        with pytest.raises(MismatchError):
            one.compare(other)


# Answers ----------------------------------------------------------------------------------------


def test_conditional_shares_are_quotients_and_their_errors_are_by_the_delta_method():
    fit = fitted(COUNTS)
    joint, given = fit.shares("b", "a"), fit.shares("a", given="b")
    table = joint.estimate.reshape(2, 4)
    assert given.estimate.reshape(2, 4) == pytest.approx(table / table.sum(axis=1, keepdims=True))
    assert given.cells[:2] == (("n", "w"), ("n", "x"))
    h, theta = 1e-6, fit.fit.theta
    slopes = []
    for e in np.eye(len(theta)):
        ends = []
        for sign in (1, -1):
            w = np.exp(fit.structure.apply(theta + sign * h * e))
            two = np.transpose((w / w.sum()).reshape(4, 2, 2).sum(axis=2))
            ends.append((two / two.sum(axis=1, keepdims=True)).ravel())
        slopes.append((ends[0] - ends[1]) / (2 * h))
    D = np.array(slopes).T
    assert given.se == pytest.approx(np.sqrt(np.einsum("ks,st,kt->k", D, fit.fit.cov, D)), rel=1e-4)


def test_odds_ratios_are_those_of_the_fitted_shares():
    fit = fitted(COUNTS, "saturated")
    ratios = fit.odds_ratios("a", "c", given={"b": "y"})
    w = fit.w[:, 1, :]
    (i, _, k) = fit.structure.baselines
    other = 1 - k
    expected = [w[j, other] * w[i, k] / (w[i, other] * w[j, k]) for j in range(4) if j != i]
    assert ratios.estimate == pytest.approx(expected, rel=1e-8)
    assert ratios.given == {"b": "y"}
    without = fitted(COUNTS, "all pairs").odds_ratios("a", "c", given={"b": "y"})
    assert without.given == {}, "the same for every b"


def test_residuals_are_normal_where_the_model_is_right_and_large_where_it_is_not():
    truth = fitted(COUNTS, "[a b][b c]").w.ravel()
    drawn = [fitted(sp.simulate(THREE, truth, 20_000, seed=seed), "[a b][b c]").residuals.ravel() for seed in range(20)]
    assert 0.85 < np.nanstd(drawn) < 1.15
    bent = np.random.default_rng(2).dirichlet(np.full(16, 2.0))
    assert np.nanmax(np.abs(fitted(sp.simulate(THREE, bent, 50_000, seed=1), "independence").residuals)) > 5


def test_bootstrap_agrees_with_the_chi_square_distribution():
    fit = fitted(COUNTS, "all pairs")
    plain, drawn = fit.test("a:c"), fit.test("a:c", bootstrap=39, seed=1)
    assert drawn.statistic[0] == plain.statistic[0]
    assert drawn.pvalue[0] == pytest.approx(plain.pvalue[0], abs=0.15)
    assert drawn.pvalue[0] == fit.test("a:c", bootstrap=39, seed=1).pvalue[0]
    assert drawn.notes[0].kind is NoteKind.NULL_LAW


def test_nothing_of_a_person_is_shown_or_kept():
    """Results hold labels and numbers of groups, and neither the code of a report nor how many people made it."""
    rare = 7919
    amounts = np.where(np.arange(len(COUNTS.codes)) == 5, rare, COUNTS.counts)
    fit = fitted(sp.JointCounts(COUNTS.codes, amounts, THREE), "all pairs")
    assert str(rare) in str(fit.counts.counts.tolist())
    parts = (fit, fit.shares("a", "b"), fit.odds_ratios("a", "b"), fit.test())
    text = "".join(repr(one) + str(one.summary()) + json.dumps(one.to_dict()) for one in parts)
    assert not re.search(rf"(?<![\d.]){rare}(?!\d)", text)
    assert "codes" not in text


def test_errors_do_not_show_what_people_reported():
    codes = {"a": np.full(80, 3), "b": np.full(80, 9), "c": np.full(80, 987)}
    with pytest.raises(CodeError) as caught:
        sp.loglinear(sp.SubsetTable(codes, THREE), "all pairs")
    assert "987" not in str(caught.value)


@every_case("make", [lambda fit: fit, lambda fit: fit.shares("a"), lambda fit: fit.odds_ratios("a", "b")])
def test_intervals_that_there_are_not_are_refused(make):
    result = make(fitted(COUNTS))
    for show in (result.summary, result.to_frame):
        with refused(ArgumentError, "method"):
            show(method="bootstrap")


def test_pictures_are_drawn():
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt

    fit = fitted(COUNTS)
    assert "Interactions" in fit.plot().get_suptitle()
    assert fitted(COUNTS, "independence").plot() is not None
    assert "fitted by [a b]" in fit.shares("a", "b").plot().get_title(loc="left") + fit.shares("a").plot().get_title()
    odds = fit.odds_ratios("a", "b")
    (axes,) = odds.plot().axes
    assert axes.get_xlabel() == "odds ratio (log scale), 95% interval"
    marks = {tick.get_text(): at for tick, at in zip(axes.get_xticklabels(), axes.get_xticks(), strict=True)}
    assert marks["1"] == 0
    assert len(marks) >= 3
    for text, at in marks.items():
        assert float(text) == pytest.approx(np.exp(at), rel=1e-5)
    plt.close("all")


def test_groups_are_a_variable_that_is_seen():
    """Counts by group, of one column or of several, are the table in which the groups have a nonprivate design."""
    rng = np.random.default_rng(4)
    where, sex = rng.choice(["north", "south", "west"], 3000), rng.choice(["f", "m"], 3000)
    data = sp.privatize(rng.choice(list("wxyz"), 3000), sp.uniform(list("wxyz")), seed=1)
    for by in ({"by": where}, {"by": list(zip(where, sex))}):
        groups = sp.count(data, **by)
        if isinstance(by["by"], list):
            groups = sp.GroupedCounts(dict(groups), ("where", "sex"))
        fit = fitted(groups, "saturated")
        assert fit.names[1:] == groups.by
        assert fit.n == 3000
        each = [part.n for _, part in sorted(groups.items())]
        margin = fit.shares(*groups.by)
        order = np.argsort([label_of(cell) for cell in margin.cells])
        assert 3000 * margin.estimate[order] == pytest.approx(each, abs=1e-3)
    with refused(ArgumentError, "counts"):
        sp.loglinear(sp.GroupedCounts({"a": data.counts()}, ("g",)), "saturated")
    other = sp.simulate(sp.hadamard(list("wxyz")), [0.25] * 4, 100, seed=1)
    with pytest.raises(MismatchError):
        sp.loglinear(sp.GroupedCounts({"a": data.counts(), "b": other}, ("g",)), "saturated")


def label_of(cell):
    return " ".join(cell)


def test_people_without_a_group_are_left_out():
    data = sp.privatize(list("wxyz") * 100, TWO.factors[0], seed=1)
    groups = np.resize(["f", "m", None, "m", "f"], 400)
    known = np.array([group is not None for group in groups])
    expected = fitted(sp.count(sp.SubsetData(data.codes[known], data.design), by=groups[known]))
    for by in (groups, pd.Series(groups).where(known, float("nan"))):
        fit = fitted(sp.count(data, by=by))
        assert (fit.n, fit.df) == (known.sum(), expected.df)
        assert fit.loglik == pytest.approx(expected.loglik)
        assert [note.kind for note in fit.notes if note.kind is NoteKind.MISSING] == [NoteKind.MISSING]
