"""All subsets of a design listed: scores have mean 0, and information and variances are what formulas say."""

import numpy as np
import pytest
from every_case import every_case
from regression_samples import DESIGNS

from subsetprivacy.regression.blocks import Block
from subsetprivacy.regression.links import CumulativeLogit, MultinomialLogit
from subsetprivacy.regression.models import LikelihoodKernel, SeparateSlopes, SharedSlopes
from subsetprivacy.regression.specification import CorrectedScores, Support, expected_curvature

EVERY_DESIGN = every_case("design", [make() for make in DESIGNS.values()], ids=DESIGNS)
EVERY_FAMILY = every_case("family", ["logit", "ordinal"])
X = np.array([[1.0, 0.7]])


def model_of(family, p):
    """Return a model of p categories with two covariates, and parameters."""
    rng = np.random.default_rng(p)
    if family == "logit":
        return SeparateSlopes(MultinomialLogit(p, 1), 2), rng.normal(0, 0.7, 2 * (p - 1))
    return SharedSlopes(CumulativeLogit(p), 2), np.concatenate([np.linspace(-1, 0.8, p - 1), [0.4, -0.6]])


def listed(design, model, theta):
    """Return one person with each possible subset, and the probabilities of the subsets under the model."""
    codes, mu = design.support()
    R = design.incidence(codes).inner(np.eye(design.p))
    block = Block(np.repeat(X, len(codes), axis=0), R)
    shares = model.link.shares(model.predictors(theta, X))[:, 0]
    probabilities = mu * (shares @ R)
    assert probabilities.sum() == pytest.approx(1)
    return block, probabilities, shares, mu


@EVERY_DESIGN
@EVERY_FAMILY
def test_the_score_has_mean_zero_and_its_variance_is_the_information(design, family):
    model, theta = model_of(family, design.p)
    block, chance, shares, mu = listed(design, model, theta)
    kernel = LikelihoodKernel(model, theta, curvature=True)
    scores = kernel.scores(block)
    assert np.abs(scores @ chance).max() < 1e-12
    curvature = kernel.linked(block).curvature * chance
    expected = model.information(curvature, block.X)
    assert np.allclose(expected, (scores * chance) @ scores.T, atol=1e-12)
    G = (block.R * (mu / (shares @ block.R))) @ block.R.T
    slopes = model.scores(model.link.slopes(model.predictors(theta, X))[:, :, 0].T[:, :], np.repeat(X, design.p, 0))
    assert np.allclose(expected, slopes @ G @ slopes.T, atol=1e-12)


@EVERY_DESIGN
def test_information_kept_is_the_price_on_average(design):
    """The trace of information relative to a label's is S - 1 of p - 1, at any shares."""
    model, theta = model_of("logit", design.p)
    block, _, shares, mu = listed(design, model, theta)
    G = (block.R * (mu / (shares @ block.R))) @ block.R.T
    free = np.delete(np.arange(design.p), 1)
    kept = (shares[:, None] * G * shares - np.outer(shares, shares))[np.ix_(free, free)]
    label = (np.diag(shares) - np.outer(shares, shares))[np.ix_(free, free)]
    squares = (mu * (block.R**2 * shares[:, None]).sum(axis=0) / (shares @ block.R)).sum()
    assert np.trace(np.linalg.solve(label, kept)) == pytest.approx(squares - 1)
    if design.noise is None:
        assert squares == pytest.approx(design.S)


@EVERY_DESIGN
@EVERY_FAMILY
def test_corrected_scores_have_mean_zero_and_the_variances_that_the_specification_test_uses(design, family):
    model, theta = model_of(family, design.p)
    block, chance, _, mu = listed(design, model, theta)
    kernel = CorrectedScores(model, theta, Support(block.R, mu))
    each = [kernel(Block(X, block.R[:, [a]])) for a in range(len(mu))]
    corrected = np.array([score for score, *_ in each]).T
    ordinary = LikelihoodKernel(model, theta).scores(block)
    _, V, A, J = each[0]  # they depend on covariates alone
    assert np.abs(corrected @ chance).max() < 1e-12
    assert np.allclose((corrected * chance) @ corrected.T, V, atol=1e-10)
    assert np.allclose((corrected * chance) @ ordinary.T, A, atol=1e-10)
    assert np.allclose((ordinary * chance) @ ordinary.T, J, atol=1e-10)
    for _, *others in each:
        assert all(np.allclose(one, two) for one, two in zip(others, (V, A, J), strict=True))


@EVERY_DESIGN
def test_corrected_scores_have_the_mean_of_labels_under_any_truth(design):
    model, theta = model_of("logit", design.p)
    block, _, shares, mu = listed(design, model, theta)
    truth = np.random.default_rng(1).dirichlet(np.ones(design.p))
    chance = mu * (truth @ block.R)
    kernel = CorrectedScores(model, theta, Support(block.R, mu))
    mean = sum(q * kernel(Block(X, block.R[:, [a]]))[0] for a, q in enumerate(chance))
    labels = model.gradient((truth - shares)[model.link.free][:, None], X)
    assert np.allclose(mean, labels, atol=1e-12)


@EVERY_DESIGN
@EVERY_FAMILY
def test_expected_information_is_the_variance_of_the_scores(design, family):
    model, theta = model_of(family, design.p)
    block, chance, _, mu = listed(design, model, theta)
    U = model.predictors(theta, X)
    G = LikelihoodKernel(model, theta).linked(block).gradient
    variance = (G * chance) @ G.T
    result = expected_curvature(model.link, U, Support(block.R, mu))[:, 0]
    assert np.allclose(result, variance[np.triu_indices(design.p - 1)], atol=1e-12)
