import tracemalloc

import cvxpy
import numpy as np
import pytest
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st

from subsetprivacy.estimation.ascent import ascend
from subsetprivacy.estimation.likelihood import certified_gap, mean_loglik
from subsetprivacy.estimation.newton import newton
from subsetprivacy.estimation.simplex import project
from subsetprivacy.incidence import Affine, DenseRows, Kronecker
from subsetprivacy.incidence.walsh import Walsh, choose_columns

WEIGHTS = {
    "like Zipf": lambda p, rng: rng.permutation(1 / np.arange(1, p + 1)),
    "nearly even": lambda p, rng: rng.gamma(1.0, size=p),
    "mostly zeros": lambda p, rng: rng.gamma(1.0, size=p) * (rng.random(p) < 0.1),
    "steep": lambda p, rng: 0.5 ** np.arange(p),
    "one for most": lambda p, rng: np.r_[9.0, rng.random(p - 1) / p],
}


def sample(p, size, n, kind, seed=0):
    """Rows and shares of the subsets of about n people, and their distribution."""
    rng = np.random.default_rng(seed)
    columns = choose_columns(p, size)
    w = WEIGHTS[kind](p, rng)
    w = w / w.sum()
    code = np.arange(2, 2 * size)
    n_a = rng.poisson(n / (size - 1) * Walsh(code >> 1, code & 1, columns, size).inner(w).clip(0))
    seen = code[n_a > 0]
    return Walsh(seen >> 1, seen & 1, columns, size), n_a[n_a > 0] / n_a.sum(), w


def matrix(inc):
    return inc.inner(np.eye(inc.p)).T


def check(inc, f, solution, tol):
    """The certificate is that of the very distribution that is returned."""
    assert solution.w.min() >= 0
    assert solution.w.sum() == pytest.approx(1, abs=1e-14)
    assert solution.gap == pytest.approx(certified_gap(inc, f, solution.w), abs=1e-13)
    assert solution.converged
    assert solution.gap <= tol
    assert solution.trace[-1] == pytest.approx(solution.gap, abs=1e-15)
    assert len(solution.trace) == solution.iterations + 1


@every_case("kind", WEIGHTS)
@every_case(("p", "size", "n"), [(20, 32, 400), (33, 64, 10**5), (64, 64, 10**7), (50, 256, 3000)])
def test_the_maximum_is_that_of_newton(p, size, n, kind):
    inc, f, _ = sample(p, size, n, kind)
    solution = ascend(inc, f, tol=1e-9)
    check(inc, f, solution, 1e-9)
    other = newton(DenseRows(matrix(inc)), f, tol=1e-10)
    assert mean_loglik(inc, f, solution.w) == pytest.approx(mean_loglik(inc, f, other.w), abs=1e-9)


@pytest.mark.parametrize("kind", ["like Zipf", "mostly zeros"])
def test_a_conic_solver_finds_the_same(kind):
    inc, f, _ = sample(40, 64, 2000, kind, seed=3)
    w = cvxpy.Variable(40, nonneg=True)
    problem = cvxpy.Problem(cvxpy.Maximize(f @ cvxpy.log(matrix(inc) @ w)), [cvxpy.sum(w) == 1])
    best = problem.solve(solver=cvxpy.CLARABEL)
    solution = ascend(inc, f, tol=1e-9)
    assert mean_loglik(inc, f, solution.w) == pytest.approx(best, abs=1e-8)
    assert solution.w == pytest.approx(w.value, abs=1e-3)


def test_exact_expected_counts_return_the_distribution():
    w = np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.03, 0.01])
    code = np.arange(2, 32)
    inc = Walsh(code >> 1, code & 1, choose_columns(7, 16), 16)
    solution = ascend(inc, inc.inner(w) / 15, tol=1e-13)
    assert solution.w == pytest.approx(w, abs=1e-9)


@pytest.mark.parametrize("kind", ["like Zipf", "steep"])
def test_the_likelihood_never_falls(kind):
    inc, f, _ = sample(100, 128, 500, kind)
    start = np.random.default_rng(1).dirichlet(np.full(100, 0.3))
    heights = [mean_loglik(inc, f, start)]
    heights += [mean_loglik(inc, f, ascend(inc, f, start=start, tol=1e-12, max_iter=k).w) for k in range(1, 15)]
    assert np.diff(heights).min() > -1e-15
    assert heights[-1] > heights[0] + 0.01


