"""The price of a parameter: its variance from subsets, relative to the values themselves."""

import numpy as np
import pytest

import subsetprivacy as sp
from subsetprivacy.estimation.indicator import IndicatorTable
from subsetprivacy.messages import NoteKind
from subsetprivacy.regression import price as pricing
from subsetprivacy.regression.blocks import Block
from subsetprivacy.regression.models import LikelihoodKernel
from subsetprivacy.regression.starting import null_information, slope_information_kept

pytestmark = pytest.mark.filterwarnings("ignore::subsetprivacy.errors.NotPrivateWarning")
LABELS = tuple("abcd")
LOPSIDED = sp.independent(list(LABELS), {("a", "b"): 0.5, ("a", "c"): 0.3, ("a", "d"): 0.2})
N = 400


def data(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.standard_normal(n), rng.integers(0, 2, n)])
    shares = np.array([0.15, 0.25, 0.4, 0.2])
    return np.minimum((rng.random(n)[:, None] > shares.cumsum() - 0.1 * (X[:, :1] > 0)).sum(axis=1), 3), X


def fit(design, *, n=N, seed=0, **options):
    x, X = data(n, seed)
    return sp.regress(sp.privatize(np.array(LABELS)[x], design, seed=seed + 1), {"u": X[:, 0], "z": X[:, 1]}, **options)


def listed_information(made, design, *, corrected=False):
    """Return the variance of the scores of all people, summed over all subsets that each could have reported."""
    codes, mu = design.support()
    informative = ~design.is_missing(codes)
    R, mu = design.incidence(codes[informative]).inner(np.eye(design.p)), mu[informative] / (1 - design.mu_full)
    kernel, total = LikelihoodKernel(made.model, made.fit.theta), 0.0
    for x in made.problem.blocks.some(len(made.problem.blocks)).X:
        block = Block(np.repeat(x[None], R.shape[1], axis=0), R)
        shares = made.model.link.shares(made.model.predictors(made.fit.theta, block.X))[:, 0]
        if corrected:
            D = IndicatorTable(design, shares).of(R, np.zeros(R.shape[1], np.int64))
            linked = made.model.link.complete(made.model.predictors(made.fit.theta, block.X), D)
            S = made.model.scores(linked.gradient, block.X)
        else:
            S = kernel.scores(block)
        total = total + (S * (mu * (shares @ R))) @ S.T
    return total


@pytest.mark.parametrize("family", ["logit", "ordinal"])
@pytest.mark.parametrize("design", [sp.uniform(list(LABELS)), LOPSIDED], ids=["uniform", "lopsided"])
def test_prices_are_variances_by_enumeration(family, design):
    made = fit(design, family=family, method="ml")
    subsets = np.linalg.inv(listed_information(made, design))
    values = np.linalg.inv(listed_information(made, sp.nonprivate(list(LABELS))))
    np.testing.assert_allclose(made.price, subsets.diagonal() / values.diagonal(), rtol=1e-8)


@pytest.mark.parametrize("family", ["logit", "ordinal"])
def test_prices_of_corrected_scores_are_variances_by_enumeration(family):
    design = sp.uniform(list(LABELS))
    made = fit(design, family=family)
    assert made.method == "corrected"
    values = np.linalg.inv(listed_information(made, sp.nonprivate(list(LABELS))))
    cov = values @ listed_information(made, design, corrected=True) @ values
    np.testing.assert_allclose(made.price, cov.diagonal() / values.diagonal(), rtol=1e-8)


@pytest.mark.parametrize("options", [{"family": "logit"}, {"family": "ordinal"}, {"method": "corrected"}])
def test_values_cost_nothing(options):
    made = fit(sp.nonprivate(list(LABELS)), **options)
    np.testing.assert_allclose(made.price, 1, rtol=1e-8)
    assert made.n_effective == pytest.approx(N)
    assert not [note for note in made.notes if note.kind == NoteKind.PRICE]


@pytest.mark.parametrize("family", ["logit", "ordinal"])
def test_the_average_is_that_of_the_rows(family):
    made = fit(sp.uniform(list(LABELS)), family=family)
    rows = made.to_frame()["price"]
    assert made.n_effective == pytest.approx(N * (1 / rows).mean())
    note = next(note.text for note in made.notes if note.kind == NoteKind.PRICE)
    for value in (f"{rows.min():.2f}", f"{rows.max():.2f}", f"{1 / (1 / rows).mean():.2f}", f"{made.n_effective:,.0f}"):
        assert value in note


def test_a_slope_of_ordered_categories_costs_what_the_start_says():
    # Without slopes the expected information of a slope, relative to a value's, is that at the overall shares.
    design, w = sp.uniform(range(5)), np.array([0.1, 0.15, 0.5, 0.15, 0.1])
    codes, mu = design.support()
    kept = ~design.is_missing(codes)
    R = design.incidence(codes[kept]).inner(np.eye(5))
    L = w @ R
    amounts = mu[kept] * L
    t = 2 * np.cumsum(w) - w - 1  # the score of a value
    subset = amounts @ (((w * t) @ R) / L) ** 2 / amounts.sum()
    made = slope_information_kept(null_information(codes[kept], amounts, design, w), w)
    assert made == pytest.approx(subset / (w @ t**2))
    assert made < 0.75 * (design.S - 1) / (design.p - 1)  # the share of directions on average is no answer


@pytest.mark.parametrize("options", [{"shrink": True}, {"ridge": 1.0}])
def test_a_penalized_fit_has_no_price(options):
    made = fit(sp.uniform(list(LABELS)), **options)
    assert np.isnan(made.price).all()
    assert "price" not in str(made.summary())


def test_a_design_that_is_not_listed_uses_the_covariance_of_the_fit(monkeypatch):
    listed = {method: fit(sp.uniform(list(LABELS)), n=8000, method=method).price for method in ("ml", "corrected")}
    monkeypatch.setattr(pricing, "is_affordable", lambda design, n: False)
    for method, price in listed.items():
        made = fit(sp.uniform(list(LABELS)), n=8000, method=method)
        np.testing.assert_allclose(made.price, price, rtol=0.15)


@pytest.mark.slow
def test_prices_are_those_of_simulated_fits():
    design, estimates = sp.uniform(list(LABELS)), {"subsets": [], "values": []}
    for seed in range(400):
        estimates["subsets"].append(fit(design, n=2000, seed=seed, family="ordinal").estimates)
        estimates["values"].append(fit(sp.nonprivate(list(LABELS)), n=2000, seed=seed, family="ordinal").estimates)
    measured = np.var(estimates["subsets"], axis=0) / np.var(estimates["values"], axis=0)
    np.testing.assert_allclose(fit(design, n=2000, family="ordinal").price, measured, rtol=0.3)  # 2 errors of 10% each
