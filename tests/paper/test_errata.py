"""Each line of docs/errata.md, proved."""

import numpy as np
import pytest
from every_case import every_case

import subsetprivacy as sp
from subsetprivacy.estimation.likelihood import expected_information, mean_loglik, tangent_inverse
from subsetprivacy.examples import URN, adult

URN_DESIGN = sp.uniform(list(URN))
RACE = sp.uniform(adult.races)


def limit_covariance(design, w, scale):
    """The covariance scale C scale' of a moment estimator, with C of one observation (`gen_mom`)."""
    codes, mu = design.support()
    P = mu * design.incidence(codes).inner(w)
    gamma = design.incidence(codes).spread(P)
    C = design.incidence(codes).gram(P) - np.outer(gamma, gamma)
    return scale @ C @ scale.T


def test_urn_sizes():
    w = np.array(list(URN.values()))
    size = {names: w[[list(URN).index(name) for name in names]].sum() for names in [("black", "red")]}
    assert size["black", "red"] == pytest.approx(0.11)
    # Three colours of four: no yes/no question of the urn reports them, a conditional design does.
    three = URN_DESIGN.categories.code(["red", "green", "blue"])
    assert not URN_DESIGN.allows(np.array([three]))[0]
    triples = {tuple(name for name in URN if name != left_out): 1 / 3 for left_out in URN}
    assert sp.conditional(list(URN), triples).allows(np.array([three]))[0]
    seen = sp.SubsetData([three], sp.conditional(list(URN), triples))
    assert sp.person_leakage(seen, URN).size_leakage[0] == pytest.approx(0.01)
    assert sp.audit(URN_DESIGN, URN).to_dict()["size_coverage"] == pytest.approx(0.684133, abs=1e-6)


@every_case(
    "design",
    [
        sp.conditional(["x", "y", "z"], {("x", "y"): 0.5, ("y", "z"): 0.5, ("x", "z"): 0.5}),
        sp.conditional(list("abcd"), {("a", "b"): 1.0, ("c", "d"): 1.0}),
        sp.conditional(list("abc"), {("a", "b", "c"): 1.0}),
    ],
)
def test_identifiability_needs_no_simplex_constraint(design):
    # 1_a'u = 0 for all a already forces 1'u = 0, since the mu-weighted sum of the rows is the vector of ones.
    codes, mu = design.support()
    rows = design.incidence(codes)
    assert rows.spread(mu) == pytest.approx(np.ones(design.p))
    null = design.null_direction()
    if null is not None:
        assert sum(null.values()) == 0


def test_mi_coverage_is_conditional_entropy():
    w = np.array(list(URN.values()))
    codes, mu = URN_DESIGN.support()
    entropy = 0.0
    for code, weight in zip(codes, mu):
        inside = [j for j in range(4) if code >> j & 1]
        L = w[inside].sum()
        entropy -= sum(weight * w[j] * np.log2(w[j] / L) for j in inside)
    assert sp.audit(URN_DESIGN, w).to_dict()["mi_coverage"] == pytest.approx(entropy)
    assert entropy > 0


def test_closed_form_is_another_estimator_from_five_on():
    four = sp.simulate(URN_DESIGN, URN, 500, seed=1)
    assert sp.estimate(four, "mom").w == pytest.approx(sp.estimate(four, "mom-uniform").w)
    five = sp.simulate(RACE, adult.race, 500, seed=1)
    assert np.abs(sp.estimate(five, "mom").w - sp.estimate(five, "mom-uniform").w).max() > 1e-3
    assert abs(sp.estimate(five, "mom").w.sum() - 1) > 1e-4


def test_one_step_goes_uphill():
    counts = sp.simulate(sp.uniform(range(8)), np.arange(1, 9) / 36, 5000, seed=2)
    start = sp.estimate(counts, "mom").projected()
    step = sp.estimate(counts, "one-step", start="mom")
    assert step.loglik > start.loglik + 0.1
    # The printed sign goes the other way.
    back = 2 * start.w - step.w
    assert mean_loglik(counts.incidence, counts.shares, back) < start.loglik / counts.n


