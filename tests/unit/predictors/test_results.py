"""What a regression on private predictors can be asked."""

import numpy as np
import predictor_people as made
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from scipy.stats import t

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.messages import NoteKind
from subsetprivacy.predictors.outcome import fit_outcome

DESIGN = sp.uniform(list("abcd"))


def table(n=1500, seed=4):
    rng = np.random.default_rng(seed)
    x, v = rng.integers(0, 4, n), rng.standard_normal(n)
    sex = rng.choice(["f", "m"], n)
    codes = sp.privatize(np.array(list("abcd"))[x], DESIGN, seed=seed).codes
    income = 1 + 0.5 * v + x + 0.4 * (sex == "m") + rng.standard_normal(n)
    rich = (income + rng.logistic(size=n) > 3).astype(int)
    return {"income": income, "rich": rich, "v": v, "sex": sex, "x": codes}


def regress(formula, method="corrected", data=None, **more):
    return sp.regress(formula, table() if data is None else data, designs={"x": DESIGN}, method=method, **more)


@pytest.fixture(scope="module")
def likely():
    return regress("income ~ v + sex + x", "ml")


def test_coefficients_have_names_in_order(likely):
    baseline = likely.baselines["x"]
    others = tuple(f"x[{label}]" for label in "abcd" if label != baseline)
    assert likely.labels == ("Intercept", "v", "sex[m]", *others)
    frame = likely.to_frame()
    assert frame["term"].tolist() == list(likely.labels)
    assert_allclose(frame["estimate"], likely.coef)
    assert_allclose(likely.interval(0.9)[:, 1] - likely.coef, 1.6448536269514722 * likely.se)
    assert likely.aic == pytest.approx(2 * (6 + 1 + 3 * 3) - 2 * likely.loglik)


def test_a_term_is_tested_by_ratio_and_wald(likely):
    ratio, wald = likely.test("x"), likely.test("x", method="wald")
    assert (ratio.df[0], ratio.method) == (3, "lr")
    assert ratio.statistic[0] > 100
    assert likely.test("sex").statistic[0] == pytest.approx(likely.test("sex", method="wald").statistic[0], rel=0.1)
    assert wald.pvalue[0] < 1e-6
    robust = regress("income ~ v + sex + x").test(["x", "v"])
    assert robust.names == ("x", "v")
    assert robust.method == "robust"
    with refused(ArgumentError, "terms"):
        likely.test("age")
    with pytest.raises(ArgumentError):
        regress("income ~ v + x").test(method="lr")


def test_nested_models_are_compared(likely):
    with pytest.raises(MismatchError):
        likely.compare(likely)
    apart = regress("income ~ v + sex + x + v:x", "ml")
    tested = apart.compare(likely)
    assert tested.df[0] == 3
    assert tested.statistic[0] == pytest.approx(apart.test("v:x").statistic[0], abs=1e-4)
    with pytest.raises(MismatchError):
        likely.compare(regress("income ~ v + x", "ml"))


def test_profile_intervals_are_near_those_of_wald(likely):
    assert_allclose(likely.interval(method="profile"), likely.interval(), atol=0.02)
    with pytest.raises(ArgumentError):
        regress("income ~ v + x").interval(method="profile")
    with pytest.raises(ArgumentError):
        regress("income ~ v + x").interval(method="wald")


@pytest.mark.parametrize("method", ["corrected", "ml"])
def test_predictions_of_new_rows(method):
    fit = regress("income ~ v + x", method)
    new = fit.predict({"v": [0.0, 2.0], "x": ["a", "d"]})
    names = {name: k for k, name in enumerate(fit.labels)}

    def effect(label):
        return fit.coef[names[f"x[{label}]"]] if f"x[{label}]" in names else 0.0

    assert_allclose(new.estimate[:, 0], [fit.coef[0] + effect("a"), fit.coef[0] + 2 * fit.coef[1] + effect("d")])
    assert new.quantity == "mean"
    assert (new.interval()[:, 0, 1] > new.estimate[:, 0]).all()
    again = type(new).from_dict(new.to_dict())
    assert again.quantity == "mean"
    assert_allclose(again.estimate, new.estimate)
    rich = regress("rich ~ v + x", method).predict({"v": [0.0, 2.0], "x": ["a", "d"]})
    assert rich.quantity == "share"
    assert (rich.estimate > 0).all()
    assert (rich.estimate < 1).all()


