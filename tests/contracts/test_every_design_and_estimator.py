"""One body, run for every design and every estimator."""

import json

import numpy as np
import pytest
from every_case import every_case
from lopsided import GROUPS, LISTED, RECORDED, SEVEN, TRIPLE, TWO_GROUPS, WARNER
from problems import lopsided, lopsided_conditional, mixture, quietly, with_full_question

import subsetprivacy as sp
from subsetprivacy.design import Coarse, Covered, ListedPartition, Mixture, Product, Uniform
from subsetprivacy.design.secret_bit import uniform_with_bit
from subsetprivacy.errors import ArgumentError, NotIndependentError, UnknownDesignError
from subsetprivacy.estimation.dispatch import METHODS
from subsetprivacy.estimation.indicator import IndicatorTable, rows_of
from subsetprivacy.tables import label_text

N = 6000


SAME_MAXIMUM = ("em", "icm", "conic")  # as "mle", so that intervals by the likelihood are the same


def _rising(p):
    return np.arange(1, p + 1) / (p * (p + 1) / 2)


def _triples():
    labels = ["w", "x", "y", "z"]
    return sp.conditional(labels, {tuple(set(labels) - {left_out}): 1 / 3 for left_out in labels})


def _large_mixture():
    parts = [sp.uniform(range(24)), sp.independent(range(24), {tuple(range(12)): 0.5, tuple(range(0, 24, 2)): 0.5})]
    return Mixture.of(parts, [0.8, 0.2])


DESIGNS = {
    "uniform 4": lambda: sp.uniform(["black", "red", "green", "blue"]),
    "uniform 5": lambda: sp.uniform([1.5, 2.5, 3.5, 4.5, 5.5]),
    "uniform 12": lambda: sp.uniform(range(12)),
    "uniform 26": lambda: sp.uniform(list("abcdefghijklmnopqrstuvwxyz")),
    "independent": lopsided,
    "independent with the full set": with_full_question,
    "conditional, lopsided": lopsided_conditional,
    "conditional, triples": _triples,
    "conditional, three categories": lambda: sp.conditional(
        [True, False, "other"], {(True, False): 0.5, (False, "other"): 0.5, (True, "other"): 0.5}
    ),
    "nonprivate": lambda: sp.nonprivate([("a", 1), ("b", 2), ("c", 3)]),
    "mixture": mixture,
    "mixture, too large to list": _large_mixture,
    "coarse": lambda: Coarse(sp.Categories(list("abcd"))),
    "fixed size, pairs of three": lambda: sp.fixed_size(["never", "once", "often"], 2),
    "fixed size, three of six": lambda: sp.fixed_size(range(6), 3),
    "partition": lambda: sp.partition(SEVEN, 3),
    "partition, two groups": lambda: sp.partition(range(5), 2),
    "partition, listed": lambda: GROUPS,
    "partition, recorded": lambda: RECORDED,
    "partition, two listed groups": lambda: TWO_GROUPS,
    "hadamard, masks": lambda: sp.hadamard(SEVEN, 15),
    "hadamard, numbers": lambda: sp.hadamard(50),
    "warner": lambda: WARNER,
    "bit": lambda: uniform_with_bit(["no", "yes"]),
    "bit, three categories": lambda: uniform_with_bit(["x", "y", "z"], 0.3),
    "product": lambda: sp.product({"x": lopsided(), "w": WARNER}),
    "product, uniform": lambda: sp.product({"x": sp.uniform(list("abcd")), "y": sp.uniform(range(5))}),
    "product, groups recorded": lambda: sp.product({"x": RECORDED, "w": WARNER}),
    "product of three, full sets": lambda: TRIPLE,
    "joined": lambda: sp.join({"sex": ["f", "m"], "smokes": [True, False]}),
    "joined, asked": lambda: sp.join({"sex": ["f", "m"], "view": ["no", "so", "yes"]}),
    "joined, revealing": lambda: sp.join({"sex": ["f", "m"], "smokes": [True, False]}, reveals=True),
    "joined by twos": lambda: sp.join({"s": [0, 1], "t": [0, 1], "u": [0, 1]}, together=2),
    "covered": lambda: sp.covered(lopsided(), 0.15),
    "covered, recorded groups": lambda: sp.covered(sp.partition(SEVEN, partitions=LISTED, record=True), 0.1),
    "covered product": lambda: sp.covered(sp.product({"x": lopsided(), "y": sp.hadamard(range(4))}), 0.05),
    "dummies, two categories": lambda: sp.small(["no", "yes"], "dummies", reveals=True),
    "dummies, three categories": lambda: sp.small(["x", "y", "z"], "dummies", reveals=True),
}
SMALLEST = {
    "conditional, triples": 3,
    "nonprivate": 1,
    "fixed size, three of six": 3,
    "hadamard, numbers": 22,
    "bit": 1,
    "bit, three categories": 1,
    "product": 4,
    "product, uniform": 4,
    "product, groups recorded": 4,
    "product of three, full sets": 8,
    "joined": 3,
    "joined by twos": 6,
    "covered product": 4,
    "dummies, two categories": 1,
    "dummies, three categories": 1,
}


