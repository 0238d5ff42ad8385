"""Newton's method for many samples at once, against Newton's method for each; and the projections it needs."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, GIVEN, GIVEN3, RECORDED, WARNER

import subsetprivacy as sp
from subsetprivacy.estimation.newton import newton
from subsetprivacy.estimation.newton_many import newton_many
from subsetprivacy.estimation.simplex import project, project_many
from subsetprivacy.incidence import DenseRows, Kronecker
from subsetprivacy.mechanism.simulate import subset_probabilities

TOLERANCE = 1e-11
URN = np.array([0.01, 0.1, 0.2, 0.69])


def loglik(rows, f, w):
    seen = f > 0
    return float(f[seen] @ np.log(rows[seen] @ w))


def certified_gap(rows, f, w):
    """The largest slope less the mean slope: what is still to be gained, at most."""
    seen = f > 0
    s = (f[seen] / (rows[seen] @ w)) @ rows[seen]
    return float(s.max() - s @ w)


def samples(design, w, n, size, seed):
    """Rows of all subsets that can be reported, and shares of `size` samples of n people."""
    codes, law = subset_probabilities(design, np.asarray(w))
    drawn = np.random.default_rng(seed).multinomial(n, law, size=size)
    return design.incidence(codes).inner(np.eye(design.p)).T, drawn / n


# 8 x 25 = 200 samples: zeros, tiny samples, the urn's margins, several variables.
PROBLEMS = {
    "yes/no": (ASKED, [0.1, 0.2, 0.3, 0.4], 300),
    "five people": (GIVEN, [0.1, 0.2, 0.3, 0.4], 5),
    "true zeros": (sp.uniform(range(6)), [0.5, 0, 0, 0.3, 0.2, 0], 200),
    "urn": (sp.uniform(list("abcd")), URN, 1000),
    "urn twice": (sp.product({"x": sp.uniform(list("abcd")), "y": ASKED}), np.outer(URN, URN).ravel(), 300),
    "urn twice, five people": (sp.product({"x": sp.uniform(list("abcd")), "y": ASKED}), np.outer(URN, URN).ravel(), 5),
    "held bit": (sp.product({"x": WARNER, "y": GIVEN3}), np.outer([0.02, 0.98], [0.7, 0.3, 0]).ravel(), 80),
    "recorded": (RECORDED, [0.3, 0, 0.01, 0.19, 0.2, 0.3, 0], 40),
}


@every_case("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_every_sample_is_fitted_as_by_itself(problem):
    rows, f = samples(*problem, size=25, seed=1)
    result = newton_many(DenseRows(rows), f, tol=TOLERANCE)
    assert result.w.min() >= 0
    assert result.w.sum(axis=1) == pytest.approx(np.ones(25))
    assert result.gap.max() <= TOLERANCE
    for shares, w in zip(f, result.w):
        seen = shares > 0
        alone = newton(DenseRows(rows[seen]), shares[seen], tol=TOLERANCE).w
        assert loglik(rows, shares, w) == pytest.approx(loglik(rows, shares, alone), abs=1e-9)
        assert certified_gap(rows, shares, w) < 1e-9


def test_the_samples_leave_subsets_out():
    assert sum((samples(*problem, size=25, seed=1)[1] == 0).any() for problem in PROBLEMS.values()) >= 5


def test_the_start_does_not_matter():
    rows, f = samples(*PROBLEMS["yes/no"], size=20, seed=2)
    start = np.array([0.97, 0.01, 0.01, 0.01])
    near, far = (
        newton_many(DenseRows(rows), f, tol=TOLERANCE),
        newton_many(DenseRows(rows), f, start=start, tol=TOLERANCE),
    )
    assert far.w == pytest.approx(near.w, abs=1e-5)
    assert start.tolist() == [0.97, 0.01, 0.01, 0.01]


def test_no_steps_leave_all_to_newtons_method_for_one(monkeypatch):
    rows, f = samples(*PROBLEMS["urn"], size=10, seed=3)
    together = newton_many(DenseRows(rows), f, tol=TOLERANCE)
    monkeypatch.setattr("subsetprivacy.estimation.newton_many._STEPS", 1)
    alone = newton_many(DenseRows(rows), f, tol=TOLERANCE)
    assert alone.w == pytest.approx(together.w, abs=1e-6)
    assert alone.gap.max() <= TOLERANCE


def test_all_people_in_one_subset():
    rows = np.array([[1.0, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]])
    result = newton_many(DenseRows(rows), np.array([[1.0, 0, 0], [0, 1, 0], [0.5, 0.5, 0]]), tol=TOLERANCE)
    assert result.w[:, :2].sum(axis=1) == pytest.approx([1, 0, 0.5])
    assert result.gap.max() <= TOLERANCE


def test_rows_of_two_variables_and_a_batch_of_one():
    one, two = (np.array([[1.0, 1, 0], [0, 1, 1], [1, 0, 1]]), np.array([[0.7, 0.2], [0.3, 0.8]]))
    f = np.random.default_rng(1).dirichlet(np.ones(6), size=4)
    apart = newton_many(DenseRows(np.kron(one, two)), f, tol=TOLERANCE)
    result = newton_many(Kronecker(DenseRows(one), DenseRows(two)), f, tol=TOLERANCE)
    assert result.w == pytest.approx(apart.w, abs=1e-6)
    assert newton_many(DenseRows(np.kron(one, two)), f[2:3], tol=TOLERANCE).w[0] == pytest.approx(apart.w[2], abs=1e-6)


# Projections of many ------------------------------------------------------------------------------------------------


def test_projecting_many_is_projecting_each():
    y = np.random.default_rng(1).normal(0.2, 0.6, (3, 50, 7))
    y[0, 0] = [0.5, 0.5, 0, 0, 0, 0, 0]  # already a distribution
    y[0, 1] = [0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3]  # all alike
    y[0, 2] = [-1, -1, -1, -1, -1, -1, 9]
    result = project_many(y)
    assert result.min() >= 0
    assert result.sum(axis=-1) == pytest.approx(np.ones((3, 50)))
    for one, x in zip(y.reshape(-1, 7), result.reshape(-1, 7)):
        assert x == pytest.approx(project(one), abs=1e-12)
    assert result[0, 0] == pytest.approx(y[0, 0])
    assert result[0, 2].tolist() == [0, 0, 0, 0, 0, 0, 1]


def test_projecting_leaves_its_argument_alone():
    y = np.array([[0.9, 0.9, -0.2]])
    project_many(y)
    assert y.tolist() == [[0.9, 0.9, -0.2]]