def test_adjusted_means_of_a_linear_model_are_its_coefficients():
    fit = regress("income ~ v + sex + x")
    means = fit.adjusted("x")
    names = {name: k for k, name in enumerate(fit.labels)}
    baseline = fit.baselines["x"]
    at = {label: means.estimate[k, 0] for k, label in enumerate("abcd")}
    for label in "abcd":
        if label != baseline:
            assert at[label] - at[baseline] == pytest.approx(fit.coef[names[f"x[{label}]"]])
    effects = fit.effects()
    changes = dict(zip(effects.rows, effects.estimate[:, 0], strict=True))
    assert changes["v (+1)"] == pytest.approx(fit.coef[1], rel=1e-5)
    assert changes["sex: m instead of f"] == pytest.approx(fit.coef[2])
    errors = dict(zip(effects.rows, effects.se[:, 0], strict=True))
    assert errors["v (+1)"] == pytest.approx(fit.se[1], rel=1e-3)
    assert len(fit.adjusted("v").rows) == 3  # quartiles
    with refused(ArgumentError, "values"):
        fit.adjusted("x", ["z"])
    with refused(ArgumentError, "variable"):
        fit.adjusted("z")


def test_adjusted_means_are_those_of_the_values_where_nothing_is_hidden():
    y, V, codes, design, x = made.people("logit")
    arranged = made.layout()
    fit = fit_outcome("y", y, V, codes, design, arranged, family="logit")
    means = fit.adjusted("x").estimate[:, 0]
    expected = [np.mean(1 / (1 + np.exp(-arranged.expand(V, np.full(len(x), j)) @ fit.coef))) for j in range(3)]
    assert_allclose(means, expected)
    with refused(ArgumentError, "variable"):
        fit.adjusted("v")


def test_a_private_outcome_has_a_row_per_category():
    rng = np.random.default_rng(6)
    n = 4000
    x, v = rng.integers(0, 4, n), rng.standard_normal(n)
    vote = (rng.random((n, 3)) * np.column_stack([np.ones(n), np.exp(0.5 * v), 1 + x])).argmax(axis=1)
    outcome = sp.fixed_size(["k", "l", "m"], 2)
    data = {
        "v": v,
        "x": sp.privatize(np.array(list("abcd"))[x], DESIGN, seed=1).codes,
        "vote": sp.privatize(np.array(["k", "l", "m"])[vote], outcome, seed=2).codes,
    }
    fits = [
        sp.regress(
            "vote ~ v + x",
            data,
            designs={"x": DESIGN, "vote": outcome},
            method=method,
            baseline={"vote": "k", "x": "a"},
        )
        for method in ("corrected", "ml")
    ]
    for fit in fits:
        assert fit.coef.shape == (2, 5)
        assert fit.categories == ("k", "l", "m")
        assert fit.labels[0] == ("l", "Intercept")
        assert fit.to_frame()["category"].tolist() == ["l"] * 5 + ["m"] * 5
        shares = fit.adjusted("x")
        assert_allclose(shares.estimate.sum(axis=1), 1)
        assert "private x" in str(fit.summary())
    assert (np.abs(fits[0].coef - fits[1].coef) < 4 * fits[0].se).all()


def test_the_summary_says_what_to_know(likely):
    text = str(regress("income ~ v + sex + x").summary())
    assert text.startswith("Linear model of income with private x by corrected scores, n = 1,500")
    assert "Corrected scores and the likelihood compared" in text
    kinds = [note.kind for note in likely.notes]
    assert NoteKind.SPECIFICATION in kinds
    assert NoteKind.BASELINE in kinds
    facts = likely.to_dict()
    assert facts["specification"]["pvalue"] == pytest.approx(float(likely.specification.pvalue[0]))
    assert facts["private"] == [{"name": "x", "labels": ["a", "b", "c", "d"], "baseline": likely.baselines["x"]}]


