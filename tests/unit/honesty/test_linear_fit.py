"""The free fit against explicit matrices, and the table of answers it is made on."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, GIVEN, UNKNOWN
from numpy.testing import assert_allclose
from problems import lopsided_conditional
from refusals import refused

from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import independent, uniform
from subsetprivacy.errors import ArgumentError, NoDataError, UnknownDesignError
from subsetprivacy.estimation.likelihood import tangent_inverse
from subsetprivacy.estimation.newton import newton
from subsetprivacy.honesty.linear import LinearModel, RandomAnswerRows, Solver
from subsetprivacy.honesty.table import tabulate
from subsetprivacy.incidence import DenseRows
from subsetprivacy.mechanism.simulate import simulate

W5 = np.array([0.35, 0.05, 0.2, 0.3, 0.1])
# Questions of both sizes with unequal weights, some never asked about.
FEW = independent(
    list("abcde"),
    {("a", "b"): 0.3, ("a", "c"): 0.2, ("b", "c", "d"): 0.2, ("a", "e"): 0.1, ("c", "e"): 0.1, ("b", "d"): 0.1},
)


def explicit(table):
    """The rows of the cells, by asking the design about each category."""
    return np.array(
        [[table.design.contains(np.int64(a), np.int64(j)) for j in range(table.design.p)] for a in table.codes]
    )


def least_squares(M, exposure, observed, w):
    """Minimise the weighted squares over changes that sum to zero, by the equations of a Lagrangian."""
    E = exposure * (M @ w)
    A = exposure[:, None] * M / np.sqrt(E)[:, None]
    b = (observed - E) / np.sqrt(E)
    p = len(w)
    system = np.block([[A.T @ A, np.ones((p, 1))], [np.ones((1, p)), np.zeros((1, 1))]])
    change = np.linalg.lstsq(system, np.append(A.T @ b, 0.0), rcond=None)[0][:p]
    return float(((b - A @ change) ** 2).sum()), change


@every_case(
    ("design", "true", "w"),
    [
        (FEW, W5, [0.3, 0.1, 0.25, 0.2, 0.15]),
        (uniform(range(5)), W5, [0.3, 0.1, 0.25, 0.2, 0.15]),
        (GIVEN, [0.4, 0.1, 0.2, 0.3], [0.3, 0.2, 0.1, 0.4]),
    ],
    ids=["listed", "uniform", "the subset hides the question"],
)
def test_the_step_is_constrained_weighted_least_squares(design, true, w):
    model = LinearModel(tabulate(simulate(design, true, 700, seed=4)))
    fit = model.step(model.table.observed, np.array(w))
    statistic, change = least_squares(explicit(model.table), model.table.exposure, model.table.observed, np.array(w))
    assert_allclose(fit.statistic, statistic, rtol=1e-9)
    assert_allclose(fit.change, change, atol=1e-10)
    assert abs(fit.free.sum() - 1) < 1e-10


def test_the_covariance_is_that_of_the_information_on_the_simplex():
    model = LinearModel(tabulate(simulate(FEW, W5, 700, seed=4)))
    fit = model.step(model.table.observed, W5)
    M = explicit(model.table).astype(float)
    information = M.T @ (M * (model.table.exposure / (M @ W5))[:, None])
    assert_allclose(fit.covariance(700), tangent_inverse(information), atol=1e-12)


def test_at_an_interior_maximum_the_statistic_is_pearsons():
    table = tabulate(simulate(FEW, W5, 5000, seed=4))
    M = explicit(table).astype(float)
    best = newton(DenseRows(M), table.observed / table.n).w
    assert best.min() > 0.02
    E = table.exposure * (M @ best)
    fit = LinearModel(table).step(table.observed, best)
    assert_allclose(fit.statistic, ((table.observed - E) ** 2 / E).sum(), rtol=1e-8)
    assert_allclose(fit.free, best, atol=1e-8)


def test_an_estimate_of_zero_is_lifted_off_the_boundary():
    counts = SubsetCounts([0b00011, 0b11100, 0b00101, 0b11010], [0, 40, 30, 10], uniform(range(5)))
    model = LinearModel(tabulate(counts))
    w = model.estimate(model.table.observed)
    assert w.sum() == pytest.approx(1)
    assert w.min() == pytest.approx(0.05 / 5)  # 5/80 is more than is ever lifted


def test_rows_with_chance_are_an_extra_column():
    rng = np.random.default_rng(3)
    M = rng.integers(0, 2, (7, 4)).astype(float)
    mine, plain = RandomAnswerRows(DenseRows(M), 0.25), DenseRows(np.column_stack([M, np.full(7, 0.25)]))
    w, y = rng.random((3, 5)), rng.random((3, 7))
    assert (mine.rows, mine.p) == (7, 5)
    assert_allclose(mine.inner(w), plain.inner(w))
    assert_allclose(mine.spread(y), plain.spread(y))
    assert_allclose(mine.gram(y), plain.gram(y))


def test_a_singular_system_is_solved_in_its_range():
    B = np.array([[1.0, 2.0, 0.0, 1.0], [0.0, 1.0, 3.0, 1.0]])
    H = B.T @ B
    b = H @ np.array([1.0, -2.0, 0.5, 4.0])
    solver = Solver(H, 2)
    assert_allclose(H @ solver.solve(b), b, atol=1e-10)
    assert_allclose(H @ solver.solve(H), H, atol=1e-10)


@every_case("chance", [None, 0.5])
@every_case(
    "weights",
    [
        {"ab": 0.2, "ac": 0.2, "ad": 0.2, "bc": 0.2, "bd": 0.2},
        {"ab": 0.5, "ac": 0.5},
        {"ab": 0.2, "abc": 0.3, "ce": 0.2, "abd": 0.3},
        {"ab": 0.1, "abc": 0.1, "ce": 0.1, "abd": 0.1, "acd": 0.1, "bcd": 0.5},
    ],
    ids=lambda weights: "-".join(weights),
)
def test_the_rank_is_that_of_the_matrix(weights, chance):
    labels = sorted(set("".join(weights)) | set("abcd"))
    design = independent(labels, {tuple(s): v for s, v in weights.items()})
    table = tabulate(SubsetCounts(design.support()[0], np.arange(1, len(design.support()[0]) + 1), design))
    M = explicit(table).astype(float)
    M = M if chance is None else np.column_stack([M, np.full(len(M), chance)])
    assert LinearModel(table, chance).rank == np.linalg.matrix_rank(M)


# The table -----------------------------------------------------------------------------------------


def test_answers_that_nobody_gave_are_cells_and_questions_that_nobody_was_asked_are_not():
    counts = SubsetCounts([0b0011, 0b0101, 0b1010, 0b1111], [9, 4, 2, 50], ASKED)
    table = tabulate(counts)
    cells = {ASKED.format(int(a)): n for a, n in zip(table.codes, table.observed)}
    assert cells == {"a|b": 9, "c|d": 0, "a|c": 4, "b|d": 2}
    assert dict(zip(table.codes.tolist(), table.exposure)) == {0b0011: 9, 0b1100: 9, 0b0101: 6, 0b1010: 6}
    assert (table.is_stratified, table.n, table.free_cells) == (True, 15, 2)


def test_without_questions_the_whole_support_is_one_stratum():
    table = tabulate(SubsetCounts([0b0111, 0b1100], [3, 7], GIVEN))
    codes, mu = GIVEN.support()
    assert not table.is_stratified
    assert_allclose(table.exposure, 10 * mu)
    assert table.codes.tolist() == codes.tolist()
    assert table.free_cells == len(codes) - 1


def test_full_sets_are_no_cells():
    design = lopsided_conditional()
    told = SubsetCounts([0b0110, 0b1011, 0b1111], [30, 50, 900], design)
    table = tabulate(told)
    assert design.missing_code not in table.codes
    assert table.n == 80
    assert (table.exposure * (explicit(table) @ [0.4, 0.3, 0.2, 0.1])).sum() == pytest.approx(80)
    assert LinearModel(table).df == 1


def test_beyond_what_can_be_listed_a_yes_no_table_has_the_complements():
    design = uniform(range(30))
    table = tabulate(simulate(design, np.full(30, 1 / 30), 40, seed=1))
    assert table.is_stratified
    assert table.asked.sum() == 40
    assert len(table.codes) == 2 * len(table.asked)
    both = np.bincount(table.question, weights=table.codes)
    assert (both == design.categories.full).all()


def test_redrawn_answers_keep_the_questions_and_follow_the_fit():
    table = tabulate(simulate(FEW, W5, 300, seed=4))
    expected = table.exposure * (explicit(table) @ W5)
    rng = np.random.default_rng(1)
    drawn = np.array([table.redraw(expected, rng) for _ in range(4000)])
    asked = np.array([drawn[:, table.question == q].sum(axis=1) for q in range(len(table.asked))])
    assert (asked == table.asked[:, None]).all()
    variance = expected * (1 - expected / table.exposure)
    assert (np.abs(drawn.mean(axis=0) - expected) < 4.5 * np.sqrt(variance / 4000)).all()
    assert_allclose(drawn.var(axis=0), variance, rtol=0.12)


def test_what_cannot_be_tabulated_is_refused():
    with refused(ArgumentError, "data"):
        tabulate(SubsetCounts([3, 12], [1.5, 2.5], ASKED, squares=[1.0, 2.0]))
    with pytest.raises(NoDataError):
        tabulate(SubsetCounts([15], [4], ASKED))
    with pytest.raises(UnknownDesignError):
        tabulate(SubsetCounts([3, 12], [1, 2], UNKNOWN))
