"""Rows of several variables, and the best guesses where rows are not only zeros and ones."""

from functools import reduce

import numpy as np
import pytest
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st

from subsetprivacy.incidence import (
    Affine,
    Branches,
    Cells,
    DenseRows,
    Kronecker,
    Mapped,
    RowByRow,
    incidence,
    joint_incidence,
)

SIZES = [(3, 2), (4, 3), (2, 2), (3, 2)]  # different rows of each variable, and its categories
LEADS = [(), (3,), (2, 3), (0,)]


def products_agree(made, M, lead=(), seed=1, peak=True):
    rng = np.random.default_rng(seed)
    rows, p = M.shape
    assert (made.rows, made.p) == (rows, p)
    w, r = rng.normal(size=(*lead, p)), rng.normal(size=(*lead, rows))
    np.testing.assert_allclose(made.inner(w), w @ M.T, atol=1e-11)
    np.testing.assert_allclose(made.spread(r), r @ M, atol=1e-11)
    np.testing.assert_allclose(made.gram(r), np.einsum("...a,ai,aj->...ij", r, M, M), atol=1e-11)
    if peak:
        v = rng.random((*lead, p))
        np.testing.assert_allclose(made.peak(v), (M * v[..., None, :]).max(axis=-1), atol=1e-13)


def masks(p, rows, rng):
    """Distinct non-empty masks, unsorted."""
    return rng.permutation(rng.choice(np.arange(1, 1 << p), rows, replace=False))


def bits_of(codes, p):
    return np.array([[float(c >> j & 1) for j in range(p)] for c in codes.tolist()])


@every_case("lead", LEADS, ids=str)
def test_cells_are_rows_of_the_whole_some_of_them_more_than_once(lead):
    rng = np.random.default_rng(2)
    M = bits_of(masks(4, 9, rng), 4)
    at = np.array([8, 0, 3, 3, 0, 5])
    products_agree(Cells(DenseRows(M), at), M[at], lead)
    two = bits_of(masks(3, 4, rng), 3)
    pairs = rng.integers(36, size=20)
    products_agree(Cells(Kronecker(DenseRows(M), DenseRows(two)), pairs), np.kron(M, two)[pairs], lead)


@every_case("lead", LEADS, ids=str)
def test_row_by_row_is_the_product_of_each_pair(lead):
    rng = np.random.default_rng(3)
    U, V = rng.random((7, 3)), rng.random((7, 4))
    M = np.array([np.kron(u, v) for u, v in zip(U, V)])
    products_agree(RowByRow(U, V), M, lead)


@every_case("lead", LEADS, ids=str)
@every_case("rows", [1, 7, 40])
def test_branches_are_the_products_of_all_variables(lead, rows):
    """Rows that share the last variables, that share none, and that come twice."""
    rng = np.random.default_rng(5)
    parts = [(rng.random((s, p)) * (rng.random((s, p)) < 0.7), rng.integers(s, size=rows)) for s, p in SIZES]
    M = np.array([reduce(np.kron, [own[at[i]] for own, at in parts]) for i in range(rows)])
    products_agree(Branches(parts), M, lead)


def test_branches_work_in_blocks_without_a_seam(monkeypatch):
    rng = np.random.default_rng(6)
    parts = [(rng.random((s, p)), rng.integers(s, size=23)) for s, p in SIZES]
    M = np.array([reduce(np.kron, [own[at[i]] for own, at in parts]) for i in range(23)])
    for block in (1, 100, 23 * 24):
        monkeypatch.setattr(Branches, "_BLOCK", block)
        products_agree(Branches(parts), M, (2,))


def test_row_by_row_works_in_blocks_without_a_seam(monkeypatch):
    rng = np.random.default_rng(4)
    U, V = rng.random((23, 2)), rng.random((23, 3))
    M = np.array([np.kron(u, v) for u, v in zip(U, V)])
    for block in (1, 5, 23, 24):
        monkeypatch.setattr(RowByRow, "_BLOCK", block)
        products_agree(RowByRow(U, V), M, (2,))