def test_a_sample_as_it_was_drawn_has_t_and_design_effects():
    data = table()
    drawn = sp.Sampling(np.ones(1500), clusters=np.arange(1500) // 15)
    fit = regress("income ~ v + x", data=data, sampling=drawn)
    clustered = regress("income ~ v + x", data=data, clusters=np.arange(1500) // 15)
    assert_allclose(fit.cov, clustered.cov, rtol=1e-6)
    assert fit.degrees_of_freedom == 99
    assert fit.design_effects is not None
    assert "Design effects" in str(fit.summary())
    # Clusters alone say as much of the drawing as a sampling of them: both have t, not normal quantiles.
    assert_allclose(fit.interval(), clustered.interval(), rtol=1e-6)
    assert_allclose(fit.n, 1500, rtol=0)


@pytest.mark.parametrize("formula", ["income ~ v + x", "x ~ v"])
def test_few_clusters_have_t_and_f_as_their_sampling_has(formula):
    data, towns = table(), np.arange(1500) % 6
    method = "corrected" if formula.startswith("income") else "ml"
    drawn = regress(formula, method, data, sampling=sp.Sampling(clusters=towns))
    clustered = regress(formula, method, data, clusters=towns)
    assert clustered.degrees_of_freedom == drawn.degrees_of_freedom == 5
    assert_allclose(clustered.interval(), drawn.interval(), rtol=1e-5)
    assert_allclose(clustered.interval()[:, 1] - clustered.estimates, t.ppf(0.975, 5) * clustered._se("auto"))
    assert_allclose(clustered.pvalues, drawn.pvalues, rtol=1e-4)
    assert_allclose(clustered.test().pvalue, drawn.test().pvalue, rtol=1e-4)
    assert "because of clusters, with 5 degrees of freedom" in str(clustered.summary())


def test_a_test_of_more_coefficients_than_clusters_tell_has_no_answer():
    tested = regress("income ~ v + x", clusters=np.arange(1500) % 3).test()
    assert np.isnan(tested["x"].pvalue[0])
    assert tested["v"].pvalue[0] < 0.05
    assert "No test of x: more coefficients than degrees of freedom." in str(tested.summary())


def test_sampling_weights_leave_the_number_of_people_whole():
    weights = np.random.default_rng(0).uniform(0.5, 3.0, 1500)  # those of mean 1 sum to 1500 but for rounding
    assert regress("income ~ v + x", sampling=sp.Sampling(weights)).n == 1500.0


def test_without_an_intercept_no_category_is_a_baseline():
    fit = regress("income ~ 0 + x")
    assert "x[a]" in fit.layout.names
    assert "is compared with" not in str(fit.summary())
    assert "income ~ 0 + x:" in repr(fit)
    assert "is compared with" in str(regress("income ~ v + x").summary())


def test_corrected_fits_are_compared_by_a_test_of_the_term():
    fit = regress("income ~ v + x")
    with pytest.raises(ArgumentError):
        fit.compare(fit)


def test_adjusted_means_are_drawn_in_the_order_of_group_means():
    pytest.importorskip("matplotlib")
    people = table()
    (adjusted,) = regress("income ~ v + x", data=people).adjusted("x").plot().axes
    by_category = sp.group_means(people["income"], sp.SubsetData(people["x"], DESIGN)).plot()
    rows = [[label.get_text() for label in ax.get_yticklabels()] for ax in (adjusted, by_category)]
    assert rows == [["d", "c", "b", "a"]] * 2
    quartiles = regress("income ~ v + x", data=people).adjusted("v")
    (by_number,) = quartiles.plot().axes
    assert [label.get_text() for label in by_number.get_yticklabels()] == list(quartiles.rows)
