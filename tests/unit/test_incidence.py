import numpy as np
import pytest
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st
from lopsided import WARNER

import subsetprivacy as sp
from subsetprivacy.incidence import (
    Affine,
    ByteTables,
    DenseRows,
    Halves,
    Kronecker,
    Mapped,
    Stacked,
    incidence,
    masks,
)
from subsetprivacy.subsets import bits


def some_codes(p, rows, seed=0):
    # Distinct, unsorted, with the empty and the full set among them: no position is special.
    rng = np.random.default_rng(seed)
    full = (1 << p) - 1
    drawn = rng.integers(0, full, size=4 * rows, endpoint=True)
    codes = np.array(list(dict.fromkeys([full, 0, *drawn.tolist()]))[:rows], np.int64)
    return rng.permutation(codes)


def rows_of(p, rows):
    codes = some_codes(p, rows)
    return DenseRows(bits(codes, p)), dense(codes, p)


def dense(codes, p):
    # Spelt out, so that the reference shares nothing with the code under test.
    return np.array([[float(c >> j & 1) for j in range(p)] for c in codes.tolist()])


def halves_of(p, rows):
    codes = some_codes(p, rows)
    return Halves(codes, p), dense(codes, p)


def bytes_of(p, rows):
    codes = some_codes(p, rows)
    return ByteTables(codes, p), dense(codes, p)


def affine_of(made):
    base, M = made
    c = np.linspace(0.2, 1.5, base.rows)
    d = np.linspace(0.5, 0.0, base.rows)
    return Affine(base, c, d), c[:, None] * M + d[:, None]


def mapped_of(made):
    base, M = made
    T = np.random.default_rng(3).random((base.p, 4))
    return Mapped(base, T), M @ T


def kronecker_of(one, two):
    return Kronecker(one[0], two[0]), np.kron(one[1], two[1])


def stacked_of(*parts):
    return Stacked([rows for rows, _ in parts]), np.vstack([M for _, M in parts])


def walsh_of(p):
    design = sp.hadamard(p)
    rows = design.incidence(design.support()[0][::7])
    return rows, rows.inner(np.eye(p)).T


PLAIN = {
    "rows": lambda: rows_of(5, 9),
    "rows, real": lambda: (lambda M: (DenseRows(M), M))(np.random.default_rng(1).normal(size=(7, 4))),
    "halves, even": lambda: halves_of(6, 20),
    "halves, odd": lambda: halves_of(7, 50),
    "halves, p=2": lambda: halves_of(2, 3),
    "bytes, p=5": lambda: bytes_of(5, 9),
    "bytes, p=8": lambda: bytes_of(8, 30),
    "bytes, p=9": lambda: bytes_of(9, 30),
    "bytes, p=17": lambda: bytes_of(17, 30),
    "bytes, p=48": lambda: bytes_of(48, 40),
}
MADE = {
    **PLAIN,
    "affine of rows": lambda: affine_of(rows_of(5, 9)),
    "affine of halves": lambda: affine_of(halves_of(6, 20)),
    "affine of bytes": lambda: affine_of(bytes_of(9, 12)),
    "mapped rows": lambda: mapped_of(rows_of(6, 20)),
    "mapped halves": lambda: mapped_of(halves_of(6, 20)),
    "mapped bytes": lambda: mapped_of(bytes_of(6, 20)),
    "stacked": lambda: stacked_of(rows_of(5, 9), affine_of(halves_of(5, 8)), bytes_of(5, 7)),
    "stacked, one part": lambda: stacked_of(rows_of(5, 9)),
    "stacked, a matrix and masks": lambda: stacked_of(walsh_of(60), bytes_of(60, 3)),
    "kronecker": lambda: kronecker_of(rows_of(3, 5), rows_of(4, 7)),
    "kronecker, mixed": lambda: kronecker_of(halves_of(5, 6), bytes_of(3, 4)),
    "kronecker, bytes first": lambda: kronecker_of(bytes_of(3, 4), halves_of(4, 5)),
    "kronecker of affine": lambda: kronecker_of(affine_of(rows_of(3, 4)), affine_of(halves_of(4, 5))),
    "affine of kronecker": lambda: affine_of(kronecker_of(rows_of(2, 3), rows_of(3, 4))),
    "kronecker, nested left": lambda: kronecker_of(kronecker_of(rows_of(2, 3), halves_of(3, 4)), rows_of(2, 2)),
    "kronecker, nested right": lambda: kronecker_of(rows_of(2, 3), kronecker_of(bytes_of(3, 4), rows_of(2, 2))),
}
LEADS = [(), (3,), (2, 3), (1,), (0,)]


