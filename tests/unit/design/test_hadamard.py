"""Few questions for many categories."""

import json

import numpy as np
import pytest
from every_case import every_case
from lopsided import SEVEN
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design.hadamard import with_columns
from subsetprivacy.errors import ArgumentError, CategoryError, DesignDocumentError, InvalidDesignError
from subsetprivacy.estimation.likelihood import expected_information, tangent_inverse


def matrix(size):
    """The Sylvester–Hadamard matrix, by doubling."""
    H = np.ones((1, 1))
    while len(H) < size:
        H = np.block([[H, H], [H, -H]])
    return H


def listed_rows(design):
    """The rows 1_a of both sides of every question but the first, from the matrix itself."""
    H = matrix(design.size)[1:, design.columns]
    return np.vstack([H > 0, H < 0]).astype(float)


SIZES = [(4, None), (6, None), (6, 15), (7, None), (8, None), (8, 31), (9, None), (14, None), (17, None), (33, None)]
LARGE = [(49, None), (60, 127), (64, None), (100, None), (300, None)]


@every_case(("p", "questions"), SIZES + LARGE)
def test_questions_are_rows_of_the_matrix(p, questions):
    design = sp.hadamard(p, questions)
    assert design.questions == design.size - 1
    assert design.size >= p
    assert len(set(design.columns.tolist())) == p
    codes, mu = design.support()
    rows = design.support_incidence.inner(np.eye(p)).T
    # The same sets with the same weights, in whatever order: 1/(N-1) for each side of each row of the matrix.
    expected, times = np.unique(listed_rows(design), axis=0, return_counts=True)
    order = np.lexsort(rows.T[::-1])
    np.testing.assert_allclose(rows[order], expected, atol=1e-12)
    np.testing.assert_allclose(mu[order], times / design.questions, atol=1e-15)
    sizes = listed_rows(design).sum(axis=1)
    assert sizes.min() >= 2
    assert sizes.max() <= p - 2
    assert design.smallest_set == sizes.min()
    np.testing.assert_array_equal(design.sizes(codes), rows.sum(axis=1))
    assert design.is_subset_private


@every_case(("p", "questions"), SIZES + LARGE)
def test_all_pairs_and_triples_are_alike(p, questions):
    design = sp.hadamard(p, questions)
    N = design.size
    rows = listed_rows(design)
    Q = rows.T @ rows / (N - 1)
    q = (N / 2 - 1) / (N - 1)
    np.testing.assert_allclose(Q, (1 - q) * np.eye(p) + q, atol=1e-12)
    np.testing.assert_allclose(design.Q, Q, atol=1e-12)
    assert design.pair_probability == q
    triple = np.einsum("a,ai,aj->ij", rows[:, 0], rows[:, 1:9], rows[:, 1:9]) / (N - 1)
    off = triple[~np.eye(len(triple), dtype=bool)]
    assert np.ptp(off) == pytest.approx(0, abs=1e-12)
    assert design.is_identifiable
    assert design.S == 2


@every_case(("p", "most"), [(8, 7.01), (14, 13.2), (16, 15.01), (20, 19.3), (50, 49.2), (64, 63.01)])
def test_the_price_at_an_even_distribution(p, most):
    design = sp.hadamard(p)
    w = np.full(p, 1 / p)
    cost = np.trace(tangent_inverse(expected_information(design, w))) / (1 - w @ w)
    assert p - 1 - 1e-9 <= cost < most


def test_fourteen_categories_need_thirty_subsets():
    design = sp.hadamard(14)
    assert len(design.support()[0]) == 30
    assert len(sp.uniform(range(14)).support()[0]) == 2**14 - 2 * 14 - 2


def test_five_has_no_choice():
    with pytest.raises(InvalidDesignError):
        sp.hadamard(5)
    with pytest.raises(InvalidDesignError):
        sp.hadamard(3)


@every_case(
    ("p", "questions", "nearest"),
    [
        (9, 20, "15 or 31"),
        (9, 14, "15"),
        (9, 7, "15"),
        (9, 30, "15 or 31"),
        (9, 33, "31 or 63"),
        (60, 100, "63 or 127"),
    ],
)
def test_the_number_of_questions_is_one_less_than_a_power_of_two(p, questions, nearest):
    with refused(InvalidDesignError, "questions") as caught:
        sp.hadamard(p, questions)
    assert str(caught.value.advice) == f"the nearest is {nearest}"