def sample(design):
    """Counts that the design could have drawn; coarse ones are somebody else's, of a lopsided design."""
    if isinstance(design, Coarse):
        drawn = sp.simulate(lopsided_conditional(), _rising(4), N, seed=1)
        return sp.SubsetCounts(drawn.codes, drawn.counts, design)
    return sp.simulate(design, _rising(design.p), N, seed=1)


def refusal(method, design):
    """The named error with which a method must answer a design that it is not for; None if it must answer."""
    factors = design.factors if isinstance(design, Product) else [design]
    if method == "mom-uniform" and not all(isinstance(factor, Uniform) for factor in factors):
        return ArgumentError
    told = [f.is_independent or (isinstance(f, ListedPartition) and f.recorded) for f in factors]
    if method == "mom-conditional" and not all(told):
        return NotIndependentError
    if method in ("mom", "one-step") and isinstance(design, Coarse):
        return UnknownDesignError
    return None


def _is_right(fit, counts):
    """Check an estimate, its errors and intervals against the distribution that the sample was drawn from."""
    w, p = _rising(counts.design.p), counts.design.p
    assert fit.converged
    assert fit.categories == counts.design.categories
    dummies = counts.design.D * counts.design.dummies if isinstance(counts.design, Covered) else 0
    assert fit.n + fit.n_missing == N + dummies
    assert fit.w.shape == (p,)
    if fit.in_simplex:
        assert fit.w.min() >= 0
        assert fit.w.sum() == pytest.approx(1)
        assert fit.gap >= 0
        assert fit.loglik < 0
    if fit.method in ("mle", *SAME_MAXIMUM):
        assert fit.gap <= 1e-6

    with quietly():
        cov, se = fit.cov, fit.se
    assert cov == pytest.approx(cov.T, abs=1e-15)
    assert np.linalg.eigvalsh(cov).min() > -1e-12
    assert (se > 0).all()
    assert np.abs((fit.w - w) / se).max() < 4.5  # right, as far as it claims to know
    if fit.method not in ("mom", "mom-uniform", "mom-conditional"):
        assert cov.sum(axis=0) == pytest.approx(np.zeros(p), abs=1e-12)  # the sum of w has no error


def _has_intervals(fit):
    with quietly():
        bounds = fit.interval()
    assert (bounds[:, 0] <= fit.w).all()
    assert (fit.w <= bounds[:, 1]).all()


def _can_be_read(fit, counts):
    facts = fit.to_dict()
    assert facts["estimate"] == fit.w.tolist()
    json.dumps({key: value for key, value in facts.items() if key != "categories"})
    text = str(fit.summary())
    assert all(label_text(label) in text for label in fit.categories)
    assert repr(fit).startswith(f"<Estimate by {fit.method}, {counts.n_text}: ")
    assert fit._repr_html_().count("<tr>") == counts.design.p + 1


