"""From linear predictors to the likelihood of a subset: derivatives, tails, general rows."""

import numpy as np
from every_case import every_case
from scipy.special import expit

from subsetprivacy.regression.links import CumulativeLogit, MultinomialLogit, pairs

LINKS = {
    "logit, first baseline": MultinomialLogit(4, 0),
    "logit, inner baseline": MultinomialLogit(4, 2),
    "logit of two": MultinomialLogit(2, 1),
    "ordinal": CumulativeLogit(4),
    "ordinal of two": CumulativeLogit(2),
}
EVERY_LINK = every_case("link", LINKS.values(), ids=LINKS)
ROWS = ("sets", "general")


def people(link, kind, m=12):
    """Return increasing predictors of m people, and rows of 0 and 1 or between."""
    rng = np.random.default_rng(3)
    U = np.sort(rng.normal(0, 1.5, (link.p - 1, m)), axis=0)
    R = (rng.random((link.p, m)) < 0.5).astype(float) if kind == "sets" else rng.uniform(0.1, 1.0, (link.p, m))
    R[:, R.sum(axis=0) == 0] = 1.0
    return U, R


def differences(function, U, step=1e-6):
    """Return the derivatives of a function of predictors, by central differences, along a new first axis."""
    out = []
    for k in range(len(U)):
        E = np.zeros_like(U)
        E[k] = step
        out.append((function(U + E) - function(U - E)) / (2 * step))
    return np.array(out)


def full(C, k):
    """Return the matrices of which the entries of the upper triangle are given, shape (k, k, m)."""
    first, second = pairs(k)
    out = np.empty((k, k, C.shape[1]))
    out[first, second] = C
    out[second, first] = C
    return out


@EVERY_LINK
@every_case("kind", ROWS)
def test_the_likelihood_is_the_sum_of_possible_shares(link, kind):
    U, R = people(link, kind)
    assert np.allclose(link.of(U, R).loglik, np.log((R * link.shares(U)).sum(axis=0)), atol=1e-13)


@EVERY_LINK
@every_case("kind", ROWS)
def test_gradient_and_curvature_are_derivatives(link, kind):
    U, R = people(link, kind)
    linked = link.of(U, R, curvature=True)
    assert np.allclose(linked.gradient, differences(lambda V: link.of(V, R).loglik, U), atol=1e-6)
    hessian = differences(lambda V: link.of(V, R).gradient, U)
    assert np.allclose(full(linked.curvature, len(U)), -hessian, atol=1e-6)


@EVERY_LINK
def test_slopes_are_derivatives_of_shares(link):
    U, _ = people(link, "sets")
    assert np.allclose(link.shares(U).sum(axis=0), 1)
    assert np.allclose(link.slopes(U), np.swapaxes(differences(link.shares, U), 0, 1), atol=1e-8)


@EVERY_LINK
@every_case("total", [1.0, 0.01, 3.0])
def test_weighted_labels_have_derivatives_of_their_own_likelihood(link, total):
    """Indicators may be negative, and those of pseudo-people do not add up to 1."""
    U, _ = people(link, "sets")
    D = np.random.default_rng(1).normal(0.3, 1.0, (link.p, U.shape[1]))
    D *= total / D.sum(axis=0)
    linked = link.complete(U, D)
    assert np.allclose(linked.loglik, (D * np.log(link.shares(U))).sum(axis=0))
    scale = 1 + np.abs(D).max()
    assert np.allclose(linked.gradient, differences(lambda V: link.complete(V, D).loglik, U), atol=1e-6 * scale)
    hessian = differences(lambda V: link.complete(V, D).gradient, U)
    assert np.allclose(full(linked.curvature, len(U)), -hessian, atol=1e-6 * scale)


@EVERY_LINK
def test_full_sets_say_nothing(link):
    U, _ = people(link, "sets")
    linked = link.of(U, np.ones((link.p, U.shape[1])), curvature=True)
    for part in (linked.loglik, linked.gradient, linked.curvature):
        assert np.abs(part).max() < 1e-14


def test_a_subset_of_unlikely_categories_keeps_its_likelihood():
    """All that the subset holds is too unlikely to be seen next to the rest: its shares must not round to 0 over 0."""
    U = np.array([[800.0, 900.0], [0.0, -50.0], [-3.0, -48.0]])
    R = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    R[0] = [0.0, 0.0]
    linked = MultinomialLogit(4, 0).of(U, R, curvature=True)
    inside = np.logaddexp(U[1], U[2])
    assert np.allclose(linked.loglik, inside - np.logaddexp(U[0], 0.0), rtol=1e-12)
    assert np.allclose(linked.gradient[1], expit(U[1] - U[2]), rtol=1e-12)
    assert np.isfinite(linked.curvature).all()


def test_ordered_shares_are_accurate_in_both_tails():
    U = np.array([[30.0, -40.0], [31.0, -39.0]])
    shares = CumulativeLogit(3).shares(U)
    assert np.allclose(shares[1], [expit(-30.0) - expit(-31.0), expit(-39.0) - expit(-40.0)], rtol=1e-12)
    assert (shares >= 0).all()
    one = CumulativeLogit(3).of(U, np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), curvature=True)
    assert np.allclose(one.loglik, np.log(shares[1]))
    assert np.isfinite(one.curvature).all()
