"""Rows of several samples one below the other, and the batch products of explicit rows."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, GIVEN, WARNER

import subsetprivacy as sp
from subsetprivacy.incidence import DenseRows, Stacked, incidence, masks

PARTS = [ASKED.incidence(np.array([3, 10, 12])), GIVEN.incidence(np.array([7, 6])), DenseRows(np.full((1, 4), 0.25))]
MATRIX = np.array([[1, 1, 0, 0], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 0], [0, 1, 1, 0], [0.25] * 4])
STACKED = Stacked(PARTS)
RNG = np.random.default_rng(1)


def test_shape():
    assert (STACKED.rows, STACKED.p) == (6, 4)


@every_case("lead", [(), (3,), (2, 3)])
def test_products_are_those_of_the_matrix(lead):
    w, r = RNG.random((*lead, 4)), RNG.normal(size=(*lead, 6))
    assert STACKED.inner(w) == pytest.approx(w @ MATRIX.T)
    assert STACKED.spread(r) == pytest.approx(r @ MATRIX)
    assert STACKED.gram(r) == pytest.approx(np.einsum("...a,ai,aj->...ij", r, MATRIX, MATRIX))


def test_one_part_alone():
    alone = Stacked(PARTS[:1])
    w, r = RNG.random(4), RNG.random(3)
    assert alone.inner(w) == pytest.approx(MATRIX[:3] @ w)
    assert alone.spread(r) == pytest.approx(r @ MATRIX[:3])
    assert alone.gram(r) == pytest.approx(MATRIX[:3].T @ np.diag(r) @ MATRIX[:3])


def test_different_kinds_of_rows():
    large = sp.hadamard(60)
    codes = large.support()[0][::7]
    some = large.incidence(codes)
    other = incidence(np.array([(1 << 40) - 1, 5, 1 << 59 | 3]), 60)
    both = Stacked([some, other])
    dense = np.vstack([some.inner(np.eye(60)).T, other.inner(np.eye(60)).T])
    w, r = RNG.random(60), RNG.normal(size=both.rows)
    assert both.inner(w) == pytest.approx(dense @ w)
    assert both.spread(r) == pytest.approx(r @ dense)
    assert both.gram(r) == pytest.approx((dense.T * r) @ dense)


# Batches of explicit rows -------------------------------------------------------------------------------------------


@every_case("lead", [(), (1,), (5,), (2, 3), (0,)])
@every_case("most", [0, 1 << 20])
def test_gram_of_a_batch(lead, most, monkeypatch):
    monkeypatch.setattr(masks, "_MAX_SQUARES", most)
    matrix = RNG.normal(size=(7, 3))
    y = RNG.normal(size=(*lead, 7))
    result = DenseRows(matrix).gram(y)
    assert result.shape == (*lead, 3, 3)
    assert result == pytest.approx(np.einsum("...a,ai,aj->...ij", y, matrix, matrix))


def test_gram_of_a_batch_with_rows_that_are_not_0_and_1():
    rows = WARNER.incidence(WARNER.support()[0]).inner(np.eye(2)).T
    y = np.array([[2.0, 1], [0, 3]])
    assert DenseRows(rows).gram(y) == pytest.approx(np.array([rows.T @ np.diag(one) @ rows for one in y]))