@pytest.mark.parametrize("name", DESIGNS)
def test_every_estimator_keeps_its_word_on_every_design(name):
    counts = sample(DESIGNS[name]())
    for method in METHODS:
        expected = refusal(method, counts.design)
        if expected is not None:
            with pytest.raises(expected, match="Hint:"):
                sp.estimate(counts, method)
            continue
        fit = sp.estimate(counts, method, **({"accelerate": True} if method == "em" else {}))
        assert fit.method == method
        _is_right(fit, counts)
        if method not in SAME_MAXIMUM or name == "uniform 4":
            _has_intervals(fit)
        if method == "mle" or name == "uniform 4":  # what is written depends on either of them alone
            _can_be_read(fit, counts)


@every_case("name", DESIGNS)
def test_every_design_can_be_audited_or_says_why_not(name):
    design = DESIGNS[name]()
    if isinstance(design, Coarse):
        with pytest.raises(UnknownDesignError):
            sp.audit(design, _rising(design.p))
        return
    facts = sp.audit(design, _rising(design.p)).to_dict()
    assert ("size_leakage" in facts) == design.exposed.rules_out
    assert 0 <= facts.get("size_leakage", 0) <= facts.get("size_nonprivate", 0) + 1e-12
    assert 0 <= facts["mi_leakage"] <= facts["mi_nonprivate"] + 1e-12
    assert facts["prediction_baseline"] - 1e-12 <= facts["prediction_leakage"] <= 1
    assert facts["mi_leakage"] <= facts["maximal_leakage"] + 4 * facts.get("mi_simulation_error", 0) + 1e-12
    assert facts["identifiable"]
    smallest = SMALLEST.get(name, 2)
    assert facts["smallest_set"] == smallest
    assert facts["subset_private"] == (smallest > 1)


# Unbiased indicators ------------------------------------------------------------------------------


def _refuses_indicators(design):
    """The error of designs without unbiased indicators; None for all others."""
    if isinstance(design, Coarse):
        return UnknownDesignError
    return ArgumentError if design.covered is not None else None