def test_too_many_questions_for_few_categories_are_refused_by_their_name():
    # 2^4 is the most for six categories: the message speaks of what was passed.
    with refused(InvalidDesignError, "questions"):
        sp.hadamard(6, 63)


@every_case("questions", [7.0, "7", True])
def test_questions_are_a_whole_number(questions):
    with refused(ArgumentError, "questions"):
        sp.hadamard(8, questions)


def test_a_number_stands_for_as_many_labels():
    assert sp.hadamard(6) == sp.hadamard(range(6))
    with pytest.raises(CategoryError):
        sp.hadamard("abcdef")


# Codes -------------------------------------------------------------------------------------------------------------


def test_masks_up_to_48_and_numbers_beyond():
    masks, numbers = sp.hadamard(48), sp.hadamard(49)
    assert masks.code_space == "mask"
    assert masks.missing_code == (1 << 48) - 1
    assert numbers.missing_code == 1
    assert numbers.code_bits == 7
    assert numbers.support()[0].tolist() == list(range(2, 128))
    assert numbers.allows(np.array([0, 1, 2, 127, 128])).tolist() == [False, True, True, True, False]
    assert numbers.format(1) == "all"
    assert numbers.format(2 * 5 + 1) == "row 5, yes"
    assert numbers.format(2 * 5) == "row 5, no"


def test_members_and_complements_of_numbers():
    design = sp.hadamard([f"c{j}" for j in range(60)])
    H = matrix(64)[:, design.columns]
    for code in (2, 3, 61, 126, 127, 1):
        expected = H[code >> 1] == (1 if code & 1 else -1)
        assert design.members(code) == tuple(f"c{j}" for j in np.flatnonzero(expected))
        if code > 1:
            assert set(design.members(code ^ 1)) == set(design.categories.labels) - set(design.members(code))
            assert design.complement(code) == code ^ 1
    codes = np.arange(2, 128)
    assert design.strata(codes).tolist() == [2 * (code // 2) for code in codes.tolist()]


# Estimates -----------------------------------------------------------------------------------------------------------


def test_many_categories_by_moments():
    design = sp.hadamard(5000)
    x = np.random.default_rng(1).integers(5000, size=50_000)
    fit = sp.estimate(sp.privatize(x, design, seed=2), "mom")
    assert fit.w.sum() == pytest.approx(1, abs=0.05)
    z = (fit.w - 1 / 5000) / fit.se
    assert np.abs(z).max() < 5.5
    assert z.std() == pytest.approx(1, abs=0.05)


# Documents -----------------------------------------------------------------------------------------------------------


def test_columns_are_kept_in_the_document():
    design = sp.hadamard(SEVEN, 15)
    document = json.loads(design.to_json())
    assert document["columns"] == design.columns.tolist()
    assert document["size"] == 16
    other = with_columns(design.categories, 16, design.columns[::-1].tolist())
    assert other != design
    assert other.fingerprint != design.fingerprint


@every_case(
    ("size", "columns"),
    [
        (4, [0, 1, 2]),
        (4, [0, 1, 2, 2]),
        (4, [0, 1, 2, 4]),
        (4, [-1, 1, 2, 3]),
        (5, [0, 1, 2, 3]),
        (2, [0, 1, 2, 3]),
        (8, [0, 1, 2, 4]),  # some answer leaves one category
        (4, [0.5, 1, 2, 3]),
        (4, ["a", "b", "c", "d"]),
        (4, [1 << 70, 1, 2, 3]),
        (4, [[0], [1], [2], [3]]),
        (4, "0123"),
        (4, None),
        (4.0, [0, 1, 2, 3]),
        ("4", [0, 1, 2, 3]),
        (0, [0, 1, 2, 3]),
        (-4, [0, 1, 2, 3]),
    ],
)
def test_what_are_no_columns_is_refused(size, columns):
    document = sp.hadamard(list("abcd")).document()
    document.pop("fingerprint")
    with pytest.raises(DesignDocumentError):
        sp.design_from_json(json.dumps(document | {"size": size, "columns": columns}))


def test_a_million_categories_are_made_in_a_moment():
    design = sp.hadamard(1 << 20)
    assert design.questions == (1 << 20) - 1
    x = np.arange(0, 1 << 20, 1 << 12)
    codes = sp.privatize(x, design, seed=1).codes
    assert design.contains(codes, x).all()