@pytest.mark.parametrize("n", [2_000, 200_000])
def test_one_step_is_consistent_with_empty_categories(n):
    w = np.array([0, 0, 0.3, 0.7])
    samples = sp.simulate_many(URN_DESIGN, w, n, 100, seed=3)
    losses = [
        n * ((sp.estimate(sample, method).w - w) ** 2).sum() for method in ("one-step", "mle") for sample in samples
    ]
    # The efficient loss is near .58; clipping and renormalizing gave 39 at n = 2000 and 400 at n = 20,000.
    assert np.mean(losses[:100]) == pytest.approx(np.mean(losses[100:]), rel=0.05)
    assert np.mean(losses[:100]) < 1


def test_limits_of_the_scaled_loss():
    # The printed brackets shrink like standard errors: sd of the limit law over sqrt(1000) replications.
    rng = np.random.default_rng(5)
    traces, laws = [], []
    for _ in range(400):
        w = rng.random(4)
        nu = rng.random(6)
        pairs = dict(zip([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], nu / nu.sum()))
        limit = tangent_inverse(expected_information(sp.independent(range(4), pairs), w / w.sum()))
        traces.append(np.trace(limit))
        laws.append(rng.standard_normal(4) ** 2 @ np.maximum(np.linalg.eigvalsh(limit), 0))
    assert np.mean(traces) == pytest.approx(2.50, abs=0.25)
    assert np.std(laws) / np.sqrt(1000) == pytest.approx(0.09, abs=0.03)


def test_adult_leakage():
    report = sp.audit(RACE, adult.race).to_dict()
    assert report["mi_leakage"] == pytest.approx(0.409, abs=5e-4)
    assert report["mi_nonprivate"] == pytest.approx(0.799, abs=5e-4)
    assert report["prediction_leakage"] == pytest.approx(0.922, abs=5e-4)
    assert report["prediction_baseline"] == pytest.approx(0.854, abs=5e-4)


def test_adult_loss_limits():
    w = adult.race
    mle = np.trace(tangent_inverse(expected_information(RACE, w)))
    mom = np.trace(limit_covariance(RACE, w, np.linalg.inv(RACE.Q)))
    r = 1 / RACE.pair_probability
    closed = np.trace(limit_covariance(RACE, w, r / (r - 1) * np.eye(5)))
    assert mle == pytest.approx(0.864, abs=5e-4)
    assert mom == pytest.approx(2.80, abs=5e-3)
    assert closed == pytest.approx(2.93, abs=5e-3)
    assert mle / (1 - w @ w) == pytest.approx(3.33, abs=0.005)
    assert round(mle / (1 - w @ w), 1) == 3.3
    assert mom / mle > 3


@every_case(
    "design",
    [
        URN_DESIGN,
        sp.conditional(range(4), {(0, 1, 2): 1 / 3, (0, 1, 3): 1 / 3, (0, 2, 3): 1 / 3, (1, 2, 3): 1 / 3}),
        sp.conditional(range(4), {(0, 1): 0.7, (2, 3): 0.7, (0, 2): 0.3, (1, 3): 0.3}),
        sp.nonprivate(range(4)),
    ],
)
def test_information_identity(design):
    w = np.array(list(URN.values()))
    information = expected_information(design, w)
    assert np.trace(information @ (np.diag(w) - np.outer(w, w))) == pytest.approx(design.S - 1)


@every_case(("p", "printed"), [(4, 0.67), (5, 0.42), (8, 0.14)])
def test_two_answers_intersect(p, printed):
    codes = sp.uniform(range(p)).support()[0]
    first = codes[codes & 1 == 1]  # whoever has value 0 reports one of these, all alike
    both = first[:, None] & first[None, :]
    assert np.mean(both == 1) == pytest.approx(printed, abs=0.005)


@every_case("p", [4, 5, 8, 16, 32, 48])
def test_growing_p_needs_no_logarithm(p):
    # The closed form is (r 1_A - 1)/(r - 1) on average, so a coordinate's variance is at most (r/(r - 1))^2/4 <= 1 per
    # person, and E of the L1 error at most p/sqrt(n) (thm_mom_dim asks for p^2 ln p / n -> 0).
    r = 1 / sp.uniform(range(p)).pair_probability
    assert r / (2 * (r - 1)) <= 1
    n, w = 4 * p**2, np.arange(1, p + 1) / (p * (p + 1) / 2)
    batch = sp.simulate_many(sp.uniform(range(p)), w, n, 12, seed=p)
    losses = np.abs(sp.estimate_many(batch, "mom-uniform").w - w).sum(axis=1)
    assert 0.5 * p / n**0.5 < losses.mean() < p / n**0.5