@every_case("start", ["vertex", "two zeros", "the maximum"])
def test_any_distribution_is_a_start(start):
    inc, f, _ = sample(20, 32, 10**4, "nearly even")
    best = ascend(inc, f, tol=1e-11)
    begin = {"vertex": np.eye(20)[3], "two zeros": np.r_[0.0, 0.0, np.full(18, 1 / 18)], "the maximum": best.w}[start]
    kept = begin.copy()
    solution = ascend(inc, f, start=begin, tol=1e-9)
    check(inc, f, solution, 1e-9)
    assert solution.w == pytest.approx(best.w, abs=1e-5)
    assert (solution.iterations == 0) == (start == "the maximum")
    np.testing.assert_array_equal(begin, kept)


def test_people_who_are_all_alike():
    columns = choose_columns(20, 32)
    row = np.arange(1, 32)
    inc = Walsh(row, 1 - (np.bitwise_count(row & columns[7]) & 1).astype(np.int64), columns, 32)
    solution = ascend(inc, np.full(31, 1 / 31))
    np.testing.assert_array_equal(solution.w, np.eye(20)[7])
    assert solution.gap == 0


def test_fewer_people_than_categories():
    inc, f, _ = sample(1000, 1024, 60, "nearly even")
    check(inc, f, ascend(inc, f, tol=1e-9), 1e-9)


def test_two_variables_at_once():
    one, _, _ = sample(20, 32, 10**6, "nearly even")
    inc = Kronecker(one, one)
    rng = np.random.default_rng(2)
    f = rng.multinomial(10**6, inc.inner(rng.dirichlet(np.full(400, 0.2))) / 31**2) / 10**6
    inc, f = DenseRows(matrix(inc)[f > 0]), f[f > 0]
    check(inc, f, ascend(inc, f, tol=1e-9), 1e-9)


def test_answers_that_say_little_take_long_steps():
    # As with many dummy people: each answer is nearly a coin toss, and the likelihood a hundred times as flat.
    base, _, w = sample(100, 128, 10**6, "like Zipf")
    inc = Affine(base, 0.1, 0.45)
    f = np.random.default_rng(4).poisson(10**8 / 127 * inc.inner(w)) + 1
    solution = ascend(inc, f / f.sum(), tol=1e-9)
    check(inc, f / f.sum(), solution, 1e-9)
    assert solution.iterations < 30


def test_progress_is_told():
    inc, f, _ = sample(33, 64, 1000, "like Zipf")
    told = []
    solution = ascend(inc, f, progress=lambda step, gap: told.append((step, gap)))
    assert told == list(enumerate(solution.trace))


def test_it_says_when_the_steps_were_too_few():
    inc, f, _ = sample(33, 64, 1000, "steep")
    solution = ascend(inc, f, max_iter=3)
    assert (solution.iterations, solution.converged) == (3, False)
    assert solution.gap == pytest.approx(certified_gap(inc, f, solution.w), abs=1e-13)


def test_it_ends_where_floating_point_does():
    inc, f, _ = sample(33, 64, 1000, "like Zipf")
    solution = ascend(inc, f, tol=1e-300)
    assert solution.gap < 1e-12
    assert solution.iterations < 200


@every_case("kind", ["like Zipf", "nearly even", "mostly zeros", "one for most"])
def test_a_hundred_thousand_categories_take_a_few_steps(kind):
    inc, f, _ = sample(100_000, 1 << 17, 10**7, kind)
    tracemalloc.start()
    solution = ascend(inc, f)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    check(inc, f, solution, 1e-6)
    assert solution.iterations <= 8
    assert peak < 12 * 8 * (inc.p + inc.rows)  # a dozen vectors, not a matrix


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30))
@settings(deadline=None)
def test_the_nearest_distribution_is_that_found_by_sorting(y):
    assert project(np.array(y)) == pytest.approx(project(np.array(y), np.ones(len(y))), abs=1e-9)