@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_the_ways_agree_on_random_problems(seed, variables, number):
    rng = np.random.default_rng(seed)
    parts, explicit, shape = [], [], []
    for _ in range(variables):
        p = int(rng.integers(2, 5))
        distinct = int(rng.integers(1, 1 << p))
        M = bits_of(masks(p, distinct, rng), p)
        if rng.random() < 0.3:  # something known is mixed in
            M = 0.7 * M + 0.1
        at = rng.integers(distinct, size=number)
        parts.append((DenseRows(M) if M.max() == 1 else Affine(DenseRows((M > 0.5).astype(float)), 0.7, 0.1), at))
        explicit.append(M[at])
        shape.append(distinct)
    M = explicit[0]
    for other in explicit[1:]:
        M = (M[:, :, None] * other[:, None, :]).reshape(number, -1)
    chosen = joint_incidence(parts)
    products_agree(chosen, M)
    whole = parts[0][0]
    for rows, _ in parts[1:]:
        whole = Kronecker(whole, rows)
    products_agree(Cells(whole, np.ravel_multi_index([at for _, at in parts], shape)), M)
    first = explicit[0]
    for other in explicit[1:-1]:
        first = (first[:, :, None] * other[:, None, :]).reshape(number, -1)
    products_agree(RowByRow(first, explicit[-1]), M)


def test_a_grid_where_it_is_not_much_larger_and_else_row_by_row():
    rng = np.random.default_rng(5)
    small = [(incidence(masks(4, 10, rng), 4), rng.integers(10, size=30)) for _ in range(2)]
    assert isinstance(joint_incidence(small), Cells)
    # 400 x 400 pairs of which 500 occur: the grid would be 320 times as large as what was observed.
    codes = [masks(10, 400, rng) for _ in range(2)]
    at = [np.append(np.arange(400), rng.integers(400, size=100)) for _ in range(2)]
    sparse = joint_incidence([(incidence(c, 10), k) for c, k in zip(codes, at)])
    assert isinstance(sparse, RowByRow)
    M = (bits_of(codes[0], 10)[at[0]][:, :, None] * bits_of(codes[1], 10)[at[1]][:, None, :]).reshape(500, -1)
    products_agree(sparse, M)


def test_one_variable_alone():
    rng = np.random.default_rng(6)
    M = bits_of(masks(4, 6, rng), 4)
    products_agree(joint_incidence([(DenseRows(M), np.array([5, 2, 2]))]), M[[5, 2, 2]])


def test_nobody():
    made = joint_incidence([(incidence(np.array([], np.int64), 3), np.array([], np.int64))] * 2)
    assert (made.rows, made.p) == (0, 9)
    assert made.inner(np.ones(9)).shape == (0,)
    assert made.spread(np.array([])).tolist() == [0] * 9


def test_the_order_of_three_variables_is_kept():
    # The last variable fastest, as the combinations are listed.
    u, v, t = np.array([[1.0, 0]]), np.array([[0.0, 1, 1]]), np.array([[1.0, 0]])
    made = joint_incidence(
        [(DenseRows(u), np.array([0])), (DenseRows(v), np.array([0])), (DenseRows(t), np.array([0]))]
    )
    assert np.flatnonzero(made.inner(np.eye(12))[:, 0]).tolist() == [2, 4]
    products_agree(made, np.kron(np.kron(u, v), t))


# Held weights: best guesses -----------------------------------------------------------------------------------------


@every_case("lead", [(), (3,), (2, 3)], ids=str)
def test_the_best_guess_of_affine_rows(lead):
    rng = np.random.default_rng(7)
    M = bits_of(masks(5, 12, rng), 5)
    c, d = np.linspace(0.2, 0.9, 12), np.linspace(0.1, 0.0, 12)
    products_agree(Affine(DenseRows(M), c, d), c[:, None] * M + d[:, None], lead)
    # What lies outside the subset wins where it is likely enough: dummies could have sent the report.
    one = Affine(DenseRows(np.array([[1.0, 0.0]])), 0.5, 0.25)
    assert one.peak(np.array([0.1, 0.9])) == pytest.approx([0.225])
    assert one.peak(np.array([0.5, 0.5])) == pytest.approx([0.375])


@every_case("lead", [(), (3,), (2, 3)], ids=str)
def test_the_best_guess_of_mapped_rows(lead):
    rng = np.random.default_rng(8)
    M, T = bits_of(masks(6, 10, rng), 6), rng.dirichlet(np.ones(6), 4).T
    made = Mapped(DenseRows(M), T)
    products_agree(made, M @ T, lead)
    np.testing.assert_allclose(made.matrix(), M @ T, atol=1e-14)


def test_the_best_guess_of_a_product_of_both():
    rng = np.random.default_rng(9)
    M, T = bits_of(masks(4, 6, rng), 4), rng.dirichlet(np.ones(4), 2).T
    A = 0.6 * bits_of(masks(3, 5, rng), 3) + 0.2
    held = Affine(DenseRows((A > 0.5).astype(float)), 0.6, 0.2)
    products_agree(Kronecker(Mapped(DenseRows(M), T), held), np.kron(M @ T, A))
    products_agree(Kronecker(held, DenseRows(M)), np.kron(A, M))