@every_case("name", DESIGNS)
def test_indicators_are_unbiased_on_every_design(name):
    design = DESIGNS[name]()
    w = np.stack([_rising(design.p), np.eye(design.p)[0], np.full(design.p, 1 / design.p)])
    refused = _refuses_indicators(design)
    if refused is not None:
        with pytest.raises(refused, match="Hint:"):
            IndicatorTable(design, w)
        return
    table = IndicatorTable(design, w)
    if not design.enumerable:  # too many subsets to list: means over many draws of the value in the middle
        data = sp.privatize([design.categories.labels[design.p // 2]] * 4000, design, seed=1)
        D = sp.indicator(data, w=w[0])
        assert np.allclose(D.sum(axis=1), 1, atol=1e-9)
        z = (D.mean(axis=0) - np.eye(design.p)[design.p // 2]) / (D.std(axis=0) / np.sqrt(len(D)))
        assert np.abs(z).max() < 4.5
        return
    codes, mu = design.support()
    informative = ~design.is_missing(codes)
    codes, mu = codes[informative], mu[informative] / (1 - design.mu_full)
    rows = rows_of(codes, design)
    for b in range(len(w)):
        D = table.of(rows, np.full(len(codes), b))
        assert np.allclose((mu * D) @ rows.T, np.eye(design.p), rtol=0, atol=1e-12)
        assert np.allclose(D.sum(axis=0), 1, rtol=0, atol=1e-12)


@every_case("name", DESIGNS)
def test_every_design_has_means_by_category_or_says_why_not(name):
    design = DESIGNS[name]()
    labels = design.categories.labels[: min(design.p, 12)]
    values = [labels[k % len(labels)] for k in range(600)]
    if isinstance(design, Coarse):
        data = sp.SubsetData(np.full(600, 0b0011), design)
    else:
        with quietly():
            data = sp.privatize(values, design, seed=1)
    y = np.random.default_rng(1).normal(size=len(data))
    refused = _refuses_indicators(design)
    if refused is not None:
        with pytest.raises(refused, match="Hint:"):
            sp.group_means(y, data)
        return
    with quietly():
        result = sp.group_means(y, data)
    assert result.mean.shape == (design.p,)
    assert result.share.sum() == pytest.approx(1)
    assert 0 <= result.test().pvalue[0] <= 1


@every_case("name", DESIGNS)
def test_every_design_evaluates_a_classifier_or_says_why_not(name):
    design = DESIGNS[name]()
    n, p = 300, design.p
    rng = np.random.default_rng(1)
    proba = rng.dirichlet(np.ones(p), size=n)
    if isinstance(design, Coarse):
        data = sp.SubsetData(np.full(n, 0b0011), design)
    else:
        values = np.arange(n) % p
        with quietly():
            data = sp.privatize([design.categories.labels[x] for x in values], design, seed=1)
    refused = _refuses_indicators(design)
    if refused is not None:
        with pytest.raises(refused, match="Hint:"):
            sp.evaluate(data, proba=proba if len(data) == n else rng.dirichlet(np.ones(p), size=len(data)))
    if design.covered is not None:
        return
    loss = sp.evaluate(data, proba=proba, metrics="subset_log_loss")
    assert loss.subset_log_loss > 0
    if refused is None:
        with quietly():
            result = sp.evaluate(data, proba=proba)
        assert result.se("accuracy") > 0
        assert result.confusion.estimate.sum() == pytest.approx(1)
        assert result.shares.sum() == pytest.approx(1)


# Private predictors -------------------------------------------------------------------------------


def _people(design):
    """People with a private category, a seen column, and an outcome; and the effects of both."""
    rng = np.random.default_rng(7)
    n = 3000 if design.p <= 12 else 1000
    x = rng.choice(design.p, n)
    seen = rng.normal(size=n)
    effects = np.linspace(-1, 1, design.p)
    drawn = lopsided_conditional() if isinstance(design, Coarse) else design
    labels = drawn.categories.labels
    with quietly():
        data = sp.privatize([labels[j] for j in x], drawn, seed=3)
    codes = data.select(data.names).codes if isinstance(data, sp.SubsetTable) else data.codes
    y = 2 + 0.5 * seen + effects[x] + 0.5 * rng.normal(size=n)
    return {"y": y, "seen": seen, "private": codes}, effects


LIKELIHOODS = (
    "uniform 5",
    "conditional, lopsided",
    "coarse",
    "partition, listed",
    "warner",
    "bit",
    "product",
    "joined",
)
FITS = [*((name, "corrected") for name in DESIGNS), *((name, "ml") for name in LIKELIHOODS)]


@every_case(("name", "method"), FITS)
def test_every_design_is_a_private_predictor_or_says_why_not(name, method):
    design = DESIGNS[name]()
    if design.covered is not None:
        people = {"y": [1.0, 2.0], "seen": [1.0, 3.0], "private": [design.missing_code] * 2}
        with pytest.raises(ArgumentError, match="dummy rows have no covariates"):
            sp.regress("y ~ seen + private", people, designs={"private": design}, method=method)
        return
    people, effects = _people(design)
    asked = {"designs": {"private": design}, "method": method, "baseline": design.categories.labels[-1], "starts": 1}
    if method == "corrected" and isinstance(design, Coarse):
        with pytest.raises(UnknownDesignError):
            sp.regress("y ~ seen + private", people, **asked)
        return
    with quietly():
        fit = sp.regress("y ~ seen + private", people, **asked)
    truth = np.array([2 + effects[-1], 0.5, *(effects[:-1] - effects[-1])])
    assert fit.family == "linear"
    assert fit.layout.names[:2] == ("Intercept", "seen")
    assert fit.layout.names[2:] == tuple(f"private[{label_text(label)}]" for label in design.categories.labels[:-1])
    if not fit.converged:  # a category of many has too few people
        assert design.p > 12
        assert fit.fit.unsolved
        return
    assert design.p > 12 or not fit.fit.rare.any()
    given = ~fit.fit.rare
    assert given.any()
    assert np.abs((fit.coef - truth) / fit.se)[given].max() < 4.5  # right, as far as it claims to know