@every_case("lead", LEADS, ids=str)
@every_case("name", MADE)
def test_products_agree_with_the_matrix(name, lead):
    made, M = MADE[name]()
    rows, p = M.shape
    assert (made.rows, made.p) == (rows, p)
    rng = np.random.default_rng(2)
    w, r = rng.normal(size=(*lead, p)), rng.normal(size=(*lead, rows))
    np.testing.assert_allclose(made.inner(w), w @ M.T, atol=1e-12)
    np.testing.assert_allclose(made.spread(r), r @ M, atol=1e-12)
    np.testing.assert_allclose(made.gram(r), np.einsum("...a,ai,aj->...ij", r, M, M), atol=1e-12)


@every_case("lead", [(), (3,), (2, 3)], ids=str)
@every_case("name", [name for name in PLAIN if "real" not in name])
def test_peak_agrees_with_the_matrix(name, lead):
    made, M = PLAIN[name]()
    w = np.random.default_rng(3).random((*lead, M.shape[1])) - 0.5  # of both signs: 0 must not stand for "no member"
    expected = np.where(M > 0, w[..., None, :], -np.inf).max(axis=-1)
    np.testing.assert_array_equal(made.peak(w), expected)


def test_affine_takes_one_number_for_all_rows():
    base, M = rows_of(4, 6)
    np.testing.assert_allclose(Affine(base, 0.5, 0.25).inner(np.arange(4.0)), (0.5 * M + 0.25) @ np.arange(4.0))


KINDS = {"rows": lambda c, p: DenseRows(bits(c, p)), "halves": Halves, "bytes": ByteTables}


@given(st.sampled_from(sorted(KINDS)), st.integers(2, 12), st.data())
@settings(deadline=None, max_examples=60)
def test_inner_and_spread_are_adjoint(kind, p, data):
    codes = np.array(data.draw(st.lists(st.integers(0, (1 << p) - 1), min_size=1, max_size=40, unique=True)), np.int64)
    made = KINDS[kind](codes, p)
    if data.draw(st.booleans()):
        made = Affine(made, 0.75, np.arange(len(codes)) / 8)
    if data.draw(st.booleans()):
        made = Kronecker(made, DenseRows(bits(np.array([1, 3, 2]), 2)))
    # Small whole numbers and eighths: the identities hold to the last bit, whatever the order of the sums.
    whole = st.integers(-8, 8)
    w = np.array(data.draw(st.lists(whole, min_size=made.p, max_size=made.p)), np.float64)
    r = np.array(data.draw(st.lists(whole, min_size=made.rows, max_size=made.rows)), np.float64)
    assert made.inner(w) @ r == w @ made.spread(r)
    assert w @ made.gram(r) @ w == r @ made.inner(w) ** 2


@every_case(
    ("p", "rows", "kind"),
    [
        (16, 8192, DenseRows),
        (16, 8193, Halves),  # more entries than two grids of all cells pay for the grid
        (22, 11915, DenseRows),
        (22, 11916, ByteTables),  # more entries than a matrix is worth
        (22, 381300, ByteTables),
        (22, 381301, Halves),
        (23, 1 << 19, ByteTables),  # never a grid beyond 22 bits
        (48, 2, DenseRows),
        (48, 5461, DenseRows),
        (48, 5462, ByteTables),
    ],
)
def test_the_cheapest_implementation_is_chosen(p, rows, kind):
    assert type(incidence(np.arange(rows, dtype=np.int64), p)) is kind


@every_case("lead", [(), (1,), (5,), (2, 3), (0,)])
@every_case("most", [0, 1 << 20])
def test_gram_of_a_batch(lead, most, monkeypatch):
    monkeypatch.setattr(masks, "_MAX_SQUARES", most)
    matrix = np.random.default_rng(1).normal(size=(7, 3))
    y = np.random.default_rng(1).normal(size=(*lead, 7))
    result = DenseRows(matrix).gram(y)
    assert result.shape == (*lead, 3, 3)
    assert result == pytest.approx(np.einsum("...a,ai,aj->...ij", y, matrix, matrix))


def test_gram_of_a_batch_with_rows_that_are_not_0_and_1():
    rows = WARNER.incidence(WARNER.support()[0]).inner(np.eye(2)).T
    y = np.array([[2.0, 1], [0, 3]])
    assert DenseRows(rows).gram(y) == pytest.approx(np.array([rows.T @ np.diag(one) @ rows for one in y]))
